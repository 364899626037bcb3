"""Large models take time in proportion to their size, and deep ones need no stack."""

import copy
import gc
import itertools
import pickle
import time
from collections import OrderedDict, UserDict
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np
import pytest

import componentvec as cv

DEPTH = 500
FEW, MANY = 10_000, 100_000
# Ten times the leaves may take this many times as long: caches are smaller than models.
FACTOR = 35


@dataclass
class Layer:
    weight: Any
    bias: Any = None


@dataclass(frozen=True, slots=True)
class Slots:
    weight: Any
    bias: Any = None


@attrs.define
class Attrs:
    weight: Any
    bias: Any = None


@dataclass
class Half:
    table: Any = field(default=None, metadata={"trainable": False})
    weight: Any = None


class Registered:
    def __init__(self, weight):
        self.weight = weight


class Named:
    def __init__(self, weight):
        self.weight = weight


@pytest.fixture(autouse=True)
def _registered(registrations):
    cv.register_pytree_node(Registered, as_sequence, from_sequence)
    cv.register_pytree_node(Named, as_mapping, from_mapping)


def as_sequence(value):
    return (value.weight,), None


def from_sequence(aux, children):
    return Registered(*children)


def as_mapping(value):
    return {"weight": value.weight}, None


def from_mapping(aux, children):
    return Named(**children)


# Many leaves --------------------------------------------------------------------------------------


def flat(count):
    """One container."""
    return {f"w{place}": np.ones(1) for place in range(count)}


def layered(count):
    """Many small ones, of several kinds."""
    kinds = [Layer, Attrs, lambda w, b: {"weight": w, "bias": b}, lambda w, b: Registered([w, b])]
    return [kinds[k % 4](np.ones((2, 1)), np.ones(1)) for k in range(count // 2)]


def tied(count):
    """Every second leaf is the one before, transposed."""
    weights = [np.ones((2, 1)) for _ in range(count // 2)]
    return [(weight, weight.T) for weight in weights]


def columns(count):
    """Views of one matrix, half of them frozen."""
    table = np.ones((2, count))
    return [Half(table[:, k], table[:, k + 1]) for k in range(0, count, 2)]


def numbers(count):
    """Python numbers, as parameters."""
    return {"n": [float(place) for place in range(count - 1)], "w": np.ones(1)}


MODELS = [flat, layered, tied, columns, numbers]


def everything(path, leaf):
    return True


def taken_apart(make, count):
    options = {"trainable": everything} if make is numbers else {}
    model = make(count)
    ps, _ = cv.trainables_nt(model, **options)
    v, restructure = cv.destructure(model, **options)
    return model, ps, v, restructure, options


OPERATIONS = {
    "destructure": lambda model, ps, v, back, options: cv.destructure(model, **options),
    "trainables_nt": lambda model, ps, v, back, options: cv.trainables_nt(model, **options),
    "by dtype": lambda model, ps, v, back, options: cv.destructure_by_dtype(model, **options),
    "vector": lambda model, ps, v, back, options: cv.ComponentVector(ps),
    "restructure": lambda model, ps, v, back, options: back(v),
    "restructure with a cast": lambda model, ps, v, back, options: back(v.astype("f4")),
    "restructure a tree": lambda model, ps, v, back, options: back(ps),
    "base": lambda model, ps, v, back, options: (
        back({}, base=model) if isinstance(model, dict) else back(ps, base=model)
    ),
    "batch": lambda model, ps, v, back, options: back.batch(np.asarray(v)[None]),
    "flatten": lambda model, ps, v, back, options: back.flatten(model),
    "pullback": lambda model, ps, v, back, options: back.pullback(model),
    "pickle": lambda model, ps, v, back, options: pickle.dumps((v, ps, back)),
    "equality": lambda model, ps, v, back, options: back == copy.copy(back),
}


def duration(call, times):
    """Shortest processor time of several calls, without the collector of garbage."""
    durations = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(times):
            start = time.process_time()
            call()
            durations.append(time.process_time() - start)
    finally:
        gc.enable()
    return min(durations)


def slower(names, few, many):
    """The operations that take out of proportion longer three times in a row, with their times."""
    found = {}
    for name in names:
        operation = OPERATIONS[name]
        for _ in range(3):
            short = duration(lambda operation=operation: operation(*few), 2)
            long = duration(lambda operation=operation: operation(*many), 1)
            if long <= FACTOR * max(short, 0.001):
                break
        else:
            found[name] = f"{short:.4f} s, then {long:.4f} s"
    return found


@pytest.mark.slow
@pytest.mark.parametrize("make", MODELS)
def test_ten_times_the_leaves_take_about_ten_times_as_long(make):
    few, many = taken_apart(make, FEW // 20), taken_apart(make, FEW // 2)
    assert slower(OPERATIONS, few, many) == {}


@pytest.mark.slow
def test_a_hundred_thousand_leaves_take_about_ten_times_as_long_as_ten_thousand():
    few, many = taken_apart(layered, FEW), taken_apart(layered, MANY)
    assert slower(["destructure", "restructure", "flatten", "pickle"], few, many) == {}
    sent_few, sent_many = pickle.dumps(few[1:4]), pickle.dumps(many[1:4])
    assert len(sent_many) < 15 * len(sent_few)
    short, long = (duration(lambda s=s: pickle.loads(s), 1) for s in (sent_few, sent_many))
    assert long < FACTOR * short
    _, _, v, restructure, _ = many
    assert v.size == 3 * MANY // 2
    _, again_v, again = pickle.loads(sent_many)
    assert again == restructure
    made = again(2 * again_v)
    assert made[0].weight.tolist() == [[2.0], [2.0]]
    assert made[-1].weight[1].tolist() == [2.0]
    assert restructure.flatten(made).tolist() == [2.0] * v.size


# Deep models --------------------------------------------------------------------------------------

WRAPS = {
    "dict": lambda x: {"weight": x},
    "OrderedDict": lambda x: OrderedDict(weight=x),
    "UserDict": lambda x: UserDict(weight=x),
    "mapping proxy": lambda x: MappingProxyType({"weight": x}),
    "list": lambda x: [x],
    "tuple": lambda x: (x, 3),
    "dataclass": Layer,
    "dataclass with slots": Slots,
    "attrs": Attrs,
    "registered": Registered,
    "registered by name": Named,
    "half frozen": lambda x: Half("static", x),
}


def mixed():
    """A function that takes another kind of container each time."""
    wraps = itertools.cycle(WRAPS.values())
    return lambda x: next(wraps)(x)


@pytest.fixture(params=[*WRAPS, "mixed"])
def wrap(request):
    """A function that puts something into a container."""
    return WRAPS[request.param] if request.param in WRAPS else mixed()


def deep(wrap, leaf, depth=DEPTH):
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


def innermost(model):
    """The leaf of a deep model."""
    for _ in range(DEPTH):
        if hasattr(model, "weight"):
            model = model.weight
        elif isinstance(model, (list, tuple)):
            model = model[0]
        else:
            model = model["weight"]
    return model


@pytest.fixture
def model(wrap):
    return deep(wrap, np.array([1.0, 2.0]))


def test_a_deep_model_comes_apart_and_back(model):
    ps, restructure = cv.trainables_nt(model)
    v = cv.ComponentVector(ps)
    assert v.tolist() == [1.0, 2.0]
    made = restructure(3 * v)
    assert type(made) is type(model)
    assert innermost(made).tolist() == [3.0, 6.0]
    (path,) = v.axis.paths()
    assert v[path].tolist() == [1.0, 2.0]
    assert isinstance(repr(v) + repr(restructure) + repr(v.axis), str)


def test_deep_models_flatten_pull_back_and_are_bases(model):
    v, restructure = cv.destructure(model)
    assert restructure.flatten(restructure(3 * v)).tolist() == [3.0, 6.0]
    assert restructure.pullback(model).tolist() == [1.0, 2.0]
    assert restructure.pullback({}).tolist() == [0.0, 0.0]
    assert innermost(restructure({}, base=model)) is innermost(model)
    ps, _ = cv.trainables_nt(model)
    assert innermost(restructure(ps, base=model)) is innermost(model)
    assert innermost(restructure(3 * v, base=model)).tolist() == [3.0, 6.0]
    assert innermost(restructure(v, copy=True, statics="copy")).tolist() == [1.0, 2.0]


def test_deep_models_are_batched_and_split_by_dtype(model):
    _, restructure = cv.destructure(model)
    assert innermost(restructure.batch(np.ones((3, 2)))).shape == (3, 2)
    vectors, by_dtype = cv.destructure_by_dtype(model)
    assert innermost(by_dtype(vectors)).tolist() == [1.0, 2.0]
    assert innermost(by_dtype.batch({"f8": np.ones((3, 2))})).shape == (3, 2)
    (gradient,) = by_dtype.pullback(by_dtype(vectors)).values()
    assert gradient.tolist() == [1.0, 2.0]
    (again,) = by_dtype.flatten(model).values()
    assert again.tolist() == [1.0, 2.0]
    assert pickle.loads(pickle.dumps(by_dtype)) == by_dtype


@pytest.mark.parametrize(
    "clone",
    [copy.deepcopy]
    + [
        lambda x, p=protocol: pickle.loads(pickle.dumps(x, protocol=p))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ],
    ids=["deepcopy"] + [f"pickle {p}" for p in range(pickle.HIGHEST_PROTOCOL + 1)],
)
def test_what_deep_models_give_travels(model, clone):
    ps, restructure = cv.trainables_nt(model)
    v = cv.ComponentVector(ps)
    sent_v, sent_ps, again = clone((v, ps, restructure))
    assert again == restructure
    assert hash(again) == hash(restructure)
    assert sent_v.axis == v.axis
    assert type(sent_ps) is type(ps)
    assert innermost(again(sent_v)).tolist() == [1.0, 2.0]
    assert innermost(again(sent_ps)).tolist() == [1.0, 2.0]


def test_deep_models_may_be_frozen_and_chosen_from(wrap):
    model = Half(deep(wrap, np.ones(1)), deep(wrap, np.ones(2)))
    v, restructure = cv.destructure(model)
    assert v.size == 2
    made = restructure(v)
    assert innermost(made.table) is innermost(model.table)
    asked = []
    cv.trainables_nt(model, trainable=lambda path, leaf: asked.append(path) or True)
    assert asked
    assert all(path.startswith("weight") for path in asked)


def test_deep_memory_that_is_frozen_here_and_trainable_there(wrap):
    shared = np.ones((2, 1))
    model = Half(deep(wrap, shared), deep(wrap, shared.T))
    v, restructure = cv.destructure(model)
    assert v.size == 2
    v[:] = [3.0, 4.0]
    made = restructure(v)
    assert innermost(made.table).tolist() == [[3.0], [4.0]]
    assert innermost(made.weight).tolist() == [[3.0, 4.0]]


def test_an_array_deep_inside_an_object_is_found(wrap):
    class Opaque:
        pass

    hidden = Opaque()
    hidden.deep = deep(wrap, np.ones(1))
    with pytest.raises(cv.UnregisteredTypeError, match=r"class .*Opaque, which is not registered"):
        cv.destructure([hidden])


def test_an_object_deep_inside_a_model_is_found(wrap):
    class Opaque:
        def __init__(self):
            self.w = np.ones(1)

    with pytest.raises(cv.UnregisteredTypeError, match=r"which is not registered"):
        cv.destructure(deep(wrap, Opaque()))


def test_deep_ties_and_numbers(wrap):
    shared = np.arange(6.0).reshape(2, 3)
    model = [deep(wrap, shared), deep(wrap, shared.T), deep(wrap, 0.5)]
    v, restructure = cv.destructure(model, trainable=lambda path, leaf: not isinstance(leaf, int))
    assert v.size == 7
    made = restructure(2 * v)
    assert np.shares_memory(innermost(made[0]), innermost(made[1]))
    assert innermost(made[2]) == 1.0
