"""The kinds of container a tree is made of: mappings, sequences, named tuples, dataclasses."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from componentvec.errors import LabelError
from componentvec.names import plain_name
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
    split = _split(value)
    return None if split is None else Parts(*split, _rebuild(value, split[0]))


def named_children(value: object) -> dict[str, Any] | None:
    """Return the parts of a container by name; None for anything else."""
    split = _split(value)
    return None if split is None else dict(zip(*split, strict=True))


def _split(value: Any) -> tuple[tuple[str, ...], tuple[Any, ...]] | None:
    """Return names and values of a container's parts."""
    if isinstance(value, dict):
        return _names(tuple(value)), tuple(value.values())
    if isinstance(value, tuple):
        if hasattr(type(value), "n_sequence_fields"):
            return None  # a record of the system's (time.gmtime()), made in C and by C only
        fields = getattr(value, "_fields", None)
        if fields is not None and len(fields) == len(value):
            return tuple(fields), tuple(value)
        return _positions(len(value)), tuple(value)
    if isinstance(value, list):
        return _positions(len(value)), tuple(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = tuple(name for name in _schema(type(value))[0] if hasattr(value, name))
        return fields, tuple(getattr(value, name) for name in fields)
    if isinstance(value, Mapping):  # last: an abstract class answers slowly, and most are dicts
        return _names(tuple(value)), tuple(value.values())
    return None


def _rebuild(value: Any, names: tuple[str, ...]) -> Rebuild:
    """Say how a container that `_split` knows goes back together."""
    kind: Any = type(value)
    if isinstance(value, dict):
        factory = getattr(value, "default_factory", None)
        return RebuildDict(kind, tuple(value), attributes_of(value), factory)
    if isinstance(value, MappingProxyType):
        return RebuildProxy(RebuildDict(dict, tuple(value)))
    if isinstance(value, tuple):
        return RebuildTuple(kind, attributes_of(value))
    if isinstance(value, list):
        return RebuildList(kind, attributes_of(value))
    if isinstance(value, Mapping):
        msg = (
            f"{kind.__module__}.{kind.__qualname__} is a mapping that cannot be rebuilt; use a dict"
        )
        raise LabelError(msg)
    # Values computed from the old parameters must not outlive them.
    return RebuildObject(kind, names, attributes_of(value, {*names, *_schema(kind)[1]}))


@functools.lru_cache(maxsize=1024)
def _schema(kind: type) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the fields of a dataclass, and the names of its cached properties."""
    cached = (
        name
        for base in kind.__mro__
        for name, member in vars(base).items()
        if isinstance(member, functools.cached_property)
    )
    return tuple(field.name for field in dataclasses.fields(kind)), frozenset(cached)


def _positions(count: int) -> tuple[str, ...]:
    return tuple(f"_{place}" for place in range(1, count + 1))


def _names(keys: tuple[Any, ...]) -> tuple[str, ...]:
    """Name the keys of a mapping; keys that are no strings get a leading underscore."""
    names = tuple(plain_name(key) if isinstance(key, str) else f"_{key}" for key in keys)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        clashing = [key for key, name in zip(keys, names, strict=True) if name == twice]
        msg = f"the keys {' and '.join(map(repr, clashing))} would both be named {twice!r}"
        raise LabelError(msg)
    return names
