"""Arithmetic of strides, in elements: how one site of a slot looks at the memory of another."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from componentvec.typing import Shape

__all__ = [
    "Rearrangement",
    "View",
    "c_strides",
    "rearrangement",
    "relative_view",
    "simplify_view",
    "view_fits",
]


class View(NamedTuple):
    """Where a site's elements lie in its slot, when not simply in C order."""

    offset: int
    """Position of the element with index (0, 0, …), counted from the slot's start."""
    strides: tuple[int, ...]
    """Step in the slot per step of each index; negative where the site runs backwards."""


def c_strides(shape: Shape) -> tuple[int, ...]:
    """Strides of a C-ordered array without gaps, in elements."""
    steps = []
    step = 1
    for extent in reversed(shape):
        steps.append(step)
        step *= extent
    return tuple(reversed(steps))


def simplify_view(shape: Shape, view: View) -> View | None:
    """Return None where `view` is plain C order, so that equal layouts have one spelling.

    Steps of dimensions of extent one say nothing and are replaced by those of C order.
    """
    plain = c_strides(shape)
    strides = tuple(
        step if extent > 1 else default
        for extent, step, default in zip(shape, view.strides, plain, strict=True)
    )
    if prod(shape) <= 1 or (view.offset == 0 and strides == plain):
        return None
    return View(view.offset, strides)


def view_fits(shape: Shape, view: View, size: int) -> bool:
    """Tell whether `view` visits every element of a slot of `size` elements exactly once.

    True for permutations, reversals and reshapes: sorted by step, each dimension must continue
    where the smaller ones end.
    """
    if len(view.strides) != len(shape) or prod(shape) != size:
        return False
    lowest = view.offset
    reach = 1
    for step, extent in sorted((abs(s), e) for s, e in zip(view.strides, shape, strict=True)):
        if extent == 1:
            continue
        if step != reach:
            return False
        reach *= extent
    for step, extent in zip(view.strides, shape, strict=True):
        if step < 0 and extent > 1:
            lowest += step * (extent - 1)
    return lowest == 0


class Rearrangement(NamedTuple):
    """The array operations that show a slot as a view does, also in libraries without strides."""

    extents: Shape
    """Reshape the slot to this,"""
    order: tuple[int, ...]
    """then transpose,"""
    reversed: tuple[int, ...]
    """then run these dimensions backwards."""

    def apply(self, slot: Any, lead: Shape = ()) -> Any:
        """Show an array of the slot's elements, in its last dimension, through the view.

        Parameters
        ----------
        slot : array of shape ``(*lead, size)``
            The elements of the slot; any library's array.
        lead : tuple of int, optional
            Extents of leading dimensions, which stay where they are.
        """
        if not lead:
            return self._turn(_permuted(slot.reshape(self.extents), self.order))
        more = len(lead)
        below = Rearrangement(
            lead + self.extents,
            (*range(more), *(place + more for place in self.order)),
            tuple(place + more for place in self.reversed),
        )
        return below.apply(slot)

    def undo(self, site: Any) -> Any:
        """Bring an array of the site's shape back to the order of the slot."""
        inverse = tuple(sorted(range(len(self.order)), key=self.order.__getitem__))
        return _permuted(self._turn(site), inverse).reshape(-1)

    def _turn(self, array: Any) -> Any:
        if not self.reversed:
            return array
        if hasattr(array, "flip"):  # torch, which has no negative steps
            return array.flip(self.reversed)
        dimensions = range(len(self.order))
        return array[tuple(slice(None, None, -1 if d in self.reversed else 1) for d in dimensions)]


def _permuted(array: Any, order: tuple[int, ...]) -> Any:
    # torch means something else by transpose.
    return array.permute(order) if hasattr(array, "permute") else array.transpose(order)


def rearrangement(shape: Shape, view: View) -> Rearrangement:
    """Translate a view into reshape, transpose and reversal."""
    by_step = sorted(range(len(shape)), key=lambda d: (-abs(view.strides[d]), d))
    order = tuple(sorted(range(len(shape)), key=by_step.__getitem__))
    backwards = tuple(d for d in range(len(shape)) if view.strides[d] < 0 and shape[d] > 1)
    return Rearrangement(tuple(shape[d] for d in by_step), order, backwards)


def relative_view(
    first_shape: Shape, first: View | None, other_shape: Shape, other: View | None
) -> View | None:
    """Express one full view of a slot over the C order of another one.

    Parameters
    ----------
    first_shape, first
        The site whose own C order becomes the new slot.
    other_shape, other
        The site to express; both visit every element of the old slot once.

    Returns
    -------
    View or None
        Where `other`'s elements lie in the new slot; None for plain C order.

    Raises
    ------
    ValueError
        When no strides can say it (a reshape across a transposed pair of dimensions).
    """
    if first is None and other is None:
        return None
    digits = _digits(first_shape, first or View(0, c_strides(first_shape)))
    target = other or View(0, c_strides(other_shape))
    strides = []
    for step, extent in zip(target.strides, other_shape, strict=True):
        if extent == 1:
            strides.append(0)
            continue
        digit = next(digit for digit in digits if digit.width <= abs(step))
        if abs(step) * extent > digit.width * digit.extent:
            msg = "the two views of one slot differ by a reshape that strides cannot express"
            raise ValueError(msg)
        strides.append(step // digit.width * digit.step)

    offset = 0
    rest = target.offset
    for digit in digits:
        value, rest = divmod(rest, digit.width)
        offset += (value if digit.step > 0 else value + 1 - digit.extent) * digit.step
    return simplify_view(other_shape, View(offset, tuple(strides)))


class _Digit(NamedTuple):
    """Positions of a slot written as mixed-radix numbers: one digit, and where it goes."""

    width: int
    """What one count of the digit is worth in the slot."""
    extent: int
    step: int
    """What it is worth in the C order of the site; negative where the site runs backwards."""


def _digits(shape: Shape, view: View) -> list[_Digit]:
    """Take the slot's positions apart along `view`, into as few digits as possible."""
    digits: list[_Digit] = []
    steps = zip(view.strides, shape, c_strides(shape), strict=True)
    for step, extent, place in sorted(steps, key=lambda entry: abs(entry[0])):
        if extent == 1:
            continue
        digit = _Digit(abs(step), extent, place if step > 0 else -place)
        below = digits[-1] if digits else None
        if below and digit.step == below.step * below.extent:
            digits[-1] = _Digit(below.width, below.extent * extent, below.step)
        else:
            digits.append(digit)
    return digits[::-1]
