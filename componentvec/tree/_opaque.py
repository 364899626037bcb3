"""What objects keep that are no containers: looked at, never rebuilt."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

from componentvec.tree._rebuild import attributes_of

__all__ = ["contents_of"]

# What functions and modules know is their own business, and so is a class'.
_CLOSED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def contents_of(value: object) -> list[tuple[str, Any]]:
    """List what an object keeps, each with the code that reaches it from the object.

    Returns
    -------
    list of (str, object)
        Attributes, slots included (``.scale``), and the elements of deques, sets and mappings.
        Nothing for functions, classes and modules.
    """
    if isinstance(value, _CLOSED):
        return []
    found = [(f".{name}", held) for name, held in attributes_of(value).items]
    if isinstance(value, (deque, set, frozenset)):
        found += [(f"[{place}]", held) for place, held in enumerate(value)]
    elif isinstance(value, Mapping):
        found += [(f"[{key!r}]", held) for key, held in value.items()]
    return found
