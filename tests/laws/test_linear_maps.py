"""Restructuring is linear; flattening is its inverse, pulling back its transpose."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import componentvec as cv

pytestmark = [
    pytest.mark.filterwarnings("ignore::componentvec.ShadowedNameWarning"),
    pytest.mark.filterwarnings("ignore::componentvec.NoParametersWarning"),
]

laws = settings(deadline=None, max_examples=50)


def inner(ones, others):
    """The inner product of two lists of arrays, without rounding."""
    pairs = zip(ones, others, strict=True)
    return sum(np.sum(np.asarray(one, complex) * np.asarray(other)) for one, other in pairs)


def filled_with(tree, values):
    """A NamedTree with other values."""
    if isinstance(tree, cv.NamedTree):
        return tree._make([filled_with(part, values) for part in tree])
    return next(values)


# Flatten and pull back ----------------------------------------------------------------------------


@laws
@given(data=st.data(), from_pickle=st.booleans())
def test_flattening_is_the_inverse_of_restructuring(data, from_pickle, any_model, integers):
    model = data.draw(any_model)
    v, restructure = cv.destructure(model, promotion="allow")
    if from_pickle:
        restructure = pickle.loads(pickle.dumps(restructure))
    x = integers(len(v), v.dtype)
    again = restructure.flatten(restructure(x))
    assert again.axis == v.axis
    np.testing.assert_array_equal(np.asarray(again), x, strict=True)
    np.testing.assert_array_equal(restructure.flatten(model), v)
    np.testing.assert_array_equal(restructure.flatten(cv.trainables_nt(model)[0]), v)
    out = np.zeros_like(v)
    assert restructure.flatten(model, out=out) is out
    np.testing.assert_array_equal(out, v)


@laws
@given(data=st.data())
def test_pulling_back_is_the_transpose_of_restructuring(data, any_model, look, integers):
    model = data.draw(any_model)
    seen = look(model)
    v, restructure = cv.destructure(model, promotion="allow")
    x = integers(len(v), v.dtype)
    # Numbers of their own for every site, also where sites are tied.
    cotangents = [integers(s.shape, v.dtype, start=5 + k % 7) for k, s in enumerate(seen.spots)]
    pulled = restructure.pullback(seen.nested(cotangents))
    pushed = seen.read(restructure(x, dtype="follow"))
    assert inner(cotangents, pushed) == inner([pulled], [x])


@laws
@given(data=st.data())
def test_pulling_back_sums_over_the_sites_of_an_element(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    v, restructure = cv.destructure(model, promotion="allow")
    given = data.draw(st.lists(st.booleans(), min_size=len(seen.spots), max_size=len(seen.spots)))
    gradient = np.zeros(seen.size, complex)
    for leaf, spots, has in zip(seen.leaves, seen.spots, given, strict=True):
        np.add.at(gradient, spots, leaf if has else 0)
    pulled = restructure.pullback(seen.nested(keep=given.__getitem__))
    assert pulled.axis == v.axis
    assert pulled.dtype == v.dtype
    np.testing.assert_array_equal(pulled, gradient)
    if all(given):
        np.testing.assert_array_equal(restructure.pullback(model), gradient)


@laws
@given(data=st.data())
def test_tied_sites_must_agree(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    _, restructure = cv.destructure(model, promotion="allow")
    values = [np.array(leaf) for leaf in seen.leaves]
    filled = [place for place, value in enumerate(values) if value.size]
    if not filled:
        return
    odd = data.draw(st.sampled_from(filled))
    values[odd].flat[-1] += 1
    tree = filled_with(cv.trainables_nt(model)[0], iter(values))
    if seen.slots.count(seen.slots[odd]) > 1:
        with pytest.raises(cv.SharingError):
            restructure.flatten(tree)
    else:
        np.testing.assert_array_equal(restructure.flatten(tree), seen.vector(values))


# Batches ------------------------------------------------------------------------------------------


@laws
@given(
    data=st.data(),
    batch=st.sampled_from([(), (1,), (3,), (2, 2), (0,)]),
    order=st.sampled_from(["C", "F"]),
)
def test_a_batch_is_one_model_per_row(data, batch, order, any_model, look, integers):
    model = data.draw(any_model)
    seen = look(model)
    _, restructure = cv.destructure(model, promotion="allow")
    rows = integers((*batch, seen.size), restructure.dtype).copy(order)
    batched = restructure.batch(rows)
    seen.assert_built_alike(batched)
    leaves = seen.read(batched)
    for leaf, shape, dtype in zip(leaves, seen.spots, seen.dtypes, strict=True):
        assert isinstance(leaf, np.ndarray) or not batch
        assert leaf.shape == (*batch, *shape.shape)
        assert leaf.dtype == dtype
        if batch and leaf.size and dtype == rows.dtype:
            assert np.shares_memory(leaf, rows)
    for row in np.ndindex(*batch):
        one = seen.read(restructure(rows[row]))
        for leaf, part in zip(leaves, one, strict=True):
            np.testing.assert_array_equal(leaf[row], part)


@laws
@given(data=st.data(), order=st.sampled_from(["C", "F"]))
def test_a_batch_keeps_ties(data, order, any_model, look, integers):
    model = data.draw(any_model)
    seen = look(model)
    _, restructure = cv.destructure(model, promotion="allow")
    leaves = seen.read(restructure.batch(integers((3, seen.size), restructure.dtype).copy(order)))
    expected = np.empty((3, seen.size))
    for place, (leaf, spots) in enumerate(zip(leaves, seen.spots, strict=True)):
        leaf[...] = expected[:, spots] = integers((3, *spots.shape), "f4", start=place)
    # Each was written over by those tied to it.
    for leaf, spots in zip(leaves, seen.spots, strict=True):
        np.testing.assert_array_equal(leaf, expected[:, spots])
    twins = {}
    for old, new in zip(seen.leaves, leaves, strict=True):
        if isinstance(old, np.ndarray):
            assert twins.setdefault(id(old), new) is new


# Parts of a model ---------------------------------------------------------------------------------


def draw_subset(data, seen):
    chosen = data.draw(st.lists(st.booleans(), min_size=len(seen.spots), max_size=len(seen.spots)))
    slots = {slot for slot, has in zip(seen.slots, chosen, strict=True) if has}
    return chosen, slots


def chosen_or_none(values, chosen):
    return [value if has else None for value, has in zip(values, chosen, strict=True)]


@laws
@given(data=st.data(), kind=st.sampled_from(["model", "NamedTree", "rebuilt"]))
def test_a_partial_tree_changes_the_sites_tied_to_what_it_gives(
    data, kind, any_model, look, state, integers
):
    model = data.draw(any_model)
    seen = look(model)
    ps, restructure = cv.trainables_nt(model)
    v = restructure.flatten(model)
    base = {"model": model, "NamedTree": ps, "rebuilt": restructure(v)}[kind]
    assume(base is not None)  # which says that there is none
    old = seen.leaves if kind == "NamedTree" else seen.read(base)
    before = state(base)

    chosen, slots = draw_subset(data, seen)
    x = integers(seen.size, v.dtype, start=1000)
    expected = np.array(v)
    for spots, has in zip(seen.spots, chosen, strict=True):
        if has:
            expected[spots] = x[spots]
    values = [x[spots] for spots in seen.spots]
    partial = seen.nested(values, keep=chosen.__getitem__)
    if data.draw(st.booleans()):
        partial = filled_with(ps, iter(chosen_or_none(values, chosen)))

    again = restructure(partial, base=base)
    seen.assert_built_alike(again)
    seen.assert_tied_alike(again)
    rows = zip(seen.read(again), old, seen.spots, seen.slots, seen.dtypes, strict=True)
    for new, kept, spots, slot, dtype in rows:
        if slot in slots:
            assert new.dtype == dtype
            assert new.shape == spots.shape
            np.testing.assert_array_equal(new, expected[spots])
        elif isinstance(kept, np.ndarray):  # two views of the same elements may become one object
            assert new.__array_interface__ == kept.__array_interface__
        else:
            assert type(new) is type(kept)
            assert new == kept
    assert state(base) == before


@laws
@given(data=st.data())
def test_a_partial_tree_needs_a_base_unless_it_has_everything(data, any_model, look, integers):
    model = data.draw(any_model)
    seen = look(model)
    ps, restructure = cv.trainables_nt(model)
    chosen, _ = draw_subset(data, seen)
    partial = filled_with(ps, iter(chosen_or_none(seen.leaves, chosen)))
    if all(chosen):
        seen.assert_restored(restructure(partial))
    else:
        with pytest.raises(cv.ComponentError, match=r"base="):
            restructure(partial)


@laws
@given(data=st.data())
def test_given_sites_that_are_tied_must_agree(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    _, restructure = cv.destructure(model, promotion="allow")
    pairs = [
        (one, two)
        for one, slot in enumerate(seen.slots)
        for two in range(one)
        if seen.slots[two] == slot and seen.spots[one].size
    ]
    if not pairs:
        return
    pair = data.draw(st.sampled_from(pairs))
    values = [np.array(leaf) for leaf in seen.leaves]
    values[pair[0]].flat[0] += 1
    with pytest.raises(cv.SharingError):
        restructure(seen.nested(values, keep=pair.__contains__), base=model)
