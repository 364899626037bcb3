"""The rules of Optimisers.jl's destructure and of the discussions around it, numbered.

Each rule is one case with its exact numbers, in C order, and has the id ``row_001`` to ``row_138``,
so that ``pytest -k row_045`` runs it. Where the rules state a fault, the test holds what was wanted
instead. Gradients are made by hand: of numbers computed from a vector, by rebuilding the tree of
the gradient (`restructure` is the transpose of its own pullback); of numbers computed from a
model, by `pullback`, compared to a complex step through `restructure`.
"""

import dataclasses
import functools
import math
import re as regex

import numpy as np
import pytest

import componentvec as cv

NOT_APPLICABLE: dict[int, str] = {}
"""Rules that have no meaning for NumPy arrays, and why."""


# Records, of which only a part is trainable -------------------------------------------------------


class TT:
    """Has three parts: `a` is trainable, `c` is a child that is not, and `b` is no child."""

    def __init__(self, a, b, c):
        self.a, self.b, self.c = a, b, c


class Foo:
    """Names its trainable parts in another order than its children."""

    def __init__(self, x, y):
        self.x, self.y = x, y


class Skip:
    """Its children are not its fields: they are those of the tuple in its one field."""

    def __init__(self, *layers):
        self.layers = layers


cv.register_pytree_node(
    TT,
    lambda node: ({"a": node.a, "c": node.c}, node.b),
    lambda b, children: TT(children["a"], b, children["c"]),
    trainable=("a",),
)
cv.register_pytree_node(
    Foo,
    lambda node: ({"x": node.x, "y": node.y}, None),
    lambda _, children: Foo(**children),
    trainable=("y", "x"),
)
cv.register_pytree_node(Skip, lambda node: (node.layers, None), lambda _, children: Skip(*children))

frozen = functools.partial(dataclasses.field, metadata={"trainable": False})


@dataclasses.dataclass
class Record:
    a: object
    b: object
    c: object = frozen()


@dataclasses.dataclass
class Dense:
    weight: object
    bias: object
    act: object = math.tanh

    def __call__(self, x):
        return self.weight @ x + self.bias


@dataclasses.dataclass
class Scale:
    scale: object
    bias: object


@dataclasses.dataclass
class Dropout:
    rate: float


@dataclasses.dataclass
class BatchNorm:
    beta: object
    gamma: object
    mu: object = frozen()
    var: object = frozen()


@dataclasses.dataclass
class Chain:
    layers: tuple


def dense(inputs, outputs, dtype="f8"):
    return Dense(np.ones((outputs, inputs), dtype), np.zeros(outputs, dtype))


def batch_norm(n):
    return BatchNorm(np.zeros(n), np.ones(n), np.zeros(n), np.ones(n))


# Models -------------------------------------------------------------------------------------------


def floats(*values):
    return np.array(values, np.float64)


def singles(*values):
    return np.array(values, np.float32)


def m1():
    return floats(1, 2, 3)


def m1_twice():
    x = m1()
    return (x, x)


def m2():
    return (floats(1, 2, 3), floats(4, 5, 6))


def m3(x=None):
    return {"x": m1() if x is None else x, "y": math.sin, "z": floats(4, 5, 6)}


def m4(x=None):
    x = m1() if x is None else x
    return {"x": x, "y": x, "z": floats(4, 5, 6)}


def m5():
    x = m1()
    return {"a": (m3(x), True), "b": (x, False), "c": (m4(x), True)}


def m6():
    x = m1()
    return {"a": x, "b": np.array([4 + 1j]), "c": x}


def m7():
    return TT((math.sin, floats(1, 2, 3)), (math.cos, floats(4, 5, 6)), (math.tan, floats(7, 8, 9)))


def m8():
    x = m1()
    return [Foo(x, x), {"a": True, "b": Foo(floats(4), False), "c": ()}, [floats([5])]]


def m9():
    x, mat = m1(), singles([4, 6], [5, 7])
    return {"a": x, "b": mat, "c": [mat, x]}


def real_and_complex():
    return {"x": floats(1, 2), "y": (math.sin, np.array([3 + 4j]))}


def three_parts():
    return TT(floats(1, 2), floats(3), floats(4, 5))


def skip():
    return Skip(floats(1, 2), {"x": 3, "y": floats(4, 5)})


def two_lengths():
    return {"x": floats(1, 2), "y": floats(3, 4, 5)}


def tied_ends():
    shared = floats(7, 7)
    return {"x": shared, "y": floats(3, 4), "z": shared}


def loadable():
    return {"x": floats(0.1, 0.2), "y": (math.sin, floats(0.3, 0.4))}


def mixed_precision():
    shared = singles(1, 2)
    return (shared, shared, floats(3, 4))


# What the tests ask -------------------------------------------------------------------------------


def flat(model):
    return cv.destructure(model, promotion="allow")[0]


def way_back(model):
    return cv.destructure(model, promotion="allow")[1]


def tree_of(model):
    return cv.trainables_nt(model)[0]


def by_path(tree, before=""):
    """Pair the leaves of a NamedTree with their paths, tied ones at every place."""
    found = {}
    for name, part in zip(tree._fields, tree, strict=True):
        if isinstance(part, cv.NamedTree):
            found |= by_path(part, f"{before}{name}.")
        else:
            found[before + name] = part
    return found


def arrays(model):
    """List the parameters of a model in order of first visit, each once."""
    return list({id(leaf): leaf for leaf in by_path(tree_of(model)).values()}.values())


def same(one, two):
    """Tell whether two models are equal: in types, names, dtypes, shapes and values."""
    if type(one) is not type(two):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and one.shape == two.shape and bool(np.all(one == two))
    if isinstance(one, dict):
        return list(one) == list(two) and all(map(same, one.values(), two.values()))
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(same, one, two))
    is_record = isinstance(one, (TT, Foo, Skip)) or dataclasses.is_dataclass(one)
    return same(vars(one), vars(two)) if is_record else one == two


def complex_step(function, x):
    """Differentiate by every element of x in turn; exact to rounding for analytic functions."""
    steps = 1e-30j * np.eye(len(x))
    return np.array([np.imag(function(x + step)) / 1e-30 for step in steps])


def one_hot(n, k):
    return np.eye(n)[k].tolist()


def counting(n):
    return np.arange(1.0, n + 1)


def squares(x):
    return np.sum(x * x)


# Flatten ------------------------------------------------------------------------------------------

FLATTENED = {
    "row_001": (m1, [1, 2, 3], "f8"),
    "row_002": (m2, [1, 2, 3, 4, 5, 6], "f8"),
    "row_003": (m3, [1, 2, 3, 4, 5, 6], "f8"),
    "row_004": (m4, [1, 2, 3, 4, 5, 6], "f8"),
    "row_005": (m5, [1, 2, 3, 4, 5, 6, 4, 5, 6], "f8"),
    "row_006": (m6, [1, 2, 3, 4 + 1j], "c16"),
    "row_007": (m7, [1, 2, 3], "f8"),
    "row_008": (m8, [1, 2, 3, 4, 5], "f8"),
    "row_009": (m9, [1, 2, 3, 4, 6, 5, 7], "f8"),
    "row_010": (real_and_complex, [1, 2, 3 + 4j], "c16"),
    "row_016": (lambda: Record(floats(1), floats(2), floats(3)), [1, 2], "f8"),
    "row_022": (skip, [1, 2, 4, 5], "f8"),
}


@pytest.mark.parametrize(("model", "expected", "dtype"), FLATTENED.values(), ids=FLATTENED.keys())
def test_flat(model, expected, dtype):
    model = model()
    v = flat(model)
    assert v.tolist() == expected
    assert v.dtype == dtype
    assert not any(np.shares_memory(v, array) for array in arrays(model))


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(lambda M: (None, M, (3, M, 4)), id="row_011"),
        pytest.param(lambda M: {"m": M, "a": M.T}, id="row_012"),
    ],
)
def test_one_matrix_at_two_places_or_transposed_is_one_parameter(model):
    matrix = floats([1, 2], [3, 4])
    v, restructure = cv.destructure(model(matrix))
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert len(v.axis.ties()) == 1
    first, second = by_path(tree_of(restructure(10 * v))).values()
    assert first.tolist() == [[10.0, 20.0], [30.0, 40.0]]
    assert np.shares_memory(first, second)


def test_row_013_running_statistics_are_no_parameters():
    layer = BatchNorm(floats(1, 2, 3), floats(4, 5, 6), np.zeros(3), np.ones(3))
    assert flat(layer).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_row_014_a_convolutional_network_has_283_parameters():
    first = Dense(np.ones((5, 3, 3, 3)), bias=False)
    last = Dense(np.ones((3, 5, 3, 3)), bias=np.zeros(3))
    assert len(flat([first, batch_norm(5), last])) == 135 + 10 + 138 == 283


def test_row_015_a_dense_layer_a_scale_and_a_dropout_have_10_parameters():
    model = Chain((dense(2, 2), Chain((Scale(np.ones(2), np.zeros(2)), Dropout(0.5)))))
    assert len(flat(model)) == 10


def test_row_017_a_number_is_no_parameter_but_the_model_says_so():
    with pytest.warns(cv.NoParametersWarning, match="rate"):
        v, restructure = cv.destructure(Dropout(4.3))
    assert v.tolist() == []
    assert restructure(v) == Dropout(4.3)


def test_row_018_integers_and_masks_come_back_as_the_same_objects():
    model = {"idx": np.array([1, 2, 3]), "mask": np.array([True, False]), "w": floats(0.5)}
    v, restructure = cv.destructure(model)
    assert v.tolist() == [0.5]
    rebuilt = restructure(v)
    assert rebuilt["idx"] is model["idx"]
    assert rebuilt["mask"] is model["mask"]


@pytest.mark.parametrize("model", [(3, 4), ("a", "b")], ids=["row_019 integers", "row_019 text"])
def test_models_without_parameters_have_no_gradients(model):
    v, restructure = cv.destructure(model)
    assert v.tolist() == []
    assert tree_of(restructure(np.ones_like(v)))._fields == ()
    assert restructure.pullback(model).tolist() == []


def test_row_020_what_is_missing_gives_an_empty_real_vector():
    v = flat((None, NotImplemented, math.sin))
    assert v.tolist() == []
    assert v.dtype == np.float64


def test_row_021_parts_without_parameters_do_not_promote():
    half = np.array([1, 2, 3], np.float16)
    model = [{"x": None, "y": 0}, {"x": half[:2], "y": half[2:]}]
    v = flat(model)
    assert v.tolist() == [1.0, 2.0, 3.0]
    assert v.dtype == np.float16
    empty, full = flat(model[0]), flat(model[1])
    assert cv.ComponentVector(first=empty, second=full).dtype == np.float16
    empty, _ = cv.destructure(model[0], dtype="f2")
    assert np.concatenate([empty, full]).dtype == np.float16


def test_row_023_integer_weights_are_no_parameters():
    model = Dense(np.array([[1, 2], [3, 4]]), np.array([5, 6]))
    assert len(flat(model)) == 0
    chosen, _ = cv.destructure(model, trainable=lambda path, leaf: True)
    assert chosen.tolist() == [1, 2, 3, 4, 5, 6]


def test_row_024_one_list_at_two_places_comes_back_as_one_list():
    block = [floats(1, 2)]
    v, restructure = cv.destructure((block, block))
    assert v.tolist() == [1.0, 2.0]
    first, second = restructure(v)
    assert first is second
    assert type(first) is list


# Rebuild ------------------------------------------------------------------------------------------


def test_row_025_an_array():
    assert same(way_back(m1())(floats(7, 8, 9)), floats(7, 8, 9))


def test_row_026_a_tuple():
    rebuilt = way_back(m2())(np.arange(4.0, 10.0))
    assert same(rebuilt, (floats(4, 5, 6), floats(7, 8, 9)))


def test_row_027_a_dict_with_a_function():
    rebuilt = way_back(m3())(np.arange(4.0, 10.0))
    assert same(rebuilt, {"x": floats(4, 5, 6), "y": math.sin, "z": floats(7, 8, 9)})


def test_row_028_a_tie():
    rebuilt = way_back(m4())(np.arange(4.0, 10.0))
    assert same(rebuilt, {"x": floats(4, 5, 6), "y": floats(4, 5, 6), "z": floats(7, 8, 9)})
    assert rebuilt["y"] is rebuilt["x"]


def test_row_029_ties_across_containers():
    rebuilt = way_back(m5())(np.arange(9.0, 0.0, -1.0))
    x = floats(9, 8, 7)
    assert same(
        rebuilt,
        {
            "a": ({"x": x, "y": math.sin, "z": floats(6, 5, 4)}, True),
            "b": (x, False),
            "c": ({"x": x, "y": x, "z": floats(3, 2, 1)}, True),
        },
    )
    first = rebuilt["a"][0]["x"]
    assert first is rebuilt["b"][0]
    assert first is rebuilt["c"][0]["x"]
    assert first is rebuilt["c"][0]["y"]


def test_row_030_imaginary_parts_are_never_dropped():
    restructure = way_back(m6())
    vector = np.array([4 + 1j, 5 + 2j, 6 + 3j, 7 + 4j])
    with pytest.raises(cv.PromotionError, match="`a`"):
        restructure(vector)
    followed = restructure(vector, dtype="follow")
    assert followed["a"].tolist() == [4 + 1j, 5 + 2j, 6 + 3j]
    assert followed["a"] is followed["c"]
    vectors, restructure = cv.destructure_by_dtype(m6())
    vectors[np.dtype("f8")][:] = [4, 5, 6]
    vectors[np.dtype("c16")][:] = 7 + 4j
    rebuilt = restructure(vectors)
    assert same(rebuilt, {"a": floats(4, 5, 6), "b": np.array([7 + 4j]), "c": floats(4, 5, 6)})
    assert rebuilt["a"] is rebuilt["c"]


def test_row_031_only_the_trainable_part_changes():
    model = m7()
    rebuilt = way_back(model)(floats(10, 20, 30))
    assert same(rebuilt, TT((math.sin, floats(10, 20, 30)), model.b, model.c))
    assert rebuilt.b[1] is model.b[1]
    assert rebuilt.c[1] is model.c[1]


def test_row_032_records_in_lists_and_dicts():
    rebuilt = way_back(m8())(counting(5))
    assert same(rebuilt, m8())
    assert rebuilt[0].x is rebuilt[0].y
    assert rebuilt[1]["b"].y is False
    assert rebuilt[2][0].tolist() == [[5.0]]


def test_row_033_a_matrix_of_another_dtype_keeps_it_and_its_tie():
    rebuilt = way_back(m9())(10 * counting(7))
    mat = singles([40, 50], [60, 70])
    assert same(rebuilt, {"a": floats(10, 20, 30), "b": mat, "c": [mat, floats(10, 20, 30)]})
    assert rebuilt["b"] is rebuilt["c"][0]
    assert rebuilt["a"] is rebuilt["c"][1]


def test_row_034_real_and_complex_parts():
    vectors, restructure = cv.destructure_by_dtype(real_and_complex())
    vectors[np.dtype("f8")][:] = [3, 5]
    vectors[np.dtype("c16")][:] = 7 + 11j
    expected = {"x": floats(3, 5), "y": (math.sin, np.array([7 + 11j]))}
    assert same(restructure(vectors), expected)
    assert same(way_back(real_and_complex())(np.array([3, 5, 7 + 11j])), expected)


@pytest.mark.parametrize("n", [2, 4], ids=["row_035 short", "row_035 long"])
def test_vectors_of_another_length_are_refused(n):
    with pytest.raises(cv.LengthError, match=rf"3 elements.*\({n},\)"):
        way_back(m7())(np.ones(n))


def test_row_036_an_empty_vector_gives_the_model_itself_and_no_other_fits():
    model = (None, NotImplemented, math.sin)
    restructure = way_back(model)
    assert restructure(np.zeros(0, np.float32)) == model
    with pytest.raises(cv.LengthError):
        restructure(floats(1))


def test_row_037_a_wider_vector_is_rounded_to_the_dtype_of_the_model():
    leaf = way_back(singles(1, 2))(floats(0.1, 0.2))
    assert leaf.dtype == np.float32
    assert leaf.tolist() == [float(np.float32(0.1)), float(np.float32(0.2))]


def test_row_038_a_network_of_zeros_keeps_its_structure_and_precision():
    model = [dense(2, 1, "f4"), dense(1, 1, "f4")]
    zero = [
        Dense(np.zeros((1, 2), "f4"), np.zeros(1, "f4")),
        Dense(np.zeros((1, 1), "f4"), np.zeros(1, "f4")),
    ]
    assert same(way_back(model)(np.zeros(5)), zero)


def test_row_039_a_complex_vector_is_refused_where_the_model_is_real():
    restructure = way_back([singles(1, 2)])
    vector = np.array([1 + 1j, 2], np.complex64)
    with pytest.raises(cv.PromotionError, match="`_1`"):
        restructure(vector)
    assert same(restructure(vector, dtype="follow"), [vector])


@dataclasses.dataclass
class Dual:
    value: float
    slope: float

    def __add__(self, other):
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        slope = self.value * other.slope + self.slope * other.value
        return Dual(self.value * other.value, slope)


def test_row_040_dual_numbers_run_through_a_single_precision_model():
    restructure = way_back({"w": singles(0, 0), "b": singles(0)})
    vector = np.array([Dual(2.0, 1.0), Dual(3.0, 0.0), Dual(5.0, 0.0)])
    model = restructure(vector, dtype="follow")
    assert np.sum(model["w"] * model["w"] * model["b"]) == Dual(65.0, 20.0)


@pytest.mark.parametrize(
    "vector",
    [np.array([4, 5, 6, 7, 8, 9]), np.arange(4, 10), [4, 5, 6, 7, 8, 9]],
    ids=["row_041 array", "row_041 arange", "row_041 list"],
)
def test_integers_become_the_floats_of_the_model(vector):
    assert same(way_back(m2())(vector), (floats(4, 5, 6), floats(7, 8, 9)))


def test_row_042_a_container_whose_children_are_not_its_fields():
    v, restructure = cv.destructure(skip())
    rebuilt = restructure(10 * v)
    assert same(rebuilt, Skip(floats(10, 20), {"x": 3, "y": floats(40, 50)}))


def test_row_043_parts_that_are_frozen_are_not_scaled():
    v, restructure = cv.destructure(three_parts())
    assert same(restructure(100 * v), TT(floats(100, 200), floats(3), floats(4, 5)))


def test_row_044_running_statistics_are_shared_unless_copies_are_asked_for():
    template = batch_norm(3)
    v, restructure = cv.destructure(template)
    assert restructure(v).mu is template.mu
    one, two = restructure(v, statics="copy"), restructure(v, statics="copy")
    one.mu += 1
    assert two.mu.tolist() == [0.0, 0.0, 0.0]
    assert template.mu.tolist() == [0.0, 0.0, 0.0]


def test_row_045_a_tie_of_the_first_and_the_last():
    v, restructure = cv.destructure(tied_ends())
    assert v.tolist() == [7.0, 7.0, 3.0, 4.0]
    rebuilt = restructure(floats(1, 10, 100, 1000))
    assert same(rebuilt, {"x": floats(1, 10), "y": floats(100, 1000), "z": floats(1, 10)})


# Gradient through flatten -------------------------------------------------------------------------

# Statics are absent. The rules give the repeats of a tied array no gradient, so that none counts
# twice; here the repeats are the same object, and flattening takes it once.
THROUGH_FLATTEN = {
    "row_046": (m1, lambda v: v[0], {"_1": [1, 0, 0]}),
    "row_047": (m2, lambda v: v[1], {"_1": [0, 1, 0], "_2": [0, 0, 0]}),
    "row_048": (m1_twice, lambda v: v[2], {"_1": [0, 0, 1]}),
    "row_049": (m3, lambda v: v[0], {"x": [1, 0, 0], "z": [0, 0, 0]}),
    "row_050": (m4, lambda v: v[1], {"x": [0, 1, 0], "z": [0, 0, 0]}),
    "row_051": (
        m5,
        lambda v: v[2],
        {"a._1.x": [0, 0, 1], "a._1.z": [0, 0, 0], "c._1.z": [0, 0, 0]},
    ),
    "row_053": (m8, squares, {"_1.x": [2, 4, 6], "_2.b.x": [8], "_3._1": [[10]]}),
    "row_055": (three_parts, lambda v: 1000 * np.prod(v), {"a": [2000, 1000]}),
    "row_056": (three_parts, lambda v: v[1] ** 2, {"a": [0, 4]}),
    "row_057": (skip, lambda v: v[0] ** 2 + v[3] ** 2, {"_1": [2, 0], "_2.y": [0, 10]}),
}


@pytest.mark.parametrize(
    ("model", "scalar", "expected"), THROUGH_FLATTEN.values(), ids=THROUGH_FLATTEN.keys()
)
def test_gradient_through_flatten(model, scalar, expected):
    v, restructure = cv.destructure(model())
    gradient = complex_step(scalar, np.asarray(v))
    tree = restructure(gradient)
    assert restructure.flatten(tree).tolist() == gradient.tolist()
    leaves = by_path(tree_of(tree))
    first_visits = {id(leaf): path for path, leaf in reversed(leaves.items())}
    assert set(first_visits.values()) == expected.keys()
    for path, values in expected.items():
        np.testing.assert_allclose(leaves[path], values, rtol=1e-14)


def test_row_052_the_gradient_of_an_imaginary_part_keeps_real_leaves_real():
    gradient = [0, 0, 0, 1j]
    followed = way_back(m6())(np.array(gradient), dtype="follow")
    assert followed["b"].tolist() == [1j]
    restored = way_back(m6())(np.array(gradient))
    assert same(restored, {"a": np.zeros(3), "b": np.array([1j]), "c": np.zeros(3)})
    vectors, restructure = cv.destructure_by_dtype(m6())
    gradients = {dtype: np.zeros_like(v) for dtype, v in vectors.items()}
    gradients[np.dtype("c16")][0] = 1j
    tree = restructure(gradients)
    assert same(tree["a"], np.zeros(3))
    assert same(tree["b"], np.array([1j]))
    assert {d: v.tolist() for d, v in restructure.pullback(tree).items()} == {
        np.dtype("f8"): [0, 0, 0],
        np.dtype("c16"): [1j],
    }


def test_row_054_repeats_need_no_gradient_as_a_whole():
    v, restructure = cv.destructure(m9(), promotion="allow")
    gradient = 0.5 / np.sqrt(v)
    tree = restructure(gradient, dtype="follow")
    assert tree["c"][0] is tree["b"]
    assert tree["c"][1] is tree["a"]
    assert restructure.pullback({**tree, "c": None}).tolist() == gradient.tolist()
    assert restructure.flatten(tree).tolist() == gradient.tolist()


# Gradient through rebuild -------------------------------------------------------------------------


THROUGH_REBUILD = {
    "row_058": (m2, lambda m: m[0][1], lambda m: (one_hot(3, 1), None), one_hot(6, 1)),
    "row_059": (m3, lambda m: m["z"][0], lambda m: {"z": one_hot(3, 0)}, one_hot(6, 3)),
    "row_060": (m4, lambda m: m["y"][1], lambda m: {"y": one_hot(3, 1)}, one_hot(6, 1)),
    "row_061": (
        m4,
        lambda m: m["x"][0] + 2 * m["y"][1] + 3 * m["z"][2],
        lambda m: {"x": [1, 0, 0], "y": [0, 2, 0], "z": [0, 0, 3]},
        [1, 2, 0, 0, 0, 3],
    ),
    "row_062 no child": (m7, lambda m: m.b[1][1], lambda m: {"a": None}, [0, 0, 0]),
    "row_062 frozen": (
        m7,
        lambda m: m.c[1][0],
        lambda m: TT(None, None, (None, one_hot(3, 0))),
        [0, 0, 0],
    ),
    "row_063": (
        m8,
        lambda m: squares(m[0].y),
        lambda m: [{"y": 2 * m[0].y}, None, None],
        [2, 4, 6, 0, 0],
    ),
    "row_064": (
        m8,
        lambda m: np.sum(m[2][0]) ** 2,
        lambda m: [None, None, [2 * np.sum(m[2][0]) * np.ones((1, 1))]],
        [0, 0, 0, 0, 10],
    ),
    "row_065": (
        m9,
        lambda m: squares(m["c"][0]),
        lambda m: {"c": [2 * m["c"][0], None]},
        [0, 0, 0, 8, 10, 12, 14],
    ),
    "row_066": (
        two_lengths,
        lambda m: 5 * np.sum(m["x"]) + 7 * np.sum(m["y"]),
        lambda m: {"x": [5, 5], "y": [7, 7, 7]},
        [5, 5, 7, 7, 7],
    ),
    "row_067": (two_lengths, lambda m: np.sum(m["x"]), lambda m: {"x": [1, 1]}, [1, 1, 0, 0, 0]),
    "row_068": (
        tied_ends,
        lambda m: 3 * np.sum(m["x"]) + 13 * np.sum(m["z"]),
        lambda m: {"x": [3, 3], "z": [13, 13]},
        [16, 16, 0, 0],
    ),
    "row_069": (
        tied_ends,
        lambda m: 4 * (np.sum(m["x"]) + np.sum(m["z"])),
        lambda m: {"x": [4, 4], "y": None, "z": [4, 4]},
        [8, 8, 0, 0],
    ),
    "row_070": (
        tied_ends,
        lambda m: 4 * (np.sum(m["x"]) + np.sum(m["y"])) + 13 * np.sum(m["z"]),
        lambda m: {"x": [4, 4], "y": [4, 4], "z": [13, 13]},
        [17, 17, 4, 4],
    ),
}


@pytest.mark.parametrize(
    ("model", "loss", "cotangents", "expected"),
    THROUGH_REBUILD.values(),
    ids=THROUGH_REBUILD.keys(),
)
def test_gradient_through_rebuild(model, loss, cotangents, expected):
    restructure = way_back(model())
    x = counting(len(restructure))
    assert restructure.pullback(cotangents(restructure(x))).tolist() == expected
    by_steps = complex_step(lambda v: loss(restructure(v, dtype="follow")), x)
    np.testing.assert_allclose(by_steps, expected, rtol=1e-14)


def test_row_071_layers_that_are_not_used_count_as_zeros():
    model = [dense(3, 1), dense(3, 2)]
    v, restructure = cv.destructure(model)
    x = floats(1, 2, 3)
    gradient = restructure.pullback([{"weight": x[None, :], "bias": [1]}, None])
    assert gradient.tolist() == [1, 2, 3, 1] + 8 * [0]
    assert len(gradient) == len(v) == 12
    by_steps = complex_step(lambda v: restructure(v, dtype="follow")[0](x)[0], np.asarray(v))
    assert by_steps.tolist() == gradient.tolist()


def test_row_072_a_layer_at_two_places_has_one_gradient_the_sum_of_both():
    layer = dense(3, 1)
    v, restructure = cv.destructure({"a": layer, "b": layer})
    x, y = floats(1, 2, 3), floats(10, 20, 30)
    gradient = restructure.pullback(
        {"a": {"weight": [x], "bias": [1]}, "b": {"weight": [2 * y], "bias": [2]}}
    )
    assert gradient.tolist() == [21, 42, 63, 3]

    def loss(v):
        model = restructure(v, dtype="follow")
        return model["a"](x)[0] + 2 * model["b"](y)[0]

    np.testing.assert_allclose(complex_step(loss, np.asarray(v)), gradient, rtol=1e-14)


def single_precision_back():
    return way_back({"x": singles(0, 0), "y": singles(0, 0, 0)})


def test_row_073_complex_gradients_need_a_complex_vector():
    restructure = single_precision_back()
    cotangents = {"x": [1, 1j], "y": None}
    with pytest.raises(cv.PromotionError, match="`x`"):
        restructure.pullback(cotangents)
    gradient = restructure.pullback(cotangents, dtype="c8")
    assert gradient.tolist() == [1, 1j, 0, 0, 0]
    assert gradient.dtype == np.complex64


def test_row_074_integer_gradients_take_the_dtype_of_the_vector():
    gradient = single_precision_back().pullback({"x": None, "y": np.array([10, 20, 30])})
    assert gradient.tolist() == [0, 0, 10, 20, 30]
    assert gradient.dtype == np.float32


@pytest.mark.parametrize(
    "cotangents",
    [{"x": None, "y": None}, {}, None],
    ids=["row_075 Nones", "row_075 no names", "row_075 nothing"],
)
def test_no_gradients_at_all_are_zeros(cotangents):
    gradient = single_precision_back().pullback(cotangents)
    assert gradient.tolist() == 5 * [0]
    assert gradient.dtype == np.float32


def test_row_076_wider_gradients_are_kept_on_demand():
    restructure = single_precision_back()
    cotangents = {"x": floats(1.2, 3.4), "y": singles(5, 6, 7)}
    assert restructure.pullback(cotangents).dtype == np.float32
    wide = restructure.pullback(cotangents, dtype="f8")
    assert wide.tolist() == [1.2, 3.4, 5.0, 6.0, 7.0]
    assert wide.dtype == np.float64


@pytest.mark.parametrize(
    "model",
    [m1, m2, m3, m7, three_parts, skip, two_lengths, loadable],
    ids=lambda model: f"row_077 {model.__name__}",
)
def test_the_gradient_of_the_tree_flattens_to_the_gradient_of_the_vector(model):
    restructure = way_back(model())
    x = counting(len(restructure))

    def loss(v):
        leaves = by_path(tree_of(restructure(v, dtype="follow"))).values()
        return np.prod([np.sum(np.sin(leaf)) for leaf in leaves])

    leaves = by_path(tree_of(restructure(x)))
    sums = {path: np.sum(np.sin(leaf)) for path, leaf in leaves.items()}
    gradients = restructure.flatten(restructure(np.zeros_like(x)))
    for path, leaf in leaves.items():
        others = np.prod([total for other, total in sums.items() if other != path])
        gradients[path] = others * np.cos(leaf)
    tree = restructure(gradients)
    np.testing.assert_allclose(restructure.flatten(tree), complex_step(loss, x), rtol=1e-12)
    assert restructure.pullback(tree).tolist() == restructure.flatten(tree).tolist()


# Second order -------------------------------------------------------------------------------------

# Flattening and rebuilding are linear, and each is the other's transpose: every order of
# differentiation turns the arrows, so that the same two calls serve all of them.


def test_row_078_flatten_twice_the_squares_of_a_gradient_of_squares():
    restructure = way_back(m2())

    def gradient(model):
        return restructure(2 * restructure.flatten(model))

    first, _ = gradient(m2())
    assert first.tolist() == [2, 4, 6]
    outer = restructure(2 * restructure.pullback((2 * first, None)))
    assert outer[0].tolist() == [8, 16, 24]


def test_row_079_flatten_twice_the_cube_of_a_sum():
    restructure = way_back(m2())
    v = restructure.flatten(m2())
    gradient = restructure(3 * np.sum(v) ** 2 * np.ones_like(v))
    assert np.sum(gradient[0]) == 9 * 21**2
    inner = restructure.pullback((np.ones(3), None))
    outer = restructure(6 * np.sum(v) * np.sum(inner) * np.ones_like(v))
    assert outer[0].tolist() == [378, 378, 378]


SECOND_ORDER = {
    "row_080": (m2, lambda m: m[0], lambda leaf: (leaf, None), [8, 16, 24, 0, 0, 0]),
    "row_081": (m3, lambda m: m["z"], lambda leaf: {"z": leaf}, [0, 0, 0, 32, 40, 48]),
}


@pytest.mark.parametrize(
    ("model", "pick", "place", "expected"), SECOND_ORDER.values(), ids=SECOND_ORDER.keys()
)
def test_rebuild_twice(model, pick, place, expected):
    restructure = way_back(model())
    y = counting(6)

    def gradient(x):
        leaf = pick(restructure(x, dtype="follow"))
        return restructure.pullback(place(2 * leaf), dtype=x.dtype)

    reverse_over_reverse = restructure.pullback(place(2 * pick(restructure(2 * gradient(y)))))
    forward_over_reverse = complex_step(lambda x: squares(gradient(x)), y)
    assert reverse_over_reverse.tolist() == expected
    assert forward_over_reverse.tolist() == expected


def test_row_082_the_hessian_of_a_product_of_tied_arrays():
    restructure = way_back(tied_ends())

    def gradient(v):
        m = restructure(v, dtype="follow")
        return np.asarray(restructure.pullback({"x": m["z"], "z": m["x"]}, dtype=v.dtype))

    assert complex_step(gradient, counting(4)).tolist() == np.diag([2, 2, 0, 0]).tolist()


def test_row_083_the_hessian_of_a_network_is_symmetric_and_full():
    restructure = way_back([dense(2, 1), dense(1, 1)])
    assert len(restructure) == 5
    x = floats(0.3, -0.7)

    def gradient(v):
        first, second = restructure(v, dtype="follow")
        hidden = np.tanh(first(x))
        error = second(hidden)
        inner = 2 * error * second.weight[0] * (1 - hidden**2)
        cotangents = [
            {"weight": np.outer(inner, x), "bias": inner},
            {"weight": np.outer(2 * error, hidden), "bias": 2 * error},
        ]
        return np.asarray(restructure.pullback(cotangents, dtype=v.dtype))

    def loss(v):
        first, second = restructure(v, dtype="follow")
        return np.sum(second(np.tanh(first(x))) ** 2)

    v = floats(0.5, -0.4, 0.1, 0.8, 0.2)
    np.testing.assert_allclose(gradient(v), complex_step(loss, v), rtol=1e-12)
    hessian = complex_step(gradient, v)
    assert hessian.shape == (5, 5)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    assert np.all(hessian != 0)


# The list of parameters ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param(m4, [[1, 2, 3], [4, 5, 6]], id="row_084 m4"),
        pytest.param(m5, [[1, 2, 3], [4, 5, 6], [4, 5, 6]], id="row_084 m5"),
        pytest.param(m6, [[1, 2, 3], [4 + 1j]], id="row_084 m6"),
        pytest.param(m7, [[1, 2, 3]], id="row_084 m7"),
        pytest.param(m8, [[1, 2, 3], [4], [[5]]], id="row_084 m8"),
        pytest.param(m9, [[1, 2, 3], [[4, 6], [5, 7]]], id="row_084 m9"),
    ],
)
def test_parameters_come_in_the_order_of_their_first_visit(model, expected):
    assert [array.tolist() for array in arrays(model())] == expected


def test_row_085_paths_of_a_tie_lead_to_one_array():
    v = flat(m4())
    assert list(v.axis.paths()) == ["x", "y", "z"]
    assert {label.partition("[")[0] for label in v.axis.labels()} == {"x", "z"}
    assert v.x.tolist() == v.y.tolist() == [1, 2, 3]
    assert np.shares_memory(v.x, v.y)
    assert v.z.tolist() == [4, 5, 6]


def test_row_086_paths_count_positions_and_leave_numbers_out():
    model = {"a": floats(1, 2), "b": ({"c": floats(3, 4), "d": 5.0}, floats(6, 7))}
    v = flat(model)
    assert list(v.axis.paths()) == ["a", "b._1.c", "b._2"]
    assert v[cv.path("b", 0, "c")].tolist() == [3, 4]
    assert v[cv.path("b", 1)].tolist() == [6, 7]


def test_row_087_list_and_paths_have_one_order_that_of_the_children():
    model = Foo(floats(1), floats(2))
    assert [array.tolist() for array in arrays(model)] == [[1], [2]]
    assert list(by_path(tree_of(model))) == ["x", "y"]
    assert flat(model).tolist() == [1, 2]


def gradient_of_squares(model):
    """Differentiate the sum of squares of all parameters, each of them once."""
    return way_back(model)(2 * flat(model), dtype="follow")


def test_row_088_the_gradient_of_a_tied_array_is_at_both_places_but_counts_once():
    gradient = gradient_of_squares(m4())
    assert same(gradient, {"x": floats(2, 4, 6), "y": floats(2, 4, 6), "z": floats(8, 10, 12)})
    assert gradient["x"] is gradient["y"]
    assert way_back(m4()).flatten(gradient).tolist() == [2, 4, 6, 8, 10, 12]


def test_row_089_only_the_trainable_part_has_a_gradient():
    tree = tree_of(gradient_of_squares(m7()))
    assert tree._fields == ("a",)
    assert tree.a._fields == ("_2",)
    assert tree.a._2.tolist() == [2, 4, 6]


def test_row_090_gradients_of_tied_matrices_keep_their_precision():
    v, restructure = cv.destructure(m9(), promotion="allow")
    gradient = restructure(2 * v)
    x, mat = floats(2, 4, 6), singles([8, 12], [10, 14])
    assert same(gradient, {"a": x, "b": mat, "c": [mat, x]})


def test_row_091_the_gradient_of_a_loss_of_a_gradient():
    model = {"w": floats([1, 2], [3, 4]), "b": floats(0, 0)}
    restructure = way_back(model)

    def gradient(tree):
        return restructure(2 * restructure.flatten(tree))

    outer = restructure(2 * restructure.pullback(gradient(gradient(model))))
    assert same(outer, {"w": floats([8, 16], [24, 32]), "b": floats(0, 0)})
    steps = complex_step(
        lambda v: squares(restructure.pullback(restructure(2 * v, dtype="follow"), dtype="c16")),
        np.asarray(restructure.flatten(model)),
    )
    assert steps.tolist() == [8, 16, 24, 32, 0, 0]


def test_row_092_the_gradient_of_the_second_key_of_a_dict():
    restructure = way_back({"a": floats(0.3, 0.7), "b": np.ones(2)})
    gradient = restructure(restructure.pullback({"b": np.ones(2)}))
    assert same(gradient, {"a": np.zeros(2), "b": np.ones(2)})


# Trees of parameters, and the discussion of them --------------------------------------------------


def test_row_093_a_model_that_is_one_array_is_a_tree_of_that_array():
    model = m1()
    tree = tree_of(model)
    assert tree._fields == ("_1",)
    assert tree._1 is model


TREES = {
    "row_094": (m2, {"_1": [1, 2, 3], "_2": [4, 5, 6]}),
    "row_095": (m3, {"x": [1, 2, 3], "z": [4, 5, 6]}),
    "row_095 in a tuple": (
        real_and_complex,
        {"x": [1, 2], "y": {"_2": [3 + 4j]}},
    ),
    "row_096": (m7, {"a": {"_2": [1, 2, 3]}}),
    "row_097": (
        m8,
        {
            "_1": {"x": [1, 2, 3], "y": [1, 2, 3]},
            "_2": {"b": {"x": [4]}, "c": {}},
            "_3": {"_1": [[5]]},
        },
    ),
}


@pytest.mark.parametrize(("model", "expected"), TREES.values(), ids=TREES.keys())
def test_trees_have_the_names_of_the_model(model, expected):
    def nested(tree):
        return {
            name: nested(part) if isinstance(part, cv.NamedTree) else part.tolist()
            for name, part in zip(tree._fields, tree, strict=True)
        }

    found = nested(tree_of(model()))
    assert found == expected
    assert list(found) == list(expected)


def test_row_098_trees_hold_the_arrays_of_the_model_at_every_place():
    model = m9()
    tree = tree_of(model)
    assert tree.a is model["a"]
    assert tree.a is tree.c._2
    assert tree.b is tree.c._1


def test_row_099_a_partial_tree_keeps_the_rest_of_the_model():
    model = m2()
    rebuilt = way_back(model)({"_2": floats(7, 8, 9)}, base=model)
    assert same(rebuilt, (floats(1, 2, 3), floats(7, 8, 9)))
    assert rebuilt[0] is model[0]


def test_row_100_one_array_given_at_two_tied_places_stays_one():
    tree, restructure = cv.trainables_nt(m4())
    new = floats(7, 8, 9)
    rebuilt = restructure(tree._replace(x=new, y=new))
    assert rebuilt["x"] is rebuilt["y"]
    assert same(rebuilt, {"x": new, "y": new, "z": floats(4, 5, 6)})
    with pytest.raises(cv.SharingError, match="`x` and `y`"):
        restructure(tree._replace(x=new))


def test_row_101_a_partial_tree_changes_every_place_of_a_tie():
    model = m8()
    rebuilt = way_back(model)({"_1": {"x": floats(7, 8, 9)}}, base=model)
    assert rebuilt[0].x.tolist() == [7, 8, 9]
    assert rebuilt[0].y is rebuilt[0].x
    assert rebuilt[1]["b"].x is model[1]["b"].x
    assert rebuilt[2][0] is model[2][0]


def test_row_102_a_vector_of_the_tree_scales_what_is_trainable():
    model = m7()
    tree, restructure = cv.trainables_nt(model)
    v = 2 * cv.ComponentVector(tree)
    rebuilt = restructure(v)
    assert same(rebuilt, TT((math.sin, floats(2, 4, 6)), model.b, model.c))
    assert np.shares_memory(rebuilt.a[1], v)
    assert rebuilt.c[1] is model.c[1]


def test_row_103_shared_arrays_are_stored_once():
    tree = tree_of(mixed_precision())
    with pytest.raises(cv.PromotionError, match=r"(?s)`_1`.*`_3`"):
        cv.ComponentVector(tree)
    v = cv.ComponentVector(tree, promotion="allow")
    assert v.tolist() == [1, 2, 3, 4]
    assert v.dtype == np.float64


def test_row_104_no_element_of_a_vector_changes_one_place_of_a_tie_alone():
    tree, restructure = cv.trainables_nt(mixed_precision())
    v = cv.ComponentVector(tree, promotion="allow")
    v[2] = 99
    assert same(restructure(v), (singles(1, 2), singles(1, 2), floats(99, 4)))
    v._2[0] = 50
    first, second, _ = restructure(v)
    assert first is second
    assert first.tolist() == [50, 2]


def test_row_105_every_leaf_has_the_dtype_of_the_model():
    tree, restructure = cv.trainables_nt(mixed_precision())
    rebuilt = restructure(cv.ComponentVector(tree, promotion="allow"))
    assert [leaf.dtype for leaf in rebuilt] == ["f4", "f4", "f8"]


def test_row_106_leaves_are_ordinary_arrays_on_the_memory_of_the_vector():
    tree, restructure = cv.trainables_nt(mixed_precision())
    v = cv.ComponentVector(tree, promotion="allow")
    last = restructure(v)[2]
    assert type(last) is np.ndarray
    assert last.flags.c_contiguous
    last[:] = [30, 40]
    assert v.tolist() == [1, 2, 30, 40]
    followed = restructure(v, dtype="follow", copy=False)
    assert all(type(leaf) is np.ndarray and np.shares_memory(leaf, v) for leaf in followed)
    assert followed[0] is followed[1]
    with pytest.raises(cv.PromotionError, match="`_1`"):
        restructure(v, copy=False)
    vectors, restructure = cv.destructure_by_dtype(mixed_precision())
    first, second, last = restructure(vectors)
    assert first is second
    assert np.shares_memory(first, vectors[np.dtype("f4")])
    assert np.shares_memory(last, vectors[np.dtype("f8")])


def test_row_107_a_changed_vector_changes_both_places_of_the_tie():
    v, restructure = cv.destructure(mixed_precision(), promotion="allow")
    assert len(v) == 4
    assert v.dtype == np.float64
    v[1] = 999
    rebuilt = restructure(v)
    assert same(rebuilt, (singles(1, 999), singles(1, 999), floats(3, 4)))
    assert rebuilt[0] is rebuilt[1]


def test_row_108_the_gradient_of_a_vector_is_dense_where_that_of_a_tree_has_gaps():
    tree, restructure = cv.trainables_nt(m2())
    expected = [0, 1, 0, 0, 0, 0]
    assert restructure.pullback({"_1": one_hot(3, 1), "_2": None}).tolist() == expected
    gradient = restructure.pullback(tree._replace(_1=floats(0, 1, 0), _2=None))
    assert gradient.tolist() == expected
    v = cv.ComponentVector(tree)
    steps = complex_step(lambda v: restructure(v, dtype="follow")[0][1], np.asarray(v))
    assert steps.tolist() == expected


def test_row_109_gaps_in_a_tree_of_gradients_are_zeros_of_a_vector():
    tree, restructure = cv.trainables_nt(m2())
    gradient = restructure.pullback((floats(0, 1, 0), None))
    assert same(restructure(gradient), (floats(0, 1, 0), np.zeros(3)))
    assert restructure.pullback(tree._replace(_1=floats(0, 1, 0), _2=np.zeros(3))).tolist() == (
        gradient.tolist()
    )


# Loading flat parameters --------------------------------------------------------------------------


def load_gradient(v):
    """Differentiate the squared sum of the second array that is loaded."""
    restructure = way_back(loadable())
    last = restructure(v, dtype="follow")["y"][1]
    cotangents = {"y": (None, 2 * np.sum(last) * np.ones(2))}
    return np.asarray(restructure.pullback(cotangents, dtype=v.dtype))


def test_row_110_flat_numbers_are_loaded_without_changing_the_model():
    model = loadable()
    restructure = way_back(model)
    assert same(restructure(counting(4)), {"x": floats(1, 2), "y": (math.sin, floats(3, 4))})
    assert same(model, loadable())


def test_row_111_the_gradient_of_a_loaded_model():
    assert load_gradient(counting(4)).tolist() == [0, 0, 14, 14]


def test_row_112_the_gradient_of_the_sum_of_that_gradient():
    restructure = way_back(loadable())
    inner = restructure(np.ones(4))["y"][1]
    outer = restructure.pullback({"y": (None, 2 * np.sum(inner) * np.ones(2))})
    assert outer.tolist() == [0, 0, 4, 4]
    steps = complex_step(lambda v: np.sum(load_gradient(v)), counting(4))
    assert steps.tolist() == [0, 0, 4, 4]


def test_row_113_the_hessian_of_a_loaded_model():
    hessian = complex_step(load_gradient, counting(4))
    block = np.zeros((4, 4))
    block[2:, 2:] = 2
    assert hessian.tolist() == block.tolist()
    assert (hessian @ np.ones(4)).tolist() == [0, 0, 4, 4]


def test_row_114_the_numbers_of_the_template_do_not_matter():
    one, other = way_back(loadable()), way_back({"x": np.zeros(2), "y": (math.sin, np.ones(2))})
    assert one == other
    assert hash(one) == hash(other)
    assert same(one(counting(4)), other(counting(4)))


def test_row_115_layers_are_loaded_without_calling_their_constructors():
    made = []

    @dataclasses.dataclass
    class Layer:
        weight: object
        bias: object
        act: object = math.tanh

        def __post_init__(self):
            made.append(self)
            self.weight.shape  # noqa: B018 - an integer would raise here

    model = Chain((Layer(np.ones((1, 2)), np.ones(1)), Layer(np.ones((1, 1)), np.ones(1), None)))
    v, restructure = cv.destructure(model)
    made.clear()
    loaded = restructure(counting(len(v)))
    assert made == []
    assert type(loaded) is Chain
    assert [type(layer) for layer in loaded.layers] == [Layer, Layer]
    assert loaded.layers[0].weight.tolist() == [[1, 2]]
    assert loaded.layers[1].bias.tolist() == [5]
    assert [layer.act for layer in loaded.layers] == [math.tanh, None]


def test_row_116_integers_are_loaded_as_floats_unless_the_model_follows():
    restructure = way_back(loadable())
    assert restructure(np.arange(4))["x"].dtype == np.float64
    followed = restructure(np.arange(4), dtype="follow")
    assert followed["x"].dtype == followed["y"][1].dtype == np.arange(4).dtype


# Optimisers, and libraries around them ------------------------------------------------------------


@pytest.mark.parametrize(
    ("gradients", "tied", "copied"),
    [
        pytest.param(([3, 3], ([10, 10], [7, 7])), [0, 1], [0, 1], id="row_117"),
        pytest.param(([3, 3], None), [0.7, 1.7], [1, 2], id="row_118 first"),
        pytest.param((None, ([5, 5], [7, 7])), [0.3, 1.3], [0.5, 1.5], id="row_118 second"),
    ],
)
def test_a_step_of_descent_sums_the_gradients_of_tied_places(gradients, tied, copied):
    t = floats(1, 2)
    v, restructure = cv.destructure((t, (t.copy(), t)))
    first, (copy, second) = restructure(v - 0.1 * restructure.pullback(gradients))
    np.testing.assert_allclose(first, tied, atol=1e-15)
    np.testing.assert_allclose(copy, copied, atol=1e-15)
    assert second is first


def test_row_119_totals_are_flattened_and_only_parts_are_summed():
    shared = floats(1)
    v, restructure = cv.destructure({"x": shared, "y": shared})
    totals = {"x": floats(1), "y": floats(1)}
    assert (v - 0.1 * restructure.flatten(totals)).tolist() == [0.9]
    assert (v - 0.1 * restructure.pullback(totals)).tolist() == [0.8]


def test_row_120_no_gradient_is_a_zero_and_skipping_is_done_by_name():
    v, restructure = cv.destructure({"a": floats(1), "b": floats(1)})

    def moments(first, second, gradient):
        return 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2

    zeros = np.zeros_like(v)
    ones = restructure.pullback({"a": [1], "b": [1]})
    first, second = moments(zeros, zeros, ones)
    gradient = restructure.pullback({"a": [0], "b": None})
    dense, _ = moments(first, second, gradient)
    np.testing.assert_allclose(dense, [0.09, 0.09])
    first.a, second.a = moments(first.a, second.a, gradient.a)
    np.testing.assert_allclose([first.a[0], second.a[0]], [0.09, 0.000999])
    np.testing.assert_allclose([first.b[0], second.b[0]], [0.1, 0.001])


def test_row_121_untying_is_asked_for_and_a_model_is_tied():
    t, z = floats(1, 2), floats(1, 2)
    with pytest.raises(cv.SharingError, match="`x` and `y`"):
        cv.ComponentVector(x=t, y=t, z=z)
    untied = cv.ComponentVector({"x": t, "y": t, "z": z}, sharing="copy")
    untied.x[0] += 999
    assert len(untied) == 6
    assert [untied.x.tolist(), untied.y.tolist()] == [[1000, 2], [1, 2]]
    tied, _ = cv.destructure({"x": t, "y": t, "z": z})
    tied.x[0] += 999
    assert len(tied) == 4
    assert [tied.x.tolist(), tied.y.tolist()] == [[1000, 2], [1000, 2]]


def test_row_122_writing_a_nested_number_changes_the_vector():
    v = cv.ComponentVector(a=1, b=[2, 1, 4], c={"a": 2, "b": [1, 2]})
    v.c.a = 400
    assert v[4] == 400
    assert v.tolist() == [1, 2, 1, 4, 400, 1, 2]


def test_row_123_dots_and_brackets_are_both_views():
    v = cv.ComponentVector(a=1, b=[2, 1, 4])
    v.b[0] = 20
    v["b"][1] = 10
    assert v.tolist() == [1, 20, 10, 4]


def test_row_124_layers_that_differ_are_groups_with_made_up_names():
    layers = [{"w": np.ones((2, 2)), "b": np.zeros(2)}, {"scale": floats(3)}]
    v = cv.ComponentVector(layers=layers)
    assert list(v.axis.paths()) == ["layers._1.w", "layers._1.b", "layers._2.scale"]
    assert v.layers._2.scale.tolist() == [3]


def test_row_125_a_vector_of_nothing_is_empty_and_real():
    v = cv.ComponentVector({})
    assert len(v) == 0
    assert v.dtype == np.float64
    nothing, _ = cv.destructure({}, dtype="f4")
    assert nothing.dtype == np.float32


def test_row_126_parameters_that_are_tied_in_a_tree_stay_tied_in_a_vector():
    one, two = floats([1, 2]), floats([3, 4])
    params = {"d1": one, "d2": two, "d3": {"l1": two, "l2": one}}
    v, restructure = cv.destructure(params)
    assert v.tolist() == [1, 2, 3, 4]
    rebuilt = restructure(2 * v)
    assert rebuilt["d3"]["l2"] is rebuilt["d1"]
    assert rebuilt["d2"] is rebuilt["d3"]["l1"]
    assert cv.ComponentVector(tree_of(rebuilt)).tolist() == [2, 4, 6, 8]

    table = counting(6)
    with pytest.raises(cv.SharingError, match=r"`d1` and `d2` overlap"):
        cv.destructure({"d1": table[:4], "d2": table[2:]})
    with pytest.raises(cv.LengthError, match="`d2`"):
        restructure({"d2": floats([3, 4, 5])}, base=params)
    with pytest.raises(cv.LabelError, match=r"d4"):
        restructure({"d4": two}, base=params)
    with pytest.raises(cv.LabelError, match=r"d3"):
        restructure.flatten({"d1": one, "d2": two})


def test_row_127_two_sources_for_a_tied_array_must_agree():
    model = m4()
    v, restructure = cv.destructure(model)
    with pytest.raises(cv.SharingError, match="`x` and `y`"):
        restructure.flatten({"x": floats(7, 8, 9), "y": floats(7, 8, 0), "z": model["z"]}, out=v)
    assert v.tolist() == [1, 2, 3, 4, 5, 6]
    equal = {"x": floats(7, 8, 9), "y": floats(7, 8, 9), "z": model["z"]}
    assert restructure.flatten(equal, out=v).tolist() == [7, 8, 9, 4, 5, 6]


def test_row_127_no_bias_is_not_a_bias_of_zeros():
    with_bias, without = Dense(np.ones((1, 2)), np.zeros(1)), Dense(np.ones((1, 2)), bias=False)
    with pytest.raises(cv.LengthError, match="`bias`"):
        way_back(with_bias).flatten(without)
    assert way_back(without).flatten(with_bias).tolist() == [1, 1]


def visited_twice():
    t = floats(1, 2)
    return {"i": t, "ii": 34, "iii": floats(5, 6), "iv": (t, 34)}


def test_row_128_arrays_are_visited_once_and_numbers_at_every_place():
    v, restructure = cv.destructure(visited_twice(), trainable=lambda path, leaf: True)
    assert v.tolist() == [1, 2, 34, 5, 6, 34]
    mapped = restructure(10 * v)
    assert same(
        mapped,
        {"i": floats(10, 20), "ii": 340, "iii": floats(50, 60), "iv": (floats(10, 20), 340)},
    )
    assert mapped["iv"][0] is mapped["i"]


def test_row_129_the_second_visit_may_be_left_out():
    v, restructure = cv.destructure(visited_twice())
    assert v.tolist() == [1, 2, 5, 6]
    pruned = {"i": floats(10, 20), "ii": 34, "iii": floats(50, 60), "iv": (None, 34)}
    assert restructure.pullback(pruned).tolist() == [10, 20, 50, 60]
    mapped = restructure(pruned, base=visited_twice())
    assert mapped["iv"][0] is mapped["i"]
    assert mapped["i"].tolist() == [10, 20]


# What other flatteners do -------------------------------------------------------------------------


def test_row_130_tied_leaves_are_not_duplicated():
    s = floats(1, 2)
    v, restructure = cv.destructure((s, s, floats(3, 4)))
    assert v.tolist() == [1, 2, 3, 4]
    v[0] = 50
    first, second, _ = restructure(v)
    assert first is second
    assert first.tolist() == [50, 2]


def test_row_131_integers_and_masks_are_left_out_or_restored_exactly():
    model = {"n": np.array([1, 2]), "on": np.array([True, False]), "w": floats(0.5)}
    assert flat(model).tolist() == [0.5]
    v, restructure = cv.destructure(model, trainable=lambda path, leaf: True, promotion="allow")
    assert same(restructure(v), model)
    for path, value in (("n", 1.7), ("on", 1.7)):
        changed = v.copy()
        changed[path][0] = value
        with pytest.raises(cv.PromotionError, match=f"`{path}`"):
            restructure(changed)


def test_row_132_a_mixed_model_takes_a_vector_of_half_precision():
    restructure = way_back({"h": np.ones(1, "f2"), "s": np.ones(1, "f4")})
    rebuilt = restructure(np.array([0.5, 0.25], np.float16))
    assert same(rebuilt, {"h": np.array([0.5], "f2"), "s": np.array([0.25], "f4")})


@pytest.mark.parametrize(
    "dtype", ["f2", "i4", "?"], ids=["row_133 half", "row_133 integer", "row_133 mask"]
)
def test_a_single_precision_model_stays_one_whatever_the_vector(dtype):
    rebuilt = way_back([np.zeros(2, "f4")])(np.array([1, 0], dtype))
    assert same(rebuilt, [singles(1, 0)])


def test_row_133_a_complex_vector_is_refused():
    with pytest.raises(cv.PromotionError, match="`_1`"):
        way_back([np.zeros(2, "f4")])(np.array([1, 0], "c8"))


@pytest.mark.parametrize(
    "shape", [(3,), (2, 1), (1, 2)], ids=["row_134 long", "row_134 column", "row_134 row"]
)
def test_other_shapes_are_refused_naming_the_tree(shape):
    with pytest.raises(cv.LengthError, match=r"2 elements, `a` to `b`"):
        way_back({"a": floats(1), "b": floats(2)})(np.zeros(shape))


def test_row_135_empty_parts_do_not_promote_half_precision():
    v = flat({"nothing": [], "h": np.ones(2, np.float16)})
    assert v.dtype == np.float16
    v = cv.ComponentVector(nothing=flat({}), h=np.ones(2, np.float16))
    assert v.dtype == np.float16


def test_row_136_text_and_functions_are_carried_along():
    model = {"name": "relu", "act": math.tanh, "w": floats(1)}
    v, restructure = cv.destructure(model)
    assert v.tolist() == [1]
    assert same(restructure(2 * v), {"name": "relu", "act": math.tanh, "w": floats(2)})


def test_row_137_real_leaves_of_a_complex_vector_keep_no_imaginary_part_in_silence():
    model = {"r": floats(1), "c": np.array([2j])}
    v, restructure = cv.destructure(model, promotion="allow")
    assert v.tolist() == [1, 2j]
    v[0] = 1 + 1j
    with pytest.raises(cv.PromotionError, match="`r`"):
        restructure(v)
    followed = restructure(v, dtype="follow")
    assert followed["r"].tolist() == [1 + 1j]
    vectors, restructure = cv.destructure_by_dtype(model)
    assert same(restructure(vectors), model)


def test_row_138_a_number_stays_a_number():
    model = {"rate": 0.5, "w": floats(1)}
    v, restructure = cv.destructure(model)
    assert same(restructure(2 * v), {"rate": 0.5, "w": floats(2)})
    v, restructure = cv.destructure(model, trainable=lambda path, leaf: True)
    assert v.tolist() == [0.5, 1]
    rebuilt = restructure(2 * v)
    assert same(rebuilt, {"rate": 1.0, "w": floats(2)})
    assert type(rebuilt["rate"]) is float


# All of them --------------------------------------------------------------------------------------


def ids_of(test):
    """List the ids under which a test runs: its name, and those of its parameters."""
    yield test.__name__
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            _, cases = mark.args
            ids = mark.kwargs.get("ids") or [case.id for case in cases]
            yield from map(ids, cases) if callable(ids) else ids


def test_every_rule_has_a_test_or_a_reason_to_have_none():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    names = [name for test in tests for name in ids_of(test)]
    tested = {int(number) for name in names for number in regex.findall(r"row_(\d{3})", name)}
    assert tested | NOT_APPLICABLE.keys() == set(range(1, 139))
    assert not tested & NOT_APPLICABLE.keys()
