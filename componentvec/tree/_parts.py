"""What a container comes apart into, and what its parts are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from componentvec.errors import LabelError
from componentvec.names import plain_name

__all__ = ["ClashingKeysError", "Parts", "Rebuild", "key_names", "position_names"]

Rebuild: TypeAlias = Callable[[Sequence[Any]], Any]
"""Takes the new parts, in order, and gives the container."""


class ClashingKeysError(LabelError):
    """Two keys of one mapping that would get the same name."""


class Parts(NamedTuple):
    """A container taken apart."""

    names: tuple[str, ...]
    """Component name of each part: key, field name, or ``_1``, ``_2``, … for positions."""
    values: tuple[Any, ...]
    rebuild: Rebuild
    left_out: frozenset[str] = frozenset()
    """Names of the parts that the container's class wants left out of training."""
    kept: tuple[tuple[str, Any], ...] = ()
    """Attributes that are not parts, carried along by reference."""


def position_names(count: int) -> tuple[str, ...]:
    """Name positions, counted from one."""
    return tuple(f"_{place}" for place in range(1, count + 1))


def key_names(keys: tuple[Any, ...]) -> tuple[str, ...]:
    """Name the keys of a mapping; keys that are not strings get a leading underscore.

    Raises
    ------
    ClashingKeysError
        When two keys would get the same name (1 and "_1").
    """
    names = tuple(plain_name(key) if isinstance(key, str) else f"_{key}" for key in keys)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        clashing = [key for key, name in zip(keys, names, strict=True) if name == twice]
        msg = f"the keys {' and '.join(map(repr, clashing))} would both be named {twice!r}"
        raise ClashingKeysError(msg)
    return names
