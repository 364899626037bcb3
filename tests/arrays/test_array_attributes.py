import numpy as np
import pytest

import componentvec as cv

# flags and setflags ------------------------------------------------------------------------------

FREEZE = {
    "attribute": lambda v, on: setattr(v.flags, "writeable", on),
    "long key": lambda v, on: v.flags.__setitem__("WRITEABLE", on),
    "short key": lambda v, on: v.flags.__setitem__("W", on),
    "setflags": lambda v, on: v.setflags(write=on),
    "setflags by position": lambda v, on: v.setflags(on),
}


@pytest.mark.parametrize("put", FREEZE.values(), ids=FREEZE)
def test_making_a_vector_read_only_reaches_its_components(v, put):
    v.bias, v.net.weight  # noqa: B018  # cached before
    put(v, False)
    for component in (v, v.bias, v.net, v.net.weight, v[:], v["net.weight"], v.view(), v.T):
        assert not component.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        v.bias += 1.0
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize("put", FREEZE.values(), ids=FREEZE)
def test_a_read_only_vector_can_be_made_writable_again(v, put):
    put(v, False)
    v.bias, v.net.weight  # noqa: B018  # cached before
    put(v, True)
    v.bias += 1.0
    v.net.weight = 0.0
    v.rate = 0.0
    assert v.tolist() == [0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 8.0]


def test_making_a_vector_read_only_does_not_reach_the_wrapped_array(v):
    x = np.zeros(8)
    wrapped = cv.ComponentVector(x, axis=v.axis)
    wrapped.flags.writeable = False
    x[0] = 1.0
    assert wrapped.rate == 1.0


def test_a_vector_of_read_only_memory_stays_read_only(v):
    wrapped = cv.ComponentVector(np.frombuffer(np.asarray(v).tobytes()), axis=v.axis)
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
        wrapped.flags.writeable = True
    assert not wrapped.bias.flags.writeable


def test_a_read_only_vector_leaves_copies_writable(v):
    v.flags.writeable = False
    for copied in (v.copy(), v + 1.0, np.zeros_like(v)):
        copied.bias[0] = 9.0
        assert copied.bias[0] == 9.0


def test_flags_are_read_as_ndarrays(v):
    flags = v.flags
    assert flags.c_contiguous
    assert flags["C_CONTIGUOUS"]
    assert flags["W"]
    assert not flags.owndata
    assert flags.num == np.asarray(v).flags.num
    assert flags == v.flags
    assert flags == np.asarray(v).flags
    assert repr(flags) == repr(np.asarray(v).flags)


def test_flags_that_cannot_be_set_are_refused_as_by_ndarray(v):
    with pytest.raises(AttributeError):
        v.flags.c_contiguous = False
    with pytest.raises(AttributeError):
        v.flags.nothing  # noqa: B018
    with pytest.raises(KeyError):
        v.flags["NOTHING"]


def test_flags_of_a_vector_without_an_axis_can_be_set():
    bare = np.arange(3.0).view(cv.ComponentVector)
    bare.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        bare[0] = 1.0


# view --------------------------------------------------------------------------------------------


def test_a_view_without_arguments_is_labelled(v):
    view = v.view()
    assert view is not v
    assert view.axis is v.axis
    view.rate = 9.0
    assert v.rate == 9.0


@pytest.mark.parametrize(
    ("arguments", "dtype", "size"),
    [
        ({"type": np.ndarray}, float, 8),
        ({"dtype": np.float32}, np.float32, 16),
        ({"dtype": np.int64}, np.int64, 8),
        ({"dtype": float}, float, 8),
        ({"dtype": complex, "type": np.ndarray}, complex, 4),
        ({"type": cv.ComponentVector}, float, 8),
    ],
    ids=str,
)
def test_a_view_of_something_else_has_no_labels(v, arguments, dtype, size):
    view = v.view(**arguments)
    assert getattr(view, "axis", None) is None
    assert view.dtype == dtype
    assert view.shape == (size,)
    assert np.shares_memory(view, v)


# real, imag, T -----------------------------------------------------------------------------------


def test_parts_of_complex_vectors_are_labelled_views(v):
    z = v + 1j * v[::-1]
    z = cv.ComponentVector(z, axis=v.axis)
    assert z.real.axis is z.imag.axis is v.axis
    assert z.real.bias.tolist() == [2.0, 3.0]
    assert z.imag.bias.tolist() == [7.0, 6.0]
    z.imag.net.weight = 0.0
    z.real.rate = 9.0
    assert z.net.weight.tolist() == [[4.0, 5.0], [6.0, 7.0]]
    assert z.rate == 9.0 + 8.0j


def test_parts_can_be_assigned(v):
    z = v * 1j
    z.real = v
    z.imag = 2.0
    assert z.tolist() == [x + 2j for x in v.tolist()]
    z.real[1:3] = 0.0
    assert z.bias.tolist() == [2j, 2j]
    v.real = 5.0
    assert v.tolist() == [5.0] * 8


def test_the_imaginary_part_of_a_real_vector_is_zero_and_fixed(v):
    assert v.imag.axis is v.axis
    assert v.imag.tolist() == [0.0] * 8
    with pytest.raises(TypeError):
        v.imag = 1.0


def test_the_transpose_is_a_labelled_view(v):
    assert v.T.axis is v.axis
    v.T.bias = 0.0
    assert v.bias.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="2"):
        v.mT  # noqa: B018


# What cannot be set ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shape", (2, 4)),
        ("shape", (8,)),
        ("dtype", np.int64),
        ("strides", (0,)),
        ("data", memoryview(b"")),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_layout_cannot_be_set(v, name, value):
    with pytest.raises(cv.LabelError) as error:
        setattr(v, name, value)
    assert str(error.value) == (
        f"setting v.{name} would tear values from their names; work on np.asarray(v)"
    )
    assert v.shape == (8,)
    assert v.net.weight.tolist() == [[4.0, 5.0], [6.0, 7.0]]


@pytest.mark.parametrize(
    "name", ["axis", "T", "base", "size", "nbytes", "sum", "copy", "_cv_state"]
)
def test_what_the_array_owns_cannot_be_set(v, name):
    with pytest.raises((AttributeError, TypeError)):
        setattr(v, name, None)
    assert v.axis.names == ("rate", "bias", "net")
    assert v.sum() == 36.0


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_reshaping_the_plain_array_leaves_the_vector_alone(v):
    x = np.asarray(v)
    x.shape = (2, 4)
    assert v.shape == (8,)
    assert v.copy().net.scale == 8.0
    x[1, 3] = 0.0
    assert v.net.scale == 0.0


# Standing in for a flat array --------------------------------------------------------------------


def test_a_vector_is_a_buffer(v):
    assert memoryview(v).nbytes == 64
    assert np.frombuffer(v).tolist() == v.tolist()
    assert v.ctypes.data == np.asarray(v).ctypes.data
    assert v.__array_interface__ == np.asarray(v).__array_interface__
    assert np.from_dlpack(v).tolist() == v.tolist()


def test_a_vector_is_labelled_and_an_array(v):
    assert isinstance(v, cv.Labelled)
    assert isinstance(v.net, cv.Labelled)
    assert isinstance(v, np.ndarray)
    assert not isinstance(v.bias, cv.Labelled)
    assert not isinstance(np.asarray(v), cv.Labelled)


def test_formatting_a_vector_prints_its_tree(v):
    assert f"{v}" == str(v) == repr(v)
    with pytest.raises(TypeError):
        format(v, ".2f")
