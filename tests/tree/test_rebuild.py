"""Containers put back together: same class, same further state, and nobody's constructor."""

import functools
import pickle
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import FrozenInstanceError, InitVar, dataclass, field
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pytest

from componentvec.tree import same_value, take_apart

T = TypeVar("T")


def rebuilt(container, *parts):
    return take_apart(container).rebuild(parts)


def refuse(*args, **options):
    raise AssertionError


class Pair(NamedTuple):
    x: Any
    y: Any


Plain = namedtuple("Plain", ["x", "y"])


@dataclass
class Data:
    x: Any
    y: Any = 0


@dataclass(frozen=True)
class Frozen:
    x: Any
    y: Any


@dataclass(slots=True)
class Slots:
    x: Any
    y: Any


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    x: Any
    y: Any


@dataclass(slots=True)
class SlotsBelow(Slots):
    z: Any = 3


@dataclass
class Typed(Generic[T]):
    x: T
    y: T


@dataclass(kw_only=True)
class KeywordOnly:
    x: Any
    y: Any


CONTAINERS = [
    pytest.param({"x": 1, "y": 2}, id="dict"),
    pytest.param({1: 1, (2,): 2}, id="dict with other keys"),
    pytest.param(OrderedDict(x=1, y=2), id="OrderedDict"),
    pytest.param(defaultdict(list, x=1, y=2), id="defaultdict"),
    pytest.param(Counter(x=1, y=2), id="Counter"),
    pytest.param(MappingProxyType({"x": 1, "y": 2}), id="mapping proxy"),
    pytest.param([1, 2], id="list"),
    pytest.param((1, 2), id="tuple"),
    pytest.param(Pair(1, 2), id="NamedTuple"),
    pytest.param(Plain(1, 2), id="namedtuple"),
    pytest.param(Data(1, 2), id="dataclass"),
    pytest.param(Frozen(1, 2), id="frozen dataclass"),
    pytest.param(Slots(1, 2), id="dataclass with slots"),
    pytest.param(FrozenSlots(1, 2), id="frozen dataclass with slots"),
    pytest.param(Typed(1, 2), id="generic dataclass"),
    pytest.param(KeywordOnly(x=1, y=2), id="dataclass by keyword"),
]


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_same_parts_give_an_equal_container_of_the_same_class(container):
    again = rebuilt(container, 1, 2)
    assert type(again) is type(container)
    assert again == container
    assert again is not container


@pytest.mark.parametrize("container", CONTAINERS)
def test_new_parts_take_the_places_of_the_old(container):
    one, two = object(), object()
    values = take_apart(rebuilt(container, one, two)).values
    assert values[0] is one
    assert values[1] is two


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_old_container_stays_as_it_was(container):
    before = take_apart(container)
    rebuilt(container, 3, 4)
    assert take_apart(container) == before


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_rebuilder_pickles_and_compares(container):
    rebuild = take_apart(container).rebuild
    again = pickle.loads(pickle.dumps(rebuild))
    assert again == rebuild
    assert again((1, 2)) == container


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_rebuilder_takes_as_many_parts_as_there_are(container):
    rebuild = take_apart(container).rebuild
    for parts in [(1,), (1, 2, 3)]:
        if isinstance(container, (list, tuple)):
            assert list(rebuild(parts)) == list(parts)
        else:
            with pytest.raises(ValueError, match="zip"):
                rebuild(parts)


# Order and further state -------------------------------------------------------------------------


def test_an_ordered_dict_keeps_the_order_it_was_moved_to():
    value = OrderedDict(a=1, b=2)
    value.move_to_end("a")
    again = rebuilt(value, 20, 10)
    assert list(again.items()) == [("b", 20), ("a", 10)]
    assert list(reversed(again)) == ["a", "b"]
    again.move_to_end("b")
    assert list(again) == ["a", "b"]


def test_a_defaultdict_keeps_its_factory():
    again = rebuilt(defaultdict(list, x=1), 10)
    assert again["new"] == []
    assert rebuilt(defaultdict(None, x=1), 10).default_factory is None


def test_a_frozen_dataclass_stays_frozen():
    again = rebuilt(Frozen(1, 2), 10, 20)
    with pytest.raises(FrozenInstanceError):
        again.x = 3


@pytest.mark.parametrize("base", [dict, OrderedDict, list])
def test_a_subclass_keeps_its_attributes_and_slots(base):
    class Noted(base):
        pass

    class Tagged(Noted):
        __slots__ = ("__secret", "tag")

    value = Tagged()
    value.note, value.tag, value._Tagged__secret = 1, 2, 3
    again = rebuilt(value)
    assert (type(again), again.note, again.tag, again._Tagged__secret) == (Tagged, 1, 2, 3)


def test_a_tuple_subclass_keeps_its_attributes():
    class Noted(Plain):
        pass

    value = Noted(1, 2)
    value.note = 3
    again = rebuilt(value, 10, 20)
    assert (type(again), again, again.note) == (Noted, (10, 20), 3)


def test_a_dataclass_keeps_attributes_that_are_no_fields():
    value = Data(1)
    value.note = [3]
    assert rebuilt(value, 10, 20).note is value.note


def test_a_dataclass_keeps_slots_that_are_no_fields():
    class Base:
        __slots__ = ("__hidden", "__weakref__", "extra")

    @dataclass
    class Part(Base):
        __slots__ = ("x",)
        x: int

    value = Part(1)
    value.extra, value._Base__hidden = 2, 3
    again = rebuilt(value, 10)
    assert (again.x, again.extra, again._Base__hidden) == (10, 2, 3)


def test_slots_of_base_classes_are_fields_too():
    again = rebuilt(SlotsBelow(1, 2), 10, 20, 30)
    assert (again.x, again.y, again.z) == (10, 20, 30)


def test_a_field_without_a_value_stays_without():
    value = Slots(1, 2)
    del value.y
    assert not hasattr(rebuilt(value, 10), "y")


def test_a_default_of_the_class_counts_as_the_value():
    value = Data(1)
    del value.y  # leaves the class attribute, the default
    assert vars(rebuilt(value, 10, 20)) == {"x": 10, "y": 20}


def test_fields_that_init_does_not_take_are_kept():
    @dataclass
    class Late:
        x: int
        seed: InitVar[int] = 0
        y: int = field(init=False, default=2)

    assert vars(rebuilt(Late(1), 10, 20)) == {"x": 10, "y": 20}


def test_cached_properties_are_computed_anew():
    class Doubling:
        @functools.cached_property
        def twice(self):
            return 2 * self.x

    @dataclass
    class Value(Doubling):
        x: int

        @functools.cached_property
        def thrice(self):
            return 3 * self.x

    value = Value(1)
    assert (value.twice, value.thrice) == (2, 3)
    again = rebuilt(value, 10)
    assert vars(again) == {"x": 10}
    assert (again.twice, again.thrice) == (20, 30)


def test_a_field_behind_a_property_shows_the_new_part():
    @dataclass
    class Guarded:
        x: int

        @property
        def x(self):
            return self._x

        @x.setter
        def x(self, value):
            self._x = value

    assert rebuilt(Guarded(1), 10).x == 10


# Nobody's constructor ----------------------------------------------------------------------------


class OddDict(dict):
    __init__ = __new__ = __setitem__ = update = setdefault = __setattr__ = refuse


class OddOrdered(OrderedDict):
    __init__ = __new__ = __setitem__ = update = move_to_end = __setattr__ = refuse


class OddDefault(defaultdict):
    __init__ = __new__ = __setitem__ = __missing__ = __setattr__ = refuse


class OddList(list):
    __init__ = __new__ = append = extend = __setitem__ = __iadd__ = __setattr__ = refuse


class OddTuple(tuple):
    __init__ = __new__ = __setattr__ = refuse


class OddNamed(Plain):
    __init__ = __new__ = _make = _replace = __setattr__ = refuse


class OddMeta(type):
    __call__ = refuse


@dataclass
class OddData(metaclass=OddMeta):
    x: Any
    y: Any
    __new__ = __post_init__ = __setattr__ = __setstate__ = refuse


@dataclass(slots=True)
class OddSlots:
    x: Any
    y: Any

    __new__ = __post_init__ = __setattr__ = refuse


def made(cls, base, *arguments):
    value = base.__new__(cls, *arguments)
    if base in (dict, OrderedDict, defaultdict):
        for place, key in enumerate("xy", 1):
            base.__setitem__(value, key, place)
    if base is list:
        list.extend(value, (1, 2))
    if base in (object, Exception):
        object.__setattr__(value, "x", 1)
        object.__setattr__(value, "y", 2)
    if hasattr(value, "__dict__"):
        value.__dict__["note"] = 3
    return value


@pytest.mark.parametrize(
    ("cls", "base", "arguments"),
    [
        (OddDict, dict, ()),
        (OddOrdered, OrderedDict, ()),
        (OddDefault, defaultdict, ()),
        (OddList, list, ()),
        (OddTuple, tuple, ((1, 2),)),
        (OddNamed, tuple, ((1, 2),)),
        (OddData, object, ()),
        (OddSlots, object, ()),
    ],
)
def test_rebuilding_runs_no_code_of_the_class(cls, base, arguments):
    again = rebuilt(made(cls, base, *arguments), 10, 20)
    assert type(again) is cls
    assert take_apart(again).values == (10, 20)
    assert getattr(again, "__dict__", {}).get("note", 3) == 3


def test_arrays_among_further_attributes_compare_by_value():
    one, two, other = Data(1), Data(1), Data(1)
    one.note, two.note, other.note = np.arange(3), np.arange(3), np.arange(3.0)
    rebuild = take_apart(one).rebuild
    assert rebuild == take_apart(two).rebuild
    assert rebuild != take_apart(other).rebuild


class Raises:
    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None


class NeverEqual:
    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    __hash__ = None


def arrays():
    return {"a": [np.arange(3), (np.array([None, "x", 1.5], object),)], "b": np.array([np.nan])}


SAME = [
    pytest.param(arrays, id="arrays in containers"),
    pytest.param(lambda: float("nan"), id="nan"),
    pytest.param(lambda: np.arange(3).astype(">i4"), id="byte order"),
]


@pytest.mark.parametrize("make", SAME)
def test_statics_that_are_alike_are_the_same(make):
    assert same_value(make(), make())


DIFFERENT = [
    pytest.param((1, True), (1, 1), id="types inside"),
    pytest.param([1.0], [1], id="numbers inside"),
    pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, id="order"),
    pytest.param(np.arange(3), np.arange(4), id="shapes"),
    pytest.param(np.array([None, 1], object), np.array([None, 2], object), id="objects"),
    pytest.param(Raises(), Raises(), id="error"),
    pytest.param(NeverEqual(), NeverEqual(), id="never equal"),
    pytest.param((np.ones(2),), (np.zeros(2),), id="arrays"),
]


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_statics_that_are_not_alike_are_different(one, two):
    assert not same_value(one, two)


@pytest.mark.parametrize(
    ("one", "two"), [({1: 0}, {np.int64(1): 0}), ({1: 0}, {True: 0})], ids=["NumPy", "bool"]
)
def test_keys_of_different_types_make_different_dicts(one, two):
    assert take_apart(one).rebuild != take_apart(two).rebuild


def test_a_static_tensor_can_be_compared_and_copied():
    torch = pytest.importorskip("torch")
    assert same_value(torch.arange(3), torch.arange(3))
    assert not same_value(torch.arange(3), torch.arange(1, 4))


def test_tuples_made_in_c_come_back():
    torch = pytest.importorskip("torch")
    parts = take_apart(torch.Size([1, 2]))
    assert parts.rebuild(parts.values) == torch.Size([1, 2])
