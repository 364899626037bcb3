"""How containers come apart: names, order, and what is no container."""

import enum
import time
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import InitVar, dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import ClassVar, NamedTuple
from unittest import mock

import numpy as np
import pytest

from componentvec import LabelError
from componentvec.tree import named_children, take_apart

Point = namedtuple("Point", ["x", "y"])


class Layer(NamedTuple):
    weight: int
    bias: int = 0


@dataclass
class Base:
    count: ClassVar[int] = 3
    first: int
    seed: InitVar[int] = 0


@dataclass
class Derived(Base):
    late: int = field(init=False)
    hidden: list = field(default_factory=list, repr=False)


@dataclass(slots=True)
class Slotted:
    a: int
    b: int = 2


class Kind(enum.StrEnum):
    WEIGHT = "weight"


def derived():
    value = Derived(1)
    value.late = 2
    return value


@pytest.mark.parametrize(
    ("container", "children"),
    [
        pytest.param({"b": 1, "a": 2}, {"b": 1, "a": 2}, id="dict"),
        pytest.param(OrderedDict(b=1, a=2), {"b": 1, "a": 2}, id="OrderedDict"),
        pytest.param(defaultdict(list, a=1), {"a": 1}, id="defaultdict"),
        pytest.param(Counter("aab"), {"a": 2, "b": 1}, id="Counter"),
        pytest.param(MappingProxyType({"a": 1}), {"a": 1}, id="mapping proxy"),
        pytest.param([7, 8], {"_1": 7, "_2": 8}, id="list"),
        pytest.param((7, 8), {"_1": 7, "_2": 8}, id="tuple"),
        pytest.param(Point(1, 2), {"x": 1, "y": 2}, id="namedtuple"),
        pytest.param(Layer(1), {"weight": 1, "bias": 0}, id="NamedTuple"),
        pytest.param(derived(), {"first": 1, "late": 2, "hidden": []}, id="dataclass"),
        pytest.param(Slotted(1), {"a": 1, "b": 2}, id="dataclass with slots"),
        pytest.param({}, {}, id="empty dict"),
        pytest.param((), {}, id="empty tuple"),
        pytest.param({1: 7, 2.5: 8, None: 9}, {"_1": 7, "_2.5": 8, "_None": 9}, id="other keys"),
        pytest.param({Kind.WEIGHT: 1}, {"weight": 1}, id="enumeration keys"),
        pytest.param({"": 1, "a.b": 2, "T": 3}, {"": 1, "a.b": 2, "T": 3}, id="odd keys"),
    ],
)
def test_a_container_comes_apart_in_order(container, children):
    parts = take_apart(container)
    assert list(zip(parts.names, parts.values, strict=True)) == list(children.items())
    assert list(named_children(container).items()) == list(children.items())
    assert all(type(name) is str for name in parts.names)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="None"),
        pytest.param("abc", id="text"),
        pytest.param(b"abc", id="bytes"),
        pytest.param(3.0, id="number"),
        pytest.param({1, 2}, id="set"),
        pytest.param(range(3), id="range"),
        pytest.param(deque([1]), id="deque"),
        pytest.param(np.ones(3), id="array"),
        pytest.param(SimpleNamespace(a=1), id="namespace"),
        pytest.param(lambda: None, id="function"),
        pytest.param(Derived, id="dataclass itself"),
        pytest.param(Point, id="namedtuple itself"),
        pytest.param(time.gmtime(0), id="record of the system"),
    ],
)
def test_anything_else_is_no_container(value):
    assert take_apart(value) is None
    assert named_children(value) is None


def test_parts_are_the_very_objects():
    inner = object()
    assert take_apart([inner]).values[0] is inner


def test_a_field_without_a_value_is_left_out():
    value = Derived(1)
    assert take_apart(value).names == ("first", "hidden")
    slotted = Slotted(1)
    del slotted.b
    assert take_apart(slotted).names == ("a",)


def test_properties_and_class_variables_are_no_parts():
    @dataclass
    class Circle:
        pi: ClassVar[float] = 3.0
        radius: float

        @property
        def area(self):
            raise AssertionError

    assert take_apart(Circle(1.0)).names == ("radius",)


def test_a_dict_subclass_is_read_by_its_items_only():
    class Odd(dict):
        def __getitem__(self, key):
            raise AssertionError

    assert named_children(Odd(a=1)) == {"a": 1}


def test_a_tuple_with_fields_of_another_length_is_numbered():
    class Padded(Point):
        def __new__(cls):
            return tuple.__new__(cls, (1, 2, 3))

    assert take_apart(Padded()).names == ("_1", "_2", "_3")


@pytest.mark.parametrize(
    ("mapping", "keys"),
    [({1: 7, "_1": 8}, "1 and '_1'"), ({1: 7, "b": 0, "_1": 8, "1": 9}, "1 and '_1'")],
)
def test_keys_that_would_share_a_name_are_refused(mapping, keys):
    for read in (take_apart, named_children):
        with pytest.raises(LabelError) as caught:
            read(mapping)
        assert str(caught.value) == f"the keys {keys} would both be named '_1'"


@pytest.mark.parametrize("value", [mock.MagicMock(), mock.Mock(), mock.call, mock.call.x(1)])
def test_objects_that_have_every_name_are_what_their_class_says(value):
    parts = take_apart(value)
    count = tuple.__len__(value) if isinstance(value, tuple) else 0
    assert parts is None or parts.names == tuple(f"_{place + 1}" for place in range(count))


def test_a_mapping_that_cannot_be_rebuilt_is_read_but_not_taken_apart():
    assert named_children(ChainMap({"a": 1})) == {"a": 1}
    assert take_apart(ChainMap({"a": 1})) is None


class OwnOrder(dict):
    def __iter__(self):
        return iter(sorted(dict.__iter__(self)))

    def values(self):
        return ["made", "up"]


class Hides(OrderedDict):
    def __iter__(self):
        return iter(())


class OwnLength(list):
    def __len__(self):
        return 5


class Backwards(tuple):
    def __iter__(self):
        return reversed(tuple(super().__iter__()))


STORED = {
    "own order": (OwnOrder(b=2, a=1), {"b": 2, "a": 1}),
    "hidden keys": (Hides(b=2, a=1), {"b": 2, "a": 1}),
    "own length": (OwnLength([7]), {"_1": 7}),
    "backwards": (Backwards([7, 8]), {"_1": 7, "_2": 8}),
}


@pytest.mark.parametrize(("container", "stored"), STORED.values(), ids=STORED)
def test_the_parts_are_what_is_stored_however_a_class_iterates(container, stored):
    parts = take_apart(container)
    assert list(zip(parts.names, parts.values, strict=True)) == list(stored.items())
    rebuilt = parts.rebuild([10 * part for part in parts.values])
    assert type(rebuilt) is type(container)
    again = take_apart(rebuilt)
    assert again.names == parts.names
    assert list(again.values) == [10 * part for part in parts.values]
    assert named_children(container) == stored


def test_moved_items_of_an_ordered_dict_stay_moved():
    ordered = OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    parts = take_apart(ordered)
    assert parts.names == ("b", "a")
    assert list(parts.rebuild([20, 10]).items()) == [("b", 20), ("a", 10)]


class AttrDict(dict):
    __setattr__ = dict.__setitem__

    def __getattr__(self, name):
        return self[name]


def test_an_item_called_like_a_factory_is_an_item():
    rebuilt = take_apart(AttrDict(default_factory=1)).rebuild([2])
    assert rebuilt == {"default_factory": 2}


class Mode(tuple, enum.Enum):
    FAST = (1.0, 2.0)


@dataclass
class Spec:
    rate: float


class Kind(Spec, enum.Enum):
    LARGE = 1.0


@pytest.mark.parametrize("member", [Mode.FAST, Kind.LARGE], ids=["tuple", "dataclass"])
def test_members_of_enums_are_one_object_and_never_taken_apart(member):
    assert take_apart(member) is None
    assert named_children(member) is None
