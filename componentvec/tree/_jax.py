"""Classes that users registered with JAX, when JAX is loaded; JAX itself is never imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from componentvec.tree._fields import field_state, schema_of
from componentvec.tree._parts import Parts, key_names, position_names
from componentvec.tree._rebuild import RebuildObject

__all__ = ["open_jax"]

# JAX has its own ideas of these: it sorts dicts, and None is a container there. Whatever tuple says
# that it has `_fields` is a named tuple to it.
_BUILTIN_MODULES = frozenset({"builtins", "collections", "numpy", "types"})


def open_jax(value: object) -> Parts | None:
    """Take an object apart as JAX does; None where JAX does not know its class.

    Dataclasses and attrs classes keep the names of their fields, and JAX says which of them are
    parts: importing JAX must not rename anything.
    """
    tree_util = getattr(sys.modules.get("jax"), "tree_util", None)
    if tree_util is None:
        return None
    kind = type(value)
    if kind.__module__ in _BUILTIN_MODULES or isinstance(value, tuple):
        return None
    children, treedef = tree_util.tree_flatten_with_path(
        value, is_leaf=lambda part: part is not value
    )
    if children and children[0][0] == ():
        return None
    values = tuple(child for _, child in children)
    schema = schema_of(kind)
    if schema is not None:
        names = _fields_of(value, schema.names, values)
        if names is not None:
            attributes = field_state(value, schema, leave_out=names)
            rebuild = RebuildObject(kind, names, attributes)
            return Parts(names, values, rebuild, schema.left_out.intersection(names))
    keys = [path[0] for path, _ in children]
    names = _key_names(keys) or position_names(len(keys))
    return Parts(names, values, RebuildJax(treedef))


def _fields_of(value: Any, fields: Sequence[str], values: Sequence[Any]) -> tuple[str, ...] | None:
    """Find the fields that hold these values, in order; None when they are not a field each."""
    names: list[str] = []
    for part in values:
        name = next((f for f in fields if f not in names and getattr(value, f, None) is part), None)
        if name is None:
            return None
        names.append(name)
    return tuple(names)


def _key_names(keys: Sequence[Any]) -> tuple[str, ...] | None:
    """Read the names out of JAX's keys: attributes or keys of a mapping; None for positions."""
    for attribute in ("name", "key"):
        if keys and all(hasattr(key, attribute) for key in keys):
            found = tuple(getattr(key, attribute) for key in keys)
            positions = all(type(key).__name__ == "FlattenedIndexKey" for key in keys)
            return None if positions else key_names(found)
    return None


@dataclass(frozen=True, slots=True)
class RebuildJax:
    """An object of a class that JAX knows, put together by JAX."""

    treedef: Any

    def __call__(self, parts: Sequence[Any]) -> Any:
        return self.treedef.unflatten(parts)
