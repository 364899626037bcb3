"""Put containers back together without ever running a user's constructor.

A container's class, keys and further state are kept; only its parts are new. Each of these is
immutable, comparable and picklable, so that the plan of a model is too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from componentvec.tree._same import same_value
from componentvec.tree._state import (
    NO_ATTRIBUTES,
    Attributes,
    new_object,
    set_attribute,
    with_attributes,
)

__all__ = [
    "RebuildDict",
    "RebuildList",
    "RebuildMapping",
    "RebuildObject",
    "RebuildProxy",
    "RebuildTuple",
    "stored_items",
]


@dataclass(frozen=True, slots=True, eq=False)
class RebuildDict:
    """A dict of any class: keys, and what a subclass keeps besides."""

    cls: type[dict[Any, Any]]
    keys: tuple[Any, ...]
    attributes: Attributes = NO_ATTRIBUTES
    default_factory: Callable[[], Any] | None = None
    mirrored: tuple[str, ...] = ()
    """Keys whose values are attributes too."""
    own_dict: bool = False
    """Whether the dict is its own ``__dict__``, so that all keys are attributes."""

    def __call__(self, parts: Sequence[Any]) -> Any:
        items = zip(self.keys, parts, strict=True)
        if self.cls is dict:
            return dict(items)
        made: Any = new_object(self.cls)
        # dict's own method, so that a subclass' __setitem__ sees nothing; OrderedDict keeps its
        # order in its own.
        for key, part in items:
            _setter(self.cls)(made, key, part)
        if self.default_factory is not None:
            object.__setattr__(made, "default_factory", self.default_factory)
        if self.own_dict:
            object.__setattr__(made, "__dict__", made)
        for name in self.mirrored:
            set_attribute(made, name, dict.__getitem__(made, name))
        return with_attributes(made, self.attributes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RebuildDict):
            return NotImplemented
        return (
            (self.cls, self.mirrored, self.own_dict, self.attributes)
            == (other.cls, other.mirrored, other.own_dict, other.attributes)
            and same_value(self.keys, other.keys)
            and same_value(self.default_factory, other.default_factory)
        )

    def __hash__(self) -> int:
        return hash((self.cls, self.keys))


@dataclass(frozen=True, slots=True)
class RebuildProxy:
    """A read-only view of a dict."""

    inner: RebuildDict

    def __call__(self, parts: Sequence[Any]) -> Any:
        return MappingProxyType(self.inner(parts))


@dataclass(frozen=True, slots=True)
class RebuildMapping:
    """A user-defined mapping that keeps its items in a dict of its own."""

    cls: type[Mapping[Any, Any]]
    holder: str
    """The attribute that is this dict."""
    inner: RebuildDict
    attributes: Attributes = NO_ATTRIBUTES

    def __call__(self, parts: Sequence[Any]) -> Any:
        made = with_attributes(new_object(self.cls), self.attributes)
        set_attribute(made, self.holder, self.inner(parts))
        return made


@dataclass(frozen=True, slots=True)
class RebuildList:
    """A list of any class."""

    cls: type[list[Any]]
    attributes: Attributes = NO_ATTRIBUTES

    def __call__(self, parts: Sequence[Any]) -> Any:
        if self.cls is list:
            return list(parts)
        made = new_object(self.cls)
        list.extend(made, parts)
        return with_attributes(made, self.attributes)


@dataclass(frozen=True, slots=True)
class RebuildTuple:
    """A tuple of any class, named tuples included."""

    cls: type[tuple[Any, ...]]
    attributes: Attributes = NO_ATTRIBUTES

    def __call__(self, parts: Sequence[Any]) -> Any:
        if self.cls is tuple:
            return tuple(parts)
        return with_attributes(new_object(self.cls, parts), self.attributes)


@dataclass(frozen=True, slots=True)
class RebuildObject:
    """An object with fields: its state with the fields' values replaced."""

    cls: type
    fields: tuple[str, ...]
    attributes: Attributes = NO_ATTRIBUTES

    def __call__(self, parts: Sequence[Any]) -> Any:
        made = with_attributes(new_object(self.cls), self.attributes)
        # object's own method: frozen dataclasses refuse theirs. Not __dict__: a field may be a slot
        # or a property.
        for name, value in zip(self.fields, parts, strict=True):
            object.__setattr__(made, name, value)
        return made


def stored_items(value: dict[Any, Any]) -> dict[Any, Any]:
    """Return what a dict of any class holds, in its order, as a plain dict."""
    if type(value) is dict:
        return value
    return dict(OrderedDict.items(value) if isinstance(value, OrderedDict) else dict.items(value))


def _setter(cls: type[dict[Any, Any]]) -> Callable[[Any, Any, Any], None]:
    return OrderedDict.__setitem__ if issubclass(cls, OrderedDict) else dict.__setitem__
