"""The kinds of container a tree is made of: mappings, sequences, named tuples, dataclasses."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from componentvec.errors import LabelError
from componentvec.tree._rebuild import (
    Rebuild,
    RebuildDict,
    RebuildList,
    RebuildObject,
    RebuildProxy,
    RebuildTuple,
    attributes_of,
)

__all__ = ["Parts", "Rebuild", "named_children", "take_apart"]


class Parts(NamedTuple):
    """A container taken apart."""

    names: tuple[str, ...]
    """Component name of each part: key, field name, or ``_1``, ``_2``, … for positions."""
    values: tuple[Any, ...]
    rebuild: Rebuild


def take_apart(value: object) -> Parts | None:
    """Take a container apart into named parts.

    Returns
    -------
    Parts or None
        None for anything that is not a container.

    Raises
    ------
    LabelError
        When two keys of a mapping would get the same name (1 and "_1").
    """
    kind: Any = type(value)
    if isinstance(value, dict):
        factory = getattr(value, "default_factory", None)
        keys = tuple(value)
        rebuild: Rebuild = RebuildDict(kind, keys, attributes_of(value), factory)
        return Parts(_names(keys), tuple(value.values()), rebuild)
    if isinstance(value, MappingProxyType):
        keys = tuple(value)
        return Parts(_names(keys), tuple(value.values()), RebuildProxy(RebuildDict(dict, keys)))
    if isinstance(value, tuple):
        rebuild = RebuildTuple(kind, attributes_of(value))
        fields = getattr(kind, "_fields", None)
        if fields is not None and len(fields) == len(value):
            return Parts(tuple(fields), tuple(value), rebuild)
        return Parts(_positions(len(value)), tuple(value), rebuild)
    if isinstance(value, list):
        return Parts(_positions(len(value)), tuple(value), RebuildList(kind, attributes_of(value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _dataclass_parts(value)
    return None


def named_children(value: object) -> dict[str, Any] | None:
    """Give the parts of a container by name; None for anything else."""
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return dict(zip(_names(tuple(value)), value.values(), strict=True))
    parts = take_apart(value)
    return None if parts is None else dict(zip(parts.names, parts.values, strict=True))


def _dataclass_parts(value: Any) -> Parts:
    kind = type(value)
    fields = tuple(f.name for f in dataclasses.fields(value) if hasattr(value, f.name))
    # Values computed from the old parameters must not outlive them.
    computed = [
        name
        for name in getattr(value, "__dict__", ())
        if isinstance(inspect.getattr_static(kind, name, None), functools.cached_property)
    ]
    attributes = attributes_of(value, (*fields, *computed))
    values = tuple(getattr(value, name) for name in fields)
    return Parts(fields, values, RebuildObject(kind, fields, attributes))


def _positions(count: int) -> tuple[str, ...]:
    return tuple(f"_{place}" for place in range(1, count + 1))


def _names(keys: tuple[Any, ...]) -> tuple[str, ...]:
    """Name the keys of a mapping; keys that are no strings get a leading underscore."""
    names = tuple(key if isinstance(key, str) else f"_{key}" for key in keys)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        clashing = [key for key, name in zip(keys, names, strict=True) if name == twice]
        msg = f"the keys {' and '.join(map(repr, clashing))} would both be named {twice!r}"
        raise LabelError(msg)
    return names
