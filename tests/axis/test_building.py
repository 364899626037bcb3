"""Axes from shapes and from records: what is taken, what is refused and why."""

from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec import Axis, LabelError, LengthError, SharingError
from componentvec.axis import GroupRecord, LeafRecord, Tie, View


def test_shapes_are_laid_out_in_the_order_given():
    axis = Axis({"b": 2, "a": ()}, c={"d": (2, 3), "e": {}})
    spans = {names: child.span for names, child in axis.components()}
    assert axis.size == 9
    assert spans == {
        ("b",): slice(0, 2),
        ("a",): slice(2, 3),
        ("c",): slice(3, 9),
        ("c", "d"): slice(3, 9),
        ("c", "e"): slice(9, 9),
    }


@pytest.mark.parametrize(
    ("given", "shape"),
    [((), ()), (3, (3,)), (0, (0,)), ((2, 3), (2, 3)), ([2, 3], (2, 3)), (np.int64(3), (3,))],
)
def test_a_shape_is_a_tuple_an_integer_or_a_sequence_of_integers(given, shape):
    assert Axis(a=given).index("a").shape == shape


@pytest.mark.parametrize("mapping", [dict, OrderedDict, MappingProxyType])
def test_any_mapping_makes_a_group(mapping):
    assert Axis(mapping({"a": mapping({"b": 2})})) is Axis(a={"b": 2})


def test_keywords_come_behind_the_mapping():
    assert Axis({"b": 1}, a=2).names == ("b", "a")


@pytest.mark.parametrize("empty", [{}, None])
def test_an_axis_may_be_empty(empty):
    axis = Axis(empty)
    assert (axis.size, axis.names, list(axis.components())) == (0, (), [])


def test_shapes_are_normalised_to_plain_tuples_of_integers():
    class Size(tuple):
        __slots__ = ()

    shape = Axis(a=Size((np.int64(2), 3))).index("a").shape
    assert (type(shape), shape) == (tuple, (2, 3))
    assert [type(extent) for extent in shape] == [int, int]


def test_names_of_string_subclasses_become_plain_strings():
    assert [type(name) for name in Axis({np.str_("a"): 2})] == [str]


@pytest.mark.parametrize("shape", [True, -1, 1.0, "ab", None, (2, -1), (2.0,), (True,), {1, 2}])
def test_what_is_no_shape_is_refused_with_its_path(shape):
    with pytest.raises(LengthError) as caught:
        Axis(g={"h": shape})
    assert "`g.h`: expected a shape, an integer or a mapping, got" in str(caught.value)


@pytest.mark.parametrize("name", [1, None, ("a",), b"a", 1.5])
def test_a_name_that_is_no_string_is_refused_with_its_group(name):
    with pytest.raises(LabelError) as caught:
        Axis(g={name: 2})
    assert str(caught.value) == f"component names are strings, not {name!r} in `g`"


def test_a_name_given_twice_is_refused():
    with pytest.raises(LabelError, match="component name 'a' occurs twice"):
        Axis({"a": 1}, a=2)


@pytest.mark.parametrize("shapes", [3, [("a", 1)], "ab"])
def test_an_axis_is_made_of_a_mapping_only(shapes):
    with pytest.raises(LabelError, match="made of a mapping of names to shapes, not of a"):
        Axis(shapes)


def test_a_mapping_inside_itself_is_refused():
    shapes = {"a": {}}
    shapes["a"]["b"] = shapes
    with pytest.raises(SharingError, match=r"`a\.b.*` is .* again"):
        Axis(shapes)


def test_one_mapping_at_two_places_makes_two_groups():
    group = {"b": 2}
    assert Axis(x=group, y=group).size == 4


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_records_of_an_axis_build_it_again(trees, data):
    records, _ = data.draw(trees)
    axis = Axis.from_records(records, warn=False)
    assert Axis.from_records(axis.records(), warn=False) is axis


@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_every_site_lies_where_its_record_says(trees, positions_of, data):
    records, sites = data.draw(trees)
    leaves = dict(Axis.from_records(records, warn=False).leaves())
    assert list(leaves) == list(sites)
    for names, expected in sites.items():
        assert np.array_equal(positions_of(leaves[names]), expected)


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_canonical_sites_tile_the_axis_once(trees, data):
    axis = Axis.from_records(data.draw(trees)[0], warn=False)
    spans = [leaf.span for _, leaf in axis.leaves() if leaf.canonical]
    ends = [0, *(span.stop for span in spans)]
    assert [span.start for span in spans] == ends[:-1]
    assert (ends[-1], len(spans)) == (axis.size, axis._slot_count)


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_a_group_covers_its_own_slots(trees, data):
    axis = Axis.from_records(data.draw(trees)[0], warn=False)
    for names, child in axis.components():
        if not hasattr(child, "axis"):
            continue
        below = [
            leaf for path, leaf in axis.leaves() if path[: len(names)] == names and leaf.canonical
        ]
        own = sum(leaf.span.stop - leaf.span.start for leaf in below)
        assert child.axis.size == child.span.stop - child.span.start == own
        assert all(child.span.start <= leaf.span.start for leaf in below)


ROOT = GroupRecord("", 1)
ONE = LeafRecord("a", (2,))


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([], id="nothing"),
        pytest.param([ROOT], id="child missing"),
        pytest.param([ONE], id="no root"),
        pytest.param([ROOT, ONE, ONE], id="one too many"),
        pytest.param([GroupRecord("", 0), GroupRecord("", 0)], id="two roots"),
        pytest.param([GroupRecord("", -1), ONE], id="negative count"),
    ],
)
def test_records_with_wrong_counts_are_refused(records):
    with pytest.raises(ValueError, match="do not form one root group: a child count is wrong"):
        Axis.from_records(records)


@pytest.mark.parametrize("slot", [1, 2, -1])
def test_a_tie_points_back(slot):
    records = [GroupRecord("", 2), ONE, LeafRecord("b", (2,), Tie(slot))]
    with pytest.raises(ValueError, match=f"`b` is tied to slot {slot}, which does not come before"):
        Axis.from_records(records)


@pytest.mark.parametrize(
    ("shape", "view"),
    [
        pytest.param((3,), None, id="too long"),
        pytest.param((1,), None, id="too short"),
        pytest.param((2,), View(0, (0,)), id="one element twice"),
        pytest.param((2,), View(1, (1,)), id="beyond the end"),
        pytest.param((2,), View(0, (-1,)), id="before the start"),
        pytest.param((2,), View(0, (2,)), id="every second one"),
        pytest.param((2,), View(0, (1, 1)), id="too many steps"),
    ],
)
def test_a_tie_covers_its_slot_exactly_once(shape, view):
    records = [ROOT, GroupRecord("g", 2), ONE, LeafRecord("b", shape, Tie(0, view))]
    with pytest.raises(ValueError, match=r"`g\.b` of shape .* does not cover its slot of 2 elem"):
        Axis.from_records(records)


def test_duplicate_names_in_records_are_refused_with_their_path():
    with pytest.raises(LabelError, match=r"component name `g\.a` occurs twice"):
        Axis.from_records([ROOT, GroupRecord("g", 2), ONE, ONE])
