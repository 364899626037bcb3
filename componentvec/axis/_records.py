"""The flat form of an axis: one record per component, in order, groups before their children.

Everything that outlives an axis or makes a new one goes through this form (pickles, JSON,
selection), so nothing recurses and 500 levels cost no more stack than one.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

from componentvec.axis._nodes import Group, Leaf
from componentvec.axis._strides import View
from componentvec.errors import LabelError, LengthError, SharingError
from componentvec.names import quoted
from componentvec.typing import Names, Shape

__all__ = [
    "GroupRecord",
    "LeafRecord",
    "Record",
    "State",
    "Tie",
    "record_of",
    "records_from_shapes",
    "records_from_state",
    "records_to_state",
]


class Tie(NamedTuple):
    """Another site's slot, seen in this site's shape."""

    slot: int
    """Ordinal of the slot among all slots of the axis; -1 when it lies outside the axis."""
    view: View | None = None
    """Position of the elements in the slot; None for C order."""


class GroupRecord(NamedTuple):
    """A component with named children; the next `children` subtrees belong to it."""

    name: str
    children: int


class LeafRecord(NamedTuple):
    """A component that is an array or a scalar (shape ``()``)."""

    name: str
    shape: Shape
    tie: Tie | None = None
    """None: the site has a slot of its own."""
    storage: str | None = None
    """For a slot outside the axis: the path where it is stored, seen from the root."""


Record: TypeAlias = GroupRecord | LeafRecord
State: TypeAlias = tuple[tuple[Any, ...], ...]

# What a user may write for the shape of a leaf; a mapping makes a group.
ShapeTree: TypeAlias = Mapping[str, object]


def records_from_shapes(shapes: ShapeTree) -> list[Record]:
    """Turn nested mappings of shapes into records.

    Parameters
    ----------
    shapes : mapping
        Name to shape (a tuple, or an integer for one dimension), or to a further mapping.

    Raises
    ------
    LabelError
        When a name is not a string.
    LengthError
        When a shape is not a shape.
    SharingError
        When a mapping holds itself.
    """
    records: list[Record] = [GroupRecord("", len(shapes))]
    leaving = object()
    open_now: dict[int, tuple[Names, object]] = {id(shapes): ((), shapes)}
    waiting: list[tuple[Any, Any]] = [((name,), value) for name, value in shapes.items()][::-1]
    while waiting:
        names, value = waiting.pop()
        if value is leaving:
            open_now.popitem()
            continue
        name = names[-1]
        if not isinstance(name, str):
            where = f" in {quoted(names[:-1])}" if names[:-1] else ""
            msg = f"component names are strings, not {name!r}{where}"
            raise LabelError(msg)
        if not isinstance(value, Mapping):
            records.append(LeafRecord(name, _as_shape(names, value)))
            continue
        if id(value) in open_now:
            msg = f"{quoted(names)} is {quoted(open_now[id(value)][0], 'the axis itself')} again"
            raise SharingError(msg)
        open_now[id(value)] = (names, value)
        records.append(GroupRecord(name, len(value)))
        waiting.append(((), leaving))
        waiting.extend([((*names, inner), shape) for inner, shape in value.items()][::-1])
    return records


def _as_shape(names: Names, value: object) -> Shape:
    extents = (value,) if isinstance(value, (SupportsIndex, bool)) else value
    if isinstance(extents, Sequence) and not isinstance(extents, str):
        counts = all(isinstance(n, SupportsIndex) and not isinstance(n, bool) for n in extents)
        try:
            shape = tuple(map(operator.index, extents)) if counts else (-1,)
        except TypeError:  # an array says that it is an index, but is none
            shape = (-1,)
        if min(shape, default=0) >= 0:
            return shape
    msg = f"{quoted(names)}: expected a shape, an integer or a mapping, got {_given(value)}"
    raise LengthError(msg)


def _given(value: object) -> str:
    shape = getattr(value, "shape", None)
    return f"{value!r:.60}" if shape is None else f"an array of shape {shape}"


def record_of(name: str, child: Leaf | Group) -> Record:
    """Return the record of a component, whose place counts from the root."""
    if isinstance(child, Group):
        return GroupRecord(name, len(child.axis.children))
    if child.slot is None or child.slot < 0:
        return LeafRecord(name, child.shape, Tie(-1, child.view), child.storage)
    return LeafRecord(name, child.shape, None if child.canonical else Tie(child.slot, child.view))


def records_to_state(records: Sequence[Record]) -> State:
    """Return records as plain tuples, which keeps pickles small and free of our classes."""
    return tuple(_plain(record) for record in records)


def _plain(record: Record) -> tuple[Any, ...]:
    if isinstance(record, GroupRecord):
        return record.name, record.children
    tie = record.tie
    if tie is None:
        return record.name, record.shape, None, None, record.storage
    view = tie.view and (tie.view.offset, tie.view.strides)
    return record.name, record.shape, tie.slot, view, record.storage


def records_from_state(state: State) -> list[Record]:
    """Read what `records_to_state` made."""
    records: list[Record] = []
    for name, shape, *more in state:
        if not more:
            records.append(GroupRecord(name, shape))
            continue
        slot, view, storage = more
        tie = None if slot is None else Tie(slot, View(*view) if view else None)
        records.append(LeafRecord(name, shape, tie, storage))
    return records
