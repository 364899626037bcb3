"""The axis: names, ranges and shapes of one dimension, without any array.

Invariant: slots tile ``0..size`` once, in the order of their canonical sites. Positions in a
group's axis count from the group's own start.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from componentvec.axis import _algebra
from componentvec.axis._build import build, warn_shadowed
from componentvec.axis._difference import first_difference
from componentvec.axis._intern import Structure
from componentvec.axis._json import records_from_json, records_to_json
from componentvec.axis._lookup import Elements, indices, resolve, walk_components
from componentvec.axis._nodes import Group, Leaf
from componentvec.axis._records import (
    GroupRecord,
    Record,
    State,
    record_of,
    records_from_shapes,
    records_from_state,
    records_to_state,
)
from componentvec.errors import LabelError
from componentvec.names import Path, format_path, shortened
from componentvec.typing import Shape

__all__ = ["Axis", "Location"]


class Location(NamedTuple):
    """Where a component lies in the flat buffer of an axis."""

    slice: slice
    """Range of the component's slot, or of a group's own slots."""
    shape: Shape
    """Shape of the component; ``(size,)`` for a group."""
    strides: tuple[int, ...] | None = None
    """Steps in elements, for a transposed or otherwise rearranged tie; None for C order."""
    offset: int = 0
    """Position in the slice of element (0, 0, …); not 0 where a tie runs backwards."""


class Axis:
    """Names, ranges and shapes of the components of one dimension.

    Immutable, hashable and comparable; holds no values and no dtypes. Equal axes are one object
    where possible, so comparing them is cheap.

    Parameters
    ----------
    shapes : mapping, optional
        Name to shape: a tuple (``()`` for a scalar), an integer for one dimension, or a mapping for
        a group.
    **more : shape or mapping
        The same by keyword, behind those of `shapes`.

    Raises
    ------
    LabelError
        For names that are not strings or occur twice.
    LengthError
        For values that are not shapes.
    SharingError
        For a mapping that holds itself.

    Warns
    -----
    ShadowedNameWarning
        Once per name that ndarray owns: brackets reach it, attributes do not.

    Examples
    --------
    >>> from componentvec import Axis
    >>> axis = Axis(a=(), b=2, c={"d": (2, 3)})
    >>> axis.size
    9
    >>> axis.index("c.d")
    Location(slice=slice(3, 9, None), shape=(2, 3), strides=None, offset=0)
    >>> axis.label(8)
    'c.d[1,2]'
    """

    __slots__ = (
        "__weakref__",
        "_announced",
        "_elements",
        "_slot_count",
        "_structure",
        "children",
        "has_outside",
        "size",
    )

    size: int
    """Number of elements."""
    children: Mapping[str, Leaf | Group]
    """Direct components by name, in order."""
    _slot_count: int
    """Number of slots."""
    has_outside: bool
    """Whether some site of this axis is stored outside it."""
    _structure: Structure
    """What equal axes share."""
    _announced: bool
    _elements: Elements | None

    def __new__(cls, shapes: Any = None, /, **more: object) -> Self:
        if shapes is not None and not isinstance(shapes, Mapping):
            msg = (
                f"an Axis is made of a mapping of names to shapes, not of a {type(shapes).__name__}"
            )
            raise LabelError(msg)
        twice = more.keys() & (shapes or {}).keys()
        if twice:
            msg = f"component name {min(twice)!r} occurs twice"
            raise LabelError(msg)
        return cls.from_records(
            records_from_shapes({**(shapes or {}), **more} if more else shapes or {})
        )

    @classmethod
    def from_records(cls, records: Iterable[Record], *, warn: bool = True) -> Self:
        """Make an axis from its flat form (see `records`).

        Parameters
        ----------
        records : iterable of Record
            A root group and all components, groups before their children.
        warn : bool, optional
            Whether names that ndarray owns warn.
        """
        records = list(records)
        axis = build(records, cls._assemble)
        if warn and not axis._announced:
            object.__setattr__(axis, "_announced", True)
            warn_shadowed(record.name for record in records)
        return axis  # type: ignore[return-value]  # made by `_assemble`

    @classmethod
    def _assemble(
        cls,
        structure: Structure,
        children: dict[str, Leaf | Group],
        size: int,
        slot_count: int,
        has_outside: bool,
    ) -> Self:
        self = object.__new__(cls)
        put = object.__setattr__
        put(self, "_structure", structure)
        put(self, "children", MappingProxyType(children))
        put(self, "size", size)
        put(self, "_slot_count", slot_count)
        put(self, "has_outside", has_outside)
        put(self, "_elements", None)
        put(self, "_announced", False)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"an Axis is immutable; cannot set {name!r}"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        msg = f"an Axis is immutable; cannot delete {name!r}"
        raise AttributeError(msg)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Axis):
            return NotImplemented
        return self._structure is other._structure

    def __hash__(self) -> int:
        return hash(self._structure)

    def difference(
        self, other: Axis, here: str = "on the left", there: str = "on the right"
    ) -> str | None:
        """Name the first place where two axes differ, in words; None when they are equal.

        Parameters
        ----------
        other : Axis
            The axis to compare with.
        here, there : str, optional
            Where the two axes are, in the words of the message.
        """
        return None if self == _axis(other) else first_difference(self, other, here, there)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (records_to_state(self.records()),)

    def to_json(self) -> str:
        """Write the axis as JSON text; ``Axis.from_json`` reads it."""
        return records_to_json(self.records())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read an axis from the text that `to_json` wrote.

        Raises
        ------
        ValueError
            When the text is of another format or does not describe an axis.
        LabelError
            When a name occurs twice.
        """
        return cls.from_records(records_from_json(text), warn=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the direct components, in order."""
        return tuple(self.children)

    def __iter__(self) -> Iterator[str]:
        return iter(self.children)

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, (str, Path)):
            return False
        try:
            self.locate(path)
        except LabelError:
            return False
        return True

    def __repr__(self) -> str:
        names = [shortened(repr(name), 24) for name in itertools.islice(self.children, 6)]
        shown = ", ".join(names) + (", …" if len(self.children) > 6 else "")
        return f"<Axis of {self.size} element{'s' * (self.size != 1)}: {shown}>"

    def components(self) -> Iterator[tuple[tuple[str, ...], Leaf | Group]]:
        """Iterate over all components, groups before their children.

        Yields
        ------
        names : tuple of str
            Names from the root down.
        component : Leaf or Group
            Its place, counted from the start of this axis.
        """
        return walk_components(self._root)

    def leaves(self) -> Iterator[tuple[tuple[str, ...], Leaf]]:
        """Iterate over all sites in order, tied ones included; as `components`."""
        for names, child in self.components():
            if isinstance(child, Leaf):
                yield names, child

    def paths(self) -> Iterator[str]:
        """Iterate over the paths of all sites in order, tied ones included."""
        return (format_path(names) for names, _ in self.leaves())

    def records(self) -> list[Record]:
        """Return the flat form: one record per component, groups before their children."""
        root: list[Record] = [GroupRecord("", len(self.children))]
        return root + [record_of(names[-1], child) for names, child in self.components()]

    def ties(self) -> list[tuple[str, ...]]:
        """List the groups of paths that share one slot, canonical path first."""
        sites: dict[int | str | None, list[str]] = {}
        for names, leaf in self.leaves():
            slot = leaf.storage if leaf.slot is None else leaf.slot
            sites.setdefault(slot, []).append(format_path(names))
        return [tuple(paths) for paths in sites.values() if len(paths) > 1]

    def outside(self) -> dict[str, str]:
        """Map each path that is stored outside this axis to the path of its storage."""
        if not self.has_outside:
            return {}
        return {
            format_path(names): leaf.storage or "" for names, leaf in self.leaves() if leaf.outside
        }

    @property
    def _root(self) -> Group:
        return Group(slice(0, self.size), self, 0)

    def resolve(self, path: str | Path) -> tuple[tuple[str | int, ...], Leaf | Group]:
        """Find a component at any depth.

        Parameters
        ----------
        path : str or Path
            A child's name, a dotted path, a printed label, or what ``cv.path`` makes. At every
            level an exact name wins over reading it as a path.

        Returns
        -------
        names : tuple of str or int
            Names from the root down, and the index when one element of a leaf was asked for.
        component : Leaf or Group
            Its place, counted from this axis' start.

        Raises
        ------
        LabelError
            When there is no such component.
        """
        return resolve(self._root, path)

    def locate(self, path: str | Path) -> Leaf | Group:
        """Find the place of a component at any depth; see `resolve`."""
        return self.resolve(path)[1]

    def index(self, path: str | Path) -> Location:
        """Return range and shape of a component.

        Parameters
        ----------
        path : str or Path
            As for `resolve`.

        Returns
        -------
        Location
            ``(slice, shape, strides, offset)`` in the flat buffer of this axis.

        Raises
        ------
        LabelError
            When there is no such component, or it is stored outside this axis.
        """
        names, found = self.resolve(path)
        if isinstance(found, Group):
            return Location(found.span, (found.axis.size,))
        if found.outside:
            msg = f"`{format_path(names)}` is stored at `{found.storage}`, outside this axis"
            raise LabelError(msg)
        if found.view is None:
            return Location(found.span, found.shape)
        return Location(found.span, found.shape, found.view.strides, found.view.offset)

    def label(self, position: int) -> str:
        """Name the element at a position, as code: ``layers._1.weight[0,2]``.

        Raises
        ------
        IndexError
            When the position is not in ``0..size``.
        """
        names, index = self._element_at(operator.index(position))
        return format_path((*names, *index))

    def path(self, position: int) -> Path:
        """Return the path of the element at a position; the inverse of `index`.

        Raises
        ------
        IndexError
            When the position is not in ``0..size``.
        """
        names, index = self._element_at(operator.index(position))
        return Path((*names, *index))

    def labels(self) -> Iterator[str]:
        """Iterate over the labels of all elements, in the order of the buffer."""
        for names, leaf in self.leaves():
            if leaf.canonical:
                for index in indices(leaf.shape):
                    yield format_path((*names, *index))

    def _element_at(self, position: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
        if not 0 <= position < self.size:
            msg = f"position {position} is not in an axis of {self.size} elements"
            raise IndexError(msg)
        if self._elements is None:
            object.__setattr__(self, "_elements", Elements(self.leaves()))
        assert self._elements is not None
        return self._elements.at(position)

    def gather(self, paths: Iterable[str | Path]) -> tuple[Axis, list[Leaf]]:
        """Select components, and say where each slot of the new axis takes its values from.

        Parameters
        ----------
        paths : iterable of str or Path
            Components to keep, in the order wanted. Nested ones keep their groups.

        Returns
        -------
        axis : Axis
            The new axis. Ties among the chosen stay; the first chosen site of a slot becomes its
            canonical one, in its own C order.
        sources : list of Leaf
            One site of this axis per slot of the new one.

        Raises
        ------
        LabelError
            For unknown names, and for components chosen twice.
        """
        records, sources = _algebra.select(self._root, self._names_of(paths))
        return Axis.from_records(records, warn=False), sources

    def select(self, paths: Iterable[str | Path]) -> Axis:
        """Keep the named components, in the order given; see `gather`.

        Examples
        --------
        >>> from componentvec import Axis
        >>> Axis(a=2, b={"c": 1, "d": 3}).select(["b.d", "a"]).index("a")
        Location(slice=slice(3, 5, None), shape=(2,), strides=None, offset=0)
        """
        return self.gather(paths)[0]

    def drop(self, paths: Iterable[str | Path]) -> Axis:
        """Leave the named components out; an alias whose storage goes gets a slot of its own.

        Raises
        ------
        LabelError
            For unknown names.
        """
        records, _ = _algebra.drop(self._root, self._names_of(paths))
        return Axis.from_records(records, warn=False)

    def rename(self, names: Mapping[str, str]) -> Axis:
        """Give components new names.

        Parameters
        ----------
        names : mapping
            Path of a component to its new last name: ``{"layers._1": "encoder"}``.

        Raises
        ------
        LabelError
            For unknown paths, and when two siblings would have one name.
        """
        given: object = names
        if not isinstance(given, Mapping):
            msg = f"rename takes a mapping of paths to new names, not a {type(given).__name__}"
            raise LabelError(msg)
        new_names = {self._names(path): new for path, new in names.items()}
        if () in new_names:
            msg = "the axis itself has no name to change; nest(name) puts it into a group"
            raise LabelError(msg)
        root, *records = self.records()
        paths = (names for names, _ in self.components())
        renamed = [
            record._replace(name=new_names.get(path, record.name))
            for path, record in zip(paths, records, strict=True)
        ]
        axis = Axis.from_records([root, *renamed], warn=False)
        warn_shadowed(new_names.values())
        return axis

    def merge(self, other: Axis) -> Axis:
        """Put the components of another axis behind those of this one.

        Raises
        ------
        LabelError
            When a name occurs in both.
        """
        records = _algebra.merge(self.records(), _axis(other).records(), self._slot_count)
        return Axis.from_records(records, warn=False)

    def nest(self, name: str) -> Axis:
        """Put the whole axis under one name."""
        _, *records = self.records()
        group = GroupRecord(name, len(self.children))
        axis = Axis.from_records([GroupRecord("", 1), group, *records], warn=False)
        warn_shadowed([name])
        return axis

    def _names_of(self, paths: str | Path | Iterable[str | Path]) -> list[tuple[str, ...]]:
        # One path is enough; a string is not a list of its letters.
        if isinstance(paths, (str, Path)) or not isinstance(paths, Iterable):
            paths = [paths]
        return [self._names(path) for path in paths]

    def _names(self, path: str | Path) -> tuple[str, ...]:
        """Spell the path of a whole component."""
        keys, _ = self.resolve(path)
        names = tuple(key for key in keys if isinstance(key, str))
        if len(names) != len(keys):
            msg = f"`{format_path(keys)}` is an element; this call takes whole components"
            raise LabelError(msg)
        return names


def _axis(value: Any) -> Axis:
    if isinstance(value, Axis):
        return value
    msg = f"expected an Axis, not {type(value).__name__}"
    raise LabelError(msg)


def _unpickle(state: State) -> Axis:
    return Axis.from_records(records_from_state(state), warn=False)
