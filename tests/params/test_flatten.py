"""`Restructure.flatten`: the values of a tree of the model's structure, as a vector."""

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


def tied():
    weight = np.arange(6.0).reshape(2, 3)
    return {"w": weight, "t": weight.T, "r": weight[::-1], "s": weight, "c": np.array([9.0])}


# What it reads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tree",
    [
        model(),
        cv.trainables_nt(model())[0],
        cv.destructure(model())[0],
        {"x": [1, 2], "y": [None, [[3], [4]]], "e": (), "n": None},
        {"n": np.ones(7), "e": {}, "y": {"_2": np.array([[3.0], [4.0]])}, "x": (1.0, 2.0)},
        {"x": np.array([1, 2], "f4"), "y": (0, np.array([[3.0], [4.0]], ">f8")), "e": [], "n": "s"},
        {"x": np.array([2.0, 1.0])[::-1], "y": (0, np.ones((1, 2)).T * [[3], [4]]), "e": []},
    ],
    ids=["model", "tree", "vector", "lists", "other order", "other dtypes", "other layouts"],
)
def test_any_tree_of_the_names_is_read(restructure, tree):
    v = restructure.flatten(tree)
    assert type(v) is cv.ComponentVector
    assert v.axis is restructure.axis
    assert v.dtype == np.float64
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_dataclasses_and_mappings_of_their_fields_are_read():
    _, restructure = cv.destructure([Layer(np.array([1.0]), np.array([2.0]))])
    assert restructure.flatten([{"weight": [5.0], "bias": [6.0]}]).tolist() == [5.0, 6.0]
    assert restructure.flatten((Layer([5.0], [6.0]),)).tolist() == [5.0, 6.0]


def test_the_result_is_memory_of_its_own(restructure):
    given = model()
    v = restructure.flatten(given)
    v[:] = 0
    assert given["x"].tolist() == [1.0, 2.0]


def test_scalars_are_read():
    _, restructure = cv.destructure({"a": np.float64(1.0), "b": np.array(2.0)})
    assert restructure.flatten({"a": 5.0, "b": np.float64(6.0)}).tolist() == [5.0, 6.0]


@pytest.mark.parametrize("leaf", [np.array([[1.0, 2.0]]), np.array(3.0), np.float64(4.0)], ids=repr)
def test_a_model_that_is_one_array_is_read(leaf):
    v, restructure = cv.destructure(leaf)
    assert restructure.flatten(2 * leaf).tolist() == (2 * v).tolist()
    assert restructure.flatten({"_1": 2 * leaf}).tolist() == (2 * v).tolist()
    assert restructure.flatten(2 * v).tolist() == (2 * v).tolist()
    assert restructure.flatten(cv.trainables_nt(2 * leaf)[0]).tolist() == (2 * v).tolist()


@pytest.mark.parametrize("static", [None, math.sin, 3, np.arange(2), [], {"n": 1}], ids=repr)
def test_a_model_without_parameters_gives_an_empty_vector(static):
    _, restructure = cv.destructure(static)
    assert restructure.flatten(static).shape == (0,)


def test_statics_are_not_looked_at(restructure):
    given = {**model(), "y": (np.ones(9), np.array([[3.0], [4.0]])), "n": {"any": np.ones(3)}}
    assert restructure.flatten(given).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_flattening_undoes_restructuring(restructure):
    v = np.array([0.1, -0.0, np.inf, 1e-300])
    again = restructure.flatten(restructure(v))
    assert again.tobytes() == v.tobytes()


def test_flattening_undoes_a_dtype_that_was_asked_for():
    given = {"a": np.array([1.5, 0.1]), "b": np.array([2.5])}
    v, restructure = cv.destructure(given, dtype="f4")
    again = restructure.flatten(restructure(v))
    assert again.dtype == np.float32
    assert again.tolist() == v.tolist()
    assert restructure.flatten(given).tolist() == v.tolist()


def test_flattening_undoes_mixed_precision():
    v, restructure = cv.destructure(
        [np.array([0.1], "f4"), np.array([0.1]), np.array([0.5], "f2")], promotion="allow"
    )
    assert restructure.flatten(restructure(v)).tolist() == v.tolist()


# Ties ---------------------------------------------------------------------------------------------


def test_tied_sites_are_read_once():
    v, restructure = cv.destructure(tied())
    assert restructure.flatten(tied()).tolist() == v.tolist() == [0, 1, 2, 3, 4, 5, 9]
    assert restructure.flatten(restructure(10 * v)).tolist() == (10 * v).tolist()


def test_tied_sites_in_memory_apart_may_agree():
    v, restructure = cv.destructure(tied())
    apart = {name: np.array(part) for name, part in tied().items()}
    assert restructure.flatten(apart).tolist() == v.tolist()


def test_not_a_number_agrees_with_itself():
    _, restructure = cv.destructure(tied())
    apart = {name: np.array(part) * np.nan for name, part in tied().items()}
    assert np.isnan(restructure.flatten(apart)).all()


@pytest.mark.parametrize("name", ["t", "r", "s"], ids=["transposed", "reversed", "same"])
def test_tied_sites_that_differ_are_refused_by_their_names(name):
    _, restructure = cv.destructure(tied())
    given = tied()
    given[name] = np.array(given[name])
    given[name].flat[1] += 1e-12
    with pytest.raises(cv.SharingError, match=rf"`w` and `{name}` are tied, but hold different"):
        restructure.flatten(given)


def test_same_memory_seen_another_way_is_not_taken_for_equal():
    weight = np.arange(4.0).reshape(2, 2)
    _, restructure = cv.destructure([weight, weight.T])
    with pytest.raises(cv.SharingError):
        restructure.flatten([weight, weight])


def test_same_memory_of_another_dtype_is_not_taken_for_equal():
    weight = np.arange(1.0, 4.0)
    _, restructure = cv.destructure([weight, weight])
    with pytest.raises(cv.SharingError):
        restructure.flatten([weight, weight.view("i8")])


# What it refuses ----------------------------------------------------------------------------------


def replaced(**parts):
    return {**model(), **parts}


def without(name):
    return {key: part for key, part in model().items() if key != name}


@pytest.mark.parametrize(
    ("tree", "error", "message"),
    [
        (without("y"), cv.LabelError, r"`y` is missing"),
        (replaced(y={}), cv.LabelError, r"`y\._2` is missing"),
        (replaced(z=np.ones(1)), cv.LabelError, r"no parameter `z`.*'x', 'y'"),
        (replaced(y={"_2": np.ones((2, 1)), "w": np.ones(1)}), cv.LabelError, r"`y\.w`"),
        (replaced(x=np.ones(3)), cv.LengthError, r"`x` has shape \(2,\).*\(3,\)"),
        (replaced(x=1.0), cv.LengthError, r"`x` has shape \(2,\).*\(\)"),
        (replaced(y=(0, np.ones(2))), cv.LengthError, r"`y\._2` has shape \(2, 1\).*\(2,\)"),
        (replaced(x=None), cv.LengthError, r"`x` .*\(2,\).*None"),
        (replaced(x={"a": 1.0}), cv.LengthError, r"`x` .*\(2,\).*(dict|mapping)"),
        (replaced(x=[1.0, [2.0]]), cv.LengthError, r"`x` .*\(2,\).*list"),
        (replaced(y=np.ones(2)), cv.LengthError, r"`y` .*_1, _2.*ndarray"),
        (replaced(y=(0,)), cv.LengthError, r"`y` .*_1, _2.*tuple of 1"),
        (replaced(y=None), cv.LengthError, r"`y` .*_1, _2.*None"),
        (replaced(e=None), cv.LengthError, r"`e` has no parts.*None"),
        (replaced(e=[np.ones(1)]), cv.LengthError, r"`e` has no parts.*list of 1"),
        (np.ones(4), cv.LengthError, r"the model.*x, y, e, n.*ndarray"),
        (replaced(x=np.array([1j, 2])), cv.PromotionError, r"`x` is complex128.*float64"),
        (replaced(x=np.ones(2, "longdouble")), cv.PromotionError, r"`x` is (float|longdouble)"),
        (replaced(x=np.array(["a", "b"])), cv.PromotionError, r"`x` .*<U1"),
        (replaced(x=np.array([None, 1.0])), cv.PromotionError, r"`x` .*object"),
        (replaced(x=np.ma.array([1.0, 2.0], mask=[1, 0])), cv.PromotionError, r"`x` .*masked"),
    ],
    ids=[
        "missing",
        "missing inside",
        "unknown",
        "unknown inside",
        "length",
        "number for an array",
        "broadcastable",
        "None",
        "mapping for an array",
        "ragged list",
        "array for a group",
        "short tuple",
        "None for a group",
        "None for an empty group",
        "more than nothing",
        "flat array",
        "complex into real",
        "wider",
        "text",
        "objects",
        "masked",
    ],
)
def test_a_tree_that_does_not_fit_is_refused_by_the_path(restructure, tree, error, message):
    out = np.full(4, 7.0)
    with pytest.raises(error, match=message):
        restructure.flatten(tree, out=out)
    assert out.tolist() == [7.0] * 4


def test_a_parameter_close_to_a_name_is_offered():
    _, restructure = cv.destructure({"weight": np.ones(1)})
    with pytest.raises(cv.LabelError, match=r"did you mean 'weight'"):
        restructure.flatten({"weight": np.ones(1), "wieght": np.ones(1)})


# out= ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda axis: cv.zeros(axis),
        lambda axis: np.zeros(4),
        lambda axis: np.zeros(8)[::2],
        lambda axis: np.zeros(4)[::-1],
        lambda axis: np.zeros(4, ">f8"),
        lambda axis: np.zeros(4, complex),
        lambda axis: np.zeros(4).view(cv.ComponentVector),
    ],
    ids=["labelled", "flat", "strided", "reversed", "big-endian", "complex", "without labels"],
)
def test_values_are_written_into_out(restructure, make):
    out = make(restructure.axis)
    assert restructure.flatten(model(), out=out) is out
    assert out.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("shape", [(3,), (5,), (4, 1), ()], ids=str)
def test_out_of_another_shape_is_refused(restructure, shape):
    with pytest.raises(cv.LengthError) as caught:
        restructure.flatten(model(), out=np.zeros(shape))
    assert "(4,)" in str(caught.value)
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("dtype", ["f4", "i8", "?"])
def test_out_that_does_not_hold_the_values_is_refused(restructure, dtype):
    out = np.zeros(4, dtype)
    with pytest.raises(cv.PromotionError, match=r"`x` is float64"):
        restructure.flatten(model(), out=out)
    assert not out.any()


def test_out_of_another_axis_is_refused_by_the_difference(restructure):
    with pytest.raises(cv.AxisMismatchError, match=r"`x` .*`q`"):
        restructure.flatten(model(), out=cv.ComponentVector(q=np.zeros(4)))


def test_a_list_is_no_out(restructure):
    with pytest.raises(cv.LengthError, match=r"array of 4 .*, not a list"):
        restructure.flatten(model(), out=[0.0] * 4)


def test_read_only_out_is_refused(restructure):
    out = np.zeros(4)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        restructure.flatten(model(), out=out)


def test_out_may_be_what_the_tree_looks_at():
    v, restructure = cv.destructure(
        {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([4.0, 5.0, 6.0])}
    )
    now = restructure(v)
    restructure.flatten({"a": now["b"], "b": now["a"]}, out=v)
    assert v.tolist() == [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]


def test_out_may_be_what_a_transposed_tree_looks_at():
    weight = np.arange(4.0).reshape(2, 2)
    v, restructure = cv.destructure([weight, weight.T])
    encoder, decoder = restructure(v)
    restructure.flatten([decoder, encoder], out=v)
    assert v.tolist() == [0.0, 2.0, 1.0, 3.0]


def test_out_may_overlap_the_tree_in_part():
    _, restructure = cv.destructure([np.zeros(3), np.zeros(2)])
    buffer = np.arange(6.0)
    restructure.flatten([buffer[3:], buffer[1:3]], out=buffer[:5])
    assert buffer[:5].tolist() == [3.0, 4.0, 5.0, 1.0, 2.0]


def test_a_model_that_is_one_vector_is_one_array():
    model = cv.ComponentVector(a=1.0, b=[1.0, 2.0])
    v, restructure = cv.destructure(model)
    assert restructure.flatten(model).tolist() == [1.0, 1.0, 2.0]
    assert restructure.flatten(v).tolist() == [1.0, 1.0, 2.0]
    assert restructure.pullback(model)["_1"].tolist() == [1.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "extra", [np.ones(2), {"q": np.ones(2)}, [0, [np.ones(2)]]], ids=["array", "dict", "list"]
)
def test_parameters_under_unknown_names_are_refused_at_any_depth(extra):
    v, restructure = cv.destructure({"a": np.ones(1), "n": 3})
    with pytest.raises(cv.LabelError, match="the model has no parameter `zz`"):
        restructure.flatten({"a": np.ones(1), "n": 3, "zz": extra})
    assert restructure.flatten({"a": np.ones(1), "n": 3, "zz": [{"q": "static"}]}) == v


def test_a_tree_with_a_parameter_where_the_model_has_none_is_refused():
    _, restructure = cv.trainables_nt({"weight": np.ones(1), "bias": None})
    ps, _ = cv.trainables_nt({"weight": np.ones(1), "bias": np.ones(1)})
    for call in (restructure, restructure.flatten, restructure.pullback):
        with pytest.raises(cv.LabelError, match="the model has no parameter `bias`"):
            call(ps)
