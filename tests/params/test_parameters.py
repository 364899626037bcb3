"""Which leaves are parameters: opting out, choosing, and arrays that hide."""

import functools
import math
import types
import warnings
from collections import UserDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import componentvec as cv


@dataclass
class Half:
    """Half of it opts out."""

    table: Any = field(default=None, metadata={"trainable": False})
    weight: Any = None


@dataclass
class Flipped:
    """The same, with what opts out behind."""

    weight: Any = None
    table: Any = field(default=None, metadata={"trainable": False})


@dataclass
class Plain:
    weight: Any = None


class Opaque:
    """A class that nobody registered."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def shape_of(tree):
    """All names of a tree, groups as nested dicts, leaves as shapes."""
    return {
        name: shape_of(part) if isinstance(part, cv.NamedTree) else np.shape(part)
        for name, part in tree._asdict().items()
    }


def names(model, **options):
    return shape_of(cv.trainables_nt(model, **options)[0])


# Opting out ---------------------------------------------------------------------------------------


def test_what_opts_out_is_absent_with_all_that_it_holds():
    table = {"a": [np.ones(1), Plain(np.ones(2))], "b": (np.ones(3),)}
    assert names([Half(table, np.ones(4))]) == {"_1": {"weight": (4,)}}


def test_containers_that_opt_out_come_back_new_with_their_arrays_by_reference():
    inner, scalar, number = np.ones(1), np.float64(2.0), np.arange(2)
    table = {"a": [inner, scalar], "n": (number, Plain("x")), "d": np.array([None, 1])}
    v, restructure = cv.destructure(Half(table, np.ones(1)))
    made = restructure(v).table
    assert made is not table
    assert made["a"] is not table["a"]
    assert made["a"][0] is inner
    assert made["a"][1] is scalar
    assert made["n"][0] is number
    assert made["n"][1] == Plain("x")
    assert made["d"] is table["d"]


def test_opting_out_holds_below_for_what_would_opt_in():
    model = Half(Half(np.ones(1), np.ones(2)), Half(np.ones(3), np.ones(4)))
    assert names(model) == {"weight": {"weight": (4,)}}


def test_a_model_may_opt_out_whole():
    assert names(Half(np.ones(1), "x")) == {}
    v, restructure = cv.destructure(Half([np.ones(1)]))
    assert v.size == 0
    assert restructure(v).table[0].tolist() == [1.0]


def test_a_container_that_is_met_at_a_free_place_too_is_trainable_at_both():
    shared = [np.ones(2)]
    for model in (Half(shared, shared), Flipped(shared, shared)):
        v, restructure = cv.destructure(model)
        assert v.size == 2
        made = restructure(3 * v)
        assert made.table is made.weight
        assert made.weight[0].tolist() == [3.0, 3.0]


def test_objects_in_fields_that_opt_out_are_not_looked_at():
    hidden = Opaque(w=np.ones(1))
    model = Half([hidden, deque([np.ones(1)]), np.array([np.ones(1), None], object)], np.ones(1))
    v, restructure = cv.destructure(model)
    assert v.size == 1
    made = restructure(v)
    assert made.table[0] is hidden


def test_extra_attributes_in_fields_that_opt_out_are_not_looked_at():
    inner = Plain(np.ones(1))
    inner.extra = np.ones(2)
    assert cv.destructure(Half({"x": inner}, np.ones(1)))[0].size == 1


# The predicate ------------------------------------------------------------------------------------


def asked_for(model, answer=False):
    """What a predicate is asked for, in order."""
    asked = []
    cv.trainables_nt(model, trainable=lambda *args: asked.append(args) or answer)
    return asked


NUMBERS = [
    np.ones(2),
    np.ones(2, "f2"),
    np.ones((), "c8"),
    np.ones(2, ">f4"),
    np.arange(3),
    np.arange(3, dtype="u1"),
    np.array([True]),
    np.float32(1.0),
    np.int8(1),
    np.bool_(True),
    np.complex64(1j),
    np.float64(2.0),
    1,
    1.5,
    1j,
    True,
]

OTHERS = [
    None,
    "x",
    b"x",
    np.array(["x"]),
    np.str_("x"),
    np.array([None]),
    np.array(["2020-01-01"], "M8[D]"),
    np.timedelta64(1, "s"),
    np.zeros(1, "f8, i4"),
    math.sin,
    Plain,
    range(3),
    {1.5},
    deque([1.5]),
    ...,
]


@pytest.mark.parametrize("leaf", NUMBERS, ids=repr)
def test_the_predicate_is_asked_for_numbers_and_arrays_of_them(leaf):
    ((path, given),) = asked_for({"a": [leaf]})
    assert path == "a._1"
    assert given is leaf


@pytest.mark.parametrize("leaf", OTHERS, ids=repr)
def test_the_predicate_is_not_asked_for_anything_else(leaf):
    assert asked_for({"a": [leaf]}) == []


@pytest.mark.parametrize("leaf", NUMBERS, ids=repr)
def test_what_the_predicate_takes_is_a_parameter_and_comes_back(leaf):
    ps, restructure = cv.trainables_nt({"a": leaf, "b": "x"}, trainable=lambda path, leaf: True)
    assert ps._fields == ("a",)
    assert ps.a is leaf
    v = cv.ComponentVector(ps)
    made = restructure(v)["a"]
    assert type(made) is type(leaf)
    np.testing.assert_array_equal(made, leaf)
    if isinstance(leaf, (np.ndarray, np.generic)):
        assert made.dtype == leaf.dtype.newbyteorder("=")


@pytest.mark.parametrize("leaf", NUMBERS, ids=repr)
def test_what_the_predicate_leaves_is_static(leaf):
    ps, restructure = cv.trainables_nt({"a": leaf}, trainable=lambda path, leaf: False)
    assert ps._fields == ()
    assert restructure(ps)["a"] is leaf


def test_the_paths_are_those_of_the_labels():
    layer = {"weight": np.ones(1), "we.ird": np.ones(1), "T": np.ones(1), "class": np.ones(1)}
    paths = [path for path, _ in asked_for({"layers": [layer, Plain(1.0)], 3: 2.0})]
    assert paths == [
        "layers._1.weight",
        'layers._1["we.ird"]',
        'layers._1["T"]',
        'layers._1["class"]',
        "layers._2.weight",
        "_3",
    ]


@pytest.mark.parametrize("leaf", [np.ones(2), np.float32(1.0), 2.5, 3])
def test_a_model_that_is_one_leaf_has_the_path_1(leaf):
    ((path, given),) = asked_for(leaf)
    assert path == "_1"
    assert given is leaf


@pytest.mark.parametrize("value", [np.ones(2), np.float32(1.0), np.ones(0), np.array(1j)], ids=repr)
def test_the_default_rule_can_be_asked_for_parameters(value):
    assert cv.is_parameter(value) is True
    assert parameters_at({"x": value}) == ["x"]


@pytest.mark.parametrize("value", [np.arange(2), 1.0, True, None, "x", np.int8(1), [1.0]], ids=repr)
def test_the_default_rule_can_be_asked_for_statics(value):
    assert cv.is_parameter(value) is False


def test_the_default_rule_serves_in_a_predicate():
    model = {"encoder": [np.ones(2)], "head": np.ones(1), "steps": 3, "idx": np.arange(3)}
    assert parameters_at(
        model, lambda path, leaf: cv.is_parameter(leaf) and not path.startswith("encoder")
    ) == ["head"]


def parameters_at(model, trainable=None):
    v, _ = cv.destructure(model, trainable=trainable)
    return list(v.axis.paths())


def test_what_opts_out_is_not_asked_for():
    assert [path for path, _ in asked_for([Half(np.ones(1), [2.0])])] == ["_1.weight._1"]


def test_a_leaf_at_several_places_is_asked_for_at_each():
    shared = np.ones(1)
    assert [path for path, _ in asked_for([shared, {"a": shared}])] == ["_1", "_2.a"]


def test_what_a_container_at_several_places_holds_is_asked_for_at_each():
    shared = [np.ones(1)]
    assert [path for path, _ in asked_for({"a": shared, "b": shared})] == ["a._1", "b._1"]
    assert [path for path, _ in asked_for(Half(shared, shared))] == ["weight._1"]


@pytest.mark.parametrize("place", ["a", "b"])
def test_what_is_chosen_at_one_place_of_a_container_is_a_parameter_at_all(place):
    shared = {"w": np.ones(2)}
    ps, _ = cv.trainables_nt(
        {"a": shared, "b": shared}, trainable=lambda path, leaf: path.startswith(place)
    )
    assert ps.a.w is ps.b.w is shared["w"]


def test_the_answer_may_be_of_python_or_numpy():
    model = [np.ones(1), np.ones(2), np.ones(3)]
    answers = iter([np.bool_(True), False, True])
    assert names(model, trainable=lambda *_: next(answers)) == {"_1": (1,), "_3": (3,)}


@pytest.mark.parametrize("answer", [None, 0, "no", np.array([True, False])], ids=repr)
def test_an_answer_that_is_neither_true_nor_false_is_refused(answer):
    with pytest.raises(TypeError) as caught:
        cv.trainables_nt({"net": [np.ones(2)]}, trainable=lambda *_: answer)
    assert str(caught.value) == (
        f"trainable= gave {answer!r:.60} for `net._1`; it must give True or False for the whole "
        "leaf"
    )


@pytest.mark.parametrize("names", [("w",), "w", True], ids=repr)
def test_a_predicate_is_a_function(names):
    for entry in (cv.trainables_nt, cv.destructure, cv.destructure_by_dtype):
        with pytest.raises(TypeError, match=r"trainable= takes a function of \(path, leaf\), not "):
            entry({"w": np.ones(1)}, trainable=names)


def test_errors_in_the_predicate_are_passed_on():
    with pytest.raises(ZeroDivisionError):
        cv.trainables_nt([np.ones(1)], trainable=lambda *_: 1 / 0)


def test_the_predicate_may_choose_by_path_and_by_leaf():
    model = {"enc": {"w": np.ones(2), "n": 3}, "dec": {"w": np.ones(4), "i": np.arange(2)}}
    assert names(model, trainable=lambda path, _: path.startswith("enc.")) == {
        "enc": {"w": (2,), "n": ()},
        "dec": {},
    }
    assert names(model, trainable=lambda _, leaf: np.size(leaf) == 2) == {
        "enc": {"w": (2,)},
        "dec": {"i": (2,)},
    }


def test_every_entry_point_takes_a_predicate():
    model = {"a": 1.5, "b": np.ones(2)}
    chosen = {"trainable": lambda path, _: path == "a"}
    assert cv.trainables_nt(model, **chosen)[0]._fields == ("a",)
    assert list(cv.destructure(model, **chosen)[0].axis) == ["a"]
    vectors, _ = cv.destructure_by_dtype(model, **chosen)
    assert {str(dtype): list(v.axis) for dtype, v in vectors.items()} == {"float64": ["a"]}


def test_hidden_arrays_are_refused_whatever_the_predicate_says():
    for answer in (True, False):
        with pytest.raises(cv.UnregisteredTypeError):
            cv.trainables_nt([Opaque(w=np.ones(1))], trainable=lambda *_, answer=answer: answer)


# Models without parameters ------------------------------------------------------------------------

ENTRIES = [cv.trainables_nt, cv.destructure, cv.destructure_by_dtype]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
def test_numbers_without_any_parameter_warn_with_their_paths(entry):
    with pytest.warns(UserWarning, match="no parameters") as caught:
        entry({"rate": 0.5, "z": [1j, 2], "flag": True, "we.ird": {"x": 0.0}, "i": np.arange(3)})
    (warning,) = caught
    assert warning.category is cv.NoParametersWarning
    assert str(warning.message) == (
        'the model has no parameters; its Python numbers `rate`, `z._1`, `["we.ird"].x` are '
        "static: make them NumPy arrays or scalars, or pass trainable=lambda path, leaf: True"
    )
    assert warning.filename == __file__


def test_many_numbers_are_counted_and_not_all_listed():
    with pytest.warns(cv.NoParametersWarning, match=r"`_5`, `_6` and 3 more are static"):
        cv.trainables_nt([1.0] * 9)


@pytest.mark.parametrize(
    "model",
    [
        {"rate": 0.5, "w": np.ones(1)},
        {"n": 3, "flag": True},
        {},
        {"i": np.arange(3), "s": "x"},
        Half([0.5, {"x": 1.5}], 3),
        {"rate": 0.5, "w": np.zeros(0)},
        [np.float32(1.0), 0.5],
    ],
    ids=[
        "a parameter",
        "integers",
        "nothing",
        "statics",
        "opted out",
        "empty parameter",
        "scalar",
    ],
)
def test_there_is_no_warning_where_nothing_may_have_been_meant(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cv.trainables_nt(model)


def test_there_is_no_warning_when_a_predicate_chose_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cv.trainables_nt([1.5], trainable=lambda *_: False)


# Arrays that hide ---------------------------------------------------------------------------------


class Slotted:
    __slots__ = ("__secret", "weight")

    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)


class SlottedBelow(Slotted):
    __slots__ = ("bias",)


class SlottedAndDict(Slotted):
    pass


class OneSlot:
    __slots__ = "weight"

    def __init__(self, weight):
        self.weight = weight


class Similar(Mapping):
    """A mapping that makes its items when asked."""

    def __getitem__(self, key):
        return np.ones(1)

    def __iter__(self):
        return iter("a")

    def __len__(self):
        return 1


class Forward(Opaque):
    def forward(self, x):
        return self.w * x


class WithExtra(dict):
    def __init__(self):
        self.extra = np.ones(1)


class LikeArray:
    def __array__(self, dtype=None, copy=None):
        raise AssertionError


class LikeDlpack:
    def __dlpack__(self, **options):
        raise AssertionError

    def __dlpack_device__(self):
        raise AssertionError


class LikeCuda:
    __cuda_array_interface__ = None


HIDING = {
    "attribute": (Opaque(weight=np.ones(1)), "Opaque", ".weight"),
    "second attribute": (Opaque(n=1, weight=np.ones(1)), "Opaque", ".weight"),
    "NumPy scalar": (Opaque(rate=np.float32(1.0)), "Opaque", ".rate"),
    "complex": (Opaque(z=np.ones(1, "c8")), "Opaque", ".z"),
    "empty array": (Opaque(z=np.zeros(0)), "Opaque", ".z"),
    "namespace": (types.SimpleNamespace(w=np.ones(1)), "SimpleNamespace", ".w"),
    "slot": (Slotted(weight=np.ones(1)), "Slotted", ".weight"),
    "private slot": (Slotted(_Slotted__secret=np.ones(1)), "Slotted", "._Slotted__secret"),
    "only slot": (OneSlot(np.ones(1)), "OneSlot", ".weight"),
    "inherited slot": (SlottedBelow(weight=np.ones(1)), "SlottedBelow", ".weight"),
    "own slot": (SlottedBelow(weight=1, bias=np.ones(1)), "SlottedBelow", ".bias"),
    "slot beside a dict": (SlottedAndDict(weight=np.ones(1)), "SlottedAndDict", ".weight"),
    "dict beside a slot": (SlottedAndDict(extra=np.ones(1)), "SlottedAndDict", ".extra"),
    "in a dict": (Opaque(p={"a": 1, "b": np.ones(1)}), "Opaque", ".p.b"),
    "in a list": (Opaque(p=[0, np.ones(1)]), "Opaque", ".p._2"),
    "in a named tuple": (Opaque(p=NamedTuple("P", [("x", Any)])(np.ones(1))), "Opaque", ".p.x"),
    "in a dataclass": (Opaque(p=Plain(np.ones(1))), "Opaque", ".p.weight"),
    "in containers": (
        Opaque(p=[{"a.b": (Plain(UserDict(w=np.ones(1))),)}]),
        "Opaque",
        '.p._1["a.b"]._1.weight.w',
    ),
    "first of many": (Opaque(p=[[], [3, np.ones(1)], np.ones(2)]), "Opaque", ".p._2._2"),
    "in a further object": (Opaque(inner=Opaque(w=np.ones(1))), "Opaque", ".inner.w"),
    "further objects in a list": (
        Opaque(layers=[Opaque(n=1), Opaque(w=np.ones(1))]),
        "Opaque",
        ".layers._2.w",
    ),
    "further object in an array": (
        np.array([Opaque(w=np.ones(1))], object),
        "ndarray",
        ".flat[0].w",
    ),
    "further object in a deque": (deque([Opaque(w=np.ones(1))]), "deque", "[0].w"),
    "beside the parts of a container": (Opaque(p=[0], q=WithExtra()), "Opaque", ".q.extra"),
    "partial": (functools.partial(np.dot, np.ones(1)), "partial", ".args._1"),
    "keyword of a partial": (
        functools.partial(print, end=[np.ones(1)]),
        "partial",
        ".keywords.end._1",
    ),
    "method": (Forward(w=np.ones(1)).forward, "method", ".__self__.w"),
    "array-like inside": (Opaque(p=[LikeArray()]), "Opaque", ".p._1"),
    "deque": (deque([1, np.ones(1)]), "deque", "[1]"),
    "containers in a deque": (deque([{"w": [np.ones(1)]}]), "deque", "[0].w._1"),
    "frozenset": (frozenset([np.float64(1.0)]), "frozenset", "[0]"),
    "set": ({np.float32(1.0)}, "set", "[0]"),
    "mapping": (Similar(), "Similar", "['a']"),
    "object array": (np.array([None, np.ones(1)], object), "ndarray", ".flat[1]"),
    "containers in an object array": (
        np.array([[None], [{"w": np.ones(1)}]], object),
        "ndarray",
        ".flat[1].w",
    ),
}


@pytest.mark.parametrize(("value", "kind", "where"), HIDING.values(), ids=HIDING)
def test_an_object_that_holds_arrays_is_refused_by_its_path(value, kind, where):
    text = f"is of class {kind}, which is not registered, but holds an array at `{where}`; "
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.trainables_nt({"net": [value]})
    assert str(caught.value).startswith(f"`net._1` {text}")
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.trainables_nt(value)
    assert text in str(caught.value)


def test_the_message_names_both_ways_out():
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.destructure({"net": [3, Opaque(scale=np.ones(1))]})
    assert str(caught.value) == (
        "`net._2` is of class Opaque, which is not registered, but holds an array at `.scale`; it "
        "would be left out of the vector. Call cv.register_pytree_node(Opaque, flatten, "
        "unflatten) to say what its parts are, or cv.register_static(Opaque) to leave it out"
    )
    assert isinstance(caught.value, cv.ComponentError)
    assert isinstance(caught.value, TypeError)


def test_nobody_is_told_to_register_the_class_of_all_arrays():
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.destructure([np.array([np.ones(1), None], object)])
    assert "register_static(ndarray)" not in str(caught.value)


@pytest.mark.parametrize(
    "value", [LikeArray(), LikeDlpack(), LikeCuda()], ids=lambda value: type(value).__name__
)
def test_an_array_of_an_unknown_library_is_refused_by_its_path(value):
    kind = type(value).__name__
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.trainables_nt({"w": [value]})
    assert str(caught.value) == (
        f"`w._1` is of class {kind}, which is not registered, but is an array; it would be "
        f"left out of the vector. Call cv.register_pytree_node({kind}, flatten, unflatten) to say "
        f"what its parts are, or cv.register_static({kind}) to leave it out"
    )


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
@pytest.mark.parametrize("sharing", ["alias", "reject", "copy"])
def test_every_entry_point_refuses_hidden_arrays(entry, sharing):
    with pytest.raises(cv.UnregisteredTypeError):
        entry([Opaque(w=np.ones(1))], sharing=sharing)


@pytest.mark.usefixtures("registrations")
def test_both_ways_out_work():
    cv.register_static(Opaque)
    hidden = Opaque(w=np.ones(2))
    v, restructure = cv.destructure([hidden, np.ones(1)])
    assert v.size == 1
    assert restructure(v)[0] is hidden
    cv.register_pytree_node(
        Slotted, lambda x: ({"weight": x.weight}, None), lambda _, parts: Slotted(**parts)
    )
    v, restructure = cv.destructure([Slotted(weight=np.ones(2))])
    assert restructure(3 * v)[0].weight.tolist() == [3.0, 3.0]


@pytest.mark.usefixtures("registrations")
def test_a_registered_object_inside_an_unregistered_one_is_a_container_and_a_static_is_not():
    cv.register_pytree_node(Slotted, lambda x: ((x.weight,), None), lambda _, parts: parts)
    cv.register_static(SlottedBelow)
    with pytest.raises(cv.UnregisteredTypeError, match=r"holds an array at `\.part\._1`;"):
        cv.destructure(Opaque(part=Slotted(weight=np.ones(1))))
    assert cv.destructure(Opaque(part=SlottedBelow(weight=np.ones(1))))[0].size == 0


class Extra(dict):
    pass


class ExtraList(list):
    pass


class ExtraTuple(tuple):
    pass


class ExtraNamed(NamedTuple("Named", [("x", Any)])):
    pass


@pytest.mark.parametrize(
    "container",
    [
        Extra(x=1),
        ExtraList([1]),
        ExtraTuple([1]),
        ExtraNamed(1),
        Plain(1),
        UserDict(x=1),
    ],
    ids=lambda container: type(container).__name__,
)
def test_further_attributes_of_a_container_that_hold_arrays_are_refused(container):
    kind = type(container).__qualname__
    container.note = "static"
    assert names({"a": [container]}) == {"a": {"_1": {}}}
    container.extra = [0, {"w": np.ones(1)}]
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.trainables_nt({"a": [container]})
    assert str(caught.value) == (
        f"`a._1` is of class {kind}, which is not registered, but holds an array at "
        f"`.extra._2.w`, beside its parts; it would be left out of the vector. Make it one of the "
        f"parts, or call cv.register_pytree_node({kind}, flatten, unflatten) to say what its parts "
        f"are, or cv.register_static({kind}) to leave it out"
    )


def test_slots_of_a_dataclass_that_are_no_fields_are_looked_at_too():
    class Base:
        __slots__ = ("cache",)

    @dataclass
    class Part(Base):
        __slots__ = ("weight",)
        weight: Any

    part = Part(np.ones(1))
    part.cache = np.ones(2)
    with pytest.raises(cv.UnregisteredTypeError, match=r"`\.cache`, beside its parts"):
        cv.trainables_nt(part)


def test_a_field_that_opts_out_of_a_part_of_an_object_does_not_hide_an_array():
    assert names({"o": Opaque(p=Half(np.ones(1), 3)), "w": np.ones(1)}) == {"w": (1,)}


def test_modules_of_torch_are_refused_by_their_path():
    torch = pytest.importorskip("torch")
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.trainables_nt({"net": torch.nn.Linear(2, 1)})
    assert str(caught.value).startswith("`net` is of class Linear, which is not registered, but")


# What is static -----------------------------------------------------------------------------------


def with_attribute(function):
    function.table = np.ones(3)
    return function


def closure():
    table = np.ones(3)
    return lambda x: table * x


class Model:
    table = np.ones(3)

    def forward(self):
        raise AssertionError


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(closure(), id="closure"),
        pytest.param(with_attribute(lambda: None), id="function with attributes"),
        pytest.param(math.sin, id="built-in function"),
        pytest.param(np.ones(3).sum, id="method of an array"),
        pytest.param(Model().forward, id="method"),
        pytest.param(Model, id="class with arrays"),
        pytest.param(Plain, id="dataclass itself"),
        pytest.param(LikeArray, id="class of array-likes"),
        pytest.param(np, id="module"),
        pytest.param(np.exp, id="ufunc"),
        pytest.param(functools.lru_cache(closure()), id="cached function"),
        pytest.param(Model(), id="object whose class holds arrays"),
        pytest.param(Opaque(), id="object without attributes"),
        pytest.param(Opaque(n=1, s="x", f=math.sin, k=Plain), id="object without arrays"),
        pytest.param(Opaque(i=np.arange(3), b=np.array([True])), id="object with integers"),
        pytest.param(Opaque(s=np.array(["x"]), o=np.array([1, None])), id="object with text"),
        pytest.param(Slotted(), id="slots never set"),
        pytest.param(deque([1, "x", np.arange(3)]), id="deque of statics"),
        pytest.param(frozenset(["a", 1.5]), id="frozenset of statics"),
        pytest.param(np.array([None, "x", 1.5], object), id="object array of statics"),
        pytest.param(Opaque(inner=[Opaque(w=np.arange(3))]), id="objects of statics"),
        pytest.param(np.random.default_rng(0), id="random generator"),
        pytest.param(np.dtype("f4"), id="dtype"),
        pytest.param(slice(0, 3), id="slice"),
        pytest.param(Ellipsis, id="ellipsis"),
        pytest.param(1 << 80, id="large integer"),
    ],
)
def test_what_holds_no_parameters_is_carried_by_reference(value):
    ps, restructure = cv.trainables_nt({"s": value, "w": np.ones(1)})
    assert shape_of(ps) == {"w": (1,)}
    assert restructure(ps)["s"] is value


def test_an_object_that_refers_to_itself_is_static():
    loop = Opaque(n=1)
    loop.me = loop
    loop.more = [loop]
    v, restructure = cv.destructure([loop, np.ones(1)])
    assert restructure(v)[0] is loop


def test_an_object_that_refers_to_a_list_that_holds_itself_is_static():
    loop = []
    loop.append(loop)
    value = Opaque(loop=loop)
    assert names([value, np.ones(1)]) == {"_2": (1,)}


def test_looking_into_an_object_runs_no_property_and_no_getattr():
    class Guarded:
        def __init__(self):
            self.n = 1

        @property
        def weight(self):
            raise AssertionError

        def __getattr__(self, name):
            raise AttributeError(name)

    assert names([Guarded(), np.ones(1)]) == {"_2": (1,)}


# Memory that is trainable here and frozen there ---------------------------------------------------

W = np.arange(6.0).reshape(2, 3)


SAME = {
    "same object": (W, W),
    "view": (W, W[:]),
    "transpose": (W, W.T),
    "reversed": (W, W[::-1, ::-1]),
    "flattened": (W, W.reshape(-1)),
}


@pytest.mark.parametrize("kind", [Half, Flipped], ids=["frozen first", "trainable first"])
@pytest.mark.parametrize(("trained", "frozen"), SAME.values(), ids=SAME)
def test_memory_that_is_trainable_anywhere_is_trainable_everywhere(kind, trained, frozen):
    model = kind(weight=trained, table=[3, frozen])
    ps, restructure = cv.trainables_nt(model)
    assert set(ps._fields) == {"weight", "table"}
    assert ps.table._fields == ("_2",)
    assert ps.table._2 is frozen
    v = cv.ComponentVector(ps)
    assert v.size == 6
    v["weight"][...] = 10 * trained
    made = restructure(v)
    np.testing.assert_array_equal(made.weight, 10 * trained)
    np.testing.assert_array_equal(made.table[1], 10 * frozen)
    assert np.shares_memory(made.table[1], v)
    assert (made.weight is made.table[1]) == (trained.shape == frozen.shape and frozen[0, 0] == 0)


@pytest.mark.parametrize("kind", [Half, Flipped], ids=["frozen first", "trainable first"])
@pytest.mark.parametrize(("trained", "frozen"), SAME.values(), ids=SAME)
def test_reject_refuses_memory_that_is_trainable_here_and_frozen_there(kind, trained, frozen):
    with pytest.raises(cv.SharingError) as caught:
        cv.trainables_nt(kind(weight=trained, table=frozen), sharing="reject")
    pair = "`table` and `weight`" if kind is Half else "`weight` and `table`"
    assert str(caught.value) == (
        f"these components share memory: {pair}; pass sharing='alias' to store them once and keep "
        "them tied, or sharing='copy' to store each apart"
    )


@pytest.mark.parametrize("kind", [Half, Flipped], ids=["frozen first", "trainable first"])
@pytest.mark.parametrize(("trained", "frozen"), SAME.values(), ids=SAME)
def test_copy_keeps_frozen_memory_frozen(kind, trained, frozen):
    ps, restructure = cv.trainables_nt(kind(weight=trained, table=frozen), sharing="copy")
    assert ps._fields == ("weight",)
    made = restructure(np.zeros(6))
    assert made.table is frozen
    np.testing.assert_array_equal(made.weight, np.zeros(trained.shape))


def test_a_frozen_array_may_be_what_the_others_are_views_of():
    cube = np.arange(24.0).reshape(2, 3, 4)
    v, restructure = cv.destructure(Half(cube.reshape(-1), cube.T))
    assert v.size == 24
    made = restructure(10 * v)
    np.testing.assert_array_equal(made.weight, 10 * cube.T)
    np.testing.assert_array_equal(made.table, 10 * cube.reshape(-1))


def test_several_frozen_names_of_one_memory_all_become_trainable():
    model = [Half({"a": W, "b": [W.T]}, None), Half(np.ones(2), W), Half(W[::-1], np.ones(1))]
    assert names(model) == {
        "_1": {"table": {"a": (2, 3), "b": {"_1": (3, 2)}}},
        "_2": {"weight": (2, 3)},
        "_3": {"table": (2, 3), "weight": (1,)},
    }
    v, restructure = cv.destructure(model)
    assert v.size == 7
    assert restructure.pullback(restructure(np.ones(7))).tolist() == [4.0] * 6 + [1.0]


def test_integers_are_tied_to_what_a_predicate_chose():
    index = np.arange(3)
    ps, _ = cv.trainables_nt({"a": index, "b": index[::-1]}, trainable=lambda path, _: path == "b")
    assert ps._fields == ("a", "b")


@pytest.mark.parametrize("sharing", ["alias", "reject"])
@pytest.mark.parametrize("kind", [Half, Flipped], ids=["frozen first", "trainable first"])
@pytest.mark.parametrize(
    ("trained", "frozen"),
    [
        pytest.param(W[:1], W, id="a part is trainable"),
        pytest.param(W, W[:, 1:], id="a part is frozen"),
        pytest.param(W[:, :2], W[:, 1:], id="some elements"),
        pytest.param(W, W.view(np.int64), id="another dtype"),
        pytest.param(W, W.view(np.complex64), id="a complex view"),
        pytest.param(W.view("f4").reshape(-1)[::2], W.reshape(-1), id="halves of numbers"),
    ],
)
def test_a_frozen_array_that_overlaps_a_trainable_one_is_refused(sharing, kind, trained, frozen):
    with pytest.raises(cv.SharingError) as caught:
        cv.trainables_nt([kind(weight=trained, table={"t": frozen})], sharing=sharing)
    assert str(caught.value) == (
        "`_1.weight` and `_1.table.t` overlap in memory, but are not the same elements seen "
        "through a transpose, reversal or reshape, so they cannot share a slot; copy one of them, "
        "or pass sharing='copy' to store both apart"
    )
    v, _ = cv.destructure([kind(weight=trained, table={"t": frozen})], sharing="copy")
    assert v.size == trained.size


def test_integers_that_overlap_a_parameter_are_refused_without_opting_out():
    with pytest.raises(cv.SharingError, match="`w` and `bits` overlap in memory"):
        cv.trainables_nt({"bits": W.view(np.int64), "w": W})


def test_statics_may_overlap_each_other():
    table, index = np.arange(6.0), np.arange(6)
    model = {
        "h": Half([table[:4], table[2:], table, table.view(int)], np.ones(1)),
        "i": (index[:4], index[2:]),
    }
    v, restructure = cv.destructure(model)
    assert v.size == 1
    made = restructure(v)
    assert made["i"][1] is model["i"][1]
    assert made["h"].table[2] is table


def test_parameters_and_statics_that_interleave_are_apart():
    table = np.arange(6.0)
    assert names(Half(table[::2], table[1::2])) == {"weight": (3,)}


def test_arrays_without_elements_are_tied_as_one_object_only():
    empty = np.zeros((0, 3))
    assert names(Half(empty, empty)) == {"table": (0, 3), "weight": (0, 3)}
    assert names(Half(empty[:], empty)) == {"weight": (0, 3)}
    assert names(Half(W[:0], W)) == {"weight": (2, 3)}


def test_numpy_scalars_are_never_tied():
    scalar = np.float64(2.0)
    ps, restructure = cv.trainables_nt(Half(scalar, scalar))
    assert ps._fields == ("weight",)
    assert restructure(np.array([5.0])) == Half(2.0, 5.0)


def test_memory_inside_objects_that_are_left_out_is_nobodys_business():
    assert names(Half(Opaque(w=W[1:]), W)) == {"weight": (2, 3)}


def test_an_object_in_many_places_is_searched_once(monkeypatch):
    asked = []

    class Config:
        def __init__(self):
            self.vocabulary = [str(k) for k in range(10)]

        @property
        def __dict__(self):
            asked.append(1)
            return {"vocabulary": [[str(k)] for k in range(10)]}

    config = Config()
    assert names([Plain(config) for _ in range(50)]) == {f"_{k}": {} for k in range(1, 51)}
    assert len(asked) <= 3


def test_clashing_keys_do_not_matter_where_nothing_needs_a_name():
    clash = {1: 2, "_1": "x"}
    model = {"w": np.ones(1), "config": clash, "half": Half(clash, np.ones(1))}
    v, restructure = cv.destructure(model)
    assert list(v.axis.paths()) == ["w", "half.weight"]
    assert restructure(v)["config"] is clash


@pytest.mark.parametrize(
    "part", [np.ones(1), [np.ones(1)], Opaque(w=np.ones(1))], ids=["array", "list", "object"]
)
def test_clashing_keys_of_parameters_are_refused(part):
    with pytest.raises(cv.LabelError) as caught:
        cv.destructure({"net": [{1: part, "_1": 3}]})
    assert str(caught.value) == "`net._1`: the keys 1 and '_1' would both be named '_1'"


def test_clashing_keys_of_chosen_numbers_are_refused():
    with pytest.raises(cv.LabelError, match="would both be named"):
        cv.destructure([{1: 0.5, "_1": 3}], trainable=lambda path, leaf: True)


def test_clashing_keys_inside_an_object_hide_nothing():
    with pytest.raises(cv.UnregisteredTypeError, match=r"holds an array at `\.p\[1\]`"):
        cv.destructure([Opaque(p={1: np.ones(1), "_1": 3})])


@pytest.mark.parametrize("sharing", ["alias", "reject", "copy"])
def test_what_is_left_out_is_absent_wherever_else_it_stands(sharing):
    config = {"k": 3}
    ps, restructure = cv.trainables_nt([Half(config, config), np.ones(1)], sharing=sharing)
    assert names_of(ps._1) == ["weight"]
    made = restructure(np.ones(1))
    assert made[0].table == made[0].weight == config


def names_of(tree):
    return list(tree._fields)


def test_components_may_be_called_like_internals():
    v, restructure = cv.destructure({"_cv_state": np.ones(2), "b": np.zeros(1)})
    assert v["_cv_state"].tolist() == [1.0, 1.0]
    assert restructure(2 * v)["_cv_state"].tolist() == [2.0, 2.0]
