"""Containers: how they come apart into named parts, and how they go back together."""

from componentvec.tree._containers import Parts, named_children, take_apart
from componentvec.tree._rebuild import (
    Rebuild,
    RebuildDict,
    RebuildList,
    RebuildTuple,
    same_value,
)
from componentvec.tree._walk import Container, Item, walk

__all__ = [
    "Container",
    "Item",
    "Parts",
    "Rebuild",
    "RebuildDict",
    "RebuildList",
    "RebuildTuple",
    "named_children",
    "same_value",
    "take_apart",
    "walk",
]
