"""What users of flat and labelled vectors have run into elsewhere, one kind of trouble per test.

The libraries they used flattened in silence, lost or misplaced names, untied shared arrays,
promoted numbers, or shared memory that should not be shared.
"""

import copy
import gc
import math
import pickle
import timeit
import tracemalloc

import joblib
import numpy as np
import pytest
from scipy import integrate, optimize

import componentvec as cv


def labelled(flat, like):
    return cv.ComponentVector(flat, axis=like.axis)


def is_plain(value):
    return type(value) is np.ndarray


def is_scalar(value):
    return isinstance(value, (np.generic, float, int, bool))


# Optimisers ---------------------------------------------------------------------------------------

MINIMIZERS = ["BFGS", "L-BFGS-B", "SLSQP", "CG", "TNC", "Powell", "Nelder-Mead", "COBYLA"]


@pytest.mark.parametrize("method", MINIMIZERS)
def test_every_minimizer_works_by_name_and_leaves_the_start_alone(method):
    start = cv.ComponentVector(rate=1.0, net={"w": [[1.0, 1.0]], "b": [[1.0], [1.0]]})

    def cost(flat):
        p = labelled(flat, start)
        assert p.rate.shape == ()
        squares = [(p.rate - 1.5) ** 2, (p.net.w - [[1, -2]]) ** 2, (p.net.b - [[3], [0]]) ** 2]
        return sum(map(np.sum, squares))

    best = labelled(optimize.minimize(cost, start, method=method, tol=1e-6).x, start)
    np.testing.assert_allclose(best.rate, 1.5, atol=2e-2)
    np.testing.assert_allclose(best.net.w, [[1.0, -2.0]], atol=2e-2)
    np.testing.assert_allclose(best.net.b, [[3.0], [0.0]], atol=2e-2)
    assert start.net.b.tolist() == [[1.0], [1.0]]
    assert np.all(start == 1.0)


def test_a_gradient_is_filled_by_name():
    start = cv.ComponentVector(column=np.ones((3, 1)), rate=2.0)

    def gradient(flat):
        p = labelled(flat, start)
        g = np.zeros_like(p)
        g.column = 2 * p.column
        g.rate = 4 * p.rate**3
        return g

    def cost(flat):
        p = labelled(flat, start)
        return (p.column.T @ p.column).item() + p.rate**4

    result = optimize.minimize(cost, start, jac=gradient, method="BFGS")
    assert optimize.check_grad(cost, gradient, start) < 1e-5
    np.testing.assert_allclose(labelled(result.x, start).column, np.zeros((3, 1)), atol=1e-4)


def test_an_integer_start_stays_integer_and_does_not_round_the_answer():
    start = cv.ComponentVector(x=np.array([5, 5]), y=[[1]])
    assert start.dtype.kind == "i"
    result = optimize.minimize(lambda x: np.sum((x - [1.4, 1.7, -0.2]) ** 2), start)
    best = labelled(result.x, start)
    np.testing.assert_allclose(best.x, [1.4, 1.7], atol=1e-4)
    np.testing.assert_allclose(best.y, [[-0.2]], atol=1e-4)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_residuals_are_new_memory_at_every_call(method):
    start = cv.ComponentVector(a=[9.0], b=[[9.0, 9.0]])
    target = cv.ComponentVector(a=[1.0], b=[[2.0, 3.0]])

    def residual(flat):
        return labelled(flat, start) - target

    flat = np.array(start)
    one, two = residual(flat), residual(flat)
    assert not np.shares_memory(one, two)
    assert not np.shares_memory(one, flat)
    best = labelled(optimize.least_squares(residual, start, method=method).x, start)
    np.testing.assert_allclose(best, target, atol=1e-6)


def test_an_equation_for_a_matrix_is_solved():
    start = cv.ComponentVector(Y=[[3.0, 4.0], [8.0, 7.0]])
    right = np.array([[1.0, 2.0], [3.0, 4.0]])

    def equation(flat):
        y = labelled(flat, start).Y
        return cv.ComponentVector(Y=y @ y - right @ right)

    found = labelled(optimize.root(equation, np.asarray(start)).x, start).Y
    np.testing.assert_allclose(found @ found, right @ right, atol=1e-6)


def test_a_list_of_weights_and_biases_needs_no_hand_written_flattener():
    rng = np.random.default_rng(1)
    net = [(0.5 * rng.standard_normal((2, 3)), np.zeros(3)), (np.ones((3, 1)), np.zeros(1))]
    v, restructure = cv.destructure(net)
    x, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([[0.5], [1.0], [-1.0]])

    def residual(flat):
        (w1, b1), (w2, b2) = restructure(flat)
        return (np.tanh(x @ w1 + b1) @ w2 + b2 - y).ravel()

    fitted = restructure(optimize.least_squares(residual, v).x)
    assert type(fitted) is list
    assert [type(pair) for pair in fitted] == [tuple, tuple]
    assert [[part.shape for part in pair] for pair in fitted] == [[(2, 3), (3,)], [(3, 1), (1,)]]
    (w1, b1), (w2, b2) = fitted
    np.testing.assert_allclose(np.tanh(x @ w1 + b1) @ w2 + b2, y, atol=1e-4)


@pytest.mark.parametrize(
    "leaf",
    [
        np.zeros((1, 4)),
        np.zeros((4, 1)),
        np.zeros((1, 2, 2)),
        np.arange(8.0)[::2],
        np.zeros((2, 2)).T,
    ],
    ids=["row", "column", "block", "strided", "transposed"],
)
@pytest.mark.parametrize("method", ["L-BFGS-B", "Nelder-Mead"])
def test_a_solver_sees_one_contiguous_dimension_whatever_the_leaves(leaf, method):
    v = cv.ComponentVector(w=leaf, s=1.0)
    assert v.shape == (5,)
    assert len(v) == 5
    assert v.flags.c_contiguous
    assert v.flags.f_contiguous
    assert v.flags.aligned
    assert v.flags.writeable
    best = labelled(optimize.minimize(lambda x: np.sum((x - 1) ** 2), v, method=method).x, v)
    assert best.w.shape == leaf.shape
    np.testing.assert_allclose(best.w, np.ones(leaf.shape), atol=1e-2)


def test_standard_errors_are_read_by_name():
    start = cv.ComponentVector(b=[0.0, 0.0], s=0.0)
    design = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]])
    fit = optimize.least_squares(lambda x: design @ x - 1.0, start)
    covariance = np.linalg.inv(fit.jac.T @ fit.jac)
    errors = labelled(np.sqrt(np.diag(covariance)), start)
    np.testing.assert_allclose(errors.b, [0.5, math.sqrt(1.25)], atol=1e-5)
    np.testing.assert_allclose(errors.s, 0.25, atol=1e-5)
    spot = start.axis.index("b").slice
    np.testing.assert_allclose(covariance[spot, spot], [[0.25, -0.25], [-0.25, 1.25]], atol=1e-5)


def test_labels_do_not_change_the_path_of_a_solver():
    start = cv.ComponentVector(a=[-1.2, 1.0], b={"c": 0.5})
    by_name = optimize.minimize(optimize.rosen, start, method="BFGS")
    plain = optimize.minimize(optimize.rosen, np.array(start), method="BFGS")
    np.testing.assert_array_equal(by_name.x, plain.x)
    np.testing.assert_array_equal(by_name.hess_inv, plain.hess_inv)
    assert by_name.nfev == plain.nfev


def test_numeric_derivatives_come_under_the_names():
    v = cv.ComponentVector(a=[2.0, 3.0], b=[5.0, 7.0])

    def cost(flat):
        p = labelled(flat, v)
        return np.sum(p.a * p.b)

    gradient = labelled(optimize.approx_fprime(v, cost, 1e-7), v)
    np.testing.assert_allclose(gradient.a, [5.0, 7.0], atol=1e-4)
    np.testing.assert_allclose(gradient.b, [2.0, 3.0], atol=1e-4)
    table = optimize.approx_fprime(v, lambda flat: labelled(flat, v).a * labelled(flat, v).b, 1e-7)
    np.testing.assert_allclose(table[:, v.axis.index("b").slice], [[2, 0], [0, 3]], atol=1e-4)


# Differential equations ---------------------------------------------------------------------------

SOLVERS = ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"]


@pytest.mark.parametrize("method", SOLVERS)
def test_a_matrix_and_a_number_are_integrated_together(method):
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    start = cv.ComponentVector(X=np.eye(2), n=1.0)

    def rhs(t, flat):
        state = labelled(flat, start)
        change = np.empty_like(state)
        assert not np.shares_memory(change, state)
        change.X = turn @ state.X
        change.n = -state.n
        return change

    solution = integrate.solve_ivp(
        rhs, (0, np.pi / 2), start, method=method, rtol=1e-6, atol=np.full_like(start, 1e-8)
    )
    end = labelled(solution.y[:, -1], start)
    np.testing.assert_allclose(end.X, turn, atol=1e-3)
    np.testing.assert_allclose(end.n, math.exp(-np.pi / 2), atol=1e-3)
    assert start.tolist() == [1.0, 0.0, 0.0, 1.0, 1.0]


def test_a_right_hand_side_does_not_overwrite_the_state():
    start = cv.ComponentVector(p=0.0, q=1.0)

    def rhs(flat, t):
        change = np.empty_like(labelled(flat, start))
        change.p, change.q = 1.0, 0.0
        return change

    np.testing.assert_allclose(integrate.odeint(rhs, start, [0, 1, 2]), [[0, 1], [1, 1], [2, 1]])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("by", ["row", "column"])
def test_a_row_or_column_of_a_table_gets_its_labels_without_a_copy(order, by):
    v = cv.ComponentVector(M=[[1.0, 2.0], [3.0, 4.0]], s=5.0)
    states = np.array([k * np.asarray(v) for k in (1, 10, 100)])
    table = np.array(states if by == "row" else states.T, order=order)
    for place, k in enumerate((1, 10, 100)):
        state = labelled(table[place] if by == "row" else table[:, place], v)
        np.testing.assert_array_equal(state.M, [[k, 2 * k], [3 * k, 4 * k]])
        state.s = -k
        assert np.shares_memory(state, table)
    assert (table[:, 4] if by == "row" else table[4]).tolist() == [-1.0, -10.0, -100.0]


def test_rows_are_collected_in_the_dtype_of_the_vector():
    v = cv.ComponentVector(a=np.array([1.0, 2.0], np.float32), b=np.array([[3.0]], np.float32))
    rows = np.empty((3, v.size), v.dtype)
    for k in range(3):
        rows[k] = v * (k + 1)
    assert rows.dtype == np.float32
    assert labelled(rows[2], v).b.tolist() == [[9.0]]


def test_a_tolerance_is_set_by_name():
    start = cv.ComponentVector(big=[1e3, 2e3], small=1e-3)
    tolerance = np.full_like(start, 1e-2)
    tolerance.small = 1e-9
    assert tolerance.tolist() == [1e-2, 1e-2, 1e-9]
    solution = integrate.solve_ivp(lambda t, y: -y, (0, 1), start, rtol=1e-8, atol=tolerance)
    np.testing.assert_allclose(labelled(solution.y[:, -1], start).small, 1e-3 / math.e, rtol=1e-5)


# Copies, pickles, files ---------------------------------------------------------------------------


def nested():
    return cv.ComponentVector({"lay": {"_1": [[1.0, 2.0]], "class": {"w": 4.0}}, "s": 3.0})


CLONES = {
    "copy method": lambda v: v.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "np.copy": lambda v: np.copy(v, subok=True),
    **{
        f"pickle {protocol}": lambda v, p=protocol: pickle.loads(pickle.dumps(v, protocol=p))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize("name", CLONES)
def test_copies_keep_labels_on_memory_of_their_own(name):
    v = nested()
    twin = CLONES[name](v)
    assert type(twin) is cv.ComponentVector
    assert twin.axis == v.axis
    twin.lay["class"].w = 40.0
    twin.lay._1[0, 1] = 20.0
    assert np.asarray(twin).tolist() == [1.0, 20.0, 40.0, 3.0]
    assert np.asarray(v).tolist() == [1.0, 2.0, 4.0, 3.0]


@pytest.mark.parametrize("name", CLONES)
def test_copies_keep_ties_and_store_them_once(name):
    shared = np.arange(20_000.0)
    v, restructure = cv.destructure({"tok": shared, "head": [shared], "rev": shared[::-1]})
    twin = CLONES[name](v)
    assert twin.size == shared.size
    twin.tok[5] = -1.0
    assert twin.head._1[5] == twin.rev[-6] == -1.0
    assert v.head._1[5] == shared[5] == 5.0
    assert len(pickle.dumps(twin)) < 1.1 * shared.nbytes
    model = restructure(twin)
    assert model["tok"] is model["head"][0]


def test_plain_copies_and_pass_through_follow_numpy():
    v = nested()
    assert is_plain(np.array(v))
    assert is_plain(np.copy(v))
    assert is_plain(np.asarray(v))
    assert np.shares_memory(np.asarray(v), v)
    assert not np.shares_memory(np.array(v), v)
    assert np.asanyarray(v) is v


def test_files_of_numpy_hold_plain_numbers_and_labels_go_back_on(tmp_path):
    v = nested()
    np.save(tmp_path / "v.npy", v)
    np.savez(tmp_path / "v.npz", v=v)
    with np.load(tmp_path / "v.npz") as archive:
        for numbers in (np.load(tmp_path / "v.npy"), archive["v"]):
            assert is_plain(numbers)
            assert labelled(numbers, v).lay["class"].w == 4.0


@pytest.mark.parametrize("mmap_mode", [None, "r", "r+", "c"])
def test_files_of_joblib_keep_labels(tmp_path, mmap_mode):
    v = cv.ComponentVector(big=np.arange(200_000.0), small={"x": 7.0})
    joblib.dump(v, tmp_path / "v.joblib")
    again = joblib.load(tmp_path / "v.joblib", mmap_mode=mmap_mode)
    assert type(again) is cv.ComponentVector
    assert again.small.x == 7.0
    np.testing.assert_array_equal(again, v)


def look(v):
    return type(v).__name__, float(v.a[0]), float(v.b.c), v.size


def test_large_vectors_reach_workers_with_their_labels():
    v = cv.ComponentVector(a=np.full(300_000, 2.5), b={"c": 7.0})  # so large that joblib maps them
    seen = joblib.Parallel(n_jobs=2)(joblib.delayed(look)(x) for x in (v, v + 1))
    assert seen == [
        ("ComponentVector", 2.5, 7.0, 300_001),
        ("ComponentVector", 3.5, 8.0, 300_001),
    ]


# Names --------------------------------------------------------------------------------------------


def test_unknown_names_raise_what_python_expects():
    v = nested()
    assert getattr(v, "nope", "default") == "default"
    assert not hasattr(v, "__array_of_some_library__")
    with pytest.raises(AttributeError, match="nope"):
        v.nope  # noqa: B018
    with pytest.raises(KeyError, match="nope"):
        v["nope"]


@pytest.mark.parametrize("clone", CLONES.values(), ids=CLONES)
def test_an_array_cast_to_the_class_has_no_labels_and_no_traps(clone):
    bare = clone(np.array([1.0, 2.0]).view(cv.ComponentVector))
    assert getattr(bare, "a", None) is None
    assert np.asarray(bare).tolist() == [1.0, 2.0]
    assert "1." in repr(bare)


@pytest.mark.parametrize("name", ["wieght", "new", "Weight"])
def test_assignment_never_makes_a_component(name):
    v = cv.ComponentVector(weight=[1.0, 2.0], b=3.0)
    with pytest.raises(AttributeError, match=name):
        setattr(v, name, 9.0)
    with pytest.raises(KeyError, match=name):
        v[name] = 9.0
    assert v.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", ["sum", "T", "size", "shape", "mean", "copy"])
def test_a_component_named_as_a_method_shadows_nothing(name):
    with pytest.warns(cv.ShadowedNameWarning):
        v = cv.ComponentVector({name: [1.0, 2.0], "b": 4.0})
    assert v[name].tolist() == [1.0, 2.0]
    assert v.sum() == np.sum(v) == 7.0
    assert v.size == 3
    assert v.copy().shape == v.T.shape == (3,)
    with pytest.raises(AttributeError):
        setattr(v, name, 0.0)
    v[name] = 5.0
    assert v.tolist() == [5.0, 5.0, 4.0]


def test_index_and_attribute_are_the_same_view():
    v = cv.ComponentVector({"mass": {"methanol": np.zeros(2), "water": np.zeros(2)}, "a": [0.0]})
    v["a"][0] += 1.0
    v.a[0] += 1.0
    for name in ("methanol", "water"):
        v.mass[name][1] += 5.0
        v["mass"][name][1] += 5.0
    assert v.tolist() == [0.0, 10.0, 0.0, 10.0, 2.0]


def test_positions_count_from_one_and_stay_in_order():
    ps, restructure = cv.trainables_nt([np.array([float(k)]) for k in range(1, 13)])
    v = cv.ComponentVector(ps)
    assert v.tolist() == list(range(1, 13))
    assert v._10.tolist() == ps._10.tolist() == [10.0]
    assert [part.item() for part in restructure(v)] == list(range(1, 13))


def test_a_dot_in_a_name_is_no_path():
    v = cv.ComponentVector({"a.b": [1.0], "a": {"b": [2.0]}})
    assert v["a.b"].tolist() == [1.0]
    assert v["a"]["b"].tolist() == v.a.b.tolist() == [2.0]
    model = {"x.y": np.array([1.0]), "x": {"y": np.array([2.0])}}
    again = cv.destructure(model)[1](np.asarray(v))
    assert again == {"x.y": [1.0], "x": {"y": [2.0]}}


def test_a_name_given_twice_is_refused():
    with pytest.raises(cv.LabelError, match="'a'"):
        cv.ComponentVector({"a": [1.0]}, a=[2.0])


def test_number_keys_are_refused_by_hand_and_named_in_models():
    with pytest.raises(cv.LabelError, match=r"the key 1"):
        cv.ComponentVector({1: [1.0], "y": [3.0]})
    v, restructure = cv.destructure({1: np.array([1.0]), "1": np.array([2.0])})
    assert restructure(10 * v) == {1: [10.0], "1": [20.0]}


@pytest.mark.parametrize("name", ["count", "index", "_fields2", "def", "_1", "__private"])
def test_names_that_named_tuples_refuse_or_use_are_ordinary(name):
    ps, restructure = cv.trainables_nt({name: np.array([1.0]), "layers": [{name: np.array([2.0])}]})
    for tree in (ps, copy.deepcopy(ps), pickle.loads(pickle.dumps(ps))):
        assert getattr(tree, name).tolist() == [1.0]
        v = cv.ComponentVector(tree)
        assert v.layers._1[name].tolist() == [2.0]
        assert restructure(v)["layers"][0][name].tolist() == [2.0]


# Stale labels -------------------------------------------------------------------------------------


@pytest.fixture
def v():
    return cv.ComponentVector(a=[3.0, 1.0], bb=[2.0, 5.0, 4.0])


MOVED = {
    "sort": np.sort,
    "reversed": lambda v: v[::-1],
    "flip": np.flip,
    "roll": lambda v: np.roll(v, 1),
    "index": lambda v: v[[1, 0, 2, 3, 4]],
    "argsort": lambda v: v[np.argsort(v)],
    "unique": np.unique,
    "permutation": lambda v: np.random.default_rng(0).permutation(v),
    "take": lambda v: v.take([4, 3, 2, 1, 0]),
    "partition": lambda v: np.partition(v, 2),
    "accumulate": np.add.accumulate,
    "cumprod": lambda v: v.cumprod(),
    "gradient": np.gradient,
    "interp": lambda v: np.interp(v, [0.0, 6.0], [1.0, 0.0]),
    "convolve": lambda v: np.convolve(v, [1.0, 0.0, 0.0], mode="same"),
}
RESHAPED = {
    "None": lambda v: v[None],
    "column": lambda v: v[:, None],
    "reshape": lambda v: v.reshape(5, 1),
    "atleast_2d": np.atleast_2d,
    "expand_dims": lambda v: np.expand_dims(v, 0),
    "broadcast_to": lambda v: np.broadcast_to(v, (2, 5)),
    "tile": lambda v: np.tile(v, 2),
    "repeat": lambda v: np.repeat(v, 2),
    "outer": lambda v: np.outer(v, v),
    "multiply.outer": lambda v: np.multiply.outer(v, v),
    "reduceat": lambda v: np.add.reduceat(v, [0, 2]),
    "diff": np.diff,
    "broadcast sum": lambda v: v + np.ones((2, 5)),
    "keepdims": lambda v: v.sum(keepdims=True),
    "zeros_like": lambda v: np.zeros_like(v, shape=3),
    "concatenate": lambda v: np.concatenate([v, v]),
    "hstack": lambda v: np.hstack([v, v]),
    "append": lambda v: np.append(v, v),
    "r_": lambda v: np.r_[v, v],
    "stack": lambda v: np.stack([v, v]),
    "vstack": lambda v: np.vstack([v, v]),
    "column_stack": lambda v: np.column_stack([v, v]),
    "array of": lambda v: np.array([v, v]),
    "matrix product": lambda v: np.ones((2, 5)) @ v,
    "long product": lambda v: np.ones((7, 5)) @ v,
    "table": lambda v: np.asarray(v)[:, None] * v,
}


@pytest.mark.parametrize("name", MOVED | RESHAPED)
def test_no_name_sits_on_the_wrong_elements(v, name):
    function = (MOVED | RESHAPED)[name]
    result = function(v)
    assert is_plain(result)
    np.testing.assert_array_equal(result, function(np.asarray(v)))
    assert v.a.tolist() == [3.0, 1.0]


LEFT = {
    "int": lambda v: 2 * v,
    "float64": lambda v: np.float64(2) * v,
    "0-d": lambda v: np.array(2.0) * v,
    "list": lambda v: [1.0, 2.0, 3.0, 4.0, 5.0] * v,
    "array": lambda v: np.arange(5.0) - v,
    "right": lambda v: v - np.arange(5.0),
    "quotient": lambda v: 1 / v,
    "negative": lambda v: -v,
    "power": lambda v: 2**v,
    "abs": lambda v: abs(-v),
    "exp": np.exp,
    "divmod": lambda v: divmod(v, 2)[1],
    "comparison": lambda v: np.arange(5.0) < v,
}


@pytest.mark.parametrize("name", LEFT)
def test_operators_keep_labels_whatever_stands_on_the_left(v, name):
    result = LEFT[name](v)
    assert type(result) is cv.ComponentVector
    assert result.axis is v.axis
    np.testing.assert_array_equal(result, LEFT[name](np.asarray(v)))
    np.testing.assert_array_equal(result.bb, LEFT[name](np.asarray(v))[2:])


def test_operands_of_another_length_are_refused(v):
    with pytest.raises(ValueError, match="shape"):
        v + np.ones(4)


def test_a_scalar_and_an_array_of_one_element_are_two_structures():
    one, other = cv.ComponentVector(a=[1.1], b=[0.1]), cv.ComponentVector(a=[1.1], b=0.1)
    assert one.b.shape == (1,)
    assert other.b.shape == ()
    with pytest.raises(cv.AxisMismatchError, match=r"`b`"):
        one + other


SCALARS = {
    "sum": lambda v: v.sum(),
    "np.sum": np.sum,
    "mean": lambda v: v.mean(),
    "min": lambda v: v.min(),
    "max": np.max,
    "prod": np.prod,
    "std": lambda v: v.std(),
    "var": np.var,
    "ptp": np.ptp,
    "any": lambda v: (v > 4).any(),
    "all": lambda v: (v > 0).all(),
    "argmax": lambda v: v.argmax(),
    "v @ v": lambda v: v @ v,
    "dot": lambda v: v.dot(v),
    "T.dot": lambda v: v.T.dot(v),
    "np.dot": lambda v: np.dot(v, v),
    "inner": lambda v: np.inner(v, v),
    "vdot": lambda v: np.vdot(v, v),
    "norm": np.linalg.norm,
    "norm 1": lambda v: np.linalg.norm(v, ord=1),
    "average": np.average,
    "median": np.median,
    "percentile": lambda v: np.percentile(v, 30),
    "nansum": np.nansum,
    "trapezoid": np.trapezoid,
    "reduce": np.add.reduce,
    "count_nonzero": np.count_nonzero,
}


@pytest.mark.parametrize("name", SCALARS)
def test_reductions_are_scalars(v, name):
    result, plain = SCALARS[name](v), SCALARS[name](np.asarray(v))
    assert is_scalar(result)
    assert type(result) is type(plain)
    assert result == plain


def test_reductions_of_a_table_made_with_a_vector_go_over_all_of_it(v):
    table = np.asarray(v)[:, None] * v
    assert table.max() == 25
    assert bool(np.any(table > 24))
    assert table.sum(axis=0).tolist() == [45.0, 15.0, 30.0, 75.0, 60.0]


def test_solving_a_system_gives_the_right_numbers(v):
    np.testing.assert_allclose(
        np.linalg.solve(np.diag([1.0, 2, 4, 5, 8]), v), [3, 0.5, 0.5, 1, 0.5]
    )


def test_indexed_additions_count_every_repeat_and_reach_the_leaves(v):
    np.add.at(v, [0, 0, 2], 1.0)
    assert v.a.tolist() == [5.0, 1.0]
    assert v.bb.tolist() == [3.0, 5.0, 4.0]


def test_results_go_into_the_very_object_given(v):
    w = 10 * v
    assert np.add(v, w, out=v) is v
    assert v.a.tolist() == [33.0, 11.0]
    assert np.multiply(np.asarray(w), 2.0, out=v) is v
    assert v.bb.tolist() == [40.0, 100.0, 80.0]
    plain, total = np.zeros(5), np.zeros(())
    assert np.add(v, w, out=plain) is plain
    plain *= w
    assert is_plain(plain)
    assert plain[0] == (60 + 30) * 30
    assert np.sum(v, out=total) is total
    assert total == v.sum()


# Printing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: cv.ComponentVector(a=[1.0, np.nan], s=np.inf),
        lambda: cv.ComponentVector(a=np.array(4.0)),
        lambda: cv.ComponentVector(a=np.zeros((1000, 1000)), b=np.zeros(7)),
        lambda: cv.ComponentVector({f"a{k}": float(k) for k in range(5000)}),
        lambda: cv.ComponentVector(a=np.zeros(0)),
    ],
    ids=["special values", "one number", "a million elements", "many names", "no elements"],
)
def test_every_vector_prints_its_names_on_one_screen(make):
    v = make()
    for text in (repr(v), str(v), f"{v}"):
        assert "a" in text
        assert text.count("\n") < 60
        assert len(text) < 5000


# Cost ---------------------------------------------------------------------------------------------


def test_building_is_linear_in_the_number_of_leaves():
    def seconds(count):
        # A fresh prefix makes a structure that was never seen before.
        trees = [{f"x{run}_{k}": np.zeros(10) for k in range(count)} for run in range(3)]
        return min(timeit.timeit(lambda t=tree: cv.ComponentVector(t), number=1) for tree in trees)

    assert seconds(4000) < 20 * max(seconds(500), 1e-4)


def test_labels_are_not_compared_leaf_by_leaf():
    few, many = (
        cv.ComponentVector({f"x{k}": np.zeros(4000 // count) for k in range(count)})
        for count in (1, 4000)
    )
    times = [min(timeit.repeat(lambda v=v: v + v, number=200, repeat=5)) for v in (few, many)]
    assert times[1] < 5 * times[0]


def test_arithmetic_allocates_its_result_and_nothing_else():
    v = cv.ComponentVector(w=np.ones((1000, 1000)), b=np.ones(8))
    v * 2
    gc.collect()
    tracemalloc.start()
    result = v * 2
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.05 * v.nbytes
    assert not np.shares_memory(result, v)


def test_leaves_sit_where_their_elements_are():
    v, restructure = cv.destructure({"a": np.zeros((3, 4)), "b": [np.zeros(5), np.zeros((2, 2))]})
    start = v.__array_interface__["data"][0]
    model = restructure(v)
    leaves = [model["a"], model["b"][0], model["b"][1], v.b._2]
    assert [(x.__array_interface__["data"][0] - start) // 8 for x in leaves] == [0, 12, 17, 17]
    model["b"][1][1, 1] = 4.0
    assert v[20] == 4.0


# Structures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [{}, {"b": np.array([4.0, 5.0])}], ids=["alone", "beside others"])
def test_leaves_without_elements_are_no_obstacle(extra):
    v = cv.ComponentVector(a=np.zeros(0), **extra)
    for twin in (v, v + 1, v.copy(), pickle.loads(pickle.dumps(v)), np.zeros_like(v)):
        assert twin.a.shape == (0,)
        assert twin.size == 2 * len(extra)
    assert v.sum() == (9.0 if extra else 0.0)


def test_a_list_of_records_reads_and_writes_and_may_be_empty():
    v = cv.ComponentVector({"pts": [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}], "none": []})
    assert v["pts"]["_1"]["y"] == 2.0
    v.pts._2.x = 30.0
    v.pts._2.y += 1.0
    assert v.tolist() == [1.0, 2.0, 30.0, 5.0]
    assert v.none.size == 0


def test_only_parameters_are_taken_from_a_model_and_the_rest_comes_back():
    steps, mask = np.array([3, 4]), np.array([True])
    model = {
        "w": np.array([1.0, 2.0]),
        "steps": steps,
        "seen": 5,
        "name": "relu",
        "act": math.tanh,
        "mask": mask,
        "dropout": {},
        "pool": (),
        "b": np.array([6.0]),
    }
    v, restructure = cv.destructure(model)
    assert v.tolist() == [1.0, 2.0, 6.0]
    again = restructure(10 * v)
    assert list(again) == list(model)
    assert again.pop("b").tolist() == [60.0]
    assert again.pop("w").tolist() == [10.0, 20.0]
    assert again == {name: part for name, part in model.items() if name not in "wb"}
    assert again["steps"] is steps
    assert again["mask"] is mask
    assert again["act"] is math.tanh


@pytest.mark.parametrize("shape", [(0,), (1,), (4,), (6,), (5, 1), (1, 5)], ids=str)
def test_a_vector_of_the_wrong_shape_is_refused_everywhere(shape):
    v, restructure = cv.destructure({"x": np.array([1.0, 2.0]), "y": np.array([[3.0, 4.0, 5.0]])})
    for use in (restructure, lambda flat: labelled(flat, v)):
        with pytest.raises(cv.LengthError):
            use(np.zeros(shape))
    with pytest.raises(cv.LengthError):
        restructure.flatten({"x": np.zeros(2), "y": np.zeros((1, 3))}, out=np.zeros(shape))


def test_the_model_follows_the_vector_it_was_made_from():
    v, restructure = cv.destructure({"lin": {"w": np.ones((2, 2)), "b": np.zeros(2)}})
    moved = restructure(v)
    v += 1
    assert moved["lin"]["w"].tolist() == [[2.0, 2.0], [2.0, 2.0]]
    np.asarray(v)[-1] = -1.0
    assert moved["lin"]["b"].tolist() == [1.0, -1.0]


def test_a_block_reached_by_two_paths_stays_one_and_the_source_untouched():
    block = {"w": np.array([1.0, 2.0]), "b": np.array([3.0])}
    model = {"a": block, "b": block}
    v, restructure = cv.destructure(model)
    assert v.size == 3
    again = restructure(np.asarray(v) * 100)
    assert again["a"] is again["b"]
    assert again["a"]["w"].tolist() == [100.0, 200.0]
    assert model["a"] is model["b"] is block
    assert block["w"].tolist() == [1.0, 2.0]


# Numbers ------------------------------------------------------------------------------------------


def test_integers_stay_integers_in_their_order():
    v = cv.ComponentVector(
        {"foo": np.array([1, 2, 3]), "bar": {"z": np.array([5]), "a": np.array([7])}}
    )
    assert v.dtype.kind == "i"
    assert v.tolist() == [1, 2, 3, 5, 7]


@pytest.mark.parametrize(
    "pair",
    [("f8", "i8"), ("f2", "f4"), ("?", "f8"), ("f8", "c16"), ("M8[D]", "f8"), ("i4", "i8")],
    ids="-".join,
)
def test_nothing_is_promoted_in_silence(pair):
    one, two = (np.zeros(2, dtype) for dtype in pair)
    with pytest.raises(cv.PromotionError, match=r"`(one|two)`"):
        cv.ComponentVector(one=one, two=two)


@pytest.mark.parametrize("dtype", ["f4", "f2", "c8"])
def test_a_precision_stays_what_it_is(dtype):
    v = cv.ComponentVector(a=np.array([1.0, 2.0], dtype), b=np.dtype(dtype).type(3.0), rate=0.5)
    results = [
        v + 1.0, v * 2, v / 3, -v, np.sqrt(v), np.zeros_like(v), v.copy(), v @ v, v.sum(), v.a, v.b,
        copy.deepcopy(v), pickle.loads(pickle.dumps(v)), 0.1 * v, v**2,
    ]  # fmt: skip
    assert {result.dtype for result in results} == {np.dtype(dtype)}
    v.a = 1 / 3
    assert v.a[0] == np.dtype(dtype).type(1 / 3)


@pytest.mark.parametrize(
    "leaf",
    [
        np.array([None, 1.0]),
        np.array(["x"]),
        np.array([b"q"]),
        np.array([1.0, np.array([1.0])], object),
        np.zeros(2, [("x", float)]),
        np.ma.array([1.0], mask=[True]),
        "text",
        {1.0},
    ],
    ids=["object", "text", "bytes", "ragged", "record", "masked", "str", "set"],
)
@pytest.mark.parametrize("beside", [{}, {"b": np.array([1.0])}], ids=["alone", "beside numbers"])
def test_leaves_that_hold_no_numbers_are_refused_by_their_path(leaf, beside):
    with pytest.raises(cv.PromotionError, match=r"`net\.a`"):
        cv.ComponentVector({"net": {"a": leaf}, **beside})


@pytest.mark.parametrize(
    "leaf", [2.5, np.float64(2.5), np.array(2.5), np.array([2.5]), np.array([[2.5]])], ids=repr
)
def test_one_number_keeps_its_shape_and_writes_through(leaf):
    v = cv.ComponentVector(s=leaf, t=[1.0])
    assert np.shape(v.s) == np.shape(leaf)
    v.s = 7.0
    v.s += 1.0
    assert v.tolist() == [8.0, 1.0]
    assert (2 * v).s == 16.0


def test_minus_zero_keeps_its_sign():
    v = cv.ComponentVector(a=[-0.0, 0.0], s=-0.0)
    for twin in (v, v * 1.0, v.copy(), pickle.loads(pickle.dumps(v)), +v):
        assert np.signbit(twin).tolist() == [True, False, True]
    v.s = 0.0
    v.a = -0.0
    assert np.signbit(v).tolist() == [True, True, False]


def test_complex_inner_products_conjugate_once():
    v = cv.ComponentVector(a=[1 + 2j], b=[3 - 1j, 2j])
    assert np.vdot(v, v) == 19
    assert v.conj().b.tolist() == [3 + 1j, -2j]
    assert (v @ v.conj()).imag == 0


# Buffers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beside", [{}, {"b": np.array([4.0])}], ids=["alone", "beside native"])
def test_big_endian_numbers_are_stored_in_native_order(beside):
    v = cv.ComponentVector(a=np.array([1.5, -2.0, 1e300], ">f8"), **beside)
    assert v.dtype.isnative
    assert v.a.tolist() == [1.5, -2.0, 1e300]


def test_read_only_sources_do_not_make_read_only_vectors():
    source = np.array([1.0, 2.0])
    source.flags.writeable = False
    v = cv.ComponentVector(a=source)
    v.a += 1
    assert v.tolist() == [2.0, 3.0]
    assert source.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda v: v.a.__setitem__(0, 5.0),
        lambda v: setattr(v, "a", 5.0),
        lambda v: v.__setitem__("b.c", 5.0),
        lambda v: setattr(v.b, "c", 5.0),
        lambda v: v.__setitem__(0, 5.0),
        lambda v: v.__setitem__(slice(None), {"a": 5.0}),
        lambda v: v.__iadd__(1),
        lambda v: v.fill(5.0),
        lambda v: np.add(v, 1, out=v),
    ],
    ids=["leaf", "attribute", "path", "group", "position", "mapping", "+=", "fill", "out"],
)
def test_a_read_only_vector_is_read_only_by_every_path(write):
    v = cv.ComponentVector(a=[2.0, 3.0], b={"c": 4.0})
    v.a  # noqa: B018  # a view handed out before
    v.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        write(v)
    assert v.tolist() == [2.0, 3.0, 4.0]


def test_mapped_files_become_plain_memory(tmp_path):
    np.array([1.0, 2.0, 3.0]).tofile(tmp_path / "w.bin")
    disk = np.memmap(tmp_path / "w.bin", dtype=float, mode="r+")
    v = cv.ComponentVector(w=disk, b=[4.0])
    u, _ = cv.destructure([disk])
    v.w[0] = u._1[0] = 10.0
    assert is_plain(v.w)
    assert is_plain(u._1)
    assert np.fromfile(tmp_path / "w.bin").tolist() == [1.0, 2.0, 3.0]


def test_a_vector_as_a_component_is_a_group_of_its_names():
    inner = cv.ComponentVector(w=[[1.0, 2.0]], b=3.0)
    v = cv.ComponentVector(net=inner, rate=0.5)
    assert v.tolist() == [1.0, 2.0, 3.0, 0.5]
    v.net.b = 30.0
    assert v[2] == 30.0
    assert inner.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("start", [dict, list], ids=["dict", "list"])
def test_a_container_that_holds_itself_is_refused_at_once(start):
    loop = start()
    if start is dict:
        loop.update(w=np.ones(1), me={"inside": [loop]})
    else:
        loop.extend([np.ones(1), {"inside": [loop]}])
    with pytest.raises(cv.SharingError, match="inside"):
        cv.destructure(loop)
    with pytest.raises(cv.SharingError, match="inside"):
        cv.ComponentVector(root=loop)
