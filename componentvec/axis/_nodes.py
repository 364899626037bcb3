"""The two kinds of component as an axis holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from componentvec.axis._strides import View
from componentvec.typing import Shape

if TYPE_CHECKING:
    from componentvec.axis._axis import Axis

__all__ = ["Group", "Leaf"]


class Leaf(NamedTuple):
    """A site: where one array or scalar component lies."""

    span: slice
    """The slot's range, counted from the start of the axis that holds this leaf; beyond that axis
    when the storage is outside."""
    shape: Shape
    """Shape of the component; ``()`` for a scalar."""
    view: View | None
    """Where the elements lie in the slot; None for C order."""
    slot: int | None
    """Ordinal of the slot, counted from the axis' first one; None when its place is not known."""
    canonical: bool
    """Whether this is the first site of its slot; the others are aliases."""
    storage: str | None
    """For an alias of a slot outside its group: the path of the storage, seen from the root."""

    @property
    def outside(self) -> bool:
        """Whether the slot lies outside the axis."""
        return self.slot is None or self.slot < 0

    def within(self, group: Group) -> Leaf:
        """Return this leaf of `group`'s axis, counted from the axis that holds the group."""
        if self.slot is None:
            return self
        start = group.span.start
        span = slice(self.span.start + start, self.span.stop + start)
        slot = self.slot + group.slot
        return Leaf(span, self.shape, self.view, slot, self.canonical, self.storage)


class Group(NamedTuple):
    """A group: where its own slots lie, and the axis that describes them."""

    span: slice
    axis: Axis
    slot: int
    """Ordinal of the group's first slot, counted from the parent axis' first one."""

    def within(self, group: Group) -> Group:
        """Return this group of `group`'s axis, counted from the axis that holds the outer one."""
        start = group.span.start
        span = slice(self.span.start + start, self.span.stop + start)
        return Group(span, self.axis, self.slot + group.slot)
