import numpy as np
import pytest

import componentvec as cv

AXIS = cv.Axis(a=(), b=2, c={"d": (2, 2)})
OTHER = cv.Axis(a=(), b=2, c={"e": (2, 2)})


def vector(axis=AXIS):
    """Numbers out of order, so that moving them shows."""
    values = np.array([3.0, 1.0, 7.0, 2.0, 6.0, 4.0, 5.0])
    return cv.ComponentVector(values, axis=axis)


KEEPS = {
    "astype": lambda v: v.astype(int),
    "astype without copy": lambda v: v.astype(float, copy=False),
    "clip": lambda v: v.clip(2.0, 5.0),
    "clip by a plain array": lambda v: v.clip(np.arange(7.0)),
    "clip by a vector": lambda v: v.clip(max=v - 1.0),
    "conj": lambda v: v.conj(),
    "conjugate": lambda v: (v * 1j).conjugate(),
    "copy": lambda v: v.copy(),
    "imag": lambda v: (v * 1j).imag,
    "real": lambda v: (v * 1j).real,
    "round": lambda v: (v / 3.0).round(1),
    "T": lambda v: v.T,
    "transpose": lambda v: v.transpose(),
    "transpose by numbers": lambda v: v.transpose(0),
    "transpose by a tuple": lambda v: v.transpose((0,)),
    "view": lambda v: v.view(),
    "to_device": lambda v: v.to_device("cpu"),
}

PLAIN = {
    "all": lambda v: v.all(keepdims=True),
    "any": lambda v: v.any(keepdims=True),
    "argmax": lambda v: v.argmax(keepdims=True),
    "argmin": lambda v: v.argmin(keepdims=True),
    "argpartition": lambda v: v.argpartition(2),
    "argsort": lambda v: v.argsort(),
    "astype to the base class": lambda v: v.astype(float, subok=False),
    "byteswap": lambda v: v.byteswap().byteswap(),
    "choose": lambda v: (v > 3.0).astype(int).choose([v, -v]),
    "clip to another shape": lambda v: v.clip(np.zeros((2, 1))),
    "compress": lambda v: v.compress([True] * 7),
    "cumprod": lambda v: v.cumprod(),
    "cumsum": lambda v: v.cumsum(),
    "diagonal": lambda v: v.reshape(7, 1).diagonal(),
    "dot": lambda v: v.dot(np.eye(7)[::-1]),
    "flatten": lambda v: v.flatten(),
    "flat": lambda v: v.flat[::-1].view(np.ndarray),
    "getfield": lambda v: v.getfield(float),
    "max": lambda v: v.max(keepdims=True),
    "mean": lambda v: v.mean(keepdims=True),
    "min": lambda v: v.min(keepdims=True),
    "nonzero": lambda v: v.nonzero()[0],
    "prod": lambda v: v.prod(keepdims=True),
    "ravel": lambda v: v.ravel(),
    "ravel by memory": lambda v: v.ravel("K"),
    "repeat": lambda v: v.repeat(1),
    "reshape": lambda v: v.reshape(7, 1),
    "reshape to the same": lambda v: v.reshape(-1),
    "searchsorted": lambda v: v.searchsorted([1.0]),
    "squeeze": lambda v: v.squeeze(),
    "std": lambda v: v.std(keepdims=True),
    "sum": lambda v: v.sum(keepdims=True),
    "swapaxes": lambda v: v.swapaxes(0, 0),
    "take": lambda v: v.take(range(7)),
    "trace": lambda v: v.reshape(7, 1).trace(),
    "var": lambda v: v.var(keepdims=True),
    "view as plain": lambda v: v.view(np.ndarray),
    "view as another dtype": lambda v: v.view(np.int64).view(np.ndarray),
    "__array__": lambda v: v.__array__(),
}

REFUSED = {
    "partition": lambda v: v.partition(2),
    "resize": lambda v: v.resize(7),
    "sort": lambda v: v.sort(),
}

# Attributes and methods that answer with no array, or that write into the vector and return None.
NO_ARRAY = {
    *("base", "ctypes", "data", "device", "dtype", "flags", "itemsize", "nbytes", "ndim", "shape"),
    *("size", "strides", "dump", "dumps", "item", "tobytes", "tofile", "tolist"),
    *("fill", "put", "setfield", "setflags"),
    "mT",  # needs two dimensions
    *("tostring", "itemset", "newbyteorder", "ptp"),  # gone from later versions of NumPy
}


@pytest.mark.parametrize("call", KEEPS.values(), ids=KEEPS)
def test_elementwise_methods_keep_labels(call):
    result, expected = call(vector()), call(np.asarray(vector()))
    assert type(result) is cv.ComponentVector
    assert result.axis is AXIS
    assert type(result.base) is np.ndarray
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("call", PLAIN.values(), ids=PLAIN)
def test_other_methods_give_what_a_plain_array_gives(call):
    result, expected = call(vector()), call(np.asarray(vector()))
    assert type(result) is type(expected)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("name", "call"), REFUSED.items(), ids=REFUSED)
def test_methods_that_move_values_in_place_are_refused(name, call):
    v = vector()
    with pytest.raises(cv.LabelError) as error:
        call(v)
    assert str(error.value) == (
        f"v.{name}() would move values under other names; work on a plain copy, as in `np.array(v)`"
    )
    assert v.tolist() == vector().tolist()


def test_every_public_name_of_an_array_is_in_one_of_these_tables():
    tried = {name.split(" ")[0] for name in (*KEEPS, *PLAIN)} | set(REFUSED) | NO_ARRAY
    public = {name for name in dir(np.ndarray) if not name.startswith("_")}
    assert public - tried == set()
    assert set(REFUSED).isdisjoint(set(KEEPS) | set(PLAIN))


@pytest.mark.parametrize(
    "name", sorted(set(dir(np.ndarray)) - NO_ARRAY - set(REFUSED) - {"__class__"})
)
def test_no_call_without_arguments_gives_a_wrong_label(name):
    member = getattr(vector(), name, None)
    try:
        result = member() if callable(member) else member
    except (TypeError, ValueError):
        result = None
    assert getattr(result, "axis", None) is None or result.axis is AXIS
    assert getattr(result, "axis", None) is None or result.shape == (7,)


# out= --------------------------------------------------------------------------------------------

OUT = {
    "round": lambda v, out: v.round(0, out),
    "round by keyword": lambda v, out: v.round(out=out),
    "clip": lambda v, out: v.clip(2.0, 5.0, out),
    "clip by keyword": lambda v, out: v.clip(2.0, 5.0, out=out),
    "conj": lambda v, out: v.conj(out),
    "cumsum": lambda v, out: v.cumsum(0, None, out),
    "cumsum by keyword": lambda v, out: v.cumsum(out=out),
    "cumprod": lambda v, out: v.cumprod(0, None, out),
    "take": lambda v, out: v.take(range(7), None, out),
    "compress": lambda v, out: v.compress([True] * 7, None, out),
    "dot": lambda v, out: v.dot(np.eye(7), out),
    "dot by keyword": lambda v, out: v.dot(np.eye(7), out=out),
    "choose": lambda v, out: (v > 3.0).astype(int).choose([v, v], out=out),
}


@pytest.mark.parametrize("out", [cv.zeros(AXIS), np.zeros(7)], ids=["labelled", "plain"])
@pytest.mark.parametrize("call", OUT.values(), ids=OUT)
def test_out_is_what_comes_back(call, out):
    out[:] = 0.0
    assert call(vector(), out) is out
    np.testing.assert_array_equal(out, call(np.asarray(vector()), np.zeros(7)))


def test_a_reduction_into_an_array_gives_that_array():
    for call in (
        lambda v, out: v.sum(out=out),
        lambda v, out: v.sum(None, None, out),
        lambda v, out: v.mean(None, None, out),
        lambda v, out: v.max(None, out),
    ):
        out = np.zeros(())
        assert call(vector(), out) is out
        assert out == call(np.asarray(vector()), np.zeros(()))


TWO = {
    "clip": lambda v, w: v.clip(w, None),
    "clip by keyword": lambda v, w: v.clip(max=w),
    "clip out": lambda v, w: v.clip(0.0, 1.0, out=w),
    "clip positional out": lambda v, w: v.clip(0.0, 1.0, w),
    "round out": lambda v, w: v.round(out=w),
    "round positional out": lambda v, w: v.round(0, w),
}


@pytest.mark.parametrize("call", TWO.values(), ids=TWO)
def test_elementwise_methods_refuse_another_axis(call):
    v, w = vector(), vector(OTHER)
    with pytest.raises(cv.AxisMismatchError, match=r"`c\.d`"):
        call(v, w)
    assert w.tolist() == v.tolist() == vector().tolist()


# Others ------------------------------------------------------------------------------------------


def test_reductions_are_scalars():
    v = vector()
    for name in ("sum", "mean", "max", "min", "std", "prod", "argmax", "argmin"):
        result = getattr(v, name)()
        assert isinstance(result, np.generic)
        assert result == getattr(np.asarray(v), name)()


def test_a_vector_of_one_element_is_a_number():
    one = cv.ComponentVector(a=2.0)
    assert one.item() == 2.0
    assert bool(one)
    assert one.squeeze().shape == ()


def test_views_of_methods_look_at_the_same_memory():
    v = vector()
    for view in (v.T, v.view(), v.real, v.ravel(), v.reshape(7, 1), v.squeeze(), v[:]):
        assert np.shares_memory(v, view)
    for copied in (v.copy(), v.flatten(), v.astype(float), v.clip(0.0, 9.0)):
        assert not np.shares_memory(v, copied)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_reshaping_a_plain_view_in_place_does_not_reach_the_vector():
    v = vector()
    for plain in (v.ravel(), v.reshape(7), v.squeeze(), v.swapaxes(0, 0), np.asarray(v)):
        plain.shape = (7, 1)
        assert v.c.d.shape == (2, 2)
        assert v.copy().c.d.tolist() == [[2.0, 6.0], [4.0, 5.0]]


def test_methods_that_write_values_write_the_vector():
    v = vector()
    leaf = v.c.d
    v.put([3], -2.0)
    assert leaf[0, 0] == -2.0
    v.setfield(9.0, float)
    assert leaf[0, 0] == 9.0
    v.fill(0.5)
    assert leaf.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    v.flat = range(7)
    v.flat[3] = -3.0
    assert leaf.tolist() == [[-3.0, 4.0], [5.0, 6.0]]


def test_swapping_bytes_in_place_gives_the_values_back_swapped():
    v = vector()
    v.byteswap(inplace=True)
    assert v.c.d[0, 0] == np.array([2.0]).byteswap()[0]


def test_sorting_a_plain_copy_is_the_way_out():
    v = vector()
    x = np.array(v)
    x.sort()
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert v.tolist() == vector().tolist()


def test_files_hold_plain_values(tmp_path):
    v = vector()
    v.tofile(tmp_path / "v")
    assert np.fromfile(tmp_path / "v").tolist() == v.tolist()
    assert v.tobytes() == np.asarray(v).tobytes()


def test_methods_have_ndarrays_names_and_help():
    assert cv.ComponentVector.clip.__name__ == "clip"
    assert cv.ComponentVector.clip.__doc__ == np.ndarray.clip.__doc__
