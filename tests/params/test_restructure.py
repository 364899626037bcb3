"""From a vector back to a model: what it takes, what it gives, and what it is itself."""

import copy
import dataclasses
import functools
import gc
import math
import pickle
import re
import tracemalloc
import typing
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

import componentvec as cv


@dataclasses.dataclass
class Layer:
    weight: np.ndarray
    act: object = math.tanh


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    weight: np.ndarray
    act: object = math.tanh


class Pair(typing.NamedTuple):
    left: object
    right: object


def way_back(model, **options):
    return cv.destructure(model, **options)[1]


def small_model():
    return {"x": np.array([1.0, 2.0]), "y": (math.sin, np.array([[3.0], [4.0]]))}


# What it takes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        lambda v: v,
        np.asarray,
        list,
        tuple,
        lambda v: v.astype(int),
        lambda v: np.repeat(np.asarray(v), 2)[::2],
        lambda v: np.asarray(v)[::-1].copy()[::-1],
        lambda v: np.asarray(v, ">f8"),
        lambda v: np.asarray(v).view(cv.ComponentVector),
    ],
    ids=[
        "labelled",
        "flat",
        "list",
        "tuple",
        "integers",
        "strided",
        "reversed",
        "big-endian",
        "without labels",
    ],
)
def test_any_flat_array_of_the_right_length_is_taken(given):
    v, restructure = cv.destructure(small_model())
    model = restructure(given(10 * v))
    assert model["x"].tolist() == [10.0, 20.0]
    assert model["y"][1].tolist() == [[30.0], [40.0]]
    assert model["x"].dtype == np.float64


def test_a_group_of_a_larger_vector_is_taken_when_it_has_the_axis():
    whole = cv.ComponentVector(rate=0.5, net={"a": [1.0, 2.0], "b": 3.0})
    restructure = way_back({"a": np.zeros(2), "b": np.array(0.0)})
    model = restructure(whole.net)
    model["a"][0] = 9.0
    assert whole.net.a.tolist() == [9.0, 2.0]


@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (5,), (4, 1), (1, 4), (2, 2), ()], ids=str)
def test_an_array_of_another_shape_is_refused_with_both_shapes(shape):
    restructure = way_back(small_model())
    with pytest.raises(cv.LengthError) as caught:
        restructure(np.zeros(shape))
    text = str(caught.value)
    assert "`x` to `y._2`" in text
    assert text.endswith(f"of shape (4,), not {shape}")


def test_a_vector_of_another_axis_is_refused_by_the_first_difference():
    restructure = way_back(small_model())
    other = cv.ComponentVector(x=[1.0, 2.0], z={"_2": [[3.0], [4.0]]})
    with pytest.raises(cv.AxisMismatchError, match=r"`y` .*`z`"):
        restructure(other)


def test_a_vector_whose_leaf_has_another_shape_is_refused():
    restructure = way_back([np.zeros((2, 3))])
    with pytest.raises(cv.AxisMismatchError, match=r"`_1` has shape \(2, 3\).*\(3, 2\)"):
        restructure(cv.ComponentVector(_1=np.zeros((3, 2))))


def test_a_vector_that_is_not_tied_alike_is_refused():
    shared = np.zeros(2)
    restructure = way_back({"a": shared, "b": np.zeros(2), "c": shared})
    other = cv.ComponentVector({"a": np.zeros(2), "b": shared, "c": shared}, sharing="alias")
    assert len(other) == len(restructure)
    with pytest.raises(cv.AxisMismatchError):
        restructure(other)


@pytest.mark.parametrize("wrong", [None, {"x": [1.0]}, "text"], ids=repr)
def test_what_is_no_vector_is_refused(wrong):
    with pytest.raises((cv.LengthError, TypeError), match=r"vector of 4"):
        way_back(small_model())(wrong)


# What it gives ------------------------------------------------------------------------------------


def test_every_array_is_a_view_of_the_vector():
    weight = np.arange(6.0).reshape(2, 3)
    model = [weight, weight.T, weight[::-1], np.array(1.0), np.ones(3), {"d": np.ones((2, 1, 2))}]
    v, restructure = cv.destructure(model)
    *arrays, inner = restructure(v)
    arrays.append(inner["d"])
    assert all(np.shares_memory(array, v) for array in arrays)
    v[:] = np.arange(len(v)) + 100.0
    assert arrays[0].tolist() == [[100.0, 101.0, 102.0], [103.0, 104.0, 105.0]]
    assert arrays[1].tolist() == arrays[0].T.tolist()
    assert arrays[2].tolist() == arrays[0][::-1].tolist()
    assert arrays[3] == 106.0


def test_writing_the_model_writes_the_vector():
    v, restructure = cv.destructure(small_model())
    restructure(v)["y"][1][1, 0] = -4.0
    assert v.tolist() == [1.0, 2.0, 3.0, -4.0]


def test_a_strided_vector_is_viewed_too():
    buffer = np.arange(8.0)
    model = way_back(small_model())(buffer[::2])
    model["y"][1][0, 0] = -1.0
    assert buffer[4] == -1.0


def test_a_read_only_vector_gives_read_only_arrays():
    flat = np.arange(4.0)
    flat.flags.writeable = False
    model = way_back(small_model())(flat)
    assert not model["x"].flags.writeable
    assert not model["y"][1].flags.writeable


@pytest.mark.parametrize("dtype", ["restore", "follow"])
def test_plain_leaves_are_plain_arrays(dtype):
    v, restructure = cv.destructure(small_model())
    model = restructure(v, dtype=dtype)
    assert type(model["x"]) is np.ndarray
    assert type(model["y"][1]) is np.ndarray


def test_no_array_data_is_allocated():
    weight = np.ones((1000, 1000))
    v, restructure = cv.destructure([weight, {"b": np.ones((1000, 1000))}, weight.T])
    assert v.nbytes == 16_000_000
    restructure(v)
    gc.collect()
    tracemalloc.start()
    model = restructure(v)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000
    assert np.shares_memory(model[2], v)


def test_numpy_scalars_come_back_as_scalars():
    restructure = way_back({"rate": np.float32(0.5), "scale": np.array(2.0, "f4")})
    model = restructure(np.array([1.5, 2.5], "f4"))
    assert type(model["rate"]) is np.float32
    assert model["rate"] == 1.5
    assert type(model["scale"]) is np.ndarray
    assert model["scale"].shape == ()


def test_a_model_that_is_one_array_comes_back_as_one_array():
    v, restructure = cv.destructure(np.array([[1.0, 2.0]]))
    assert restructure(2 * v).tolist() == [[2.0, 4.0]]


def test_a_model_that_is_one_scalar_comes_back_as_one_scalar():
    v, restructure = cv.destructure(np.float32(2.0))
    assert type(restructure(2 * v)) is np.float32
    assert restructure(2 * v) == 4.0


# Ties ---------------------------------------------------------------------------------------------


def test_tied_arrays_of_one_shape_are_one_object():
    shared = np.array([1.0, 2.0])
    v, restructure = cv.destructure({"x": shared, "y": [shared.view(), {"z": shared}]})
    model = restructure(v)
    assert model["x"] is model["y"][0] is model["y"][1]["z"]


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 2)], ids=str)
def test_ties_hold_whatever_the_shape(shape):
    shared = np.zeros(shape)
    v, restructure = cv.destructure([shared, shared, np.zeros(shape)])
    model = restructure(v)
    assert model[0] is model[1]
    assert model[0] is not model[2]


def test_equal_transposes_are_one_object():
    weight = np.ones((2, 2))
    v, restructure = cv.destructure([weight, weight.T, weight.T])
    model = restructure(v)
    assert model[1] is model[2]
    assert np.shares_memory(model[0], model[1])


def test_a_cast_keeps_one_object_one():
    shared = np.array([1.0, 2.0], "f4")
    restructure = way_back([shared, shared])
    model = restructure(np.array([3.0, 4.0]))
    assert model[0] is model[1]
    assert model[0].dtype == np.float32


def test_a_cast_keeps_a_transposed_tie():
    weight = np.arange(6, dtype="f4").reshape(2, 3)
    encoder, decoder = way_back([weight, weight.T])(np.arange(6.0))
    assert encoder.dtype == decoder.dtype == np.float32
    assert np.shares_memory(encoder, decoder)


def test_arrays_stored_apart_by_copy_come_back_apart():
    shared = np.array([1.0, 2.0])
    restructure = way_back([shared, shared], sharing="copy")
    assert [part.tolist() for part in restructure(np.arange(4.0))] == [[0.0, 1.0], [2.0, 3.0]]


def test_a_container_stored_apart_by_copy_comes_back_as_two():
    block = {"w": np.array([1.0])}
    v, restructure = cv.destructure({"a": block, "b": [block]}, sharing="copy")
    assert len(v) == 2
    assert restructure(np.array([5.0, 6.0])) == {"a": {"w": [5.0]}, "b": [{"w": [6.0]}]}


# dtype --------------------------------------------------------------------------------------------


def mixed():
    return {"a": np.array([1.0], "f4"), "b": np.array([2.0, 3.0]), "n": np.array([4])}


def test_each_array_gets_its_own_dtype_back():
    v, restructure = cv.destructure(mixed(), promotion="allow")
    model = restructure(v)
    assert [part.dtype for part in model.values()] == [np.float32, np.float64, np.int64]


def test_only_what_has_to_be_cast_is_copied():
    v, restructure = cv.destructure(mixed(), promotion="allow")
    model = restructure(v)
    assert not np.shares_memory(model["a"], v)
    assert np.shares_memory(model["b"], v)


def test_arrays_may_follow_the_dtype_of_the_vector():
    restructure = way_back(mixed(), promotion="allow")
    vector = np.array([1, 2j, 3])
    model = restructure(vector, dtype="follow")
    assert model["a"].dtype == model["b"].dtype == np.complex128
    assert model["b"].tolist() == [2j, 3]
    assert np.shares_memory(model["a"], vector)
    assert model["n"].dtype.kind == "i"


def test_dual_and_other_numbers_of_python_follow():
    vector = np.array([Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)])
    model = way_back(mixed(), promotion="allow")(vector, dtype="follow")
    assert model["a"].tolist() == [Fraction(1, 2)]
    assert model["b"].tolist() == [Fraction(1, 3), Fraction(1, 4)]


@pytest.mark.parametrize("dtype", ["U1", "M8[D]", "S1", object])
def test_an_array_of_anything_but_numbers_is_refused_by_its_dtype(dtype):
    with pytest.raises((cv.LengthError, cv.PromotionError), match=re.escape(str(np.dtype(dtype)))):
        way_back(small_model())(np.zeros(4, "i8").astype(dtype))


def test_a_masked_vector_is_refused():
    with pytest.raises(cv.PromotionError, match="mask"):
        way_back(small_model())(np.ma.array(np.zeros(4), mask=[1, 0, 0, 0]))


def test_scalars_follow_and_are_restored():
    restructure = way_back([np.float32(1.0)])
    assert type(restructure(np.array([2.0]))[0]) is np.float32
    assert type(restructure(np.array([2.0]), dtype="follow")[0]) is np.float64


def test_big_endian_parameters_come_back_in_native_order():
    v, restructure = cv.destructure([np.array([1.0, 2.0], ">f8")])
    assert restructure(v)[0].dtype.isnative
    assert np.shares_memory(restructure(v)[0], v)


def test_complex_parameters_take_a_real_vector():
    restructure = way_back([np.array([1j, 2.0])])
    (weight,) = restructure(np.array([1.0, 2.0]))
    assert weight.dtype == np.complex128
    assert weight.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_a_complex_vector_is_refused_by_a_real_model(dtype):
    restructure = way_back({"net": [np.ones(2)]})
    with pytest.raises(cv.PromotionError) as caught:
        restructure(np.zeros(2, dtype))
    assert "`net._1` is float64" in str(caught.value)
    assert np.dtype(dtype).name in str(caught.value)
    assert "dtype='follow'" in str(caught.value)


def test_real_parameters_stored_as_complex_come_back_while_they_are_real():
    model = {"z": np.array([1j]), "net": [np.ones(1, np.float32)]}
    v, restructure = cv.destructure(model, promotion="allow")
    again = restructure(2 * v)
    assert again["net"][0].dtype == np.float32
    assert again["net"][0].tolist() == [2.0]
    assert again["z"].tolist() == [2j]


@pytest.mark.parametrize("wrong", [1e-300j, 2 + 1j, complex(0, np.nan)], ids=str)
def test_no_imaginary_part_is_ever_dropped(wrong):
    v, restructure = cv.destructure([np.array([1j]), np.ones(2)], promotion="allow")
    v[2] = wrong
    with pytest.raises(cv.PromotionError) as caught:
        restructure(v)
    assert str(caught.value) == (
        f"`_2` is float64 and cannot take {v[2]}; pass dtype='follow' to give the model the "
        "vector's dtype, or use destructure_by_dtype"
    )


@pytest.mark.parametrize("dtype", ["f8", None, float], ids=repr)
def test_an_unknown_dtype_rule_is_refused_by_its_value(dtype):
    v, restructure = cv.destructure([np.ones(1)])
    with pytest.raises(ValueError, match=r"'restore' or 'follow', not "):
        restructure(v, dtype=dtype)


# Statics ------------------------------------------------------------------------------------------


def test_statics_come_back_by_reference():
    steps, words, table = np.arange(3), {"a"}, np.array([None, 1], object)

    def function(x):
        return x

    model = {"w": np.ones(1), "f": [function, math.sin], "n": steps, "s": words, "t": table}
    v, restructure = cv.destructure(model)
    again = restructure(v)
    assert again["f"][0] is function
    assert again["f"][1] is math.sin
    assert again["n"] is steps
    assert again["s"] is words
    assert again["t"] is table


def test_empty_containers_and_none_come_back_in_their_places():
    model = {"a": [], "b": (), "c": {}, "n": None, "d": np.array([1.0]), "e": [[], ({},)]}
    v, restructure = cv.destructure(model)
    again = restructure(v)
    assert list(again) == list(model)
    assert again.pop("d").tolist() == [1.0]
    assert again == {"a": [], "b": (), "c": {}, "n": None, "e": [[], ({},)]}


@pytest.mark.parametrize(
    "block",
    [{"w": np.ones(1)}, {"n": 3}, [], {}, [[]], Layer(np.ones(1)), Pair(1, np.ones(2))],
    ids=["parameters", "statics", "empty list", "empty dict", "nested", "dataclass", "named tuple"],
)
def test_a_container_at_two_places_comes_back_as_one(block):
    v, restructure = cv.destructure({"a": block, "b": [block], "c": np.ones(1)})
    again = restructure(v)
    assert again["a"] is again["b"][0]
    assert again["a"] is not block


@pytest.mark.parametrize("sharing", ["reject", "copy"])
def test_a_container_of_statics_stays_one_whatever_happens_to_parameters(sharing):
    block = {"n": 3, "inner": []}
    v, restructure = cv.destructure([block, [block], np.ones(1)], sharing=sharing)
    again = restructure(v)
    assert again[0] is again[1][0]
    assert again[0] == block


# Containers ---------------------------------------------------------------------------------------


def parts_of(model):
    v, restructure = cv.destructure(model)
    return restructure(10 * v)


def test_lists_and_tuples_keep_their_types():
    again = parts_of([(np.ones(1), [np.ones(1)])])
    assert again == [([10.0], [[10.0]])]
    assert type(again[0]) is tuple
    assert type(again[0][1]) is list


@pytest.mark.parametrize("kind", [dict, OrderedDict, Counter], ids=lambda kind: kind.__name__)
def test_dicts_keep_their_types_keys_and_order(kind):
    again = parts_of(kind({"z": np.ones(1), 3: 7, "a": np.ones(1), (1, "x"): None}))
    assert type(again) is kind
    assert list(again.items()) == [("z", [10.0]), (3, 7), ("a", [10.0]), ((1, "x"), None)]


def test_defaultdicts_keep_their_factory():
    again = parts_of(defaultdict(list, a=np.ones(1)))
    assert again["new"] == []


def test_read_only_mappings_come_back_read_only():
    again = parts_of(MappingProxyType({"a": np.ones(1)}))
    assert type(again) is MappingProxyType
    assert again["a"].tolist() == [10.0]


def test_a_mapping_that_keeps_its_items_in_a_dict_is_rebuilt():
    made = parts_of({"m": UserDict(a=np.ones(1))})
    assert type(made["m"]) is UserDict
    assert made["m"].data["a"].tolist() == [10.0]


def test_a_mapping_that_cannot_be_rebuilt_is_refused():
    with pytest.raises(cv.UnregisteredTypeError, match=r"`m` is of class ChainMap"):
        parts_of({"m": ChainMap({"a": np.ones(1)})})


def test_subclasses_of_containers_are_rebuilt_without_their_own_methods():
    class Registry(dict):
        def __init__(self, source, *items):
            self.source = source
            for key, value in items:
                dict.__setitem__(self, key, value)

        def __setitem__(self, key, value):
            raise AssertionError

    class Stack(list):
        def __init__(self, *items, tag):
            list.extend(self, items)
            self.tag = tag

        def append(self, item):
            raise AssertionError

        extend = append

    class Couple(tuple):
        def __new__(cls, one, two):
            made = super().__new__(cls, (one, two))
            made.note = "kept"
            return made

    again = parts_of(
        Registry("file", ("s", Stack(np.ones(1), tag=7)), ("c", Couple(1, np.ones(1))))
    )
    assert type(again) is Registry
    assert again.source == "file"
    assert type(again["s"]) is Stack
    assert again["s"].tag == 7
    assert again["s"][0].tolist() == [10.0]
    assert type(again["c"]) is Couple
    assert again["c"].note == "kept"


def test_named_tuples_keep_their_class():
    again = parts_of(Pair(np.ones(1), Pair("x", np.ones(1))))
    assert type(again) is type(again.right) is Pair
    assert again.right == ("x", [10.0])


def test_named_trees_keep_their_class():
    ps, _ = cv.trainables_nt({"class": np.ones(1), "_x": [np.ones(1)]})
    again = parts_of(ps)
    assert type(again) is type(ps)
    assert again._x._1.tolist() == [10.0]


def test_dataclasses_are_rebuilt_without_their_constructors():
    @dataclasses.dataclass
    class Strict:
        weight: np.ndarray
        scale: float = 2.0
        cache: object = dataclasses.field(init=False, default=None, repr=False)
        seed: dataclasses.InitVar[int] = 0

        def __post_init__(self, seed):
            self.calls.append(seed)

        calls: typing.ClassVar[list] = []

    model = Strict(np.ones(1), seed=5)
    model.cache = "built"
    model.extra = "kept"
    again = parts_of(model)
    assert type(again) is Strict
    assert again.weight.tolist() == [10.0]
    assert (again.scale, again.cache, again.extra) == (2.0, "built", "kept")
    assert Strict.calls == [5]


def test_frozen_dataclasses_with_slots_are_rebuilt():
    again = parts_of([Frozen(np.ones(1))])[0]
    assert type(again) is Frozen
    assert again.weight.tolist() == [10.0]
    assert again.act is math.tanh


def test_slots_beside_a_dict_are_rebuilt():
    @dataclasses.dataclass
    class Base:
        weight: np.ndarray

    @dataclasses.dataclass
    class Child(Base):
        __slots__ = ("bias",)
        bias: np.ndarray

    again = parts_of(Child(np.ones(1), np.ones(2)))
    assert again.weight.tolist() == [10.0]
    assert again.bias.tolist() == [10.0, 10.0]
    assert vars(again).keys() == {"weight"}


def test_values_cached_from_the_old_parameters_are_dropped():
    @dataclasses.dataclass
    class Norm:
        weight: np.ndarray

        @functools.cached_property
        def norm(self):
            return float(np.linalg.norm(self.weight))

    class Child(Norm):
        pass

    model = Child(np.array([3.0, 4.0]))
    assert model.norm == 5.0
    again = parts_of(model)
    assert again.norm == 50.0
    assert model.norm == 5.0


def test_a_field_never_set_stays_unset():
    @dataclasses.dataclass
    class Lazy:
        weight: np.ndarray = dataclasses.field(init=False)
        bias: np.ndarray | None = None

    again = parts_of(Lazy(np.ones(1)))
    assert again.bias.tolist() == [10.0]
    assert not hasattr(again, "weight")


def test_models_500_levels_deep_come_back():
    model = np.ones(1)
    for level in range(500):
        model = {"a": model} if level % 2 else [model]
    v, restructure = cv.destructure(model)
    restructure = pickle.loads(pickle.dumps(restructure))
    again = restructure(2 * v)
    for level in reversed(range(500)):
        again = again["a"] if level % 2 else again[0]
    assert again.tolist() == [2.0]
    assert restructure == way_back(model)


# From a NamedTree ---------------------------------------------------------------------------------


def test_a_tree_gives_the_model_of_its_own_arrays():
    ps, restructure = cv.trainables_nt(small_model())
    new = ps._replace(x=np.array([5.0, 6.0]))
    model = restructure(new)
    assert model["x"] is new.x
    assert model["y"][0] is math.sin
    assert model["y"][1] is ps.y._2


def test_a_tree_is_matched_by_name_whatever_its_order():
    _, restructure = cv.trainables_nt({"a": np.zeros(1), "b": np.zeros(1)})
    other, _ = cv.trainables_nt({"b": np.array([2.0]), "a": np.array([1.0])})
    assert restructure(other) == {"a": [1.0], "b": [2.0]}


def test_a_tree_with_equal_values_at_tied_sites_gives_one_object():
    shared = np.array([1.0, 2.0])
    ps, restructure = cv.trainables_nt([shared, shared])
    model = restructure(ps._make([np.array([3.0, 4.0]), np.array([3.0, 4.0])]))
    assert model[0] is model[1]
    assert model[0].tolist() == [3.0, 4.0]


def test_a_tree_with_equal_values_at_transposed_sites_is_tied_again():
    weight = np.arange(6.0).reshape(2, 3)
    ps, restructure = cv.trainables_nt([weight, weight.T])
    encoder, decoder = restructure(ps._make([weight.copy(), weight.T.copy()]))
    encoder[0, 1] = 50.0
    assert decoder[1, 0] == 50.0


def test_a_tree_that_has_to_be_cast_is_tied_all_the_same():
    weight = np.arange(6, dtype="f4").reshape(2, 3)
    ps, restructure = cv.trainables_nt([weight, weight.T, weight])
    doubles = ps._make([weight.astype(float), weight.T.astype(float), weight.astype(float)])
    one, two, three = restructure(doubles)
    assert one is three
    assert one.dtype == two.dtype == np.float32
    two[2, 1] = -1.0
    assert one.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, -1.0]]


def test_a_tree_whose_tied_sites_differ_is_refused_by_their_names():
    shared = np.array([1.0, 2.0])
    ps, restructure = cv.trainables_nt({"x": shared, "y": [shared]})
    with pytest.raises(cv.SharingError, match=r"`x` and `y\._1` are tied.*different values"):
        restructure(ps._replace(x=np.array([1.0, 2.5])))


def test_a_tree_is_restored_to_the_dtypes_of_the_model():
    ps, restructure = cv.trainables_nt([np.ones(1, "f4"), np.float32(2)])
    doubles = ps._make([np.array([0.1]), np.float64(0.2)])
    array, scalar = restructure(doubles)
    assert array.dtype == np.float32
    assert type(scalar) is np.float32
    array, scalar = restructure(doubles, dtype="follow")
    assert array.dtype == np.float64
    assert type(scalar) is np.float64


def test_a_tree_of_complex_values_is_refused_where_a_parameter_is_real():
    ps, restructure = cv.trainables_nt({"net": [np.ones(1)]})
    with pytest.raises(cv.PromotionError, match=r"`net\._1` is float64.*complex128"):
        restructure(ps._replace(net=ps.net._make([np.array([1j])])))


@pytest.mark.parametrize(
    ("tree", "error", "message"),
    [
        ({"x": np.ones(2)}, cv.LabelError, r"`y` is missing"),
        ({"x": np.ones(2), "z": np.ones(1)}, cv.LabelError, r"`z`"),
        ({"x": np.ones(2), "y": [1, np.ones((1, 2))]}, cv.LengthError, r"`y\._2` has shape \(2, 1"),
        ({"x": np.ones(2), "y": np.ones(2)}, cv.LengthError, r"`y`"),
    ],
    ids=["missing", "unknown", "shape", "leaf for a group"],
)
def test_a_tree_of_another_structure_is_refused_by_the_path(tree, error, message):
    with pytest.raises(error, match=message):
        way_back(small_model())(cv.trainables_nt(tree)[0])


# What it is itself --------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_keep_everything(protocol):
    weight = np.arange(6.0).reshape(2, 3)
    model = {"e": Layer(weight), "d": [Frozen(weight.T), Pair(None, weight)], "n": np.arange(2)}
    v, restructure = cv.destructure(model)
    again = pickle.loads(pickle.dumps(restructure, protocol=protocol))
    assert again == restructure
    assert hash(again) == hash(restructure)
    assert again.axis == v.axis
    twin = again(10 * v)
    assert twin["e"].weight is twin["d"][1].right
    assert twin["d"][0].weight.tolist() == (10 * weight.T).tolist()
    assert twin["d"][0].act is math.tanh
    assert twin["n"].tolist() == [0, 1]


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy])
def test_copies_are_equal(clone):
    restructure = way_back(small_model())
    assert clone(restructure) == restructure


def test_it_holds_no_parameter_values():
    weight, bias = np.ones(2), np.ones(3)
    dead = [weakref.ref(weight), weakref.ref(bias)]
    ps, restructure = cv.trainables_nt([Layer(weight), {"b": bias}])
    model = restructure(restructure.flatten(ps))
    restructure.pullback(model)
    del weight, bias, ps, model
    assert [ref() for ref in dead] == [None, None]


def test_its_pickle_is_small():
    assert len(pickle.dumps(way_back([np.ones((1000, 100))]))) < 2000


def test_it_is_equal_for_models_of_one_structure_whatever_the_values():
    one, two = (
        way_back(small_model()),
        way_back({"x": np.zeros(2), "y": (math.sin, np.ones((2, 1)))}),
    )
    assert one == two
    assert hash(one) == hash(two)
    assert one == cv.trainables_nt(small_model())[1]


@pytest.mark.parametrize(
    "other",
    [
        {"x": np.zeros(2), "y": (math.cos, np.zeros((2, 1)))},
        {"x": np.zeros(2), "y": [math.sin, np.zeros((2, 1))]},
        {"x": np.zeros(2), "y": (math.sin, np.zeros((1, 2)))},
        {"x": np.zeros(2, "f4"), "y": (math.sin, np.zeros((2, 1), "f4"))},
        {"y": (math.sin, np.zeros((2, 1))), "x": np.zeros(2)},
        {"x": np.zeros(2), "y": (math.sin, np.zeros((2, 1))), "n": None},
        OrderedDict(x=np.zeros(2), y=(math.sin, np.zeros((2, 1)))),
    ],
    ids=["static", "container", "shape", "dtype", "order", "more statics", "dict class"],
)
def test_it_differs_for_models_that_differ(other):
    assert way_back(small_model()) != way_back(other)


def test_ties_make_a_difference():
    shared = np.ones(2)
    assert way_back([shared, shared]) != way_back([np.ones(2), np.ones(2)])
    assert way_back([shared, shared]) != way_back([shared, shared], sharing="copy")


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [
        (np.array([[1, 2], [3, 4]]), np.asfortranarray([[1, 2], [3, 4]]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([1, 2]), np.array([1, 2], "i2"), False),
        (np.array([1, 2]), np.array([[1, 2]]), False),
        (np.array([1]), 1, False),
        (1, True, False),
        (1, np.int64(1), False),
        ("a", "a", True),
        ({1, 2}, {2, 1}, True),
        (float("nan"), float("nan"), True),
    ],
    ids=[
        "same bytes",
        "values",
        "dtypes",
        "shapes",
        "array and number",
        "int and bool",
        "int and NumPy int",
        "texts",
        "sets",
        "nan",
    ],
)
def test_statics_are_compared_by_type_and_value(one, two, equal):
    left, right = ({"w": np.ones(1), "s": static} for static in (one, two))
    assert (way_back(left) == way_back(right)) is equal


def test_arrays_on_a_dataclass_beside_its_fields_are_compared_too():
    def model(*index):
        layer = Layer(np.ones(1))
        layer.index = np.array(index)
        return layer

    assert way_back(model(1, 2)) == way_back(model(1, 2))
    assert way_back(model(1, 2)) != way_back(model(1, 3))
    restructure = way_back(model(1, 2))
    assert pickle.loads(pickle.dumps(restructure)) == restructure


def test_a_static_that_compares_elementwise_is_no_trap():
    class Table:
        def __eq__(self, other):
            return np.array([True, False])

    table = Table()
    assert way_back([np.ones(1), table]) == way_back([np.ones(1), table])
    assert way_back([np.ones(1), table]) != way_back([np.ones(1), Table()])


def test_it_is_a_key_of_dicts():
    one, two = way_back(small_model()), way_back(small_model())
    assert {one: "compiled"}[two] == "compiled"


def test_it_is_no_other_object():
    assert way_back(small_model()) != 4


def test_it_cannot_be_changed():
    restructure = way_back(small_model())
    with pytest.raises(AttributeError):
        restructure.axis = None


def test_its_length_is_that_of_the_vectors():
    v, restructure = cv.destructure(small_model())
    assert len(restructure) == len(v) == 4
    assert restructure.axis is v.axis


def test_it_is_generic_in_the_model():
    assert typing.get_origin(cv.Restructure[Layer]) is cv.Restructure
    assert typing.get_args(cv.Restructure[Layer]) == (Layer,)


def test_its_repr_is_short_and_tells_the_size():
    small = repr(way_back(small_model()))
    assert "4 float64" in small
    assert "'x'" in small
    assert len(repr(way_back({f"w{k}": np.ones(1) for k in range(1000)}))) < 200
