"""The main job end to end: model to vector, through SciPy, and back to a model."""

import dataclasses
import gc
import math
import tracemalloc
import weakref

import numpy as np
import pytest
from scipy.optimize import minimize

import componentvec as cv

# Gradients and loading ----------------------------------------------------------------------------


def test_the_pullback_of_one_element_is_dense_and_of_full_length():
    _, restructure = cv.destructure((np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])))
    assert restructure.pullback(([0.0, 1.0, 0.0], None)).tolist() == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("nothing", [None, (None, None), {}], ids=repr)
def test_the_pullback_of_nothing_is_zeros_of_full_length(nothing):
    _, restructure = cv.destructure((np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])))
    assert restructure.pullback(nothing).tolist() == [0, 0, 0, 0, 0, 0]


def test_loading_a_vector_makes_a_new_model_and_leaves_the_old_one():
    weights = np.array([0.5, 0.25])
    model = {"x": np.array([0.1, 0.2]), "y": (math.sin, weights)}
    _, load = cv.trainables_nt(model)
    loaded = load(np.array([1.0, 2.0, 3.0, 4.0]))
    assert loaded["x"].tolist() == [1.0, 2.0]
    assert loaded["y"][0] is math.sin
    assert loaded["y"][1].tolist() == [3.0, 4.0]
    assert model["x"].tolist() == [0.1, 0.2]
    assert model["y"] == (math.sin, weights)
    assert weights.tolist() == [0.5, 0.25]


def test_a_loader_made_of_a_model_takes_vectors_of_a_list_too():
    _, load = cv.trainables_nt({"x": np.zeros(2), "y": (math.sin, np.zeros(2))})
    assert load([1, 2, 3, 4])["y"][1].tolist() == [3.0, 4.0]


# Shared parameters --------------------------------------------------------------------------------


def test_a_shared_array_is_one_object_one_slot_and_one_memory():
    shared = np.array([1, 2], np.float32)
    model = (shared, shared, np.array([3, 4], np.float32))
    ps, restructure = cv.trainables_nt(model)
    assert ps._1 is ps._2 is shared
    v = cv.ComponentVector(ps)
    assert v.dtype == np.float32
    assert v.tolist() == [1, 2, 3, 4]
    rebuilt = restructure(v)
    v[1] = 999
    assert rebuilt[0].tolist() == rebuilt[1].tolist() == [1, 999]
    assert rebuilt[0] is rebuilt[1]
    assert rebuilt[0].dtype == np.float32
    assert shared.tolist() == [1, 2]


def test_a_layer_with_the_weight_of_another_reads_and_writes_the_shared_slot():
    weight = np.array([[1.0, 2.0], [3.0, 4.0]])
    model = {
        "layers": [
            {"weight": weight, "bias": np.array([5.0])},
            {"weight": weight, "bias": np.array([6.0])},
        ]
    }
    v, _ = cv.destructure(model)
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert v.layers._2.weight.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    v.layers._2.weight[0, 1] = 20.0
    assert v.tolist() == [1.0, 20.0, 3.0, 4.0, 5.0, 6.0]
    v.layers._2.weight = 7.0
    assert v.layers._1.weight.tolist() == [[7.0, 7.0], [7.0, 7.0]]
    v[0] = -1.0
    assert v.layers._2.weight[0, 0] == -1.0


# Memory -------------------------------------------------------------------------------------------


def big_model():
    return {f"layer {k}": {"w": np.ones((500, 100)), "b": np.ones(100)} for k in range(40)}


def test_every_leaf_of_a_rebuilt_model_is_memory_of_the_vector():
    v, restructure = cv.destructure(big_model())
    for layer in restructure(v).values():
        assert np.shares_memory(layer["w"], v)
        assert np.shares_memory(layer["b"], v)


def test_rebuilding_16_megabytes_allocates_next_to_nothing():
    v, restructure = cv.destructure(big_model())
    assert v.nbytes > 16_000_000
    gc.collect()
    tracemalloc.start()
    model = restructure(v)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(model) == 40
    assert peak < 200_000


def test_a_vector_is_freed_with_its_last_name():
    v, restructure = cv.destructure(big_model())
    rebuilt, _ = restructure(v), v["layer 0"].w
    dead = weakref.ref(v)
    gc.disable()
    try:
        del v
        assert dead() is None
    finally:
        gc.enable()
    assert rebuilt["layer 0"]["w"][0, 0] == 1.0


# No wrong label -----------------------------------------------------------------------------------

MOVERS = {
    "v[::-1]": lambda v: v[::-1],
    "np.sort(v)": np.sort,
    "np.roll(v, 1)": lambda v: np.roll(v, 1),
    "v[1:]": lambda v: v[1:],
    "M @ v": lambda v: np.eye(4) @ v,
    "np.cumsum(v)": np.cumsum,
    "v.cumsum()": lambda v: v.cumsum(),
    "v.reshape(2, 2)": lambda v: v.reshape(2, 2),
    "v.reshape(4)": lambda v: v.reshape(4),
    "np.diff(v)": np.diff,
    "v[[3, 2, 1, 0]]": lambda v: v[[3, 2, 1, 0]],
    "v[v > 0]": lambda v: v[v > 0],
}
KEEPERS = {
    "v + 1": lambda v: v + 1,
    "np.exp(v)": np.exp,
    "v > 0": lambda v: v > 0,
    "v.copy()": lambda v: v.copy(),
    "np.zeros_like(v)": np.zeros_like,
    "np.where(v > 0, v, 0)": lambda v: np.where(v > 0, v, 0),
}


@pytest.fixture
def values():
    return np.array([3.0, -1.0, 2.0, 0.5])


@pytest.mark.parametrize("name", MOVERS)
def test_what_moves_elements_gives_a_plain_array(name, values):
    v = cv.ComponentVector(a=values[:1], b={"c": values[1:]})
    result = MOVERS[name](v)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, MOVERS[name](values))


@pytest.mark.parametrize("name", KEEPERS)
def test_what_works_element_by_element_keeps_the_labels(name, values):
    v = cv.ComponentVector(a=values[:1], b={"c": values[1:]})
    result = KEEPERS[name](v)
    assert type(result) is cv.ComponentVector
    assert result.axis is v.axis
    np.testing.assert_array_equal(result.b.c, KEEPERS[name](values)[1:])


# Through SciPy ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Layer:
    weight: np.ndarray
    bias: np.ndarray


def test_a_tied_linear_autoencoder_is_trained_to_its_optimum():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 6)) + 0.1 * rng.standard_normal(
        (60, 6)
    )
    weight = 0.1 * rng.standard_normal((3, 6))
    model = [Layer(weight, np.zeros(3)), Layer(weight.T, np.zeros(6))]
    v, restructure = cv.destructure(model)
    assert v.size == 18 + 3 + 6

    def objective(flat):
        encoder, decoder = restructure(flat)
        codes = x @ encoder.weight.T + encoder.bias
        rest = codes @ decoder.weight.T + decoder.bias - x
        d_codes = 2 * rest @ decoder.weight
        gradients = [
            Layer(d_codes.T @ x, d_codes.sum(axis=0)),
            Layer(2 * rest.T @ codes, 2 * rest.sum(axis=0)),
        ]
        return np.sum(rest**2), restructure.pullback(gradients)

    result = minimize(objective, v, method="L-BFGS-B", jac=True, options={"maxiter": 2000})
    optimum = np.sum(np.linalg.svd(x - x.mean(axis=0), compute_uv=False)[3:] ** 2)
    assert optimum <= result.fun < 1.02 * optimum
    v[:] = result.x
    encoder, decoder = restructure(v)
    assert type(encoder) is Layer
    assert np.shares_memory(encoder.weight, decoder.weight)
    np.testing.assert_array_equal(encoder.weight, decoder.weight.T)
    assert model[0].weight is weight
    assert np.abs(weight).max() < 0.5  # the model from the start has not moved
