"""Trees of values against the slots of a vector: tied sites agree, or add up.

What `Restructure` and its twin by dtype have in common.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from componentvec.arrays import view_slot
from componentvec.backends import can_cast
from componentvec.errors import CopyError, PromotionError, SharingError
from componentvec.names import format_path
from componentvec.params._casting import Rules, cast_piece, restore_numbers
from componentvec.params._plan import Cut
from componentvec.params._reader import Reader, Site
from componentvec.sharing import Link, ties

__all__ = ["add_cotangent", "agreeing", "check_fits", "values_of"]


def agreeing(
    reader: Reader,
    tree: Any,
    *,
    partial: bool = False,
    skip: Collection[int] = (),
    hint: str = "",
) -> Iterator[tuple[Site, Any]]:
    """Yield every site with its array, checking that those of one slot hold the same values.

    Parameters
    ----------
    reader : Reader
        Knows the structure.
    tree : nested containers
        The values.
    partial : bool, optional
        Whether parts may be missing.
    skip : collection of int, optional
        Slots that do not matter.
    hint : str, optional
        What to do about missing parts, for messages.

    Raises
    ------
    SharingError
        When tied sites differ.
    """
    firsts: dict[int, tuple[Site, Any]] = {}
    for site, array in reader.read(tree, partial=partial, hint=hint):
        if site.slot in skip:
            continue
        first, shown = firsts.setdefault(site.slot, (site, array))
        if not (array is shown and site.looks_like(first)):
            again = site.show(first.hide(shown))
            if not _same_memory(again, array) and not np.array_equal(again, array, equal_nan=True):
                msg = (
                    f"`{format_path(first.names)}` and `{format_path(site.names)}` are tied, but "
                    "hold different values"
                )
                raise SharingError(msg)
        yield site, array


def values_of(
    cuts: Sequence[Cut],
    found: Iterable[tuple[Site, Any]],
    rules: Rules,
    as_is: Collection[int] = (),
) -> list[Any]:
    """Choose the value of every cut from arrays that were found at sites.

    An array that is right as it is stays that object. Where a site of its slot is missing, has
    memory of its own, or another dtype than the model, all sites of the slot show one new array.

    Parameters
    ----------
    cuts : sequence of Cut
        What is needed.
    found : iterable of (Site, array)
        At least one site of every slot.
    rules : Rules
        What may happen to it.
    as_is : collection of int, optional
        Slots whose dtype stays, whatever it is.
    """
    slots: dict[int, dict[Any, tuple[Site, Any]]] = {}
    for site, array in found:
        slots.setdefault(site.slot, {}).setdefault((site.leaf.shape, site.leaf.view), (site, array))
    places: dict[int, list[int]] = {}
    for place, cut in enumerate(cuts):
        places.setdefault(cut.slot, []).append(place)
    values: list[Any] = [None] * len(cuts)
    for slot, sites in slots.items():
        own = [sites.get((cuts[place].shape, cuts[place].view)) for place in places[slot]]
        site, array = next(iter(sites.values()))
        restores = rules.restores and slot not in as_is
        wanted = cuts[places[slot][0]].dtype if restores else None
        right = wanted is None or array.dtype == wanted
        if not rules.copy and right and _tied(own):
            shown = [found for _, found in filter(None, own)]
        else:
            piece = _piece(site, array, places[slot][0], cuts, rules._replace(restores=restores))
            some = [cuts[place] for place in places[slot]]
            shown = [view_slot(piece, cut.shape, cut.view) for cut in some]
        for place, value in zip(places[slot], shown, strict=True):
            values[place] = value if cuts[place].scalar is None else value[()]
    if rules.restores:
        restore_numbers(cuts, values, rules)
    return values


def _piece(site: Site, array: Any, place: int, cuts: Sequence[Cut], rules: Rules) -> Any:
    """Make the elements of a slot one array that its sites can be views of."""
    piece = site.hide(array)
    if rules.restores:
        piece = cast_piece(cuts[place], piece, place, rules)
    piece = np.array(piece) if rules.copy else np.ascontiguousarray(piece)
    if rules.copy is False and array.size and not np.may_share_memory(piece, array):
        msg = f"`{rules.path_of(place)}` can only be given by a copy, which copy=False forbids"
        raise CopyError(msg)
    return piece


def _tied(own: list[tuple[Site, Any] | None]) -> bool:
    """Tell whether every site was found, and all show one memory as the structure says."""
    found = [pair for pair in own if pair is not None]
    if len(found) < len(own):
        return False
    if len(own) == 1 or not found[0][1].size:
        return True
    links = ties([array for _, array in found])
    expected = [Link(0, site.leaf.view) for site, _ in found[1:]]
    return links[1:] == expected


def _same_memory(one: Any, two: Any) -> bool:
    return (
        one.__array_interface__["data"] == two.__array_interface__["data"]
        and one.strides == two.strides
        and bool(one.dtype == two.dtype)
    )


def check_fits(site: Site, array: Any, target: Any, made: np.dtype[Any]) -> None:
    """Check that a vector takes the values of a site.

    Parameters
    ----------
    site : Site
        Where the values are from.
    array : ndarray
        The values.
    target : ndarray
        The vector that they go into.
    made : dtype
        The dtype of the vector that the model gave.

    Raises
    ------
    PromotionError
        When the vector does not hold them exactly.
    """
    if array.dtype == target.dtype:
        return
    # What the model holds goes in as it did when the vector was made.
    as_made = array.dtype == site.dtype and target.dtype == made
    casting: Literal["same_kind", "safe"] = "same_kind" if as_made else "safe"
    if not can_cast(array.dtype, target.dtype, casting):
        path = format_path(site.names)
        msg = f"`{path}` is {array.dtype}, which {target.dtype} does not hold exactly"
        raise PromotionError(msg)


def add_cotangent(site: Site, piece: Any, slot: Any, hint: str = "") -> None:
    """Add the gradient of a site to that of its slot.

    Raises
    ------
    PromotionError
        For a complex gradient of a real vector.
    """
    if piece.dtype != slot.dtype and not can_cast(piece.dtype, slot.dtype, "same_kind"):
        path = format_path(site.names)
        msg = f"the gradient of `{path}` is {piece.dtype}, that of the vector {slot.dtype}{hint}"
        raise PromotionError(msg)
    target = site.show(slot)
    target += piece
