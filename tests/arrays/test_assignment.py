import dataclasses
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import componentvec as cv

NUMBERS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

# One leaf ----------------------------------------------------------------------------------------

SETTERS = {
    "attribute": lambda v, value: setattr(v.net, "weight", value),
    "bracket": lambda v, value: v["net"].__setitem__("weight", value),
    "dotted": lambda v, value: v.__setitem__("net.weight", value),
    "path": lambda v, value: v.__setitem__(cv.path("net", 0), value),
    "one-tuple": lambda v, value: v.__setitem__(("net.weight",), value),
    "mapping to the group": lambda v, value: setattr(v, "net", {"weight": value}),
    "mapping to the whole": lambda v, value: v.__setitem__(slice(None), {"net": {"weight": value}}),
    "ellipsis": lambda v, value: v.__setitem__(..., {"net": {"weight": value}}),
}


@pytest.mark.parametrize("put", SETTERS.values(), ids=SETTERS)
@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, [0.0, 0.0, 0.0, 0.0]),
        ([10, 20], [10.0, 20.0, 10.0, 20.0]),
        ([[10.0], [20.0]], [10.0, 10.0, 20.0, 20.0]),
        (np.array([[1, 2], [3, 4]]).T, [1.0, 3.0, 2.0, 4.0]),
        (np.arange(4, dtype=">f4").reshape(2, 2)[::-1], [2.0, 3.0, 0.0, 1.0]),
        (np.float32(0.5), [0.5] * 4),
        (True, [1.0] * 4),
        (np.arange(4.0).reshape(1, 2, 2), [0.0, 1.0, 2.0, 3.0]),
    ],
    ids=lambda value: None if isinstance(value, list) else type(value).__name__,
)
def test_a_leaf_takes_what_broadcasts_into_it(v, put, value, written):
    weight = v.net.weight
    put(v, value)
    assert v.tolist() == [*NUMBERS[:3], *written, 8.0]
    assert weight.ravel().tolist() == written


@pytest.mark.parametrize("put", SETTERS.values(), ids=SETTERS)
@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], np.zeros((2, 2, 2)), [], np.zeros((4,))])
def test_a_leaf_refuses_what_does_not_broadcast(v, put, value):
    with pytest.raises(cv.LengthError, match=r"^`(net\.)?weight` has shape \(2, 2\): .*broadcast"):
        put(v, value)
    assert v.tolist() == NUMBERS


def test_a_ragged_list_is_refused(v):
    with pytest.raises(cv.LengthError, match="`bias`"):
        v.bias = [1.0, [2.0, 3.0]]
    with pytest.raises(cv.LengthError, match="`net`"):
        v.net = [1.0, [2.0, 3.0]]
    assert v.tolist() == NUMBERS


def test_a_leaf_has_no_components(v):
    with pytest.raises(cv.LabelError) as error:
        v.net = {"weight": {"x": 1.0}}
    assert str(error.value) == "`net.weight` is an array of shape (2, 2), which has no components"
    assert v.tolist() == NUMBERS


@pytest.mark.parametrize(
    "put", [lambda v, x: setattr(v, "rate", x), lambda v, x: v.__setitem__("rate", x)]
)
def test_a_scalar_is_written_by_name(v, put):
    put(v, 9)
    assert v[0] == 9.0
    put(v, [7.0])
    assert v[0] == 7.0


def test_a_scalar_can_be_changed_in_place(v):
    v.rate += 1.5
    v["rate"] *= 2.0
    v.net.scale -= 8.0
    assert v.tolist() == [5.0, *NUMBERS[1:7], 0.0]


def test_a_narrow_scalar_stays_narrow():
    v = cv.ComponentVector(s=np.float32(1.0))
    v.s += 0.1
    assert v.s == np.float32(1.0) + np.float32(0.1)


def test_leaves_and_groups_can_be_changed_in_place(v):
    v.bias += 1.0
    v["bias"] *= 2.0
    v.net -= 1.0
    v["net.weight"] //= 2.0
    assert v.tolist() == [1.0, 6.0, 8.0, 1.0, 2.0, 2.0, 3.0, 7.0]


def test_assigning_a_component_to_itself_changes_nothing(v):
    v.bias = v.bias
    v.net = v.net
    v["rate"] = v["rate"]
    v[:] = v
    assert v.tolist() == NUMBERS


def test_a_leaf_written_from_an_overlapping_view_of_itself(v):
    v.net.weight = v.net.weight.T[::-1]
    assert v.net.weight.tolist() == [[5.0, 7.0], [4.0, 6.0]]


# dtype -------------------------------------------------------------------------------------------

LOSSY = {
    "float into int": (np.int64, np.array([1.5, 2.5]), "float64"),
    "floats into int": (np.int64, [1.5, 2.5], "float64"),
    "complex into float": (np.float64, np.array([1j, 2j]), "complex128"),
    "complex numbers into float": (np.float64, [1j, 2.0], "complex128"),
    "int into bool": (np.bool_, np.array([1, 2]), "int64"),
    "signed into unsigned": (np.uint8, np.array([1, 2]), "int64"),
    "strings": (np.float64, ["1", "2"], "<U1"),
    "objects": (np.float64, np.array([1.0, 2.0], object), "object"),
    "None": (np.float64, [1.0, None], "object"),
    "dates": (np.float64, np.array(["2020", "2021"], "M8[Y]"), "datetime64[Y]"),
}


@pytest.mark.parametrize(("dtype", "value", "kind"), LOSSY.values(), ids=LOSSY)
def test_a_lossy_kind_is_refused_by_name(v, dtype, value, kind):
    target = v.astype(dtype)
    before = target.tolist()
    for put in (
        lambda: setattr(target, "bias", value),
        lambda: target.__setitem__(slice(None), {"rate": True, "bias": value}),
    ):
        with pytest.raises(cv.PromotionError) as error:
            put()
        assert str(error.value).startswith(
            f"`bias` holds {target.dtype}, which cannot take {kind} by the same_kind rule; convert"
        )
        assert target.tolist() == before


def test_in_place_arithmetic_of_a_scalar_refuses_a_lossy_kind():
    v = cv.ComponentVector(n=3)
    with pytest.raises(cv.PromotionError, match="`n` holds int64, which cannot take float64 by"):
        v.n += 0.5
    assert v.n == 3


def test_the_same_kind_is_rounded(v):
    narrow = v.astype(np.float32)
    narrow.bias = np.array([0.1, 0.2])
    assert narrow.bias.tolist() == np.array([0.1, 0.2], np.float32).tolist()


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (np.int8, 300),
        (np.int8, [300, 1]),
        (np.uint8, -1),
        (np.uint8, [1, -1]),
        (np.float32, 1e300),
        (np.float32, [1e300, 0.0]),
        (np.int64, 2**70),
    ],
    ids=str,
)
def test_a_number_that_does_not_fit_is_refused(v, dtype, value):
    target = v.astype(dtype)
    with pytest.raises(cv.PromotionError, match=r"^`bias` "):
        target.bias = value
    with pytest.raises(cv.PromotionError, match=r"^`bias` "):
        target[:] = {"rate": 0, "bias": value}
    assert target.tolist() == v.tolist()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.float16, np.complex64])
def test_python_integers_go_into_any_number(v, dtype):
    target = v.astype(dtype)
    target.bias = [5, 6]
    target.rate = 7
    target.net = {"scale": 9}
    assert target[:3].tolist() == [7, 5, 6]
    assert target.net.scale == 9


def test_byte_order_does_not_matter_for_python_numbers():
    v = cv.ComponentVector(np.zeros(2, ">u2"), axis=cv.Axis(a=2))
    v.a = [5, 6]
    assert v.tolist() == [5, 6]
    for bad in (-1, [2**16, 0], 0.5):
        with pytest.raises(cv.PromotionError, match=r"^`a` "):
            v.a = bad
    assert v.tolist() == [5, 6]


def test_writing_by_position_follows_numpy(v):
    whole = v.astype(int)
    whole[0] = 2.7
    whole[1:3] = np.array([3.9, 4.9])
    assert whole[:3].tolist() == [2, 3, 4]
    v[:] = 0.0
    v[[0, 1]] = [5.0, 6.0]
    v[v == 0.0] = 1.0
    assert v.tolist() == [5.0, 6.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


# Groups ------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Net:
    weight: np.ndarray
    scale: float


Pair = namedtuple("Pair", "weight scale")
WEIGHT = np.array([[40.0, 50.0], [60.0, 70.0]])
GROUP_VALUES = {
    "mapping": {"weight": WEIGHT, "scale": 80.0},
    "mapping in another order": {"scale": 80.0, "weight": WEIGHT},
    "named tuple": Pair(WEIGHT, 80.0),
    "dataclass": Net(WEIGHT, 80.0),
    "named tree": cv.trainables_nt({"weight": WEIGHT, "scale": np.float64(80.0)})[0],
    "flat array": np.array([40.0, 50.0, 60.0, 70.0, 80.0]),
    "flat list": [40.0, 50.0, 60.0, 70.0, 80.0],
    "vector": cv.ComponentVector(weight=WEIGHT, scale=80.0),
    "vector in another order": cv.ComponentVector(scale=80.0, weight=WEIGHT),
    "group of another vector": cv.ComponentVector(g={"weight": WEIGHT, "scale": 80.0}).g,
}


@pytest.mark.parametrize("value", GROUP_VALUES.values(), ids=GROUP_VALUES)
def test_a_group_takes_values_by_name_and_flat(v, value):
    v.net = value
    assert v.tolist() == [1.0, 2.0, 3.0, 40.0, 50.0, 60.0, 70.0, 80.0]


def test_a_scalar_fills_a_group(v):
    v.net = -1
    assert v.tolist() == [1.0, 2.0, 3.0, -1.0, -1.0, -1.0, -1.0, -1.0]


def test_a_scalar_in_a_mapping_fills_a_group(v):
    v[:] = {"net": -1, "rate": 0}
    assert v.tolist() == [0.0, 2.0, 3.0, -1.0, -1.0, -1.0, -1.0, -1.0]


def test_names_left_out_stay(v):
    v.net = {"scale": 0.0}
    v[:] = {"bias": [20.0, 30.0]}
    v.net = cv.ComponentVector(scale=-8.0)
    v.net = {}
    assert v.tolist() == [1.0, 20.0, 30.0, 4.0, 5.0, 6.0, 7.0, -8.0]


def test_a_sequence_fills_a_group_of_positions():
    v = cv.ComponentVector(layers=[{"w": [1.0, 2.0]}, {"w": [3.0]}])
    v.layers = [{"w": [10.0, 20.0]}, {"w": 30.0}]
    assert v.tolist() == [10.0, 20.0, 30.0]


@pytest.mark.parametrize("value", [[1.0, 2.0], np.zeros(4), np.zeros((5, 2)), np.zeros((5, 1))])
def test_a_group_refuses_a_flat_array_of_another_length(v, value):
    with pytest.raises(cv.LengthError, match=r"^`net` "):
        v.net = value
    with pytest.raises(cv.LengthError, match=r"^`net` "):
        v[:] = {"rate": 0.0, "net": value}
    assert v.tolist() == NUMBERS


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"weigth": 0.0}, "`net` has no component 'weigth'; did you mean 'weight'?"),
        ({"scale": 0.0, "x": 1.0}, "`net` has no component 'x'; its components are"),
        (cv.ComponentVector(weight=WEIGHT, offset=1.0), "`net` has no component 'offset'"),
        (Pair("", 1.0)._make([0.0, 1.0])._asdict() | {1: 2.0}, "`net` has no component '_1'"),
    ],
    ids=["misspelt", "extra", "vector", "number"],
)
def test_a_group_refuses_names_that_are_not_there(v, value, message):
    with pytest.raises(cv.LabelError) as error:
        v.net = value
    assert str(error.value).startswith(message)
    assert v.tolist() == NUMBERS


def test_the_whole_refuses_names_that_are_not_there(v):
    with pytest.raises(cv.LabelError, match=r"^there is no component 'rats'; did you mean 'rate'"):
        v[:] = {"bias": 0.0, "rats": 1.0}
    assert v.tolist() == NUMBERS


def test_the_whole_takes_only_vectors_of_its_axis(v):
    v[:] = cv.ComponentVector(-np.asarray(v), axis=v.axis)
    assert v.tolist() == [-x for x in NUMBERS]
    with pytest.raises(cv.AxisMismatchError, match=r"`rate` on the left and `x` on the right"):
        v[:] = cv.ComponentVector(x=np.zeros(8))
    with pytest.raises(cv.AxisMismatchError, match=r"`rate` on the left and `x` on the right"):
        v[...] = cv.ComponentVector(x=np.zeros(8))
    assert v.tolist() == [-x for x in NUMBERS]


@pytest.mark.parametrize("value", GROUP_VALUES.values(), ids=GROUP_VALUES)
def test_the_whole_takes_what_a_group_takes(value):
    v = cv.ComponentVector(scale=8.0, weight=np.zeros((2, 2)))
    if isinstance(value, list) or type(value) is np.ndarray:
        v[:] = value[::-1]
        assert v.tolist() == [80.0, 70.0, 60.0, 50.0, 40.0]
    elif isinstance(value, cv.Labelled) and value.axis != v.axis:
        with pytest.raises(cv.AxisMismatchError):
            v[:] = value
    else:
        v[:] = value
        assert v.tolist() == [80.0, 40.0, 50.0, 60.0, 70.0]


def test_components_are_swapped_in_one_assignment():
    v = cv.ComponentVector(a=[1.0, 2.0], b=[3.0, 4.0], g={"x": 5.0, "y": 6.0})
    v[:] = {"a": v.b, "b": v.a, "g": {"x": v.g.y, "y": v.g.x}}
    assert v.tolist() == [3.0, 4.0, 1.0, 2.0, 6.0, 5.0]


def test_a_group_is_written_from_an_overlapping_range(v):
    v.net = np.asarray(v)[:5]
    assert v.tolist() == [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_group_is_written_from_itself_reversed(v):
    v.net = v.net[::-1]
    assert v.tolist() == [1.0, 2.0, 3.0, 8.0, 7.0, 6.0, 5.0, 4.0]


# All or nothing ----------------------------------------------------------------------------------

FAILURES = {
    "shape": {"weight": [1.0, 2.0, 3.0]},
    "name": {"nothing": 1.0},
    "kind": {"weight": 1j},
    "text": {"weight": "x"},
    "leaf as group": {"weight": {"a": 1.0}},
    "flat array too short": [1.0, 2.0],
    "ragged": {"weight": [[1.0], [2.0, 3.0]]},
}


@pytest.mark.parametrize("bad", FAILURES.values(), ids=FAILURES)
def test_nothing_is_written_when_a_later_part_is_wrong(v, bad):
    with pytest.raises(cv.ComponentError, match="`net"):
        v[:] = {"rate": 0.0, "bias": [0.0, 0.0], "net": bad}
    assert v.tolist() == NUMBERS


def test_nothing_is_written_to_a_read_only_vector(v):
    frozen = v.copy()
    frozen.flags.writeable = False
    for put in (
        lambda: setattr(frozen, "rate", 0.0),
        lambda: setattr(frozen, "bias", 0.0),
        lambda: setattr(frozen, "net", 0.0),
        lambda: setattr(frozen, "net", {"scale": 0.0}),
        lambda: frozen.__setitem__(slice(None), {"rate": 0.0}),
        lambda: frozen.__setitem__(slice(None), 0.0),
        lambda: frozen.__setitem__("net.weight[0,0]", 0.0),
        lambda: frozen.__iadd__(1.0),
        lambda: frozen.net.__imul__(1.0),
    ):
        with pytest.raises(ValueError, match="read-only"):
            put()
    assert frozen.tolist() == NUMBERS


parts = st.dictionaries(
    st.sampled_from(["a", "b", "g", "g.x", "zzz"]),
    st.sampled_from([0.0, [1.0, 2.0], [[1.0, 2.0]], [1.0, 2.0, 3.0], 1j, "x", {"x": 3.0}, None]),
)


@settings(deadline=None, max_examples=150)
@given(parts)
def test_a_mapping_is_written_in_full_or_not_at_all(mapping):
    v = cv.ComponentVector(a=-1.0, b=[-2.0, -3.0], g={"x": -4.0, "y": [[-5.0], [-6.0]]})
    before = v.copy()
    single = v.copy()
    try:
        v[:] = mapping
    except cv.ComponentError:
        np.testing.assert_array_equal(v, before)
    else:
        for name, value in mapping.items():
            single[name] = value
        np.testing.assert_array_equal(v, single)


# Ties --------------------------------------------------------------------------------------------


def test_writing_one_tied_name_writes_the_other(tied):
    tied.decoder.weight = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert tied.encoder.weight.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]


def test_tied_names_may_be_given_the_same_values(tied):
    fresh = np.array([[0.0, -1.0, np.nan], [3.0, 4.0, 5.0]])
    tied[:] = {"encoder": {"weight": fresh}, "decoder": {"weight": fresh.T}}
    np.testing.assert_array_equal(tied.encoder.weight, fresh)


def test_tied_names_given_different_values_are_refused(tied):
    before = tied.tolist()
    with pytest.raises(cv.SharingError) as error:
        tied[:] = {
            "encoder": {"weight": np.ones((2, 3)), "bias": 0.0},
            "decoder": {"weight": np.zeros((3, 2))},
        }
    assert str(error.value) == (
        "`encoder.weight` and `decoder.weight` are tied, but are given different values"
    )
    assert tied.tolist() == before


def test_one_scalar_for_both_tied_names_is_no_difference(tied):
    tied[:] = {"encoder": 1.0, "decoder": 1.0}
    assert tied.tolist() == [1.0] * 11


def plain_parts():
    """The `tied` vector as plain arrays: the slow, clear way."""
    w = np.arange(6.0).reshape(2, 3)
    return {
        "encoder.weight": w,
        "encoder.bias": np.array([6.0, 7.0]),
        "decoder.weight": w.T,
        "decoder.bias": np.array([8.0, 9.0, 10.0]),
    }


OWN = {"encoder": ["encoder.weight", "encoder.bias"], "decoder": ["decoder.bias"]}


def fill(v, path, number):
    v[path] = number


def fill_by_mapping(v, path, number):
    group, _, leaf = path.partition(".")
    v[:] = {group: {leaf: number} if leaf else number}


def add(v, path, number):
    v[path] += number


def add_to_view(v, path, number):
    view = v[path]
    view += number


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*plain_parts(), *OWN]),
            st.sampled_from([fill, fill_by_mapping, add, add_to_view]),
            st.integers(-9, 9),
        ),
        max_size=8,
    )
)
def test_any_writes_in_any_order_show_everywhere(writes):
    parts = plain_parts()
    groups = {
        group: {leaf: parts[f"{group}.{leaf}"] for leaf in ("weight", "bias")} for group in OWN
    }
    v = cv.ComponentVector(groups, sharing="alias")
    handed_out = {path: v[path] for path in parts}
    for path, write, number in writes:
        write(v, path, number)
        adds = write in (add, add_to_view)  # arithmetic on a group sees its own slots only
        for name in OWN.get(path, [path]) if adds else parts:
            if name.startswith(path):
                parts[name][...] = parts[name] + number if adds else number
        for name, expected in parts.items():
            np.testing.assert_array_equal(v[name], expected)
            np.testing.assert_array_equal(handed_out[name], expected)


# What assignment does not do ---------------------------------------------------------------------


def test_none_and_masks_are_refused(v):
    masked = np.ma.array([0.0, 0.0], mask=[True, False])
    for value, said in ((None, "None"), (masked, "a masked array")):
        for put in (
            lambda value: setattr(v, "bias", value),
            lambda value: v.__setitem__("bias", value),
            lambda value: v.__setitem__(slice(None), {"rate": 0.0, "bias": value}),
        ):
            with pytest.raises(cv.PromotionError, match=f"^`bias` .* cannot take {said}"):
                put(value)
    with pytest.raises(cv.PromotionError, match="cannot take None"):
        v.net = None
    assert v.tolist() == NUMBERS


def test_assignment_never_makes_a_component(v):
    for put in (
        lambda: setattr(v, "nett", 1.0),
        lambda: v.__setitem__("nett", 1.0),
        lambda: setattr(v.net, "nett", 1.0),
    ):
        with pytest.raises(cv.LabelError, match="no component 'nett'"):
            put()
    assert v.tolist() == NUMBERS


@pytest.mark.parametrize("keys", [["rate", "bias"], ["rate"], [cv.path("rate")]], ids=str)
def test_a_selection_cannot_be_assigned(v, keys):
    with pytest.raises(cv.LabelError, match="assign one component at a time, or a mapping to"):
        v[keys] = 0.0
    assert v.tolist() == NUMBERS


def test_components_cannot_be_deleted(v):
    with pytest.raises(cv.LabelError, match=r"components cannot be deleted: del v\.bias"):
        del v.bias
    with pytest.raises((TypeError, ValueError)):
        del v["bias"]
    assert v.tolist() == NUMBERS


@pytest.mark.parametrize("key", [slice(None), ...], ids=["slice", "ellipsis"])
def test_none_is_refused_for_the_whole_vector(key):
    v = cv.ComponentVector(a=[1.0, 2.0])
    with pytest.raises(cv.PromotionError, match="the vector holds float64 and cannot take None"):
        v[key] = None
    assert v.tolist() == [1.0, 2.0]
