"""The kinds of container a tree is made of: registered classes first, then the built-in kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from componentvec.errors import LabelError
from componentvec.tree._fields import Schema, field_state, schema_of
from componentvec.tree._jax import open_jax
from componentvec.tree._parts import ClashingKeysError, Parts, Rebuild, key_names, position_names
from componentvec.tree._rebuild import (
    RebuildDict,
    RebuildList,
    RebuildMapping,
    RebuildObject,
    RebuildProxy,
    RebuildTuple,
    stored_items,
)
from componentvec.tree._registry import is_registered, is_static_class, open_registered
from componentvec.tree._state import NO_ATTRIBUTES, Attributes, attributes_of, builtin_base

__all__ = ["named_children", "take_apart"]

_CONTAINERS = frozenset({dict, list, tuple, MappingProxyType})
# Whose other classes are not containers: numbers, text, functions, arrays.
_ATOM_MODULES = frozenset({"builtins", "numpy"})


class _Split(NamedTuple):
    """A container taken apart; how it goes back together is only worked out when asked for."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    rebuild: Callable[[], Rebuild]
    left_out: frozenset[str] = frozenset()


def take_apart(value: object) -> Parts | None:
    """Take a container apart into named parts.

    Returns
    -------
    Parts or None
        None for anything that is not a container.

    Raises
    ------
    ClashingKeysError
        When two keys of a mapping would get the same name (1 and "_1"); a LabelError.
    UnregisteredTypeError
        When the function registered for a class does not do its work.
    """
    known = _known(value)
    if known is not None:
        return known
    split = _split(value)
    if split is None:
        return None
    rebuild = split.rebuild()
    kept = getattr(rebuild, "attributes", NO_ATTRIBUTES).items
    return Parts(split.names, split.values, rebuild, split.left_out, kept)


def named_children(value: object) -> dict[str, Any] | None:
    """Return the parts of a container by name, of any mapping too; None for anything else.

    Raises
    ------
    LabelError
        As for `take_apart`.
    """
    try:
        split = _known(value) or _split(value)
        if split is not None:
            return dict(zip(split.names, split.values, strict=True))
        if isinstance(value, Mapping) and not is_static_class(type(value)):
            return dict(zip(key_names(tuple(value)), value.values(), strict=True))
    except ClashingKeysError as error:
        raise LabelError(str(error)) from None
    return None


def _known(value: object) -> Parts | None:
    """Take an object of a registered class apart; None for all others."""
    kind = type(value)
    if is_registered(kind):
        return open_registered(value)
    return open_jax(value)


def _split(value: Any) -> _Split | None:
    """Take apart the built-in kinds of container.

    What a subclass makes of iteration or length does not matter: the parts are what is stored.
    """
    kind = type(value)
    if kind.__module__ in _ATOM_MODULES and kind not in _CONTAINERS:
        return None
    if is_static_class(kind) or isinstance(value, Enum):  # a member is one object everywhere
        return None
    if isinstance(value, dict):
        items = stored_items(value)
        names = key_names(tuple(items))
        return _Split(names, tuple(items.values()), partial(_dict_rebuild, value))
    if isinstance(value, tuple):
        if hasattr(kind, "n_sequence_fields"):
            return None  # a record of the system's (time.gmtime()), made in C and by C only
        parts: tuple[Any, ...] = tuple.__getitem__(value, slice(None))
        fields = getattr(kind, "_fields", None)  # of the class: mocks have every name
        names = position_names(len(parts))
        if isinstance(fields, tuple) and len(fields) == len(parts):
            names = fields
        return _Split(names, parts, lambda: RebuildTuple(kind, attributes_of(value)))
    if isinstance(value, list):
        parts = tuple(list.__getitem__(value, slice(None)))
        names = position_names(len(parts))
        return _Split(names, parts, lambda: RebuildList(kind, attributes_of(value)))
    schema = schema_of(kind)
    if schema is not None and builtin_base(kind) is object:  # others have contents of their own
        names = tuple(name for name in schema.names if hasattr(value, name))
        parts = tuple(getattr(value, name) for name in names)
        rebuild = partial(_object_rebuild, value, schema, names)
        return _Split(names, parts, rebuild, schema.left_out)
    # Last: an abstract class answers slowly, and most mappings are dicts.
    return _split_mapping(value) if isinstance(value, Mapping) else None


def _split_mapping(value: Mapping[Any, Any]) -> _Split | None:
    """Take apart a mapping that is not a dict, but keeps its items in one."""
    keys = tuple(value)
    rebuild: Callable[[], Rebuild]
    if type(value) is MappingProxyType:
        rebuild = partial(RebuildProxy, RebuildDict(dict, keys))
    else:
        holder = _holder_of(value)
        if holder is None:
            return None
        rebuild = partial(_mapping_rebuild, value, holder)
    return _Split(key_names(keys), tuple(value[key] for key in keys), rebuild)


def _object_rebuild(value: object, schema: Schema, names: tuple[str, ...]) -> RebuildObject:
    return RebuildObject(type(value), names, field_state(value, schema, leave_out=names))


def _mapping_rebuild(value: Mapping[Any, Any], holder: str) -> RebuildMapping:
    inner = _dict_rebuild(getattr(value, holder))
    return RebuildMapping(type(value), holder, inner, attributes_of(value, {holder}))


def _dict_rebuild(value: dict[Any, Any]) -> RebuildDict:
    kind = type(value)
    items = stored_items(value)
    if kind is dict:
        return RebuildDict(dict, tuple(items))
    own_dict = getattr(value, "__dict__", None) is value
    attributes = NO_ATTRIBUTES if own_dict else attributes_of(value)
    # Items that are attributes too (`batch.x` for `batch["x"]`) stay so.
    mirrored = tuple(
        name for name, held in attributes.items if name in items and items[name] is held
    )
    rest = tuple(item for item in attributes.items if item[0] not in mirrored)
    factory = value.default_factory if isinstance(value, defaultdict) else None
    return RebuildDict(kind, tuple(items), Attributes(rest), factory, mirrored, own_dict)


def _holder_of(value: Mapping[Any, Any]) -> str | None:
    """Name the attribute that holds a mapping's items; None when there is none, or several."""
    holders = [
        name
        for name, held in attributes_of(value).items
        if isinstance(held, dict)
        and tuple(stored_items(held)) == tuple(value)
        and all(value[key] is item for key, item in stored_items(held).items())
    ]
    return holders[0] if len(holders) == 1 else None
