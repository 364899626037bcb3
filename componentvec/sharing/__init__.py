"""Which leaves are the same memory, and what the sharing policy makes of it.

Two leaves are tied when they are one object, or when they hold exactly the same elements in memory,
seen through a permutation, reversal or contiguous reshape. Elements in common, but not all, raise.
"""

from componentvec.sharing._footprint import Link
from componentvec.sharing._policy import find_ties, tied_to, ties, untied

__all__ = ["Link", "find_ties", "tied_to", "ties", "untied"]
