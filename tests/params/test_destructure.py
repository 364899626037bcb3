"""From a model to one vector: what it holds, in which order, dtype and memory."""

import dataclasses
import math
import typing

import numpy as np
import pytest

import componentvec as cv


@dataclasses.dataclass
class Layer:
    weight: np.ndarray
    bias: np.ndarray | None = None


class Tagged(np.ndarray):
    pass


def vector(model, **options):
    return cv.destructure(model, **options)[0]


# Values -------------------------------------------------------------------------------------------


def test_parameters_follow_each_other_in_the_order_of_the_model():
    model = {"z": np.array([1.0, 2.0]), "a": [(np.array([[3.0], [4.0]]),), math.sin, np.float64(5)]}
    assert vector(model).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_names_are_those_of_the_model():
    v = vector({"layers": [Layer(np.ones((2, 3)), np.ones(2)), Layer(np.ones((1, 2)))]})
    assert list(v.axis.paths()) == [
        "layers._1.weight",
        "layers._1.bias",
        "layers._2.weight",
    ]
    assert v.layers._2.weight.shape == (1, 2)


@pytest.mark.parametrize(
    "leaf",
    [
        np.asfortranarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]).T,
        np.array([[9.0, 1, 9, 2, 9, 3], [9.0, 4, 9, 5, 9, 6]])[:, 1::2],
        np.array([[6.0, 5.0, 4.0], [3.0, 2.0, 1.0]])[::-1, ::-1],
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], ">f8"),
        np.frombuffer(b"\0" + np.arange(1.0, 7.0).tobytes(), "f8", offset=1).reshape(2, 3),
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).view(Tagged),
    ],
    ids=["Fortran", "transposed", "strided", "reversed", "big-endian", "unaligned", "subclass"],
)
def test_leaves_of_any_layout_are_read_by_index(leaf):
    v = vector({"w": leaf, "b": np.array([7.0])})
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert v.w.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert type(v.w) is np.ndarray
    assert v.dtype == np.float64
    assert v.dtype.isnative


def test_a_broadcast_array_is_written_out():
    assert vector([np.broadcast_to(np.array([1.0, 2.0]), (2, 2))]).tolist() == [1, 2, 1, 2]


def test_leaves_without_elements_have_a_name_and_no_place():
    v = vector({"none": np.zeros((0, 3)), "b": np.array([1.0])})
    assert v.tolist() == [1.0]
    assert v.none.shape == (0, 3)


@pytest.mark.parametrize(
    "model", [None, math.sin, 3, np.arange(3), [], {"a": ()}, {"n": 1}], ids=repr
)
def test_a_model_without_parameters_gives_an_empty_vector(model):
    v = vector(model)
    assert isinstance(v, cv.ComponentVector)
    assert v.shape == (0,)
    assert v.dtype == np.float64


def test_a_model_that_is_one_array_is_one_component():
    v = vector(np.array([[1.0, 2.0]]))
    assert v._1.tolist() == [[1.0, 2.0]]


def test_a_labelled_vector_in_a_model_is_an_array_like_others():
    inner = cv.ComponentVector(a=[1.0, 2.0], b=3.0)
    v, restructure = cv.destructure({"net": inner, "c": np.array([4.0])})
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert restructure(2 * v)["net"].tolist() == [2.0, 4.0, 6.0]
    assert inner.tolist() == [1.0, 2.0, 3.0]


def test_signs_of_zeros_and_payloads_of_nans_are_kept():
    v = vector([np.array([-0.0, 0.0]), np.array([np.nan, -np.inf])])
    assert np.signbit(v).tolist() == [True, False, False, True]
    assert np.isnan(v[2])


# Memory -------------------------------------------------------------------------------------------


def test_the_vector_is_a_copy_of_its_own():
    weight = np.array([1.0, 2.0])
    v = vector([weight])
    v += 1
    assert weight.tolist() == [1.0, 2.0]


def test_the_buffer_is_in_order_aligned_and_writable():
    frozen = np.arange(6.0).reshape(2, 3)
    frozen.flags.writeable = False
    v = vector([frozen.T, frozen[:, ::2].copy()])
    assert v.ndim == 1
    assert v.flags.c_contiguous
    assert v.flags.aligned
    assert v.flags.writeable
    v._1[0, 0] = 9.0
    assert frozen[0, 0] == 0.0


# Ties ---------------------------------------------------------------------------------------------


def test_an_array_at_two_places_is_stored_once():
    shared = np.array([[1.0, 2.0], [3.0, 4.0]])
    v = vector({"enc": {"w": shared}, "dec": {"w": shared}, "b": np.array([9.0])})
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0, 9.0]
    v.dec.w[0, 0] = -7.0
    assert v.enc.w[0, 0] == -7.0


@pytest.mark.parametrize(
    "relation",
    [
        lambda w: w.T,
        lambda w: w[::-1],
        lambda w: w[:, ::-1],
        lambda w: w[::-1, ::-1].T,
        lambda w: w.reshape(-1),
        lambda w: w.reshape(3, 2),
        lambda w: w.reshape(1, 3, 1, 2),
        lambda w: w.view(),
        lambda w: w[...],
    ],
    ids=["T", "flip 0", "flip 1", "flips and T", "flat", "reshape", "reshape 4-d", "view", "[...]"],
)
def test_views_of_all_elements_are_ties(relation):
    weight = np.arange(6.0).reshape(2, 3)
    v = vector({"w": weight, "c": np.array([9.0]), "u": relation(weight)})
    assert v.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 9.0]
    np.testing.assert_array_equal(v.u, relation(weight))
    v.u[...] = 10 * relation(weight)
    np.testing.assert_array_equal(v.w, 10 * weight)


def test_ties_are_found_in_strided_and_permuted_memory():
    block = np.arange(24.0).reshape(2, 3, 4)[:, :, ::2]
    v = vector([block, block.transpose(2, 0, 1)])
    assert v.size == 12
    np.testing.assert_array_equal(v._2, block.transpose(2, 0, 1))


def test_equal_values_are_no_tie():
    assert vector([np.ones(2), np.ones(2)]).size == 4


def test_arrays_between_each_other_in_memory_are_no_tie():
    table = np.arange(6.0)
    assert vector({"even": table[::2], "odd": table[1::2]}).tolist() == [0, 2, 4, 1, 3, 5]


def test_real_and_imaginary_part_of_one_array_are_apart():
    z = np.array([1 + 2j, 3 + 4j])
    assert vector([z.real, z.imag]).tolist() == [1.0, 3.0, 2.0, 4.0]


def test_numpy_scalars_are_never_tied():
    rate = np.float64(2.0)
    assert vector([rate, rate]).tolist() == [2.0, 2.0]


def test_zero_dimensional_arrays_are_tied():
    scale = np.array(2.0)
    v = vector([scale, scale, scale.reshape(1, 1)])
    assert v.tolist() == [2.0]
    assert v._3.tolist() == [[2.0]]


def test_a_container_at_two_places_is_stored_once():
    block = Layer(np.array([[1.0]]), np.array([2.0]))
    v = vector({"a": block, "b": [block]})
    assert v.tolist() == [1.0, 2.0]
    v.b._1.bias = 7.0
    assert v.a.bias.tolist() == [7.0]


def test_reject_refuses_a_container_at_two_places():
    block = Layer(np.array([[1.0]]))
    with pytest.raises(cv.SharingError, match=r"`a\.weight` and `b\.weight`"):
        vector({"a": block, "b": block}, sharing="reject")


def test_copy_stores_every_site_apart():
    weight = np.array([[1.0, 2.0]])
    v = vector([weight, weight.T, weight], sharing="copy")
    assert v.tolist() == [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]


def test_many_columns_of_one_matrix_are_independent():
    table = np.zeros((3, 2000))
    v = vector(list(table.T))
    assert v.size == table.size


# dtype --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "longdouble", "c8", "c16"])
def test_the_dtype_is_that_of_the_parameters(dtype):
    assert vector([np.ones(2, dtype), np.ones(1, dtype)]).dtype == np.dtype(dtype)


def test_statics_have_no_say_in_the_dtype():
    model = {"w": np.ones(1, "f4"), "n": np.arange(3), "rate": 0.1, "z": [1j], "s": "c16"}
    assert vector(model).dtype == np.float32


def test_byte_orders_mix():
    v = vector([np.array([1.0], ">f8"), np.array([2.0], "<f8")])
    assert v.tolist() == [1.0, 2.0]
    assert v.dtype.isnative


def test_mixed_precision_is_refused_by_the_names_of_the_leaves():
    model = {"a": np.ones(1, "f4"), "net": [np.ones(1), np.ones(1, "f4")], "z": np.ones(1, "c8")}
    with pytest.raises(cv.PromotionError) as caught:
        vector(model)
    text = str(caught.value)
    assert "float32: `a`, `net._2`; float64: `net._1`; complex64: `z`" in text
    assert "dtype=" in text
    assert "promotion='allow'" in text


def test_promotion_may_be_allowed():
    v = vector([np.array([1.5], "f4"), np.array([1e300])], promotion="allow")
    assert v.tolist() == [1.5, 1e300]


def test_a_dtype_may_be_asked_for():
    v = vector([np.array([1.5]), np.array([2.5], "f2")], dtype="f4")
    assert v.dtype == np.float32
    assert v.tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("leaf", "dtype", "message"),
    [
        (np.ones(1), "i8", r"`w` is float64, which does not go into dtype=int64"),
        (np.ones(1, "c16"), "f8", r"`w` is complex128, which does not go into dtype=float64"),
    ],
    ids=["float into int", "complex into real"],
)
def test_a_dtype_that_would_lose_more_than_precision_is_refused(leaf, dtype, message):
    with pytest.raises(cv.PromotionError, match=message):
        vector({"w": leaf}, dtype=dtype)


def test_an_unknown_promotion_policy_is_refused_by_its_value():
    with pytest.raises(ValueError, match=r"'reject' or 'allow', not 'yes'"):
        vector([np.ones(1)], promotion="yes")


def test_a_masked_array_is_refused_by_its_path():
    with pytest.raises(cv.PromotionError, match=r"`net\._1` is a masked array"):
        vector({"net": [np.ma.array([1.0, 2.0], mask=[True, False])]})


# Types --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [cv.destructure, cv.trainables_nt])
def test_the_way_back_is_typed_by_the_model(function):
    hints = typing.get_type_hints(function)
    _, restructure = typing.get_args(hints["return"])
    assert typing.get_origin(restructure) is cv.Restructure
    assert typing.get_args(restructure) == (hints["model"],)


def test_calling_the_way_back_gives_the_type_of_the_model():
    (parameter,) = cv.Restructure.__parameters__
    assert typing.get_type_hints(cv.Restructure.__call__)["return"] is parameter
