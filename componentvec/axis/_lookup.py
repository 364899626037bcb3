"""From paths to places, and from places to paths."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from componentvec.axis._nodes import Group, Leaf
from componentvec.axis._strides import c_strides
from componentvec.errors import LabelError
from componentvec.names import Path, format_path, parse_path
from componentvec.typing import Shape

__all__ = ["Elements", "indices", "resolve", "walk_components"]

_Visit: TypeAlias = tuple[tuple[str, ...], Group, Iterator[tuple[str, Leaf | Group]]]


def walk_components(root: Group) -> Iterator[tuple[tuple[str, ...], Leaf | Group]]:
    """Iterate over all components below `root`; see `Axis.components`.

    Takes from each group only what is asked for: showing the first rows of a wide one is cheap.
    """
    start: _Visit = ((), root, iter(root.axis.children.items()))
    groups = [start]
    while groups:
        names, group, children = groups[-1]
        name, child = next(children, ("", None))
        if child is None:
            groups.pop()
            continue
        child = child.within(group)
        yield (*names, name), child
        if isinstance(child, Group):
            groups.append(((*names, name), child, iter(child.axis.children.items())))


def resolve(root: Group, path: Any) -> tuple[tuple[str | int, ...], Leaf | Group]:
    """Find a component below `root`; see `Axis.resolve`."""
    if not isinstance(path, (str, Path)):
        msg = f"a path is a string or cv.path(...), not {path!r}"
        raise LabelError(msg)
    found: Leaf | Group = root
    names: list[str | int] = []
    keys: tuple[str | int, ...] = (path,) if isinstance(path, str) else path.keys
    dotted = isinstance(path, str)
    if isinstance(path, str) and "[" in path and path not in root.axis.children:
        keys = parse_path(path)
        dotted = False
    pending = list(reversed(keys))
    while pending:
        key = pending.pop()
        if isinstance(found, Leaf):
            index = [key, *reversed(pending)]
            return (*names, *index), _element(found, names, index)
        children = found.axis.children
        if isinstance(key, int):
            key = _name_at(found, names, key)
        elif dotted and key not in children and "." in key:
            key, _, tail = key.partition(".")
            pending.append(tail)
        if key not in children:
            where = f"`{format_path(names)}` has no component" if names else "no component"
            msg = f"{where} {key!r}"
            raise LabelError(msg, key, found.axis)
        found = children[key].within(found)
        names.append(key)
    return tuple(names), found


def _name_at(group: Group, names: list[str | int], position: int) -> str:
    children = group.axis.names
    if 0 <= position < len(children):
        return children[position]
    where = f"`{format_path(names)}`" if names else "the axis"
    msg = f"{where} has {len(children)} components, so none at position {position}"
    raise LabelError(msg)


def _element(leaf: Leaf, names: list[str | int], index: list[str | int]) -> Leaf:
    """Narrow a leaf to the one element that `index` names."""
    inside = len(index) == len(leaf.shape) and all(
        isinstance(key, int) and 0 <= key < extent
        for key, extent in zip(index, leaf.shape, strict=False)
    )
    if not inside:
        msg = f"`{format_path(names)}` of shape {leaf.shape} has no `{format_path(index)}`"
        raise LabelError(msg)
    steps = leaf.view.strides if leaf.view else c_strides(leaf.shape)
    start = leaf.span.start + (leaf.view.offset if leaf.view else 0)
    start += sum(int(key) * step for key, step in zip(index, steps, strict=True))
    return leaf._replace(span=slice(start, start + 1), shape=(), view=None)


class Elements:
    """The slots of an axis, sorted by start, to find the one that holds a position."""

    __slots__ = ("_sites", "_starts")

    def __init__(self, leaves: Iterable[tuple[tuple[str, ...], Leaf]]) -> None:
        self._sites = [(names, leaf) for names, leaf in leaves if leaf.canonical]
        self._starts = [leaf.span.start for _, leaf in self._sites]

    def at(self, position: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the names and the index of the element at a position."""
        # Slots without elements start where their successor does; the last to start here has it.
        names, leaf = self._sites[bisect_right(self._starts, position) - 1]
        offset = position - leaf.span.start
        index = []
        for step in c_strides(leaf.shape):
            place, offset = divmod(offset, step)
            index.append(place)
        return names, tuple(index)


def indices(shape: Shape) -> Iterator[tuple[int, ...]]:
    """Iterate over all indices of an array of this shape, in C order."""
    return itertools.product(*map(range, shape))
