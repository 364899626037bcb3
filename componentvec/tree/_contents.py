"""What an object holds that is not a container: searched for arrays, never rebuilt."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

from componentvec.tree._state import attributes_of

__all__ = ["contents_of"]

# What functions close over is their own business, and so is what a class or module has.
_CLOSED = (type, ModuleType, FunctionType, BuiltinFunctionType)


def contents_of(value: object) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds, each with the code that reaches it from the object.

    Yields
    ------
    code : str
        Such as ``.scale`` for attributes, slots included, and ``[0]`` for the elements of deques,
        sets, mappings and arrays of objects. Nothing for functions, classes and modules.
    held : object
    """
    if isinstance(value, _CLOSED):
        return
    if isinstance(value, MethodType):
        yield ".__self__", value.__self__
        return
    if isinstance(value, functools.partial):
        yield ".args", value.args
        yield ".keywords", value.keywords
    for name, held in attributes_of(value).items:
        yield f".{name}", held
    if isinstance(value, Mapping):
        for key, held in value.items():
            yield f"[{key!r}]", held
    elif isinstance(value, (deque, set, frozenset)):
        for place, held in enumerate(value):
            yield f"[{place}]", held
    elif getattr(getattr(value, "dtype", None), "kind", None) == "O":
        elements: Iterable[Any] = getattr(value, "flat", ())
        for place, held in enumerate(elements):
            yield f".flat[{place}]", held
