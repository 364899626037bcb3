"""Classes that users registered with JAX, when JAX is loaded; JAX itself is never imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from componentvec.tree._fields import field_state, schema_of
from componentvec.tree._parts import Parts, key_names, position_names
from componentvec.tree._rebuild import RebuildObject
from componentvec.tree._same import same_value

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
    keys = [path[0] for path, _ in children]
    names = _key_names(keys)
    schema = schema_of(kind)
    if schema is not None:
        fields = _fields_of(value, schema.names, names, values)
        if fields is not None:
            attributes = field_state(value, schema, leave_out=fields)
            rebuild = RebuildObject(kind, fields, attributes)
            return Parts(fields, values, rebuild, schema.left_out.intersection(fields))
    return Parts(names or position_names(len(keys)), values, RebuildJax(treedef))


def _fields_of(
    value: Any, fields: Sequence[str], named: tuple[str, ...] | None, values: Sequence[Any]
) -> tuple[str, ...] | None:
    """Find the fields that the parts are; None when they are not a field each.

    JAX may name them. If not, they are the fields that hold the very same objects, as long as no
    two fields hold one.
    """
    held = {name: getattr(value, name, None) for name in fields}
    if named is not None:
        return named if all(name in held for name in named) else None
    found = [[name for name in fields if held[name] is part] for part in values]
    if any(len(names) != 1 for names in found):
        return None
    return tuple(name for (name,) in found)


def _key_names(keys: Sequence[Any]) -> tuple[str, ...] | None:
    """Read the names out of JAX's keys: attributes or keys of a mapping; None for positions."""
    if keys and all(isinstance(key, str) for key in keys):
        return key_names(tuple(keys))
    for attribute in ("name", "key"):
        if keys and all(hasattr(key, attribute) for key in keys):
            found = tuple(getattr(key, attribute) for key in keys)
            positions = all(type(key).__name__ == "FlattenedIndexKey" for key in keys)
            return None if positions else key_names(found)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class RebuildJax:
    """An object of a class that JAX knows, put together by JAX."""

    treedef: Any

    def __call__(self, parts: Sequence[Any]) -> Any:
        return self.treedef.unflatten(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RebuildJax) and same_value(
            self.treedef.node_data(), other.treedef.node_data()
        )

    def __hash__(self) -> int:
        return hash(type(self))
