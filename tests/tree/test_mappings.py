"""Mappings of every kind: what they keep besides their items, and which cannot be rebuilt."""

import copy
import enum
import functools
import pickle
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import componentvec as cv
from componentvec.tree import take_apart


class Table(Mapping):
    """A mapping written by hand, with state besides its items."""

    def __init__(self, title, **items):
        self._data = items
        self.title = title

    def __getitem__(self, key):
        return self._data[key]

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)


class MutableTable(Table, MutableMapping):
    def __setitem__(self, key, value):
        raise AssertionError

    def __delitem__(self, key):
        raise AssertionError


class SlotTable(Mapping):
    __slots__ = ("__weakref__", "_items", "title")

    def __init__(self, title, **items):
        self._items, self.title = items, title

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)


class AttrDict(dict):
    """A dict whose items are attributes, because it is its own `__dict__`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Batch(dict):
    """A dict that keeps a second reference to each item as an attribute."""

    def __init__(self, **items):
        super().__init__(**items)
        for name, value in items.items():
            object.__setattr__(self, name, value)


class ModelOutput(OrderedDict):
    """As in Hugging Face's transformers: the fields of a dataclass are the items, None left out."""

    def __post_init__(self):
        for part in fields(self):
            if getattr(self, part.name) is not None:
                self[part.name] = getattr(self, part.name)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def __setattr__(self, name, value):
        if name in self and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __delitem__(self, *args, **kwargs):
        raise AssertionError

    def pop(self, *args, **kwargs):
        raise AssertionError


@dataclass
class Output(ModelOutput):
    loss: Any = None
    logits: Any = None
    states: Any = None


def tenfold(model):
    """The model with ten times the parameters."""
    v, restructure = cv.destructure(model)
    return restructure(10 * v)


def items():
    return {"z": np.array([1.0]), "n": 7, "a": np.array([2.0])}


# Every kind ---------------------------------------------------------------------------------------

KINDS = [
    pytest.param(lambda: items(), id="dict"),
    pytest.param(lambda: OrderedDict(items()), id="OrderedDict"),
    pytest.param(lambda: defaultdict(list, items()), id="defaultdict"),
    pytest.param(lambda: Counter(items()), id="Counter"),
    pytest.param(lambda: MappingProxyType(items()), id="mapping proxy"),
    pytest.param(lambda: MappingProxyType(OrderedDict(items())), id="proxy of an OrderedDict"),
    pytest.param(lambda: UserDict(items()), id="UserDict"),
    pytest.param(lambda: Table("t", **items()), id="Mapping"),
    pytest.param(lambda: MutableTable("t", **items()), id="MutableMapping"),
    pytest.param(lambda: SlotTable("t", **items()), id="Mapping with slots"),
    pytest.param(lambda: AttrDict(items()), id="AttrDict"),
    pytest.param(lambda: Batch(**items()), id="items as attributes"),
]


@pytest.mark.parametrize("make", KINDS)
def test_a_mapping_comes_back_in_its_order_and_with_its_class(make):
    model = make()
    v, restructure = cv.destructure({"m": model})
    assert list(v.axis.paths()) == ["m.z", "m.a"]
    made = restructure(10 * v)["m"]
    assert type(made) is type(model)
    assert list(made.items()) == [("z", [10.0]), ("n", 7), ("a", [20.0])]
    assert list(model.items()) == [("z", [1.0]), ("n", 7), ("a", [2.0])]


@pytest.mark.parametrize("make", KINDS)
def test_the_old_and_the_new_mapping_share_no_items(make):
    model = make()
    made = tenfold(model)
    model_items = model if isinstance(model, MutableMapping) else getattr(model, "_data", None)
    if isinstance(model_items, dict):
        dict.__setitem__(model_items, "n", 8)
        assert made["n"] == 7


@pytest.mark.parametrize("make", KINDS)
def test_a_mapping_at_two_places_comes_back_as_one(make):
    shared = make()
    one, (two,) = tenfold([shared, (shared,)])
    assert one is two


@pytest.mark.parametrize("make", KINDS)
def test_a_restructure_of_a_mapping_travels(make):
    v, restructure = cv.destructure(make())
    assert restructure == cv.destructure(make())[1]
    for again in (pickle.loads(pickle.dumps(restructure)), copy.deepcopy(restructure)):
        assert again == restructure
        assert hash(again) == hash(restructure)
        assert list(again(10 * v).items()) == [("z", [10.0]), ("n", 7), ("a", [20.0])]


@pytest.mark.parametrize("make", KINDS)
def test_flatten_reads_any_mapping(make):
    _, restructure = cv.destructure(make())
    assert restructure.flatten(tenfold(make())).tolist() == [10.0, 20.0]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(dict, id="dict"),
        pytest.param(OrderedDict, id="OrderedDict"),
        pytest.param(lambda: defaultdict(list), id="defaultdict"),
        pytest.param(Counter, id="Counter"),
        pytest.param(lambda: MappingProxyType({}), id="mapping proxy"),
        pytest.param(UserDict, id="UserDict"),
        pytest.param(lambda: Table("t"), id="Mapping"),
        pytest.param(lambda: SlotTable("t"), id="Mapping with slots"),
        pytest.param(AttrDict, id="AttrDict"),
    ],
)
def test_an_empty_mapping_is_an_empty_group(make):
    v, restructure = cv.destructure({"m": make(), "w": np.ones(1)})
    assert list(v.axis) == ["m", "w"]
    made = restructure(v)["m"]
    assert type(made) is type(make())
    assert len(made) == 0


# Each kind's own --------------------------------------------------------------------------------


def test_an_ordered_dict_keeps_the_order_it_was_moved_to():
    model = OrderedDict(items())
    model.move_to_end("z")
    v, restructure = cv.destructure(model)
    assert list(v.axis) == ["a", "z"]
    made = restructure(v)
    assert list(made) == ["n", "a", "z"]
    assert list(reversed(made)) == ["z", "a", "n"]
    made.move_to_end("n")
    assert list(made) == ["a", "z", "n"]


@pytest.mark.parametrize("factory", [list, dict, int, None, lambda: 3])
def test_a_defaultdict_keeps_its_factory(factory):
    made = tenfold(defaultdict(factory, a=np.ones(1)))
    assert made.default_factory is factory


def test_a_counter_still_counts():
    made = tenfold(Counter({"w": np.ones(1), "n": 2}))
    made["n"] += 1
    assert made["n"] == 3
    assert made["missing"] == 0


def test_a_mapping_proxy_comes_back_read_only():
    made = tenfold(MappingProxyType(items()))
    with pytest.raises(TypeError):
        made["n"] = 8


@pytest.mark.parametrize("kind", [Table, MutableTable, SlotTable])
def test_a_mapping_written_by_hand_keeps_its_further_state(kind):
    title = ["kept"]
    made = tenfold(kind(title, **items()))
    assert made.title is title


def test_a_user_dict_keeps_attributes_of_its_own():
    model = UserDict(items())
    model.title = "kept"
    made = tenfold(model)
    assert made.title == "kept"
    made["new"] = 1
    assert list(made.data) == ["z", "n", "a", "new"]


def test_the_dict_of_a_mapping_keeps_its_kind():
    model = UserDict()
    model.data = defaultdict(list, items())
    made = tenfold(model)
    assert type(made.data) is defaultdict
    assert made.data["missing"] == []


def test_items_of_an_attr_dict_are_still_attributes():
    made = tenfold(AttrDict(w=np.array([1.0]), inner=AttrDict(b=np.array([2.0]))))
    assert made.w is made["w"]
    assert made.inner.b.tolist() == [20.0]
    made.new = 3
    assert made["new"] == 3
    assert made.__dict__ is made


def test_items_that_are_attributes_too_are_the_new_ones_in_both_ways():
    model = Batch(**items())
    object.__setattr__(model, "note", "kept")
    made = tenfold(model)
    assert made.z is made["z"]
    assert made.z.tolist() == [10.0]
    assert (made.n, made.note) == (7, "kept")


@pytest.mark.parametrize(
    "model",
    [
        Output(loss=np.array([1.0]), logits=np.array([2.0])),
        Output(logits=np.array([2.0]), loss=np.array([1.0])),
    ],
    ids=["in order", "by keyword"],
)
def test_a_dataclass_that_is_a_dict_too_is_rebuilt_as_both(model):
    v, restructure = cv.destructure(model)
    assert list(v.axis) == ["loss", "logits"]
    made = restructure(10 * v)
    assert type(made) is Output
    assert list(made) == ["loss", "logits"]
    assert made.loss is made["loss"]
    assert made.logits is made["logits"]
    assert (made.loss.tolist(), made.states) == ([10.0], None)


def test_a_restructure_of_items_that_are_attributes_too_holds_no_values():
    def sent(value):
        model = [Output(loss=np.full(1000, value)), Batch(w=np.full(1000, value))]
        return cv.destructure(model)[1]

    assert len(pickle.dumps(sent(1.0))) < 4000
    assert sent(1.0) == sent(2.0)


def test_an_attribute_that_an_item_hides_by_name_only_is_kept_apart():
    model = Batch(n=1, w=np.ones(1))
    object.__setattr__(model, "n", "other")
    made = tenfold(model)
    assert (made["n"], made.n) == (1, "other")


# Keys ---------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = "red"


def test_keys_that_are_no_strings_come_back_as_they_were():
    keys = [0, 1.5, None, (1, "x"), b"raw", Color.RED, frozenset([1])]
    model = {key: np.array([float(place)]) for place, key in enumerate(keys)}
    v, restructure = cv.destructure(model)
    assert list(v.axis)[:5] == ["_0", "_1.5", "_None", "_(1, 'x')", "_b'raw'"]
    made = restructure(10 * v)
    assert list(made) == keys
    assert [part.tolist() for part in made.values()] == [[10.0 * place] for place in range(7)]


def test_number_keys_reach_components_by_their_names():
    v, _ = cv.destructure({0: np.ones(1), 1: {2: np.ones(2)}})
    assert v._1._2.tolist() == [1.0, 1.0]
    assert v.axis.label(2) == "_1._2[1]"


@pytest.mark.parametrize("make", [dict, OrderedDict, UserDict, MappingProxyType])
def test_keys_that_would_share_a_name_are_refused_with_the_path(make):
    with pytest.raises(cv.LabelError) as caught:
        cv.destructure({"deep": [make({1: np.ones(1), "_1": 0})]})
    assert str(caught.value) == "`deep._1`: the keys 1 and '_1' would both be named '_1'"


# Mappings that cannot be rebuilt ------------------------------------------------------------------


class Lazy(Mapping):
    """Makes its items when they are asked for."""

    def __init__(self, item):
        self.item = item

    def __getitem__(self, key):
        return self.item

    def __iter__(self):
        return iter("ab")

    def __len__(self):
        return 2


class Twofold(Table):
    """Two dicts have all the items: which one is it?"""

    def __init__(self, title, **items):
        super().__init__(title, **items)
        self._index = dict(items)


@pytest.mark.parametrize(
    ("model", "where"),
    [
        pytest.param(ChainMap({"a": np.ones(1)}, {}), "ChainMap", id="ChainMap"),
        pytest.param(Lazy(np.ones(1)), "Lazy", id="computed"),
        pytest.param(Twofold("t", a=np.ones(1)), "Twofold", id="two dicts"),
    ],
)
def test_a_mapping_that_cannot_be_rebuilt_is_refused_when_it_holds_arrays(model, where):
    assert take_apart(model) is None
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.destructure({"net": [model]})
    assert str(caught.value).startswith(
        f"`net._1` is of class {where}, which is not registered, but holds an array at `"
    )


class Cached(dict):
    @functools.cached_property
    def total(self):
        return sum(self.values())


class CachedList(list):
    @functools.cached_property
    def total(self):
        return sum(self)


class CachedMapping(UserDict):
    @functools.cached_property
    def total(self):
        return sum(self.values())


@pytest.mark.parametrize(
    "container",
    [Cached(a=1.0), CachedList([1.0]), CachedMapping(a=1.0)],
    ids=lambda c: type(c).__name__,
)
def test_cached_properties_do_not_outlive_the_parts(container):
    assert container.total == 1.0
    rebuilt = take_apart(container).rebuild([5.0])
    assert rebuilt.total == 5.0
    assert container.total == 1.0


def test_the_message_of_a_chain_map_says_where_the_array_is_and_what_to_do():
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.destructure({"m": ChainMap({"n": 1}, {"a": [0, np.ones(1)]})})
    assert str(caught.value) == (
        "`m` is of class ChainMap, which is not registered, but holds an array at "
        "`.maps._2.a._2`; it would be left out of the vector. Call "
        "cv.register_pytree_node(ChainMap, flatten, unflatten) to say what its parts are, or "
        "cv.register_static(ChainMap) to leave it out"
    )


@pytest.mark.parametrize("model", [ChainMap({"a": 1}), Lazy(1), ChainMap({"i": np.arange(3)})])
def test_a_mapping_that_cannot_be_rebuilt_is_static_when_it_holds_none(model):
    v, restructure = cv.destructure({"m": model, "w": np.ones(1)})
    assert list(v.axis) == ["w"]
    assert restructure(v)["m"] is model
