"""Put containers back together without ever running a user's constructor.

A container's class, keys and further state are kept; only its parts are new. Each of these is
immutable, comparable and picklable, so that the plan of a model is too.
"""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = [
    "Attributes",
    "RebuildDict",
    "RebuildList",
    "RebuildMapping",
    "RebuildObject",
    "RebuildProxy",
    "RebuildTuple",
    "attributes_of",
    "same_value",
    "stored_items",
]


@dataclass(frozen=True, slots=True, eq=False)
class Attributes:
    """Further instance attributes, carried by reference."""

    items: tuple[tuple[str, Any], ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attributes) or len(self.items) != len(other.items):
            return False
        return all(
            name == other_name and same_value(value, other_value)
            for (name, value), (other_name, other_value) in zip(
                self.items, other.items, strict=True
            )
        )

    def __hash__(self) -> int:
        return hash(tuple(name for name, _ in self.items))


_NO_ATTRIBUTES = Attributes()


def same_value(one: Any, two: Any) -> bool:
    """Tell whether two statics are interchangeable: one object, or equal in type and value.

    Arrays, whose ``==`` has no one answer, are compared by dtype, shape and bytes.
    """
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    if all(hasattr(one, name) for name in ("dtype", "shape", "tobytes")):
        one, two = _native(one), _native(two)
        if (one.dtype, one.shape) != (two.dtype, two.shape):
            return False
        if getattr(one.dtype, "kind", "") in ("O", "T"):  # whose bytes are addresses
            return all(map(same_value, one.reshape(-1).tolist(), two.reshape(-1).tolist()))
        return bool(one.tobytes() == two.tobytes())
    try:
        return bool(one == two) or bool(one != one and two != two)  # nan
    except (TypeError, ValueError):
        return False


def _native(array: Any) -> Any:
    # A pickle may have changed the byte order.
    is_native = getattr(array.dtype, "isnative", True)
    return array if is_native else array.astype(array.dtype.newbyteorder("="))


@dataclass(frozen=True, slots=True)
class RebuildDict:
    """A dict of any class: keys, and what a subclass keeps besides."""

    cls: type[dict[Any, Any]]
    keys: tuple[Any, ...]
    attributes: Attributes = Attributes()
    default_factory: Callable[[], Any] | None = None
    mirrored: tuple[str, ...] = ()
    """Keys whose values are attributes too."""
    own_dict: bool = False
    """Whether the dict is its own ``__dict__``, so that all keys are attributes."""

    def __call__(self, parts: Sequence[Any]) -> Any:
        items = zip(self.keys, parts, strict=True)
        if self.cls is dict:
            return dict(items)
        made: Any = _new(self.cls)
        # dict's own method, so that a subclass' __setitem__ sees nothing; OrderedDict keeps its
        # order in its own.
        for key, part in items:
            _setter(self.cls)(made, key, part)
        if self.default_factory is not None:
            object.__setattr__(made, "default_factory", self.default_factory)
        if self.own_dict:
            object.__setattr__(made, "__dict__", made)
        for name in self.mirrored:
            _set_attribute(made, name, dict.__getitem__(made, name))
        return _with_attributes(made, self.attributes)


@dataclass(frozen=True, slots=True)
class RebuildProxy:
    """A read-only view of a dict."""

    inner: RebuildDict

    def __call__(self, parts: Sequence[Any]) -> Any:
        return MappingProxyType(self.inner(parts))


@dataclass(frozen=True, slots=True)
class RebuildMapping:
    """A mapping of a user's, which keeps its items in a dict of its own."""

    cls: type[Mapping[Any, Any]]
    holder: str
    """The attribute that is this dict."""
    inner: RebuildDict
    attributes: Attributes = Attributes()

    def __call__(self, parts: Sequence[Any]) -> Any:
        made = _with_attributes(_new(self.cls), self.attributes)
        _set_attribute(made, self.holder, self.inner(parts))
        return made


@dataclass(frozen=True, slots=True)
class RebuildList:
    """A list of any class."""

    cls: type[list[Any]]
    attributes: Attributes = Attributes()

    def __call__(self, parts: Sequence[Any]) -> Any:
        if self.cls is list:
            return list(parts)
        made = _new(self.cls)
        list.extend(made, parts)
        return _with_attributes(made, self.attributes)


@dataclass(frozen=True, slots=True)
class RebuildTuple:
    """A tuple of any class, named tuples included."""

    cls: type[tuple[Any, ...]]
    attributes: Attributes = Attributes()

    def __call__(self, parts: Sequence[Any]) -> Any:
        if self.cls is tuple:
            return tuple(parts)
        return _with_attributes(tuple.__new__(self.cls, parts), self.attributes)


@dataclass(frozen=True, slots=True)
class RebuildObject:
    """An object with fields: its state with the fields' values replaced."""

    cls: type
    fields: tuple[str, ...]
    attributes: Attributes = Attributes()

    def __call__(self, parts: Sequence[Any]) -> Any:
        made = _with_attributes(_new(self.cls), self.attributes)
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


def _new(cls: type) -> Any:
    """Make an empty object by the constructor of its nearest built-in base, never by a user's."""
    heap_type = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the flag of classes made by a class statement
    base: Any = next(base for base in cls.__mro__ if not base.__flags__ & heap_type)
    return base.__new__(cls)


_slots: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()


def _slots_of(cls: type) -> tuple[str, ...]:
    """Name the slots of a class and of its bases."""
    known = _slots.get(cls)
    if known is not None:
        return known
    names: list[str] = []
    for base in cls.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return _slots.setdefault(
        cls, tuple(name for name in names if name not in ("__dict__", "__weakref__"))
    )


def _set_attribute(made: Any, name: str, value: Any) -> None:
    """Set an attribute past whatever the class does about it."""
    if name in _slots_of(type(made)):
        object.__setattr__(made, name, value)
    else:
        made.__dict__[name] = value


def _with_attributes(made: Any, attributes: Attributes) -> Any:
    for name, value in attributes.items:
        _set_attribute(made, name, value)
    return made


def attributes_of(container: object, leave_out: Set[str] = frozenset()) -> Attributes:
    """List the instance attributes, slots included, without `leave_out` and cached values."""
    kind: Any = type(container)
    if kind in (dict, list, tuple):
        return _NO_ATTRIBUTES
    state = dict(getattr(container, "__dict__", {}))
    for name in _slots_of(kind):
        if hasattr(container, name):
            state[name] = getattr(container, name)
    gone = leave_out | computed_by(kind)
    return Attributes(tuple((n, value) for n, value in state.items() if n not in gone))


_computed: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()


def computed_by(cls: type) -> frozenset[str]:
    """Name the attributes in which cached properties of a class keep their values.

    They were computed from the old parts, and must not outlive them.
    """
    known = _computed.get(cls)
    if known is None:
        known = frozenset(
            name
            for base in cls.__mro__
            for name, member in vars(base).items()
            if isinstance(member, functools.cached_property)
        )
        _computed[cls] = known
    return known
