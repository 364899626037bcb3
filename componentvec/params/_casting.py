"""Back to the dtypes of the model: each slot is cast once, and never loses anything in silence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from componentvec.backends import kind_of
from componentvec.errors import CopyError, PromotionError
from componentvec.params._plan import Cut, Plan
from componentvec.typing import Shape

__all__ = ["FOLLOW", "Rules", "cast_piece", "finish", "restore_numbers"]

FOLLOW = "pass dtype='follow' to give the model the vector's dtype"


class Rules(NamedTuple):
    """How values become those of a model."""

    restores: bool
    """Whether they get the dtypes that the model has."""
    copy: bool | None
    """False refuses casts, which copy; True gives the model memory of its own."""
    path_of: Callable[[int], str]
    """Gives the path of a cut, for messages."""
    promoted: np.dtype[Any]
    """The dtype that all parameters promote to: where that is complex, real ones were stored as
    complex numbers, and come back from these as long as they have no imaginary part."""
    cure: str
    """What to do about values that do not fit, for messages."""


def finish(plan: Plan, pieces: list[Any], rules: Rules, lead: Shape = ()) -> None:
    """Give the pieces of vectors the dtypes and shapes that the model has, in place.

    Parameters
    ----------
    plan : Plan
        Knows them.
    pieces : list of array
        The elements of each cut's slot, in the last dimension.
    rules : Rules
        What may happen to them.
    lead : tuple of int, optional
        Leading dimensions of a batch.
    """
    if rules.restores:
        _cast_pieces(plan.cuts, pieces, rules)
    plan.shape(pieces, lead)
    if rules.restores:
        restore_numbers(plan.cuts, pieces, rules)


def _cast_pieces(cuts: Sequence[Cut], pieces: list[Any], rules: Rules) -> None:
    """Cast the pieces that are not in the dtype of their cut, in place; pieces of one slot once.

    Parameters
    ----------
    cuts : sequence of Cut
        What the pieces are for.
    pieces : list of ndarray
        The elements of each cut's slot, in the last dimension.
    rules : Rules
        What is allowed.

    Raises
    ------
    PromotionError
        For complex numbers where the model is real, for fractions where it has integers, and for
        casts when copies are refused.
    """
    slots: dict[int, Any] = {}
    for place, cut in enumerate(cuts):
        if cut.dtype is None or pieces[place].dtype == cut.dtype:
            continue
        if cut.slot not in slots:
            slots[cut.slot] = cast_piece(cut, pieces[place], place, rules)
        pieces[place] = slots[cut.slot]


def cast_piece(cut: Cut, piece: Any, place: int, rules: Rules) -> Any:
    """Cast the elements of one slot, where they are not in the dtype of its cut; as `_cast_pieces`.

    The cut's place among all is only needed to name it.
    """
    wanted = cut.dtype
    if wanted is None or piece.dtype == wanted:
        return piece
    if rules.copy is False and cut.scalar is None:
        msg = (
            f"`{rules.path_of(place)}` is {wanted} in the model and {piece.dtype} in the vector, "
            f"and a cast would copy, which copy=False forbids; {rules.cure}"
        )
        raise CopyError(msg)
    return _cast(piece, wanted, place, rules)


def restore_numbers(cuts: Sequence[Cut], values: list[Any], rules: Rules) -> None:
    """Turn the values of Python numbers back into numbers of their type, in place.

    Batches of them become arrays of the dtype that stands for it.
    """
    for place, cut in enumerate(cuts):
        if cut.scalar is not None and cut.scalar is not np.generic:
            value = np.asarray(values[place])
            cast = _cast(value, np.dtype(cut.scalar), place, rules)
            values[place] = cast if cast.ndim else cut.scalar(cast[()])


def _cast(piece: Any, wanted: np.dtype[Any], place: int, rules: Rules) -> np.ndarray[Any, Any]:
    """Cast, if that loses nothing but digits."""
    if piece.dtype.kind == "c" and kind_of(wanted) != "c":
        if rules.promoted.kind != "c":
            msg = (
                f"`{rules.path_of(place)}` is {wanted} and cannot take {piece.dtype} values; "
                "pass dtype='follow' to give the model complex parameters"
            )
            raise PromotionError(msg)
        _refuse(piece, piece.imag != 0, wanted, place, rules)
        piece = piece.real
    if kind_of(wanted) in ("f", "c"):
        cast: np.ndarray[Any, Any] = piece.astype(wanted)
        return cast
    with np.errstate(invalid="ignore", over="ignore"):
        cast = piece.astype(wanted)
        wrong = cast != piece
        if wanted.kind in "iu":  # some machines saturate, and 2.0**63 equals the largest int64
            wrong |= piece >= float(np.iinfo(wanted).max) + 1
    _refuse(piece, wrong, wanted, place, rules)
    return cast


def _refuse(piece: Any, wrong: Any, wanted: np.dtype[Any], place: int, rules: Rules) -> None:
    """Raise if any element is wrong for a dtype."""
    first = np.flatnonzero(wrong)[:1]
    if first.size:
        msg = (
            f"`{rules.path_of(place)}` is {wanted} and cannot take {piece.flat[first[0]]}; "
            f"{rules.cure}"
        )
        raise PromotionError(msg)
