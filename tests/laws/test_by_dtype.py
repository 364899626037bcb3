"""One vector per dtype: nothing is cast, nothing is copied."""

import pickle

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


@laws
@given(data=st.data())
def test_every_vector_holds_the_parameters_of_its_dtype(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    vectors, restructure = cv.destructure_by_dtype(model)
    assert set(vectors) == set(restructure.axes) == set(seen.dtypes)
    for dtype, v in vectors.items():
        part = seen.of_dtype(dtype)
        assert v.dtype == dtype
        assert v.axis == restructure.axes[dtype]
        assert list(v.axis.paths()) == [str(cv.path(*names)) for names in part.names]
        np.testing.assert_array_equal(v, part.vector())
        holders = {names[:depth] for names in part.names for depth in range(1, len(names) + 1)}
        assert {names for names, _ in v.axis.components()} - {()} == holders


@laws
@given(data=st.data(), from_pickle=st.booleans())
def test_vectors_by_dtype_give_the_model_back_without_a_copy(
    data, from_pickle, any_model, look, equal
):
    model = data.draw(any_model)
    seen = look(model)
    vectors, restructure = cv.destructure_by_dtype(model)
    if from_pickle:
        twin = pickle.loads(pickle.dumps(restructure))
        assert twin == restructure
        again = twin(vectors)
        seen.assert_restored(again, same=equal)
    else:
        again = restructure(vectors)
        seen.assert_restored(again)
    for dtype, v in vectors.items():
        seen.of_dtype(dtype).assert_views_of(v, again)


@laws
@given(data=st.data())
def test_flattening_by_dtype_is_the_inverse_of_restructuring(data, any_model, look, integers):
    model = data.draw(any_model)
    vectors, restructure = cv.destructure_by_dtype(model)
    xs = {dtype: integers(len(v), dtype) for dtype, v in vectors.items()}
    for tree, expected in ((restructure(xs), xs), (model, vectors)):
        again = restructure.flatten(tree)
        assert set(again) == set(expected)
        for dtype, x in expected.items():
            assert again[dtype].axis == vectors[dtype].axis
            np.testing.assert_array_equal(np.asarray(again[dtype]), np.asarray(x), strict=True)


@laws
@given(data=st.data())
def test_pulling_back_by_dtype_sums_over_the_sites_of_an_element(data, any_model, look):
    model = data.draw(any_model)
    seen = look(model)
    vectors, restructure = cv.destructure_by_dtype(model)
    given = data.draw(st.lists(st.booleans(), min_size=len(seen.spots), max_size=len(seen.spots)))
    pulled = restructure.pullback(seen.nested(keep=given.__getitem__))
    assert set(pulled) == set(vectors)
    has = dict(zip(seen.names, given, strict=True))
    for dtype, found in pulled.items():
        part = seen.of_dtype(dtype)
        gradient = np.zeros(part.size, complex)
        for names, leaf, spots in zip(part.names, part.leaves, part.spots, strict=True):
            np.add.at(gradient, spots, leaf if has[names] else 0)
        assert found.axis == vectors[dtype].axis
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, gradient)


@laws
@given(data=st.data(), batch=st.sampled_from([(1,), (3,), (2, 2)]))
def test_a_batch_by_dtype_is_one_model_per_row(data, batch, any_model, look, integers):
    model = data.draw(any_model)
    seen = look(model)
    vectors, restructure = cv.destructure_by_dtype(model)
    rows = {dtype: integers((*batch, len(v)), dtype) for dtype, v in vectors.items()}
    batched = restructure.batch(rows)
    seen.assert_built_alike(batched)
    for row in np.ndindex(*batch):
        one = restructure({dtype: part[row] for dtype, part in rows.items()})
        for leaf, part in zip(seen.read(batched), seen.read(one), strict=True):
            assert leaf.dtype == part.dtype
            np.testing.assert_array_equal(leaf[row], part)
