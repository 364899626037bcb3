"""Which places in memory an array visits, and how two that visit the same ones are related."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from componentvec.axis import View, c_strides, relative_view, simplify_view

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Footprint", "Link", "footprint_of", "relation"]


class Link(NamedTuple):
    """A leaf that shows the memory of an earlier one."""

    first: int
    """Position of the earlier leaf."""
    view: View | None
    """Where the elements lie in the earlier leaf's C order; None for the same order."""


class Footprint(NamedTuple):
    """The set of memory places of an array, however it walks through them."""

    start: int
    """Address of the lowest element."""
    dtype: np.dtype[Any]
    runs: tuple[tuple[int, int], ...]
    """(step in bytes, extent), largest step first, contiguous dimensions merged."""


def footprint_of(array: np.ndarray[Any, Any]) -> Footprint | None:
    """Return the memory places of an array; None when it visits some of them twice."""
    start = array.__array_interface__["data"][0]
    runs: list[tuple[int, int]] = []
    for extent, step in zip(array.shape, array.strides, strict=True):
        if extent == 1:
            continue
        if step < 0:
            start += step * (extent - 1)
        runs.append((abs(step), extent))
    reach = array.itemsize
    for step, extent in sorted(runs):
        if step < reach:
            return None
        reach = step * (extent - 1) + reach
    merged: list[tuple[int, int]] = []
    for step, extent in sorted(runs, reverse=True):
        if merged and merged[-1][0] == step * extent:
            merged[-1] = (step, merged[-1][1] * extent)
        else:
            merged.append((step, extent))
    return Footprint(start, array.dtype, tuple(merged))


def relation(first: Any, other: Any, footprint: Footprint) -> View | None:
    """Express `other` over the C order of `first`; both have this footprint."""
    return relative_view(
        first.shape, _dense_view(first, footprint), other.shape, _dense_view(other, footprint)
    )


def _dense_view(array: Any, footprint: Footprint) -> View | None:
    """Describe an array over its footprint with the gaps between the elements taken out."""
    dense = c_strides(tuple(extent for _, extent in footprint.runs))
    offset = 0
    strides = []
    for extent, step in zip(array.shape, array.strides, strict=True):
        if extent == 1:
            strides.append(0)
            continue
        run, width = next(
            (run, width)
            for run, width in zip(footprint.runs, dense, strict=True)
            if run[0] <= abs(step)
        )
        count = abs(step) // run[0]
        strides.append(count * width if step > 0 else -count * width)
        if step < 0:
            offset += count * width * (extent - 1)
    return simplify_view(array.shape, View(offset, tuple(strides)))
