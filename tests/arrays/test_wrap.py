import numpy as np
import pytest

import componentvec as cv

AXIS = cv.Axis(a=(), b=(2, 3))


def test_wrapping_copies_nothing():
    x = np.arange(7.0)
    v = cv.ComponentVector(x, axis=AXIS)
    assert v.axis is AXIS
    assert np.shares_memory(v, x)
    v.b[1, 2] = 60.0
    x[0] = -1.0
    assert x[6] == 60.0
    assert v.a == -1.0


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_a_wrapped_array_may_get_another_shape_later():
    x = np.arange(7.0)
    v = cv.ComponentVector(x, axis=AXIS)
    x.shape = (7, 1)
    assert v.shape == (7,)
    assert v.b.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert np.shares_memory(v, x)


@pytest.mark.parametrize(
    "column",
    [
        np.arange(21.0).reshape(7, 3)[:, 1],
        np.arange(7.0)[::-1],
        np.asfortranarray(np.arange(21.0).reshape(7, 3))[:, 2],
        np.repeat(np.arange(7.0), 2)[::2],
    ],
    ids=["column", "reversed", "Fortran column", "every other"],
)
def test_a_strided_array_is_viewed_in_place(column):
    v = cv.ComponentVector(column, axis=AXIS)
    assert v.strides == column.strides
    np.testing.assert_array_equal(v.b, column[1:].reshape(2, 3))
    assert np.shares_memory(v.b, column)
    v.b = 5.0
    v.a += 1.0
    assert column[1:].tolist() == [5.0] * 6
    assert column[0] == v.a


def test_a_strided_vector_has_views_of_groups_and_ties(tied):
    memory = np.zeros((tied.size, 2))
    v = cv.ComponentVector(memory[:, 1], axis=tied.axis)
    v[:] = tied
    assert v.decoder.weight.tolist() == tied.decoder.weight.tolist()
    v.decoder.weight[2, 0] = -1.0
    assert memory[2, 1] == -1.0
    assert memory[:, 0].tolist() == [0.0] * tied.size


def test_a_read_only_array_stays_read_only():
    x = np.arange(7.0)
    x.flags.writeable = False
    v = cv.ComponentVector(x, axis=AXIS)
    assert not v.b.flags.writeable
    for write in (
        lambda: v.b.__setitem__(0, 1.0),
        lambda: setattr(v, "a", 1.0),
        lambda: v.__setitem__(slice(None), 1.0),
        lambda: v.__setitem__(slice(None), {"a": 1.0}),
        lambda: v.__iadd__(1.0),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert x.tolist() == list(range(7))


def test_byte_order_is_kept():
    x = np.arange(7, dtype=">f4")
    v = cv.ComponentVector(x, axis=AXIS)
    assert v.dtype == np.dtype(">f4")
    assert v.b[1, 2] == 6.0
    v.a = 9.0
    assert x[0] == 9.0


@pytest.mark.parametrize("flat", [list(range(7)), tuple(range(7)), memoryview(bytes(range(7)))])
def test_what_numpy_reads_as_an_array_is_taken(flat):
    v = cv.ComponentVector(flat, axis=AXIS)
    assert v.tolist() == list(range(7))


def test_a_vector_can_be_labelled_anew():
    v = cv.ComponentVector(p=np.arange(7.0))
    again = cv.ComponentVector(v, axis=AXIS)
    assert again.axis is AXIS
    assert np.shares_memory(again, v)
    assert type(again.base) is np.ndarray


def test_another_subclass_is_labelled_as_a_plain_array(tmp_path):
    x = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(7,))
    v = cv.ComponentVector(x, axis=AXIS)
    v.a = 3.0
    assert x[0] == 3.0
    assert type(v.b) is np.ndarray


def test_dtype_casts_where_it_must():
    x = np.arange(7.0)
    same = cv.ComponentVector(x, axis=AXIS, dtype=float)
    other = cv.ComponentVector(x, axis=AXIS, dtype=np.float32)
    assert np.shares_memory(same, x)
    assert other.dtype == np.float32
    assert other.tolist() == x.tolist()


def test_dtype_that_loses_kind_is_refused():
    with pytest.raises(TypeError, match=r"float64.*int64"):
        cv.ComponentVector(np.arange(7.0), axis=AXIS, dtype=int)


@pytest.mark.parametrize("shape", [(), (6,), (8,), (7, 1), (1, 7), (0,)], ids=str)
def test_a_wrong_shape_is_refused(shape):
    with pytest.raises(cv.LengthError) as error:
        cv.ComponentVector(np.zeros(shape), axis=AXIS)
    assert str(error.value) == f"the axis has 7 elements, but the array has shape {shape}"


@pytest.mark.parametrize("dtype", [object, "U3", "M8[s]", [("x", float)]], ids=str)
def test_an_array_of_no_numbers_is_refused(dtype):
    with pytest.raises(cv.PromotionError, match="a vector holds numbers only"):
        cv.ComponentVector(np.zeros(7, dtype), axis=AXIS)


def test_a_masked_array_is_refused():
    with pytest.raises(cv.PromotionError, match="the array is masked, and a vector has no place"):
        cv.ComponentVector(np.ma.array(np.ones(7), mask=True), axis=AXIS)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cv.ComponentVector(axis=AXIS),
        lambda: cv.ComponentVector(np.zeros(7), axis=AXIS, extra=1.0),
        lambda: cv.ComponentVector(axis=AXIS, a=1.0, b=np.zeros((2, 3))),
    ],
    ids=["no array", "array and keyword", "keywords"],
)
def test_an_axis_labels_one_flat_array(call):
    with pytest.raises(cv.LabelError, match="axis= labels one flat array"):
        call()


def test_an_axis_that_is_none_is_refused_by_what_it_is():
    v = cv.zeros(AXIS)
    with pytest.raises(cv.LabelError, match=r"axis= takes an Axis, not int$"):
        cv.ComponentVector(np.zeros(7), axis=7)
    with pytest.raises(cv.LabelError, match=r"not ComponentVector; its axis is v\.axis"):
        cv.ComponentVector(np.zeros(7), axis=v)


def test_full_loses_nothing_in_silence():
    axis = cv.Axis(a=2)
    for value, dtype in ((1j, float), (0.5, int)):
        with pytest.raises(cv.PromotionError, match="which does not go into dtype="):
            cv.full(axis, value, dtype)
    assert cv.full(axis, 1, "f4").dtype == np.float32


@pytest.mark.parametrize("make", [cv.zeros, lambda axis: cv.full(axis, 1.0)], ids=["zeros", "full"])
@pytest.mark.parametrize("wrong", [{"a": 1}, 3, None], ids=repr)
def test_what_is_not_an_axis_is_refused(make, wrong):
    with pytest.raises(cv.LabelError, match=f"takes an Axis, not {type(wrong).__name__}"):
        make(wrong)
