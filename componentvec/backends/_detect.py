"""Find out which library an array comes from, without importing that library.

An object can only be an array of a library that is already imported, so `sys.modules` tells.
"""

from __future__ import annotations

import sys

import numpy as np

__all__ = ["backend_name", "is_array", "is_foreign", "on_device"]

# Library, and the attribute of its module that every array of it is an instance of.
_FOREIGN = {"cupy": "ndarray", "jax": "Array", "torch": "Tensor"}


def backend_name(leaf: object) -> str | None:
    """Name the library of an array: numpy, cupy, jax or torch; None for anything else.

    NumPy scalars count as arrays of numpy, tracers of JAX as arrays of jax.
    """
    if isinstance(leaf, (np.ndarray, np.generic)):
        return "numpy"
    for library, attribute in _FOREIGN.items():
        module = sys.modules.get(library)
        if module is not None and isinstance(leaf, getattr(module, attribute, ())):
            return library
    return None


def is_array(leaf: object) -> bool:
    """Tell whether `leaf` is an array or NumPy scalar of a library we know."""
    return backend_name(leaf) is not None


def is_foreign(leaf: object) -> bool:
    """Tell whether `leaf` is an array of a library other than NumPy."""
    return backend_name(leaf) not in (None, "numpy")


def on_device(leaf: object) -> bool:
    """Tell whether `leaf` shows the interface of a device array, known or not."""
    kind = type(leaf)
    return hasattr(kind, "__cuda_array_interface__") or (
        hasattr(kind, "__dlpack__") and not isinstance(leaf, np.ndarray)
    )
