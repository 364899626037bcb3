"""The kinds of container a tree is made of: registered classes first, then the built-in kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from componentvec.errors import LabelError
from componentvec.tree._fields import field_state, schema_of
from componentvec.tree._jax import open_jax
from componentvec.tree._parts import ClashingKeysError, Parts, key_names, position_names
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

_Split = tuple[tuple[str, ...], tuple[Any, ...]]


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
    return None if split is None else _with_rebuild(value, *split)


def named_children(value: object) -> dict[str, Any] | None:
    """Return the parts of a container by name, of any mapping too; None for anything else.

    Raises
    ------
    LabelError
        As for `take_apart`.
    """
    try:
        known = _known(value)
        split = (known.names, known.values) if known is not None else _split(value)
        if split is None and isinstance(value, Mapping) and not is_static_class(type(value)):
            split = key_names(tuple(value)), tuple(value.values())
    except ClashingKeysError as error:
        raise LabelError(str(error)) from None
    return None if split is None else dict(zip(*split, strict=True))


def _known(value: object) -> Parts | None:
    """Take an object of a registered class apart; None for all others."""
    kind = type(value)
    if is_registered(kind):
        return open_registered(value)
    return open_jax(value)


def _split(value: Any) -> _Split | None:
    """Return names and values of the parts of the built-in kinds of container.

    What a subclass makes of iteration or length does not matter: the parts are what is stored.
    """
    kind = type(value)
    if kind.__module__ in _ATOM_MODULES and kind not in _CONTAINERS:
        return None
    if is_static_class(kind) or isinstance(value, Enum):  # a member is one object everywhere
        return None
    if isinstance(value, dict):
        items = stored_items(value)
        return key_names(tuple(items)), tuple(items.values())
    if isinstance(value, tuple):
        if hasattr(kind, "n_sequence_fields"):
            return None  # a record of the system's (time.gmtime()), made in C and by C only
        parts: tuple[Any, ...] = tuple.__getitem__(value, slice(None))
        fields = getattr(kind, "_fields", None)  # of the class: mocks have every name
        if isinstance(fields, tuple) and len(fields) == len(parts):
            return fields, parts
        return position_names(len(parts)), parts
    if isinstance(value, list):
        parts = tuple(list.__getitem__(value, slice(None)))
        return position_names(len(parts)), parts
    schema = schema_of(kind)
    if schema is not None and builtin_base(kind) is object:  # others have contents of their own
        names = tuple(name for name in schema.names if hasattr(value, name))
        return names, tuple(getattr(value, name) for name in names)
    # Last: an abstract class answers slowly, and most mappings are dicts.
    if isinstance(value, Mapping) and (kind is MappingProxyType or _holder_of(value)):
        keys = tuple(value)
        return key_names(keys), tuple(value[key] for key in keys)
    return None


def _with_rebuild(value: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> Parts:
    """Say how a container that `_split` knows goes back together."""
    kind: Any = type(value)
    if isinstance(value, dict):
        rebuild = _dict_rebuild(value)
        return Parts(names, values, rebuild, kept=rebuild.attributes.items)
    if isinstance(value, tuple):
        attributes = attributes_of(value)
        return Parts(names, values, RebuildTuple(kind, attributes), kept=attributes.items)
    if isinstance(value, list):
        attributes = attributes_of(value)
        return Parts(names, values, RebuildList(kind, attributes), kept=attributes.items)
    schema = schema_of(kind)
    if schema is not None:
        attributes = field_state(value, schema, leave_out=names)
        made = RebuildObject(kind, names, attributes)
        return Parts(names, values, made, schema.left_out, attributes.items)
    if kind is MappingProxyType:
        return Parts(names, values, RebuildProxy(RebuildDict(dict, tuple(value))))
    holder = _holder_of(value)
    assert holder is not None
    attributes = attributes_of(value, {holder})
    inner = _dict_rebuild(getattr(value, holder))
    return Parts(
        names, values, RebuildMapping(kind, holder, inner, attributes), kept=attributes.items
    )


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
