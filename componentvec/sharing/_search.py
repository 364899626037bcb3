"""Find arrays that have elements in common, without comparing every pair.

Bounds are sorted, and only arrays whose bounds overlap are looked at more closely.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from componentvec.backends import is_foreign
from componentvec.sharing._footprint import Footprint, Link, footprint_of, relation

__all__ = ["search"]

# How much work NumPy may spend on deciding whether two strided arrays overlap.
_MAX_WORK: Any = 1_000_000  # Any: stubs of NumPy before 2.5 know the special values only


def search(
    leaves: Sequence[object], watched: Collection[int] | None = None
) -> tuple[list[Link | None], list[tuple[int, int]]]:
    """Find the leaves that have elements in common.

    Parameters
    ----------
    leaves : sequence
        Arrays, and whatever else; only arrays are ever tied.
    watched : collection of int, optional
        Only overlaps with one of these leaves matter, and not how tied ones are related.

    Returns
    -------
    links : list of Link or None
        For each leaf the first one that it is tied to; None for memory of its own.
    overlaps : list of (int, int)
        Pairs that have elements in common, but are not tied.
    """
    links: list[Link | None] = [None] * len(leaves)
    overlaps: list[tuple[int, int]] = []
    firsts: dict[int, int] = {}
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, np.ndarray) or is_foreign(leaf):
            first = firsts.setdefault(id(leaf), place)
            if first != place:
                links[place] = Link(first, None)
    distinct = [place for place in firsts.values() if isinstance(leaves[place], np.ndarray)]
    for place, link in _memory_links(leaves, distinct, overlaps, watched):
        links[place] = link
    _point_at_firsts(links)
    return links, overlaps


def _memory_links(
    leaves: Sequence[Any],
    places: Sequence[int],
    overlaps: list[tuple[int, int]],
    watched: Collection[int] | None,
) -> Iterator[tuple[int, Link]]:
    """Yield the ties among distinct array objects; see `search`."""
    if all(leaves[place].base is None for place in places):
        return  # each owns its memory
    spans = sorted(
        (*np.lib.array_utils.byte_bounds(leaves[place]), place)
        for place in places
        if leaves[place].size
    )
    cluster: list[int] = []
    reach = -1
    for low, high, place in [*spans, (-1, -1, -1)]:
        if place < 0 or low >= reach:
            for bucket in _buckets(leaves, sorted(cluster)):
                yield from _bucket_links(leaves, bucket, overlaps, watched)
            cluster = []
        cluster.append(place)
        reach = max(reach, high)


def _buckets(leaves: Sequence[Any], cluster: list[int]) -> Iterable[list[int]]:
    """Split arrays whose bounds overlap into groups that cannot have an element in common.

    Columns of one matrix, or real and imaginary parts: where the outer steps of all arrays are
    multiples of one period, each array stays in one window of that period, and arrays in different
    windows never meet. So they need not be compared pair by pair.
    """
    if len(cluster) < 2:
        return []
    arrays = [leaves[place] for place in cluster]
    dims = [[(abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1] for a in arrays]
    period = math.gcd(*(max(steps, default=(0, 1))[0] for steps in dims))
    windows: list[tuple[int, int, int]] = []
    for place, array, steps in zip(cluster, arrays, dims, strict=True):
        inner = sum(step * (extent - 1) for step, extent in steps if period and step % period)
        first = np.lib.array_utils.byte_bounds(array)[0] % period if period else 0
        windows.append((first, first + inner + array.itemsize, place))
    if not period or max(end for _, end, _ in windows) > period:
        return [cluster]
    buckets: list[list[int]] = []
    reach = -1
    for first, end, place in sorted(windows):
        if first >= reach:
            buckets.append([])
        buckets[-1].append(place)
        reach = max(reach, end)
    return map(sorted, buckets)


def _bucket_links(
    leaves: Sequence[Any],
    bucket: list[int],
    overlaps: list[tuple[int, int]],
    watched: Collection[int] | None,
) -> Iterator[tuple[int, Link]]:
    """Yield the ties among arrays that may have elements in common."""
    seen: dict[Footprint | int, int] = {}
    for place in bucket:
        # An array that repeats elements is like no other.
        footprint = footprint_of(leaves[place]) or place
        first = seen.setdefault(footprint, place)
        if first == place:
            overlaps += [
                (p, place)
                for p in seen.values()
                if p != place
                and (watched is None or p in watched or place in watched)
                and _overlap(leaves[p], leaves[place])
            ]
            continue
        try:
            assert isinstance(footprint, Footprint)
            # Where only some are watched, it only matters what is the same memory.
            related = watched is None
            view = relation(leaves[first], leaves[place], footprint) if related else None
            yield place, Link(first, view)
        except ValueError:
            overlaps.append((first, place))


def _overlap(first: Any, other: Any) -> bool:
    try:
        return np.shares_memory(first, other, max_work=_MAX_WORK)
    except np.exceptions.TooHardError:
        return True  # undecided: refuse rather than guess


def _point_at_firsts(links: list[Link | None]) -> None:
    """Make every link point at a leaf that has its own memory."""
    for place, link in enumerate(links):
        if link is not None:
            earlier = links[link.first]
            if earlier is not None:
                links[place] = Link(earlier.first, earlier.view)
