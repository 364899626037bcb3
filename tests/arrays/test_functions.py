import numpy as np
import pytest

import componentvec as cv

AXIS = cv.Axis(a=(), b=2, c={"d": (2, 2)})
OTHER = cv.Axis(a=(), b=2, c={"e": (2, 2)})


def vector(axis=AXIS, start=1.0):
    return cv.ComponentVector(np.arange(start, start + axis.size), axis=axis)


KEEPS = {
    "angle": np.angle,
    "around": lambda v: np.around(v, 1),
    "clip": lambda v: np.clip(v, 2.0, 5.0),
    "clip by a plain array": lambda v: np.clip(v, np.arange(7.0)[::-1], None),
    "clip by a vector": lambda v: np.clip(np.full(7, 3.0), v, v + 1.0),
    "fix": np.fix,
    "i0": np.i0,
    "imag": lambda v: np.imag(v * 1j),
    "imag of real": np.imag,
    "iscomplex": np.iscomplex,
    "isclose": lambda v: np.isclose(v, v),
    "isclose to a plain array": lambda v: np.isclose(np.ones(7), v),
    "isneginf": np.isneginf,
    "isposinf": np.isposinf,
    "isreal": np.isreal,
    "nan_to_num": lambda v: np.nan_to_num(v / 0.0, posinf=3.0),
    "real": np.real,
    "real of complex": lambda v: np.real(v * 1j),
    "real_if_close": lambda v: np.real_if_close(v + 0j),
    "round": np.round,
    "sinc": np.sinc,
    "where": lambda v: np.where(v > 3.0, v, 0.0),
    "where by a plain mask": lambda v: np.where(np.arange(7) > 3, v, 0.0),
    "where by a scalar": lambda v: np.where(True, 1.0, v),
    "copy": lambda v: np.copy(v, subok=True),
    "copy by keyword": lambda v: np.copy(a=v, subok=True),
    "empty_like": lambda v: np.empty_like(v),
    "full_like": lambda v: np.full_like(v, 3.0),
    "full_like by a vector": lambda v: np.full_like(v, v),
    "ones_like": np.ones_like,
    "zeros_like": np.zeros_like,
    "zeros_like by keyword": lambda v: np.zeros_like(a=v),
    "empty_like by keyword": lambda v: np.empty_like(prototype=v),
    "zeros_like of another dtype": lambda v: np.zeros_like(v, dtype=int),
    "asanyarray": np.asanyarray,
    "atleast_1d": np.atleast_1d,
}


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # NumPy 2.5
@pytest.mark.parametrize("call", KEEPS.values(), ids=KEEPS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_elementwise_functions_keep_labels(call):
    v = vector()
    result = call(v)
    expected = call(np.asarray(v))
    assert type(result) is cv.ComponentVector
    assert result.axis is AXIS
    assert type(result.base) is np.ndarray
    assert result.dtype == expected.dtype
    if call is not KEEPS["empty_like"] and call is not KEEPS["empty_like by keyword"]:
        np.testing.assert_array_equal(np.asarray(result), expected)


DROPS = {
    "array": np.array,
    "asarray": np.asarray,
    "copy": np.copy,
    "empty_like without subclass": lambda v: np.empty_like(v, subok=False),
    "zeros_like without subclass": lambda v: np.zeros_like(v, subok=False),
    "ones_like of a shape": lambda v: np.ones_like(v, shape=(7,)),
    "full_like of a shape": lambda v: np.full_like(v, 1.0, shape=(3,)),
    "zeros_like of a plain array": lambda v: np.full_like(np.ones(7), v),
    "sort": np.sort,
    "argsort": np.argsort,
    "partition": lambda v: np.partition(v, 2),
    "flip": np.flip,
    "roll": lambda v: np.roll(v, 2),
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "diff": lambda v: np.diff(v, prepend=0.0),
    "gradient": np.gradient,
    "take": lambda v: np.take(v, range(7)),
    "repeat": lambda v: np.repeat(v, 1),
    "tile": lambda v: np.tile(v, 1),
    "concatenate": lambda v: np.concatenate([v]),
    "append": lambda v: np.append(v, v),
    "delete": lambda v: np.delete(v, 0),
    "insert": lambda v: np.insert(v, 0, v),
    "stack": lambda v: np.stack([v, v]),
    "block": lambda v: np.block([v, v]),
    "unique": np.unique,
    "trim_zeros": np.trim_zeros,
    "ravel": np.ravel,
    "reshape": lambda v: np.reshape(v, (7, 1)),
    "atleast_2d": np.atleast_2d,
    "expand_dims": lambda v: np.expand_dims(v, 0),
    "broadcast_to": lambda v: np.broadcast_to(v, (7,), subok=True),
    "dot": lambda v: np.dot(np.eye(7), v),
    "convolve": lambda v: np.convolve(v, [1.0], mode="same"),
    "interp": lambda v: np.interp(v[::-1], v, v),
    "fft": np.fft.fft,
    "solve": lambda v: np.linalg.solve(np.eye(7)[::-1], v),
    "diag": np.diag,
    "outer": lambda v: np.outer(v, v),
    "kron": lambda v: np.kron(v, [1.0]),
    "select": lambda v: np.select([v[::-1] > 3.0], [v], v),
    "compress": lambda v: np.compress(np.ones(7, bool), v),
    "extract": lambda v: np.extract(v > 0.0, v),
    "choose": lambda v: np.choose(np.zeros(7, int), [v, v]),
    "apply_along_axis": lambda v: np.apply_along_axis(np.flip, 0, v),
    "einsum": lambda v: np.einsum("i,ij->j", v, np.eye(7)[::-1]),
    "vectorize": lambda v: np.vectorize(lambda x: x + 1.0)(v),
    "full": lambda v: np.full(7, v),
    "searchsorted": lambda v: np.searchsorted(v, v),
    "ascontiguousarray": lambda v: np.ascontiguousarray(v[::-1]),
    "zeros like=": lambda v: np.zeros(7, like=v),
}


@pytest.mark.parametrize("call", DROPS.values(), ids=DROPS)
def test_functions_that_may_move_elements_give_plain_arrays(call):
    v = vector()
    result = call(v)
    assert type(result) is np.ndarray
    if call is not DROPS["empty_like without subclass"]:
        np.testing.assert_array_equal(result, call(np.asarray(v)))


REDUCES = {
    "sum": np.sum,
    "mean": np.mean,
    "median": np.median,
    "max": np.max,
    "argmin": np.argmin,
    "ptp": np.ptp,
    "norm": np.linalg.norm,
    "all": np.all,
    "count_nonzero": np.count_nonzero,
    "vdot": lambda v: np.vdot(v, v),
    "trapezoid": np.trapezoid,
    "quantile": lambda v: np.quantile(v, 0.3),
    "allclose": lambda v: np.allclose(v, v),
    "array_equal": lambda v: np.array_equal(v, v),
    "shape": np.shape,
    "size": np.size,
}


@pytest.mark.parametrize("call", REDUCES.values(), ids=REDUCES)
def test_reductions_give_what_numpy_gives(call):
    v = vector()
    expected = call(np.asarray(v))
    assert type(call(v)) is type(expected)
    assert call(v) == expected


TWO = {
    "clip": lambda v, w: np.clip(v, w, None),
    "clip by keyword": lambda v, w: np.clip(v, a_min=None, a_max=w),
    "where": lambda v, w: np.where(v > 0.0, v, w),
    "where by a mask": lambda v, w: np.where(w > 0.0, v, 0.0),
    "isclose": np.isclose,
    "full_like": np.full_like,
    "round out": lambda v, w: np.round(v, out=w),
    "clip out": lambda v, w: np.clip(v, 0.0, 1.0, out=w),
    "copyto": np.copyto,
    "copyto where": lambda v, w: np.copyto(v, 0.0, where=w > 0.0),
}


@pytest.mark.parametrize("call", TWO.values(), ids=TWO)
def test_elementwise_functions_refuse_another_axis(call):
    v, w = vector(), vector(OTHER, start=11.0)
    with pytest.raises(cv.AxisMismatchError, match=r"`c\.d`"):
        call(v, w)
    assert v.tolist() == vector().tolist()
    assert w.tolist() == vector(OTHER, start=11.0).tolist()


OUT = {
    "clip": lambda v, out: np.clip(v, 2.0, 3.0, out=out),
    "round": lambda v, out: np.round(v, out=out),
    "cumsum": lambda v, out: np.cumsum(v, out=out),
    "take": lambda v, out: np.take(v, [6, 5, 4, 3, 2, 1, 0], out=out),
    "dot": lambda v, out: np.dot(np.eye(7), v, out=out),
    "sum of rows": lambda v, out: np.sum([v, v], axis=0, out=out),
    "median of rows": lambda v, out: np.median([v, v], axis=0, out=out),
    "concatenate": lambda v, out: np.concatenate([v[:3], v[3:]], out=out),
    "compress": lambda v, out: np.compress([True] * 7, v, out=out),
}


@pytest.mark.parametrize("out", [cv.zeros(AXIS), np.zeros(7)], ids=["labelled", "plain"])
@pytest.mark.parametrize("call", OUT.values(), ids=OUT)
def test_out_is_what_comes_back(call, out):
    v = vector()
    out[:] = 0.0
    assert call(v, out) is out
    np.testing.assert_array_equal(out, call(np.asarray(v), np.zeros(7)))


def test_out_may_have_another_axis_where_elements_move():
    out = cv.zeros(OTHER)
    assert np.cumsum(vector(), out=out) is out


@pytest.mark.parametrize("size", [0, 2, 5])
def test_a_vector_of_one_element_loses_its_labels_when_stretched(size):
    one = cv.ComponentVector(a=2.0)
    other = np.arange(float(size))
    for result in (
        np.where(other > 1.0, one, other),
        np.clip(one, other, None),
        np.isclose(other, one),
    ):
        assert type(result) is np.ndarray
        assert result.shape == (size,)


def test_nan_to_num_in_place_gives_the_same_object():
    v = vector()
    v.b[0] = np.nan
    assert np.nan_to_num(v, copy=False) is v
    assert v.b[0] == 0.0


def test_lists_of_vectors_are_read_at_any_depth():
    v = vector()
    assert np.concatenate([v, (v)]).shape == (14,)
    assert np.block([[v], [v]]).tolist() == [v.tolist(), v.tolist()]
    assert np.lexsort([v, v]).tolist() == list(range(7))
    assert [x.tolist() for x in np.broadcast_arrays(v, [[1.0]])] == [[v.tolist()], [[1.0] * 7]]


def test_several_results_are_plain_or_the_arguments_themselves():
    v = vector()
    assert np.atleast_1d(v, 3.0)[0] is v
    values, counts = np.unique(v, return_counts=True)
    assert type(values) is type(counts) is np.ndarray
    assert type(np.nonzero(v)[0]) is np.ndarray


def test_functions_on_groups_keep_the_groups_labels():
    v = vector()
    assert np.clip(v.c, 0.0, 1.0).axis is v.c.axis
    assert np.zeros_like(v.c).axis is v.c.axis


def test_in_place_functions_write_the_vector():
    v = vector()
    leaf = v.c.d
    np.copyto(v, 0.0, where=np.asarray(v) > 5.0)
    np.put(v, [3], -1.0)
    np.place(v, v == 1.0, [9.0])
    np.putmask(v, v == 2.0, -v)
    assert v.tolist() == [9.0, -2.0, 3.0, -1.0, 5.0, 0.0, 0.0]
    assert leaf.tolist() == [[-1.0, 5.0], [0.0, 0.0]]


def test_saving_writes_a_plain_array(tmp_path):
    np.save(tmp_path / "v.npy", vector())
    np.savez(tmp_path / "v.npz", v=vector())
    assert type(np.load(tmp_path / "v.npy")) is np.ndarray
    assert np.load(tmp_path / "v.npz")["v"].tolist() == vector().tolist()


def test_another_library_gets_its_say():
    class Duck:
        def __array_function__(self, func, types, args, kwargs):
            return type(args[0][0])

    assert np.concatenate([vector(), Duck()]) in (np.ndarray, cv.ComponentVector)
