"""Which dtypes are numbers, and which of them are the inexact ones that parameters have."""

from __future__ import annotations

import math
import sys
from typing import Any, Literal

import numpy as np

__all__ = [
    "KIND_RANK",
    "can_cast",
    "dtype_of",
    "is_inexact",
    "is_numeric",
    "kind_of",
    "limits",
    "native",
]

KIND_RANK = {"": -1, "b": 0, "i": 1, "f": 2, "c": 3}
"""The order of the kinds that `kind_of` gives."""


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Tell whether a buffer of this dtype holds numbers (bool included)."""
    return kind_of(dtype) != ""


def is_inexact(leaf: object) -> bool:
    """Tell whether an array or NumPy scalar has a real or complex floating dtype."""
    dtype = getattr(leaf, "dtype", None)
    if isinstance(dtype, np.dtype):
        return kind_of(dtype) in ("f", "c")
    # torch has dtypes of its own.
    return bool(getattr(dtype, "is_floating_point", False) or getattr(dtype, "is_complex", False))


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return the kind of number a dtype holds: b, i (unsigned too), f or c; "" for no number."""
    if _is_ml_dtype(dtype):
        return "i" if dtype.name.startswith(("int", "uint")) else "f"
    return {"b": "b", "i": "i", "u": "i", "f": "f", "c": "c"}.get(dtype.kind, "")


def can_cast(
    source: np.dtype[Any], target: np.dtype[Any], casting: Literal["safe", "same_kind"]
) -> bool:
    """Tell whether a cast is allowed, as `numpy.can_cast` does.

    For the dtypes of other packages NumPy allows casts to a lower kind under ``same_kind``, such as
    from complex to bfloat16; those are refused here.
    """
    if _is_ml_dtype(target) and KIND_RANK[kind_of(source)] > KIND_RANK[kind_of(target)]:
        return False
    return np.can_cast(source, target, casting)


def limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the bounds between which numbers neither overflow to infinity nor raise."""
    if not _is_ml_dtype(dtype):
        return -math.inf, math.inf  # NumPy's own do one or the other
    ml_dtypes = sys.modules["ml_dtypes"]
    info = ml_dtypes.iinfo if kind_of(dtype) == "i" else ml_dtypes.finfo
    return float(info(dtype).min), float(info(dtype).max)


def dtype_of(leaf: Any) -> np.dtype[Any] | None:
    """Give an array's dtype in native byte order; None where the library has its own dtypes."""
    dtype = leaf.dtype
    if not isinstance(dtype, np.dtype):
        return None
    return native(dtype)


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype in native byte order."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def _is_ml_dtype(dtype: np.dtype[Any]) -> bool:
    # bfloat16, float8 and their kin, registered with NumPy by the package that JAX uses.
    return dtype.type.__module__ == "ml_dtypes"
