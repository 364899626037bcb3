"""Models of any kind go to a vector and back unchanged.

The oracle knows nothing of slots and views: it lists the elements of every parameter by their
address in memory. Elements met before are tied, all others follow each other in the vector.
"""

import dataclasses
import itertools
import math
import pickle
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import componentvec as cv

pytestmark = pytest.mark.filterwarnings("ignore::componentvec.ShadowedNameWarning")

laws = settings(deadline=None, max_examples=50)


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    weight: Any
    count: Any


# Models -------------------------------------------------------------------------------------------

SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (2, 2), (2, 1, 3), (0,), (2, 0)]
KEYS = ["a", "b", "weight", "class", "we.ird", "", "_x", "é", "two words", "count", "T", "sum", 7]
STATICS = [None, math.sin, "relu", 3, 2.5, True, np.arange(3), np.array(["x"]), np.int64(1)]
STATIC_TYPES = (int, float, str)


def strided(array):
    wide = np.zeros(tuple(2 * extent for extent in array.shape), array.dtype)
    seen = wide[(..., *[slice(None, None, 2)] * array.ndim)]
    seen[...] = array
    return seen


def read_only(array):
    array.flags.writeable = False
    return array


LAYOUTS = {
    "C": lambda array: array,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda array: array[(..., *[slice(None, None, -1)] * array.ndim)],
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "read-only": read_only,
    "scalar": lambda array: array[()],
}
TIES = {
    "same": lambda array: array,
    "view": lambda array: array.view(),
    "transposed": lambda array: array.T,
    "reversed": lambda array: array[(..., *[slice(None, None, -1)] * array.ndim)],
    "flat": lambda array: array.reshape(-1),
}


@st.composite
def models(draw, depth=3):
    """Nested containers; later leaves may be views of earlier ones, later groups earlier groups."""
    dtype = draw(st.sampled_from(["f4", "f8", "c16"]))
    arrays, groups = [], []
    values = itertools.count(1)

    def leaf():
        kind = draw(st.sampled_from(["new", "new", "tied", "static"]))
        if kind == "static":
            return draw(st.sampled_from(STATICS))
        if kind == "tied" and arrays:
            return draw(st.sampled_from(list(TIES.values())))(draw(st.sampled_from(arrays)))
        shape = draw(st.sampled_from(SHAPES))
        numbers = np.array([next(values) for _ in range(math.prod(shape))]).astype(dtype)
        array = draw(st.sampled_from(list(LAYOUTS.values())))(numbers.reshape(shape))
        if isinstance(array, np.ndarray):
            arrays.append(array)
        return array

    def part(depth):
        if depth == 0 or draw(st.booleans()):
            return leaf()
        if groups and draw(st.integers(0, 2)) == 0:
            return draw(st.sampled_from(groups))
        made = group(depth)
        groups.append(made)
        return made

    def group(depth):
        kind = draw(st.sampled_from([dict, list, tuple, OrderedDict, Pair, Layer, Frozen]))
        if kind in (Pair, Layer, Frozen):
            return kind(part(depth - 1), part(depth - 1))
        count = draw(st.integers(0, 5))
        if kind in (list, tuple):
            return kind([part(depth - 1) for _ in range(count)])
        keys = draw(st.permutations(KEYS))[:count]
        return kind([(key, part(depth - 1)) for key in keys])

    return group(depth)


def parts(value):
    """Keys and parts of a container; None for anything else."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    if dataclasses.is_dataclass(value):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    return None


def is_parameter(value):
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def parameters(model):
    """All parameters in order, shared ones at every place."""
    return [leaf for leaf, _ in located(model)]


def located(model, holder=None):
    """Every parameter with the container and key that hold it."""
    inner = parts(model)
    if inner is not None:
        return [found for key, part in inner for found in located(part, (id(model), key))]
    return [(model, holder)] if is_parameter(model) else []


# The oracle ---------------------------------------------------------------------------------------


def addresses(array):
    """Where every element lies in memory, in the shape of the array."""
    where = np.full(array.shape, array.__array_interface__["data"][0])
    for axis, (extent, step) in enumerate(zip(array.shape, array.strides, strict=True)):
        along = np.arange(extent).reshape((-1,) + (1,) * (array.ndim - axis - 1))
        where += along * step
    return where


def places(model):
    """For each parameter the places of its elements in the vector, and the size of that."""
    known, out = {}, []
    for leaf, holder in located(model):
        spots = np.empty(leaf.shape, int)
        for index in np.ndindex(leaf.shape):
            # Numbers have no memory of their own, only a container that holds them.
            where = int(addresses(leaf)[index]) if isinstance(leaf, np.ndarray) else holder
            spots[index] = known.setdefault(where, len(known))
        out.append(spots)
    return out, len(known)


def slow_vector(leaves, spots, size):
    vector = np.zeros(size, complex)
    for leaf, spot in zip(leaves, spots, strict=True):
        vector[spot] = leaf
    return vector


def integers(size, start=1):
    """Numbers that add up without rounding, whatever the dtype."""
    return np.arange(size) % 97 + start


def assert_same_structure(one, two, twins=None):
    """Types, keys, statics and shared containers agree; parameters have one dtype and shape."""
    twins = {} if twins is None else twins
    assert type(one) is type(two)
    inner = parts(one)
    if inner is None:
        if is_parameter(one):
            assert two.shape == one.shape
            assert two.dtype == one.dtype.newbyteorder("=")
            assert two.dtype.isnative
        else:
            assert one is two
        return
    if one != ():  # there is only one of it
        assert twins.setdefault(id(one), two) is two
    assert [key for key, _ in inner] == [key for key, _ in parts(two)]
    for (_, left), (_, right) in zip(inner, parts(two), strict=True):
        assert_same_structure(left, right, twins)


# The laws -----------------------------------------------------------------------------------------


@laws
@given(models())
def test_the_vector_holds_every_element_once_in_order(model):
    v, restructure = cv.destructure(model)
    leaves = parameters(model)
    spots, size = places(model)
    assert len(v) == len(restructure) == size
    np.testing.assert_array_equal(v, slow_vector(leaves, spots, size))
    assert all(leaf.dtype.newbyteorder("=") == v.dtype for leaf in leaves)


@laws
@given(models())
def test_restructuring_gives_the_model_back(model):
    v, restructure = cv.destructure(model)
    again = restructure(v)
    assert_same_structure(model, again)
    for old, new in zip(parameters(model), parameters(again), strict=True):
        np.testing.assert_array_equal(new, old)


@laws
@given(models())
def test_every_element_of_the_rebuilt_model_lies_at_its_place_in_the_vector(model):
    v, restructure = cv.destructure(model)
    start = v.__array_interface__["data"][0]
    again = parameters(restructure(v))
    spots, _ = places(model)
    for new, spot in zip(again, spots, strict=True):
        if isinstance(new, np.ndarray) and new.size:
            np.testing.assert_array_equal(addresses(new), start + v.itemsize * spot)


@laws
@given(models())
def test_parameters_that_are_one_object_stay_one_object(model):
    v, restructure = cv.destructure(model)
    twins = {}
    for old, new in zip(parameters(model), parameters(restructure(v)), strict=True):
        if isinstance(old, np.ndarray):
            assert twins.setdefault(id(old), new) is new


@laws
@given(models(), st.booleans())
def test_flattening_is_the_inverse_of_restructuring(model, from_pickle):
    v, restructure = cv.destructure(model)
    if from_pickle:
        restructure = pickle.loads(pickle.dumps(restructure))
    x = integers(len(v)).astype(v.dtype)
    again = restructure.flatten(restructure(x))
    assert again.axis == v.axis
    assert again.dtype == v.dtype
    np.testing.assert_array_equal(again, x)
    np.testing.assert_array_equal(restructure.flatten(model), v)
    out = np.zeros_like(v)
    assert restructure.flatten(model, out=out) is out
    np.testing.assert_array_equal(out, v)


@laws
@given(models())
def test_pulling_back_is_the_transpose_of_restructuring(model):
    v, restructure = cv.destructure(model)
    x = integers(len(v)).astype(v.dtype)
    cotangents = restructure(integers(len(v), start=5).astype(v.dtype))
    # One number per site and element, also where sites are tied.
    pieces = parameters(cotangents)
    left = sum(np.sum(u * y) for u, y in zip(pieces, parameters(restructure(x)), strict=True))
    assert np.sum(restructure.pullback(cotangents) * x) == left


@laws
@given(models())
def test_pulling_back_sums_over_the_sites_of_an_element(model):
    v, restructure = cv.destructure(model)
    spots, size = places(model)
    gradient = np.zeros(size, complex)
    for leaf, spot in zip(parameters(model), spots, strict=True):
        np.add.at(gradient, spot, leaf)
    pulled = restructure.pullback(model)
    assert pulled.dtype == v.dtype
    np.testing.assert_array_equal(pulled, gradient)


@laws
@given(models())
def test_slots_tile_the_vector(model):
    v, _ = cv.destructure(model)
    ends = [0]
    for path in v.axis.paths():
        span, shape = v.axis.index(path)[:2]
        assert math.prod(shape) == span.stop - span.start
        if span.start == ends[-1]:
            ends.append(span.stop)
        assert span.start in ends
        assert span.stop in ends
    assert ends[-1] == len(v)


@laws
@given(models())
def test_every_label_evaluates_to_its_element(model):
    v, _ = cv.destructure(model)
    v[:] = np.arange(len(v))
    labels = list(v.axis.labels())
    assert len(set(labels)) == len(v)
    for place, label in enumerate(labels):
        assert eval(f"v{label}" if label.startswith("[") else f"v.{label}") == place
        assert v.axis.label(place) == label


@laws
@given(models(), st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_pickles_of_vectors_and_trees_keep_labels_and_ties(model, protocol):
    ps, restructure = cv.trainables_nt(model)
    v = cv.ComponentVector(ps)
    for twin in (v, ps):
        again = cv.ComponentVector(
            pickle.loads(pickle.dumps(twin, protocol=protocol)), sharing="alias"
        )
        assert again.axis == v.axis
        np.testing.assert_array_equal(again, v)
    twin = pickle.loads(pickle.dumps(v, protocol=protocol))
    assert twin.axis == v.axis
    assert_same_structure(model, restructure(twin))
    twin[:] = 0
    assert not any(np.any(leaf) for leaf in parameters(restructure(twin)))
    np.testing.assert_array_equal(v, cv.destructure(model)[0])


@laws
@given(models())
def test_the_tree_of_parameters_stands_for_the_model(model):
    ps, restructure = cv.trainables_nt(model)
    v, other = cv.destructure(model)
    assert restructure == other
    assert hash(restructure) == hash(other)
    np.testing.assert_array_equal(cv.ComponentVector(ps), v)
    assert_same_structure(model, restructure(ps))
    np.testing.assert_array_equal(restructure.flatten(ps), v)
    np.testing.assert_array_equal(restructure.pullback(ps), restructure.pullback(model))


@laws
@given(models())
def test_nothing_happens_to_the_model(model):
    def state(value):
        inner = parts(value)
        if inner is not None:
            return type(value), [(key, id(part), state(part)) for key, part in inner]
        if isinstance(value, np.ndarray):
            return value.tolist(), value.dtype, value.strides, value.flags.writeable
        return value

    before = state(model)
    v, restructure = cv.destructure(model)
    v *= 2
    again = restructure(v)
    restructure.flatten(again, out=v)
    restructure.pullback(model)
    for leaf in parameters(again):
        if isinstance(leaf, np.ndarray):
            leaf[...] = 0
    cv.ComponentVector(cv.trainables_nt(model)[0])[:] = 0
    assert state(model) == before


@laws
@given(models())
def test_copies_of_ties_are_independent(model):
    v, restructure = cv.destructure(model, sharing="copy")
    leaves = parameters(model)
    assert len(v) == sum(leaf.size for leaf in leaves)
    if leaves:
        np.testing.assert_array_equal(v, np.concatenate([np.ravel(leaf) for leaf in leaves]))
    x = integers(len(v)).astype(v.dtype)
    again = parameters(restructure(x))
    np.testing.assert_array_equal(np.concatenate([[], *map(np.ravel, again)]), x)
    np.testing.assert_array_equal(restructure.flatten(restructure(x)), x)
    np.testing.assert_array_equal(restructure.pullback(restructure(x)), x)
