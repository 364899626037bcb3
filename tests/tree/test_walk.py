"""The list that a walk makes of a model: parts before containers, shared ones once."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec import LabelError, SharingError
from componentvec.tree import Container, Item, take_apart, walk


@dataclass
class Box:
    inner: Any


def replay(listed):
    """Rebuild a model from the list, reading it in order."""
    made = []
    for entry in listed:
        if isinstance(entry, Item):
            made.append(entry.value)
        else:
            made.append(entry.rebuild([made[place] for place in entry.places]))
    return made[-1]


models = st.recursive(
    st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.builds(Box, inner)
    ),
    max_leaves=12,
)


@given(models)
@settings(deadline=None, max_examples=100)
def test_replaying_the_list_gives_an_equal_model(model):
    assert replay(walk(model)) == model


def test_items_come_in_order_with_their_paths():
    listed = walk({"b": [1, 2], "a": {"x": (3,)}, "e": Box(4)})
    assert [entry for entry in listed if isinstance(entry, Item)] == [
        Item(("b", "_1"), 1),
        Item(("b", "_2"), 2),
        Item(("a", "x", "_1"), 3),
        Item(("e", "inner"), 4),
    ]


def test_containers_come_behind_their_parts_and_the_model_last():
    listed = walk({"a": [1], "b": {}})
    containers = [(c.names, c.parts, c.places) for c in listed if isinstance(c, Container)]
    assert containers == [(("a",), ("_1",), (0,)), (("b",), (), ()), ((), ("a", "b"), (1, 2))]


def test_a_model_may_be_a_single_item():
    assert walk(3) == [Item((), 3)]


def test_an_item_at_two_places_is_listed_at_both():
    item = object()
    assert [entry.names for entry in walk([item, item])] == [("_1",), ("_2",), ()]


@pytest.mark.parametrize("shared", [[1], {"x": 1}, Box(1), (1, 2), [], {}], ids=repr)
def test_a_shared_container_is_listed_once_and_comes_back_shared(shared):
    listed = walk({"a": shared, "b": {"c": shared}})
    assert [entry.names for entry in listed].count(("a",)) == 1
    assert ("b", "c") not in [entry.names for entry in listed]
    again = replay(listed)
    assert again["a"] is again["b"]["c"]
    assert again["a"] == shared


def test_containers_that_are_only_equal_stay_apart():
    again = replay(walk({"a": [1], "b": [1], "c": [], "d": []}))
    assert again["a"] is not again["b"]
    assert again["c"] is not again["d"]


def test_shared_containers_can_be_listed_once_per_path():
    shared = [1]
    again = replay(walk({"a": shared, "b": shared}, keep_shared=False))
    assert again["a"] == again["b"]
    assert again["a"] is not again["b"]


def test_the_empty_tuple_is_shared_by_nobody():
    assert [entry.names for entry in walk({"a": (), "b": ()})] == [("a",), ("b",), ()]


def test_parts_made_on_the_way_are_not_taken_for_each_other():
    @dataclass
    class Fresh:
        first: Any
        second: Any

        def __getattribute__(self, name):
            held = object.__getattribute__(self, name)
            return [held] if name in ("first", "second") else held

    made = replay(walk([Fresh(0, 1), Fresh(2, 3)]))
    assert [vars(part) for part in made] == [
        {"first": [0], "second": [1]},
        {"first": [2], "second": [3]},
    ]


def cycle(make):
    inner = []
    model = make(inner)
    inner.append(model)
    return model


@pytest.mark.parametrize(
    ("model", "where"),
    [
        (cycle(lambda inner: {"a": inner}), "`a._1` is the model again"),
        (cycle(lambda inner: Box(inner)), "`inner._1` is the model again"),
        ({"m": {"x": cycle(lambda inner: (inner,))}}, "`m.x._1._1` is `m.x` again"),
        ([cycle(lambda inner: [inner])], "`_1._1._1` is `_1` again"),
    ],
)
def test_a_cycle_is_refused_with_both_paths(model, where):
    with pytest.raises(SharingError) as caught:
        walk(model)
    assert str(caught.value) == f"{where}; a cycle has no end, so no vector can hold it"


def test_a_list_that_holds_itself_is_refused():
    model = []
    model.append(model)
    with pytest.raises(SharingError, match="`_1` is the model again"):
        walk(model)


def test_keys_that_clash_are_an_item_that_says_so():
    clashing = {1: 0, "_1": 0}
    item, *_ = walk({"deep": [clashing]})
    assert item.value is clashing
    assert isinstance(item.error, LabelError)
    assert str(item.error) == "`deep._1`: the keys 1 and '_1' would both be named '_1'"


@pytest.mark.parametrize(
    "wrap", [lambda x: [x], lambda x: {"g": x}, Box], ids=["list", "dict", "data"]
)
def test_deep_models_need_no_stack(wrap):
    model = 7
    for _ in range(500):
        model = wrap(model)
    listed = walk(model)
    assert len(listed) == 501
    assert len(listed[0].names) == 500
    again = replay(listed)
    for _ in range(500):
        assert type(again) is type(wrap(7))
        (again,) = take_apart(again).values
    assert again == 7
