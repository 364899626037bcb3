"""Whether two statics are interchangeable, which ``==`` does not always answer."""

from __future__ import annotations

from typing import Any

__all__ = ["same_value"]


def same_value(one: Any, two: Any) -> bool:
    """Tell whether two statics are interchangeable: one object, or equal in type and value.

    Arrays are compared by dtype, shape and elements, containers part by part. What cannot be
    compared is not the same.
    """
    if one is two:
        return True
    kind = type(one)
    if kind is not type(two):
        return False
    if kind in (tuple, list):
        return len(one) == len(two) and all(map(same_value, one, two))
    if kind is dict:
        return same_value(list(one.items()), list(two.items()))
    try:
        if hasattr(one, "dtype") and hasattr(one, "shape"):
            return _same_array(one, two)
        return bool(one == two) or bool(one != one and two != two and kind in (float, complex))
    except Exception:  # whatever a class does when it is compared
        return False


def _same_array(one: Any, two: Any) -> bool:
    one, two = _native(one), _native(two)
    if (one.dtype, one.shape) != (two.dtype, two.shape):
        return False
    if getattr(one.dtype, "kind", "") in ("O", "T"):  # whose bytes are addresses
        return same_value(one.reshape(-1).tolist(), two.reshape(-1).tolist())
    if hasattr(one, "tobytes"):
        return bool(one.tobytes() == two.tobytes())
    return bool((one == two).all())


def _native(array: Any) -> Any:
    # A pickle may have changed the byte order.
    is_native = getattr(array.dtype, "isnative", True)
    return array if is_native else array.astype(array.dtype.newbyteorder("="))
