import numpy as np
import pytest

import componentvec as cv

AXIS = cv.Axis(a=(), b=2, c={"d": (2, 2)})
OTHER = cv.Axis(a=(), b=2, c={"e": (2, 2)})
MISMATCH = r"the operands have different axes: .*`c\.d`.*np\.asarray\(w\)"


def vector(axis=AXIS, start=1.0):
    return cv.ComponentVector(np.arange(start, start + axis.size), axis=axis)


def check_labelled(result, expected, axis=AXIS):
    assert type(result) is cv.ComponentVector
    assert result.axis is axis
    assert type(result.base) is np.ndarray
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(result), expected)


ALL = sorted(
    {u for u in vars(np).values() if isinstance(u, np.ufunc) and u.signature is None},
    key=lambda u: u.__name__,
)
PRODUCTS = [u for u in vars(np).values() if isinstance(u, np.ufunc) and u.signature is not None]


def plain_answer(ufunc, operands):
    """What NumPy gives on plain arrays; None where the ufunc does not take these dtypes."""
    try:
        with np.errstate(all="ignore"):
            return ufunc(*operands)
    except TypeError:
        return None


@pytest.mark.parametrize("dtype", [float, int, complex, bool], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("ufunc", ALL, ids=lambda ufunc: ufunc.__name__)
def test_every_elementwise_ufunc_keeps_labels_of_every_output(ufunc, dtype):
    v = vector().astype(dtype)
    expected = plain_answer(ufunc, [np.asarray(v)] * ufunc.nin)
    if expected is None:
        with pytest.raises(TypeError):
            ufunc(*[v] * ufunc.nin)
        return
    with np.errstate(all="ignore"):
        result = ufunc(*[v] * ufunc.nin)
    results = result if ufunc.nout > 1 else (result,)
    for got, wanted in zip(results, expected if ufunc.nout > 1 else (expected,), strict=True):
        check_labelled(got, wanted)


def test_there_are_many_ufuncs():
    assert len(ALL) > 80
    assert PRODUCTS


@pytest.mark.parametrize("ufunc", ALL, ids=lambda ufunc: ufunc.__name__)
def test_every_elementwise_ufunc_of_two_refuses_another_axis(ufunc):
    if ufunc.nin == 2:
        with pytest.raises(cv.AxisMismatchError, match=MISMATCH):
            ufunc(vector(), vector(OTHER))


@pytest.mark.parametrize("ufunc", PRODUCTS, ids=lambda ufunc: ufunc.__name__)
def test_a_generalised_ufunc_gives_plain_results(ufunc):
    v = vector()
    operands = {
        "matvec": (np.eye(7), v),
        "vecmat": (v, np.eye(7)),
    }.get(ufunc.__name__, (v, v))
    result = ufunc(*operands)
    assert not isinstance(result, cv.Labelled)
    np.testing.assert_array_equal(result, ufunc(*map(np.asarray, operands)))


def test_a_user_made_ufunc_keeps_labels():
    describe = np.frompyfunc(lambda x: None if x > 3 else "few", 1, 1)
    result = describe(vector())
    assert result.axis is AXIS
    assert result.dtype == object
    assert result.tolist() == ["few"] * 3 + [None] * 4
    assert "few" in repr(result)


def test_a_user_made_ufunc_of_no_outputs_or_many_keeps_labels():
    split = np.frompyfunc(lambda x, y, z: (x, y + z), 3, 2)
    first, second = split(vector(), 1, vector())
    assert first.axis is second.axis is AXIS
    assert second.tolist() == [x + 1 for x in range(1, 8)]


# out= --------------------------------------------------------------------------------------------


def test_out_is_what_comes_back():
    v = vector()
    for out in (
        cv.zeros(AXIS),
        np.zeros(7),
        np.zeros(14)[::2],
        np.zeros(7).view(cv.ComponentVector),
    ):
        for call in (
            lambda out: np.multiply(v, 2.0, out=out),
            lambda out: np.multiply(v, 2.0, out),
            lambda out: np.multiply(v, 2.0, out=(out,)),
            lambda out: np.multiply(np.asarray(v), 2.0, out=out),
        ):
            out[:] = 0.0
            assert call(out) is out
            assert out.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]


def test_out_of_a_unary_ufunc_is_what_comes_back():
    v, out = vector(), cv.zeros(AXIS)
    assert np.negative(v, out) is out
    assert np.negative(np.asarray(v), out=out) is out
    assert np.negative(v, out=v) is v
    assert v.tolist() == out.tolist()


def test_out_of_another_axis_is_refused_before_anything_is_written():
    out = cv.zeros(OTHER)
    for call in (
        lambda: np.add(vector(), 1.0, out=out),
        lambda: np.negative(vector(), out=out),
        lambda: np.negative(vector(), out),
        lambda: np.modf(vector(), out=(None, out)),
    ):
        with pytest.raises(cv.AxisMismatchError, match=MISMATCH):
            call()
    assert out.tolist() == [0.0] * 7


def test_out_of_a_wider_shape_takes_rows():
    out = np.zeros((2, 7))
    assert np.add(vector(), 1.0, out=out) is out
    assert out.tolist() == [[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]] * 2


def test_several_outputs_may_be_given_in_part():
    v, whole = vector() / 2, np.zeros(7)
    fraction, same = np.modf(v, out=(None, whole))
    assert same is whole
    check_labelled(fraction, np.modf(np.asarray(v))[0])
    mine = cv.zeros(AXIS)
    first, second = np.modf(v, mine)
    assert first is mine
    check_labelled(second, whole)


# where=, dtype=, casting= ------------------------------------------------------------------------


@pytest.mark.parametrize("label", [np.asarray, lambda mask: mask], ids=["plain", "labelled"])
def test_where_leaves_the_rest_alone(label):
    v = vector()
    result = np.negative(v, where=label(v > 4.0), out=v.copy())
    check_labelled(result, np.array([1.0, 2.0, 3.0, 4.0, -5.0, -6.0, -7.0]))


def test_where_of_another_axis_is_refused():
    with pytest.raises(cv.AxisMismatchError, match=MISMATCH):
        np.negative(vector(), where=vector(OTHER) > 4.0, out=np.zeros(7))


def test_dtype_and_casting_are_handed_on():
    v = vector()
    check_labelled(np.add(v, 1, dtype=np.float32), np.arange(2, 9, dtype=np.float32))
    with pytest.raises(TypeError, match="same_kind"):
        np.add(v, 1.5, dtype=int)
    check_labelled(np.add(v, 1.5, dtype=int, casting="unsafe"), np.arange(2, 9))


def test_subok_does_not_matter_for_labels():
    assert np.add(vector(), 1.0, subok=False).tolist() == list(range(2, 9))


# Methods of ufuncs -------------------------------------------------------------------------------

METHODS = {
    "reduce": lambda v: np.add.reduce(v),
    "reduce keepdims": lambda v: np.add.reduce(v, keepdims=True),
    "reduce where": lambda v: np.add.reduce(v, where=np.arange(7) > 3),
    "accumulate": lambda v: np.add.accumulate(v),
    "reduceat": lambda v: np.add.reduceat(v, [0, 2, 4]),
    "reduceat everywhere": lambda v: np.add.reduceat(v, range(7)),
    "outer": lambda v: np.multiply.outer(v, v),
    "outer scalar": lambda v: np.multiply.outer(v, 2.0),
    "cumulative maximum": lambda v: np.maximum.accumulate(v[::-1]),
    "reduce of rows": lambda v: np.add.reduce(np.stack([v, v])),
}


@pytest.mark.parametrize("call", METHODS.values(), ids=METHODS)
def test_methods_that_mix_elements_are_plain(call):
    v = vector()
    result = call(v)
    assert not isinstance(result, cv.Labelled)
    np.testing.assert_array_equal(result, call(np.asarray(v)))


def test_outer_of_two_axes_is_allowed():
    assert np.multiply.outer(vector(), vector(OTHER)).shape == (7, 7)


def test_reducing_into_a_vector_gives_that_vector():
    out = cv.zeros(AXIS)
    assert np.add.reduce(np.ones((3, 7)), axis=0, out=out) is out
    assert out.tolist() == [3.0] * 7


def test_accumulating_into_a_vector_gives_that_vector():
    v = vector()
    assert np.add.accumulate(v, out=v) is v
    assert v.tolist() == [1.0, 3.0, 6.0, 10.0, 15.0, 21.0, 28.0]


def test_at_writes_in_place():
    v = vector()
    leaf = v.c.d
    assert np.add.at(v, [3, 3, 0], 10.0) is None
    assert leaf[0, 0] == 24.0
    assert v.a == 11.0
    x = np.zeros(8)
    np.add.at(x, vector().astype(int), vector())
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_a_product_into_a_vector_gives_that_vector():
    out = cv.zeros(AXIS)
    assert np.matmul(np.eye(7)[::-1], vector(), out=out) is out
    assert out.tolist() == [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]


def test_stretching_gives_plain_results():
    one = cv.ComponentVector(a=2.0)
    for result in (
        np.add(vector(), np.ones((7, 1))),
        np.add(one, np.ones(3)),
        np.exp(one + np.arange(2)),
    ):
        assert type(result) is np.ndarray


def test_other_array_likes_get_their_say():
    class Duck(np.lib.mixins.NDArrayOperatorsMixin):
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return [type(x) for x in inputs]

    assert np.add(vector(), Duck()) == [np.ndarray, Duck]
    assert vector() + Duck() == [np.ndarray, Duck]
