"""Arithmetic and comparison, written on the class.

A call here costs half of one through NumPy's ufunc hook. The rule is that of `_ufuncs` (one axis,
or none); operators not listed here arrive there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

from componentvec.arrays._attach import axis_mismatch

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
    # Bound once: looking these up would be a third of the cost of a short vector's sum.
    set_state = cls._cv_state.__set__
    scalars = (float, int)

    def binary(self: Any, other: Any) -> Any:
        axis, plain = self._cv_state
        kind = type(other)
        if kind is cls:
            other_axis, other = other._cv_state
            if other_axis is not axis:
                if axis is None:
                    axis = other_axis
                elif other_axis is not None and other_axis != axis:
                    raise axis_mismatch(axis, other_axis)
            result = operate(plain, other)
        else:
            result = operate(plain, other)
            # Anything but a number may stretch the vector, or answer with a type of its own.
            if kind not in scalars and (
                type(result) is not type(plain) or result.shape != plain.shape
            ):
                return result
        if axis is None:
            return result
        vector = result.view(cls)
        set_state(vector, (axis, result))
        return vector

    return binary


def _in_place(cls: Any, operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def in_place(self: Any, other: Any) -> Any:
        axis, plain = self._cv_state
        if type(other) is cls:
            other_axis, other = other._cv_state
            if None not in (axis, other_axis) and other_axis != axis:
                raise axis_mismatch(axis, other_axis)
        operate(plain, other)
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
