"""The law of labels: whenever a result has an axis, each component is that component's result.

Said without looking at how it is done: putting the components in another order beforehand must give
the same components. A result that was sorted, shifted or summed across components fails that.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import componentvec as cv

AXIS = cv.Axis(a=(), b=2, c={"d": (2, 2), "e": 3, "f": ()})
PATHS = list(AXIS.paths())

# Calls of every kind; `v` is labelled, or not. Whether one keeps labels is not said here.
CALLS = {
    "add number": lambda v: v + 1,
    "reflected": lambda v: 3.0 / (v + 100.0),
    "add itself": lambda v: v + v,
    "power": lambda v: v**2,
    "compare": lambda v: v > 0,
    "compare with sorted": lambda v: v > np.sort(v),
    "add shifted": lambda v: v + np.roll(v, 1),
    "add column": lambda v: v + np.ones((v.size, 1)),
    "add reversed": lambda v: v + v[::-1],
    "floor": lambda v: v // 2,
    "divmod": lambda v: divmod(v, 3)[1],
    "negative": lambda v: -v,
    "abs": abs,
    "matmul": lambda v: np.eye(v.size)[::-1] @ v,
    "rmatmul": lambda v: v @ np.eye(v.size)[::-1],
    "vector product": lambda v: v @ v,
    "exp": lambda v: np.exp(v / 100.0),
    "modf": lambda v: np.modf(v / 2.0)[0],
    "hypot": lambda v: np.hypot(v, 1.0),
    "maximum": lambda v: np.maximum(v, v.mean()),
    "out": lambda v: np.add(v, 1.0, out=np.zeros_like(v)),
    "where=": lambda v: np.negative(v, where=v > 0, out=v.copy()),
    "accumulate": np.add.accumulate,
    "reduceat": lambda v: np.add.reduceat(v, range(v.size)),
    "reduce keepdims": lambda v: np.add.reduce(v, keepdims=True),
    "outer diagonal": lambda v: np.multiply.outer(v, v)[0],
    "maximum so far": np.maximum.accumulate,
    "whole slice": lambda v: v[:],
    "ellipsis": lambda v: v[...],
    "all by bounds": lambda v: v[0 : v.size],
    "reversed": lambda v: v[::-1],
    "permuted": lambda v: v[[*range(1, v.size), 0]],
    "full mask": lambda v: v[np.ones(v.size, bool)],
    "negative steps": lambda v: v[-1::-1][::-1],
    "sort": np.sort,
    "sorted out": lambda v: np.sort(v)[np.argsort(np.argsort(v))],
    "argsort": np.argsort,
    "method argsort": lambda v: v.argsort(),
    "partition": lambda v: np.partition(v, 3),
    "flip": np.flip,
    "flipud": np.flipud,
    "roll": lambda v: np.roll(v, 1),
    "rot90": lambda v: np.rot90(v[None]),
    "cumsum": lambda v: v.cumsum(),
    "cumprod": np.cumprod,
    "gradient": np.gradient,
    "ediff1d": lambda v: np.ediff1d(v, to_begin=0.0),
    "take": lambda v: v.take(range(v.size)[::-1]),
    "choose": lambda v: np.choose(np.zeros(v.size, int), [v[::-1]]),
    "compress": lambda v: v.compress([True] * v.size),
    "repeat": lambda v: v.repeat(1),
    "tile": lambda v: np.tile(v, 1),
    "concatenate": lambda v: np.concatenate([v[4:], v[:4]]),
    "hstack": lambda v: np.hstack([v[1:], v[:1]]),
    "r_": lambda v: np.r_[v[1:], v[:1]],
    "convolve": lambda v: np.convolve(v, [0.0, 1.0], mode="same"),
    "correlate": lambda v: np.correlate(v, [0.0, 1.0, 0.0], mode="same"),
    "interp": lambda v: np.interp(v, np.sort(v), np.sort(v)[::-1]),
    "fft": lambda v: np.fft.ifft(np.fft.fft(v)),
    "solve": lambda v: np.linalg.solve(np.eye(v.size)[::-1], v),
    "where": lambda v: np.where(v > 0, v, 0.0),
    "where by position": lambda v: np.where(np.arange(v.size) > 4, v, 0.0)[::-1],
    "clip": lambda v: np.clip(v, -1, 1),
    "clip by sorted": lambda v: v.clip(np.sort(v)),
    "round": lambda v: (v / 3).round(1),
    "nan_to_num": lambda v: np.nan_to_num(v + np.nan),
    "real": lambda v: (v * 1j).real,
    "imag": lambda v: (v * (1 + 2j)).imag,
    "angle": lambda v: np.angle(v * 1j),
    "zeros_like": np.zeros_like,
    "full_like": lambda v: np.full_like(v, v.sum()),
    "full_like of reversed": lambda v: np.full_like(v, v[::-1]),
    "copy": lambda v: v.copy(),
    "astype": lambda v: v.astype(np.float32),
    "view": lambda v: v.view(),
    "transpose": lambda v: v.T,
    "ravel": lambda v: v.ravel(),
    "reshape": lambda v: v.reshape(-1, 1)[::-1].reshape(-1),
    "squeeze": lambda v: v.squeeze(),
    "swapaxes": lambda v: v.swapaxes(0, 0),
    "unique": lambda v: np.unique(v, return_inverse=True)[1],
    "einsum": lambda v: np.einsum("i,ij->j", v, np.eye(v.size)[::-1]),
    "apply_along_axis": lambda v: np.apply_along_axis(np.flip, 0, v),
    "vectorize": lambda v: np.vectorize(lambda x: x + 1)(v),
    "unwrap": np.unwrap,
    "put_along_axis": lambda v: np.put_along_axis(w := v.copy(), np.array([0]), 5.0, 0) or w,
    "broadcast": lambda v: np.broadcast_to(v, (1, v.size))[0],
    "swapped halves": lambda v: np.fft.fftshift(v),
    "atleast_1d": np.atleast_1d,
    "sum": np.sum,
    "norm": np.linalg.norm,
    "normalised": lambda v: v / np.linalg.norm(v + 1000.0),
    "softmax": lambda v: np.exp(v / 99.0) / np.exp(v / 99.0).sum(),
    "logaddexp": lambda v: np.logaddexp(v, v / 2),
    "heaviside": lambda v: np.heaviside(v, 0.5),
    "divided by position": lambda v: (v / np.arange(1, v.size + 1))[::-1],
}
# These depend on the position, and say so by asking for it: no permutation can commute with them.
BY_POSITION = {"add shifted", "add reversed", "compare with sorted", "clip by sorted"}
BY_POSITION |= {"full_like of reversed", "put_along_axis"}


def quietly(call, *args):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args)


def labelled_parts(result):
    """Everything in a result that has an axis."""
    if isinstance(result, (tuple, list)):
        return [part for item in result for part in labelled_parts(item)]
    return [result] if isinstance(result, cv.Labelled) and result.axis is not None else []


def same(one, two):
    np.testing.assert_allclose(one, two, rtol=1e-12, equal_nan=True)


values = st.lists(
    st.integers(-50, 50).map(float), min_size=AXIS.size, max_size=AXIS.size, unique=True
).map(np.array)


@pytest.mark.parametrize("name", CALLS)
@settings(deadline=None, max_examples=6)
@given(x=values, top=st.permutations("abc"), inner=st.permutations("def"))
def test_no_call_gives_a_wrong_label(name, x, top, inner):
    call = CALLS[name]
    v = cv.ComponentVector(x.copy(), axis=AXIS)
    order = [path for t in top for path in ([f"c.{i}" for i in inner] if t == "c" else [t])]
    permuted = v[order]
    result = quietly(call, v)
    plain = quietly(call, x.copy())
    assert np.shape(result) == np.shape(plain)
    same(np.asarray(result), plain)
    for part, moved in zip(
        labelled_parts(result), labelled_parts(quietly(call, permuted)), strict=True
    ):
        assert part.axis is AXIS
        assert moved.axis is permuted.axis
        for path in PATHS:
            same(part[path], np.asarray(plain)[AXIS.index(path).slice].reshape(np.shape(v[path])))
            if name not in BY_POSITION:
                same(part[path], moved[path])


def test_some_calls_keep_labels_and_some_drop_them():
    v = cv.ComponentVector(np.arange(1.0, AXIS.size + 1), axis=AXIS)
    kept = [name for name, call in CALLS.items() if labelled_parts(quietly(call, v))]
    assert len(CALLS) > 80
    assert 25 < len(kept) < 60


# Every function that NumPy dispatches ------------------------------------------------------------

DISPATCHED = {
    f"{module.__name__}.{name}": function
    for module in (np, np.linalg, np.fft, np.strings, np.char)
    for name, function in vars(module).items()
    if hasattr(function, "_implementation") and not name.startswith(("save", "_"))
}
ARGUMENTS = {
    "v": lambda v: (v,),
    "v, v": lambda v: (v, v),
    "v, 1": lambda v: (v, 1),
    "[v]": lambda v: ([v],),
    "v, v, v": lambda v: (v, v, v),
    "mask, v, v": lambda v: (v > 3, v, v),
    "matrix, v": lambda v: (np.eye(v.size)[::-1], v),
}


@pytest.mark.parametrize("name", DISPATCHED)
def test_no_function_of_numpy_gives_a_wrong_label(name):
    x = [4.0, -1.0, 7.0, 2.0, 9.0, -3.0, 5.0, 1.0, 8.0, 6.0, 3.0]
    v = cv.ComponentVector(x, axis=AXIS)
    permuted = v[["c.f", "c.e", "c.d", "b", "a"]]
    for arguments in ARGUMENTS.values():
        try:
            given_now = arguments(v.copy())
            result = quietly(DISPATCHED[name], *given_now)
            moved = quietly(DISPATCHED[name], *arguments(permuted.copy()))
        except Exception:  # not a call that this function takes
            continue
        for one, two in zip(labelled_parts(result), labelled_parts(moved), strict=True):
            assert one.axis is AXIS
            written_into = any(one is argument for argument in given_now)  # out=, by position
            if name != "numpy.empty_like" and not written_into:
                for path in PATHS:
                    same(one[path], two[path])


def test_numpy_dispatches_many_functions():
    assert len(DISPATCHED) > 250
