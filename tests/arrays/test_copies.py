import copy
import pickle
import sys

import numpy as np
import pytest

import componentvec as cv

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def repickled(vector, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(vector, protocol))


COPIES = {
    "method": lambda v: v.copy(),
    "method in Fortran order": lambda v: v.copy("F"),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "deepcopy inside a list": lambda v: copy.deepcopy([v])[0],
    "numpy": lambda v: np.copy(v, subok=True),
    "constructor": cv.ComponentVector,
    "plus": lambda v: +v,
    **{f"pickle {p}": lambda v, p=p: repickled(v, p) for p in PROTOCOLS},
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_has_the_same_labels_and_values_and_memory_of_its_own(v, make):
    copied = make(v)
    assert type(copied) is cv.ComponentVector
    assert copied.axis is v.axis
    assert type(copied.base) is np.ndarray
    assert copied.tolist() == v.tolist()
    copied.net.weight = 0.0
    copied.rate = 0.0
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert copied.tolist() == [0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 8.0]


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_keeps_ties(tied, make):
    copied = make(tied)
    assert copied.axis is tied.axis
    copied.decoder.weight[2, 0] = -1.0
    assert copied.encoder.weight[0, 2] == -1.0
    assert tied.encoder.weight[0, 2] == 2.0


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_of_a_strided_read_only_vector_is_contiguous_and_writable(v, make):
    column = np.zeros((8, 3))
    column[:, 1] = v
    column.flags.writeable = False
    copied = make(cv.ComponentVector(column[:, 1], axis=v.axis))
    assert copied.flags.c_contiguous
    assert copied.flags.writeable
    copied.bias = 0.0
    assert copied.tolist() == [1.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_of_a_cached_vector_has_fresh_views(v, make):
    leaf, group = v.bias, v.net
    copied = make(v)
    copied.bias[0] = -1.0
    copied.net.scale = -2.0
    assert leaf[0] == 2.0
    assert group.scale == 8.0


@pytest.mark.parametrize("dtype", ["f2", ">f4", "c16", "?", "u1"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles_keep_the_dtype_as_those_of_plain_arrays_do(v, protocol, dtype):
    wrapped = cv.ComponentVector(np.asarray(v).astype(dtype), axis=v.axis)
    plain = pickle.loads(pickle.dumps(np.asarray(wrapped), protocol))  # old ones swap bytes
    assert repickled(wrapped, protocol).dtype == plain.dtype
    assert repickled(wrapped, protocol).tolist() == wrapped.tolist()


def test_plain_copies_are_plain(v):
    for copied in (np.copy(v), np.array(v), np.asarray(v), v.view(np.ndarray)):
        assert type(copied) is np.ndarray
        assert copied.tolist() == v.tolist()


def test_deepcopy_keeps_one_vector_one(v):
    first, second = copy.deepcopy([v, v])
    assert first is second
    assert first is not v


def test_an_empty_vector_is_copied():
    empty = cv.zeros(cv.Axis(a=0, g={}))
    for make in COPIES.values():
        assert make(empty).axis is empty.axis


def test_a_vector_without_an_axis_is_copied():
    bare = np.arange(6.0).view(cv.ComponentVector)
    for made in (copy.copy(bare), copy.deepcopy(bare), repickled(bare)):
        assert made.tolist() == bare.tolist()
        assert getattr(made, "axis", None) is None
        assert not np.shares_memory(made, bare)


def test_a_deep_tree_is_pickled():
    tree = {"leaf": np.ones(2)}
    for _ in range(500):
        tree = {"g": tree}
    deep = cv.ComponentVector(tree)
    for protocol in PROTOCOLS:
        assert repickled(deep, protocol).axis is deep.axis
    assert copy.deepcopy(deep).axis is deep.axis


# What a pickle costs -----------------------------------------------------------------------------


def test_a_pickle_is_about_as_long_as_the_buffer():
    v = cv.zeros(cv.Axis(a=50_000, b={"c": (100, 500)}))
    assert len(pickle.dumps(v, 5)) < v.nbytes + 1000
    assert len(pickle.dumps(v, 2)) < 2 * v.nbytes + 1000


def test_buffers_go_out_of_band_without_a_copy():
    v = cv.zeros(cv.Axis(a=50_000, b={"c": (100, 500)}))
    buffers = []
    text = pickle.dumps(v, 5, buffer_callback=buffers.append)
    assert len(text) < 1000
    assert [buffer.raw().nbytes for buffer in buffers] == [v.nbytes]
    again = pickle.loads(text, buffers=buffers)
    assert again.axis is v.axis
    assert np.shares_memory(again, v)


def test_an_out_of_band_vector_writes_the_receivers_buffer(v):
    buffers = []
    text = pickle.dumps(v, 5, buffer_callback=buffers.append)
    received = [bytearray(buffer.raw()) for buffer in buffers]
    again = pickle.loads(text, buffers=received)
    again.rate = -1.0
    assert np.frombuffer(received[0])[0] == -1.0
    assert v.rate == 1.0
    frozen = pickle.loads(text, buffers=[bytes(buffer.raw()) for buffer in buffers])
    assert not frozen.bias.flags.writeable


def test_a_group_is_pickled_without_the_rest():
    v = cv.zeros(cv.Axis(big=100_000, small={"a": 3}))
    text = pickle.dumps(v.small)
    assert len(text) < 1000
    assert pickle.loads(text).axis is v.small.axis


def test_views_that_were_handed_out_are_not_pickled(v):
    before = len(pickle.dumps(v))
    v.bias, v.net.weight, v["rate"]
    assert len(pickle.dumps(v)) == before


def test_a_copy_costs_its_buffer():
    v = cv.zeros(cv.Axis(a=1000))
    assert sys.getsizeof(v.copy()) < 500
    assert v.copy().base.nbytes == v.nbytes
