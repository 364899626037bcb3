import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import componentvec as cv
from componentvec import backends
from componentvec.sharing import Link, find_ties


class Foreign:
    """Stands for an array of a library that is not installed."""

    def __init__(self, dtype=None):
        self.dtype = np.dtype(float) if dtype is None else dtype
        self.shape = (2,)


@pytest.fixture(params=[("cupy", "ndarray"), ("jax", "Array"), ("torch", "Tensor")], ids=str)
def library(request, monkeypatch):
    """The name of a library that counts as imported, whose arrays are `Foreign`."""
    name, attribute = request.param
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(**{attribute: Foreign}))
    return name


# Which library -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "leaf",
    [np.zeros(2), np.zeros(()), np.float32(1.0), np.bool_(True), np.ma.array([1.0])],
    ids=lambda leaf: type(leaf).__name__,
)
def test_arrays_and_scalars_of_numpy_are_numpys(leaf):
    assert backends.backend_name(leaf) == "numpy"
    assert backends.is_array(leaf)
    assert not backends.is_foreign(leaf)


def test_vectors_are_numpys():
    assert backends.backend_name(cv.ComponentVector(a=1.0)) == "numpy"


@pytest.mark.parametrize(
    "leaf", [1.0, True, None, "x", [1.0], {}, np, np.ndarray, object()], ids=repr
)
def test_other_things_belong_to_no_library(leaf):
    assert backends.backend_name(leaf) is None
    assert not backends.is_array(leaf)
    assert not backends.is_foreign(leaf)


def test_arrays_of_an_imported_library_are_that_librarys(library):
    assert backends.backend_name(Foreign()) == library
    assert backends.is_array(Foreign())
    assert backends.is_foreign(Foreign())
    assert backends.backend_name(np.zeros(2)) == "numpy"


def test_a_library_that_is_not_imported_is_not_asked():
    assert backends.backend_name(Foreign()) is None
    script = (
        "import sys, numpy; from componentvec import backends; backends.backend_name(object()); "
        "print({'cupy', 'jax', 'torch'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "set()"


def test_a_library_that_is_being_imported_is_passed_over(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "torch", None)
    assert backends.backend_name(Foreign()) is None
    assert cv.ComponentVector(a=1.0).a == 1.0


# Device leaves are refused -----------------------------------------------------------------------


def test_a_vector_refuses_arrays_of_another_library(library):
    with pytest.raises(cv.DeviceError) as error:
        cv.ComponentVector(net={"w": Foreign()})
    assert str(error.value).startswith(f"`net.w` is an array of {library}; ComponentVector holds")


def test_a_vector_does_not_label_arrays_of_another_library(library):
    with pytest.raises(cv.DeviceError, match="ComponentVector labels NumPy arrays, not"):
        cv.ComponentVector(Foreign(), axis=cv.Axis(a=2))


@pytest.mark.parametrize("protocol", ["__cuda_array_interface__", "__dlpack__"])
def test_a_vector_refuses_device_arrays_of_an_unknown_library(protocol):
    kind = type("Unknown", (), {protocol: lambda self: {}, "__module__": "somewhere"})
    assert backends.on_device(kind())
    with pytest.raises(cv.DeviceError, match=r"`net\.w` is an array of somewhere;"):
        cv.ComponentVector(net={"w": kind()})


def test_arrays_of_numpy_are_not_on_a_device():
    assert not backends.on_device(np.zeros(2))
    assert not backends.on_device(np.float32(1.0))
    assert not backends.on_device(1.0)


def test_arrays_of_another_library_are_tied_by_identity_only(library):
    one, two = Foreign(), Foreign()
    leaves, names = [one, two, one], [("a",), ("b",), ("c",)]
    assert find_ties(leaves, names, "alias") == [None, None, Link(0, None)]
    assert find_ties(leaves, names, "copy") == [None, None, None]
    with pytest.raises(cv.SharingError, match="`a` and `c`"):
        find_ties(leaves, names, "reject")


# dtypes ------------------------------------------------------------------------------------------

NUMERIC = "? b B h H i I l L q Q e f d g F D G >f8 <i4".split()
OTHER = ["O", "S3", "U3", "M8[s]", "m8[s]", "V4", "f8,i4"]


@pytest.mark.parametrize("dtype", NUMERIC)
def test_numbers_are_numeric(dtype):
    assert backends.is_numeric(np.dtype(dtype))


@pytest.mark.parametrize("dtype", OTHER)
def test_other_dtypes_are_not_numeric(dtype):
    assert not backends.is_numeric(np.dtype(dtype))
    assert not backends.is_inexact(np.zeros(2, dtype))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_floating_arrays_and_scalars_are_inexact(dtype):
    expected = np.dtype(dtype).kind in "fc"
    assert backends.is_inexact(np.zeros(2, dtype)) is expected
    assert backends.is_inexact(np.zeros(2, dtype)[0]) is expected


@pytest.mark.parametrize("leaf", [1.0, 1j, [1.0], None, np.float64, object()], ids=repr)
def test_python_numbers_and_classes_are_not_inexact_arrays(leaf):
    assert not backends.is_inexact(leaf)


def test_dtypes_of_a_librarys_own_are_asked_themselves():
    for answer in (True, False):
        real = SimpleNamespace(is_floating_point=answer, is_complex=False)
        complex_ = SimpleNamespace(is_floating_point=False, is_complex=answer)
        assert backends.is_inexact(Foreign(real)) is answer
        assert backends.is_inexact(Foreign(complex_)) is answer
    assert backends.dtype_of(Foreign(SimpleNamespace())) is None


@pytest.mark.parametrize("dtype", NUMERIC)
def test_dtypes_are_told_in_native_byte_order(dtype):
    told = backends.dtype_of(np.zeros(2, dtype))
    assert told.isnative
    assert told == np.dtype(dtype).newbyteorder("=")


# Dtypes of other packages ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bfloat16", "f"),
        ("float8_e4m3fn", "f"),
        ("float8_e5m2", "f"),
        ("float8_e8m0fnu", "f"),
        ("float6_e2m3fn", "f"),
        ("float4_e2m1fn", "f"),
        ("int4", "i"),
        ("uint4", "i"),
        ("int2", "i"),
        ("uint2", "i"),
    ],
)
def test_dtypes_of_few_bits_are_numbers_of_their_kind(name, kind):
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    assert backends.kind_of(dtype) == kind
    assert backends.is_numeric(dtype)
    for leaf in (np.ones(2, dtype), dtype.type(1)):
        assert backends.is_inexact(leaf) == (kind == "f")
        assert backends.dtype_of(leaf) == dtype
        assert backends.backend_name(leaf) == "numpy"


def test_tensors_of_torch_are_foreign_and_have_dtypes_of_their_own():
    torch = pytest.importorskip("torch")
    for dtype, inexact in [
        (torch.float32, True),
        (torch.bfloat16, True),
        (torch.complex64, True),
        (torch.int64, False),
        (torch.bool, False),
    ]:
        leaf = torch.ones(2, dtype=dtype)
        assert backends.is_foreign(leaf)
        assert backends.is_inexact(leaf) == inexact
        assert backends.dtype_of(leaf) is None


def test_arrays_and_tracers_of_jax_are_foreign():
    jax = pytest.importorskip("jax")
    seen = []

    def look(x):
        seen.append((backends.backend_name(x), backends.is_inexact(x)))
        return x

    jax.jit(look)(look(jax.numpy.ones(2)))
    assert seen == [("jax", True)] * 2
    assert not backends.is_inexact(jax.numpy.arange(3))
    assert backends.is_inexact(jax.numpy.ones(1, "bfloat16"))
