"""New axes from old ones, as functions from components to records.

Ties follow one rule everywhere: what is chosen together stays tied, the first chosen site of a slot
becomes its canonical one in its own C order, and an alias whose storage is not chosen gets a slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from componentvec.axis._nodes import Group, Leaf
from componentvec.axis._records import GroupRecord, LeafRecord, Record, Tie
from componentvec.axis._strides import relative_view
from componentvec.errors import LabelError, SharingError
from componentvec.names import format_path
from componentvec.typing import Names

__all__ = ["drop", "merge", "select"]


def select(root: Group, keep: Sequence[Names]) -> tuple[list[Record], list[Leaf]]:
    """Keep the components `keep`, in that order, inside the groups that hold them.

    Returns
    -------
    records : list of Record
    sources : list of Leaf
        For each slot of the new axis, the site of the old one that it repeats.
    """
    chosen: dict[Names, dict[str, None]] = {(): {}}  # of each group, in the order of choice
    whole: set[Names] = set()
    for names in keep:
        if names in chosen or any(names[:depth] in whole for depth in range(len(names) + 1)):
            msg = f"`{format_path(names)}` is chosen twice"
            raise LabelError(msg)
        whole.add(names)
        for depth, name in enumerate(names):
            chosen.setdefault(names[:depth], {})[name] = None
    return _retied(root, lambda names, group: tuple(chosen.get(names, group.axis.children)))


def drop(root: Group, gone: Iterable[Names]) -> tuple[list[Record], list[Leaf]]:
    """Leave out the components `gone`; returns as `select`."""
    absent = set(gone)
    return _retied(
        root,
        lambda names, group: [name for name in group.axis.names if (*names, name) not in absent],
    )


def _retied(
    root: Group, children_of: Callable[[Names, Group], Sequence[str]]
) -> tuple[list[Record], list[Leaf]]:
    """Flatten what `children_of` keeps of each group, and number the slots anew."""
    records: list[Record] = []
    sources: list[Leaf] = []
    slots: dict[int | str | None, int] = {}
    pending: list[tuple[Names, Leaf | Group]] = [((), root)]
    while pending:
        names, child = pending.pop()
        name = names[-1] if names else ""
        if isinstance(child, Group):
            kept = children_of(names, child)
            records.append(GroupRecord(name, len(kept)))
            children = child.axis.children
            pending.extend(((*names, n), children[n].within(child)) for n in reversed(kept))
            continue
        # A slot whose place is not known is known by its path.
        slot = slots.setdefault(child.storage if child.slot is None else child.slot, len(sources))
        if slot == len(sources):
            sources.append(child)
            records.append(LeafRecord(name, child.shape))
            continue
        first = sources[slot]
        try:
            view = relative_view(first.shape, first.view, child.shape, child.view)
        except ValueError as error:
            msg = f"`{format_path(names)}` cannot stay tied in this order: {error}"
            raise SharingError(msg) from None
        records.append(LeafRecord(name, child.shape, Tie(slot, view)))
    return records, sources


def merge(first: Sequence[Record], second: Sequence[Record], slots: int) -> list[Record]:
    """Put the children of one root behind those of another that has `slots` slots."""
    one, *firsts = first
    two, *seconds = second
    assert isinstance(one, GroupRecord)
    assert isinstance(two, GroupRecord)
    moved = [
        record._replace(tie=Tie(record.tie.slot + slots, record.tie.view))
        if isinstance(record, LeafRecord) and record.tie and record.storage is None
        else record
        for record in seconds
    ]
    return [GroupRecord("", one.children + two.children), *firsts, *moved]
