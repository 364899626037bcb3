import operator as op

import numpy as np
import pytest

import componentvec as cv

AXIS = cv.Axis(a=(), b=2, c={"d": (2, 2)})
OTHER = cv.Axis(a=(), b=2, c={"e": (2, 2)})
MISMATCH = r"the operands have different axes: .*`c\.d`.*np\.asarray\(w\)"

BINARY = {
    name: getattr(op, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"),
        *("lt", "le", "eq", "ne", "ge", "gt"),
        *("and_", "or_", "xor", "lshift", "rshift"),
    )
}
IN_PLACE = {
    name: getattr(op, name)
    for name in (
        *("iadd", "isub", "imul", "ifloordiv", "imod", "ipow"),
        *("iand", "ior", "ixor", "ilshift", "irshift"),
    )
}
UNARY = {name: getattr(op, name) for name in ("neg", "pos", "abs", "invert")}


def vector(axis=AXIS, start=1):
    """Integers, which every operator takes."""
    return cv.ComponentVector(np.arange(start, start + axis.size), axis=axis)


def check_labelled(result, expected, axis=AXIS):
    assert type(result) is cv.ComponentVector
    assert result.axis is axis
    assert type(result.base) is np.ndarray
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(result), expected)


OPERANDS = {
    "int": 3,
    "float": 2.5,
    "bool": True,
    "complex": 2j,
    "int scalar": np.int16(3),
    "float scalar": np.float32(2.5),
    "zero-dimensional": np.array(3),
    "plain": np.arange(2, 9),
    "list": list(range(2, 9)),
    "strided": np.arange(2, 16)[::2],
    "one element": np.array([3]),
    "vector": vector(start=2),
}


@pytest.mark.parametrize("operand", OPERANDS.values(), ids=OPERANDS)
@pytest.mark.parametrize("operate", BINARY.values(), ids=BINARY)
def test_an_operator_keeps_labels_on_both_sides(operate, operand):
    v = vector()
    for left, right in ((v, operand), (operand, v)):
        plain = [np.asarray(x) if isinstance(x, cv.Labelled) else x for x in (left, right)]
        try:
            expected = operate(*plain)
        except TypeError as error:
            with pytest.raises(type(error)):
                operate(left, right)
            continue
        check_labelled(operate(left, right), expected)


@pytest.mark.parametrize("operate", BINARY.values(), ids=BINARY)
def test_an_operator_refuses_another_axis(operate):
    with pytest.raises(cv.AxisMismatchError, match=MISMATCH):
        operate(vector(), vector(OTHER))


@pytest.mark.parametrize("operate", UNARY.values(), ids=UNARY)
def test_a_unary_operator_keeps_labels(operate):
    v = vector()
    check_labelled(operate(v), operate(np.asarray(v)))


@pytest.mark.parametrize(
    "operand", [3, np.int64(3), np.arange(2, 9), vector(start=2), np.array([3])], ids=repr
)
@pytest.mark.parametrize("operate", IN_PLACE.values(), ids=IN_PLACE)
def test_an_in_place_operator_writes_the_same_object(operate, operand):
    v = vector()
    plain = np.arange(1, 8)
    memory = np.asarray(v)
    leaf = v.c.d
    expected = operate(plain, np.asarray(operand))
    result = operate(v, operand)
    assert result is v
    assert v.axis is AXIS
    assert memory.tolist() == expected.tolist()
    assert leaf.ravel().tolist() == expected[3:].tolist()


@pytest.mark.parametrize("operate", [*IN_PLACE.values(), op.itruediv], ids=[*IN_PLACE, "itruediv"])
def test_an_in_place_operator_refuses_another_axis(operate):
    v = vector()
    with pytest.raises(cv.AxisMismatchError, match=MISMATCH):
        operate(v, vector(OTHER))
    assert v.tolist() == list(range(1, 8))


def test_in_place_division_of_floats():
    v = vector().astype(float)
    same = v
    v /= 2
    assert v is same
    assert v.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]


def test_in_place_arithmetic_does_not_change_kind():
    v = vector()
    with pytest.raises(TypeError, match="same_kind"):
        v += 0.5
    with pytest.raises(TypeError, match="same_kind"):
        v /= 2
    assert v.tolist() == list(range(1, 8))


def test_in_place_arithmetic_on_a_plain_array_takes_values():
    x = np.zeros(7)
    same = x
    x += vector()
    assert x is same
    assert type(x) is np.ndarray
    assert x.tolist() == list(range(1, 8))


def test_divmod_gives_two_labelled_vectors():
    v = vector()
    for left, right in ((v, 3), (20, v), (v, v)):
        plain = [np.asarray(x) for x in (left, right)]
        for got, expected in zip(divmod(left, right), divmod(*plain), strict=True):
            check_labelled(got, expected)


def test_operators_on_a_group_keep_the_groups_labels():
    v = vector()
    check_labelled(v.c * 2, np.arange(4, 8) * 2, v.c.axis)


def test_a_power_with_a_modulus_is_refused():
    with pytest.raises(TypeError):
        pow(vector(), 2, 3)


# Shapes ------------------------------------------------------------------------------------------

STRETCHING = {
    "row": (1, 7),
    "column": (7, 1),
    "square": (7, 7),
    "stack": (3, 1, 7),
    "one by one": (1, 1),
}


@pytest.mark.parametrize("shape", STRETCHING.values(), ids=STRETCHING)
@pytest.mark.parametrize("operate", BINARY.values(), ids=BINARY)
def test_a_result_of_more_dimensions_is_plain(operate, shape):
    v, stretching = vector(), np.full(shape, 2)
    for result in (operate(v, stretching), operate(stretching, v)):
        assert type(result) is np.ndarray
        assert result.shape == np.broadcast_shapes(shape, (7,))


@pytest.mark.parametrize("size", [0, 2, 5])
def test_a_vector_of_one_element_loses_its_labels_when_stretched(size):
    one = cv.ComponentVector(a=2)
    other = np.arange(size)
    for result in (one + other, other + one, one == other, one**other):
        assert type(result) is np.ndarray
        assert result.shape == (size,)


def test_a_vector_of_one_element_keeps_its_labels_beside_one_element():
    one = cv.ComponentVector(a=2)
    for other in (3, np.int8(3), np.array(3), np.array([3]), [3], one):
        check_labelled(one + other, np.array([2]) + np.asarray(other), one.axis)


def test_an_empty_vector_keeps_its_labels():
    empty = cv.zeros(cv.Axis(a=0, g={}))
    for result in (empty + 1.0, -empty, empty * empty, np.float64(1.0) - empty, empty > 0):
        assert result.axis is empty.axis
        assert result.shape == (0,)


def test_shapes_that_do_not_meet_raise_as_in_numpy():
    for operate in (lambda: vector() + np.arange(3), lambda: np.arange(3) + vector()):
        with pytest.raises(ValueError, match="could not be broadcast"):
            operate()
    v = vector()
    with pytest.raises(ValueError, match="broadcast"):
        v += np.ones((2, 7), int)
    assert v.tolist() == list(range(1, 8))


# Other kinds of operand --------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5,), (7, 7), (7, 1), (1, 7)], ids=str)
def test_a_vector_without_an_axis_stretches_like_a_plain_array(shape):
    v = vector() if 7 in shape else cv.ComponentVector(a=1)
    bare = np.ones(shape, int).view(cv.ComponentVector)
    for result in (v + bare, bare + v, v == bare, bare - v):
        assert type(result) is np.ndarray
        assert result.shape == np.broadcast_shapes(v.shape, shape)


def test_a_vector_without_an_axis_of_the_same_shape_is_a_plain_array():
    bare = np.arange(7).view(cv.ComponentVector)
    check_labelled(vector() + bare, np.arange(1, 8) + np.arange(7))
    check_labelled(bare + vector(), np.arange(1, 8) + np.arange(7))


def test_masked_arrays_keep_their_mask():
    masked = np.ma.array(np.arange(7), mask=[True] + [False] * 6)
    v = vector()
    for result, expected in (
        (v + masked, np.asarray(v) + masked),
        (masked + v, masked + np.asarray(v)),
        (v < masked, np.asarray(v) < masked),
        (np.add(masked, v), np.add(masked, np.asarray(v))),
    ):
        assert type(result) is np.ma.MaskedArray
        assert result.mask.tolist() == expected.mask.tolist()
        assert result.tolist() == expected.tolist()


def test_matrices_stay_matrices():
    row = np.arange(7).view(np.matrix)
    for result in (vector() + row, row + vector()):
        assert type(result) is np.matrix
        assert result.tolist() == [[1, 3, 5, 7, 9, 11, 13]]


def test_a_plain_subclass_gives_its_own_type_or_a_right_label():
    class Tagged(np.ndarray):
        pass

    tagged = np.arange(7).view(Tagged)
    for result in (vector() + tagged, tagged + vector()):
        assert type(result) is not np.ndarray
        assert getattr(result, "axis", AXIS) is AXIS
        assert result.tolist() == [1, 3, 5, 7, 9, 11, 13]


def test_the_vector_has_no_subclasses():
    with pytest.raises(TypeError, match="one class for all layouts; hold a vector instead"):
        type("Special", (cv.ComponentVector,), {})


def test_an_operand_that_wants_no_ufuncs_answers_itself():
    class Shy:
        __array_ufunc__ = None

        def __add__(self, other):
            return "left"

        def __radd__(self, other):
            return "right"

    assert vector() + Shy() == "right"
    assert Shy() + vector() == "left"


def test_operands_that_are_no_numbers_raise_as_in_numpy():
    for operate in (lambda: vector() + "x", lambda: vector() + None, lambda: {} + vector()):
        with pytest.raises(TypeError):
            operate()


def test_comparing_with_no_number_is_false_everywhere():
    assert (vector() == None).tolist() == [False] * 7  # noqa: E711
    assert (vector() != "x").tolist() == [True] * 7


def test_a_vector_is_not_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(vector())


# Products ----------------------------------------------------------------------------------------


def test_products_are_plain():
    v = vector().astype(float)
    x = np.asarray(v)
    matrix = np.arange(14.0).reshape(2, 7)
    assert type(v @ v) is np.float64
    assert v @ v == x @ x
    for result, expected in ((matrix @ v, matrix @ x), (v @ matrix.T, x @ matrix.T)):
        assert type(result) is np.ndarray
        assert result.tolist() == expected.tolist()


def test_a_square_product_has_no_labels():
    v = vector()
    result = np.eye(7, dtype=int)[::-1] @ v
    assert type(result) is np.ndarray
    assert result.tolist() == [7, 6, 5, 4, 3, 2, 1]


def test_equal_axes_that_were_built_apart_meet():
    one = cv.ComponentVector(a=1.0, b=[2.0])
    two = cv.ComponentVector({"a": 3.0, "b": np.array([4.0])})
    assert (one + two).axis == one.axis
    assert (one + two).tolist() == [4.0, 6.0]


def test_groups_tied_to_the_same_place_meet():
    w = np.ones(2)
    v = cv.ComponentVector(
        {"a": w, "b": {"w": w, "x": 1.0}, "c": {"w": w, "x": 2.0}}, sharing="alias"
    )
    assert (v.b + v.c).tolist() == [3.0]
    assert (v.b + v.c).axis == v.b.axis
