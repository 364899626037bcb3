"""Writing components by name: everything is checked and staged before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from componentvec.arrays._attach import strip
from componentvec.arrays._layout import numbers
from componentvec.arrays._sites import leaf_view, slot_of, view_slot
from componentvec.axis import Branch, Leaf
from componentvec.errors import LabelError, LengthError, PromotionError, SharingError
from componentvec.names import format_path
from componentvec.tree import named_children

if TYPE_CHECKING:
    from componentvec.arrays._labelled import Labelled

__all__ = ["assign"]

Names = tuple[str | int, ...]


def assign(vector: Labelled, names: Names, child: Leaf | Branch, value: Any) -> None:
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
        _copy(leaf_view(vector, child, format_path(names)), strip(value), names)
        return
    flat = _flat(names, child, value)
    if flat is not None:
        _copy(vector._cv_state[1][child.span], flat, names)
        return

    # One staged copy of each slot that is written, in the order of the slot.
    staged: dict[int, tuple[Leaf, Any, Names]] = {}
    for path, leaf, item in _matched(vector, names, child, value):
        slot = slot_of(vector, leaf, format_path(path))
        assert leaf.slot is not None
        fresh = np.empty_like(slot)
        _copy(view_slot(fresh, leaf.shape, leaf.view), item, path)
        if leaf.slot not in staged:
            staged[leaf.slot] = (leaf, fresh, path)
        elif not np.array_equal(staged[leaf.slot][1], fresh, equal_nan=fresh.dtype.kind in "fc"):
            msg = (
                f"`{format_path(staged[leaf.slot][2])}` and `{format_path(path)}` are tied, but "
                "are given different values"
            )
            raise SharingError(msg)
    slots = [
        (slot_of(vector, leaf, format_path(path)), fresh) for leaf, fresh, path in staged.values()
    ]
    if not all(slot.flags.writeable for slot, _ in slots):
        msg = "assignment destination is read-only"
        raise ValueError(msg)
    for slot, fresh in slots:
        slot[...] = fresh


def _matched(
    vector: Labelled, names: Names, child: Leaf | Branch, value: Any
) -> Iterator[tuple[Names, Leaf, Any]]:
    """Pair every leaf below `child` that `value` speaks of with its part of `value`."""
    pending: list[tuple[Names, Leaf | Branch, Any]] = [(names, child, value)]
    while pending:
        path, place, part = pending.pop()
        parts = _by_name(part)
        if isinstance(place, Leaf):
            if parts is not None:
                msg = f"`{format_path(path)}` is an array of shape {place.shape}, not a group"
                raise LabelError(msg)
            yield path, place, strip(part)
            continue
        children = place.axis.children
        if parts is None:
            if np.ndim(part) != 0:
                msg = (
                    f"`{format_path(path)}` is a group of {len(children)} components; assign a "
                    f"scalar, a mapping or a labelled vector, not a value of shape {np.shape(part)}"
                )
                raise LengthError(msg)
            parts = dict.fromkeys(children, part)
        for name, inner in reversed(parts.items()):
            if name not in children:
                where = f"`{format_path(path)}` has" if path else "there is"
                msg = f"{where} no component {name!r}"
                raise LabelError(msg, str(name), place.axis)
            pending.append(((*path, name), children[name].within(place), inner))


def _flat(names: Names, group: Branch, value: Any) -> Any | None:
    """Give the elements for a group's own range when `value` is one array of them; else None.

    Raises
    ------
    LengthError
        For an array where some names of the group are stored outside it.
    """
    if getattr(value, "axis", None) is not None and hasattr(value, "_cv_state"):
        same = value.axis == group.axis and not group.axis.has_outside
        return strip(value) if same else None
    if not isinstance(value, np.ndarray) and (np.isscalar(value) or numbers(value) is None):
        return None
    if group.axis.has_outside and np.ndim(value):
        outside = ", ".join(f"`{name}` (at `{at}`)" for name, at in group.axis.outside().items())
        msg = (
            f"`{format_path(names)}` has names that are stored outside it: {outside}; a flat array "
            "cannot fill them, assign a mapping"
        )
        raise LengthError(msg)
    return strip(value) if np.ndim(value) else None


def _by_name(value: Any) -> dict[Any, Any] | None:
    """Give a value's parts by name; None for arrays and scalars."""
    if hasattr(value, "_cv_state"):
        axis = value._cv_state[0]
        return None if axis is None else {name: value[name] for name in axis}
    if isinstance(value, (list, tuple)) and numbers(value) is not None:
        return None
    return named_children(value)


def _copy(target: Any, value: Any, names: Names) -> None:
    """Copy with NumPy's broadcasting and the ``same_kind`` rule, and say where it went wrong."""
    try:
        np.copyto(target, value, casting="same_kind")
    except (TypeError, OverflowError) as error:
        kind = np.asarray(value).dtype
        msg = (
            f"`{format_path(names)}` holds {target.dtype} and cannot take {kind} values: {error}; "
            "convert them first"
        )
        raise PromotionError(msg) from None
    except ValueError as error:
        if not target.flags.writeable:
            raise
        msg = f"`{format_path(names)}` has shape {target.shape}: {error}"
        raise LengthError(msg) from None
