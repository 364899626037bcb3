"""Classes of which users said how their objects come apart, or that they are one static.

The one table in the package that programs change, as the libraries with trees have it: what a class
is made of is a property of the class, and classes are global too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from componentvec.errors import LabelError, UnregisteredTypeError
from componentvec.tree._parts import Parts, key_names, position_names
from componentvec.tree._same import same_value

__all__ = [
    "is_registered",
    "is_static_class",
    "open_registered",
    "register_pytree_node",
    "register_static",
]

T = TypeVar("T")
C = TypeVar("C", bound=type)


class _Node(NamedTuple):
    flatten: Callable[[Any], tuple[Iterable[Any] | Mapping[str, Any], Any]]
    unflatten: Callable[[Any, Any], Any]
    trainable: frozenset[str] | None


_classes: dict[type, _Node | None] = {}
"""None stands for classes that are static."""


def register_pytree_node(
    cls: type[T],
    flatten: Callable[[T], tuple[Iterable[Any] | Mapping[str, Any], Any]],
    unflatten: Callable[[Any, Any], T],
    *,
    trainable: Iterable[str] | None = None,
) -> None:
    """Say how objects of a class come apart and go back together.

    Holds for objects of exactly this class, before all other rules.

    Parameters
    ----------
    cls : type
        The class.
    flatten : callable
        ``flatten(x) -> (children, aux)``. Children are a sequence, whose names are ``_1``, ``_2``,
        …, or a mapping of names; `aux` is everything else, carried by reference.
    unflatten : callable
        ``unflatten(aux, children) -> x``, with the new children as a tuple, or as a dict when
        `flatten` gave a mapping.
    trainable : iterable of str, optional
        Names of the children that may hold parameters; the others are static. All, by default.

    Raises
    ------
    ValueError
        When the class is registered already, in another way.
    TypeError
        When the arguments are not a class, two functions and names.

    Notes
    -----
    `aux` is never looked into. An array that is a child, and in `aux` besides, is a parameter in
    the one place and stays what it was in the other.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> class Spline:
    ...     def __init__(self, knots, values):
    ...         self.knots, self.values = knots, values
    >>> cv.register_pytree_node(
    ...     Spline,
    ...     lambda s: ({"knots": s.knots, "values": s.values}, None),
    ...     lambda aux, children: Spline(**children),
    ...     trainable=("values",),
    ... )
    >>> v, restructure = cv.destructure({"curve": Spline(np.arange(3.0), np.ones(3))})
    >>> list(v.axis.paths())
    ['curve.values']
    >>> restructure(2 * v)["curve"].values
    array([2., 2., 2.])
    """
    functions: dict[str, object] = {"flatten": flatten, "unflatten": unflatten}
    for name, function in functions.items():
        if not callable(function):
            msg = f"{name} must be a function, not {function!r:.60}"
            raise TypeError(msg)
    chosen = None if trainable is None else frozenset(trainable)
    if isinstance(trainable, str) or not all(isinstance(name, str) for name in chosen or ()):
        msg = f"trainable must be a collection of names, such as ('weight',), not {trainable!r:.60}"
        raise TypeError(msg)
    _register(cls, _Node(flatten, unflatten, chosen))


def register_static(cls: C) -> C:
    """Say that objects of a class are static, whatever they hold; also works as a decorator.

    Parameters
    ----------
    cls : type
        The class. Objects of exactly this class are carried by reference and never looked into.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    ValueError
        When the class is registered already, in another way.

    Examples
    --------
    >>> import numpy as np
    >>> import componentvec as cv
    >>> @cv.register_static
    ... class Lookup:
    ...     def __init__(self):
    ...         self.table = np.ones(1000)
    >>> v, _ = cv.destructure({"weight": np.ones(2), "lookup": Lookup()})
    >>> v.size
    2
    """
    _register(cls, None)
    return cls


def _register(cls: Any, node: _Node | None) -> None:
    if not isinstance(cls, type):
        msg = f"only classes can be registered, not {cls!r:.60}"
        raise TypeError(msg)
    if _classes.setdefault(cls, node) != node:
        msg = f"{cls.__module__}.{cls.__qualname__} is registered already, in another way"
        raise ValueError(msg)


def is_registered(kind: type) -> bool:
    """Tell whether a class was registered, in either way."""
    return kind in _classes


def is_static_class(kind: type) -> bool:
    """Tell whether a class was registered as static."""
    return kind in _classes and _classes[kind] is None


def open_registered(value: object) -> Parts | None:
    """Take an object of a registered class apart; None for others, and for static ones.

    Raises
    ------
    LabelError
        When its registration names children that it does not have.
    """
    node = _classes.get(type(value))
    if node is None:
        return None
    children, aux = _flattened(value, node)
    if isinstance(children, Mapping):
        keys: tuple[Any, ...] | None = tuple(children)
        names, values = key_names(tuple(children)), tuple(children.values())
    else:
        keys, values = None, tuple(children)
        names = position_names(len(values))
    trainable = frozenset(names) if node.trainable is None else node.trainable
    unknown = trainable.difference(names)
    if unknown:
        kind = type(value).__qualname__
        msg = f"{kind} was registered with {min(unknown)!r} as trainable, but has no such child"
        raise LabelError(msg, min(unknown), names)
    rebuild = RebuildRegistered(type(value), keys, aux)
    return Parts(names, values, rebuild, frozenset(names) - trainable)


def _flattened(value: object, node: _Node) -> tuple[Any, Any]:
    """Call a user's function, and check what it returns.

    An array is not taken for children: its rows would be, where a comma was forgotten.
    """
    made: Any = node.flatten(value)
    if isinstance(made, tuple) and len(made) == 2:
        children, _ = made
        is_array = hasattr(children, "dtype")
        if isinstance(children, Iterable) and not isinstance(children, str) and not is_array:
            return made
        made = children
    msg = (
        f"the flatten function registered for {type(value).__qualname__} must return (children, "
        f"aux), where children are a sequence or a mapping, not {made!r:.60}"
    )
    raise UnregisteredTypeError(msg)


@dataclass(frozen=True, slots=True, eq=False)
class RebuildRegistered:
    """An object of a registered class, by the user's own function."""

    cls: type
    keys: tuple[Any, ...] | None
    """Of the mapping of children; None for a sequence."""
    aux: Any

    def __call__(self, parts: Sequence[Any]) -> Any:
        node = _classes.get(self.cls)
        if node is None:  # unpickled where nobody registered it yet
            msg = f"{self.cls.__module__}.{self.cls.__qualname__} is not registered here; call "
            raise UnregisteredTypeError(msg + "cv.register_pytree_node for it first")
        named = tuple(parts) if self.keys is None else dict(zip(self.keys, parts, strict=True))
        return node.unflatten(self.aux, named)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RebuildRegistered):
            return NotImplemented
        same = (self.cls, self.keys) == (other.cls, other.keys)
        return same and same_value(self.aux, other.aux)

    def __hash__(self) -> int:
        return hash((self.cls, self.keys))
