"""Classes that users registered with JAX: JAX takes them apart, but renames nothing of ours."""

import copy
import pickle
import subprocess
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from typing import Any

import attrs
import numpy as np
import pytest

import componentvec as cv
from componentvec.tree import take_apart

jax = pytest.importorskip("jax")
tree_util = jax.tree_util


class Affine:
    def __init__(self, slope, shift, label="affine"):
        self.slope, self.shift, self.label = slope, shift, label


class Keyed(Affine):
    pass


class Flat(Affine):
    pass


@dataclass
class Meta:
    label: Any
    weight: Any
    table: Any = None


@dataclass(frozen=True, slots=True)
class MetaSlots:
    label: Any
    weight: Any
    table: Any = None


@attrs.define
class Defined:
    label: Any
    weight: Any
    table: Any = None


@dataclass
class ByHand:
    """A dataclass with functions of its own, which count backwards."""

    first: Any
    second: Any
    third: Any = None


@dataclass
class Changed:
    """JAX is given something else than the values of the fields."""

    first: Any
    second: Any


def unflatten_attrs(aux, children):
    return Defined(aux, *children)


tree_util.register_pytree_node(
    Affine, lambda x: ((x.slope, x.shift), x.label), lambda aux, kids: Affine(*kids, aux)
)
tree_util.register_pytree_with_keys(
    Keyed,
    lambda x: (
        ((tree_util.GetAttrKey("slope"), x.slope), (tree_util.DictKey("shift"), x.shift)),
        x.label,
    ),
    lambda aux, kids: Keyed(*kids, aux),
)
tree_util.register_pytree_with_keys(
    Flat,
    lambda x: (
        ((tree_util.GetAttrKey("slope"), x.slope), (tree_util.GetAttrKey("shift"), x.shift)),
        x.label,
    ),
    lambda aux, kids: Flat(*kids, aux),
)
for kind in (Meta, MetaSlots):
    tree_util.register_dataclass(kind, data_fields=["weight"], meta_fields=["label", "table"])
tree_util.register_pytree_node(Defined, lambda x: ((x.weight, x.table), x.label), unflatten_attrs)
tree_util.register_pytree_node(
    ByHand, lambda x: ((x.second, x.first), x.third), lambda aux, kids: ByHand(*kids[::-1], aux)
)
tree_util.register_pytree_node(
    Changed, lambda x: ((x.first + x.second,), None), lambda _, kids: Changed(kids[0], 0 * kids[0])
)


def tenfold(model):
    v, restructure = cv.destructure(model)
    return restructure(10 * v)


def paths(model):
    return list(cv.destructure(model)[0].axis.paths())


# Classes that JAX knows ---------------------------------------------------------------------------


def test_children_without_keys_are_numbered_from_one():
    model = Affine(np.array([1.0]), {"b": np.array([2.0])}, "kept")
    assert paths([model]) == ["_1._1", "_1._2.b"]
    made = tenfold(model)
    assert type(made) is Affine
    assert (made.slope.tolist(), made.shift, made.label) == ([10.0], {"b": [20.0]}, "kept")


@pytest.mark.parametrize("kind", [Flat, Keyed], ids=["attributes", "several kinds of key"])
def test_children_with_keys_come_back_whatever_they_are_called(kind):
    made = tenfold(kind(np.array([1.0]), np.array([2.0]), "kept"))
    assert type(made) is kind
    assert (made.slope.tolist(), made.shift.tolist(), made.label) == ([10.0], [20.0], "kept")


def test_children_with_attribute_keys_are_called_after_them():
    assert paths([Flat(np.ones(1), np.ones(1))]) == ["_1.slope", "_1.shift"]


def test_a_registration_with_jax_does_not_hold_for_subclasses():
    class Below(Affine):
        pass

    with pytest.raises(cv.UnregisteredTypeError, match="Below"):
        cv.destructure(Below(np.ones(1), np.ones(1)))


def test_children_that_are_none_are_static_parts():
    made = tenfold(Affine(np.ones(1), None))
    assert made.shift is None


def test_an_object_at_two_places_comes_back_as_one():
    shared = Affine(np.ones(1), np.ones(2))
    v, restructure = cv.destructure([shared, [shared]])
    assert v.size == 3
    one, (two,) = restructure(v)
    assert one is two


@pytest.mark.parametrize(
    "model",
    [
        Affine(np.ones(1), np.ones(2)),
        Flat(np.ones(1), np.ones(2)),
        Meta("x", np.ones(3)),
        MetaSlots("x", np.ones(3)),
        Defined("x", np.ones(1), np.ones(2)),
        ByHand(np.ones(1), np.ones(2)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_restructure_compares_hashes_and_is_copied(model):
    v, restructure = cv.destructure([model])
    assert restructure == cv.destructure([model])[1]
    assert isinstance(hash(restructure), int)
    assert restructure.flatten(restructure(2 * v)).tolist() == [2.0, 2.0, 2.0]
    again = copy.deepcopy(restructure)
    assert again == restructure
    assert type(again(v)[0]) is type(model)


@pytest.mark.parametrize(
    "model",
    [
        Affine(np.ones(1), np.ones(2)),
        Flat(np.ones(1), np.ones(2)),
        Meta("x", np.ones(3)),
        MetaSlots("x", np.ones(3)),
        Defined("x", np.ones(1), np.ones(2)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_restructure_pickles(model):
    v, restructure = cv.destructure([model])
    again = pickle.loads(pickle.dumps(restructure))
    assert again == restructure
    assert hash(again) == hash(restructure)
    assert type(again(v)[0]) is type(model)


# Dataclasses and attrs classes that JAX knows -----------------------------------------------------


@pytest.mark.parametrize("kind", [Meta, MetaSlots])
def test_jax_says_which_fields_of_a_dataclass_are_data(kind):
    table = np.ones(2)
    model = kind(["label"], np.array([1.0]), table)
    assert paths([model]) == ["_1.weight"]
    made = tenfold(model)
    assert type(made) is kind
    assert made.weight.tolist() == [10.0]
    assert made.table is table
    assert made.label is model.label


@pytest.mark.parametrize("kind", [Meta, MetaSlots])
def test_fields_that_are_no_data_are_not_looked_at(kind):
    label = Opaque()
    made = tenfold(kind(label, np.ones(1), {"deep": [label]}))
    assert made.label is label
    assert made.table["deep"][0] is label


class Opaque:
    def __init__(self):
        self.array = np.ones(3)


def test_an_attrs_class_keeps_the_names_of_its_fields():
    model = Defined("kept", np.array([1.0]), np.array([2.0]))
    assert paths([model]) == ["_1.weight", "_1.table"]
    made = tenfold(model)
    assert (made.label, made.weight.tolist(), made.table.tolist()) == ("kept", [10.0], [20.0])


def test_a_dataclass_registered_by_hand_keeps_the_names_of_its_fields():
    model = ByHand(np.array([1.0]), np.array([2.0]), "kept")
    assert sorted(paths([model])) == ["_1.first", "_1.second"]
    made = tenfold(model)
    assert (made.first.tolist(), made.second.tolist(), made.third) == ([10.0], [20.0], "kept")


def test_a_dataclass_whose_children_are_one_object_twice_keeps_its_names():
    shared = np.array([1.0])
    made = tenfold(ByHand(shared, shared))
    assert made.first is made.second
    assert made.first.tolist() == [10.0]


def test_a_dataclass_whose_children_are_no_fields_is_put_together_by_jax():
    model = Changed(np.array([1.0]), np.array([2.0]))
    assert paths([model]) == ["_1._1"]
    made = tenfold(model)
    assert (made.first.tolist(), made.second.tolist()) == ([30.0], [0.0])


def test_metadata_opts_out_of_a_class_that_jax_knows_too():
    @dataclass
    class Half:
        table: Any = field(metadata={"trainable": False})
        weight: Any = None

    tree_util.register_dataclass(Half, data_fields=["table", "weight"], meta_fields=[])
    table = np.ones(2)
    model = Half(table, np.ones(1))
    assert paths(model) == ["weight"]
    assert tenfold(model).table is table


# componentvec's own registrations come first ------------------------------------------------------


@pytest.mark.usefixtures("registrations")
def test_a_registration_with_componentvec_comes_before_that_with_jax():
    cv.register_pytree_node(
        Affine, lambda x: ({"s": x.slope}, x), lambda aux, kw: Affine(kw["s"], aux.shift)
    )
    assert paths([Affine(np.ones(1), np.ones(2))]) == ["_1.s"]
    cv.register_static(Meta)
    model = Meta("x", np.ones(1))
    v, restructure = cv.destructure([model, np.ones(1)])
    assert v.size == 1
    assert restructure(v)[0] is model


# JAX changes nothing of the built-in kinds --------------------------------------------------------

Pair = namedtuple("Pair", ["y", "x"])


@dataclass
class Unknown:
    z: Any
    a: Any


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ({"z": np.ones(1), "a": np.ones(2)}, ["z", "a"]),
        (OrderedDict(z=np.ones(1), a=np.ones(2)), ["z", "a"]),
        (defaultdict(list, z=np.ones(1), a=np.ones(2)), ["z", "a"]),
        ([np.ones(1), (np.ones(2),)], ["_1", "_2._1"]),
        (Pair(np.ones(1), np.ones(2)), ["y", "x"]),
        (Unknown(np.ones(1), np.ones(2)), ["z", "a"]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_the_built_in_kinds_keep_their_names_and_order(model, names):
    assert paths(model) == names
    assert type(tenfold(model)) is type(model)


@pytest.mark.parametrize("value", [None, 3, "x", 1.5, ..., range(3)], ids=repr)
def test_what_is_no_container_is_none_with_jax_either(value):
    assert take_apart(value) is None
    v, restructure = cv.destructure({"s": value, "w": np.ones(1)})
    assert list(v.axis) == ["w"]
    assert restructure(v)["s"] is value


def test_a_deque_is_no_container_with_jax_either():
    assert take_apart(deque([np.ones(1)])) is None
    with pytest.raises(cv.UnregisteredTypeError, match="deque"):
        cv.destructure([deque([np.ones(1)])])


def test_the_names_are_the_same_before_and_after_jax_is_loaded():
    script = """
import dataclasses, typing, collections
import numpy as np
import componentvec as cv

@dataclasses.dataclass
class Layer:
    w: typing.Any
    b: typing.Any = None

model = {"z": Layer(np.ones(2)), "a": [None, (np.ones(1), 3)], "o": collections.OrderedDict(
    q=np.ones(1), b=np.ones(1)), "d": collections.defaultdict(list, z=np.ones(1), e=np.ones(1))}
v, restructure = cv.destructure(model)
import jax
w, again = cv.destructure(model)
print(v.axis is w.axis, restructure == again)
"""
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["True", "True"]


def test_componentvec_does_not_load_jax():
    script = "import sys, numpy, componentvec as cv; cv.destructure([numpy.ones(1), object()])"
    answer = subprocess.run(
        [sys.executable, "-c", f"{script}; print('jax' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "False"


# Equinox ------------------------------------------------------------------------------------------


@pytest.fixture
def equinox():
    return pytest.importorskip("equinox")


@pytest.fixture
def dense(equinox):
    """A class of modules with a static field, made anew for each test."""

    class Dense(equinox.Module):
        weight: Any
        bias: Any
        act: Any = equinox.field(static=True, default=np.tanh)
        inner: Any = None

        def __call__(self, x):
            return self.act(self.weight @ x + self.bias)

    return Dense


def test_modules_of_equinox_are_walked_by_the_names_of_their_fields(dense):
    model = dense(np.ones((1, 2)), np.ones(1), inner=[dense(np.ones((2, 2)), None)])
    assert paths({"net": model}) == ["net.weight", "net.bias", "net.inner._1.weight"]
    made = tenfold(model)
    assert type(made) is dense
    assert made.weight.tolist() == [[10.0, 10.0]]
    assert made.act is np.tanh
    assert made.inner[0].bias is None
    assert made(np.zeros(2)).tolist() == np.tanh([10.0]).tolist()


def test_modules_of_equinox_stay_frozen(dense, equinox):
    made = tenfold(dense(np.ones((1, 2)), np.ones(1)))
    with pytest.raises(AttributeError):
        made.weight = 3


@pytest.mark.filterwarnings("ignore:A JAX array is being set as static")
def test_arrays_in_static_fields_of_equinox_are_no_parameters(dense):
    table = np.ones(3)
    model = dense(np.ones((1, 2)), np.ones(1), act=table)
    assert paths(model) == ["weight", "bias"]
    assert tenfold(model).act is table


def test_ties_between_modules_of_equinox_stay(dense):
    weight = np.arange(6.0).reshape(2, 3)
    model = dense(weight, None, inner=dense(weight.T, None))
    v, restructure = cv.destructure(model)
    assert v.size == 6
    made = restructure(v)
    v.weight[0, 1] = 50.0
    assert made.inner.weight[1, 0] == 50.0


def test_leaves_of_modules_of_equinox_come_in_jax_order(dense):
    model = dense(np.ones((1, 2)), np.ones(1), inner={"z": np.ones(3)})
    v, _ = cv.destructure(model)
    leaves = tree_util.tree_leaves(model)
    assert v.size == sum(leaf.size for leaf in leaves)
    assert paths(model) == ["weight", "bias", "inner.z"]


def test_a_part_is_the_field_that_jax_names_whatever_it_holds():
    @dataclass
    class Both:
        b: Any
        a: Any

    tree_util.register_dataclass(Both, data_fields=["a"], meta_fields=["b"])
    shared = np.ones(2)
    v, restructure = cv.destructure(Both(shared, shared))
    assert list(v.axis.paths()) == ["a"]
    made = restructure(10 * v)
    assert made.a.tolist() == [10.0, 10.0]
    assert made.b is shared


def test_restructures_of_classes_with_arrays_in_their_aux_can_be_compared():
    class Cfg:
        def __init__(self, w, cfg):
            self.w, self.cfg = w, cfg

    tree_util.register_pytree_node(Cfg, lambda c: ((c.w,), c.cfg), lambda cfg, c: Cfg(*c, cfg))
    one, two, other = (
        cv.destructure(Cfg(np.ones(1), cfg))[1] for cfg in (np.ones(2), np.ones(2), np.zeros(2))
    )
    assert one == two
    assert hash(one) == hash(two)
    assert one != other
