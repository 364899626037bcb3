"""The two ways to a vector's buffer: copy leaves into a new one, or label one that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from componentvec.arrays._attach import attach
from componentvec.arrays._labelled import Labelled
from componentvec.arrays._layout import Layout
from componentvec.axis import Axis
from componentvec.backends import can_cast, is_foreign, is_numeric
from componentvec.errors import DeviceError, LabelError, LengthError, PromotionError
from componentvec.promotion import Weak, buffer_dtype, weak_to_array
from componentvec.typing import PromotionPolicy

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["checked_axis", "fill", "wrap"]

V = TypeVar("V", bound=Labelled)


def wrap(cls: type[V], flat: Any, axis: Axis, dtype: DTypeLike | None = None) -> V:
    """Label a flat array without copying it.

    Raises
    ------
    LengthError
        When the array is not one-dimensional or not of the axis' size.
    """
    checked_axis(axis)
    if type(flat) is not np.ndarray:
        if isinstance(flat, np.ma.MaskedArray):
            msg = "the array is masked, and a vector has no place for its mask"
            raise PromotionError(msg)
        if is_foreign(flat):
            msg = f"ComponentVector labels NumPy arrays, not {type(flat).__module__}; convert it"
            raise DeviceError(msg)
        flat = np.asarray(flat)
    if dtype is not None:
        if not can_cast(flat.dtype, np.dtype(dtype), "same_kind"):
            msg = f"the array is {flat.dtype}, which does not go into dtype={np.dtype(dtype)}"
            raise PromotionError(msg)
        flat = flat.astype(dtype, copy=False)
    if flat.shape != (axis.size,):
        msg = f"the axis has {axis.size} elements, but the array has shape {flat.shape}"
        raise LengthError(msg)
    if not is_numeric(flat.dtype):
        msg = f"the array has dtype {flat.dtype}; a vector holds numbers only"
        raise PromotionError(msg)
    # A view of it: whoever owns the array may give it another shape later.
    vector: V = attach(cls, flat.view(), axis)
    return vector


def checked_axis(axis: Any) -> Axis:
    """Return what is an axis.

    Raises
    ------
    LabelError
        When it is not.
    """
    if type(axis) is not Axis:
        hint = "; its axis is v.axis" if hasattr(axis, "_cv_state") else ""
        msg = f"axis= takes an Axis, not {type(axis).__name__}{hint}"
        raise LabelError(msg)
    return axis


def fill(
    cls: type[Any], layout: Layout, promotion: PromotionPolicy, dtype: DTypeLike | None = None
) -> Any:
    """Copy the leaves of a layout into one new buffer, and label it."""
    chosen = buffer_dtype(layout.leaves, layout.names, promotion, dtype)
    pieces = [
        weak_to_array(leaf, names, chosen) if isinstance(leaf, Weak) else np.asarray(leaf)
        for leaf, names in zip(layout.leaves, layout.names, strict=True)
    ]
    plain = np.empty(layout.axis.size, chosen)
    if pieces:
        np.concatenate([piece.ravel() for piece in pieces], out=plain, casting="same_kind")
    return attach(cls, plain, layout.axis)
