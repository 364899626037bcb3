"""What a call of a restructure takes: vectors of many kinds, and its options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from componentvec.arrays import Labelled, strip
from componentvec.axis import Axis
from componentvec.backends import is_array, is_foreign, is_numeric
from componentvec.errors import AxisMismatchError, LengthError, PromotionError
from componentvec.params._plan import Plan
from componentvec.tree import named_children
from componentvec.typing import StaticsRule

__all__ = [
    "as_flat",
    "by_rule",
    "check_axis",
    "check_length",
    "check_rules",
    "copied",
    "statics_in",
]


def check_rules(dtype: str, statics: str, copy: object = None) -> None:
    """Check the options of a call.

    Raises
    ------
    ValueError
        For another value than those allowed.
    """
    if copy is not None and type(copy) is not bool:
        msg = f"copy must be None, True or False, not {copy!r:.60}"
        raise ValueError(msg)
    for name, value, allowed in (
        ("dtype", dtype, ("restore", "follow")),
        ("statics", statics, ("share", "copy")),
    ):
        if value not in allowed:
            msg = f"{name} must be {allowed[0]!r} or {allowed[1]!r}, not {value!r}"
            raise ValueError(msg)


def check_axis(axis: Axis, vector: Labelled, called: str) -> None:
    """Check that a labelled vector has no other axis than the model's.

    Raises
    ------
    AxisMismatchError
        When it has one.
    """
    own = vector.axis
    if own is not axis and own != axis and own is not None:
        difference = axis.difference(own, "in the model", f"in {called}")
        msg = f"{called} does not have the model's axis: {difference}"
        raise AxisMismatchError(msg)


def as_flat(vector: Any, axis: Axis, restores: bool, hint: str = "") -> Any:
    """Take a labelled vector, any other array, or a list of numbers for a plain array.

    Raises
    ------
    AxisMismatchError
        For a vector with another axis.
    PromotionError
        For arrays of anything but numbers.
    LengthError
        For what is not an array.
    """
    if isinstance(vector, Labelled):
        check_axis(axis, vector, "the vector")
        return strip(vector)
    if isinstance(vector, np.ma.MaskedArray):
        msg = "the vector is masked, and a model has no place for its mask"
        raise PromotionError(msg)
    if is_array(vector):
        # Objects may be numbers of a user's own, such as dual numbers, and then follow.
        allowed = is_foreign(vector) or is_numeric(vector.dtype)
        if not allowed and (restores or vector.dtype != object):
            msg = f"expected numbers, but the vector has dtype {vector.dtype}"
            raise PromotionError(msg)
        return vector
    shape, dtype = getattr(vector, "shape", None), getattr(vector, "dtype", None)
    if not isinstance(vector, np.ndarray) and isinstance(shape, tuple) and dtype is not None:
        return vector  # an array of a library we do not know, such as one that traces
    try:
        flat = np.asarray(vector) if isinstance(vector, (list, tuple)) else None
    except ValueError:
        flat = None
    if flat is None or not is_numeric(flat.dtype):
        msg = f"expected a vector of {axis.size} numbers, not a {type(vector).__name__}{hint}"
        raise LengthError(msg)
    return flat


def copied(array: Any) -> Any:
    """Copy an array of any library."""
    return array.clone() if hasattr(array, "clone") else array.copy()


def by_rule(statics: Sequence[Any], rule: StaticsRule) -> Sequence[Any]:
    """Return statics themselves, or with the arrays among them copied.

    An array that stands in several places is copied once.
    """
    if rule == "share":
        return statics
    made: dict[int, Any] = {}
    for value in statics:
        if id(value) in made:
            continue
        if isinstance(value, np.ndarray):
            made[id(value)] = value.copy(order="K")
        elif is_foreign(value):
            made[id(value)] = copied(value)
    return [made.get(id(value), value) for value in statics]


def statics_in(plan: Plan, model: Any) -> list[Any]:
    """Find the statics of a plan in another model of the structure; where it has none, the plan's.

    Parameters
    ----------
    plan : Plan
        Knows the structure.
    model : nested containers
        A model, or a tree of its parameters only.
    """
    statics = list(plan.statics)
    first = len(plan.cuts)
    pending: list[tuple[int, Any]] = [(plan.root, model)]
    seen: set[int] = set()
    while pending:
        place, value = pending.pop()
        if place < first or place in seen:
            continue
        seen.add(place)
        parts = plan.parts_of(place)
        if parts is None:
            statics[place - first] = value
            continue
        children = named_children(value) or {}
        pending += [(p, children[name]) for name, p in parts.items() if name in children]
    return statics


def check_length(axis: Axis, shape: Sequence[int], *, batch: bool = False) -> None:
    """Check that an array is a vector of an axis, or a batch of them in its last dimension.

    Raises
    ------
    LengthError
        When it is not.
    """
    if shape == (axis.size,) or (batch and shape and shape[-1] == axis.size):
        return
    paths = list(axis.paths())
    ends = f", `{paths[0]}` to `{paths[-1]}`" if len(paths) > 1 else ""
    takes = f"batches of shape (…, {axis.size})" if batch else f"arrays of shape ({axis.size},)"
    msg = f"the model has {axis.size} elements{ends}, so it takes {takes}, not {tuple(shape)}"
    raise LengthError(msg)
