"""Containers: how they come apart into named parts, and how they go back together."""

from componentvec.tree._containers import named_children, take_apart
from componentvec.tree._contents import contents_of
from componentvec.tree._parts import Parts, Rebuild
from componentvec.tree._rebuild import RebuildDict, RebuildList, RebuildTuple
from componentvec.tree._registry import (
    is_static_class,
    register_pytree_node,
    register_static,
)
from componentvec.tree._same import same_value
from componentvec.tree._walk import Container, Item, walk

__all__ = [
    "Container",
    "Item",
    "Parts",
    "Rebuild",
    "RebuildDict",
    "RebuildList",
    "RebuildTuple",
    "contents_of",
    "is_static_class",
    "named_children",
    "register_pytree_node",
    "register_static",
    "same_value",
    "take_apart",
    "walk",
]
