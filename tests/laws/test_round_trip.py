"""Models of any kind go to a vector and back unchanged."""

import operator
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


def by_names(tree, names=()):
    """Flatten a NamedTree; groups come before what is in them."""
    found = {names: tree}
    if isinstance(tree, cv.NamedTree):
        for name, part in tree._asdict().items():
            found |= by_names(part, (*names, name))
    return found


# Apart --------------------------------------------------------------------------------------------


@laws
@given(data=st.data())
def test_the_tree_holds_the_models_own_parameters_by_name(data, any_model, look):
    model = data.draw(any_model)
    ps, _ = cv.trainables_nt(model)
    seen = look(model)
    found = by_names(ps)
    leaves = {names: part for names, part in found.items() if not isinstance(part, cv.NamedTree)}
    assert list(leaves) == seen.names
    assert all(map(operator.is_, leaves.values(), seen.leaves))
    needed, allowed = seen.groups
    assert needed | {()} <= found.keys() - leaves.keys() <= needed | allowed | {()}


@laws
@given(data=st.data())
def test_the_vector_holds_every_element_once_in_order(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    v, restructure = cv.destructure(model, promotion="allow")
    assert len(v) == len(restructure) == seen.size
    np.testing.assert_array_equal(v, seen.vector())
    assert v.dtype == (np.result_type(*seen.dtypes) if seen.dtypes else float)
    np.testing.assert_array_equal(
        cv.ComponentVector(cv.trainables_nt(model)[0], promotion="allow"), v
    )


@laws
@given(data=st.data())
def test_dtypes_are_promoted_only_when_asked_for(data, any_model, look):
    model = data.draw(any_model)
    ps, _ = cv.trainables_nt(model)
    if len(set(look(model).dtypes)) < 2:
        assert cv.destructure(model)[0].axis == cv.ComponentVector(ps).axis
        return
    with pytest.raises(cv.PromotionError, match=r"destructure_by_dtype"):
        cv.destructure(model)
    with pytest.raises(cv.PromotionError, match=r"promotion='allow'"):
        cv.ComponentVector(ps)


@laws
@given(data=st.data())
def test_slots_tile_the_vector_and_sites_show_their_slots(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    v, _ = cv.destructure(model, promotion="allow")
    spans = {}
    for names, slot, spots in zip(seen.names, seen.slots, seen.spots, strict=True):
        span, shape = v.axis.index(cv.path(*names))[:2]
        assert spans.setdefault(slot, span) == span
        assert shape == spots.shape
        assert sorted(spots.ravel()) == list(range(span.start, span.stop))
    tiles = sorted(spans.values(), key=lambda span: (span.start, span.stop))
    assert [0, *(span.stop for span in tiles)] == [*(span.start for span in tiles), len(v)]


@laws
@given(data=st.data())
def test_every_label_evaluates_to_its_element(data, any_model):
    v, _ = cv.destructure(data.draw(any_model), promotion="allow")
    v[:] = np.arange(len(v))
    labels = list(v.axis.labels())
    assert len(set(labels)) == len(v)
    for place, label in enumerate(labels):
        assert eval(f"v{label}" if label.startswith("[") else f"v.{label}") == place
        assert v.axis.label(place) == label


# And back -----------------------------------------------------------------------------------------


@laws
@given(data=st.data())
def test_restructuring_gives_the_model_back(data, any_model, look):
    model = data.draw(any_model)
    v, restructure = cv.destructure(model, promotion="allow")
    look(model).assert_restored(restructure(v))


@laws
@given(data=st.data())
def test_other_values_come_back_where_they_belong(data, any_model, look, integers):
    model = data.draw(any_model)
    seen = look(model)
    ps, restructure = cv.trainables_nt(model)
    assert len(restructure) == seen.size
    seen.assert_restored(restructure(ps))
    wide = [] if restructure.dtype.kind == "f" else ["c8", "c16"]
    for dtype in ("f4", "f8", *wide):  # most of them are cast, and ties must outlive that
        x = integers(seen.size, dtype)
        seen.assert_restored(restructure(x), [x[spots] for spots in seen.spots])


@laws
@given(data=st.data())
def test_leaves_are_views_of_the_vector_unless_they_are_cast(data, any_model, look):
    model = data.draw(any_model)
    v, restructure = cv.destructure(model, promotion="allow")
    look(model).assert_views_of(v, restructure(v))


@laws
@given(data=st.data())
def test_following_leaves_are_views_in_the_dtype_of_the_vector(data, any_model, look, integers):
    model = data.draw(any_model)
    seen = look(model)
    _, restructure = cv.destructure(model, promotion="allow")
    dtype = data.draw(st.sampled_from(["f2", "f4", "f8", "c8", "c16"]))
    x = integers(seen.size, dtype)
    again = restructure(x, dtype="follow", copy=False)
    seen.assert_built_alike(again)
    seen.assert_tied_alike(again)
    seen.assert_views_of(x, again)
    for leaf, spots in zip(seen.read(again), seen.spots, strict=True):
        assert leaf.dtype == x.dtype
        np.testing.assert_array_equal(leaf, x[spots], strict=isinstance(leaf, np.ndarray))


@laws
@given(data=st.data())
def test_imaginary_parts_are_never_dropped(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    v, restructure = cv.destructure(model, promotion="allow")
    x = v.astype("c16")
    if v.dtype.kind != "c":
        assume(seen.leaves)
        with pytest.raises(cv.PromotionError, match=r"follow"):
            restructure(x)
        return
    odd = data.draw(st.integers(0, max(0, len(x) - 1)))
    x[odd : odd + 1] += 1j
    values = [
        x[spots] if dtype.kind == "c" else x[spots].real
        for spots, dtype in zip(seen.spots, seen.dtypes, strict=True)
    ]
    pairs = zip(seen.spots, seen.dtypes, strict=True)
    if any(odd in spots and dtype.kind != "c" for spots, dtype in pairs):
        with pytest.raises(cv.PromotionError, match=r"follow"):
            restructure(x)
    else:
        seen.assert_restored(restructure(x), values)


@laws
@given(data=st.data())
def test_no_copy_is_made_when_none_is_allowed(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    v, restructure = cv.destructure(model, promotion="allow")
    pairs = zip(seen.leaves, seen.dtypes, strict=True)
    cast = [leaf for leaf, dtype in pairs if isinstance(leaf, np.ndarray) and dtype != v.dtype]
    assume(all(leaf.size for leaf in cast))  # casting nothing copies nothing
    if cast:
        with pytest.raises(cv.PromotionError):
            restructure(v, copy=False)
    else:
        again = restructure(v, copy=False)
        seen.assert_restored(again)
        seen.assert_views_of(v, again)


@laws
@given(data=st.data())
def test_copies_share_nothing_with_the_vector(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    v, restructure = cv.destructure(model, promotion="allow")
    again = restructure(v, copy=True, dtype=data.draw(st.sampled_from(["restore", "follow"])))
    seen.assert_built_alike(again)
    seen.assert_tied_alike(again)
    for leaf, value in zip(seen.read(again), seen.leaves, strict=True):
        np.testing.assert_array_equal(leaf, value)
        assert not np.may_share_memory(leaf, v)


@laws
@given(data=st.data())
def test_static_arrays_are_copied_on_request_and_only_they(data, any_model, look):
    model = data.draw(any_model)
    v, restructure = cv.destructure(model, promotion="allow")
    twins = {}

    def same(one, two):
        if not isinstance(one, np.ndarray):
            return one is two
        assert twins.setdefault(id(one), two) is two
        assert not np.shares_memory(one, two)
        return np.array_equal(one, two) and one.dtype == two.dtype

    look(model).assert_restored(restructure(v, statics="copy"), same=same)


@laws
@given(data=st.data())
def test_nothing_happens_to_the_model(data, any_model, look, state):
    model = data.draw(any_model)
    before = state(model)
    v, restructure = cv.destructure(model, promotion="allow")
    v *= 2
    again = restructure(v, dtype="follow", statics="copy")
    restructure.flatten(again, out=v)
    restructure.pullback(model)
    for leaf in look(model).read(again):
        if isinstance(leaf, np.ndarray):
            leaf[...] = 0
    cv.ComponentVector(cv.trainables_nt(model)[0], promotion="allow")[:] = 0
    vectors, back = cv.destructure_by_dtype(model)
    for vector in vectors.values():
        vector[:] = 0
    back.flatten(model)
    back.pullback(model)
    assert state(model) == before


# Pickles ------------------------------------------------------------------------------------------


@laws
@given(data=st.data(), protocol=st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_pickles_keep_labels_ties_and_statics(data, protocol, any_model, look, equal):
    model = data.draw(any_model)
    seen = look(model)
    v, _ = cv.destructure(model, promotion="allow")
    ps, restructure = cv.trainables_nt(model)
    twins = pickle.loads(pickle.dumps((v, ps, restructure), protocol=protocol))
    twin_v, twin_ps, twin = twins
    assert twin == restructure
    assert hash(twin) == hash(restructure)
    assert twin_v.axis == v.axis
    np.testing.assert_array_equal(twin_v, v, strict=True)
    for values in (v, twin_v, ps, twin_ps):
        seen.assert_restored(twin(values), same=equal)
    again = cv.ComponentVector(twin_ps, promotion="allow")
    assert again.axis == v.axis
    np.testing.assert_array_equal(again, v)
    twin_v[:] = 0
    np.testing.assert_array_equal(v, seen.vector())


@laws
@given(data=st.data())
def test_what_was_learnt_from_equal_models_is_equal(data, any_model):
    model = data.draw(any_model)
    _, one = cv.trainables_nt(model)
    _, two = cv.destructure(model, promotion="allow")
    assert one == two
    assert hash(one) == hash(two)
