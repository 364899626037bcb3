"""Array libraries: which one an array belongs to, and which leaves count as numbers."""

from componentvec.backends._detect import backend_name, is_array, is_foreign, on_device
from componentvec.backends._dtypes import (
    KIND_RANK,
    can_cast,
    dtype_of,
    is_inexact,
    is_numeric,
    kind_of,
    limits,
    native,
)

__all__ = [
    "KIND_RANK",
    "backend_name",
    "can_cast",
    "dtype_of",
    "is_array",
    "is_foreign",
    "is_inexact",
    "is_numeric",
    "kind_of",
    "limits",
    "native",
    "on_device",
]
