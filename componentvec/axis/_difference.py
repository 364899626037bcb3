"""Describe where two axes differ."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from componentvec.axis._nodes import Group, Leaf
from componentvec.names import format_path

if TYPE_CHECKING:
    from componentvec.axis._axis import Axis

__all__ = ["first_difference"]


def first_difference(one: Axis, two: Axis, here: str, there: str) -> str:
    """Describe the first component, in order, that two different axes do not have in common."""
    for (names, child), (other_names, other) in zip(
        one.components(), two.components(), strict=False
    ):
        path = format_path(names)
        if names != other_names:
            return f"there is `{path}` {here} and `{format_path(other_names)}` {there}"
        if _kind(child) != _kind(other):
            return f"`{path}` is {_kind(child)} {here} and {_kind(other)} {there}"
        if isinstance(child, Leaf) and isinstance(other, Leaf):
            for what in (_shape, _storage):
                if what(child) != what(other):
                    second = what(other).removeprefix("has shape ").removeprefix("is ")
                    return f"`{path}` {what(child)} {here} and {second} {there}"
    counts = [sum(1 for _ in axis.components()) for axis in (one, two)]
    where, longer = (here, one) if counts[0] > counts[1] else (there, two)
    names, _ = next(itertools.islice(longer.components(), min(counts), None))
    return f"`{format_path(names)}` is only {where}"


def _kind(child: Leaf | Group) -> str:
    return "a group" if isinstance(child, Group) else "an array"


def _shape(leaf: Leaf) -> str:
    return f"has shape {leaf.shape}"


def _storage(leaf: Leaf) -> str:
    if leaf.outside:
        return "is stored outside"
    if leaf.canonical:
        return "is stored here"
    return f"is tied to slot {leaf.slot}" + (f" through {leaf.view}" if leaf.view else "")
