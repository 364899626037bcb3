"""Label trees: what is where in one dimension of an array. Standard library only."""

from componentvec.axis._axis import Axis, Location
from componentvec.axis._nodes import Branch, Leaf
from componentvec.axis._records import GroupRecord, LeafRecord, Record, Tie
from componentvec.axis._strides import (
    Steps,
    View,
    c_strides,
    relative_view,
    simplify_view,
    view_steps,
)

__all__ = [
    "Axis",
    "Branch",
    "GroupRecord",
    "Leaf",
    "LeafRecord",
    "Location",
    "Record",
    "Steps",
    "Tie",
    "View",
    "c_strides",
    "relative_view",
    "simplify_view",
    "view_steps",
]
