"""Plain numbers, and nested lists of them, as one leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np

from componentvec.backends import KIND_RANK
from componentvec.promotion import Weak, promote_weak

__all__ = ["numbers"]


def numbers(value: object) -> Weak | np.ndarray[Any, Any] | None:
    """Read a number, or nested lists of numbers, as one leaf; None for anything else.

    Python numbers make a weak leaf; with NumPy scalars among them it is an array of their dtype.

    Raises
    ------
    ValueError
        When the lists are ragged, or hold NumPy scalars of several dtypes.
    """
    if isinstance(value, np.generic):
        return None
    if isinstance(value, (bool, int, float, complex)):
        return Weak(value, (), _kind(value))
    if not _is_sequence(value):
        return None
    kind = ""
    strong: set[np.dtype[Any]] = set()
    open_now = {id(value)}
    pending: list[tuple[int, Iterator[Any]]] = [(id(value), iter(value))]
    while pending:
        item = next(pending[-1][1], pending)
        if item is pending:
            open_now.remove(pending.pop()[0])
        elif _is_sequence(item):
            if id(item) in open_now:
                return None  # holds itself: for the walk to refuse
            open_now.add(id(item))
            pending.append((id(item), iter(item)))
        elif isinstance(item, np.generic):
            strong.add(item.dtype)
        elif isinstance(item, (bool, int, float, complex)):
            kind = max(kind, _kind(item), key=KIND_RANK.__getitem__)
        else:
            return None
    if len(strong) > 1:
        msg = f"NumPy scalars of {len(strong)} dtypes in one list"
        raise ValueError(msg)
    if strong:
        (dtype,) = strong
        return np.asarray(value, dtype=promote_weak(dtype, kind))
    return Weak(value, np.shape(value), kind) if kind else None


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple)) and not hasattr(type(value), "_fields")


def _kind(value: object) -> str:
    kinds = {bool: "b", int: "i", float: "f", complex: "c"}
    return next(kind for number, kind in kinds.items() if isinstance(value, number))
