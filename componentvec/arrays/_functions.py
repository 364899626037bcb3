"""What NumPy functions that are not ufuncs do with labels.

Elementwise functions keep the axis and the ``*_like`` functions repeat it; every other function
runs on the plain arrays and its result is plain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from componentvec.arrays._attach import agreed_axis, given_back, label_result, strip_all

__all__ = ["ELEMENTWISE", "LIKE", "apply_function"]

# Element i of the result depends on elements i of the arguments and on nothing else. By name, as
# not every version of NumPy has all of them.
ELEMENTWISE: frozenset[Callable[..., Any]] = frozenset(
    getattr(np, name)
    for name in (
        *("angle", "around", "astype", "clip", "copyto", "fix", "i0", "imag", "iscomplex"),
        *("isclose", "isneginf", "isposinf", "isreal", "nan_to_num", "real", "real_if_close"),
        *("round", "sinc", "where"),
    )
    if hasattr(np, name)
)
LIKE: frozenset[Callable[..., Any]] = frozenset(
    {np.copy, np.empty_like, np.full_like, np.ones_like, np.zeros_like}
)


def apply_function(
    cls: type[Any], function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Call a NumPy function on the plain arrays, and label the result if its rule says so.

    Raises
    ------
    AxisMismatchError
        When an elementwise function meets vectors of different axes.
    """
    vectors: list[Any] = []
    plain_args = strip_all(args, vectors)
    plain_options = strip_all(options, vectors)
    if function in ELEMENTWISE:
        axis = agreed_axis(vectors)
    elif function in LIKE:
        axis = _like_axis(function, args, options, agreed_axis(vectors))
    else:
        axis = None
    result = function(*plain_args, **plain_options)
    given = given_back(result, vectors, args, options)
    return label_result(cls, result, axis) if given is None else given


def _like_axis(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], axis: Any
) -> Any:
    prototype: Any = args[0] if args else options.get("a", options.get("prototype"))
    keeps_class = options.get("subok", function is not np.copy)
    if not keeps_class or options.get("shape") is not None or not hasattr(prototype, "_cv_state"):
        return None
    return axis
