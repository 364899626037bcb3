"""From nested components to an axis and one leaf per slot; no values are copied here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from componentvec.arrays._numbers import numbers
from componentvec.arrays._sites import leaf_view
from componentvec.axis import (
    Axis,
    Group,
    GroupRecord,
    Leaf,
    LeafRecord,
    Record,
    Tie,
    relative_view,
)
from componentvec.backends import backend_name, is_numeric, on_device
from componentvec.errors import (
    DeviceError,
    LabelError,
    LengthError,
    PromotionError,
    SharingError,
)
from componentvec.names import format_path, plain_name, quoted
from componentvec.promotion import Weak
from componentvec.sharing import Link, find_ties
from componentvec.tree import named_children
from componentvec.typing import Names, SharingPolicy

__all__ = ["Layout", "lay_out"]


class Layout(NamedTuple):
    """An axis, and what fills it."""

    axis: Axis
    leaves: list[Any]
    """The leaf of each slot: an array, a NumPy scalar or a `Weak`."""
    names: list[Names]
    """The path of each of them."""


class _Collected(NamedTuple):
    records: list[Record]
    leaves: list[Any]
    names: list[Names]
    places: list[int]
    """The record of each leaf."""
    known: dict[int, Link]
    """Ties that the memory does not tell: of labelled vectors, and of numbers in one container."""


class _Leaving(NamedTuple):
    """Stands behind a container's parts while they are walked."""

    identity: int
    first_leaf: int


def lay_out(
    components: Any, sharing: SharingPolicy, more: Mapping[str, Any] | None = None
) -> Layout:
    """Lay nested components out on an axis.

    Parameters
    ----------
    components : mapping, named tuple, dataclass, sequence or labelled vector
        Groups of groups and leaves. A list or tuple of plain numbers is a leaf, another one a group
        with positions for names.
    more : mapping, optional
        Further components, behind the others.
    sharing : {"alias", "reject", "copy"}
        What happens to leaves that share memory; the ties of a labelled vector stay under "alias"
        and "reject".

    Raises
    ------
    LabelError, PromotionError, DeviceError, SharingError
        For names, leaves and shared memory that cannot go into a vector.
    """
    found = _collect(components, more or {}, sharing)
    links = find_ties(
        [None if place in found.known else leaf for place, leaf in enumerate(found.leaves)],
        found.names,
        sharing,
    )
    leaves: list[Any] = []
    names: list[Names] = []
    slots: dict[int, int] = {}
    records = found.records
    for place, leaf in enumerate(found.leaves):
        link = found.known.get(place) or links[place]
        if link is None:
            slots[place] = len(leaves)
            leaves.append(leaf)
            names.append(found.names[place])
        else:
            record = records[found.places[place]]
            assert isinstance(record, LeafRecord)
            records[found.places[place]] = record._replace(tie=Tie(slots[link.first], link.view))
    return Layout(Axis.from_records(records), leaves, names)


def _collect(components: Any, more: Mapping[str, Any], sharing: SharingPolicy) -> _Collected:
    """Walk the components in order, groups before their children; shared ones once per path."""
    if more and not _is_vector(components):
        given = {} if components is None else _read(components, ())
        _refuse_twice(given, more)
        components = {**given, **more}
    out = _Collected([], [], [], [], {})
    open_now: dict[int, tuple[Names, Any]] = {}  # the object keeps its id from being used again
    visited: dict[int, tuple[int, Any]] = {}  # where the leaves of a container began
    pending: list[tuple[Any, Names]] = [(components, ())]
    while pending:
        value, names = pending.pop()
        if isinstance(value, _Leaving):
            open_now.popitem()
            if sharing == "alias":
                _tie_scalars(out, visited[value.identity][0], value.first_leaf)
            continue
        if _is_vector(value) and value._cv_state[0] is not None:
            _add_vector(out, value, names, sharing)
            if not names and more:
                _refuse_twice(value.axis.children, more)
                out.records[0] = GroupRecord("", len(value.axis.children) + len(more))
                pending.extend((more[name], (name,)) for name in reversed(list(more)))
            continue
        found = _read(value, names)
        if not isinstance(found, dict):
            out.places.append(len(out.records))
            out.records.append(LeafRecord(names[-1], found.shape))
            out.leaves.append(found)
            out.names.append(names)
            continue
        if id(value) in open_now:
            msg = (
                f"{quoted(names)} is {quoted(open_now[id(value)][0], 'the mapping itself')} again; "
                "a cycle has no end, so no vector can hold it"
            )
            raise SharingError(msg)
        open_now[id(value)] = (names, value)
        out.records.append(GroupRecord(names[-1] if names else "", len(found)))
        visited.setdefault(id(value), (len(out.leaves), value))
        pending.append((_Leaving(id(value), len(out.leaves)), ()))
        pending.extend((item, (*names, name)) for name, item in reversed(found.items()))
    return out


def _is_vector(value: object) -> bool:
    return hasattr(value, "_cv_state") and not isinstance(value, tuple)  # a tree may have that name


def _tie_scalars(out: _Collected, first: int, second: int) -> None:
    """Tie the numbers of a container to those of its first visit.

    A number is never tied for being one object; but a container met twice is one place.
    """
    if first != second:
        for place in range(second, len(out.leaves)):
            if isinstance(out.leaves[place], (np.generic, Weak)):
                out.known.setdefault(place, Link(first + place - second, None))


def _refuse_twice(given: Mapping[str, Any], more: Mapping[str, Any]) -> None:
    twice = given.keys() & more.keys()
    if twice:
        msg = f"component {min(twice)!r} is given twice: in the first argument and by keyword"
        raise LabelError(msg)


def _read(value: Any, names: Names) -> Any:
    """Return the children of a group as a dict, or the leaf: an array, NumPy scalar or `Weak`."""
    if type(value) is np.ndarray and names:
        return _checked_array(value, names)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                where = quoted(names, "the mapping")
                msg = f"component names are strings; {where} has the key {key!r}"
                raise LabelError(msg)
        return {plain_name(key): value[key] for key in value}
    try:
        leaf = numbers(value)
    except ValueError:
        msg = f"{quoted(names)} is a list of numbers that is not rectangular, or of several dtypes"
        raise LengthError(msg) from None
    children = None if leaf is not None else named_children(value)
    if children is not None:
        return children
    if not names:
        msg = (
            f"{type(value).__name__} has no component names; pass a mapping, a named tuple, a "
            "dataclass or keywords, or axis= to label a flat array"
        )
        raise LabelError(msg)
    if isinstance(leaf, Weak):
        return leaf
    return _checked_array(value if leaf is None else leaf, names)


def _checked_array(value: Any, names: Names) -> Any:
    """Check that a leaf is an array or NumPy scalar of numbers, on the host."""
    if isinstance(value, (np.ndarray, np.generic)):
        if isinstance(value, np.ma.MaskedArray):
            msg = f"`{format_path(names)}` is a masked array; a vector has no place for its mask"
            raise PromotionError(msg)
        if not is_numeric(value.dtype):
            msg = f"`{format_path(names)}` has dtype {value.dtype}; a vector holds numbers only"
            raise PromotionError(msg)
        return np.asarray(value) if isinstance(value, np.ndarray) else value
    library = backend_name(value)
    if library is not None or on_device(value):
        msg = (
            f"{quoted(names)} is an array of {library or type(value).__module__}; ComponentVector "
            "holds NumPy arrays, so convert it first"
        )
        raise DeviceError(msg)
    kind = type(value).__name__
    msg = f"{quoted(names)} is a {kind}; a component is a number, an array or a group of these"
    raise PromotionError(msg)


def _add_vector(out: _Collected, vector: Any, names: Names, sharing: SharingPolicy) -> None:
    """Add a labelled vector as the group that its axis describes.

    Under "alias" its ties are found by their memory, like all others; those without elements, which
    have none, are told.
    """
    axis: Axis = vector._cv_state[0]
    out.records.append(GroupRecord(names[-1] if names else "", len(axis.children)))
    firsts: dict[int, tuple[int, Leaf]] = {}
    for path, child in axis.components():
        if isinstance(child, Group):
            out.records.append(GroupRecord(path[-1], len(child.axis.children)))
            continue
        assert isinstance(child, Leaf)
        full = (*names, *path)
        place = len(out.leaves)
        told = sharing == "reject" or (sharing == "alias" and 0 in child.shape)
        if told and child.slot is not None:
            first, site = firsts.setdefault(child.slot, (place, child))
            if first != place:
                try:
                    view = relative_view(site.shape, site.view, child.shape, child.view)
                except ValueError as error:
                    msg = f"{quoted(full)} and {quoted(out.names[first])} cannot stay tied: {error}"
                    raise SharingError(msg) from None
                out.known[place] = Link(first, view)
        out.places.append(len(out.records))
        out.records.append(LeafRecord(path[-1], child.shape))
        out.leaves.append(leaf_view(vector, child, format_path(full)))
        out.names.append(full)
