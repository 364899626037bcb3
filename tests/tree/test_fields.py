"""Dataclasses and attrs classes: which attributes are parts, and what becomes of the others."""

import copy
import dataclasses
import datetime as dt
import functools
import pickle
import weakref
from dataclasses import KW_ONLY, FrozenInstanceError, InitVar, dataclass, field
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

import componentvec as cv
from componentvec.tree import take_apart

OPTED_OUT = {"trainable": False}


def refuse(*args, **options):
    raise AssertionError


def tenfold(model):
    """The model with ten times the parameters."""
    v, restructure = cv.destructure(model)
    return restructure(10 * v)


def paths(model):
    return list(cv.destructure(model)[0].axis.paths())


# Dataclasses --------------------------------------------------------------------------------------


@dataclass
class Plain:
    weight: Any
    bias: Any = None


@dataclass(frozen=True)
class Frozen:
    weight: Any
    bias: Any = None


@dataclass(slots=True)
class Slots:
    weight: Any
    bias: Any = None


@dataclass(frozen=True, slots=True, weakref_slot=True)
class FrozenSlots:
    weight: Any
    bias: Any = None


@dataclass(kw_only=True)
class KeywordOnly:
    weight: Any
    bias: Any = None


@dataclass
class SomeKeywordOnly:
    weight: Any
    _: KW_ONLY
    bias: Any = None


@dataclass(slots=True)
class SlotsBelow(Slots):
    pass


@dataclass
class DictBelowSlots(Slots):
    pass


class NoDataclassItself(Plain):
    """Inherits the fields."""


# attrs --------------------------------------------------------------------------------------------


@attrs.define
class Define:
    weight: Any
    bias: Any = None


@attrs.define(slots=False)
class DefineDict:
    weight: Any
    bias: Any = None


@attrs.frozen
class AttrsFrozen:
    weight: Any
    bias: Any = None


@attrs.frozen(slots=False)
class AttrsFrozenDict:
    weight: Any
    bias: Any = None


@attrs.define(kw_only=True)
class AttrsKeywordOnly:
    weight: Any
    bias: Any = None


@attrs.define(weakref_slot=False)
class NoWeakref:
    weight: Any
    bias: Any = None


@attrs.define
class DefineBelow(Define):
    pass


@attrs.define(slots=False)
class DictBelowDefine(Define):
    pass


class NoAttrsClassItself(Define):
    """Inherits the fields, and has a dict of its own."""


KINDS = [
    Plain,
    Frozen,
    Slots,
    FrozenSlots,
    KeywordOnly,
    SomeKeywordOnly,
    SlotsBelow,
    DictBelowSlots,
    NoDataclassItself,
    Define,
    DefineDict,
    AttrsFrozen,
    AttrsFrozenDict,
    AttrsKeywordOnly,
    NoWeakref,
    DefineBelow,
    DictBelowDefine,
    NoAttrsClassItself,
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def test_fields_are_parts_in_order(kind):
    parts = take_apart(kind(weight=1, bias=2))
    assert parts.names == ("weight", "bias")
    assert parts.values == (1, 2)
    assert parts.left_out == frozenset()
    assert parts.kept == ()


def test_objects_come_back_with_new_parameters(kind):
    model = kind(weight=np.array([1.0, 2.0]), bias={"b": np.array([3.0]), "n": 4})
    assert paths(model) == ["weight", "bias.b"]
    made = tenfold(model)
    assert type(made) is kind
    assert made.weight.tolist() == [10.0, 20.0]
    assert made.bias == {"b": [30.0], "n": 4}
    assert model.weight.tolist() == [1.0, 2.0]


def test_values_that_are_no_parameters_come_back_by_reference(kind):
    static = object()
    made = tenfold(kind(weight=np.ones(1), bias=static))
    assert made.bias is static


def test_an_object_at_two_places_comes_back_as_one(kind):
    shared = kind(weight=np.ones(1))
    one, (two,) = tenfold([shared, (shared,)])
    assert one is two
    assert one is not shared


def test_a_restructure_travels(kind):
    v, restructure = cv.destructure([kind(weight=np.ones(2), bias=3)])
    for again in (pickle.loads(pickle.dumps(restructure)), copy.deepcopy(restructure)):
        assert again == restructure
        assert hash(again) == hash(restructure)
        (made,) = again(5 * v)
        assert type(made) is kind
        assert (made.weight.tolist(), made.bias) == ([5.0, 5.0], 3)


def test_flatten_reads_the_fields(kind):
    model = kind(weight=np.ones(2), bias=np.ones(1))
    _, restructure = cv.destructure(model)
    assert restructure.flatten(kind(weight=np.full(2, 3.0), bias=[4.0])).tolist() == [3, 3, 4]


@pytest.mark.parametrize("kind", [Frozen, FrozenSlots, AttrsFrozen, AttrsFrozenDict])
def test_frozen_objects_stay_frozen(kind):
    made = tenfold(kind(weight=np.ones(1)))
    with pytest.raises((FrozenInstanceError, attrs.exceptions.FrozenInstanceError)):
        made.weight = 2


@pytest.mark.parametrize("kind", [FrozenSlots, Define, Plain, DefineDict])
def test_objects_can_be_referred_to_weakly_as_before(kind):
    made = tenfold(kind(weight=np.ones(1)))
    assert weakref.ref(made)() is made


def test_the_class_itself_is_no_container(kind):
    v, restructure = cv.destructure([kind, np.ones(1)])
    assert restructure(v)[0] is kind


# Fields without a value ---------------------------------------------------------------------------


@dataclass
class Late:
    weight: Any
    cache: Any = field(init=False)
    bias: Any = None


@dataclass(slots=True)
class LateSlots:
    weight: Any
    cache: Any = field(init=False)
    bias: Any = None


@attrs.define
class LateDefine:
    weight: Any
    cache: Any = attrs.field(init=False)
    bias: Any = None


@attrs.define(slots=False)
class LateDefineDict:
    weight: Any
    cache: Any = attrs.field(init=False)
    bias: Any = None


LATE = [Late, LateSlots, LateDefine, LateDefineDict]


@pytest.mark.parametrize("kind", LATE)
def test_a_field_that_was_never_set_is_absent_and_stays_unset(kind):
    model = kind(np.ones(1), bias=np.ones(2))
    assert paths(model) == ["weight", "bias"]
    made = tenfold(model)
    assert not hasattr(made, "cache")
    assert made.bias.tolist() == [10.0, 10.0]


@pytest.mark.parametrize("kind", LATE)
def test_a_field_that_was_set_later_is_a_part_in_its_place(kind):
    model = kind(np.ones(1), bias=np.ones(2))
    model.cache = np.array([5.0])
    assert paths(model) == ["weight", "cache", "bias"]
    assert tenfold(model).cache.tolist() == [50.0]


# What runs and what does not ----------------------------------------------------------------------


def test_post_init_and_init_do_not_run_and_initvars_are_not_needed():
    runs = []

    @dataclass
    class Scaled:
        weight: Any
        scale: InitVar[float]
        total: Any = field(init=False)

        def __post_init__(self, scale):
            runs.append(scale)
            self.total = self.weight * scale

    made = tenfold(Scaled(np.ones(1), 3.0))
    assert runs == [3.0]
    assert (made.weight.tolist(), made.total.tolist()) == ([10.0], [30.0])
    assert not hasattr(made, "scale")


def test_a_default_of_an_initvar_is_no_part():
    @dataclass
    class Seeded:
        weight: Any
        seed: InitVar[Any] = 3

    assert paths(Seeded(np.ones(1))) == ["weight"]
    assert vars(tenfold(Seeded(np.ones(1)))) == {"weight": [10.0]}


def test_class_variables_are_no_parts_even_if_they_are_arrays():
    @dataclass
    class Physical:
        unit: ClassVar[Any] = np.ones(3)
        weight: Any

    @attrs.define
    class AttrsPhysical:
        unit: ClassVar[Any] = np.ones(3)
        weight: Any

    for kind in (Physical, AttrsPhysical):
        assert paths(kind(np.ones(1))) == ["weight"]
        assert tenfold(kind(np.ones(1))).unit is kind.unit


def test_a_setattr_of_the_class_does_not_run():
    @dataclass
    class Watched:
        weight: Any

    model = Watched(np.ones(1))
    Watched.__setattr__ = refuse
    assert tenfold(model).weight.tolist() == [10.0]


def test_converters_validators_and_hooks_of_attrs_do_not_run():
    runs = []

    def convert(value):
        runs.append("converter")
        return np.asarray(value)

    def validate(*_):
        runs.append("validator")

    def on_setattr(instance, attribute, value):
        runs.append("on_setattr")
        return value

    @attrs.define(on_setattr=on_setattr)
    class Checked:
        weight: Any = attrs.field(converter=convert, validator=validate)
        total: Any = attrs.field(init=False)

        def __attrs_pre_init__(self):
            runs.append("pre_init")

        def __attrs_post_init__(self):
            runs.append("post_init")

        @total.default
        def _(self):
            runs.append("default")
            return self.weight.sum(keepdims=True)

    model = Checked([1.0])
    runs.clear()
    made = tenfold(model)
    assert runs == []
    assert (made.weight.tolist(), made.total.tolist()) == ([10.0], [10.0])


# Names --------------------------------------------------------------------------------------------


@attrs.define
class Private:
    _gain: Any
    __secret: Any
    renamed: Any = attrs.field(alias="other")


def test_private_and_renamed_fields_of_attrs_are_parts_by_their_attributes_names():
    model = Private(np.ones(1), np.ones(2), other=np.ones(3))
    names = ["_gain", "_Private__secret", "renamed"]
    assert take_apart(model).names == tuple(names)
    made = tenfold(model)
    assert [getattr(made, name).size for name in names] == [1, 2, 3]
    assert made._gain.tolist() == [10.0]


def test_a_single_underscore_may_be_a_field():
    @dataclass
    class Odd:
        _: Any

    assert tenfold(Odd(np.ones(2)))._.tolist() == [10.0, 10.0]


# Inheritance --------------------------------------------------------------------------------------


@dataclass
class Base:
    first: Any
    second: Any = field(default=None, metadata=OPTED_OUT)


@dataclass
class Derived(Base):
    third: Any = None
    second: Any = None


@attrs.define
class AttrsBase:
    first: Any
    second: Any = attrs.field(default=None, metadata=OPTED_OUT)


@attrs.define
class AttrsDerived(AttrsBase):
    third: Any = None
    second: Any = None


@pytest.mark.parametrize(
    ("kind", "order"),
    [(Derived, ["first", "second", "third"]), (AttrsDerived, ["first", "third", "second"])],
)
def test_inherited_fields_come_in_the_order_of_the_class_and_may_be_declared_anew(kind, order):
    model = kind(first=np.ones(1), second=np.ones(2), third=np.ones(3))
    assert paths(model) == order


@pytest.mark.parametrize("kind", [Base, AttrsBase])
def test_an_opt_out_is_inherited_by_classes_that_do_not_say_otherwise(kind):
    class Below(kind):
        pass

    assert paths(Below(np.ones(1), np.ones(2))) == ["first"]


def test_slots_of_a_base_that_has_no_fields_are_kept():
    class Root:
        __slots__ = ("_hidden", "tag")

    @attrs.define
    class Leaf(Root):
        weight: Any

    model = Leaf(np.ones(1))
    model.tag, model._hidden = "x", 3
    made = tenfold(model)
    assert (made.tag, made._hidden, made.weight.tolist()) == ("x", 3, [10.0])


def test_attributes_that_are_no_fields_are_kept():
    for kind in (Plain, Frozen, DefineDict, AttrsFrozenDict, NoAttrsClassItself):
        model = kind(weight=np.ones(1))
        note = ["kept"]
        model.__dict__["note"] = note
        assert tenfold(model).note is note


@dataclass
class Diverged(Exception):
    state: Any


@attrs.define
class Failed(Exception):
    state: Any


@dataclass
class Length(float):
    unit: Any

    def __new__(cls, unit):
        return float.__new__(cls, 2.5)


@dataclass
class Day(dt.date):
    note: Any

    def __new__(cls, note):
        return dt.date.__new__(cls, 2026, 12, 1)


@pytest.mark.parametrize("kind", [Diverged, Failed, Length, Day])
def test_classes_with_contents_besides_their_fields_are_not_rebuilt_without_them(kind):
    value = kind("static")
    _, restructure = cv.destructure([value, np.ones(1)])
    assert restructure(np.zeros(1))[0] is value
    with pytest.raises(cv.UnregisteredTypeError, match=f"`_1` is of class {kind.__name__}, "):
        cv.destructure([kind(np.ones(1)), np.ones(1)])


# Cached properties --------------------------------------------------------------------------------


class Doubling:
    @functools.cached_property
    def twice(self):
        return 2 * self.weight


@dataclass
class Cached(Doubling):
    weight: Any

    @functools.cached_property
    def thrice(self):
        return 3 * self.weight


@attrs.define
class CachedDefine:
    weight: Any

    @functools.cached_property
    def twice(self):
        return 2 * self.weight

    @functools.cached_property
    def thrice(self):
        return 3 * self.weight


@attrs.define
class CachedBelow(CachedDefine):
    bias: Any = None

    @functools.cached_property
    def thrice(self):
        return 30 * self.weight / 10


@attrs.frozen
class CachedFrozen(CachedDefine):
    pass


@attrs.define(slots=False)
class CachedDict(Doubling):
    weight: Any

    @functools.cached_property
    def thrice(self):
        return 3 * self.weight


@pytest.mark.parametrize(
    "kind", [Cached, CachedDefine, CachedBelow, CachedFrozen, CachedDict], ids=lambda k: k.__name__
)
def test_values_of_cached_properties_are_computed_from_the_new_parameters(kind):
    model = kind(np.ones(2))
    assert paths(model) == ["weight"]
    assert model.twice.tolist() == [2.0, 2.0]
    assert model.thrice.tolist() == [3.0, 3.0]
    assert paths(model) == ["weight"]
    made = tenfold(model)
    assert made.twice.tolist() == [20.0, 20.0]
    assert made.thrice.tolist() == [30.0, 30.0]
    assert model.twice.tolist() == [2.0, 2.0]


@attrs.frozen(cache_hash=True)
class Hashed:
    name: str
    weight: Any = attrs.field(eq=False)


@attrs.frozen(cache_hash=True, slots=False)
class HashedDict:
    name: str
    weight: Any = attrs.field(eq=False)


@pytest.mark.parametrize("kind", [Hashed, HashedDict])
@pytest.mark.parametrize("asked", [False, True], ids=["before", "after"])
def test_classes_that_keep_their_hash_can_still_be_hashed(kind, asked):
    model = kind("a", np.ones(1))
    if asked:
        hash(model)
    made = tenfold(model)
    assert hash(made) == hash(model)
    assert made.weight.tolist() == [10.0]


# Opting out ---------------------------------------------------------------------------------------


@dataclass
class Half:
    table: Any = field(metadata=OPTED_OUT)
    weight: Any = field(default=None, metadata={"trainable": True, "doc": "other metadata"})


@dataclass(frozen=True, slots=True)
class HalfSlots:
    table: Any = field(metadata=OPTED_OUT)
    weight: Any = None


@attrs.define
class HalfDefine:
    table: Any = attrs.field(metadata=OPTED_OUT)
    weight: Any = attrs.field(default=None, metadata={"trainable": True})


@attrs.frozen(slots=False)
class HalfFrozen:
    table: Any = attrs.field(metadata=OPTED_OUT)
    weight: Any = None


@pytest.mark.parametrize("kind", [Half, HalfSlots, HalfDefine, HalfFrozen])
def test_fields_that_opt_out_are_absent_and_carried_by_reference(kind):
    table, weight = np.ones(2), np.ones(1)
    model = kind(table, weight)
    assert take_apart(model).left_out == {"table"}
    assert cv.trainables_nt(model)[0]._fields == ("weight",)
    made = tenfold(model)
    assert made.table is table
    assert made.weight.tolist() == [10.0]


@pytest.mark.parametrize("kind", [Half, HalfDefine])
def test_containers_in_fields_that_opt_out_are_new_with_the_same_contents(kind):
    inner = Plain(np.ones(3), [np.ones(1), {"x": 4}])
    model = kind([inner], np.ones(1))
    made = tenfold(model)
    assert made.table is not model.table
    assert type(made.table[0]) is Plain
    assert made.table[0].weight is inner.weight
    assert made.table[0].bias[0] is inner.bias[0]
    assert made.table[0].bias[1] == {"x": 4}


def test_metadata_that_does_not_speak_of_training_changes_nothing():
    @dataclass
    class Documented:
        weight: Any = field(metadata={"doc": "the weight", 3: None})

    assert paths(Documented(np.ones(1))) == ["weight"]


def test_an_opted_out_field_that_was_never_set_is_absent():
    @dataclass
    class Lazy:
        table: Any = field(init=False, metadata=OPTED_OUT)
        weight: Any = None

    made = tenfold(Lazy(np.ones(1)))
    assert not hasattr(made, "table")
    assert made.weight.tolist() == [10.0]


def test_fields_made_by_functions_are_known_too():
    made = dataclasses.make_dataclass("Made", [("table", Any, field(metadata=OPTED_OUT)), "weight"])
    assert paths(made(np.ones(1), np.ones(2))) == ["weight"]
    made = attrs.make_class("MadeToo", {"weight": attrs.field(), "bias": attrs.field(default=1)})
    assert paths(made(np.ones(1))) == ["weight"]
