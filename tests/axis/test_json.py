"""Axes as JSON: readable by others, and whatever others write is checked."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec import Axis, LabelError

ROOT = {"name": "", "children": 1}
PAIR = {"name": "", "children": 2}
LEAF = {"name": "a", "shape": [2]}


def document(*nodes, version=1):
    return json.dumps({"componentvec.axis": version, "nodes": nodes})


def tie(**more):
    return document(PAIR, LEAF, {"name": "b", "shape": [2], **more})


def test_the_text_names_its_format_and_lists_the_components_in_order(autoencoder):
    assert json.loads(autoencoder.to_json()) == {
        "componentvec.axis": 1,
        "nodes": [
            {"name": "", "children": 2},
            {"name": "encoder", "children": 2},
            {"name": "weight", "shape": [2, 3]},
            {"name": "bias", "shape": [2]},
            {"name": "decoder", "children": 3},
            {"name": "weight", "shape": [3, 2], "slot": 0, "offset": 0, "strides": [1, 3]},
            {"name": "bias", "shape": [3]},
            {"name": "offset", "shape": [3], "slot": 2},
        ],
    }


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_reading_undoes_writing(trees, data):
    axis = Axis.from_records(data.draw(trees)[0], warn=False)
    assert Axis.from_json(axis.to_json()) is axis


def test_names_of_any_alphabet_stay_readable():
    axis = Axis({"日本": 1, "a\n": 2, '"': 3})
    assert "日本" in axis.to_json()
    assert Axis.from_json(axis.to_json()) is axis


def test_bytes_are_read_too():
    assert Axis.from_json(document(ROOT, LEAF).encode()) is Axis(a=2)


@pytest.mark.parametrize(
    "text",
    ["", "nope", "{", pytest.param("[" * 100_000, id="endless nesting")],
)
def test_text_that_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"Expecting|expected an axis"):
        Axis.from_json(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[]", "None"),
        ("null", "None"),
        ("{}", "None"),
        (document(ROOT, LEAF, version=2), "2"),
        (document(ROOT, LEAF, version="1"), "'1'"),
        (document(ROOT, LEAF, version=True), "True"),
    ],
)
def test_another_format_is_refused(text, found):
    expected = f"expected an axis of format version 1, found version {found}"
    with pytest.raises(ValueError, match=expected):
        Axis.from_json(text)


@pytest.mark.parametrize("nodes", [None, 3, {}, "x"])
def test_the_nodes_are_a_list(nodes):
    with pytest.raises(ValueError, match="expected a list under 'nodes'"):
        Axis.from_json(json.dumps({"componentvec.axis": 1, "nodes": nodes}))


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(None, id="null"),
        pytest.param("x", id="text"),
        pytest.param([], id="list"),
        pytest.param({}, id="empty"),
        pytest.param({"shape": [2]}, id="no name"),
        pytest.param({"name": 3, "shape": [2]}, id="a number for a name"),
        pytest.param({"name": "a"}, id="neither shape nor children"),
        pytest.param({"name": "a", "shape": 3}, id="a number for a shape"),
        pytest.param({"name": "a", "shape": "ab"}, id="text for a shape"),
        pytest.param({"name": "a", "shape": {"1": 2}}, id="a mapping for a shape"),
        pytest.param({"name": "a", "shape": [-1]}, id="negative extent"),
        pytest.param({"name": "a", "shape": [1.5]}, id="fractional extent"),
        pytest.param({"name": "a", "shape": [True]}, id="truth for an extent"),
        pytest.param({"name": "a", "children": True}, id="truth for a count"),
        pytest.param({"name": "a", "children": -1}, id="negative count"),
        pytest.param({"name": "a", "shape": [2], "slot": None}, id="no slot"),
        pytest.param({"name": "a", "shape": [2], "slot": 0, "strides": [1]}, id="no offset"),
        pytest.param(
            {"name": "a", "shape": [2], "slot": 0, "strides": [-1], "offset": -1},
            id="negative offset",
        ),
        pytest.param({"name": "a", "shape": [2], "storage": 3}, id="a number for a path"),
    ],
)
def test_a_malformed_node_is_refused_with_its_place(node):
    with pytest.raises(ValueError, match="node 1 of the axis is malformed: "):
        Axis.from_json(document(ROOT, node))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(document(), id="nothing"),
        pytest.param(document(LEAF), id="no root"),
        pytest.param(document(ROOT), id="child missing"),
        pytest.param(document(ROOT, LEAF, LEAF), id="one too many"),
        pytest.param(tie(slot=1), id="a tie to itself"),
        pytest.param(tie(slot=-1), id="a tie to nowhere"),
        pytest.param(tie(slot=0, strides=[0], offset=0), id="an element twice"),
        pytest.param(tie(slot=0, strides=[1], offset=1), id="beyond the slot"),
        pytest.param(tie(slot=0, strides=[1, 1], offset=0), id="too many strides"),
        pytest.param(
            tie(slot=-1, storage="x", strides=[7, 3], offset=9), id="outside, with nonsense strides"
        ),
    ],
)
def test_nodes_that_describe_no_axis_are_refused(text):
    with pytest.raises(ValueError, match=r"do not form|is tied to|does not cover"):
        Axis.from_json(text)


def test_a_name_twice_is_refused():
    with pytest.raises(LabelError, match="component name `a` occurs twice"):
        Axis.from_json(document(PAIR, LEAF, LEAF))


def test_a_tie_spelled_out_in_c_order_is_the_plain_tie():
    assert Axis.from_json(tie(slot=0, offset=0, strides=[1])) is Axis.from_json(tie(slot=0))
