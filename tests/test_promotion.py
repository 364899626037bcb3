import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import componentvec as cv

DTYPES = ["?", "i1", "u1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16"]


def dtype_of(promotion="reject", dtype=None, **components):
    return cv.ComponentVector(components, promotion=promotion, dtype=dtype).dtype


# One dtype ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_leaves_of_one_dtype_keep_it(dtype):
    components = {
        "a": np.ones(2, dtype),
        "b": {"c": np.ones((), dtype), "d": np.dtype(dtype).type(1)},
    }
    assert dtype_of(**components) == np.dtype(dtype)


def test_byte_order_is_no_other_dtype():
    made = cv.ComponentVector(a=np.array([1.0, 2.0], ">f4"), b=np.array([3.0], "<f4"))
    assert made.dtype == np.float32
    assert made.dtype.isnative
    assert made.tolist() == [1.0, 2.0, 3.0]


def test_empty_arrays_have_a_say():
    assert dtype_of(a=np.zeros(0, np.float32), b=1) == np.float32
    with pytest.raises(cv.PromotionError, match="float32: `a`; float64: `b`"):
        dtype_of(a=np.zeros(0, np.float32), b=np.ones(2))


def test_nothing_is_of_float64():
    assert dtype_of() == np.float64
    assert dtype_of(a={}, b=[]) == np.float64


# Several dtypes ----------------------------------------------------------------------------------


def test_several_dtypes_are_refused_with_the_leaves_of_each():
    with pytest.raises(cv.PromotionError) as error:
        cv.ComponentVector(
            a=np.zeros(2),
            g={"b": np.zeros(2, np.float32), "we.ird": np.float64(1.0)},
            n=np.int8(1),
        )
    assert str(error.value) == (
        "the leaves have 3 dtypes, and one buffer would change some of them: float64: `a`, "
        '`g["we.ird"]`; float32: `g.b`; int8: `n`; pass dtype= to choose one, '
        "promotion='allow' to promote, or use destructure_by_dtype for one vector each"
    )


def test_many_leaves_are_counted_and_not_all_listed():
    leaves = {f"x{place}": np.ones(1) for place in range(9)}
    with pytest.raises(cv.PromotionError, match=r"`x5` and 3 more; float32: `y`;"):
        cv.ComponentVector({**leaves, "y": np.ones(1, np.float32)})


@pytest.mark.parametrize("one", DTYPES)
def test_two_dtypes_are_promoted_only_when_allowed(one):
    for two in DTYPES:
        components = {"a": np.ones(2, one), "b": np.ones(2, two)}
        if one != two:
            with pytest.raises(cv.PromotionError, match="the leaves have 2 dtypes"):
                dtype_of(**components)
        assert dtype_of("allow", **components) == np.result_type(one, two)


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="promotion must be 'reject' or 'allow', not 'perhaps'"):
        dtype_of("perhaps", a=1.0)


# Python numbers are weak -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([True, False], np.bool_),
        ([True, 2], np.int64),
        ([1, [2, 3]], np.int64),
        ([1, 2.0], np.float64),
        ([[1.0], 2j], np.complex128),
        ([float("nan"), float("inf")], np.float64),
    ],
    ids=str,
)
def test_python_numbers_alone_have_numpys_dtype(numbers, expected):
    assert dtype_of(a=numbers[0], b=numbers[1]) == expected


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "c8", "c16"])
@pytest.mark.parametrize("weak", [True, 3, 0.5, [1, 2.5], [[True]]], ids=str)
def test_python_numbers_take_the_dtype_beside_them(dtype, weak):
    made = cv.ComponentVector(rate=weak, w=np.ones(2, dtype))
    assert made.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(made.rate, np.array(weak, dtype))


@pytest.mark.parametrize(
    ("weak", "dtype", "kind", "promoted"),
    [
        (0.5, "i8", "float", "float64"),
        (0.5, "?", "float", "float64"),
        (1j, "f4", "complex", "complex64"),
        (1j, "i2", "complex", "complex128"),
        (2, "?", "int", "int64"),
    ],
)
def test_python_numbers_of_a_higher_kind_are_a_promotion(weak, dtype, kind, promoted):
    components = {"first": True, "g": {"rate": [weak]}, "w": np.ones(2, dtype)}
    with pytest.raises(cv.PromotionError) as error:
        dtype_of(**components)
    assert str(error.value) == (
        f"`g.rate` is a Python {kind}, which {np.dtype(dtype)} leaves (`w`) cannot take without "
        f"becoming {promoted}; convert one side, or pass dtype= or promotion='allow'"
    )
    assert dtype_of("allow", **components) == np.dtype(promoted)


def test_numpy_scalars_are_strong():
    with pytest.raises(cv.PromotionError, match="float64: `rate`; float32: `w`"):
        dtype_of(rate=np.float64(0.1), w=np.ones(2, np.float32))
    with pytest.raises(cv.PromotionError, match=r"bool: `flag`; float32: `w`"):
        dtype_of(flag=np.bool_(True), w=np.ones(2, np.float32))


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.sampled_from(DTYPES), max_size=3),
    st.lists(st.sampled_from([True, 1, 1.0, 1j]), max_size=3),
)
def test_the_dtype_is_that_of_nep_50(strong, weak):
    leaves = {f"s{i}": np.ones(1, dtype) for i, dtype in enumerate(strong)}
    leaves |= {f"w{i}": value for i, value in enumerate(weak)}
    if strong:
        expected = np.result_type(*strong, *weak)
    else:
        expected = np.result_type(*map(type, weak)) if weak else np.dtype(float)
    assert dtype_of("allow", **leaves) == expected
    if {np.dtype(dtype) for dtype in strong} <= {expected}:
        assert dtype_of(**leaves) == expected
    else:
        with pytest.raises(cv.PromotionError):
            dtype_of(**leaves)


# Values that do not fit --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weak", "dtype"),
    [
        (1e300, "f4"),
        (1e5, "f2"),
        ([0.0, [1e300]][1], "f4"),
        (1e300j, "c8"),
        (300, "i1"),
        ([1, 2, 300], "i1"),
        (-1, "u1"),
        (2**63, "i8"),
        (-(2**63) - 1, "i8"),
        (2**64, "u8"),
        (10**400, "f8"),
        (10**40, "f4"),
    ],
    ids=lambda value: f"{value!r:.12}",
)
def test_a_number_that_the_dtype_cannot_hold_is_refused_by_its_path(weak, dtype):
    for components in ({"g": {"lr": weak}, "w": np.ones(2, dtype)}, {"g": {"lr": weak}}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(cv.PromotionError) as error:
                cv.ComponentVector(components, dtype=None if "w" in components else dtype)
        assert str(error.value).startswith(
            f"`g.lr` is {weak!r:.60}, which {np.dtype(dtype)} cannot"
        )


@pytest.mark.parametrize(
    ("weak", "dtype"),
    [
        (float("inf"), "f4"),
        (float("nan"), "f2"),
        (complex("inf+nanj"), "c8"),
        (-128, "i1"),
        (255, "u1"),
        (2**63 - 1, "i8"),
        (2**64 - 1, "u8"),
        (65504.0, "f2"),
        (10**30, "f4"),
        (1e-300, "f4"),
        (5e-324, "f8"),
    ],
    ids=str,
)
def test_a_number_at_the_edge_is_stored(weak, dtype):
    made = cv.ComponentVector(lr=weak, w=np.ones(2, dtype))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(made.lr, np.dtype(dtype).type(weak))


def test_python_integers_alone_beyond_int64_are_refused_and_dtype_is_the_way_out():
    with pytest.raises(cv.PromotionError, match="`a` is 9223372036854775808, which int64 cannot"):
        dtype_of(a=2**63)
    assert cv.ComponentVector(a=2**63, dtype=np.uint64).tolist() == [2**63]


@settings(deadline=None, max_examples=150)
@given(
    st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.complex_numbers()),
    st.sampled_from(["i1", "u1", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]),
)
def test_a_weak_number_is_stored_as_numpy_would_or_refused(value, dtype):
    with np.errstate(all="ignore"):
        try:
            expected = np.array(value, dtype)
        except (OverflowError, TypeError, ValueError):
            expected = None
    try:
        made = cv.ComponentVector(x=value, w=np.ones(1, dtype))
    except cv.PromotionError:
        if expected is not None and np.dtype(dtype).kind in "fc":
            wide_enough = np.dtype(dtype).kind == "c" or not isinstance(value, complex)
            finite = np.isfinite(complex(value))
            assert not wide_enough or (finite and not np.isfinite(expected))
        return
    np.testing.assert_array_equal(made.x, expected)


# dtype= ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", DTYPES)
def test_a_requested_dtype_takes_arrays_of_the_same_kind(source):
    for wanted in DTYPES:
        components = {"g": {"a": np.ones(2, source)}, "b": np.ones(2, wanted)}
        if np.can_cast(source, wanted, "same_kind"):
            made = cv.ComponentVector(components, dtype=wanted)
            assert made.dtype == np.dtype(wanted)
            assert made.tolist() == [1, 1, 1, 1]
            continue
        with pytest.raises(cv.PromotionError) as error:
            cv.ComponentVector(components, dtype=wanted)
        assert str(error.value) == (
            f"`g.a` is {np.dtype(source)}, which does not go into dtype={np.dtype(wanted)}"
        )


@pytest.mark.parametrize("wanted", ["i1", "u1", "u8", "f2", "f4", "c8"])
def test_a_requested_dtype_takes_python_numbers_that_fit(wanted):
    made = cv.ComponentVector(a=[1, 2], b=True, dtype=wanted)
    assert made.dtype == np.dtype(wanted)
    assert made.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("weak", "kind", "wanted"),
    [(0.5, "float", "i4"), (1j, "complex", "f8"), (2, "int", "?"), ([1, 0.5], "float", "u1")],
)
def test_a_requested_dtype_refuses_python_numbers_of_a_higher_kind(weak, kind, wanted):
    with pytest.raises(cv.PromotionError) as error:
        cv.ComponentVector({"g": {"a": weak}}, dtype=wanted)
    assert str(error.value) == f"`g.a` is {kind}, which does not go into dtype={np.dtype(wanted)}"


@pytest.mark.parametrize("wanted", [object, "U3", "M8[s]", [("x", float)]], ids=str)
def test_a_requested_dtype_of_no_numbers_is_refused(wanted):
    for components in ({"a": 1.0}, {"a": np.ones(2)}, {}):
        with pytest.raises(cv.PromotionError, match="a vector holds numbers only"):
            cv.ComponentVector(components, dtype=wanted)


def test_a_requested_byte_order_is_made_native():
    made = cv.ComponentVector(a=[1.0, 2.0], dtype=">f4")
    assert made.dtype == np.float32
    assert made.dtype.isnative


def test_a_requested_dtype_rounds_silently():
    made = cv.ComponentVector(a=np.array([0.1]), b=0.1, dtype=np.float32)
    assert made.tolist() == [float(np.float32(0.1))] * 2


def test_a_requested_dtype_needs_no_promotion():
    made = cv.ComponentVector(a=np.ones(1, "f4"), b=np.ones(1, "i2"), c=2, dtype=complex)
    assert made.dtype == np.complex128
    assert made.tolist() == [1, 1, 2]


# Dtypes of other packages ------------------------------------------------------------------------

FEW_BITS = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e3m4", "float8_e4m3b11fnuz"]


@pytest.fixture
def ml_dtypes():
    return pytest.importorskip("ml_dtypes")


@pytest.fixture(params=FEW_BITS)
def few_bits(request, ml_dtypes):
    """A dtype of a few bits, which NumPy does not know itself."""
    return np.dtype(getattr(ml_dtypes, request.param))


def test_leaves_of_few_bits_keep_their_dtype(few_bits):
    made = cv.ComponentVector(a=np.ones(2, few_bits), b={"c": few_bits.type(2), "d": [0.5, 1]})
    assert made.dtype == few_bits
    assert made.astype(float).tolist() == [1.0, 1.0, 2.0, 0.5, 1.0]


@pytest.mark.parametrize("weak", [True, 3, 0.5, [1, 2.5], [[True]]], ids=str)
def test_python_numbers_take_few_bits_beside_them(few_bits, weak):
    made = cv.ComponentVector(rate=weak, w=np.ones(2, few_bits))
    assert made.dtype == few_bits
    np.testing.assert_array_equal(np.asarray(made.rate, float), np.array(weak, float))


def test_a_python_complex_is_a_promotion_beside_few_bits(few_bits):
    components = {"w": np.ones(2, few_bits), "g": {"rate": 1j}}
    with pytest.raises(cv.PromotionError, match=r"`g\.rate` is a Python complex, which"):
        dtype_of(**components)
    assert dtype_of("allow", **components).kind == "c"


def test_few_bits_beside_float32_are_a_promotion(few_bits):
    components = {"a": np.ones(2, few_bits), "b": np.ones(1, "f4")}
    with pytest.raises(cv.PromotionError) as error:
        dtype_of(**components)
    assert str(error.value) == (
        f"the leaves have 2 dtypes, and one buffer would change some of them: {few_bits}: `a`; "
        "float32: `b`; pass dtype= to choose one, promotion='allow' to promote, or use "
        "destructure_by_dtype for one vector each"
    )
    assert dtype_of("allow", **components) == np.float32
    assert dtype_of("allow", **components, lr=0.1) == np.float32


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("bfloat16", "float16"),
        ("bfloat16", "int64"),
        ("bfloat16", "float8_e4m3fn"),
        ("float8_e4m3fn", "float8_e5m2"),
    ],
)
def test_what_numpy_cannot_promote_is_refused_by_its_leaves_even_when_allowed(ml_dtypes, one, two):
    first, second = (np.dtype(getattr(ml_dtypes, name, name)) for name in (one, two))
    components = {"a": [np.ones(2, first)], "b": np.ones(1, second), "lr": 0.5}
    with pytest.raises(cv.PromotionError) as error:
        dtype_of("allow", **components)
    assert str(error.value) == (
        f"no dtype holds all of these: {one}: `a._1`; {two}: `b`; pass dtype=, or use "
        "destructure_by_dtype"
    )
    assert dtype_of("allow", np.float32, **components) == np.float32


def test_few_bits_may_be_asked_for(few_bits):
    made = cv.ComponentVector(a=np.ones(2, "f4"), b=np.ones(1, few_bits), c=0.5, dtype=few_bits)
    assert made.dtype == few_bits
    assert made.astype(float).tolist() == [1.0, 1.0, 1.0, 0.5]
    with pytest.raises(cv.PromotionError, match=rf"`a` is complex64, which does not .*{few_bits}"):
        cv.ComponentVector(a=np.ones(2, "c8"), dtype=few_bits)


@pytest.mark.parametrize(
    ("weak", "name"),
    [
        (1e39, "bfloat16"),
        (-1e39, "bfloat16"),
        (10**40, "bfloat16"),
        (1e6, "float8_e5m2"),
        (500.0, "float8_e4m3fn"),
        ([1.0, 1e6], "float8_e4m3fn"),
        (float("inf"), "float8_e4m3fn"),
        (1e9, "float6_e2m3fn"),
        (1e9, "float4_e2m1fn"),
        (-1.0, "float8_e8m0fnu"),
        (8, "int4"),
        (100, "int4"),
        (-9, "int4"),
        (16, "uint4"),
        (-1, "uint4"),
        (4, "uint2"),
    ],
    ids=str,
)
def test_a_number_that_few_bits_cannot_hold_is_refused_by_its_path(ml_dtypes, weak, name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    with pytest.raises(cv.PromotionError) as error:
        cv.ComponentVector(g={"lr": weak}, w=np.ones(2, dtype))
    assert str(error.value) == f"`g.lr` is {weak!r}, which {dtype} cannot hold"


@pytest.mark.parametrize(
    ("weak", "name"),
    [
        (float("inf"), "bfloat16"),
        (float("nan"), "bfloat16"),
        (float("-inf"), "float8_e5m2"),
        (float("nan"), "float8_e4m3fn"),
        (448.0, "float8_e4m3fn"),
        (57344.0, "float8_e5m2"),
        (1e-300, "bfloat16"),
        (7, "int4"),
        (-8, "int4"),
        (15, "uint4"),
    ],
    ids=str,
)
def test_a_number_at_the_edge_of_few_bits_is_stored(ml_dtypes, weak, name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    made = cv.ComponentVector(lr=weak, w=np.ones(2, dtype))
    assert made.dtype == dtype
    np.testing.assert_array_equal(np.float64(made.lr), np.float64(np.array(weak).astype(dtype)))


def test_integers_of_few_bits_are_integers(ml_dtypes):
    four = np.dtype(ml_dtypes.int4)
    assert dtype_of(w=np.ones(2, four), n=3) == four
    with pytest.raises(cv.PromotionError, match="`f` is a Python float, which int4 leaves"):
        dtype_of(w=np.ones(2, four), f=0.5)
    assert cv.destructure({"i": np.ones(2, four), "w": np.ones(1)})[0].size == 1


def test_few_bits_are_parameters_and_come_back(few_bits):
    model = {"a": np.ones((2, 2), few_bits), "s": few_bits.type(2), "lr": 0.5}
    v, restructure = cv.destructure(model)
    assert v.dtype == few_bits
    made = restructure(v)
    assert np.shares_memory(made["a"], v)
    assert type(made["s"]) is few_bits.type
    restored = restructure(np.full(5, 1.5, "f4"))
    assert (restored["a"].dtype, float(restored["a"][0, 0])) == (few_bits, 1.5)
    assert type(restored["s"]) is few_bits.type
    assert restructure(np.full(5, 1.5, "f4"), dtype="follow")["a"].dtype == np.float32
    with pytest.raises(cv.PromotionError, match="cannot take complex128"):
        restructure(np.ones(5, complex))


def test_few_bits_beside_wider_leaves_come_back_as_they_were(few_bits):
    model = {"a": np.full(2, 1.5, few_bits), "b": np.ones(1, "f4")}
    v, restructure = cv.destructure(model, promotion="allow")
    made = restructure(v)
    assert [part.dtype for part in made.values()] == [few_bits, np.float32]
    assert made["a"].astype(float).tolist() == [1.5, 1.5]
    with pytest.raises(cv.PromotionError, match="copy=False"):
        restructure(v, copy=False)


def test_a_python_number_chosen_as_parameter_is_weak_beside_few_bits(few_bits):
    model = {"w": np.ones(2, few_bits), "f": 0.5, "n": 2, "flag": True}
    v, restructure = cv.destructure(model, trainable=lambda path, leaf: True)
    assert v.dtype == few_bits
    made = restructure(v)
    assert [type(made[key]) for key in ("f", "n", "flag")] == [float, int, bool]
    assert (made["f"], made["n"], made["flag"]) == (0.5, 2, True)


def test_imaginary_parts_never_vanish_in_few_bits(few_bits):
    v, restructure = cv.destructure({"w": np.ones(2, few_bits)})
    _, by_dtype = cv.destructure_by_dtype({"w": np.ones(2, few_bits)})
    values = np.array([1 + 2j, 3])
    for refuse in (
        lambda: v.__setattr__("w", values),
        lambda: restructure.pullback({"w": values}),
        lambda: restructure.flatten({"w": values}),
        lambda: by_dtype.pullback({"w": values}),
        lambda: by_dtype.flatten({"w": values}),
    ):
        with pytest.raises(cv.PromotionError, match="complex128"):
            refuse()
    assert v.astype(float).tolist() == [1.0, 1.0]
