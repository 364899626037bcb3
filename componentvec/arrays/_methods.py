"""What ndarray's own methods do with labels; they never dispatch, so the class answers itself."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from componentvec.arrays._attach import agreed_axis, given_back, label_result, strip_all
from componentvec.errors import LabelError

__all__ = ["KEEPS", "PLAIN", "REFUSES", "with_methods"]

C = TypeVar("C", bound=type)

# Same elements, same order: the axis stays.
KEEPS = ("astype", "clip", "conj", "conjugate", "copy", "round")
# Elements are reduced, moved, dropped, repeated or reshaped: a plain array or a scalar.
PLAIN = (
    *("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "trace", "var"),
    *("argpartition", "argsort", "choose", "compress", "cumprod", "cumsum", "diagonal", "dot"),
    *("flatten", "getfield", "nonzero", "ravel", "repeat", "reshape", "searchsorted", "squeeze"),
    *("swapaxes", "take", "byteswap"),
)
# Values would move under the names of others.
REFUSES = ("partition", "resize", "sort")


def with_methods(cls: C) -> C:
    """Give a vector class the methods of its array library, with the label rule of each."""
    for names, make in ((KEEPS, _keeping), (PLAIN, _plain), (REFUSES, _refusing)):
        for name in names:
            original = getattr(np.ndarray, name)
            setattr(cls, name, functools.wraps(original)(make(cls, name)))
    return cls


def _keeping(cls: Any, name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        vectors = [self]
        plain_args, plain_options = strip_all(args, vectors), strip_all(options, vectors)
        axis = agreed_axis(vectors)
        result = getattr(self._cv_state[1], name)(*plain_args, **plain_options)
        given = given_back(result, vectors[1:], args, options)
        if given is not None:
            return given
        return result if options.get("subok") is False else label_result(cls, result, axis)

    return method


def _plain(cls: Any, name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        vectors: list[Any] = []
        plain = self._cv_state[1]
        plain_args, plain_options = strip_all(args, vectors), strip_all(options, vectors)
        result = getattr(plain, name)(*plain_args, **plain_options)
        # A vector's base stays its own: who reshaped it in place would tear the vector apart.
        result = plain.view() if result is plain else result
        given = given_back(result, vectors, args, options)
        return result if given is None else given

    return method


def _refusing(cls: Any, name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        if self._cv_state[0] is None:
            return getattr(np.ndarray, name)(self, *args, **options)
        msg = (
            f"v.{name}() would move values under other names; work on a plain copy, as in "
            f"`np.array(v)`"
        )
        raise LabelError(msg)

    return method
