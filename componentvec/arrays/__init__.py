"""Labelled arrays."""

from componentvec.arrays._attach import strip
from componentvec.arrays._buffer import fill
from componentvec.arrays._labelled import Labelled
from componentvec.arrays._layout import Layout, lay_out
from componentvec.arrays._namedtree import NamedTree, named_tree
from componentvec.arrays._numbers import numbers
from componentvec.arrays._sites import view_slot
from componentvec.arrays._vector import ComponentVector, full, zeros

__all__ = [
    "ComponentVector",
    "Labelled",
    "Layout",
    "NamedTree",
    "fill",
    "full",
    "lay_out",
    "named_tree",
    "numbers",
    "strip",
    "view_slot",
    "zeros",
]
