"""From a component's place to the array that shows it: always a view, never a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from componentvec.arrays._attach import Plain, attach, put_root
from componentvec.axis import Group, Leaf, View, rearrangement
from componentvec.errors import LabelError
from componentvec.names import format_path
from componentvec.typing import Shape

if TYPE_CHECKING:
    from componentvec.arrays._labelled import Labelled

__all__ = ["component", "find", "leaf_view", "slot_of", "view_slot"]


def view_slot(slot: Any, shape: Shape, view: View | None) -> Any:
    """Show the one-dimensional array of a slot's elements as a site sees it."""
    if view is not None:
        return rearrangement(shape, view).apply(slot)
    return slot if len(shape) == 1 else slot.reshape(shape)


def slot_of(vector: Labelled, leaf: Leaf, path: str) -> Plain:
    """Return the elements of a leaf's slot, inside the vector or outside of it.

    Raises
    ------
    LabelError
        When the leaf is stored outside and this vector is a copy that does not reach there.
    """
    if not leaf.outside:
        return vector._cv_state[1][leaf.span]
    buffer, start = vector._cv_root or (None, 0)
    # Storage comes before its aliases: what a copy of a group does not hold lies before its start.
    if buffer is None or leaf.slot is None or leaf.span.start + start < 0:
        msg = (
            f"`{path}` is stored at `{leaf.storage}`, outside this group; a copy of the group does "
            "not hold it"
        )
        raise LabelError(msg)
    return buffer[leaf.span.start + start : leaf.span.stop + start]


def leaf_view(vector: Labelled, leaf: Leaf, path: str) -> Plain:
    """Show a leaf as an array of its shape, zero-dimensional ones included."""
    return view_slot(slot_of(vector, leaf, path), leaf.shape, leaf.view)


def component(vector: Labelled, child: Leaf | Group, path: str) -> Any:
    """Return what access gives: a view of an array, a scalar, or a labelled view of a group."""
    if isinstance(child, Leaf):
        seen = leaf_view(vector, child, path)
        return seen if child.shape else seen[()]
    plain = vector._cv_state[1]
    group = attach(type(vector), plain[child.span], child.axis)
    if child.axis.has_outside:
        buffer, start = vector._cv_root or (plain, 0)
        put_root(group, buffer, start + child.span.start)
    return group


def find(vector: Labelled, path: Any) -> Any:
    """Return the component at a path of any depth; see `Axis.resolve`."""
    axis = vector._cv_state[0]
    if axis is None:
        msg = f"an array without an axis has no component {path!r}"
        raise LabelError(msg)
    names, child = axis.resolve(path)
    return component(vector, child, format_path(names))
