"""Say in words where two axes part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from componentvec.axis._nodes import Branch, Leaf
from componentvec.names import format_path

if TYPE_CHECKING:
    from componentvec.axis._axis import Axis

__all__ = ["first_difference"]


def first_difference(left: Axis, right: Axis) -> str:
    """Describe the first component, in order, that two different axes do not have in common."""
    for (names, one), (other_names, two) in zip(
        left.components(), right.components(), strict=False
    ):
        path = format_path(names)
        if names != other_names:
            return f"the left has `{path}` where the right has `{format_path(other_names)}`"
        if isinstance(one, Branch) != isinstance(two, Branch):
            return f"`{path}` is {_kind(one)} on the left and {_kind(two)} on the right"
        if isinstance(one, Leaf) and isinstance(two, Leaf):
            if one.shape != two.shape:
                return f"`{path}` has shape {one.shape} on the left and {two.shape} on the right"
            if _place(one) != _place(two):
                return f"`{path}` is {_place(one)} on the left and {_place(two)} on the right"
    lefts, rights = (sum(1 for _ in axis.components()) for axis in (left, right))
    side, longer, count = ("left", left, rights) if lefts > rights else ("right", right, lefts)
    names = [names for names, _ in longer.components()][count]
    return f"only the {side} has `{format_path(names)}`"


def _kind(child: Leaf | Branch) -> str:
    return "a group" if isinstance(child, Branch) else "an array"


def _place(leaf: Leaf) -> str:
    if leaf.outside:
        return "stored outside"
    if leaf.canonical:
        return "stored here"
    return f"tied to slot {leaf.slot}" + (f" through {leaf.view}" if leaf.view else "")
