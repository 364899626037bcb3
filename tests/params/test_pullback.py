"""`Restructure.pullback`: from gradients of the model's arrays to the gradient of the vector."""

import dataclasses
import math

import numpy as np
import pytest

import componentvec as cv


@dataclasses.dataclass
class Layer:
    weight: object
    bias: object = None


def model():
    return {"x": np.array([1.0, 2.0]), "y": (math.sin, np.array([[3.0], [4.0]])), "e": [], "n": 1}


@pytest.fixture
def restructure():
    return cv.destructure(model())[1]


# What is there and what is not --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cotangents", "gradient"),
    [
        ({"x": [1.0, 2.0], "y": (None, [[3.0], [4.0]]), "e": [], "n": None}, [1, 2, 3, 4]),
        ({"x": [1.0, 2.0]}, [1, 2, 0, 0]),
        ({"y": (None, [[3.0], [4.0]])}, [0, 0, 3, 4]),
        ({"y": {"_2": [[3.0], [4.0]]}}, [0, 0, 3, 4]),
        ({"x": None, "y": None}, [0, 0, 0, 0]),
        ({"y": (None, None)}, [0, 0, 0, 0]),
        ({"y": {}}, [0, 0, 0, 0]),
        ({}, [0, 0, 0, 0]),
        (None, [0, 0, 0, 0]),
    ],
    ids=["all", "x", "y", "by name", "None", "None inside", "empty inside", "empty", "nothing"],
)
def test_what_is_missing_or_none_counts_as_zero(restructure, cotangents, gradient):
    g = restructure.pullback(cotangents)
    assert type(g) is cv.ComponentVector
    assert g.axis is restructure.axis
    assert g.dtype == np.float64
    assert g.tolist() == gradient


@pytest.mark.parametrize(
    "of",
    [lambda v, m: m, lambda v, m: v, lambda v, m: cv.trainables_nt(m)[0]],
    ids=["model", "vector", "tree"],
)
def test_a_whole_model_vector_or_tree_is_read(of):
    v, restructure = cv.destructure(model())
    assert restructure.pullback(of(v, model())).tolist() == v.tolist()


def test_a_tree_with_fewer_names_is_read(restructure):
    part, _ = cv.trainables_nt({"y": (None, np.array([[3.0], [4.0]]))})
    assert restructure.pullback(part).tolist() == [0.0, 0.0, 3.0, 4.0]


def test_dataclasses_are_read_with_none_for_zero():
    _, restructure = cv.destructure([Layer(np.ones(2), np.ones(1))])
    assert restructure.pullback([Layer(None, [5.0])]).tolist() == [0.0, 0.0, 5.0]
    assert restructure.pullback([{"bias": [5.0]}]).tolist() == [0.0, 0.0, 5.0]


@pytest.mark.parametrize(
    "what", [5.0, np.ones(7), "text", [np.ones(1)], {"a": np.ones(1)}], ids=repr
)
def test_what_stands_at_a_static_is_not_looked_at(restructure, what):
    g = restructure.pullback({"y": (what, [[3.0], [4.0]]), "n": what})
    assert g.tolist() == [0.0, 0.0, 3.0, 4.0]


def test_each_call_gives_memory_of_its_own(restructure):
    given = np.array([1.0, 2.0])
    one, two = restructure.pullback({"x": given}), restructure.pullback({"x": given})
    one += 5
    assert two.tolist() == [1.0, 2.0, 0.0, 0.0]
    assert given.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("leaf", [np.array([[1.0, 2.0]]), np.array(3.0), np.float64(4.0)], ids=repr)
def test_a_model_that_is_one_array_takes_its_gradient(leaf):
    v, restructure = cv.destructure(leaf)
    assert restructure.pullback(leaf).tolist() == v.tolist()
    assert restructure.pullback({"_1": leaf}).tolist() == v.tolist()
    assert restructure.pullback(v).tolist() == v.tolist()
    assert restructure.pullback(None).tolist() == [0.0] * len(v)


@pytest.mark.parametrize("static", [None, math.sin, 3, [], {"n": 1}], ids=repr)
def test_a_model_without_parameters_has_an_empty_gradient(static):
    _, restructure = cv.destructure(static)
    assert restructure.pullback(None).shape == (0,)
    assert restructure.pullback(static).shape == (0,)


# Ties ---------------------------------------------------------------------------------------------


def test_tied_sites_are_summed():
    shared = np.array([7.0, 7.0])
    _, restructure = cv.destructure({"x": shared, "y": np.array([3.0, 4.0]), "z": shared})
    g = restructure.pullback({"x": [3.0, 3.0], "z": [13.0, 13.0]})
    assert g.tolist() == [16.0, 16.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("cotangents", "gradient"),
    [
        ({"z": [0.0, 1.0]}, [0, 1, 0, 0]),
        ({"x": None, "z": [0.0, 1.0]}, [0, 1, 0, 0]),
        ({"x": [0.0, 1.0]}, [0, 1, 0, 0]),
        ({"y": [5.0, 6.0]}, [0, 0, 5, 6]),
    ],
    ids=["later site alone", "first None", "first alone", "neither"],
)
def test_a_tied_site_may_be_missing(cotangents, gradient):
    shared = np.array([7.0, 7.0])
    _, restructure = cv.destructure({"x": shared, "y": np.array([3.0, 4.0]), "z": shared})
    assert restructure.pullback(cotangents).tolist() == gradient


def test_one_gradient_object_at_two_tied_sites_counts_twice():
    shared = np.ones(2)
    _, restructure = cv.destructure([shared, shared])
    g = np.array([1.0, 2.0])
    assert restructure.pullback([g, g]).tolist() == [2.0, 4.0]


def test_transposes_reversals_and_reshapes_are_undone():
    weight = np.zeros((2, 3))
    model = [weight, weight.T, weight[:, ::-1], weight.reshape(-1), weight[::-1].T]
    _, restructure = cv.destructure(model)
    g = np.arange(1.0, 7.0).reshape(2, 3)
    cotangents = [g, 10 * g.T, 100 * g[:, ::-1], 1000 * g.reshape(-1), 10000 * g[::-1].T]
    assert restructure.pullback(cotangents).tolist() == (11111 * g).reshape(-1).tolist()


def test_a_transposed_site_first_sets_the_order_of_the_slot():
    weight = np.arange(6.0).reshape(2, 3)
    v, restructure = cv.destructure([weight.T, weight])
    assert v.tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    assert restructure.pullback([None, weight]).tolist() == v.tolist()


def test_a_container_at_two_places_is_summed():
    block = Layer(np.ones(1), np.ones(1))
    _, restructure = cv.destructure({"a": block, "b": [block]})
    g = restructure.pullback({"a": Layer([1.0], [2.0]), "b": [Layer([10.0], None)]})
    assert g.tolist() == [11.0, 2.0]


def test_sites_stored_apart_by_copy_are_not_summed():
    shared = np.ones(1)
    _, restructure = cv.destructure([shared, shared], sharing="copy")
    assert restructure.pullback([[1.0], [10.0]]).tolist() == [1.0, 10.0]


def test_zero_dimensional_ties_are_summed():
    scale = np.array(2.0)
    _, restructure = cv.destructure([scale, scale, scale.reshape(1)])
    assert restructure.pullback([1.0, np.float64(10.0), [100.0]]).tolist() == [111.0]


# dtype --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "longdouble", "c8", "c16"])
def test_the_gradient_has_the_dtype_of_the_vector(dtype):
    v, restructure = cv.destructure([np.ones(2, dtype)])
    g = restructure.pullback([np.array([1.5, 2.5])])
    assert g.dtype == v.dtype
    assert g.tolist() == [1.5, 2.5]


@pytest.mark.parametrize("cotangent", [np.array([1, 0]), np.array([True, False]), [1, 0]], ids=repr)
def test_integer_and_boolean_gradients_are_taken(restructure, cotangent):
    assert restructure.pullback({"x": cotangent}).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_a_wider_dtype_may_be_asked_for():
    _, restructure = cv.destructure({"x": np.ones(1, "f4"), "y": np.ones(1, "f4")})
    g = restructure.pullback({"x": np.array([0.1])}, dtype="f8")
    assert g.dtype == np.float64
    assert g.tolist() == [0.1, 0.0]


def test_tied_sites_are_summed_in_the_dtype_asked_for():
    shared = np.ones(1, "f4")
    _, restructure = cv.destructure([shared, shared])
    cotangents = [np.array([1.0]), np.array([2.0**-40])]
    assert restructure.pullback(cotangents).tolist() == [1.0]
    assert restructure.pullback(cotangents, dtype=float).tolist() == [1.0 + 2.0**-40]


def test_a_gradient_of_another_byte_order_may_be_asked_for_and_is_native(restructure):
    assert restructure.pullback(None, dtype=">f8").dtype.isnative


def test_a_complex_gradient_of_a_real_vector_is_refused_by_the_path(restructure):
    with pytest.raises(cv.PromotionError, match=r"`y\._2` is complex128.*float64.*dtype="):
        restructure.pullback({"y": (None, np.array([[1j], [2.0]]))})


def test_a_complex_gradient_may_be_asked_for(restructure):
    g = restructure.pullback({"x": [1j, 2.0], "y": (None, [[3.0], [4.0]])}, dtype=complex)
    assert g.dtype == np.complex128
    assert g.tolist() == [1j, 2, 3, 4]


def test_gradients_of_complex_parameters_are_not_conjugated():
    weight = np.array([[1j, 2.0]])
    _, restructure = cv.destructure([weight, weight.T])
    assert restructure.pullback([[[1j, 1]], [[1j], [0]]]).tolist() == [2j, 1]


def test_an_integer_gradient_cannot_hold_fractions(restructure):
    with pytest.raises(cv.PromotionError, match=r"`x` is float64.*int64"):
        restructure.pullback({"x": [0.5, 0.5]}, dtype=int)


# What it refuses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cotangents", "error", "message"),
    [
        ({"z": np.ones(1)}, cv.LabelError, r"no parameter `z`.*'x', 'y'"),
        ({"z": 0.0}, cv.LabelError, r"`z`"),
        ({"z": {"w": None}}, cv.LabelError, r"`z`"),
        ({"y": {"_3": np.ones(1)}}, cv.LabelError, r"`y\._3`"),
        (cv.ComponentVector(q=[1.0]), cv.LabelError, r"`q`"),
        ({"x": np.ones(3)}, cv.LengthError, r"`x` has shape \(2,\).*\(3,\)"),
        ({"x": 1.0}, cv.LengthError, r"`x` has shape \(2,\).*\(\)"),
        ({"x": np.ones((1, 2))}, cv.LengthError, r"`x` has shape \(2,\).*\(1, 2\)"),
        ({"x": {"a": 1.0}}, cv.LengthError, r"`x` .*\(2,\).*(dict|mapping)"),
        ({"x": [1.0, [2.0]]}, cv.LengthError, r"`x` .*\(2,\).*list"),
        ({"y": np.ones(2)}, cv.LengthError, r"`y` .*_1, _2.*ndarray"),
        ({"y": (None,)}, cv.LengthError, r"`y` .*_1, _2.*tuple of 1"),
        ({"y": [None] * 3}, cv.LengthError, r"`y` .*_1, _2.*list of 3"),
        ({"e": [np.ones(1)]}, cv.LengthError, r"`e` has no parts.*list of 1"),
        (np.ones(4), cv.LengthError, r"the model.*x, y, e, n.*ndarray"),
        (np.ones(4).view(cv.ComponentVector), cv.LengthError, r"the model.*x, y, e, n"),
        ({"x": "ab"}, (cv.LengthError, cv.PromotionError), r"`x`"),
        ({"x": np.array([None, 1.0])}, cv.PromotionError, r"`x` .*object"),
        ({"x": np.ma.array([1.0, 2.0], mask=[1, 0])}, cv.PromotionError, r"`x` .*masked"),
    ],
    ids=[
        "unknown",
        "unknown number",
        "unknown group",
        "unknown inside",
        "unknown in a vector",
        "length",
        "number for an array",
        "broadcastable",
        "mapping for an array",
        "ragged list",
        "array for a group",
        "short tuple",
        "long list",
        "more than nothing",
        "flat array",
        "array without labels",
        "text",
        "objects",
        "masked",
    ],
)
def test_gradients_that_do_not_fit_are_refused_by_the_path(restructure, cotangents, error, message):
    with pytest.raises(error, match=message):
        restructure.pullback(cotangents)


def test_an_unknown_name_that_is_none_is_no_gradient(restructure):
    assert restructure.pullback({"z": None, "x": [1.0, 2.0]}).tolist() == [1.0, 2.0, 0.0, 0.0]


def test_models_500_levels_deep_have_gradients():
    cotangent, model = [7.0], np.ones(1)
    for level in range(500):
        model = {"a": model} if level % 2 else [model]
        cotangent = {"a": cotangent} if level % 2 else [cotangent]
    _, restructure = cv.destructure(model)
    assert restructure.pullback(cotangent).tolist() == [7.0]
    assert restructure.flatten(cotangent).tolist() == [7.0]


# Against differences ------------------------------------------------------------------------------


def test_the_gradient_of_a_tied_autoencoder_agrees_with_differences():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((5, 4))
    weight = rng.standard_normal((2, 4))
    layers = [Layer(weight, rng.standard_normal(2)), Layer(weight.T, rng.standard_normal(4))]
    v, restructure = cv.destructure(layers)

    def loss(flat):
        encoder, decoder = restructure(flat)
        codes = x @ encoder.weight.T + encoder.bias
        return np.sum((codes @ decoder.weight.T + decoder.bias - x) ** 2)

    encoder, decoder = restructure(v)
    codes = x @ encoder.weight.T + encoder.bias
    d_out = 2 * (codes @ decoder.weight.T + decoder.bias - x)
    d_codes = d_out @ decoder.weight
    gradient = restructure.pullback(
        [Layer(d_codes.T @ x, d_codes.sum(axis=0)), Layer(d_out.T @ codes, d_out.sum(axis=0))]
    )
    steps = 1e-6 * np.eye(len(v))
    differences = [(loss(v + step) - loss(v - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)
