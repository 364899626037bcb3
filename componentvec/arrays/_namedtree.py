"""Nested named tuples of arrays, with any names and with their ties kept through pickles."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from componentvec.arrays._sites import view_slot
from componentvec.axis import View
from componentvec.errors import LabelError
from componentvec.names import format_path
from componentvec.sharing import ties
from componentvec.tree import Container, Item, RebuildTuple, walk

__all__ = ["NamedTree", "named_tree"]

# Names that the named-tuple protocol needs for itself.
_PROTOCOL = frozenset({"_asdict", "_field_defaults", "_fields", "_make", "_replace"})


class NamedTree(tuple[Any, ...]):
    """A named tuple whose names are free, holding arrays and further trees.

    What `trainables_nt` returns. Libraries that know named tuples (JAX, torch, optree) see one.
    There is one class per set of names, so trees of one structure have one type. Pickling and
    deep-copying keep arrays that share memory shared.

    Examples
    --------
    >>> import numpy as np
    >>> from componentvec import trainables_nt
    >>> ps, _ = trainables_nt([np.zeros(2), {"count": np.ones(1)}])
    >>> ps._fields
    ('_1', '_2')
    >>> ps._2.count
    array([1.])
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _field_defaults: Mapping[str, Any] = {}

    def __new__(cls, /, *values: Any, **named: Any) -> Self:
        if named:
            missing = [name for name in cls._fields[len(values) :] if name not in named]
            unknown = named.keys() - set(cls._fields[len(values) :])
            if missing or unknown:
                msg = f"expected the fields {cls._fields}, got {values!r:.60} and {tuple(named)}"
                raise TypeError(msg)
            values = (*values, *(named[name] for name in cls._fields[len(values) :]))
        if len(values) != len(cls._fields):
            msg = f"expected {len(cls._fields)} values for {cls._fields}, got {len(values)}"
            raise TypeError(msg)
        return tuple.__new__(cls, values)

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        return cls(*values)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, /, **changes: Any) -> Self:
        unknown = changes.keys() - set(self._fields)
        if unknown:
            msg = f"no field {min(unknown)!r}"
            raise LabelError(msg, min(unknown), self._fields)
        return self._make(changes.get(name, value) for name, value in self._asdict().items())

    def __repr__(self) -> str:
        return _shown(self, depth=0)

    def __copy__(self) -> Self:
        return self

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _unpickle, _pickle(self)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


# What a repr shows: enough for a model of some layers, and not more than a few screens of any.
_SHOWN_DEPTH = 12
_SHOWN_FIELDS = 40


def _shown(value: Any, depth: int) -> str:
    if not isinstance(value, NamedTree):
        return repr(value)
    if depth > _SHOWN_DEPTH:
        return "NamedTree(…)"
    fields = list(zip(value._fields, value, strict=True))
    shown = [f"{name}={_shown(part, depth + 1)}" for name, part in fields[:_SHOWN_FIELDS]]
    return f"NamedTree({', '.join(shown)}{', …' if len(fields) > _SHOWN_FIELDS else ''})"


_classes: weakref.WeakValueDictionary[tuple[str, ...], type[NamedTree]] = (
    weakref.WeakValueDictionary()
)
_lock = threading.RLock()  # a collection in between may run code that comes back here


def named_tree(names: Sequence[str], values: Iterable[Any], path: Sequence[str] = ()) -> NamedTree:
    """Make a tree of these names and values.

    Parameters
    ----------
    names : sequence of str
        Any names but those that the named-tuple protocol uses itself.
    values : iterable
        Arrays and further trees.
    path : sequence of str, optional
        Where the tree stands, for messages.

    Raises
    ------
    LabelError
        For names such as ``_fields`` or ``__len__``.
    """
    fields = tuple(names)
    with _lock:
        cls = _classes.get(fields)
        if cls is None:
            cls = _classes.setdefault(fields, _new_class(fields, path))
    return tuple.__new__(cls, values)


def _new_class(fields: tuple[str, ...], path: Sequence[str]) -> type[NamedTree]:
    if len(set(fields)) < len(fields):
        twice = next(name for name in fields if fields.count(name) > 1)
        msg = f"the field `{format_path((*path, twice))}` occurs twice"
        raise LabelError(msg)
    for name in fields:
        if name in _PROTOCOL or (name.startswith("__") and name.endswith("__")):
            msg = (
                f"`{format_path((*path, name))}` cannot be a field of a named tuple, whose "
                "protocol uses that name; rename it in the model"
            )
            raise LabelError(msg)
    contents: dict[str, Any] = {name: property(itemgetter(i)) for i, name in enumerate(fields)}
    contents |= {"_fields": fields, "__slots__": (), "__module__": NamedTree.__module__}
    return type("NamedTree", (NamedTree,), contents)


# A pickled tree: for every node its field names or None for a leaf, in the order of `walk`; the
# arrays, each memory once; and for every leaf which array it shows, and how.
_Site = tuple[int, tuple[int, ...] | None, View | None]


def _pickle(tree: NamedTree) -> tuple[Any, ...]:
    listed = walk(tree)
    items = [entry for entry in listed if isinstance(entry, Item)]
    nodes = tuple(_node(entry) for entry in listed)
    leaves = [item.value for item in items]
    links = ties(leaves)
    seen_through_views = {link.first for link in links if link is not None}
    arrays: list[Any] = []
    places: dict[int, int] = {}
    sites: list[_Site] = []
    for place, (leaf, link) in enumerate(zip(leaves, links, strict=True)):
        if link is not None:
            sites.append((places[link.first], np.shape(leaf), link.view))
            continue
        places[place] = len(arrays)
        # Strides of the others count in C order, whatever the order of this one was.
        shown = place in seen_through_views and isinstance(leaf, np.ndarray)
        arrays.append(np.ascontiguousarray(leaf).reshape(leaf.shape) if shown else leaf)
        sites.append((places[place], None, None))
    return nodes, arrays, sites


def _node(entry: Item | Container) -> tuple[Any, tuple[int, ...]] | None:
    if isinstance(entry, Item):
        return None
    is_tree = isinstance(entry.rebuild, RebuildTuple) and issubclass(entry.rebuild.cls, NamedTree)
    return (entry.parts if is_tree else entry.rebuild), entry.places


def _unpickle(nodes: Any, arrays: list[Any], sites: list[_Site]) -> NamedTree:
    shown: dict[_Site, Any] = {}
    leaves: Iterator[Any] = iter([_show(arrays, site, shown) for site in sites])
    made: list[Any] = []
    for node in nodes:
        if node is None:
            made.append(next(leaves))
        else:
            parts, places = node
            values = [made[place] for place in places]
            made.append(named_tree(parts, values) if isinstance(parts, tuple) else parts(values))
    tree: NamedTree = made[-1]
    return tree


def _show(arrays: list[Any], site: _Site, shown: dict[_Site, Any]) -> Any:
    place, shape, view = site
    array = arrays[place]
    if shape is None or (view is None and shape == np.shape(array)):
        return array
    if site not in shown:
        shown[site] = view_slot(array.reshape(-1), shape, view)
    return shown[site]
