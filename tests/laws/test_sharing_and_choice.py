"""What is shared, and what is a parameter, is for the caller to say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import componentvec as cv

pytestmark = [
    pytest.mark.filterwarnings("ignore::componentvec.ShadowedNameWarning"),
    pytest.mark.filterwarnings("ignore::componentvec.NoParametersWarning"),
]

laws = settings(deadline=None, max_examples=50)


# Sharing ------------------------------------------------------------------------------------------


@laws
@given(data=st.data())
def test_sharing_is_refused_when_there_is_some(data, any_model, look):
    model = data.draw(any_model)
    if look(model).shares:
        with pytest.raises(cv.SharingError):
            cv.trainables_nt(model, sharing="reject")
        with pytest.raises(cv.SharingError):
            cv.destructure(model, sharing="reject", promotion="allow")
        with pytest.raises(cv.SharingError):
            cv.destructure_by_dtype(model, sharing="reject")
    else:
        # Numbers in a container that occurs twice are no memory that could be shared.
        apart = look(model, tied=False)
        v, _ = cv.destructure(model, sharing="reject", promotion="allow")
        np.testing.assert_array_equal(v, apart.vector())


@laws
@given(data=st.data())
def test_copies_of_ties_are_independent(data, any_model, look, integers):
    model = data.draw(any_model)
    seen = look(model, tied=False)
    v, restructure = cv.destructure(model, sharing="copy", promotion="allow")
    assert len(v) == sum(np.size(leaf) for leaf in seen.leaves)
    np.testing.assert_array_equal(v, seen.vector())
    x = integers(len(v), v.dtype)
    again = restructure(x)
    seen.assert_restored(again, [x[spots] for spots in seen.spots], shared=False)
    seen.assert_views_of(x, again)
    seen.assert_tied_alike(again)
    np.testing.assert_array_equal(restructure.flatten(again), x)
    np.testing.assert_array_equal(restructure.pullback(again), x)


# Choice -------------------------------------------------------------------------------------------


def draw_predicate(data, look, model):
    """Choose some of all numbers in a model; gives who is asked, and what was asked."""
    free = look(model, lambda leaf: True, tied=False).parameters
    leaves = {id(site.leaf): site.leaf for site in free}
    picks = data.draw(st.lists(st.booleans(), min_size=len(leaves), max_size=len(leaves)))
    chosen = {key for key, pick in zip(leaves, picks, strict=True) if pick}
    at = {str(cv.path(*site.names)): site.leaf for site in free}
    asked = set()

    def predicate(path, leaf):
        assert at[path] is leaf
        asked.add(id(leaf))
        return id(leaf) in chosen

    return predicate, (lambda leaf: id(leaf) in chosen), asked, set(leaves)


@laws
@given(data=st.data())
def test_a_predicate_chooses_the_parameters(data, real_model, look):
    model = data.draw(real_model)
    predicate, chosen, asked, everything = draw_predicate(data, look, model)
    seen = look(model, chosen)
    v, restructure = cv.destructure(model, promotion="allow", trainable=predicate)
    assert asked == everything
    assert list(v.axis.paths()) == [str(cv.path(*names)) for names in seen.names]
    np.testing.assert_array_equal(v, seen.vector())
    again = restructure(v)
    seen.assert_restored(again)
    np.testing.assert_array_equal(restructure.flatten(again), v)
    np.testing.assert_array_equal(restructure.flatten(model), v)


@laws
@given(data=st.data())
def test_a_predicate_chooses_the_parameters_of_vectors_by_dtype(data, real_model, look):
    model = data.draw(real_model)
    predicate, chosen, _, _ = draw_predicate(data, look, model)
    seen = look(model, chosen)
    vectors, restructure = cv.destructure_by_dtype(model, trainable=predicate)
    assert set(vectors) == set(seen.dtypes)
    for dtype, v in vectors.items():
        np.testing.assert_array_equal(v, seen.of_dtype(dtype).vector())
    seen.assert_restored(restructure(vectors))


@laws
@given(data=st.data())
def test_no_predicate_and_the_rule_as_a_predicate_are_the_same(data, any_model):
    model = data.draw(any_model)

    def rule(path, leaf):
        return isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "fc"

    _, one = cv.trainables_nt(model)
    _, two = cv.trainables_nt(model, trainable=rule)
    assert one == two


@laws
@given(data=st.data())
def test_a_predicate_decides_alone_when_ties_are_copied(data, real_model, look):
    model = data.draw(real_model)
    predicate, chosen, _, _ = draw_predicate(data, look, model)
    seen = look(model, chosen, tied=False)
    v, restructure = cv.destructure(model, sharing="copy", promotion="allow", trainable=predicate)
    np.testing.assert_array_equal(v, seen.vector())
    seen.assert_restored(restructure(v), shared=False)
