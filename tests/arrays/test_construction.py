import dataclasses
import enum
import itertools
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import componentvec as cv

Point = namedtuple("Point", "x y")
Colour = enum.IntEnum("Colour", "RED GREEN")


@dataclasses.dataclass(frozen=True)
class Body:
    mass: float
    at: np.ndarray


@dataclasses.dataclass(slots=True)
class Slotted:
    mass: float
    at: np.ndarray


# What components may come as ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "components",
    [
        {"x": 1.0, "y": [2.0, 3.0]},
        OrderedDict(x=1.0, y=[2.0, 3.0]),
        defaultdict(list, x=1.0, y=[2.0, 3.0]),
        MappingProxyType({"x": 1.0, "y": [2.0, 3.0]}),
        UserDict(x=1.0, y=[2.0, 3.0]),
        Point(1.0, [2.0, 3.0]),
        dataclasses.make_dataclass("Made", ["x", "y"])(1.0, [2.0, 3.0]),
        cv.trainables_nt({"x": np.float64(1.0), "y": np.array([2.0, 3.0])})[0],
        cv.ComponentVector(x=1.0, y=[2.0, 3.0]),
    ],
    ids=lambda components: type(components).__name__,
)
def test_anything_with_names_is_taken(components):
    made = cv.ComponentVector(components)
    assert made.axis == cv.Axis(x=(), y=2)
    assert made.tolist() == [1.0, 2.0, 3.0]


def test_keywords_are_components():
    made = cv.ComponentVector(x=1.0, y=[2.0, 3.0])
    assert made.axis.names == ("x", "y")
    assert made.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "first",
    [{"x": 1.0}, cv.ComponentVector(x=1.0), dataclasses.make_dataclass("X", ["x"])(1.0)],
    ids=["mapping", "vector", "dataclass"],
)
def test_keywords_come_behind_the_first_argument(first):
    made = cv.ComponentVector(first, y=[2.0, 3.0], a=4.0)
    assert made.axis.names == ("x", "y", "a")
    assert made.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_sequence_has_positions_counted_from_one():
    made = cv.ComponentVector([np.zeros(2), Point(1.0, [2.0])])
    assert list(made.axis.paths()) == ["_1", "_2.x", "_2.y"]


def test_a_list_of_records_is_a_group_of_positions():
    layers = [{"w": [1.0, 2.0]}, {"w": [3.0]}, ()]
    made = cv.ComponentVector(layers=layers)
    assert made.axis == cv.Axis(layers={"_1": {"w": 2}, "_2": {"w": 1}, "_3": {}})


@pytest.mark.parametrize(
    "components",
    [Body(1.0, np.array([2.0, 3.0])), Slotted(1.0, np.array([2.0, 3.0]))],
    ids=["frozen", "slots"],
)
def test_dataclass_fields_are_components(components):
    made = cv.ComponentVector(body=components)
    assert list(made.axis.paths()) == ["body.mass", "body.at"]
    assert made.tolist() == [1.0, 2.0, 3.0]


def test_a_mapping_may_use_the_names_of_options():
    with pytest.warns(cv.ShadowedNameWarning, match="axis"):
        made = cv.ComponentVector({"sharing": 1.0, "axis": 2.0, "promotion": 3.0})
    assert made.axis.names == ("sharing", "axis", "promotion")
    assert made.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (2.5, ()),
        (True, ()),
        (Colour.GREEN, ()),
        (np.float64(2.5), ()),
        (np.array(2.5), ()),
        ([1.0, 2], (2,)),
        ((1.0, 2.0), (2,)),
        ([[1.0, 2.0, 3.0]], (1, 3)),
        ([(1.0,), (2.0,)], (2, 1)),
        ([True, False], (2,)),
        ([np.float32(1.0), 2.0], (2,)),
        (list(np.ones((2, 2)).tolist()), (2, 2)),
        ([[np.float64(1.0)], [np.float64(2.0)]], (2, 1)),
        (np.zeros((2, 0, 3)), (2, 0, 3)),
        (np.ones((1, 2)).view(np.matrix), (1, 2)),
    ],
    ids=str,
)
def test_numbers_lists_of_numbers_and_arrays_are_leaves(value, shape):
    made = cv.ComponentVector(a=value)
    assert made.axis == cv.Axis(a=shape)
    assert made.tolist() == np.ravel(value).tolist()


def test_a_list_of_numpy_scalars_has_their_dtype():
    assert cv.ComponentVector(a=[np.float32(1.0), 2, True]).dtype == np.float32
    assert cv.ComponentVector(a=[np.int8(1), np.int8(2)]).dtype == np.int8


@pytest.mark.parametrize("empty", [[], (), {}], ids=repr)
def test_an_empty_container_is_an_empty_group(empty):
    made = cv.ComponentVector(before=1.0, nothing=empty, after=2.0)
    assert made.axis == cv.Axis(before=(), nothing={}, after=())
    assert made.nothing.size == 0
    assert isinstance(made.nothing, cv.Labelled)


@pytest.mark.parametrize("nothing", [None, {}, [], ()], ids=repr)
def test_no_components_make_an_empty_vector(nothing):
    made = cv.ComponentVector(nothing)
    assert made.shape == (0,)
    assert made.dtype == np.float64
    assert made.axis == cv.Axis()


def test_five_hundred_levels_are_no_problem():
    tree = {"leaf": [1.0, 2.0]}
    for _ in range(500):
        tree = {"g": tree}
    made = cv.ComponentVector(tree)
    assert made[cv.path(*["g"] * 500, "leaf")].tolist() == [1.0, 2.0]
    assert "(39) g" in repr(made)


# The buffer --------------------------------------------------------------------------------------

ARRANGEMENTS = {
    "Fortran order": np.asfortranarray,
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
    "transposed": lambda a: a.T.copy().T,
}


@pytest.mark.parametrize("arrange", ARRANGEMENTS.values(), ids=ARRANGEMENTS)
def test_a_leaf_of_any_arrangement_is_stored_by_index(arrange):
    values = np.arange(6.0).reshape(2, 3)
    given_leaf = arrange(values)
    made = cv.ComponentVector(before=-1.0, m=given_leaf)
    assert made.tolist() == [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    np.testing.assert_array_equal(made.m, given_leaf)


@pytest.mark.parametrize("arrange", ARRANGEMENTS.values(), ids=ARRANGEMENTS)
def test_the_buffer_is_new_contiguous_aligned_writable_and_native(arrange):
    leaf = arrange(np.arange(6.0).reshape(2, 3))
    made = cv.ComponentVector(m=leaf)
    assert made.flags.c_contiguous
    assert made.flags.aligned
    assert made.flags.writeable
    assert made.dtype.isnative
    assert made.ndim == 1
    assert not np.shares_memory(made, leaf)


def test_a_broadcast_leaf_is_stored_in_full():
    made = cv.ComponentVector(m=np.broadcast_to([1.0, 2.0], (3, 2)))
    made.m[0] = 9.0
    assert made.tolist() == [9.0, 9.0, 1.0, 2.0, 1.0, 2.0]


def test_a_vector_is_copied_too(v):
    made = cv.ComponentVector(v)
    made[:] = 0.0
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


def test_a_vector_may_be_a_component(v):
    made = cv.ComponentVector(first=v, second=-v)
    assert made.first.axis == made.second.axis == v.axis
    assert made.second.net.scale == -8.0


leaves = hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
trees = st.recursive(
    leaves,
    lambda inner: st.dictionaries(st.sampled_from("abcde"), inner, max_size=4),
    max_leaves=6,
)


def flat(tree):
    """All values of a nested dict, each leaf in C order by index: the slow way."""
    if isinstance(tree, dict):
        return list(itertools.chain.from_iterable(flat(part) for part in tree.values()))
    return [tree[index] for index in np.ndindex(tree.shape)]


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from("abcde"), trees, max_size=4))
def test_the_buffer_holds_the_leaves_in_order(tree):
    made = cv.ComponentVector(tree, sharing="copy")
    np.testing.assert_array_equal(made, np.array(flat(tree)))


# Sharing -----------------------------------------------------------------------------------------


def test_shared_arrays_are_refused_by_default():
    z = np.zeros(3)
    with pytest.raises(cv.SharingError) as error:
        cv.ComponentVector(pos=z, vel=z)
    assert str(error.value) == (
        "these components share memory: `pos` and `vel`; pass sharing='alias' to store them once "
        "and keep them tied, or sharing='copy' to store each apart"
    )


def test_alias_stores_shared_arrays_once():
    z = np.zeros(3)
    made = cv.ComponentVector(pos=z, vel=z, sharing="alias")
    made.pos = [1.0, 2.0, 3.0]
    assert made.size == 3
    assert made.vel.tolist() == [1.0, 2.0, 3.0]


def test_copy_stores_shared_arrays_apart():
    z = np.zeros(3)
    made = cv.ComponentVector(pos=z, vel=z, sharing="copy")
    made.pos = 1.0
    assert made.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


def test_a_shared_container_is_met_under_both_names():
    layer = {"w": np.ones(2), "rate": 0.5}
    with pytest.raises(cv.SharingError, match=r"`one\.w` and `two\.w`;"):
        cv.ComponentVector(one=layer, two=layer)
    made = cv.ComponentVector(one=layer, two=layer, sharing="alias")
    assert made.axis.ties() == [("one.w", "two.w"), ("one.rate", "two.rate")]


def test_parameters_of_a_model_are_aliased_by_default():
    w = np.arange(6.0).reshape(2, 3)
    ps, _ = cv.trainables_nt([w, w.T])
    assert cv.ComponentVector(ps).axis.ties() == [("_1", "_2")]
    with pytest.raises(cv.SharingError, match="`_1` and `_2`"):
        cv.ComponentVector(ps, sharing="reject")


@pytest.mark.parametrize("policy", [None, "reject", "alias"])
def test_the_ties_of_a_vector_stay(tied, policy):
    again = cv.ComponentVector(tied, sharing=policy)
    assert again.axis is tied.axis
    assert again.tolist() == tied.tolist()


@pytest.mark.parametrize("policy", [None, "reject", "alias"])
def test_the_ties_of_a_vector_stay_beside_keywords(tied, policy):
    more = cv.ComponentVector(tied, extra=[1.0], sharing=policy)
    assert more.axis.ties() == tied.axis.ties()
    assert more.tolist() == [*tied.tolist(), 1.0]


def test_tied_scalars_of_a_vector_stay_tied():
    s = np.array(2.0)
    pair = cv.ComponentVector(a=s, b=s, sharing="alias")
    assert cv.ComponentVector(pair, c=1.0).axis.ties() == [("a", "b")]


@pytest.mark.parametrize("policy", ["reject", "alias"])
def test_ties_without_elements_stay(policy):
    z = np.zeros((0, 2))
    pair = cv.ComponentVector(a=z, b=z, sharing="alias")
    assert cv.ComponentVector(pair, sharing=policy).axis == pair.axis


def test_copy_unties_a_vector(tied):
    loose = cv.ComponentVector(tied, sharing="copy")
    assert loose.axis.ties() == []
    np.testing.assert_array_equal(loose.decoder.weight, tied.decoder.weight)
    assert loose.size == tied.size + 6


def test_one_vector_under_two_names_is_refused(v):
    with pytest.raises(cv.SharingError, match=r"`one\.bias` and `two\.bias`"):
        cv.ComponentVector(one=v, two=v)


# Errors ------------------------------------------------------------------------------------------

LEAVES_THAT_ARE_NO_NUMBERS = {
    "string": ("text", "`g.a` is a str; a component is a number, an array or a group of these"),
    "bytes": (b"text", "`g.a` is a bytes; a component is a number"),
    "None": (None, "`g.a` is a NoneType; a component is a number"),
    "set": ({1.0}, "`g.a` is a set; a component is a number"),
    "range": (range(3), "`g.a` is a range; a component is a number"),
    "generator": ((x for x in ()), "`g.a` is a generator; a component is a number"),
    "fraction": (Fraction(1, 2), "`g.a` is a Fraction; a component is a number"),
    "class": (Body, "`g.a` is a type; a component is a number"),
    "objects": (np.array([1, None]), "`g.a` has dtype object; a vector holds numbers only"),
    "strings": (np.array(["x"]), "`g.a` has dtype <U1; a vector holds numbers only"),
    "dates": (np.array(["2020"], "M8[D]"), "`g.a` has dtype datetime64[D]; a vector holds"),
    "date": (np.datetime64("2020-01-01"), "`g.a` has dtype datetime64[D]; a vector holds"),
    "durations": (np.array([1], "m8[s]"), "`g.a` has dtype timedelta64[s]; a vector holds"),
    "records": (np.zeros(1, [("x", float)]), "`g.a` has dtype [('x', '<f8')]; a vector holds"),
    "void": (np.void(b"x"), "`g.a` has dtype |V1; a vector holds"),
    "masked": (np.ma.array([1.0], mask=[True]), "`g.a` is a masked array; a vector has no place"),
    "list with None": ([1.0, None], "`g.a._2` is a NoneType; a component is a number"),
}


@pytest.mark.parametrize(
    ("leaf", "message"), LEAVES_THAT_ARE_NO_NUMBERS.values(), ids=LEAVES_THAT_ARE_NO_NUMBERS
)
def test_a_leaf_that_is_no_number_is_refused_by_its_path(leaf, message):
    with pytest.raises(cv.PromotionError) as error:
        cv.ComponentVector(g={"a": leaf})
    assert message in str(error.value)


@pytest.mark.parametrize(
    "components",
    [5.0, np.float64(5.0), np.zeros(3), [1.0, 2.0], (1.0,), "text", object()],
    ids=lambda components: type(components).__name__,
)
def test_components_without_names_are_refused(components):
    with pytest.raises(cv.LabelError) as error:
        cv.ComponentVector(components)
    assert str(error.value) == (
        f"{type(components).__name__} has no component names; pass a mapping, a named tuple, a "
        "dataclass or keywords, or axis= to label a flat array"
    )


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ({1: 2.0}, "component names are strings; the mapping has the key 1"),
        ({"a": {"b": {(0, 1): 2.0}}}, "component names are strings; `a.b` has the key (0, 1)"),
        ({"a": 1.0, b"b": 2.0}, "component names are strings; the mapping has the key b'b'"),
    ],
)
def test_keys_that_are_no_strings_are_refused(components, message):
    with pytest.raises(cv.LabelError) as error:
        cv.ComponentVector(components)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "first", [{"a": 1.0}, cv.ComponentVector(a=1.0)], ids=["mapping", "vector"]
)
def test_a_name_given_twice_is_refused(first):
    with pytest.raises(cv.LabelError) as error:
        cv.ComponentVector(first, a=2.0)
    assert str(error.value) == "component 'a' is given twice: in the first argument and by keyword"


def test_keywords_do_not_go_with_something_without_names():
    with pytest.raises(cv.LabelError, match="ndarray has no component names"):
        cv.ComponentVector(np.zeros(3), a=1.0)


@pytest.mark.parametrize(
    "numbers", [[[1.0, 2.0], [3.0]], [1.0, [2.0]], [np.float32(1.0), np.float64(2.0)]], ids=str
)
def test_a_list_of_numbers_that_is_no_array_is_refused(numbers):
    with pytest.raises(cv.LengthError) as error:
        cv.ComponentVector(g={"a": numbers})
    assert str(error.value) == (
        "`g.a` is a list of numbers that is not rectangular, or of several dtypes"
    )


def cyclic_dict():
    cycle = {"x": 1.0}
    cycle["again"] = {"deeper": cycle}
    return cycle


def cyclic_list():
    cycle = [1.0]
    cycle.append(cycle)
    return cycle


@pytest.mark.parametrize("cycle", [cyclic_dict(), cyclic_list()], ids=["dict", "list"])
def test_a_container_that_holds_itself_is_refused(cycle):
    with pytest.raises(cv.SharingError, match=r"`a\..*` is `a` again; a cycle has no end"):
        cv.ComponentVector(a=cycle)


def test_a_root_that_holds_itself_is_refused():
    with pytest.raises(cv.SharingError, match=r"`again\.deeper` is the mapping itself again; a"):
        cv.ComponentVector(cyclic_dict())


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"sharing": "never"}, "sharing must be 'alias', 'reject' or 'copy', not 'never'"),
        ({"promotion": "maybe"}, "promotion must be 'reject' or 'allow', not 'maybe'"),
    ],
)
def test_unknown_policies_are_refused(option, message):
    with pytest.raises(ValueError, match=message):
        cv.ComponentVector({"a": 1.0}, **option)


def test_an_owned_name_warns_once_at_the_callers_line():
    with pytest.warns(cv.ShadowedNameWarning) as caught:
        kept = cv.ComponentVector(strides=1.0, group={"mean": 2.0})
    cv.ComponentVector(strides=3.0, group={"mean": 4.0})  # warnings are errors here
    assert kept["strides"] == 1.0
    assert [str(warning.message) for warning in caught] == [
        "component 'strides' has the name of an array attribute; reach it as v[\"strides\"]",
        "component 'mean' has the name of an array attribute; reach it as v[\"mean\"]",
    ]
    assert {warning.filename for warning in caught} == {__file__}


# zeros and full ----------------------------------------------------------------------------------


def test_zeros_makes_a_labelled_vector_of_zeros(v):
    made = cv.zeros(v.axis)
    assert made.axis is v.axis
    assert made.dtype == np.float64
    assert made.tolist() == [0.0] * 8
    assert cv.zeros(v.axis, np.complex64).dtype == np.complex64


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [(3, None, np.int64), (3.5, None, np.float64), (3, np.float32, np.float32)],
)
def test_full_takes_its_dtype_from_the_value_or_the_caller(v, value, dtype, expected):
    made = cv.full(v.axis, value, dtype)
    assert made.axis is v.axis
    assert made.dtype == expected
    assert made.tolist() == [value] * 8
