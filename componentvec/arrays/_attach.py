"""Labels on, labels off: the one place that gives a vector its axis.

A labelled vector never owns its buffer: it looks at a plain base array, kept in its state together
with the axis, and every cached view hangs from that base. So no vector refers to itself, and its
memory goes the moment its last name does.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from componentvec.axis import Axis
from componentvec.errors import AxisMismatchError

if TYPE_CHECKING:
    from componentvec.arrays._labelled import Labelled

__all__ = [
    "Plain",
    "agreed_axis",
    "attach",
    "axis_mismatch",
    "given_back",
    "label_result",
    "put_root",
    "same_place",
    "strip",
    "strip_all",
]

Plain: TypeAlias = Any
"""A plain array of the class' own library, without labels."""


def attach(cls: type[Any], plain: Plain, axis: Axis) -> Any:
    """View a plain one-dimensional array as a labelled vector; nothing is copied or checked."""
    vector = plain.view(cls)
    cls._cv_state.__set__(vector, (axis, plain))
    return vector


def label_result(cls: type[Any], result: Any, axis: Axis | None) -> Any:
    """Label what an elementwise call returned, if it can be the vector's elements in their order.

    A result of the vector's own length is: any stretching would have given another shape. Other
    classes' results are theirs to keep.
    """
    if axis is None or type(result) is not cls._cv_plain or result.shape != (axis.size,):
        return result
    return attach(cls, result, axis)


def put_root(group: Any, buffer: Plain, start: int) -> None:
    """Let a group reach what is stored outside it: the whole buffer, and where the group starts."""
    type(group)._cv_root.__set__(group, (buffer, start))


def same_place(vector: Labelled, plain: Plain) -> Any:
    """Label a view of all of a vector's memory as the vector is, names stored outside included."""
    axis = vector._cv_state[0]
    if axis is None:
        return plain
    view = attach(type(vector), plain, axis)
    if vector._cv_root is not None:
        put_root(view, *vector._cv_root)
    return view


def strip(value: Any) -> Any:
    """Return the plain array behind a labelled vector, not a copy; other values as they are."""
    state = getattr(value, "_cv_state", None)
    return value if state is None else state[1]


def strip_all(value: Any, found: list[Labelled]) -> Any:
    """Take the labels off every vector in nested lists, tuples and dicts; list them in `found`."""
    if hasattr(value, "_cv_state"):
        found.append(value)
        return value._cv_state[1]
    # Whatever NumPy looks for vectors in: one left inside would bring the call back here for ever.
    if isinstance(value, tuple):
        return tuple([strip_all(item, found) for item in value])
    if isinstance(value, (list, deque)):
        return [strip_all(item, found) for item in value]
    if isinstance(value, dict):
        return {key: strip_all(item, found) for key, item in value.items()}
    return value


def given_back(
    result: Any, vectors: list[Labelled], args: tuple[Any, ...], options: dict[str, Any]
) -> Any | None:
    """Return the caller's own object when a function returned what it was given, as with ``out=``.

    Parameters
    ----------
    result : object
        What the plain function returned.
    vectors : list of labelled vectors
        Those whose plain arrays went in.
    args, options
        The caller's arguments.

    Returns
    -------
    object or None
        None when the result is new. Of a tuple or list, each item that was given is given back.
    """
    if isinstance(result, (tuple, list)):
        given = {id(vector._cv_state[1]): vector for vector in vectors}
        items = [given.get(id(item), item) for item in result]
        return type(result)(items) if any(id(item) in given for item in result) else None
    for vector in vectors:
        if result is vector._cv_state[1]:
            return vector
    for value in (*args, *options.values()):
        if result is value and isinstance(value, np.ndarray):
            return value
    return None


def agreed_axis(vectors: list[Labelled]) -> Axis | None:
    """Return the one axis of all operands; None when none of them has one.

    Raises
    ------
    AxisMismatchError
        When two axes differ: values would meet under different names.
    """
    axis: Axis | None = None
    for vector in vectors:
        other = vector._cv_state[0]
        if axis is None:
            axis = other
        elif other is not None and other is not axis and other != axis:
            raise axis_mismatch(axis, other)
    return axis


def axis_mismatch(left: Axis, right: Axis) -> AxisMismatchError:
    """Make the error that names the first difference between two axes."""
    return AxisMismatchError(
        f"the operands have different axes: {left.difference(right)}; select the same components "
        "in the same order (w[[...]]), or use np.asarray(w) to combine by position"
    )
