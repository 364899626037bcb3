"""Which leaves of a model are parameters, what they are called, and the tree they come in."""

import copy
import dataclasses
import math
import pickle
import typing
from collections import OrderedDict, defaultdict, deque
from types import MappingProxyType

import numpy as np
import pytest

import componentvec as cv


@dataclasses.dataclass
class Layer:
    weight: np.ndarray
    bias: np.ndarray
    act: object = math.tanh


class Pair(typing.NamedTuple):
    left: object
    right: object


def names(tree):
    """All fields of a tree, groups as nested dicts, leaves as shapes."""
    return {
        name: names(part) if isinstance(part, cv.NamedTree) else np.shape(part)
        for name, part in tree._asdict().items()
    }


def parameters(model, **options):
    return cv.trainables_nt(model, **options)[0]


# What is a parameter ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "longdouble", "c8", "c16", ">f8", ">c8"], ids=str
)
def test_arrays_of_every_inexact_dtype_are_parameters(dtype):
    assert names(parameters({"a": np.ones((2, 3), dtype)})) == {"a": (2, 3)}


@pytest.mark.parametrize(
    "static",
    [
        np.array([1, 2]),
        np.array([True]),
        np.array(["x"]),
        np.array([None], object),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.zeros(2, [("x", float)]),
        np.int64(3),
        np.bool_(True),
        1.5,
        2,
        1j,
        True,
        None,
        "relu",
        b"raw",
        math.sin,
        {1, 2},
        frozenset([1.5]),
        deque([1.5]),
        Layer,
        range(3),
        ...,
    ],
    ids=repr,
)
def test_everything_else_is_static_and_absent(static):
    assert names(parameters({"a": np.ones(1), "s": static})) == {"a": (1,)}


def test_numpy_floating_scalars_are_parameters():
    ps = parameters({"rate": np.float32(0.5)})
    assert ps.rate == np.float32(0.5)
    assert type(ps.rate) is np.float32


def test_lists_of_python_numbers_are_groups_without_parameters():
    assert names(parameters({"sizes": [1.0, 2.0], "a": np.ones(1)})) == {"sizes": {}, "a": (1,)}


def test_the_tree_holds_the_arrays_of_the_model_themselves():
    weight, bias = np.ones((2, 3)), np.zeros(2)
    ps = parameters([Layer(weight, bias)])
    assert ps._1.weight is weight
    assert ps._1.bias is bias


def test_one_array_at_two_places_is_one_object_in_the_tree():
    shared = np.ones(2)
    ps = parameters({"x": shared, "y": [shared]})
    assert ps.x is ps.y._1


def test_a_container_at_two_places_is_one_group_in_the_tree():
    block = {"w": np.ones(2)}
    ps = parameters([block, block])
    assert ps._1 is ps._2


# Names --------------------------------------------------------------------------------------------


def test_positions_count_from_one_over_everything_the_model_has():
    assert names(parameters((math.sin, np.ones(2), None, np.ones(3)))) == {"_2": (2,), "_4": (3,)}


def test_positions_stay_in_order_beyond_nine():
    assert parameters([np.ones(1)] * 12)._fields == tuple(f"_{k}" for k in range(1, 13))


def test_mappings_keep_the_order_of_insertion():
    assert parameters({"z": np.ones(1), "a": np.ones(1), "m": np.ones(1)})._fields == (
        "z",
        "a",
        "m",
    )


def test_containers_without_parameters_are_empty_groups():
    model = {"a": [], "b": (), "c": {}, "d": {"act": math.sin}, "e": np.ones(1)}
    assert names(parameters(model)) == {"a": {}, "b": {}, "c": {}, "d": {}, "e": (1,)}


def test_fields_of_dataclasses_and_named_tuples_keep_their_names():
    model = Pair(Layer(np.ones((2, 1)), np.ones(2)), right=np.ones(3))
    assert names(parameters(model)) == {"left": {"weight": (2, 1), "bias": (2,)}, "right": (3,)}


def test_a_model_that_is_one_array_is_called_1():
    weight = np.ones((2, 2))
    ps = parameters(weight)
    assert ps._fields == ("_1",)
    assert ps._1 is weight


@pytest.mark.parametrize("model", [None, math.sin, 3, np.arange(3), "text", (), {}, []], ids=repr)
def test_a_model_without_parameters_gives_an_empty_tree(model):
    ps = parameters(model)
    assert isinstance(ps, cv.NamedTree)
    assert ps._fields == ()
    assert len(ps) == 0


@pytest.mark.parametrize(
    "name",
    ["class", "count", "index", "_x", "__a", "a.b", "", "two words", "ﬁ", "é", "_1", "0", "None"],
    ids=ascii,
)
def test_odd_names_are_fields(name):
    value = np.ones(2)
    ps = parameters({name: value, "b": np.ones(1)})
    assert ps._fields == (name, "b")
    assert getattr(ps, name) is value


@pytest.mark.parametrize("name", ["T", "sum", "size", "shape", "data", "mean"])
def test_names_of_array_attributes_are_fields_and_warn(name):
    value = np.ones(2)
    with pytest.warns(cv.ShadowedNameWarning, match=name):
        ps = parameters({name: value, f"not {name}": np.ones(1)})
    assert getattr(ps, name) is value


@pytest.mark.parametrize(
    "name", ["_fields", "_make", "_replace", "_asdict", "_field_defaults", "__len__", "__dict__"]
)
def test_names_that_named_tuples_need_are_refused_with_their_path(name):
    with pytest.raises(cv.LabelError, match=rf"net.*{name}.*rename"):
        parameters({"net": {name: np.ones(1)}})


def test_a_static_may_have_a_name_that_named_tuples_need():
    assert parameters({"_fields": 3, "a": np.ones(1)})._fields == ("a",)


def test_keys_that_are_no_strings_get_an_underscore():
    assert parameters({1: np.ones(1), "x": np.ones(1)})._fields == ("_1", "x")


def test_number_and_text_keys_stay_apart():
    assert parameters({1: np.ones(1), "1": np.ones(1)})._fields == ("_1", "1")


def test_keys_that_would_get_one_name_are_refused_by_their_reprs():
    with pytest.raises(cv.LabelError, match=r"the keys 1 and '_1' would both be named '_1'"):
        parameters({1: np.ones(1), "_1": np.ones(1)})


# Containers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        dict,
        OrderedDict,
        lambda items: defaultdict(list, items),
        MappingProxyType,
    ],
    ids=["dict", "OrderedDict", "defaultdict", "mappingproxy"],
)
def test_all_kinds_of_dict_are_walked(make):
    assert names(parameters(make({"z": np.ones(1), "a": np.ones(2)}))) == {"z": (1,), "a": (2,)}


def test_a_dataclass_class_is_no_container():
    assert names(parameters({"kind": Layer, "a": np.ones(1)})) == {"a": (1,)}


def test_a_field_never_set_is_absent():
    @dataclasses.dataclass
    class Lazy:
        weight: np.ndarray = dataclasses.field(init=False)
        bias: np.ndarray | None = None

    assert names(parameters(Lazy(np.ones(1)))) == {"bias": (1,)}


@pytest.mark.parametrize(
    ("depth", "path"), [(0, "me"), (1, r"x\.me"), (2, r"x\.x\.me")], ids=["root", "below", "deeper"]
)
def test_a_container_that_holds_itself_is_refused_with_both_paths(depth, path):
    loop = {"w": np.ones(1)}
    loop["me"] = loop
    model = loop
    for _ in range(depth):
        model = {"x": model}
    first = r"\.".join("x" * depth) if depth else "the model"
    with pytest.raises(cv.SharingError, match=rf"`{path}`.*{first}.*cycle"):
        parameters(model)


def test_a_cycle_over_several_containers_is_refused():
    row = [np.ones(1)]
    row.append({"inner": (row,)})
    with pytest.raises(cv.SharingError, match=r"`_2\.inner\._1`"):
        parameters(row)


def test_containers_made_while_looking_are_not_mixed_up():
    @dataclasses.dataclass
    class Wrapping:
        a: object

        def __getattribute__(self, name):
            held = object.__getattribute__(self, name)
            return [held] if name == "a" else held

    ps = parameters([Wrapping(np.ones(k)) for k in (1, 2, 3)])
    assert [part.a._1.shape for part in ps] == [(1,), (2,), (3,)]


def test_models_500_levels_deep_are_walked():
    leaf = np.ones(1)
    model = leaf
    for level in range(500):
        model = {"a": model} if level % 2 else [model]
    ps = parameters(model)
    for _ in range(500):
        (ps,) = ps
    assert ps is leaf


def test_the_model_is_not_changed():
    weight = np.array([1.0, 2.0])
    inner = [math.sin, weight]
    model = {"a": inner, "b": weight}
    parameters(model)
    assert list(model) == ["a", "b"]
    assert model["a"] is inner
    assert inner[0] is math.sin
    assert inner[1] is model["b"] is weight
    assert weight.tolist() == [1.0, 2.0]


# The tree travels ---------------------------------------------------------------------------------


def test_models_of_one_structure_give_trees_of_one_type():
    one = parameters({"a": np.ones(1), "b": [np.ones(2)]})
    two = parameters({"a": np.zeros(5), "b": (np.ones(1), math.sin)})
    assert type(one) is type(two)
    assert type(one.b) is type(two.b)


def test_fields_may_be_replaced():
    ps = parameters({"count": np.ones(1), "b": np.ones(2)})
    new = ps._replace(count=np.zeros(3))
    assert names(new) == {"count": (3,), "b": (2,)}
    assert new.b is ps.b


@pytest.mark.parametrize(
    "clone",
    [copy.deepcopy]
    + [
        lambda ps, p=protocol: pickle.loads(pickle.dumps(ps, protocol=p))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ],
    ids=["deepcopy"] + [f"pickle {p}" for p in range(pickle.HIGHEST_PROTOCOL + 1)],
)
def test_copies_keep_names_values_and_ties(clone):
    weight = np.arange(6.0).reshape(2, 3)
    ps = parameters({"enc": weight, "class": [weight], "dec": weight.T, "c": np.array([9.0])})
    twin = clone(ps)
    assert type(twin) is type(ps)
    assert twin.enc is getattr(twin, "class")._1
    assert not np.shares_memory(twin.enc, weight)
    np.testing.assert_array_equal(twin.dec, weight.T)
    twin.enc[0, 1] = 50.0
    assert twin.dec[1, 0] == 50.0
    assert cv.ComponentVector(twin).tolist() == [0.0, 50.0, 2.0, 3.0, 4.0, 5.0, 9.0]


def test_a_vector_is_built_from_the_tree_with_its_ties():
    shared = np.array([1.0, 2.0])
    v = cv.ComponentVector(parameters({"x": shared, "y": np.array([3.0]), "z": shared}))
    assert v.tolist() == [1.0, 2.0, 3.0]
    v.z[0] = 10.0
    assert v.x.tolist() == [10.0, 2.0]


def test_a_vector_of_mixed_precision_is_refused_by_the_names_of_the_leaves():
    ps = parameters({"half": np.ones(1, "f2"), "net": [np.ones(1, "f4")]})
    with pytest.raises(cv.PromotionError, match=r"float16: `half`; float32: `net\._1`"):
        cv.ComponentVector(ps)


# Sharing ------------------------------------------------------------------------------------------


def test_reject_names_every_group_of_shared_parameters():
    a, b = np.ones(2), np.ones((2, 2))
    model = {"a": a, "b": b, "c": [a, b.T], "d": np.ones(2)}
    with pytest.raises(cv.SharingError, match=r"`a` and `c\._1`; `b` and `c\._2`;"):
        parameters(model, sharing="reject")


def test_reject_takes_a_model_that_shares_nothing():
    table = np.arange(6.0)
    ps = parameters({"even": table[::2], "odd": table[1::2]}, sharing="reject")
    assert names(ps) == {"even": (3,), "odd": (3,)}


def test_parameters_that_overlap_in_part_are_refused_by_name():
    table = np.arange(6.0)
    with pytest.raises(cv.SharingError, match=r"`head` and `rest\._1` overlap"):
        parameters({"head": table[:4], "rest": [table[2:]]})


def test_a_complex_array_beside_its_real_part_is_refused():
    z = np.array([1 + 2j])
    with pytest.raises(cv.SharingError, match=r"`z` and `re` overlap"):
        parameters({"z": z, "re": z.real})


def test_copy_takes_overlapping_parameters_apart():
    table = np.arange(3.0)
    v, _ = cv.destructure({"head": table[:2], "tail": table[1:]}, sharing="copy")
    assert v.tolist() == [0.0, 1.0, 1.0, 2.0]


SHARED = {
    "one object": lambda w: [w, {"again": w}],
    "transposed": lambda w: (w.T, w),
    "overlapping": lambda w: {"a": w[:1], "b": w, "c": w[1:].T},
    "one container": lambda w: [[w, np.float64(2.0)]] * 2,
    "no relation": lambda w: [w.reshape(-1), w.T, w.T.reshape(1, 3, 2)],
}


@pytest.mark.parametrize("make", SHARED.values(), ids=SHARED)
def test_the_tree_of_a_copy_policy_shares_nothing(make):
    weight = np.arange(6.0).reshape(2, 3)
    model = make(weight)
    ps, restructure = cv.trainables_nt(model, sharing="copy")
    v = cv.ComponentVector(ps)
    assert v.axis is restructure.axis
    assert v.axis.ties() == []
    assert v.tolist() == cv.destructure(model, sharing="copy")[0].tolist()
    assert weight.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_the_tree_of_a_copy_policy_keeps_the_first_array_itself():
    weight, alone = np.ones(2), np.ones(1)
    ps = parameters([weight, weight, alone], sharing="copy")
    assert ps._1 is weight
    assert ps._3 is alone
    assert not np.shares_memory(ps._2, weight)


def test_an_unknown_policy_is_refused_by_its_value():
    with pytest.raises(ValueError, match=r"'alias', 'reject' or 'copy', not 'maybe'"):
        parameters({"a": np.ones(1)}, sharing="maybe")
