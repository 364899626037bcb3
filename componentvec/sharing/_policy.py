"""What the sharing policy makes of leaves that have memory in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from componentvec.errors import SharingError
from componentvec.names import format_path
from componentvec.sharing._footprint import Link
from componentvec.sharing._search import search
from componentvec.typing import SharingPolicy

__all__ = ["find_ties", "tied_to", "ties", "untied"]


def find_ties(
    leaves: Sequence[object],
    names: Sequence[Sequence[str]],
    policy: SharingPolicy,
) -> list[Link | None]:
    """Find the leaves that share memory, and refuse what the policy does not allow.

    Parameters
    ----------
    leaves : sequence
        Arrays, and whatever else; only arrays are ever tied. Scalars (Python's or NumPy's) and
        arrays without elements that are different objects never are.
    names : sequence of sequence of str
        The path of each leaf, for messages.
    policy : {"alias", "reject", "copy"}
        Whether sharing is kept, refused, or undone.

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
    links, overlaps = search(leaves)
    if overlaps:
        one, two = overlaps[0]
        raise _partial(names[one], names[two])
    if policy == "reject" and any(links):
        raise _rejected(links, names)
    return links


def tied_to(
    parameters: Sequence[object],
    statics: Sequence[object],
    names: Sequence[Sequence[str]],
) -> list[bool]:
    """Tell which statics are the memory of parameters.

    Such an array is a parameter too: a model in which one name of a memory follows the vector and
    another one does not would fall apart.

    Parameters
    ----------
    parameters, statics : sequence
        Arrays, and whatever else.
    names : sequence of sequence of str
        Their paths: of the parameters, then of the statics.

    Raises
    ------
    SharingError
        When a static and a parameter have some elements in common, but not all.
    """
    # The parameters first: then the first of every group that has one is one.
    leaves = [*parameters, *statics]
    count = len(parameters)
    links, overlaps = search(leaves, range(count))
    also_static = {link.first for link in links[count:] if link is not None}
    for one, two in overlaps:
        if one < count <= two or also_static & {one, two}:
            raise _partial(names[one], names[two])
    return [link is not None and link.first < count for link in links[count:]]


def ties(leaves: Sequence[object]) -> list[Link | None]:
    """Find the leaves that are tied; those that overlap in any other way count as apart."""
    return search(leaves)[0]


def untied(leaves: Sequence[Any]) -> list[Any]:
    """Copy the arrays that have elements in common with an earlier one; the others stay."""
    links, overlaps = search(leaves)
    shared = {place for place, link in enumerate(links) if link is not None}
    shared.update(max(pair) for pair in overlaps)
    return [leaf.copy() if place in shared else leaf for place, leaf in enumerate(leaves)]


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
