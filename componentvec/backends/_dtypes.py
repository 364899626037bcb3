"""Which dtypes are numbers, and which of them are the inexact ones that parameters have."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["dtype_of", "is_inexact", "is_numeric", "native"]


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Tell whether a buffer of this dtype holds numbers (bool included)."""
    return dtype.kind in "biufc" or _is_ml_dtype(dtype)


def is_inexact(leaf: object) -> bool:
    """Tell whether an array or NumPy scalar has a real or complex floating dtype."""
    dtype = getattr(leaf, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fc" or (_is_ml_dtype(dtype) and not _is_small_integer(dtype))
    # torch has dtypes of its own.
    return bool(getattr(dtype, "is_floating_point", False) or getattr(dtype, "is_complex", False))


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


def _is_small_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.name.startswith(("int", "uint"))
