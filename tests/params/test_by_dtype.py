"""One vector per dtype: mixed precision without a cast or a copy."""

import copy
import gc
import math
import pickle
import tracemalloc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import componentvec as cv

F4, F8, C16, I8 = (np.dtype(name) for name in ("f4", "f8", "c16", "i8"))


@dataclass
class Layer:
    weight: Any
    scale: Any = None
    act: Any = math.tanh


def mixed_model():
    """Two layers and an embedding; the second layer is the first one transposed."""
    weight = np.arange(6, dtype="f4").reshape(2, 3)
    return {
        "layers": [Layer(weight, np.array([6.0])), Layer(weight.T, np.array([7.0, 8.0]))],
        "z": np.array([9j]),
        "index": np.arange(3),
        "empty": {},
        "rate": np.float32(10.0),
        "again": weight,
    }


@pytest.fixture
def model():
    return mixed_model()


@pytest.fixture
def split(model):
    """The vectors of the model, and the way back."""
    return cv.destructure_by_dtype(model)


def everything(path, leaf):
    """Predicate: all numbers are parameters."""
    return True


# The vectors --------------------------------------------------------------------------------------


def test_each_dtype_has_one_vector_in_the_order_of_the_model(split):
    vectors, _ = split
    assert list(vectors) == [F4, F8, C16]
    assert all(type(v) is cv.ComponentVector for v in vectors.values())
    assert all(v.dtype == dtype for dtype, v in vectors.items())
    assert vectors[F4].tolist() == [0, 1, 2, 3, 4, 5, 10]
    assert vectors[F8].tolist() == [6, 7, 8]
    assert vectors[C16].tolist() == [9j]


def test_each_vector_has_only_what_has_its_dtype(split):
    vectors, _ = split
    assert list(vectors[F4].axis.paths()) == [
        "layers._1.weight",
        "layers._2.weight",
        "rate",
        "again",
    ]
    assert list(vectors[F8].axis.paths()) == ["layers._1.scale", "layers._2.scale"]
    assert list(vectors[C16].axis) == ["z"]


def test_ties_stay_within_a_vector(split):
    vectors, restructure = split
    vectors[F4].again[0, 1] = 50.0
    assert vectors[F4].layers._2.weight[1, 0] == 50.0
    made = restructure(vectors)
    assert made["again"] is made["layers"][0].weight


def test_vectors_are_copies_of_the_model(model, split):
    vectors, _ = split
    vectors[F8][:] = 0
    assert model["layers"][0].scale.tolist() == [6.0]


def test_a_model_of_one_dtype_has_one_vector_like_the_usual_one():
    model = {"a": np.ones(2), "b": [np.ones((2, 2))]}
    vectors, restructure = cv.destructure_by_dtype(model)
    v, _ = cv.destructure(model)
    assert list(vectors) == [F8]
    assert vectors[F8].axis is v.axis
    assert vectors[F8].tolist() == v.tolist()
    assert restructure == cv.destructure_by_dtype(model)[1]


@pytest.mark.parametrize("model", [{}, [], {"n": 3, "s": "x"}, math.sin, None], ids=repr)
def test_a_model_without_parameters_has_no_vectors(model):
    vectors, restructure = cv.destructure_by_dtype(model)
    assert vectors == {}
    assert restructure.axes == {}
    assert len(restructure) == 0
    assert restructure({}) == model
    assert restructure.flatten(model) == {}
    assert restructure.pullback({}) == {}


def test_byte_orders_are_one_dtype():
    vectors, restructure = cv.destructure_by_dtype([np.ones(2, ">f4"), np.ones(1, "<f4")])
    assert list(vectors) == [F4]
    assert all(key.isnative for key in vectors)
    assert [part.dtype.isnative for part in restructure(vectors)] == [True, True]


def test_python_numbers_have_the_dtypes_that_numpy_gives_them():
    model = {"f": 0.5, "z": 1j, "n": 2, "flag": True, "w": np.ones(2), "i": np.arange(1)}
    vectors, restructure = cv.destructure_by_dtype(model, trainable=everything)
    assert {str(dtype): list(v.axis) for dtype, v in vectors.items()} == {
        "float64": ["f", "w"],
        "complex128": ["z"],
        "int64": ["n", "i"],
        "bool": ["flag"],
    }
    made = restructure(vectors)
    assert [type(made[key]) for key in ("f", "z", "n", "flag")] == [float, complex, int, bool]
    assert (made["f"], made["z"], made["n"], made["flag"]) == (0.5, 1j, 2, True)


def test_integers_beyond_what_floats_hold_are_exact():
    model = {"n": 2**62 + 1, "i": np.array([2**62 + 1]), "w": np.ones(1)}
    vectors, restructure = cv.destructure_by_dtype(model, trainable=everything)
    made = restructure(vectors)
    assert made["n"] == made["i"][0] == 2**62 + 1


def test_the_few_bits_of_other_packages_have_vectors_too():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    names = ["bfloat16", "float8_e4m3fn", "float8_e5m2"]
    model = {name: np.ones(2, getattr(ml_dtypes, name)) for name in names} | {"w": np.ones(1, "f4")}
    vectors, restructure = cv.destructure_by_dtype(model)
    assert [dtype.name for dtype in vectors] == [*names, "float32"]
    made = restructure(vectors, copy=False)
    assert all(np.shares_memory(made[name], vectors[made[name].dtype]) for name in names)
    with pytest.raises(cv.PromotionError):
        cv.destructure(model)


@pytest.mark.parametrize("sharing", ["reject", "copy"])
def test_the_sharing_policy_is_that_of_the_model(sharing):
    shared = np.ones(2, "f4")
    model = {"a": shared, "b": shared, "c": np.ones(1)}
    if sharing == "reject":
        with pytest.raises(cv.SharingError, match="`a` and `b`"):
            cv.destructure_by_dtype(model, sharing=sharing)
        return
    vectors, restructure = cv.destructure_by_dtype(model, sharing=sharing)
    assert vectors[F4].size == 4
    vectors[F4].a[:] = 5.0
    made = restructure(vectors)
    assert (made["a"].tolist(), made["b"].tolist()) == ([5.0, 5.0], [1.0, 1.0])


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="not 'maybe'"):
        cv.destructure_by_dtype([np.ones(1)], sharing="maybe")


# Back to a model ----------------------------------------------------------------------------------


def arrays(model):
    return [
        *(part for layer in model["layers"] for part in (layer.weight, layer.scale)),
        model["z"],
        model["again"],
    ]


@pytest.mark.parametrize("options", [{}, {"copy": False}, {"dtype": "follow"}], ids=str)
def test_the_model_is_views_in_its_own_dtypes(model, split, options):
    vectors, restructure = split
    made = restructure(vectors, **options)
    for old, new in zip(arrays(model), arrays(made), strict=True):
        assert new.dtype == old.dtype
        np.testing.assert_array_equal(new, old)
        assert np.shares_memory(new, vectors[new.dtype])
    assert type(made["rate"]) is np.float32
    assert made["index"] is model["index"]
    assert made["empty"] == {}
    assert made["layers"][0].act is math.tanh
    vectors[F8][:] = -1.0
    assert made["layers"][1].scale.tolist() == [-1.0, -1.0]


def test_no_array_data_is_allocated():
    model = [np.ones((500, 500), "f4"), np.ones((500, 500))]
    vectors, restructure = cv.destructure_by_dtype(model)
    restructure(vectors)
    gc.collect()
    tracemalloc.start()
    restructure(vectors)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_a_copy_shares_no_memory_and_keeps_ties(split):
    vectors, restructure = split
    made = restructure(vectors, copy=True)
    assert not any(np.shares_memory(part, v) for part in arrays(made) for v in vectors.values())
    assert made["again"] is made["layers"][0].weight
    assert np.shares_memory(made["again"], made["layers"][1].weight)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(lambda v: v, id="labelled"),
        pytest.param(np.asarray, id="flat"),
        pytest.param(lambda v: v.tolist(), id="lists"),
        pytest.param(lambda v: np.asarray(v).repeat(2)[::2], id="strided"),
        pytest.param(lambda v: np.asarray(v, np.result_type(v, np.float64)), id="wider"),
    ],
)
def test_vectors_are_taken_as_by_the_usual_restructure(model, split, given):
    vectors, restructure = split
    made = restructure({dtype: given(v) for dtype, v in vectors.items()})
    for old, new in zip(arrays(model), arrays(made), strict=True):
        assert new.dtype == old.dtype
        np.testing.assert_array_equal(new, old)


def test_vectors_of_another_dtype_are_cast_or_followed(split):
    vectors, restructure = split
    wide = {dtype: np.asarray(v).astype(complex) for dtype, v in vectors.items()}
    with pytest.raises(cv.PromotionError, match=r"`layers\._1\.weight` is float32 and cannot take"):
        restructure(wide)
    made = restructure(wide, dtype="follow")
    assert {part.dtype for part in arrays(made)} == {C16}
    wide = {**vectors, F4: np.asarray(vectors[F4], "f8")}
    assert restructure(wide)["again"].dtype == F4
    with pytest.raises(cv.PromotionError, match="copy=False"):
        restructure(wide, copy=False)


def test_keys_may_be_anything_that_names_a_dtype():
    _, restructure = cv.destructure_by_dtype({"a": np.ones(1, "f4"), "b": np.ones(2)})
    made = restructure({"float32": [3.0], float: [4.0, 5.0]})
    assert (made["a"].tolist(), made["b"].tolist()) == ([3.0], [4.0, 5.0])


@pytest.mark.parametrize(
    ("keys", "got"),
    [
        (["f4"], "float32"),
        ([], "none"),
        (["f4", "f8", "f2"], "float32, float64, float16"),
        (["f4", "i8"], "float32, int64"),
    ],
    ids=["missing", "nothing", "too many", "another"],
)
def test_vectors_that_are_missing_or_unknown_are_refused(keys, got):
    _, restructure = cv.destructure_by_dtype({"a": np.ones(2, "f4"), "b": np.ones(2)})
    for call in (restructure, restructure.batch):
        with pytest.raises(cv.LabelError) as caught:
            call({np.dtype(key): np.ones(2, key) for key in keys})
        assert str(caught.value) == (
            f"the model has vectors of float32, float64, but was given {got}"
        )


def test_a_key_that_names_no_dtype_is_refused():
    _, restructure = cv.destructure_by_dtype({"a": np.ones(2)})
    with pytest.raises(cv.LabelError, match="weights"):
        restructure({"weights": np.ones(2)})


@pytest.mark.parametrize("wrong", [np.ones(2), [1.0, 2.0], None], ids=repr)
def test_what_is_no_mapping_is_refused_by_an_error_of_ours(wrong):
    _, restructure = cv.destructure_by_dtype({"a": np.ones(2)})
    with pytest.raises(cv.ComponentError):
        restructure(wrong)


def test_a_vector_of_another_length_or_axis_is_refused(split):
    vectors, restructure = split
    with pytest.raises(cv.LengthError, match=r"takes arrays of shape \(3,\), not \(2,\)"):
        restructure({**vectors, F8: np.ones(2)})
    with pytest.raises(cv.AxisMismatchError, match="`z`"):
        restructure({**vectors, C16: cv.ComponentVector(q=[1j])})
    with pytest.raises(cv.PromotionError, match="expected numbers"):
        restructure({**vectors, C16: np.array(["x"])})


def test_a_model_that_is_one_array():
    vectors, restructure = cv.destructure_by_dtype(np.ones((2, 2), "f4"))
    assert list(vectors[F4].axis) == ["_1"]
    assert restructure(vectors).shape == (2, 2)


# batch --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [(3,), (2, 3), (0,)], ids=str)
def test_a_batch_gives_every_array_the_leading_dimensions(model, split, lead):
    vectors, restructure = split
    rows = {dtype: np.ones((*lead, v.size), dtype) for dtype, v in vectors.items()}
    made = restructure.batch(rows)
    for old, new in zip(arrays(model), arrays(made), strict=True):
        assert new.shape == lead + old.shape
        assert new.dtype == old.dtype
        assert np.shares_memory(new, rows[new.dtype]) == bool(new.size)
    assert made["again"] is made["layers"][0].weight
    assert (made["rate"].shape, made["rate"].dtype) == (lead, F4)


def test_a_batch_has_the_values_of_each_row(split):
    vectors, restructure = split
    rows = {dtype: np.stack([np.asarray(v), 2 * v]) for dtype, v in vectors.items()}
    made = restructure.batch(rows)
    for row in range(2):
        one = restructure({dtype: part[row] for dtype, part in rows.items()})
        for many, single in zip(arrays(made), arrays(one), strict=True):
            np.testing.assert_array_equal(many[row], single)


def test_rows_of_other_shapes_are_refused(split):
    vectors, restructure = split
    rows = {dtype: np.ones((2, v.size), dtype) for dtype, v in vectors.items()}
    with pytest.raises(cv.LengthError, match=r"batches of shape \(…, 3\), not \(2, 4\)"):
        restructure.batch({**rows, F8: np.ones((2, 4))})
    with pytest.raises(cv.ComponentError) as caught:
        restructure.batch({**rows, F8: np.ones((5, 3))})
    assert str(caught.value) == "the vectors have different leading dimensions: (2,), (5,)"


# flatten and pullback -----------------------------------------------------------------------------


def test_flatten_gives_the_vectors_of_a_model(model, split):
    vectors, restructure = split
    model["z"] = np.array([3j])
    again = restructure.flatten(model)
    assert list(again) == list(vectors)
    for dtype, v in vectors.items():
        assert again[dtype].dtype == dtype
        assert again[dtype].axis is v.axis
    assert again[F4].tolist() == vectors[F4].tolist()
    assert again[C16].tolist() == [3j]


def test_flatten_takes_a_tree_and_what_restructure_made(model, split):
    vectors, restructure = split
    ps, _ = cv.trainables_nt(model)
    for tree in (ps, restructure(vectors)):
        again = restructure.flatten(tree)
        assert {d: v.tolist() for d, v in again.items()} == {
            d: v.tolist() for d, v in vectors.items()
        }


def test_flatten_refuses_tied_sites_that_differ(model, split):
    _, restructure = split
    model["again"] = model["again"] + 1
    with pytest.raises(cv.SharingError, match=r"`layers\._1\.weight` and `again` are tied"):
        restructure.flatten(model)


def test_flatten_refuses_what_a_vector_does_not_hold_exactly(model, split):
    _, restructure = split
    model["layers"][0].scale = np.array([1j])
    with pytest.raises(
        cv.PromotionError, match=r"`layers\._1\.scale` is complex128, which float64"
    ):
        restructure.flatten(model)
    model["layers"][0].scale = np.ones(2)
    with pytest.raises(cv.LengthError, match=r"`layers\._1\.scale` has shape \(1,\)"):
        restructure.flatten(model)


def test_pullback_gives_dense_gradients_and_sums_over_ties(split):
    vectors, restructure = split
    ones = np.ones((2, 3), "f4")
    gradient = restructure.pullback(
        {"layers": [Layer(ones), {"weight": 10 * ones.T, "scale": [1.0, 2.0]}], "again": 100 * ones}
    )
    assert list(gradient) == list(vectors)
    assert gradient[F4].tolist() == [111.0] * 6 + [0.0]
    assert gradient[F8].tolist() == [0.0, 1.0, 2.0]
    assert gradient[C16].tolist() == [0]
    assert [g.dtype for g in gradient.values()] == [F4, F8, C16]
    assert gradient[F4].axis is vectors[F4].axis


def test_pullback_is_the_transpose_of_restructuring(split):
    vectors, restructure = split
    rng = np.random.default_rng(0)
    step = {d: rng.standard_normal(v.size).astype(d) for d, v in vectors.items()}
    moved = restructure(step)
    gradient = restructure.pullback(moved)
    inner = sum(np.vdot(part, part) for part in [*arrays(moved), moved["rate"]])
    assert np.isclose(sum(np.vdot(gradient[d], step[d]) for d in step), inner)


def test_a_complex_gradient_of_real_parameters_is_refused(split):
    _, restructure = split
    with pytest.raises(cv.PromotionError, match="the gradient of `rate` is complex128"):
        restructure.pullback({"rate": 1j * np.ones(())})


# What a restructure is ----------------------------------------------------------------------------


def test_a_restructure_knows_its_axes_and_its_length(split):
    vectors, restructure = split
    assert restructure.axes == {dtype: v.axis for dtype, v in vectors.items()}
    assert len(restructure) == 11
    assert bool(restructure)
    assert repr(restructure) == "<RestructureByDtype of {float32: 7, float64: 3, complex128: 1}>"


def test_a_restructure_compares_and_hashes(split):
    _, restructure = split
    other = mixed_model()
    assert cv.destructure_by_dtype(other)[1] == restructure
    assert hash(cv.destructure_by_dtype(other)[1]) == hash(restructure)
    other["z"] = np.array([9.0])
    assert cv.destructure_by_dtype(other)[1] != restructure


@pytest.mark.parametrize(
    "clone",
    [copy.deepcopy]
    + [
        lambda x, p=protocol: pickle.loads(pickle.dumps(x, protocol=p))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ],
    ids=["deepcopy"] + [f"pickle {p}" for p in range(pickle.HIGHEST_PROTOCOL + 1)],
)
def test_vectors_and_restructure_travel(split, clone):
    vectors, restructure = split
    sent, again = clone((vectors, restructure))
    assert again == restructure
    assert again.axes == restructure.axes
    made = again(sent)
    for old, new in zip(arrays(restructure(vectors)), arrays(made), strict=True):
        np.testing.assert_array_equal(new, old)
    assert made["again"] is made["layers"][0].weight


def test_python_numbers_go_both_ways():
    model = {"lr": 0.1, "n": 3, "z": 1j, "flag": True, "w": np.ones(2, "f4")}
    vectors, restructure = cv.destructure_by_dtype(model, trainable=everything)
    assert [dtype.name for dtype in vectors] == [
        "float64",
        "int64",
        "complex128",
        "bool",
        "float32",
    ]
    again = restructure(vectors)
    assert {name: type(part) for name, part in again.items()} == {
        "lr": float,
        "n": int,
        "z": complex,
        "flag": bool,
        "w": np.ndarray,
    }
    flat = restructure.flatten(again)
    assert all(flat[dtype].tolist() == v.tolist() for dtype, v in vectors.items())
    assert restructure.pullback({"n": 1, "lr": 2.0})[np.dtype(int)].n == 1


def test_a_python_integer_that_int64_cannot_hold_is_refused():
    with pytest.raises(
        cv.PromotionError, match=r"`n` is 1180591620717411303424, which int64 cannot"
    ):
        cv.destructure_by_dtype({"n": 2**70}, trainable=everything)


def test_one_dtype_given_twice_is_refused():
    vectors, restructure = cv.destructure_by_dtype([np.ones(1)])
    with pytest.raises(cv.LabelError, match="given float64, float64"):
        restructure({**vectors, "float64": np.zeros(1)})
    with pytest.raises(cv.LabelError, match="given None"):
        restructure({None: np.zeros(1)})
