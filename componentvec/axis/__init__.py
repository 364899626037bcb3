"""Label trees: what is where in one dimension of an array. Standard library only."""

from componentvec.axis._axis import Axis, Location
from componentvec.axis._nodes import Group, Leaf
from componentvec.axis._records import GroupRecord, LeafRecord, Record, Tie
from componentvec.axis._strides import (
    Rearrangement,
    View,
    c_strides,
    rearrangement,
    relative_view,
    simplify_view,
)

__all__ = [
    "Axis",
    "Group",
    "GroupRecord",
    "Leaf",
    "LeafRecord",
    "Location",
    "Rearrangement",
    "Record",
    "Tie",
    "View",
    "c_strides",
    "rearrangement",
    "relative_view",
    "simplify_view",
]
