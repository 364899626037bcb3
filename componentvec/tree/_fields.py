"""The fields of dataclasses and attrs classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, NamedTuple

from componentvec.tree._state import Attributes, attributes_of, per_class

__all__ = ["Schema", "field_state", "schema_of"]


# Where attrs keeps the hash of an object; None until it is asked for.
_HASH = "_attrs_cached_hash"


class Schema(NamedTuple):
    """What a class says about its fields."""

    names: tuple[str, ...]
    left_out: frozenset[str]
    """Fields whose metadata says ``{"trainable": False}``."""
    computed: frozenset[str]
    """Slots that hold values of cached properties."""


@per_class
def schema_of(kind: Any) -> Schema | None:
    """Return the fields of a dataclass or attrs class, those of its bases included."""
    is_attrs = hasattr(kind, "__attrs_attrs__")  # attrs itself need not be installed
    is_dataclass = dataclasses.is_dataclass(kind)
    if not (is_attrs or is_dataclass):
        return None
    fields: dict[str, Any] = {}
    if is_dataclass:
        fields |= {field.name: field for field in dataclasses.fields(kind)}
    if is_attrs:
        fields |= {field.name: field for field in kind.__attrs_attrs__}
    left_out = (name for name, field in fields.items() if not field.metadata.get("trainable", True))
    return Schema(tuple(fields), frozenset(left_out), frozenset(_cached_in_slots(kind, fields)))


def _cached_in_slots(kind: type, fields: Iterable[str]) -> Iterable[str]:
    """Name the slots that attrs gives to cached properties, beside those of the fields."""
    for base in kind.__mro__:
        if "__attrs_attrs__" in vars(base):
            slots = set(vars(base).get("__slots__", ()))
            yield from slots.difference(fields, ["__weakref__", _HASH])


def field_state(value: object, schema: Schema, leave_out: Iterable[str]) -> Attributes:
    """List the attributes of an object that are neither parts nor values of cached properties."""
    state = attributes_of(value, {*leave_out, *schema.computed})
    if _HASH not in dict(state.items):
        return state
    return Attributes(tuple((name, None if name == _HASH else v) for name, v in state.items))
