"""What every labelled vector does, whatever its library: access, assignment, copies, printing.

A mixin without slots; the concrete classes bring the memory and two slots: ``_cv_state``, the pair
of axis and plain base array, and ``_cv_root``, which lets a group reach components stored outside
it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from componentvec.arrays._assign import assign, is_named
from componentvec.arrays._attach import Plain, agreed_axis, attach, same_place, strip, strip_all
from componentvec.arrays._functions import apply_function
from componentvec.arrays._sites import component, find, leaf_view
from componentvec.arrays._ufuncs import apply_ufunc
from componentvec.axis import Axis, Group
from componentvec.display import describe
from componentvec.errors import LabelError, PromotionError
from componentvec.names import Path, format_path, is_attribute

if TYPE_CHECKING:
    _Base = np.ndarray[Any, np.dtype[Any]]
else:
    _Base = object

__all__ = ["Labelled"]

_LAYOUT = frozenset({"data", "dtype", "shape", "strides"})


class Labelled(_Base):
    """Base of all labelled arrays; ``isinstance(x, Labelled)`` tells whether `x` is one."""

    __slots__ = ()

    if TYPE_CHECKING:
        _cv_state: tuple[Axis | None, Plain]
        _cv_root: tuple[Plain, int] | None
        _cv_plain: type[Any]

    @property
    def axis(self) -> Axis:
        """The label tree; None for an array that has none, such as a view cast."""
        return self._cv_state[0]  # type: ignore[return-value]  # None only after a view cast

    def __getattr__(self, name: str) -> Any:
        # Reached only when ordinary look-up failed: a component not seen before, or a name that
        # some library probes for. The slots of a vector without labels are unset and end up here
        # too.
        if name == "_cv_state":
            plain = type(self)._cv_plain
            return None, plain.view(self, plain)
        if name == "_cv_root":
            return None
        if name.startswith(("__", "_cv_")):
            raise AttributeError(name)
        axis = self._cv_state[0]
        if axis is None:
            msg = f"{type(self).__name__!r} object without an axis has no attribute {name!r}"
            raise AttributeError(msg)
        child = axis.children.get(name)
        if child is None:
            msg = f"no component {name!r}"
            raise LabelError(msg, name, axis)
        seen = component(self, child, name)
        if not is_scalar_place(child):
            self.__dict__[name] = seen
        return seen

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            cached = self.__dict__.get(key)
            if cached is not None:
                return cached
            axis = self._cv_state[0]
            child = None if axis is None else axis.children.get(key)
            if child is None:
                return find(self, key)
            seen = component(self, child, key)
            if not is_scalar_place(child) and is_attribute(key):
                self.__dict__[key] = seen
            return seen
        return _get(self, key)

    def __setattr__(self, name: str, value: Any) -> None:
        axis = self._cv_state[0]
        if axis is None:
            object.__setattr__(self, name, value)
            return
        child = axis.children.get(name)
        kind: Any = type(self)
        owned = name in _own_names(kind)
        if child is not None and not owned:
            if value is None or value is not self.__dict__.get(name):
                assign(self, (name,), child, value)
            # else `v.a += 1`, which has written already and now stores what it wrote to
        elif child is not None:
            msg = f'v.{name} is an attribute of the array itself; use v["{name}"] = ... instead'
            raise LabelError(msg)
        elif name in _LAYOUT:
            msg = f"setting v.{name} would tear values from their names; work on np.asarray(v)"
            raise LabelError(msg)
        elif owned:
            setattr(self._cv_state[1], name, strip(value))
        else:
            msg = f"no component {name!r}, and assignment does not make one"
            raise LabelError(msg, name, axis)

    def __delattr__(self, name: str) -> None:
        msg = f"components cannot be deleted: del v.{name}"
        raise LabelError(msg)

    def __setitem__(self, key: Any, value: Any) -> None:
        axis = self._cv_state[0]
        if isinstance(key, (str, Path)) and axis is not None:
            names, child = axis.resolve(key)
            assign(self, names, child, value)
            return
        if isinstance(key, tuple) and len(key) == 1 and isinstance(key[0], (str, Path)):
            self[key[0]] = value
            return
        if axis is not None and _is_whole(key):
            if isinstance(value, Labelled):
                agreed_axis([self, value])
            elif is_named(value):
                assign(self, (), Group(slice(0, axis.size), axis, 0), value)
                return
            elif value is None:
                msg = f"the vector holds {self.dtype} and cannot take None"
                raise PromotionError(msg)
        if _is_names(key):
            msg = (
                f"v[{key!r}] = ... : assign one component at a time, or a mapping to v[:] to write "
                "several"
            )
            raise LabelError(msg)
        self._cv_state[1][_position(self, key)] = strip(value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cv_state[1])

    def __contains__(self, key: object) -> bool:
        axis = self._cv_state[0]
        if isinstance(key, (str, Path)):
            return axis is not None and key in axis
        return key in self._cv_state[1]

    def __dir__(self) -> list[str]:
        axis = self._cv_state[0]
        names = () if axis is None else axis.names
        return sorted({*object.__dir__(self), *filter(is_attribute, names)})

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **options: Any) -> Any:
        return apply_ufunc(type(self), ufunc, method, inputs, options)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        return apply_function(type(self), func, args, kwargs)

    def __copy__(self) -> Self:
        copied: Self = _relabelled(self, self._cv_state[1].copy())
        return copied

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self.__copy__()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # The plain array pickles itself, out of band under protocol 5.
        return _unpickle, (type(self), *self._cv_state)

    def __repr__(self) -> str:
        axis, plain = self._cv_state
        if axis is None:
            return repr(plain)
        rows = ((names, child, _shown(self, child)) for names, child in axis.components())
        count = f"{axis.size} element{'s' * (axis.size != 1)}"
        return describe(f"{type(self).__name__}: {count}, {self.dtype}", rows)

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        return format(self._cv_state[1], spec) if spec else repr(self)


@functools.cache
def _own_names(cls: type) -> frozenset[str]:
    """Name everything that a vector class defines; unlike hasattr, without its metaclass."""
    return frozenset(name for base in cls.__mro__ for name in vars(base))


def is_scalar_place(child: Any) -> bool:
    """Tell whether a component is a scalar, which is handed out as a value and never cached."""
    return not isinstance(child, Group) and child.shape == ()


def _get(vector: Any, key: Any) -> Any:
    """Index by position, by path, or by a list of names."""
    axis, plain = vector._cv_state
    if isinstance(key, Path):
        return find(vector, key)
    if isinstance(key, tuple) and len(key) == 1 and isinstance(key[0], (str, Path, list)):
        return vector[key[0]]
    if axis is not None:
        if _is_names(key):
            return _select(vector, key)
        if _is_whole(key):
            return same_place(vector, plain[:])
    return plain[_position(vector, key)]


def _is_names(key: Any) -> bool:
    return isinstance(key, list) and bool(key) and all(isinstance(k, (str, Path)) for k in key)


def _is_whole(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, slice) and key == slice(None))


def _position(vector: Any, key: Any) -> Any:
    """Take the labels off an index; a labelled mask must have the vector's axis."""
    if isinstance(key, tuple) and any(isinstance(part, (str, Path)) for part in key):
        msg = (
            f"v[{', '.join(map(repr, key))}]: a tuple has one key per dimension, and a vector has "
            'one; write a path, as in v["net.bias"] or v[cv.path("net", "bias")]'
        )
        raise LabelError(msg)
    labelled: list[Labelled] = []
    plain_key = strip_all(key, labelled)
    agreed_axis([vector, *(mask for mask in labelled if mask.dtype == bool)])
    return plain_key


def _select(vector: Any, paths: list[Any]) -> Any:
    """Copy the chosen components into a new vector, in the order chosen."""
    axis, sources = vector._cv_state[0].gather(paths)
    plain = np.empty(axis.size, vector.dtype)
    places = ((names, leaf) for names, leaf in axis.leaves() if leaf.canonical)
    for (names, place), source in zip(places, sources, strict=True):
        plain[place.span] = leaf_view(vector, source, format_path(names)).reshape(-1)
    return attach(type(vector), plain, axis)


def _relabelled(vector: Any, plain: Plain) -> Any:
    axis = vector._cv_state[0]
    return plain.view(type(vector)) if axis is None else attach(type(vector), plain, axis)


def _unpickle(cls: type[Any], axis: Axis | None, plain: Plain) -> Any:
    plain = plain.view(cls._cv_plain)
    return plain.view(cls) if axis is None else attach(cls, plain, axis)


def _shown(vector: Any, child: Any) -> Any:
    """Return what the repr prints of a component: its array, or None for groups and lost values."""
    if isinstance(child, Group):
        return None
    try:
        return leaf_view(vector, child, "")
    except LabelError:
        return None
