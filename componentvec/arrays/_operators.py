"""Arithmetic and comparison, written on the class.

A call here costs half of one through NumPy's ufunc hook. The rule is that of `_ufuncs` (one axis,
or none); operators not listed here arrive there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

from componentvec.arrays._attach import agreed_axis, strip

__all__ = ["with_operators"]

C = TypeVar("C", bound=type)

_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_COMPARISON = ("lt", "le", "eq", "ne", "ge", "gt")
_UNARY = ("neg", "pos", "abs", "invert")


def with_operators(cls: C) -> C:
    """Give a vector class its operators."""
    for name in (*_ARITHMETIC, *_COMPARISON):
        setattr(cls, f"__{name}__", _binary(cls, getattr(operator, name)))
    for name in _ARITHMETIC:
        setattr(cls, f"__r{name}__", _binary(cls, _swapped(getattr(operator, name))))
        setattr(cls, f"__i{name}__", _in_place(cls, getattr(operator, f"i{name}")))
    for name in _UNARY:
        setattr(cls, f"__{name}__", _unary(cls, getattr(operator, name)))
    return cls


def _swapped(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def swapped(left: Any, right: Any) -> Any:
        return operate(right, left)

    return swapped


def _binary(cls: Any, operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    # Bound once, and the labelling written out here and in `_unary`: look-ups and one more call
    # would be a third of the cost of a short vector's sum.
    set_state = cls._cv_state.__set__
    scalars = (float, int)

    def binary(self: Any, other: Any) -> Any:
        axis, plain = self._cv_state
        kind = type(other)
        if kind is cls and axis is other._cv_state[0] is not None:
            result = operate(plain, other._cv_state[1])
        elif kind in scalars:
            result = operate(plain, other)
        else:
            axis = agreed_axis([self, other]) if isinstance(other, cls) else axis
            result = operate(plain, strip(other))
            # Anything but a number may stretch a vector, or answer with a type of its own.
            if type(result) is not type(plain) or axis is None or result.shape != (axis.size,):
                return result
        if axis is None:
            return result
        vector = result.view(cls)
        set_state(vector, (axis, result))
        return vector

    return binary


def _in_place(cls: Any, operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def in_place(self: Any, other: Any) -> Any:
        plain = self._cv_state[1]
        if isinstance(other, cls):
            agreed_axis([self, other])
        operate(plain, strip(other))
        return self

    return in_place


def _unary(cls: Any, operate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    set_state = cls._cv_state.__set__

    def unary(self: Any) -> Any:
        axis, plain = self._cv_state
        result = operate(plain)
        if axis is None:
            return result
        vector = result.view(cls)
        set_state(vector, (axis, result))
        return vector

    return unary
