"""The state of objects: read past what their classes make of it, and put into new ones."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from componentvec.tree._same import same_value

__all__ = [
    "NO_ATTRIBUTES",
    "Attributes",
    "attributes_of",
    "builtin_base",
    "new_object",
    "per_class",
    "set_attribute",
    "with_attributes",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Attributes:
    """Further instance attributes, carried by reference."""

    items: tuple[tuple[str, Any], ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attributes) and same_value(self.items, other.items)

    def __hash__(self) -> int:
        return hash(tuple(name for name, _ in self.items))


NO_ATTRIBUTES = Attributes()


def builtin_base(cls: type) -> Any:
    """Return the nearest base that was not made by a class statement."""
    heap_type = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the flag of classes that were
    return next(base for base in cls.__mro__ if not base.__flags__ & heap_type)


def new_object(cls: type, *contents: Any) -> Any:
    """Make an object by the constructor of its nearest built-in base, never by a user's."""
    return builtin_base(cls).__new__(cls, *contents)


def per_class(find: Callable[[type], T]) -> Callable[[type], T]:
    """Remember what a function finds out about classes, without keeping them alive."""
    known: weakref.WeakKeyDictionary[type, T] = weakref.WeakKeyDictionary()

    @functools.wraps(find)
    def remembered(cls: type) -> T:
        try:
            return known[cls]
        except KeyError:
            return known.setdefault(cls, find(cls))

    return remembered


@per_class
def _slots_of(cls: type) -> tuple[str, ...]:
    """Name the slots of a class and of its bases."""
    names: list[str] = []
    for base in cls.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def set_attribute(made: Any, name: str, value: Any) -> None:
    """Set an attribute past whatever the class does about it."""
    if name in _slots_of(type(made)):
        object.__setattr__(made, name, value)
    else:
        made.__dict__[name] = value


def with_attributes(made: Any, attributes: Attributes) -> Any:
    """Set further attributes of an object; returns the object."""
    for name, value in attributes.items:
        set_attribute(made, name, value)
    return made


def attributes_of(container: object, leave_out: Set[str] = frozenset()) -> Attributes:
    """List the instance attributes, slots included, without `leave_out` and cached values."""
    kind: Any = type(container)
    if kind in (dict, list, tuple):
        return NO_ATTRIBUTES
    state = dict(getattr(container, "__dict__", {}))
    for name in _slots_of(kind):
        if hasattr(container, name):
            state[name] = getattr(container, name)
    gone = leave_out | _computed_by(kind)
    return Attributes(tuple((n, value) for n, value in state.items() if n not in gone))


@per_class
def _computed_by(cls: type) -> frozenset[str]:
    """Name the attributes in which cached properties of a class keep their values.

    They were computed from the old parts, and must not outlive them.
    """
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        members |= vars(base)
    return frozenset(
        name for name, member in members.items() if isinstance(member, functools.cached_property)
    )
