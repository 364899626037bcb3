"""A vector prints as a tree that fits a screen, whatever its size, depth and names."""

import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import componentvec as cv

MAX_LINES = 45
MAX_COLUMNS = 120


@pytest.fixture
def tied():
    weight = np.arange(6.0).reshape(2, 3)
    return cv.ComponentVector(
        {
            "encoder": {"weight": weight, "bias": np.ones(2)},
            "decoder": {"weight": weight.T, "back": weight[::-1], "line": weight.reshape(-1)},
        },
        sharing="alias",
    )


def nested(depth, leaf):
    for _ in range(depth):
        leaf = {"level": leaf}
    return leaf


def test_a_vector_prints_names_ranges_shapes_and_first_values():
    v = cv.ComponentVector(
        {"rate": 0.5, "net": {"weight": np.arange(6.0).reshape(2, 3), "none": {}}, "we ird": [1.0]}
    )
    assert repr(v).splitlines() == [
        "ComponentVector: 8 elements, float64",
        "  rate        0:1       0.5",
        "  net",
        "    weight    1:7  2x3  0 1 2 3 …",
        "    none",
        '  ["we ird"]  7:8  1    1',
    ]


def test_ties_print_what_they_are_and_where_they_are_stored(tied):
    assert repr(tied).splitlines()[4:] == [
        "  decoder",
        "    weight  = encoder.weight transposed  3x2  0 3 1 4 …",
        "    back    = encoder.weight rearranged  2x3  3 4 5 0 …",
        "    line    = encoder.weight             6    0 1 2 3 …",
    ]


def test_outside_names_of_a_group_print_with_their_storage_and_values(tied):
    assert repr(tied.decoder).splitlines() == [
        "ComponentVector: 0 elements, float64",
        "  weight  = encoder.weight transposed  3x2  0 3 1 4 …",
        "  back    = encoder.weight rearranged  2x3  3 4 5 0 …",
        "  line    = encoder.weight             6    0 1 2 3 …",
    ]


def test_ties_inside_a_group_print_their_path_in_the_group():
    weight = np.ones(2)
    inner = {"w": weight, "again": weight, "deeper": {"w": weight}}
    v = cv.ComponentVector({"g": inner}, sharing="alias")
    assert [line.split("  1 1")[0] for line in repr(v.g).splitlines()[2:]] == [
        "  again   = w  2",
        "  deeper",
        "    w     = w  2",
    ]


def test_a_copy_of_a_group_prints_outside_names_without_values(tied):
    assert repr(tied.decoder.copy()).splitlines()[1:] == [
        "  weight  = encoder.weight transposed  3x2",
        "  back    = encoder.weight rearranged  2x3",
        "  line    = encoder.weight             6",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(np.array([0.1 + 0.2]), "0.3", id="rounding noise"),
        pytest.param(np.array([np.nan, -np.inf]), "nan -inf", id="no numbers"),
        pytest.param(np.array([1e300]), "1e+300", id="large"),
        pytest.param(np.array([1 + 2j]), "1+2j", id="complex"),
        pytest.param(np.array([True, False]), "True False", id="truth"),
        pytest.param(np.array([2**63], np.uint64), str(2**63), id="integer"),
        pytest.param(np.array([1.5], np.float16), "1.5", id="half"),
        pytest.param(np.array([1.5], np.longdouble), "1.5", id="long double"),
        pytest.param(np.arange(5), "0 1 2 3 …", id="many"),
        pytest.param(np.arange(4), "0 1 2 3", id="just enough"),
        pytest.param(np.array(7), "7", id="scalar"),
    ],
)
def test_values_print_shortly(value, text):
    assert repr(cv.ComponentVector(a=value)).splitlines()[1].endswith(f"  {text}")


def test_values_are_those_of_now():
    v = cv.ComponentVector(a=[1.0, 2.0])
    before = repr(v)
    v.a[0] = 7.0
    assert "7 2" in repr(v)
    assert "7 2" not in before


def test_an_empty_vector_prints_its_title():
    assert repr(cv.ComponentVector()) == "ComponentVector: 0 elements, float64"


def test_a_component_without_elements_prints_its_place():
    v = cv.ComponentVector(a=1.0, b=np.zeros((0, 3)))
    assert repr(v).splitlines()[2] == "  b  1:1  0x3"


def test_printing_and_formatting_give_the_tree(tied):
    assert str(tied) == f"{tied}" == repr(tied)


def test_a_vector_without_an_axis_prints_as_an_array():
    assert repr(np.zeros(3).view(cv.ComponentVector)) == repr(np.zeros(3))


def test_rows_beyond_a_screen_are_counted_out():
    lines = repr(cv.ComponentVector({f"x{i}": float(i) for i in range(1000)})).splitlines()
    assert len(lines) <= MAX_LINES
    assert lines[-1].strip() == "…"
    assert "x0" in lines[1]


def test_all_rows_print_where_they_fit():
    lines = repr(cv.ComponentVector({f"x{i}": float(i) for i in range(40)})).splitlines()
    assert len(lines) == 41
    assert "x39" in lines[-1]


def test_deep_groups_print_their_depth_where_indents_end():
    lines = repr(cv.ComponentVector(nested(30, {"w": [1.0, 2.0]}))).splitlines()
    assert len(lines) == 32
    assert "(30) w" in lines[-1]
    assert lines[-1].endswith("1 2")


@pytest.mark.parametrize("name", ["n" * 1000, "\n" * 200, "日本語" * 200, '"' * 300, "a.b " * 90])
def test_a_long_name_leaves_room_for_the_rest(name):
    lines = repr(cv.ComponentVector({name: [1.0], "b": [2.0, 3.0]})).splitlines()
    assert len(lines) == 3
    assert all(len(line) <= MAX_COLUMNS for line in lines)
    assert lines[1].split()[-3:] == ["0:1", "1", "1"]
    assert lines[2].split() == ["b", "1:3", "2", "2", "3"]
    assert "…" in lines[1]


def test_a_leaf_of_many_dimensions_leaves_room_for_the_rest():
    lines = repr(cv.ComponentVector({"a": np.full((1,) * 64, 7.0), "b": [2.0, 3.0]})).splitlines()
    assert all(len(line) <= MAX_COLUMNS for line in lines)
    assert lines[1].endswith("  7")
    assert lines[2].split() == ["b", "1:3", "2", "2", "3"]


def test_a_long_storage_path_leaves_room_for_the_rest():
    weight = np.arange(6.0).reshape(2, 3)
    v = cv.ComponentVector({"a" * 300: {"w": weight}, "g": {"w": weight.T}}, sharing="alias")
    line = repr(v.g).splitlines()[1]
    assert len(line) <= MAX_COLUMNS
    assert line.endswith("transposed  3x2  0 3 1 4 …")
    assert "…" in line.split(" transposed")[0]


trees = st.recursive(
    st.sampled_from([1.0, [1.0, 2.0], np.zeros((0, 2)), np.ones((1,) * 30), np.full(5, 1e-300)]),
    lambda inner: st.dictionaries(st.text(max_size=60), inner, max_size=5),
    max_leaves=60,
).filter(lambda tree: isinstance(tree, dict))


@given(trees, st.integers(0, 500), st.sampled_from([float, complex]))
@settings(deadline=None, max_examples=50)
def test_any_vector_fits_a_screen(tree, depth, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.ShadowedNameWarning)
        v = cv.ComponentVector(nested(depth, tree), sharing="copy", dtype=dtype)
    lines = repr(v).split("\n")
    assert len(lines) <= MAX_LINES
    assert max(map(len, lines)) <= MAX_COLUMNS
    assert all(line.isprintable() for line in lines)


def seconds(call):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda n: cv.ComponentVector({f"x{i}": 0.0 for i in range(n)}), id="names"),
        pytest.param(lambda n: cv.ComponentVector({"a": np.zeros(n * 100)}), id="values"),
    ],
)
def test_the_cost_does_not_grow_with_the_vector(make):
    small, large = make(200), make(20_000)
    assert seconds(lambda: repr(large)) < 10 * seconds(lambda: repr(small)) + 0.005


# Axes --------------------------------------------------------------------------------------------


def test_an_axis_prints_its_size_and_first_names():
    assert repr(cv.Axis(a=2, b={"c": 3})) == "<Axis of 5 elements: 'a', 'b'>"
    assert repr(cv.Axis({f"x{i}": 1 for i in range(9)})).endswith("'x4', 'x5', …>")


def test_an_axis_with_long_names_prints_shortly():
    assert len(repr(cv.Axis({f"{i}" * 1000: 1 for i in range(9)}))) < 240
