"""Turn records into the tree of axes, bottom up and without recursion.

Linear in the number of components: one pass places every leaf; a group is finished when its last
child is, and hands its parent only what the parent cannot know (which of its sites are stored
elsewhere).
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from componentvec._stacklevel import user_stacklevel
from componentvec.axis._intern import Structure, intern
from componentvec.axis._nodes import Group, Leaf
from componentvec.axis._records import GroupRecord, LeafRecord, Record, Tie
from componentvec.axis._strides import View, simplify_view, view_fits
from componentvec.errors import LabelError, ShadowedNameWarning
from componentvec.names import RESERVED_NAMES, format_path, plain_name
from componentvec.typing import Shape

if TYPE_CHECKING:
    from componentvec.axis._axis import Axis

__all__ = ["build", "warn_shadowed"]

Assemble = Callable[[Structure, dict[str, Leaf | Group], int, int, bool], "Axis"]

# A site stored outside a group that is being built: its slot and view, or None when unknown.
Outsider = Tie | None


class _OpenGroup:
    """A group whose children are still coming in."""

    __slots__ = ("children", "content", "name", "outsiders", "slot", "start", "tied", "waiting")

    def __init__(self, name: str, waiting: int, start: int, slot: int) -> None:
        self.name = name
        self.waiting = waiting
        self.start = start
        self.slot = slot
        self.tied = False
        self.children: dict[str, Leaf | Group] = {}
        self.content: list[Any] = []
        self.outsiders: list[Outsider] = []

    def resolve(self, outsiders: Iterable[Outsider]) -> tuple[Outsider, ...]:
        """Write a child's outside sites as seen from here; keep those that point further out."""
        links: list[Outsider] = []
        for tie in outsiders:
            if tie is not None and tie.slot >= self.slot:
                links.append(Tie(tie.slot - self.slot, tie.view))
            else:
                links.append(None)
                self.outsiders.append(tie)
        return tuple(links)


class _Slots:
    """The slots placed so far; ranges count from the root."""

    __slots__ = ("paths", "spans", "targets")

    def __init__(self, records: Sequence[Record]) -> None:
        self.spans: list[slice] = []
        # Paths are only kept of slots that some tie points at: they say where an outside name
        # lives.
        self.targets = {r.tie.slot for r in records if isinstance(r, LeafRecord) and r.tie}
        self.paths: dict[int, str] = {}

    @property
    def end(self) -> int:
        return self.spans[-1].stop if self.spans else 0


def build(records: Sequence[Record], assemble: Assemble) -> Axis:
    """Build the axis that `records` describe.

    Parameters
    ----------
    records : sequence of Record
        A root group and its components, in order.
    assemble : callable
        Makes an axis of (structure, children, size, number of slots, whether names lie outside).

    Raises
    ------
    LabelError
        For duplicate names.
    ValueError
        For ties that do not point back at a slot of the right size, and for wrong counts.
    """
    slots = _Slots(records)
    stack: list[_OpenGroup] = []
    finished: Axis | None = None
    waiting = list(reversed(records))
    while waiting and finished is None:
        record = waiting.pop()
        record = (
            record._replace(name=_exact(record.name)) if type(record.name) is not str else record
        )
        if stack:
            _check_name(stack, record.name)
        if isinstance(record, GroupRecord):
            stack.append(_OpenGroup(record.name, record.children, slots.end, len(slots.spans)))
        elif stack:
            _place(record, stack, slots)
        while stack and stack[-1].waiting == 0:
            group = stack.pop()
            finished = _close(group, slots, assemble, is_root=not stack)
            if stack:
                _adopt(stack[-1], group, finished)
                finished = None
    if finished is None or waiting:
        msg = "the records do not form one root group: a child count is wrong"
        raise ValueError(msg)
    return finished


def _exact(name: object) -> str:
    if isinstance(name, str):
        return plain_name(name)
    msg = f"component names are strings, not {name!r}"
    raise LabelError(msg)


def _check_name(stack: list[_OpenGroup], name: str) -> None:
    if name in stack[-1].children:
        msg = f"component name `{_path_of(stack, name)}` occurs twice"
        raise LabelError(msg)


def _path_of(stack: list[_OpenGroup], name: str) -> str:
    return format_path([*(group.name for group in stack[1:]), name])


def _place(record: LeafRecord, stack: list[_OpenGroup], slots: _Slots) -> None:
    """Give a leaf its range, and add it to the innermost open group."""
    name, shape, tie, storage = record
    group = stack[-1]
    group.waiting -= 1
    if storage is not None:
        view = _checked_view(tie, shape, prod(shape), _path_of(stack, name)) if tie else None
        group.children[name] = Leaf(slice(0, 0), shape, view, None, False, storage)
        group.content.append((name, shape, None))
        group.outsiders.append(None)
        group.tied = True
        return

    canonical = tie is None
    if tie is None:
        slot, view = len(slots.spans), None
        slots.spans.append(slice(slots.end, slots.end + prod(shape)))
        if slot in slots.targets:
            slots.paths[slot] = _path_of(stack, name)
        identity: Any = (name, shape)
    else:
        slot, path = tie.slot, _path_of(stack, name)
        if not 0 <= slot < len(slots.spans):
            msg = f"`{path}` is tied to slot {slot}, which does not come before it"
            raise ValueError(msg)
        size = slots.spans[slot].stop - slots.spans[slot].start
        view = _checked_view(tie, shape, size, path)
        identity = (name, shape, slot - group.slot, view)
        group.tied = True

    span = slots.spans[slot]
    outside = slot < group.slot
    if outside:
        group.outsiders.append(Tie(slot, view))
        identity = (name, shape, None)
        storage = slots.paths[slot]
    local = slice(span.start - group.start, span.stop - group.start)
    group.children[name] = Leaf(local, shape, view, slot - group.slot, canonical, storage)
    group.content.append(identity)


def _checked_view(tie: Tie, shape: Shape, size: int, path: str) -> View | None:
    """Return the one spelling of a tie's view; refuse one that does not cover its slot."""
    if prod(shape) != size or (tie.view and not view_fits(shape, tie.view, size)):
        msg = f"`{path}` of shape {shape} does not cover its slot of {size} elements exactly once"
        raise ValueError(msg)
    return simplify_view(shape, tie.view) if tie.view else None


def _close(group: _OpenGroup, slots: _Slots, assemble: Assemble, *, is_root: bool) -> Axis:
    """Make the axis of a finished group, or find the one that was made of its structure before."""
    structure = intern(tuple(group.content))
    known = structure.root_axis if group.tied and is_root else structure.axis
    axis = known() if known is not None else None
    if axis is not None and not group.outsiders:
        return axis
    size = slots.end - group.start
    count = len(slots.spans) - group.slot
    axis = assemble(structure, group.children, size, count, bool(group.outsiders))
    if not group.tied:
        structure.axis = weakref.ref(axis)
    elif is_root and not group.outsiders:
        structure.root_axis = weakref.ref(axis)
    return axis


def _adopt(parent: _OpenGroup, group: _OpenGroup, axis: Axis) -> None:
    parent.waiting -= 1
    start = group.start - parent.start
    slot = group.slot - parent.slot
    parent.children[group.name] = Group(slice(start, start + axis.size), axis, slot)
    parent.tied |= group.tied
    links = parent.resolve(group.outsiders)
    parent.content.append((group.name, axis._structure, links))


def warn_shadowed(names: Iterable[str]) -> None:
    """Warn once per component name that only brackets reach because ndarray owns it."""
    for name in dict.fromkeys(name for name in names if name in RESERVED_NAMES):
        message = f'component {name!r} has the name of an array attribute; reach it as v["{name}"]'
        warnings.warn(message, ShadowedNameWarning, stacklevel=user_stacklevel())
