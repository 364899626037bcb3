"""Large axes take linear time, and deep ones no stack."""

import pickle
import time

import pytest

from componentvec import Axis, LabelError, path

N = 30_000
DEPTH = 500
NAMES = ["g"] * DEPTH


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@pytest.fixture(scope="module")
def wide():
    return Axis({f"w{i}": 2 for i in range(N)})


@pytest.fixture(scope="module")
def deep():
    shapes = {"w": 3}
    for _ in range(DEPTH):
        shapes = {"g": shapes}
    return Axis(shapes)


# The bounds are an order of magnitude above what these take; quadratic time misses them by far.


@pytest.mark.parametrize(
    "shapes",
    [
        pytest.param({f"w{i}": 2 for i in range(100_000)}, id="siblings"),
        pytest.param({f"g{i}": {f"w{i}": (2, 3), "b": 3} for i in range(50_000)}, id="groups"),
    ],
)
def test_an_axis_of_100_000_leaves_is_built_in_about_a_second(shapes):
    assert seconds(lambda: Axis(shapes)) < 10


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda axis: axis.select(reversed(axis.names)), id="select"),
        pytest.param(lambda axis: axis.drop(axis.names[::2]), id="drop"),
        pytest.param(lambda axis: axis.rename({"w7": "x"}), id="rename"),
        pytest.param(lambda axis: axis.merge(axis.nest("g")), id="merge"),
        pytest.param(lambda axis: axis.difference(axis.drop(["w29999"])), id="difference"),
        pytest.param(lambda axis: pickle.loads(pickle.dumps(axis)), id="pickle"),
        pytest.param(lambda axis: [axis.index(f"w{i}[1]") for i in range(N)], id="index"),
        pytest.param(lambda axis: [axis.label(i) for i in range(N)], id="label"),
        pytest.param(lambda axis: sum(1 for _ in axis.labels()), id="labels"),
    ],
)
def test_work_on_many_leaves_is_linear(wide, call):
    assert seconds(lambda: call(wide)) < 4


def test_the_first_components_come_at_once(wide):
    next(wide.labels())
    few = seconds(lambda: [next(wide.components()) for _ in range(100)])
    assert few < 0.5


def test_a_miss_in_a_wide_axis_is_cheap_until_it_is_printed(wide):
    assert seconds(lambda: ["missing" in wide for _ in range(1000)]) < 1


def test_a_deep_axis_has_labels_that_lead_back(deep):
    assert deep.label(2) == ".".join([*NAMES, "w[2]"])
    assert deep.index(deep.label(2)).slice == slice(2, 3)
    assert deep.index(path(*[0] * DEPTH, "w")).shape == (3,)


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(lambda axis: pickle.loads(pickle.dumps(axis)), id="pickle"),
        pytest.param(lambda axis: Axis.from_json(axis.to_json()), id="json"),
        pytest.param(lambda axis: axis.select(axis.names), id="select"),
        pytest.param(lambda axis: axis.drop([]), id="drop"),
        pytest.param(lambda axis: axis.nest("n").children["n"].axis, id="nest"),
    ],
)
def test_a_deep_axis_stands_copying_and_algebra(deep, again):
    assert again(deep) is deep


def test_a_deep_axis_changes_at_its_bottom(deep):
    renamed = deep.rename({path(*NAMES, "w"): "x"})
    assert renamed.label(0) == ".".join([*NAMES, "x[0]"])
    assert "`" + ".".join([*NAMES, "w"]) + "`" in deep.difference(renamed)


def test_a_deep_axis_says_where_a_name_is_missing(deep):
    with pytest.raises(LabelError, match="has no component 'q'; its components are 'w'"):
        deep.index(path(*NAMES, "q"))
