"""Which leaves are the same memory, and what the sharing policy makes of it.

Two leaves are tied when they are one object, or when they hold exactly the same elements in memory,
seen through a permutation, reversal or contiguous reshape. Elements in common, but not all, raise.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from componentvec.axis import View, c_strides, relative_view, simplify_view
from componentvec.backends import is_foreign
from componentvec.errors import SharingError
from componentvec.names import format_path
from componentvec.typing import SharingPolicy

__all__ = ["Link", "find_ties", "tied_to", "untied"]

# How much work NumPy may spend on deciding whether two strided arrays overlap.
_MAX_WORK: Any = 1_000_000  # Any: stubs of NumPy before 2.5 know the special values only


class Link(NamedTuple):
    """A leaf that shows the memory of an earlier one."""

    first: int
    """Position of the earlier leaf."""
    view: View | None
    """Where the elements lie in the earlier leaf's C order; None for the same order."""


class _Footprint(NamedTuple):
    """The set of memory places of an array, however it walks through them."""

    start: int
    """Address of the lowest element."""
    dtype: np.dtype[Any]
    runs: tuple[tuple[int, int], ...]
    """(step in bytes, extent), largest step first, contiguous dimensions merged."""


def find_ties(
    leaves: Sequence[object],
    names: Sequence[Sequence[str]],
    policy: SharingPolicy,
    *,
    refuse_overlap: bool = True,
) -> list[Link | None]:
    """Find the leaves that share memory.

    Parameters
    ----------
    leaves : sequence
        Arrays, and whatever else; only arrays are ever tied. Scalars (Python's or NumPy's) and
        arrays without elements that are different objects never are.
    names : sequence of sequence of str
        The path of each leaf, for messages.
    policy : {"alias", "reject", "copy"}
        Whether sharing is kept, refused, or undone.
    refuse_overlap : bool, optional
        Whether leaves that have some elements in common raise, or count as apart.

    Returns
    -------
    list of Link or None
        For each leaf the earlier one that it shows; None for memory of its own.

    Raises
    ------
    SharingError
        Under "reject", when any leaves share; under "alias" and "reject", when two leaves overlap
        in part, or in a way that strides cannot say.
    """
    if policy not in ("alias", "reject", "copy"):
        msg = f"sharing must be 'alias', 'reject' or 'copy', not {policy!r}"
        raise ValueError(msg)
    if policy == "copy":
        return [None] * len(leaves)
    overlaps: list[tuple[int, int]] = []
    links = _links(leaves, overlaps)
    if overlaps and refuse_overlap:
        one, two = overlaps[0]
        raise _partial(names[one], names[two])
    _point_at_firsts(links)
    if policy == "reject" and any(links):
        raise _rejected(links, names)
    return links


def tied_to(
    trainable: Sequence[object],
    frozen: Sequence[object],
    names: Sequence[Sequence[str]],
) -> list[bool]:
    """Tell which frozen arrays are the memory of trainable ones.

    Such an array is trainable too: a model in which one name of a memory follows the vector and
    another one does not would fall apart.

    Parameters
    ----------
    trainable, frozen : sequence
        Arrays, and whatever else.
    names : sequence of sequence of str
        Their paths: of the trainable ones, then of the frozen ones.

    Raises
    ------
    SharingError
        When a frozen and a trainable array have some elements in common, but not all.
    """
    # The trainable ones first: then the first of every group that has one is one.
    leaves = [*trainable, *frozen]
    count = len(trainable)
    overlaps: list[tuple[int, int]] = []
    links = _links(leaves, overlaps, range(count))
    _point_at_firsts(links)
    also_frozen = {link.first for link in links[count:] if link is not None}
    for one, two in overlaps:
        if one < count <= two or also_frozen & {one, two}:
            raise _partial(names[one], names[two])
    return [link is not None and link.first < count for link in links[count:]]


def untied(leaves: Sequence[Any]) -> list[Any]:
    """Copy the arrays that have elements in common with an earlier one; the others stay."""
    overlaps: list[tuple[int, int]] = []
    links = _links(leaves, overlaps)
    shared = {place for place, link in enumerate(links) if link is not None}
    shared.update(max(pair) for pair in overlaps)
    return [leaf.copy() if place in shared else leaf for place, leaf in enumerate(leaves)]


def _links(
    leaves: Sequence[object],
    overlaps: list[tuple[int, int]],
    watched: Collection[int] | None = None,
) -> list[Link | None]:
    """Find all ties; add overlaps of other kinds to `overlaps`, if one of the two is watched."""
    links: list[Link | None] = [None] * len(leaves)
    firsts: dict[int, int] = {}
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, np.ndarray) or is_foreign(leaf):
            first = firsts.setdefault(id(leaf), place)
            if first != place:
                links[place] = Link(first, None)
    distinct = [place for place in firsts.values() if isinstance(leaves[place], np.ndarray)]
    for place, link in _memory_links(leaves, distinct, overlaps, watched):
        links[place] = link
    return links


def _memory_links(
    leaves: Sequence[Any],
    places: Sequence[int],
    overlaps: list[tuple[int, int]],
    watched: Collection[int] | None,
) -> Iterator[tuple[int, Link]]:
    """Yield the ties among distinct array objects; see `_links`."""
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
    seen: dict[_Footprint | int, int] = {}
    for place in bucket:
        # An array that repeats elements is like no other.
        footprint = _footprint(leaves[place]) or place
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
            assert isinstance(footprint, _Footprint)
            # Where only some are watched, it only matters what is the same memory.
            related = watched is None
            view = _relation(leaves[first], leaves[place], footprint) if related else None
            yield place, Link(first, view)
        except ValueError:
            overlaps.append((first, place))


def _footprint(array: np.ndarray[Any, Any]) -> _Footprint | None:
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
    return _Footprint(start, array.dtype, tuple(merged))


def _relation(first: Any, other: Any, footprint: _Footprint) -> View | None:
    """Express `other` over the C order of `first`; both have this footprint."""
    return relative_view(
        first.shape, _dense_view(first, footprint), other.shape, _dense_view(other, footprint)
    )


def _dense_view(array: Any, footprint: _Footprint) -> View | None:
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


def _partial(one: Sequence[str], two: Sequence[str]) -> SharingError:
    return SharingError(
        f"`{format_path(one)}` and `{format_path(two)}` overlap in memory, but are not the same "
        "elements seen through a transpose, reversal or reshape, so they cannot share a slot; copy "
        "one of them, or pass sharing='copy' to store both apart"
    )


def _rejected(links: Sequence[Link | None], names: Sequence[Sequence[str]]) -> SharingError:
    groups: dict[int, list[str]] = {}
    for place, link in enumerate(links):
        if link is not None:
            group = groups.setdefault(link.first, [f"`{format_path(names[link.first])}`"])
            group.append(f"`{format_path(names[place])}`")
    listed = "; ".join(" and ".join(group) for group in groups.values())
    return SharingError(
        f"these components share memory: {listed}; pass sharing='alias' to store them once and "
        "keep them tied, or sharing='copy' to store each apart"
    )
