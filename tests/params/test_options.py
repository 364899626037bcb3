"""Options of a restructure: copies, dtypes, statics, parts of a model, and batches of vectors."""

import pickle
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import componentvec as cv


@dataclass
class Half:
    table: Any = field(default=None, metadata={"trainable": False})
    weight: Any = None


def everything(path, leaf):
    """Predicate: all numbers are parameters."""
    return True


def tied_model():
    """A weight, its transpose and its reverse, one bias twice, a scalar and statics."""
    weight, bias = np.arange(6.0).reshape(2, 3), np.array([6.0, 7.0])
    return {
        "enc": {"weight": weight, "bias": bias},
        "dec": [weight.T, bias, weight[::-1]],
        "rate": np.float64(8.0),
        "n": 3,
        "index": np.arange(2),
    }


def leaves(model):
    """The arrays of a tied model, in order."""
    return [*model["enc"].values(), *model["dec"]]


def assert_tied(model, weight, bias):
    np.testing.assert_array_equal(model["enc"]["weight"], weight)
    np.testing.assert_array_equal(model["dec"][0], np.swapaxes(weight, -1, -2))
    np.testing.assert_array_equal(model["dec"][2], np.flip(weight, -2))
    np.testing.assert_array_equal(model["enc"]["bias"], bias)
    assert model["dec"][1] is model["enc"]["bias"]
    assert np.shares_memory(model["enc"]["weight"], model["dec"][0])
    assert np.shares_memory(model["enc"]["weight"], model["dec"][2])


# copy= --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copy", [None, False])
def test_without_a_copy_the_model_is_views(copy):
    v, restructure = cv.destructure(tied_model())
    made = restructure(v, copy=copy)
    assert all(np.shares_memory(leaf, v) for leaf in leaves(made))
    v[:] += 10
    assert_tied(made, np.arange(10.0, 16.0).reshape(2, 3), [16.0, 17.0])


@pytest.mark.parametrize("dtype", ["restore", "follow"])
@pytest.mark.parametrize("source", ["f8", "f4"])
def test_a_copy_shares_no_memory_with_the_vector_and_keeps_ties(source, dtype):
    v, restructure = cv.destructure(tied_model())
    vector = np.asarray(v, source)
    made = restructure(vector, copy=True, dtype=dtype)
    vector[:] = -1
    assert not any(np.shares_memory(leaf, vector) for leaf in leaves(made))
    assert_tied(made, np.arange(6.0).reshape(2, 3), [6.0, 7.0])
    assert made["rate"] == 8.0
    made["dec"][0][1, 0] = 50.0
    assert made["enc"]["weight"][0, 1] == 50.0


@pytest.mark.parametrize("copy", [None, False, True], ids=str)
def test_the_parts_of_a_tree_are_copied_only_when_asked_for(copy):
    model = tied_model()
    ps, restructure = cv.trainables_nt(model)
    made = restructure(ps, copy=copy)
    shared = [np.shares_memory(a, b) for a, b in zip(leaves(made), leaves(model), strict=True)]
    assert shared == [copy is not True] * 5
    assert_tied(made, model["enc"]["weight"], model["enc"]["bias"])


def test_a_copy_is_made_of_the_base_too():
    model = tied_model()
    _, restructure = cv.trainables_nt(model)
    given = np.zeros(2)
    made = restructure({"enc": {"bias": given}}, base=model, copy=True)
    assert not np.shares_memory(made["enc"]["bias"], given)
    assert not np.shares_memory(made["enc"]["weight"], model["enc"]["weight"])
    assert_tied(made, model["enc"]["weight"], given)


def test_a_cast_is_refused_when_copies_are():
    model = {"a": np.ones(2), "net": [np.ones(3, "f4")]}
    v, restructure = cv.destructure(model, promotion="allow")
    with pytest.raises(cv.PromotionError) as caught:
        restructure(v, copy=False)
    assert str(caught.value) == (
        "`net._1` is float32 in the model and float64 in the vector, and a cast would copy, which "
        "copy=False forbids; pass dtype='follow' to give the model the vector's dtype, or use "
        "destructure_by_dtype"
    )
    assert np.shares_memory(restructure(v, copy=False, dtype="follow")["net"][0], v)


def test_scalars_and_numbers_are_cast_when_copies_are_refused():
    model = {"s": np.float32(1.0), "n": 2, "f": 0.5, "w": np.ones(2)}
    v, restructure = cv.destructure(model, promotion="allow", trainable=everything)
    made = restructure(2 * v, copy=False)
    assert [type(made[key]) for key in "snf"] == [np.float32, int, float]
    assert (made["s"], made["n"], made["f"]) == (2.0, 4, 1.0)


def test_a_tree_that_needs_a_cast_or_a_new_tie_is_refused_when_copies_are():
    weight = np.ones((2, 3))
    ps, restructure = cv.trainables_nt({"e": weight, "d": weight.T})
    with pytest.raises(cv.PromotionError, match="`e` is float64 in the model and float32"):
        restructure(ps._replace(e=weight.astype("f4"), d=weight.T.astype("f4")), copy=False)


@pytest.mark.parametrize("copy", [None, False, True], ids=str)
def test_what_is_static_is_never_copied_by_copy(copy):
    model = tied_model()
    v, restructure = cv.destructure(model)
    assert restructure(v, copy=copy)["index"] is model["index"]


# The first discussion -----------------------------------------------------------------------------


def test_the_model_of_the_first_discussion_does_what_was_said_there():
    shared = np.array([1, 2], "f4")
    model = (shared, shared, np.array([3.0, 4.0]))
    ps, restructure = cv.trainables_nt(model)
    with pytest.raises(cv.PromotionError, match=r"float32: `_1`; float64: `_3`"):
        cv.ComponentVector(ps)
    v = cv.ComponentVector(ps, promotion="allow")
    assert (v.dtype, v.tolist()) == (np.float64, [1.0, 2.0, 3.0, 4.0])
    v[1] = 999
    made = restructure(v)
    assert made[0] is made[1]
    assert (made[0].dtype, made[0].tolist()) == (np.float32, [1.0, 999.0])
    assert np.shares_memory(made[2], v)
    with pytest.raises(cv.CopyError, match="copy=False"):
        restructure(v, copy=False)
    followed = restructure(v, dtype="follow", copy=False)
    assert all(np.shares_memory(part, v) for part in followed)
    assert followed[0] is followed[1]
    vectors, by_dtype = cv.destructure_by_dtype(model)
    assert [(str(key), w.tolist()) for key, w in vectors.items()] == [
        ("float32", [1.0, 2.0]),
        ("float64", [3.0, 4.0]),
    ]
    one, two, three = by_dtype(vectors, copy=False)
    assert one is two
    assert np.shares_memory(one, vectors[np.dtype("f4")])
    assert np.shares_memory(three, vectors[np.dtype("f8")])


# statics= -----------------------------------------------------------------------------------------


def test_statics_are_shared_or_copied():
    index, shared, names, other = np.arange(3), np.arange(2), np.array(["x"]), {"x"}
    scalar = np.int64(3)
    model = [index, shared, {"again": shared, "names": names}, other, scalar, np.ones(1)]
    v, restructure = cv.destructure(model)
    made = restructure(v, statics="share")
    assert made[0] is index
    assert made[1] is made[2]["again"] is shared
    made = restructure(v, statics="copy")
    assert made[0] is not index
    assert not np.shares_memory(made[0], index)
    assert (made[0].dtype, made[0].tolist()) == (index.dtype, [0, 1, 2])
    assert made[1] is made[2]["again"]
    assert not np.shares_memory(made[1], shared)
    assert made[2]["names"].tolist() == ["x"]
    assert made[3] is other
    assert made[4] is scalar
    assert np.shares_memory(made[5], v)


def test_arrays_that_opted_out_are_statics_too():
    table = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    v, restructure = cv.destructure(Half([table], np.ones(1)))
    made = restructure(v, statics="copy").table[0]
    assert not np.shares_memory(made, table)
    assert made.strides == table.strides
    np.testing.assert_array_equal(made, table)


def test_two_models_with_copied_statics_are_independent():
    model = {"steps": np.arange(3), "w": np.ones(1)}
    v, restructure = cv.destructure(model)
    one, two = (restructure(v, statics="copy") for _ in range(2))
    one["steps"][0] = 100
    assert two["steps"].tolist() == model["steps"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("statics", ["share", "copy"])
def test_every_call_takes_statics(statics):
    index = np.arange(2)
    model = {"i": index, "w": np.ones(2)}
    ps, restructure = cv.trainables_nt(model)
    vectors, by_dtype = cv.destructure_by_dtype(model)
    rows = {key: np.ones((3, 2)) for key in vectors}
    for made in (
        restructure(np.ones(2), statics=statics),
        restructure(ps, statics=statics),
        restructure({}, base=model, statics=statics),
        restructure.batch(np.ones((3, 2)), statics=statics),
        by_dtype(vectors, statics=statics),
        by_dtype.batch(rows, statics=statics),
    ):
        assert (made["i"] is index) == (statics == "share")
        assert made["i"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float32"}, "dtype must be 'restore' or 'follow', not 'float32'"),
        ({"statics": "deep"}, "statics must be 'share' or 'copy', not 'deep'"),
        ({"statics": None}, "statics must be 'share' or 'copy', not None"),
    ],
    ids=["dtype", "statics", "None"],
)
def test_unknown_rules_are_refused_by_every_call(options, message):
    model = {"w": np.ones(2)}
    ps, restructure = cv.trainables_nt(model)
    vectors, by_dtype = cv.destructure_by_dtype(model)
    for call, argument in (
        (restructure, np.ones(2)),
        (restructure, ps),
        (restructure.batch, np.ones((1, 2))),
        (by_dtype, vectors),
        (by_dtype.batch, vectors),
    ):
        with pytest.raises(ValueError, match="must be") as caught:
            call(argument, **options)
        assert str(caught.value) == message


# base= --------------------------------------------------------------------------------------------


@pytest.fixture
def model():
    return tied_model()


@pytest.fixture
def restructure(model):
    return cv.trainables_nt(model)[1]


def as_vector(model):
    return cv.destructure(model)[0]


@pytest.mark.parametrize(
    "partial",
    [
        pytest.param(lambda ps, v: {"rate": 80.0}, id="dict"),
        pytest.param(lambda ps, v: OrderedDict(rate=np.float64(80.0)), id="OrderedDict"),
        pytest.param(lambda ps, v: {"rate": 80.0, "enc": None, "dec": None}, id="None groups"),
        pytest.param(
            lambda ps, v: {"rate": np.array(80.0), "enc": {"weight": None}, "dec": [None] * 3},
            id="None leaves",
        ),
        pytest.param(lambda ps, v: ps._replace(rate=80.0), id="NamedTree"),
        pytest.param(
            lambda ps, v: ps._replace(rate=80.0, enc=None, dec=None), id="NamedTree with None"
        ),
        pytest.param(lambda ps, v: (10 * v)[["rate"]], id="sub-vector"),
        pytest.param(lambda ps, v: {"rate": 80.0, "dec": {}, "enc": {}}, id="empty groups"),
        pytest.param(lambda ps, v: {"rate": 80.0, "n": "other", "index": None}, id="statics"),
    ],
)
def test_what_is_missing_keeps_the_arrays_of_the_base(model, restructure, partial):
    ps, _ = cv.trainables_nt(model)
    made = restructure(partial(ps, as_vector(model)), base=model)
    assert made["rate"] == 80.0
    assert type(made["rate"]) is np.float64
    for old, new in zip(leaves(model), leaves(made), strict=True):
        assert new is old
    assert made["n"] == 3
    assert made["index"] is model["index"]


@pytest.mark.parametrize("base", ["model", "tree"])
def test_the_base_may_be_a_model_or_a_tree(base):
    model = tied_model()
    ps, restructure = cv.trainables_nt(model)
    made = restructure({"rate": 0.0}, base=model if base == "model" else ps)
    assert made["enc"]["weight"] is model["enc"]["weight"]


def test_statics_are_those_of_the_base(restructure):
    other = tied_model()
    other["n"], other["index"] = 4, np.arange(9)
    made = restructure({"rate": 0.0}, base=other)
    assert made["n"] == 4
    assert made["index"] is other["index"]
    assert made["enc"]["weight"] is other["enc"]["weight"]
    again = restructure({"rate": 0.0}, base=other, statics="copy")
    assert again["index"] is not other["index"]
    assert again["index"].tolist() == other["index"].tolist()


def test_statics_that_the_base_does_not_have_are_those_of_the_model(model, restructure):
    ps, _ = cv.trainables_nt(tied_model())
    made = restructure({"rate": 0.0}, base=ps)
    assert made["n"] == 3
    assert made["index"] is model["index"]


def test_what_training_changed_in_a_live_model_stays():
    v, restructure = cv.destructure([{"w": np.ones(2), "steps": [0]}, np.ones(1)])
    live = restructure(v)
    live[0]["steps"][0] = 7
    made = restructure([None, [5.0]], base=live)
    assert made[0]["steps"] == [7]
    assert made[1].tolist() == [5.0]


@pytest.mark.parametrize("copy", ["never", 0, 1, np.False_], ids=repr)
def test_copy_is_one_of_three(copy):
    v, restructure = cv.destructure([np.ones(1)])
    vectors, by_dtype = cv.destructure_by_dtype([np.ones(1)])
    for call in (
        lambda: restructure(v, copy=copy),
        lambda: restructure.batch([v], copy=copy),
        lambda: by_dtype(vectors, copy=copy),
    ):
        with pytest.raises(ValueError, match="copy must be None, True or False, not"):
            call()


def test_batches_of_python_numbers_have_their_dtypes():
    model = {"n": 2.5, "i": 3, "w": np.ones(1)}
    v, restructure = cv.destructure(model, trainable=lambda path, leaf: True)
    made = restructure.batch(np.array([v, 2 * v]))
    assert made["n"].tolist() == [2.5, 5.0]
    assert made["i"].dtype == np.int64
    assert made["i"].tolist() == [3, 6]


@pytest.mark.parametrize("wrong", [[1j, 1, 1], [1, 1.5, 1]], ids=["complex", "fraction"])
def test_batches_of_python_numbers_lose_nothing(wrong):
    model = {"n": 2.5, "i": 3, "w": np.ones(1)}
    _, restructure = cv.destructure(model, trainable=lambda path, leaf: True)
    with pytest.raises(cv.PromotionError):
        restructure.batch([wrong])


def test_a_buffer_that_is_no_array_is_refused():
    _, restructure = cv.destructure([np.ones(2)])
    with pytest.raises(cv.LengthError, match="expected a vector of 2 numbers, not a memoryview"):
        restructure(memoryview(np.ones(2)))


def test_nothing_given_is_the_base_itself_in_new_containers(model, restructure):
    for nothing in ({}, None):
        made = restructure(nothing, base=model)
        assert made is not model
        assert all(new is old for old, new in zip(leaves(model), leaves(made), strict=True))


def test_everything_given_needs_nothing_of_the_base(model, restructure):
    other = tied_model()
    other["rate"] = np.float64(0.0)
    assert restructure(other, base=model)["rate"] == 0.0
    assert restructure(as_vector(other), base=model)["rate"] == 0.0


@pytest.mark.parametrize(
    ("given", "weight"),
    [
        ({"enc": {"weight": np.full((2, 3), 9.0)}}, np.full((2, 3), 9.0)),
        ({"dec": [np.arange(6.0).reshape(3, 2)]}, np.arange(6.0).reshape(3, 2).T),
        ({"dec": {"_3": np.arange(6.0).reshape(2, 3)}}, np.arange(6.0).reshape(2, 3)[::-1]),
        ({"dec": {"_1": [[0, 3], [1, 4], [2, 5]]}}, np.arange(6.0).reshape(2, 3)),
    ],
    ids=["stored", "transposed", "reversed", "list of numbers"],
)
def test_what_is_given_at_one_site_changes_all_that_are_tied_to_it(
    model, restructure, given, weight
):
    if isinstance(given.get("dec"), list):
        given["dec"] += [None, None]
    made = restructure(given, base=model)
    assert_tied(made, weight, [6.0, 7.0])
    assert made["enc"]["bias"] is model["enc"]["bias"]
    assert model["enc"]["weight"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_a_sub_vector_changes_what_is_tied_to_it(model, restructure):
    v = as_vector(model)
    for key in ("enc.weight", "dec._1"):
        made = restructure((10 * v)[[key]], base=model)
        assert_tied(made, 10 * model["enc"]["weight"], [6.0, 7.0])


def test_a_given_array_of_an_untied_site_is_taken_by_reference():
    model = {"a": np.ones(2), "b": np.ones(3)}
    _, restructure = cv.trainables_nt(model)
    given = np.zeros(3)
    made = restructure({"b": given}, base=model)
    assert made["b"] is given
    assert made["a"] is model["a"]


def test_given_sites_that_are_tied_must_agree(model, restructure):
    weight = np.full((2, 3), 9.0)
    made = restructure({"enc": {"weight": weight}, "dec": {"_1": weight.T.copy()}}, base=model)
    assert_tied(made, weight, [6.0, 7.0])
    with pytest.raises(cv.SharingError) as caught:
        restructure({"enc": {"weight": weight}, "dec": {"_1": weight.T + 1}}, base=model)
    assert str(caught.value) == ("`enc.weight` and `dec._1` are tied, but hold different values")


def test_sites_of_the_base_need_agree_only_where_they_are_used(model, restructure):
    other = tied_model()
    other["dec"][0] = other["dec"][0] + 1
    with pytest.raises(cv.SharingError, match=r"`enc\.weight` and `dec\._1` are tied"):
        restructure({"rate": 0.0}, base=other)
    given = np.zeros((2, 3))
    assert_tied(restructure({"enc": {"weight": given}}, base=other), given, [6.0, 7.0])


COMPLEX_RATE = (
    "`rate` is float64 and cannot take complex128 values; pass dtype='follow' to give the model "
    "complex parameters"
)


@pytest.mark.parametrize(
    ("partial", "error", "message"),
    [
        (
            {"rte": 1.0},
            cv.LabelError,
            "the model has no parameter `rte`; did you mean 'rate'?",
        ),
        (
            {"enc": {"bias": None, "x": np.ones(1)}},
            cv.LabelError,
            "the model has no parameter `enc.x`; its components are 'weight', 'bias'",
        ),
        (
            {"enc": {"bias": [1.0, 2.0, 3.0]}},
            cv.LengthError,
            "`enc.bias` has shape (2,), but was given shape (3,)",
        ),
        (
            {"dec": {"_1": np.ones((2, 3))}},
            cv.LengthError,
            "`dec._1` has shape (3, 2), but was given shape (2, 3)",
        ),
        (
            {"enc": {"bias": 3.0}},
            cv.LengthError,
            "`enc.bias` has shape (2,), but was given shape ()",
        ),
        (
            {"dec": [np.ones((3, 2))]},
            cv.LengthError,
            "`dec` has the parts _1, _2, _3, but was given a list of 1",
        ),
        (
            {"dec": np.ones(3)},
            cv.LengthError,
            "`dec` has the parts _1, _2, _3, but was given an object of type ndarray",
        ),
        (
            3,
            cv.LengthError,
            "the model has the parts enc, dec, rate, n, index, but was given an object of type int",
        ),
        (
            np.ones(9),
            cv.LabelError,
            "base= completes trees and labelled vectors; a plain array has no names to go by",
        ),
        (
            {"rate": 1j},
            cv.PromotionError,
            COMPLEX_RATE,
        ),
    ],
    ids=[
        "name",
        "deep name",
        "shape",
        "untransposed",
        "scalar",
        "short list",
        "array for a group",
        "number",
        "flat array",
        "complex",
    ],
)
def test_a_partial_tree_that_does_not_fit_is_refused(model, restructure, partial, error, message):
    with pytest.raises(error) as caught:
        restructure(partial, base=model)
    assert str(caught.value) == message


def test_a_vector_of_another_structure_is_refused_with_a_base_too(model, restructure):
    with pytest.raises(cv.LabelError, match="no parameter `other`"):
        restructure(cv.ComponentVector(other=[1.0]), base=model)


@pytest.mark.parametrize(
    ("base", "error", "text"),
    [
        ({"enc": {}, "dec": {}, "rate": 0.0}, cv.LabelError, r"`enc\.weight` is missing"),
        (3, cv.LengthError, "the model has the parts"),
        ([], cv.LengthError, "the model has the parts"),
    ],
    ids=["parts", "number", "list"],
)
def test_a_base_without_all_that_is_missing_is_refused(restructure, base, error, text):
    with pytest.raises(error, match=text):
        restructure({"rate": 0.0}, base=base)


@pytest.mark.parametrize("partial", [{"rate": 1.0}, {"enc": {}}, {}], ids=str)
def test_parts_without_a_base_are_refused_with_the_way_out(restructure, partial):
    with pytest.raises(cv.LengthError, match="base="):
        restructure(partial)


def test_a_tree_with_none_is_refused_without_a_base(model):
    ps, restructure = cv.trainables_nt(model)
    with pytest.raises(cv.LengthError, match=r"`rate` .*None.*base="):
        restructure(ps._replace(rate=None))


def test_given_values_are_cast_to_the_dtype_of_the_model_or_followed():
    shared = np.ones(2, "f4")
    model = {"a": shared, "b": shared, "c": np.ones(1)}
    _, restructure = cv.trainables_nt(model)
    made = restructure({"a": np.array([1.5, 2.5])}, base=model)
    assert made["a"] is made["b"]
    assert (made["a"].dtype, made["a"].tolist()) == (np.float32, [1.5, 2.5])
    assert made["c"] is model["c"]
    made = restructure({"b": np.array([1j, 2j])}, base=model, dtype="follow")
    assert made["a"] is made["b"]
    assert made["a"].tolist() == [1j, 2j]
    assert made["c"].dtype == np.float64


def test_integers_and_numbers_may_be_given():
    model = {"n": 2, "i": np.arange(3), "w": np.ones(1)}
    _, restructure = cv.trainables_nt(model, trainable=everything)
    made = restructure({"n": 5}, base=model)
    assert type(made["n"]) is int
    assert made["n"] == 5
    assert made["i"] is model["i"]
    with pytest.raises(cv.PromotionError, match=r"`n` .*5\.5"):
        restructure({"n": 5.5}, base=model)
    with pytest.raises(cv.PromotionError, match=r"`i` .*0\.5"):
        restructure({"i": [0.5, 1, 2]}, base=model)


def test_a_model_that_is_one_array_takes_a_base():
    weight = np.ones(2)
    _, restructure = cv.trainables_nt(weight)
    assert restructure(None, base=weight) is weight
    assert restructure({"_1": [3.0, 4.0]}, base=weight).tolist() == [3.0, 4.0]


@pytest.mark.usefixtures("registrations")
def test_registered_objects_may_be_partial_and_bases():
    class Affine:
        def __init__(self, slope, shift):
            self.slope, self.shift = slope, shift

    cv.register_pytree_node(
        Affine,
        lambda x: ({"slope": x.slope, "shift": x.shift}, None),
        lambda _, parts: Affine(**parts),
    )
    model = Affine(np.ones(1), np.ones(2))
    _, restructure = cv.trainables_nt(model)
    for partial in (Affine(None, [3.0, 4.0]), {"shift": [3.0, 4.0]}):
        made = restructure(partial, base=model)
        assert made.slope is model.slope
        assert made.shift.tolist() == [3.0, 4.0]


# batch --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [(1,), (4,), (2, 3), (0,), (2, 0)], ids=str)
def test_a_batch_gives_every_array_the_leading_dimensions(lead):
    _, restructure = cv.destructure(tied_model())
    rows = np.arange(9.0 * np.prod(lead, dtype=int)).reshape(*lead, 9)
    made = restructure.batch(rows)
    assert [leaf.shape for leaf in leaves(made)] == [
        (*lead, 2, 3),
        (*lead, 2),
        (*lead, 3, 2),
        (*lead, 2),
        (*lead, 2, 3),
    ]
    assert type(made["rate"]) is np.ndarray
    assert made["rate"].shape == lead
    assert (made["n"], made["index"].tolist()) == (3, [0, 1])
    for index in np.ndindex(lead):
        one = restructure(rows[index])
        for many, single in zip(leaves(made), leaves(one), strict=True):
            np.testing.assert_array_equal(many[index], single)
        assert made["rate"][index] == one["rate"]


@pytest.mark.parametrize(
    "layout",
    [
        pytest.param(lambda rows: rows, id="C order"),
        pytest.param(np.asfortranarray, id="Fortran order"),
        pytest.param(lambda rows: np.repeat(rows, 2, axis=1)[:, ::2], id="strided"),
        pytest.param(lambda rows: rows[::-1], id="reversed rows"),
        pytest.param(lambda rows: rows[:, ::-1].copy()[:, ::-1], id="reversed columns"),
        pytest.param(lambda rows: np.broadcast_to(rows[0], rows.shape), id="broadcast"),
        pytest.param(lambda rows: np.hstack([rows, rows])[:, 9:], id="columns of a matrix"),
    ],
)
def test_a_batch_is_views_whatever_the_layout(layout):
    _, restructure = cv.destructure(tied_model())
    rows = layout(np.arange(36.0).reshape(4, 9))
    made = restructure.batch(rows, copy=False)
    assert all(np.shares_memory(leaf, rows) for leaf in [*leaves(made), made["rate"]])
    assert_tied(made, rows[:, :6].reshape(4, 2, 3), rows[:, 6:8])


def test_writing_a_batch_writes_the_rows():
    _, restructure = cv.destructure(tied_model())
    rows = np.zeros((2, 9))
    made = restructure.batch(rows)
    made["dec"][0][1, 2, 0] = 5.0
    made["rate"][0] = 7.0
    assert rows[1].tolist() == [0, 0, 5, 0, 0, 0, 0, 0, 0]
    assert rows[0, 8] == 7.0
    rows.flags.writeable = False
    assert not restructure.batch(rows)["enc"]["bias"].flags.writeable


def test_a_batch_may_be_copied():
    _, restructure = cv.destructure(tied_model())
    rows = np.arange(18.0).reshape(2, 9)
    made = restructure.batch(rows, copy=True)
    assert not any(np.shares_memory(leaf, rows) for leaf in [*leaves(made), made["rate"]])
    assert_tied(made, rows[:, :6].reshape(2, 2, 3), rows[:, 6:8])


def test_a_batch_restores_dtypes_or_follows():
    shared = np.ones((2, 2), "f4")
    model = {"a": shared, "b": shared.T, "c": np.ones(1), "again": shared, "s": np.float32(1)}
    _, restructure = cv.destructure(model, promotion="allow")
    rows = np.arange(18.0).reshape(3, 6)
    made = restructure.batch(rows)
    assert [made[key].dtype for key in "abcs"] == ["f4", "f4", "f8", "f4"]
    assert made["a"] is made["again"]
    assert np.shares_memory(made["a"], made["b"])
    assert np.shares_memory(made["c"], rows)
    np.testing.assert_array_equal(made["b"], made["a"].swapaxes(1, 2))
    followed = restructure.batch(rows, dtype="follow", copy=False)
    assert all(np.shares_memory(part, rows) for part in followed.values())
    with pytest.raises(cv.PromotionError, match="`a` is float32 in the model and float64"):
        restructure.batch(rows, copy=False)
    with pytest.raises(cv.PromotionError, match="`a` is float32 and cannot take complex128"):
        restructure.batch(1j * rows)
    assert restructure.batch(1j * rows, dtype="follow")["a"].dtype == np.complex128


def test_numbers_and_integers_of_a_batch_are_arrays():
    model = {"n": 2, "f": 0.5, "i": np.arange(2), "w": np.ones(1)}
    _, restructure = cv.destructure(model, promotion="allow", trainable=everything)
    rows = np.arange(10.0).reshape(2, 5)
    made = restructure.batch(rows)
    assert made["n"].tolist() == [0, 5]
    assert made["f"].tolist() == [1.0, 6.0]
    assert (made["i"].dtype, made["i"].tolist()) == (np.int64, [[2, 3], [7, 8]])
    with pytest.raises(cv.PromotionError, match=r"`i` is int64 and cannot take 2\.5"):
        restructure.batch(rows + 0.5)


@pytest.mark.parametrize(
    ("rows", "shape"),
    [
        (np.ones(8), "(8,)"),
        (np.ones((9, 8)), "(9, 8)"),
        (np.ones((9, 1)), "(9, 1)"),
        (np.ones((2, 9, 1)), "(2, 9, 1)"),
        (np.float64(1.0), "()"),
        (np.ones(()), "()"),
    ],
    ids=str,
)
def test_a_batch_of_another_length_is_refused(rows, shape):
    _, restructure = cv.destructure(tied_model())
    with pytest.raises(cv.LengthError) as caught:
        restructure.batch(rows)
    assert str(caught.value) == (
        "the model has 9 elements, `enc.weight` to `rate`, so it takes batches of shape (…, 9), "
        f"not {shape}"
    )


@pytest.mark.parametrize("rows", [None, "text", {"w": 1}, 3], ids=repr)
def test_a_batch_of_no_numbers_is_refused(rows):
    _, restructure = cv.destructure(tied_model())
    with pytest.raises(cv.LengthError, match="expected a vector of 9 numbers"):
        restructure.batch(rows)


@pytest.mark.parametrize("dtype", ["U1", "M8[D]", object])
def test_a_batch_of_another_kind_of_array_is_refused(dtype):
    _, restructure = cv.destructure([np.ones(1)])
    with pytest.raises(cv.PromotionError, match="expected numbers"):
        restructure.batch(np.zeros((2, 1), "i8").astype(dtype))


def test_a_batch_may_be_lists_and_a_single_vector_is_a_batch_without_dimensions():
    v, restructure = cv.destructure({"a": np.ones(2), "s": np.float64(1.0)})
    made = restructure.batch([[1, 2, 3], [4, 5, 6]])
    assert (made["a"].tolist(), made["s"].tolist()) == ([[1.0, 2.0], [4.0, 5.0]], [3.0, 6.0])
    assert np.shares_memory(restructure.batch(v)["a"], v)


def test_a_batch_of_a_model_without_parameters():
    _, restructure = cv.destructure({"n": 3})
    assert restructure.batch(np.ones((4, 0))) == {"n": 3}


def test_a_batch_of_one_array_is_an_array():
    _, restructure = cv.destructure(np.ones((2, 2)))
    assert restructure.batch(np.ones((3, 4))).shape == (3, 2, 2)


# Arrays of other libraries ------------------------------------------------------------------------


@pytest.fixture(params=["torch", "jax"])
def library(request):
    """A function that makes an array of a library, and one that brings it back."""
    module = pytest.importorskip(request.param)
    if request.param == "torch":
        return lambda x: module.tensor(x), lambda x: x.numpy()
    return module.numpy.asarray, np.asarray


def test_a_vector_of_another_library_gives_arrays_of_it(library):
    make, back = library
    _, restructure = cv.destructure({"a": np.ones((2, 2), "f4"), "b": [np.ones(1, "f4")]})
    vector = np.arange(5, dtype="f4")
    for dtype in ("restore", "follow"):
        for copy in (None, True):
            made = restructure(make(vector), dtype=dtype, copy=copy)
            assert type(made["a"]) is type(make(vector))
            np.testing.assert_array_equal(back(made["a"]), vector[:4].reshape(2, 2))
            np.testing.assert_array_equal(back(made["b"][0]), vector[4:])


def test_ties_hold_in_a_vector_of_another_library(library):
    make, back = library
    weight = np.zeros((2, 3), "f4")
    _, restructure = cv.destructure([weight, weight.T, weight[::-1], weight])
    vector = np.arange(6, dtype="f4")
    made = restructure(make(vector))
    assert made[0] is made[3]
    expected = vector.reshape(2, 3)
    for part, values in zip(made, [expected, expected.T, expected[::-1]], strict=False):
        np.testing.assert_array_equal(back(part), values)


def test_a_batch_of_another_library_gives_arrays_of_it(library):
    make, back = library
    weight = np.zeros((2, 3), "f4")
    model = {"a": weight, "b": weight.T, "c": weight[:, ::-1], "s": np.float32(1.0)}
    _, restructure = cv.destructure(model)
    rows = np.arange(14, dtype="f4").reshape(2, 7)
    made = restructure.batch(make(rows))
    expected = rows[:, :6].reshape(2, 2, 3)
    np.testing.assert_array_equal(back(made["a"]), expected)
    np.testing.assert_array_equal(back(made["b"]), expected.swapaxes(1, 2))
    np.testing.assert_array_equal(back(made["c"]), expected[:, :, ::-1])
    np.testing.assert_array_equal(back(made["s"]), rows[:, 6])


# Numbers and integers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaf", "value"),
    [
        (2, 5.0),
        (2, -3.0),
        (2, -0.0),
        (2, 2.0**53),
        (True, 1.0),
        (True, 0.0),
        (False, 1.0),
        (0.5, 2.0),
        (0.5, float("inf")),
        (0.5, 1e-300),
        (1j, 2.0),
        (np.int8(2), -128.0),
        (np.uint8(2), 255.0),
        (np.bool_(True), 0.0),
        (np.int64(2), -(2.0**63)),
        (np.array([2], "i2"), 32767.0),
        (np.array([2], "u8"), 2.0**63),
        (np.array([True]), 0.0),
    ],
    ids=str,
)
def test_numbers_and_integers_take_what_they_can_hold_exactly(leaf, value):
    model = {"n": leaf, "w": np.ones(1)}
    _, restructure = cv.destructure(model, promotion="allow", trainable=everything)
    made = restructure(np.array([value, 1.0]))["n"]
    assert type(made) is type(leaf)
    if isinstance(leaf, (np.ndarray, np.generic)):
        assert made.dtype == leaf.dtype
    assert made == value


@pytest.mark.parametrize(
    ("leaf", "value"),
    [
        (2, 2.5),
        (2, float("nan")),
        (2, float("inf")),
        (True, 2.0),
        (True, 0.5),
        (True, -1.0),
        (True, float("nan")),
        (np.int8(2), 128.0),
        (np.uint8(2), -1.0),
        (np.uint8(2), 256.0),
        (np.bool_(True), 2.0),
        (np.array([2], "i8"), 2.0**63),
        (np.array([2], "u8"), 2.0**64),
        (np.array([2], "u8"), -1.0),
        (np.array([2], "i4"), float("nan")),
        (np.array([True]), 0.5),
    ],
    ids=str,
)
def test_numbers_and_integers_refuse_what_they_cannot_hold_exactly(leaf, value):
    model = {"a": [{"n": leaf}], "w": np.ones(1)}
    _, restructure = cv.destructure(model, promotion="allow", trainable=everything)
    kind = leaf.dtype if isinstance(leaf, (np.ndarray, np.generic)) else np.dtype(type(leaf))
    with pytest.raises(cv.PromotionError) as caught:
        restructure(np.array([value, 1.0]))
    assert str(caught.value).startswith(
        f"`a._1.n` is {kind} and cannot take {value}; pass dtype='follow' to give the model the "
        "vector's dtype"
    )
    followed = restructure(np.array([value, 1.0]), dtype="follow")["a"][0]["n"]
    np.testing.assert_array_equal(followed, value if np.ndim(leaf) == 0 else [value])


def test_the_first_wrong_element_of_an_array_is_shown():
    _, restructure = cv.destructure([np.arange(4)], trainable=everything)
    with pytest.raises(cv.PromotionError, match=r"`_1` is int64 and cannot take 2\.5;"):
        restructure(np.array([1.0, 2.0, 2.5, 3.5]))


REAL = [2, True, 0.5, np.int8(1), np.arange(1), np.float32(1), np.ones(1)]


@pytest.mark.parametrize("leaf", REAL, ids=repr)
def test_a_complex_vector_is_refused_where_the_model_is_all_real(leaf):
    _, restructure = cv.destructure({"n": leaf}, trainable=everything)
    for value in (1j, 1 + 0j):
        with pytest.raises(cv.PromotionError, match=r"`n` is .* and cannot take complex128 values"):
            restructure(np.array([value]))
    assert restructure(np.array([2j]), dtype="follow")["n"] == 2j


@pytest.mark.parametrize("leaf", REAL, ids=repr)
def test_an_imaginary_part_is_refused_where_a_model_of_complex_numbers_is_real(leaf):
    model = {"n": leaf, "z": np.array([1j])}
    v, restructure = cv.destructure(model, promotion="allow", trainable=everything)
    assert v.dtype.kind == "c"
    made = restructure(v)
    assert type(made["n"]) is type(leaf)
    assert made["n"] == leaf
    v.n = 1j
    with pytest.raises(cv.PromotionError, match=r"`n` is .* and cannot take"):
        restructure(v)
    if isinstance(leaf, (np.ndarray, np.generic)):
        with pytest.raises(cv.PromotionError, match=r"`n` is .* and cannot take"):
            restructure.batch(np.array([[1, 1j], [1j, 1]]))


@pytest.mark.parametrize("source", ["f4", "f8", "g"])
def test_numbers_follow_the_dtype_of_the_vector(source):
    model = {"f": 0.5, "n": 2, "w": np.ones(1)}
    _, restructure = cv.destructure(model, trainable=everything)
    made = restructure(np.array([0.25, 3.0, 1.0], source), dtype="follow")
    assert type(made["f"]) is np.dtype(source).type
    assert made["f"] == 0.25
    assert made["n"] == 3
    made = restructure(np.array([0.25, 3.0, 1.0], source))
    assert [type(made[key]) for key in "fn"] == [float, int]


def test_numbers_are_weak_beside_arrays():
    v, restructure = cv.destructure({"f": 0.1, "w": np.ones(2, "f4")}, trainable=everything)
    assert v.dtype == np.float32
    assert restructure(v)["f"] == float(np.float32(0.1))
    with pytest.raises(cv.PromotionError, match=r"`n` is 300, which int8 cannot hold"):
        cv.destructure({"n": 300, "w": np.ones(2, "i1")}, trainable=everything)
    with pytest.raises(cv.PromotionError, match="`f` is a Python float, which int64 leaves"):
        cv.destructure({"f": 0.1, "w": np.arange(2)}, trainable=everything)


@pytest.mark.parametrize(
    ("model", "dtype"),
    [([1, True], "int64"), ([True, False], "bool"), ([1, 2.5], "float64"), ([1j, 1], "complex128")],
    ids=str,
)
def test_a_model_of_python_numbers_alone_has_their_dtype(model, dtype):
    v, restructure = cv.destructure(model, trainable=everything)
    assert v.dtype == np.dtype(dtype)
    made = restructure(v)
    assert made == model
    assert [type(part) for part in made] == [type(part) for part in model]


def test_an_integer_that_the_vector_would_round_is_refused():
    with pytest.raises(cv.PromotionError, match="`n` has 9007199254740993, which float64 does not"):
        cv.destructure({"n": 2**53 + 1, "w": np.ones(1)}, trainable=everything)


def test_numbers_in_flatten_and_pullback():
    model = {"n": 2, "f": 0.5, "w": np.ones(1)}
    v, restructure = cv.destructure(model, trainable=everything)
    assert restructure.flatten(restructure(2 * v)).tolist() == [4.0, 1.0, 2.0]
    assert restructure.pullback({"n": 3.0, "f": None}).tolist() == [3.0, 0.0, 0.0]


def test_a_restructure_with_numbers_travels():
    model = {"n": 2, "flag": True, "w": np.ones(1), "i": np.arange(2)}
    v, restructure = cv.destructure(model, promotion="allow", trainable=everything)
    again = pickle.loads(pickle.dumps(restructure))
    assert again == restructure
    assert hash(again) == hash(restructure)
    made = again(v)
    assert (made["n"], made["flag"]) == (2, True)
    assert type(made["flag"]) is bool


@pytest.mark.parametrize(
    ("numbers", "options"),
    [
        (np.array([1, 2**53 + 1]), {"promotion": "allow"}),
        (np.array([70_000_001]), {"dtype": "f4"}),
        (np.array([2**63], "u8"), {"dtype": "f2"}),
    ],
    ids=["float64", "float32", "float16"],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_integers_of_an_array_that_the_vector_would_round_are_refused(numbers, options):
    model = {"net": [numbers, np.ones(1)]}
    with pytest.raises(cv.PromotionError) as caught:
        cv.destructure(model, trainable=lambda path, leaf: True, **options)
    assert str(caught.value).startswith(f"`net._1` has {numbers[-1]}, which float")
    assert str(caught.value).endswith("leave it out with trainable=")
