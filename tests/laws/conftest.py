"""Models of any kind, and an oracle that knows what should become of them.

The oracle knows nothing of slots and views: it lists the elements of every parameter by their
address in memory. Elements met before are tied, all others follow each other in the vector.
"""

import copy
import dataclasses
import functools
import math
import operator
import types
from collections import OrderedDict, UserDict, defaultdict, deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest
from hypothesis import strategies as st

import componentvec as cv

# Containers ---------------------------------------------------------------------------------------


class Named(dict):
    """A dict with something besides its items."""


class Stack(list):
    pass


class Table(Mapping):
    """A mapping written by hand."""

    def __init__(self, items):
        self._data = dict(items)

    def __getitem__(self, key):
        return self._data[key]

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any


@dataclasses.dataclass
class Wide(Layer):
    """Inherits fields, and computes from them what must not outlive them."""

    extra: Any

    @functools.cached_property
    def computed(self):
        return object()


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    weight: Any
    count: Any


@dataclasses.dataclass
class Lazy:
    weight: Any
    cache: Any = dataclasses.field(init=False)


@dataclasses.dataclass
class HalfTrained:
    table: Any = dataclasses.field(metadata={"trainable": False})
    weight: Any


@attrs.define(slots=False)
class Gain:
    weight: Any
    _gain: Any


@attrs.frozen
class HalfTrainedGain:
    weight: Any
    table: Any = attrs.field(metadata={"trainable": False})


class Chain:
    """Registered, with parts in a sequence."""

    def __init__(self, title, links):
        self.title, self.links = title, links


class Node:
    """Registered, with parts by name, of which `table` is no parameter."""

    def __init__(self, title, weight, table, bias):
        self.title, self.weight, self.table, self.bias = title, weight, table, bias


class Whole:
    """Registered as static."""

    def __init__(self, array):
        self.array = array

    def __eq__(self, other):
        return isinstance(other, Whole) and np.array_equal(self.array, other.array)

    __hash__ = None


cv.register_pytree_node(
    Chain,
    lambda chain: (chain.links, chain.title),
    lambda title, links: Chain(title, list(links)),
)
cv.register_pytree_node(
    Node,
    lambda node: ({"weight": node.weight, "table": node.table, "bias": node.bias}, node.title),
    lambda title, parts: Node(title, **parts),
    trainable=("weight", "bias"),
)
cv.register_static(Whole)


def named(items):
    made = Named(items)
    made.title = "named"
    return made


def lazy(weight, *cache):
    made = Lazy(weight)
    if cache:
        made.cache = cache[0]
    return made


def wide(weight, bias, extra):
    made = Wide(weight, bias, extra)
    assert made.computed is not None
    return made


MAPPINGS = [
    dict,
    OrderedDict,
    lambda items: defaultdict(list, items),
    UserDict,
    Table,
    named,
    lambda items: types.MappingProxyType(dict(items)),
]
SEQUENCES = [list, tuple, Stack, lambda parts: Chain("chain", list(parts))]
RECORDS = [
    (Pair, 2),
    (Layer, 2),
    (wide, 3),
    (Frozen, 2),
    (lazy, 1),
    (lazy, 2),
    (HalfTrained, 2),
    (Gain, 2),
    (HalfTrainedGain, 2),
    (lambda *parts: Node("node", *parts), 3),
]


def parts(value):
    """Name, value and whether the class opts it out, for each part; None if this is a leaf."""
    if isinstance(value, Node):
        return [(n, getattr(value, n), n == "table") for n in ("weight", "table", "bias")]
    if isinstance(value, Chain):
        value = value.links
    if isinstance(value, Mapping):
        names = [key if isinstance(key, str) else f"_{key}" for key in value]
        return [(name, part, False) for name, part in zip(names, value.values(), strict=True)]
    if isinstance(value, Pair):
        return [("left", value.left, False), ("right", value.right, False)]
    if isinstance(value, (list, tuple)):
        return [(f"_{place}", part, False) for place, part in enumerate(value, 1)]
    if dataclasses.is_dataclass(value):
        fields = [f for f in dataclasses.fields(value) if hasattr(value, f.name)]
    elif attrs.has(type(value)):
        fields = attrs.fields(type(value))
    else:
        return None
    return [(f.name, getattr(value, f.name), f.metadata.get("trainable") is False) for f in fields]


# Leaves -------------------------------------------------------------------------------------------

SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (2, 2), (2, 1, 3), (0,), (2, 0)]
KEYS = ["a", "b", "weight", "class", "we.ird", "", "_x", "é", "two words", "count", "T", "sum", 7]
STATICS = [
    None,
    math.sin,
    "relu",
    3,
    2.5,
    True,
    np.arange(3),
    np.array([True, False]),
    np.array([[7, 8]], "u1"),
    np.int64(1),
    np.array(["x"]),
    {1, 2},
    deque([1.5]),
    Whole(np.ones(2)),
]
REAL = [("f2", "f4", "f8"), ("f4", "f8"), ("f4",), ("f2",)]
MIXED = [*REAL, ("c8", "c16"), ("c16",), ("f2", "f8", "c16"), ("f2", "f4", "f8", "c8", "c16")]


def reversed_(array):
    return array[(..., *[slice(None, None, -1)] * array.ndim)]


def strided(array):
    wide = np.zeros(tuple(2 * extent for extent in array.shape), array.dtype)
    seen = wide[(..., *[slice(None, None, 2)] * array.ndim)]
    seen[...] = array
    return seen


def read_only(array):
    array.flags.writeable = False
    return array


LAYOUTS = [
    lambda array: array,
    np.asfortranarray,
    strided,
    reversed_,
    lambda array: array.astype(array.dtype.newbyteorder(">")),
    read_only,
]
TIES = [
    lambda array: array.T,
    reversed_,
    lambda array: array.reshape(-1),  # a copy where it has to be, and so no tie
    lambda array: array.reshape(array.shape[::-1]),
]


@st.composite
def models(draw, dtypes=MIXED, depth=3):
    """Nested containers; some arrays occur often, as they are or seen another way."""
    family = draw(st.sampled_from(dtypes))
    of_arrays = draw(st.sampled_from([family, family[-1:]]))
    groups = []
    count = 0

    def numbers(shape, dtype):
        nonlocal count
        count += math.prod(shape)
        return (np.arange(count - math.prod(shape), count) % 61 + 1).astype(dtype).reshape(shape)

    def array():
        fresh = numbers(draw(st.sampled_from(SHAPES)), draw(st.sampled_from(of_arrays)))
        return draw(st.sampled_from(LAYOUTS))(fresh)

    pool = [(array(), draw(st.sampled_from(TIES))) for _ in range(draw(st.sampled_from([1, 2, 3])))]

    def leaf():
        kind = draw(st.sampled_from(["new", "pool", "pool", "pool", "static", "scalar"]))
        if kind == "static":
            return draw(st.sampled_from(STATICS))
        if kind == "scalar":
            return numbers((), draw(st.sampled_from(family)))[()]
        if kind == "new":
            return array()
        shared, seen_as = draw(st.sampled_from(pool))
        # One other way to see each: two of them may be more than strides can say.
        return draw(st.sampled_from([lambda same: same, np.ndarray.view, seen_as, seen_as]))(shared)

    def part(depth):
        if depth == 0 or draw(st.sampled_from([True, False, False])):
            return leaf()
        if groups and draw(st.sampled_from([False, False, True])):
            return draw(st.sampled_from(groups))
        made = group(depth)
        groups.append(made)
        return made

    def group(depth):
        kind = draw(st.sampled_from(["mapping", "sequence", "record", "record"]))
        if kind == "record":
            make, size = draw(st.sampled_from(RECORDS))
            return make(*[part(depth - 1) for _ in range(size)])
        size = draw(st.sampled_from([1, 2, 3, 4, 5, 0]))
        if kind == "sequence":
            return draw(st.sampled_from(SEQUENCES))([part(depth - 1) for _ in range(size)])
        keys = draw(st.permutations(KEYS))[:size]
        return draw(st.sampled_from(MAPPINGS))([(key, part(depth - 1)) for key in keys])

    return leaf() if draw(st.sampled_from(range(20))) == 19 else group(depth)


# The oracle ---------------------------------------------------------------------------------------


class Site(NamedTuple):
    names: tuple[str, ...]
    leaf: Any
    opted_out: bool
    where: tuple[Any, ...]
    """What tells the elements of the leaf from all others, in C order."""


def sites(value, names=(), opted_out=False, holder=None):
    """Every leaf of a model, at every place where it stands."""
    inner = parts(value)
    if inner is None:
        yield Site(names or ("_1",), value, opted_out, places(value, holder))
        return
    for name, part, out in inner:
        yield from sites(part, (*names, name), opted_out or out, (id(value), name))


def containers(value, names=(), opted_out=False):
    """Every container of a model with its path, and whether that passes what is opted out."""
    inner = parts(value)
    if inner is not None:
        yield names, value, opted_out
        for name, part, out in inner:
            yield from containers(part, (*names, name), opted_out or out)


def places(leaf, holder):
    """Tell the elements by their addresses; numbers by what holds them."""
    if not isinstance(leaf, np.ndarray):
        return (holder,)
    where = np.full(leaf.shape, leaf.__array_interface__["data"][0])
    for axis, (extent, step) in enumerate(zip(leaf.shape, leaf.strides, strict=True)):
        where += (np.arange(extent) * step).reshape((-1,) + (1,) * (leaf.ndim - axis - 1))
    return tuple(where.ravel().tolist())


def is_number(leaf):
    """Tell whether a predicate may make this leaf a parameter."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype.kind in "biufc"
    return isinstance(leaf, (int, float, complex))


def is_inexact(leaf):
    return isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "fc"


class Oracle:
    """What the parameters of a model are, and where their elements belong in a vector.

    `chosen` says of a leaf that no class opts out whether it is a parameter; when ties are kept,
    all leaves that hold the same elements are, too.
    """

    def __init__(self, model, chosen=is_inexact, *, tied=True):
        self.model, self.tied = model, tied
        self.all_sites = list(sites(model))
        free = [site for site in self.all_sites if not site.opted_out and is_number(site.leaf)]
        self.parameters = [site for site in free if chosen(site.leaf)]
        if tied:
            here = {key for site in self.parameters for key in self._keys(site)}
            numbers = [site for site in self.all_sites if is_number(site.leaf)]
            self.parameters = [site for site in numbers if here & self._keys(site)]
        self._place()

    def _place(self):
        known = {}
        self.spots = []
        for place, site in enumerate(self.parameters):
            keys = [key if self.tied else (place, key) for key in site.where]
            spots = np.array([known.setdefault(key, len(known)) for key in keys], int)
            self.spots.append(spots.reshape(np.shape(site.leaf)))
        self.size = len(known)

    def of_dtype(self, dtype):
        """Look at the parameters of one dtype only."""
        part = copy.copy(self)
        pairs = zip(self.parameters, self.dtypes, strict=True)
        part.parameters = [site for site, found in pairs if found == dtype]
        part._place()
        return part

    @staticmethod
    def _keys(site):
        return set(site.where) or {("empty", id(site.leaf))}

    @property
    def names(self):
        return [site.names for site in self.parameters]

    @property
    def groups(self):
        """The paths of all groups of the parameters' tree, and of those that may be there or not.

        A container without parameters may be opted out at one path, but not at another: then it
        may be at both, inside whatever is around it.
        """
        found = list(containers(self.model))
        used = {id(value) for _, value, opted_out in found if not opted_out}
        needed = {names for names, _, opted_out in found if not opted_out}
        needed |= {names[:depth] for names in self.names for depth in range(len(names))}
        shared = [names for names, value, _ in found if id(value) in used]
        return needed, {names[:depth] for names in shared for depth in range(len(names) + 1)}

    @property
    def leaves(self):
        return [site.leaf for site in self.parameters]

    @property
    def dtypes(self):
        return [
            getattr(leaf, "dtype", np.dtype(type(leaf))).newbyteorder("=") for leaf in self.leaves
        ]

    @property
    def slots(self):
        """For each parameter what tells its slot from others."""
        return [min(self._keys(site), key=str) for site in self.parameters]

    @property
    def shares(self):
        """Whether any elements are at two places, one of which is a parameter."""
        numbers = [site for site in self.all_sites if isinstance(site.leaf, np.ndarray)]
        mine = {key for site in self.parameters for key in self._keys(site)}
        met = [key for site in numbers for key in self._keys(site) if key in mine]
        return len(set(met)) < len(met)

    def vector(self, leaves=None):
        """Put values, one per parameter, where they belong; add up those of one place never."""
        made = np.zeros(self.size, complex)
        for leaf, spots in zip(self.leaves if leaves is None else leaves, self.spots, strict=True):
            made[spots] = leaf
        return made

    def read(self, again):
        """Get the parameters out of another model of this structure."""
        found = {site.names: site.leaf for site in sites(again)}
        return [found[names] for names in self.names]

    def nested(self, values=None, keep=lambda place: True):
        """Nest values, one per parameter, in dicts by name."""
        tree = {}
        for place, (names, value) in enumerate(zip(self.names, values or self.leaves, strict=True)):
            if keep(place):
                inner = tree
                for name in names[:-1]:
                    inner = inner.setdefault(name, {})
                inner[names[-1]] = value
        return tree

    def assert_restored(self, again, values=None, *, same=operator.is_, shared=True):
        """Everything is as in the model: types, keys, dtypes, values, ties, shared containers."""
        self.assert_built_alike(again, same=same, shared=shared)
        found = self.read(again)
        values = self.leaves if values is None else values
        for old, new, dtype, value in zip(self.leaves, found, self.dtypes, values, strict=True):
            assert type(new) is type(old)
            if isinstance(old, (np.ndarray, np.generic)):
                assert new.dtype == dtype
                assert new.dtype.isnative
            assert np.shape(new) == np.shape(old)
            np.testing.assert_array_equal(new, value)
        if shared:
            self.assert_tied_alike(again)

    def assert_built_alike(self, again, *, same=operator.is_, shared=True):
        """Containers have the same types and keys, and are shared alike; statics are the same."""
        names = set(self.names)
        twins, origins = {}, {}
        pairs = [((), self.model, again)]
        for path, one, two in pairs:  # grows while it is read
            inner = parts(one)
            if inner is None:
                assert (path or ("_1",)) in names or same(one, two)
                continue
            assert type(one) is type(two)
            if shared and not (type(one) is tuple and not one):  # there is only one ()
                assert twins.setdefault(id(one), two) is two
                assert origins.setdefault(id(two), one) is one
            if isinstance(one, Mapping):
                assert list(one) == list(two)
            assert not isinstance(one, (dict, list)) or one is not two
            for attribute in ("title", "default_factory"):
                if hasattr(one, attribute):
                    assert getattr(two, attribute) == getattr(one, attribute)
            assert "computed" not in getattr(two, "__dict__", {})
            others = parts(two)
            assert [name for name, _, _ in inner] == [name for name, _, _ in others]
            for (name, left, _), (_, right, _) in zip(inner, others, strict=True):
                pairs.append(((*path, name), left, right))

    def assert_views_of(self, vector, again):
        """Every element lies at its place in a vector, but where that has another dtype."""
        start = vector.__array_interface__["data"][0]
        found = {site.names: site for site in sites(again)}
        for names, spots in zip(self.names, self.spots, strict=True):
            leaf = found[names].leaf
            if not isinstance(leaf, np.ndarray):
                continue
            if leaf.dtype == vector.dtype:
                expected = start + vector.itemsize * spots.ravel()
                assert list(found[names].where) == expected.tolist()
            else:
                assert not np.shares_memory(leaf, vector)

    def assert_tied_alike(self, again):
        """Elements are the same memory in the other model where they are in this one."""
        known = {}
        found = {site.names: site for site in sites(again)}
        for site, spots in zip(self.parameters, self.spots, strict=True):
            for spot, where in zip(spots.ravel(), found[site.names].where, strict=True):
                assert known.setdefault(spot, where) == where
        assert len(set(known.values())) == len(known)
        twins = {}
        for old, new in zip(self.leaves, self.read(again), strict=True):
            if self.tied and isinstance(old, np.ndarray):
                assert twins.setdefault(id(old), new) is new


def state_of(value):
    """Write down everything about a model that a library could change."""
    inner = parts(value)
    if inner is not None:
        return type(value), [(name, id(part), state_of(part)) for name, part, _ in inner]
    if isinstance(value, np.ndarray):
        return value.tolist(), value.dtype, value.strides, value.flags.writeable
    return value


# For the tests ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def any_model():
    """Strategy for models of all kinds."""
    return models()


@pytest.fixture(scope="session")
def real_model():
    """Strategy for models whose parameters are real."""
    return models(REAL)


@pytest.fixture(scope="session")
def look():
    """Make an oracle: ``look(model)``."""
    return Oracle


@pytest.fixture(scope="session")
def state():
    """Function that writes down everything about a model that a library could change."""
    return state_of


@pytest.fixture(scope="session")
def equal():
    """Function that tells whether two statics hold the same; pickles may change byte orders."""

    def equal(one, two):
        if type(one) is not type(two):
            return False
        if not isinstance(one, np.ndarray):
            return one == two
        dtypes = {array.dtype.newbyteorder("=") for array in (one, two)}
        return len(dtypes) == 1 and np.array_equal(one, two)

    return equal


@pytest.fixture(scope="session")
def integers():
    """Function that makes numbers that add up without rounding, whatever the dtype."""

    def integers(shape, dtype, start=1):
        return (
            (np.arange(math.prod(np.atleast_1d(shape))) % 61 + start).reshape(shape).astype(dtype)
        )

    return integers
