"""Classes that users registered: their own functions take objects apart and put them together."""

import copy
import gc
import pickle
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import componentvec as cv
from componentvec.tree import take_apart

pytestmark = pytest.mark.usefixtures("registrations")


class Affine:
    """A class of the kind that is registered: its constructor does not take its state."""

    def __init__(self, slope, shift, label="affine"):
        self.slope, self.shift, self.label = slope, shift, label


def flatten_affine(affine):
    return (affine.slope, affine.shift), affine.label


def unflatten_affine(label, children):
    return Affine(*children, label)


def flatten_by_name(affine):
    return {"slope": affine.slope, "shift": affine.shift}, affine.label


def unflatten_by_name(label, children):
    return Affine(label=label, **children)


def new_class(base=Affine):
    """A class that no other test has registered."""
    return type("Local", (base,), {})


def affine(kind=Affine, label="affine"):
    return kind(np.array([1.0, 2.0]), np.array([3.0]), label)


def fields_of(tree):
    return {
        name: fields_of(part) if isinstance(part, cv.NamedTree) else part.tolist()
        for name, part in tree._asdict().items()
    }


# How objects come apart ---------------------------------------------------------------------------


def test_children_in_a_sequence_are_numbered_from_one():
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    model = affine()
    ps, _ = cv.trainables_nt({"a": model})
    assert fields_of(ps) == {"a": {"_1": [1.0, 2.0], "_2": [3.0]}}
    assert ps.a._1 is model.slope


@pytest.mark.parametrize("kind", [tuple, list, iter], ids=["tuple", "list", "iterator"])
def test_unflatten_gets_aux_and_a_tuple_for_children_in_any_sequence(kind):
    seen = []

    def unflatten(aux, children):
        seen.append((aux, children))
        return Affine(*children, aux)

    aux = object()
    cv.register_pytree_node(Affine, lambda x: (kind([x.slope, x.shift]), aux), unflatten)
    v, restructure = cv.destructure(affine())
    made = restructure(10 * v)
    ((given, children),) = seen
    assert given is aux
    assert type(children) is tuple
    assert children[0] is made.slope
    assert (made.slope.tolist(), made.shift.tolist()) == ([10.0, 20.0], [30.0])


@pytest.mark.parametrize("kind", [dict, OrderedDict], ids=["dict", "OrderedDict"])
def test_children_in_a_mapping_are_named_and_unflatten_gets_a_dict(kind):
    seen = []

    def unflatten(aux, children):
        seen.append(children)
        return Affine(**children)

    cv.register_pytree_node(Affine, lambda x: (kind(shift=x.shift, slope=x.slope), None), unflatten)
    v, restructure = cv.destructure([affine()])
    assert list(v.axis.paths()) == ["_1.shift", "_1.slope"]
    (made,) = restructure(10 * v)
    assert made.slope.tolist() == [10.0, 20.0]
    (children,) = seen
    assert type(children) is dict
    assert list(children) == ["shift", "slope"]


def test_keys_of_children_that_are_no_strings_come_back_as_they_were():
    cv.register_pytree_node(
        Affine,
        lambda x: ({0: x.slope, (1, 2): x.shift}, None),
        lambda _, children: Affine(children[0], children[1, 2]),
    )
    v, restructure = cv.destructure(affine())
    assert list(v.axis) == ["_0", "_(1, 2)"]
    assert restructure(10 * v).shift.tolist() == [30.0]


def test_keys_of_children_that_would_share_a_name_are_refused_with_the_path():
    cv.register_pytree_node(Affine, lambda x: ({1: x.slope, "_1": x.shift}, None), id)
    with pytest.raises(cv.LabelError) as caught:
        cv.destructure({"a": [affine()]})
    assert str(caught.value) == "`a._1`: the keys 1 and '_1' would both be named '_1'"


@pytest.mark.parametrize("none", [(), [], {}], ids=repr)
def test_an_object_without_children_is_an_empty_group(none):
    cv.register_pytree_node(Affine, lambda x: (none, x.label), lambda aux, _: Affine(1, 2, aux))
    ps, restructure = cv.trainables_nt({"a": affine(label="x"), "w": np.ones(1)})
    assert fields_of(ps) == {"a": {}, "w": [1.0]}
    made = restructure(ps)["a"]
    assert (made.slope, made.label) == (1, "x")


def test_children_may_be_containers_and_registered_objects():
    cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name)
    inner = affine(label="inner")
    v, restructure = cv.destructure(Affine({"x": [np.ones(1), inner]}, 3, "outer"))
    assert list(v.axis.paths()) == ["slope.x._1", "slope.x._2.slope", "slope.x._2.shift"]
    made = restructure(10 * v)
    assert (made.label, made.shift) == ("outer", 3)
    assert made.slope["x"][1].label == "inner"
    assert made.slope["x"][1].shift.tolist() == [30.0]


def test_an_object_at_two_places_comes_back_as_one():
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    shared = affine()
    v, restructure = cv.destructure({"a": shared, "b": [shared]})
    assert v.size == 3
    made = restructure(v)
    assert made["a"] is made["b"][0]


def test_tied_children_stay_tied():
    cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name)
    weight = np.arange(6.0).reshape(2, 3)
    v, restructure = cv.destructure(Affine(weight, weight.T))
    assert v.size == 6
    made = restructure(v)
    v.slope[0, 1] = 50.0
    assert made.shift[1, 0] == 50.0


def test_an_object_that_holds_itself_is_refused():
    cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name)
    loop = affine()
    loop.shift = [loop]
    with pytest.raises(cv.SharingError, match=r"`shift\._1` is the model again; a cycle"):
        cv.destructure(loop)


def test_aux_is_carried_by_reference_and_its_arrays_are_no_parameters():
    aux = {"table": np.ones(3)}
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    v, restructure = cv.destructure(affine(label=aux))
    assert v.size == 3
    assert restructure(v).label is aux


def test_flatten_and_pullback_know_registered_objects():
    cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name)
    v, restructure = cv.destructure({"a": affine()})
    assert restructure.flatten(restructure(10 * v)).tolist() == [10.0, 20.0, 30.0]
    gradient = restructure.pullback({"a": Affine(None, np.array([5.0]))})
    assert gradient.tolist() == [0.0, 0.0, 5.0]


def test_the_model_is_not_looked_at_again_when_rebuilding():
    calls = []

    def flatten(x):
        calls.append(x)
        return flatten_affine(x)

    cv.register_pytree_node(Affine, flatten, unflatten_affine)
    v, restructure = cv.destructure(affine())
    before = len(calls)
    restructure(v)
    assert len(calls) == before


# trainable= ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trainable", [("slope",), ["slope"], {"slope"}, iter(["slope"])], ids=lambda x: type(x).__name__
)
def test_children_that_are_not_named_as_trainable_are_static(trainable):
    cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name, trainable=trainable)
    model = affine()
    ps, restructure = cv.trainables_nt({"a": model})
    assert fields_of(ps) == {"a": {"slope": [1.0, 2.0]}}
    made = restructure(np.zeros(2))["a"]
    assert made.shift is model.shift
    assert made.slope.tolist() == [0.0, 0.0]


def test_numbered_children_may_be_named_as_trainable_too():
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine, trainable=("_2",))
    assert fields_of(cv.trainables_nt(affine())[0]) == {"_2": [3.0]}


def test_nothing_may_be_trainable():
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine, trainable=())
    ps, _ = cv.trainables_nt([affine(), np.ones(1)])
    assert fields_of(ps) == {"_1": {}, "_2": [1.0]}


def test_what_is_not_trainable_is_static_with_all_that_it_holds():
    cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name, trainable=("slope",))
    frozen = {"deep": [np.ones(1), affine()], "opaque": SimpleNamespace(w=np.ones(2))}
    ps, restructure = cv.trainables_nt(Affine(np.ones(1), frozen))
    assert fields_of(ps) == {"slope": [1.0]}
    made = restructure(ps).shift
    assert made["deep"][0] is frozen["deep"][0]
    assert made["deep"][1].slope is frozen["deep"][1].slope
    assert made["opaque"] is frozen["opaque"]


def test_the_predicate_is_not_asked_for_what_is_not_trainable():
    cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name, trainable=("shift",))
    asked = []
    cv.trainables_nt([affine()], trainable=lambda path, leaf: asked.append(path) or True)
    assert asked == ["_1.shift"]


@pytest.mark.parametrize(
    ("trainable", "model", "where", "close"),
    [
        (
            ("slpe",),
            affine(),
            "the model",
            "did you mean 'slope'?",
        ),
        (
            ("weight",),
            {"a": [affine()]},
            "`a._1`",
            "its components are 'slope', 'shift'",
        ),
    ],
    ids=["close", "far"],
)
def test_a_trainable_child_that_is_not_there_is_refused_by_path(trainable, model, where, close):
    cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name, trainable=trainable)
    with pytest.raises(cv.LabelError) as caught:
        cv.destructure(model)
    assert str(caught.value) == (
        f"{where}: Affine was registered with {trainable[0]!r} as trainable, but has no such "
        f"child; {close}"
    )


# Which classes ------------------------------------------------------------------------------------


def test_registering_the_same_way_again_changes_nothing():
    for trainable in [("slope", "shift"), ["shift", "slope"]]:
        cv.register_pytree_node(Affine, flatten_by_name, unflatten_by_name, trainable=trainable)
    assert cv.destructure(affine())[0].size == 3


@pytest.mark.parametrize(
    "again",
    [
        lambda: cv.register_pytree_node(Affine, flatten_by_name, unflatten_affine),
        lambda: cv.register_pytree_node(Affine, flatten_affine, unflatten_by_name),
        lambda: cv.register_pytree_node(Affine, flatten_affine, unflatten_affine, trainable=()),
        lambda: cv.register_static(Affine),
    ],
    ids=["flatten", "unflatten", "trainable", "static"],
)
def test_registering_in_another_way_is_refused_and_changes_nothing(again):
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    with pytest.raises(ValueError, match="registered already") as caught:
        again()
    assert str(caught.value) == f"{__name__}.Affine is registered already, in another way"
    assert list(cv.destructure(affine())[0].axis) == ["_1", "_2"]


def test_a_static_class_cannot_become_a_container():
    cv.register_static(Affine)
    with pytest.raises(ValueError, match="Affine is registered already, in another way"):
        cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    assert take_apart(affine()) is None


def test_a_registration_does_not_hold_for_subclasses():
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    with pytest.raises(cv.UnregisteredTypeError, match="class Local, which is not registered"):
        cv.destructure(affine(new_class()))


def test_a_static_registration_does_not_hold_for_subclasses():
    cv.register_static(Affine)
    with pytest.raises(cv.UnregisteredTypeError, match="class Local, which is not registered"):
        cv.destructure(affine(new_class()))


def test_base_and_subclass_are_registered_apart():
    local = new_class()
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    cv.register_pytree_node(local, flatten_by_name, lambda aux, kw: local(label=aux, **kw))
    v, restructure = cv.destructure([affine(), affine(local)])
    assert list(v.axis.paths()) == ["_1._1", "_1._2", "_2.slope", "_2.shift"]
    assert [type(part) for part in restructure(v)] == [Affine, local]


@dataclass
class Record:
    x: object
    y: object = field(metadata={"trainable": False})


class Items(dict):
    pass


class Row(list):
    pass


class Couple(tuple):
    __slots__ = ()


class Pinned(np.ndarray):
    pass


@pytest.mark.parametrize(
    ("value", "flatten"),
    [
        pytest.param(
            Record(np.ones(1), np.ones(1)), lambda r: ({"p": r.y, "q": r.x}, None), id="dataclass"
        ),
        pytest.param(
            Items(a=np.ones(1), b=np.ones(1)), lambda d: ({"p": d["b"], "q": 1}, None), id="dict"
        ),
        pytest.param(Row([np.ones(1)] * 2), lambda r: ({"p": r[0]}, None), id="list"),
        pytest.param(Couple([np.ones(1)] * 2), lambda c: ({"p": c[1]}, None), id="tuple"),
        pytest.param(np.ones(3).view(Pinned), lambda a: ({"p": np.ones(1)}, None), id="array"),
    ],
)
def test_a_registration_comes_before_the_built_in_kinds(value, flatten):
    cv.register_pytree_node(type(value), flatten, lambda _, children: children)
    v, restructure = cv.destructure({"m": value})
    assert "m.p" in v.axis
    assert type(restructure(v)["m"]) is dict


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(Record(np.ones(1), np.ones(1)), id="dataclass"),
        pytest.param(Items(a=np.ones(1)), id="dict"),
        pytest.param(Row([np.ones(1)]), id="list"),
        pytest.param(Couple([np.ones(1)]), id="tuple"),
        pytest.param(np.ones(3).view(Pinned), id="array"),
        pytest.param(affine(), id="object"),
    ],
)
def test_objects_of_a_static_class_are_static_whole(value):
    cv.register_static(type(value))
    ps, restructure = cv.trainables_nt({"m": value, "w": np.ones(1)})
    assert ps._fields == ("w",)
    assert restructure(ps)["m"] is value


def test_the_predicate_is_not_asked_inside_a_static_class():
    cv.register_static(Items)
    asked = []
    cv.trainables_nt(
        {"m": Items(a=np.ones(1)), "w": np.ones(1)},
        trainable=lambda path, leaf: asked.append(path) or True,
    )
    assert asked == ["w"]


def test_register_static_is_a_decorator():
    @cv.register_static
    class Lookup:
        def __init__(self):
            self.table = np.ones(4)

    assert isinstance(Lookup, type)
    lookup = Lookup()
    v, restructure = cv.destructure([lookup, np.ones(1)])
    assert v.size == 1
    assert restructure(v)[0] is lookup


class Device:
    """Shows the interface of an array."""

    def __array__(self, dtype=None, copy=None):
        raise AssertionError


def test_a_static_class_may_look_like_an_array():
    cv.register_static(Device)
    device = Device()
    v, restructure = cv.destructure([device, np.ones(1)])
    assert restructure(v)[0] is device


# Wrong arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cv.register_pytree_node(affine(), flatten_affine, unflatten_affine),
            "only classes can be registered, not <",
        ),
        (lambda: cv.register_static("Affine"), "only classes can be registered, not 'Affine'"),
        (lambda: cv.register_static(None), "only classes can be registered, not None"),
        (
            lambda: cv.register_pytree_node(Affine, ("slope",), unflatten_affine),
            "flatten must be a function, not ('slope',)",
        ),
        (
            lambda: cv.register_pytree_node(Affine, flatten_affine, None),
            "unflatten must be a function, not None",
        ),
        (
            lambda: cv.register_pytree_node(
                Affine, flatten_by_name, unflatten_by_name, trainable="slope"
            ),
            "trainable must be a collection of names, such as ('weight',), not 'slope'",
        ),
    ],
    ids=["object", "text", "None", "flatten", "unflatten", "one name"],
)
def test_wrong_arguments_are_refused_and_nothing_is_registered(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(message)
    with pytest.raises(cv.UnregisteredTypeError):
        cv.destructure(affine())


def test_trainable_is_given_by_keyword():
    with pytest.raises(TypeError):
        cv.register_pytree_node(Affine, flatten_affine, unflatten_affine, ("_1",))


def test_errors_in_the_users_functions_are_passed_on():
    class OwnError(Exception):
        pass

    def fail(*_):
        raise OwnError

    cv.register_pytree_node(Affine, fail, unflatten_affine)
    with pytest.raises(OwnError):
        cv.destructure(affine())
    local = new_class()
    cv.register_pytree_node(local, flatten_affine, fail)
    v, restructure = cv.destructure(affine(local))
    with pytest.raises(OwnError):
        restructure(v)


# Restructures of registered classes ---------------------------------------------------------------


@pytest.mark.parametrize(
    "clone",
    [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: pickle.loads(dump_0(x))],
    ids=["deepcopy", "pickle", "pickle 0"],
)
@pytest.mark.parametrize(
    "functions",
    [(flatten_affine, unflatten_affine), (flatten_by_name, unflatten_by_name)],
    ids=["sequence", "mapping"],
)
def test_a_restructure_of_registered_objects_travels(clone, functions):
    cv.register_pytree_node(Affine, *functions)
    v, restructure = cv.destructure({"a": affine(label="here")})
    again = clone(restructure)
    assert again == restructure
    assert hash(again) == hash(restructure)
    made = again(10 * v)["a"]
    assert type(made) is Affine
    assert (made.label, made.slope.tolist(), made.shift.tolist()) == ("here", [10.0, 20.0], [30.0])


def dump_0(value):
    return pickle.dumps(value, protocol=0)


def test_statics_of_a_static_class_travel_with_a_restructure():
    cv.register_static(Affine)
    v, restructure = cv.destructure([affine(label="kept"), np.ones(1)])
    assert pickle.loads(pickle.dumps(restructure))(v)[0].label == "kept"


def test_where_the_class_is_not_registered_rebuilding_says_what_to_call(registrations):
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    v, restructure = cv.destructure({"a": affine()})
    sent = pickle.dumps((v, restructure))
    del registrations[Affine]
    v, arrived = pickle.loads(sent)
    assert arrived == restructure
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        arrived(v)
    assert str(caught.value) == (
        f"{__name__}.Affine is not registered here; call cv.register_pytree_node for it first"
    )
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    assert arrived(v)["a"].slope.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("aux", "same", "other"),
    [
        ("a", "a", "b"),
        (1, 1, True),
        (float("nan"), float("nan"), 0.0),
        (np.arange(3), np.arange(3), np.arange(1, 4)),
        (np.arange(3.0), np.arange(3.0), np.arange(3)),
        (np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((3, 2))),
        (None, None, ()),
    ],
    ids=["text", "types", "nan", "values", "dtypes", "shapes", "None"],
)
def test_restructures_compare_aux_by_type_and_value(aux, same, other):
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    one, two, three = (cv.destructure(affine(label=label))[1] for label in (aux, same, other))
    assert one == two
    assert hash(one) == hash(two)
    assert one != three


def test_restructures_with_an_array_inside_aux_compare_without_a_crash():
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    table = np.arange(3)
    one, two, three = (
        cv.destructure(affine(label={"table": t}))[1] for t in (table, table, table + 1)
    )
    assert one != three
    assert isinstance(one == two, bool)
    assert hash(one) == hash(two)


def test_restructures_of_different_classes_differ():
    local = new_class()
    for kind in (Affine, local):
        cv.register_pytree_node(kind, flatten_affine, unflatten_affine)
    assert cv.destructure(affine())[1] != cv.destructure(affine(local))[1]


def test_a_restructure_does_not_keep_the_model_alive():
    cv.register_pytree_node(Affine, flatten_affine, unflatten_affine)
    model = affine()
    _, restructure = cv.destructure(model)
    watched = weakref.ref(model)
    del model
    gc.collect()
    assert watched() is None
    assert len(restructure) == 3


class Faulty:
    pass


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        ([np.ones(1), np.ones(1)], "[array([1.]), array([1.])]"),
        ((1, 2, 3), "(1, 2, 3)"),
        (None, "None"),
        ((None, None), "None"),
        ((5, "aux"), "5"),
        (("ab", "aux"), "'ab'"),
        ((np.ones((2, 2)), None), "array("),
    ],
    ids=["no aux", "three", "None", "no children", "a number", "text", "rows of an array"],
)
def test_what_a_flatten_function_returns_is_checked(registrations, made, shown):
    cv.register_pytree_node(Faulty, lambda value: made, lambda aux, children: Faulty())
    with pytest.raises(cv.UnregisteredTypeError) as caught:
        cv.destructure({"net": [Faulty()]})
    assert str(caught.value).startswith(
        "`net._1`: the flatten function registered for Faulty must return (children, aux), where "
        f"children are a sequence or a mapping, not {shown}"
    )


def test_children_may_come_from_a_generator(registrations):
    cv.register_pytree_node(
        Faulty, lambda value: ((np.ones(k) for k in (1, 2)), None), lambda aux, children: children
    )
    v, restructure = cv.destructure(Faulty())
    assert v.size == 3
    assert [part.tolist() for part in restructure(2 * v)] == [[2.0], [2.0, 2.0]]
