"""Arithmetic of strides, held against NumPy arrays of explicit positions."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec.axis import View, c_strides, rearrangement, relative_view, simplify_view
from componentvec.axis._strides import view_fits

# Shapes of all factorisations that matter for small sizes, with ones in odd places.
SHAPES = [
    *[(), (1,), (2,), (6,), (2, 3), (3, 2), (1, 6), (6, 1), (2, 1, 3), (2, 2), (4,), (1, 1)],
    *[(2, 2, 2), (8,), (4, 2), (2, 4), (12,), (3, 4), (2, 2, 3), (2, 3, 2), (4, 3), (6, 2)],
]


def view_of(seen):
    """The view through which an array of positions, made from `arange`, looks at its base."""
    return View(int(seen.flat[0]), tuple(step // seen.itemsize for step in seen.strides))


def positions(shape, view):
    """Positions of a view's elements, one by one."""
    found = [
        view.offset + sum(i * step for i, step in zip(index, view.strides, strict=True))
        for index in product(*map(range, shape))
    ]
    return np.array(found, dtype=int).reshape(shape)


@st.composite
def full_views(draw, size=None):
    """A site's shape, its view of a whole slot, and its positions there."""
    shapes = [shape for shape in SHAPES if size is None or prod(shape) == size]
    seen = np.arange(prod(shape := draw(st.sampled_from(shapes)))).reshape(shape)
    seen = seen.transpose(draw(st.permutations(range(seen.ndim))))
    seen = seen[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in seen.shape)]
    return seen.shape, view_of(seen), seen


@st.composite
def any_views(draw):
    """A shape and a view of that shape that may lead anywhere."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    steps = st.integers(-6, 6)
    strides = tuple(draw(st.lists(steps, min_size=len(shape), max_size=len(shape))))
    return shape, View(draw(st.integers(0, 8)), strides)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_c_strides_are_those_of_numpy(shape):
    array = np.empty(shape, np.int8)
    assert all(
        mine == theirs
        for mine, theirs, extent in zip(c_strides(shape), array.strides, shape, strict=True)
        if extent > 1
    )


@pytest.mark.parametrize(
    ("shape", "strides"), [((), ()), ((5,), (1,)), ((2, 3, 4), (12, 4, 1)), ((2, 1, 3), (3, 3, 1))]
)
def test_c_strides_count_elements(shape, strides):
    assert c_strides(shape) == strides


@given(any_views(), st.integers(0, 12))
@settings(deadline=None, max_examples=300)
def test_a_view_fits_when_it_visits_every_element_once(shape_view, size):
    shape, view = shape_view
    visited = sorted(positions(shape, view).reshape(-1).tolist())
    if size or not prod(shape):
        assert view_fits(shape, view, size) <= (visited == list(range(size)))
    if size:
        assert view_fits(shape, view, size) == (visited == list(range(size)))


@given(full_views())
@settings(deadline=None, max_examples=100)
def test_permutations_reversals_and_reshapes_fit(site):
    shape, view, seen = site
    assert view_fits(shape, view, seen.size)


@pytest.mark.parametrize("strides", [(1,), (1, 1, 1), ()])
def test_a_view_of_another_rank_does_not_fit(strides):
    assert not view_fits((2, 3), View(0, strides), 6)


@given(full_views())
@settings(deadline=None, max_examples=150)
def test_a_view_is_simplified_to_none_exactly_when_it_is_c_order(site):
    shape, view, seen = site
    in_order = np.array_equal(seen.reshape(-1), np.arange(seen.size))
    assert (simplify_view(shape, view) is None) == in_order


@given(full_views(), st.integers(-9, 9))
@settings(deadline=None, max_examples=150)
def test_equal_layouts_have_one_spelling(site, step):
    shape, view, seen = site
    other = tuple(step if extent == 1 else s for s, extent in zip(view.strides, shape, strict=True))
    simple = simplify_view(shape, view)
    assert simplify_view(shape, View(view.offset, other)) == simple
    if simple is not None:
        assert np.array_equal(positions(shape, simple), seen)
        assert simplify_view(shape, simple) == simple


@given(full_views())
@settings(deadline=None, max_examples=150)
def test_steps_show_a_slot_as_the_view_does(site):
    shape, view, seen = site
    slot = np.arange(100, 100 + seen.size)
    shown = rearrangement(shape, view).apply(slot)
    assert np.array_equal(shown, 100 + seen)
    assert shown.size == 0 or np.shares_memory(shown, slot)


@given(full_views())
@settings(deadline=None, max_examples=150)
def test_undoing_steps_brings_the_slot_back(site):
    shape, view, seen = site
    assert np.array_equal(rearrangement(shape, view).undo(seen), np.arange(seen.size))


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_a_relative_view_shows_the_other_site_over_the_order_of_the_first(data):
    first_shape, first, first_seen = data.draw(full_views())
    shape, other, seen = data.draw(full_views(first_seen.size))
    # Where each element of the old slot goes: the new slot is the first site in C order.
    moved = np.empty(seen.size, int)
    moved[first_seen.reshape(-1)] = np.arange(seen.size)
    expected = moved[seen]
    try:
        view = relative_view(first_shape, first, shape, other)
    except ValueError:
        assert not has_strides(expected)
    else:
        shown = View(0, c_strides(shape)) if view is None else view
        assert np.array_equal(positions(shape, shown), expected)
        assert view is None or simplify_view(shape, view) == view


def has_strides(array):
    """Whether equal steps of an index are equal steps of the value, everywhere."""
    return all(
        np.unique(np.diff(array, axis=axis)).size <= 1
        for axis in range(array.ndim)
        if array.shape[axis] > 1
    )


@given(full_views())
@settings(deadline=None, max_examples=100)
def test_a_site_relative_to_itself_is_c_order(site):
    shape, view, _ = site
    assert relative_view(shape, view, shape, view) is None


def test_a_slot_seen_from_its_transpose_is_transposed_back():
    assert relative_view((3, 2), View(0, (1, 3)), (2, 3), None) == View(0, (1, 2))


def test_a_slot_seen_from_its_reversal_is_reversed():
    assert relative_view((3,), View(2, (-1,)), (3,), None) == View(2, (-1,))


def test_plain_sites_are_plain_to_each_other_whatever_their_shapes():
    assert relative_view((2, 3), None, (3, 2), None) is None


def test_a_reshape_across_a_transpose_is_refused():
    with pytest.raises(ValueError, match="differ by a reshape that strides cannot express"):
        relative_view((3, 2), View(0, (1, 3)), (6,), None)
