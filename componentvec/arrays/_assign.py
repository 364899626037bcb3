"""Writing components by name: everything is checked and staged before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from componentvec.arrays._attach import Plain, strip
from componentvec.arrays._numbers import numbers
from componentvec.arrays._sites import leaf_view, slot_of, view_slot
from componentvec.axis import Group, Leaf
from componentvec.backends import can_cast
from componentvec.errors import LabelError, LengthError, PromotionError, SharingError
from componentvec.names import format_path, quoted
from componentvec.promotion import Weak, weak_to_array
from componentvec.tree import named_children

if TYPE_CHECKING:
    from componentvec.arrays._labelled import Labelled

__all__ = ["assign", "is_named"]

Keys = tuple[str | int, ...]


def assign(vector: Labelled, names: Keys, child: Leaf | Group, value: Any) -> None:
    """Write `value` into the component `child` of `vector`.

    A leaf takes whatever broadcasts into it. A group takes a scalar (for every element of it), a
    flat array of its size, or a mapping or labelled vector, matched by name; names left out stay.

    Raises
    ------
    LabelError
        When a mapping names something that is not there.
    LengthError
        When a value does not broadcast into its component.
    PromotionError
        When a value's dtype does not go into the vector's by the ``same_kind`` rule.
    SharingError
        When two tied names are given different values.
    """
    if isinstance(child, Leaf):
        _refuse_group(names, child, value)
        _copy(leaf_view(vector, child, format_path(names)), strip(value), names)
    elif _fills_range(names, child, value):
        _copy(vector._cv_state[1][child.span], strip(value), names)
    else:
        slots = _staged(vector, _matched(names, child, value))
        if not all(slot.flags.writeable for slot, _ in slots):
            msg = "assignment destination is read-only"
            raise ValueError(msg)
        for slot, fresh in slots:
            slot[...] = fresh


def is_named(value: Any) -> bool:
    """Tell whether a value has parts with names of their own: not a list, which has positions."""
    if isinstance(value, (list, tuple)) and not hasattr(type(value), "_fields"):
        return False
    return not isinstance(value, np.ndarray) and named_children(value) is not None


def _fills_range(names: Keys, group: Group, value: Any) -> bool:
    """Tell whether one copy into the group's own range does it: the case that needs no staging."""
    outside = group.axis.has_outside
    if getattr(value, "axis", None) is not None and hasattr(value, "_cv_state"):
        # What a copy of a group has lost of it stays as it is.
        return bool(value.axis == group.axis) and (not outside or value._cv_root is None)
    if _by_name(names, value) is not None:
        return False
    if np.ndim(value) > 0:
        _refuse_outside(names, group)
    return not outside


def _refuse_outside(names: Keys, group: Group) -> None:
    """Refuse a flat array for a group that has names stored outside it."""
    outside = group.axis.outside()
    if outside:
        listed = ", ".join(f"`{name}` (at `{place}`)" for name, place in outside.items())
        msg = (
            f"`{format_path(names)}` has names that are stored outside it: {listed}; a flat array "
            "cannot fill them, assign a mapping"
        )
        raise LengthError(msg)


def _staged(
    vector: Labelled, values: Iterable[tuple[Keys, Leaf, Any]]
) -> list[tuple[Plain, Plain]]:
    """Pair every slot that is written with its new elements; nothing is written yet."""
    slots: dict[int | None, tuple[Keys, Plain, Plain]] = {}
    for names, leaf, value in values:
        slot = slot_of(vector, leaf, format_path(names))
        fresh = np.empty_like(slot)
        _copy(view_slot(fresh, leaf.shape, leaf.view), value, names)
        first_names, _, first = slots.setdefault(leaf.slot, (names, slot, fresh))
        if first is not fresh and not np.array_equal(first, fresh, equal_nan=True):
            msg = (
                f"`{format_path(first_names)}` and `{format_path(names)}` are tied, but are given "
                "different values"
            )
            raise SharingError(msg)
    return [(slot, fresh) for _, slot, fresh in slots.values()]


def _matched(names: Keys, child: Leaf | Group, value: Any) -> Iterator[tuple[Keys, Leaf, Any]]:
    """Pair every leaf below `child` that `value` speaks of with its part of `value`."""
    pending: list[tuple[Keys, Leaf | Group, Any]] = [(names, child, value)]
    while pending:
        path, place, part = pending.pop()
        if isinstance(place, Leaf):
            _refuse_group(path, place, part)
            yield path, place, strip(part)
            continue
        children = place.axis.children
        parts = _by_name(path, part)
        if parts is None and np.ndim(part) > 0:
            parts = _split(path, place, part)
        elif parts is None:
            parts = dict.fromkeys(children, part)
        for name, inner in reversed(parts.items()):
            if name not in children:
                where = f"`{format_path(path)}` has" if path else "there is"
                msg = f"{where} no component {name!r}"
                raise LabelError(msg, str(name), place.axis)
            pending.append(((*path, name), children[name].within(place), inner))


def _split(names: Keys, group: Group, flat: Any) -> dict[Any, Any]:
    """Cut a flat array for a group into one part per component."""
    _refuse_outside(names, group)
    array = strip(np.asarray(flat))
    if array.shape != (group.axis.size,):
        msg = (
            f"`{format_path(names)}` is a group of {group.axis.size} elements; assign a scalar, a "
            f"mapping, or a flat array of that length, not a value of shape {array.shape}"
        )
        raise LengthError(msg)
    return {
        name: array[child.span]
        if isinstance(child, Group)
        else view_slot(array[child.span], child.shape, child.view)
        for name, child in group.axis.children.items()
    }


def _by_name(names: Keys, value: Any) -> dict[Any, Any] | None:
    """Return a value's parts by name; None for arrays, scalars and lists of numbers."""
    if hasattr(value, "_cv_state"):
        axis = value._cv_state[0]
        return None if axis is None else {name: value[name] for name in axis}
    if isinstance(value, (list, tuple)) and _numbers(names, value) is not None:
        return None
    return named_children(value)


def _numbers(names: Keys, value: Any) -> Any:
    try:
        return numbers(value)
    except ValueError:
        path = format_path(names)
        msg = f"`{path}` was given numbers that are not rectangular, or of several dtypes"
        raise LengthError(msg) from None


def _refuse_group(names: Keys, leaf: Leaf, value: Any) -> None:
    if isinstance(value, Mapping):
        msg = f"`{format_path(names)}` is an array of shape {leaf.shape}, which has no components"
        raise LabelError(msg)


def _copy(target: Any, value: Any, names: Keys) -> None:
    """Copy with NumPy's broadcasting and the ``same_kind`` rule, and say where it went wrong."""
    if value is None or isinstance(value, np.ma.MaskedArray):
        given = "None" if value is None else "a masked array"
        msg = f"{quoted(names)} holds {target.dtype} and cannot take {given}"
        raise PromotionError(msg)
    weak = None if isinstance(value, (np.ndarray, float)) else _numbers(names, value)
    if weak is None and type(value) is float and target.dtype != np.float64:
        weak = _numbers(names, value)
    if isinstance(weak, Weak) and weak.fits(target.dtype):
        value = weak_to_array(weak, names, target.dtype)
    source = getattr(value, "dtype", target.dtype)
    if isinstance(source, np.dtype) and not can_cast(source, target.dtype, "same_kind"):
        raise _no_cast(names, target, source)
    try:
        np.copyto(target, value, casting="same_kind")
    except (TypeError, OverflowError):
        raise _no_cast(names, target, np.asarray(value).dtype) from None
    except ValueError as error:
        if not target.flags.writeable:
            raise
        msg = f"{quoted(names)} has shape {target.shape}: {error}"
        raise LengthError(msg) from None


def _no_cast(names: Keys, target: Any, source: np.dtype[Any]) -> PromotionError:
    return PromotionError(
        f"{quoted(names)} holds {target.dtype}, which cannot take {source} by the same_kind rule; "
        "convert it first"
    )
