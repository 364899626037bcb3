"""Each error is also a builtin one, and says what is there when something is not."""

import copy
import pickle

import pytest

import componentvec as cv
from componentvec import errors


@pytest.mark.parametrize(
    ("error", "builtins"),
    [
        ("LabelError", (KeyError, AttributeError)),
        ("AxisMismatchError", (ValueError,)),
        ("LengthError", (ValueError,)),
        ("SharingError", (ValueError,)),
        ("PromotionError", (TypeError,)),
        ("CopyError", (errors.PromotionError, ValueError)),
        ("UnregisteredTypeError", (TypeError,)),
        ("DeviceError", (TypeError,)),
        ("MissingDependencyError", (ImportError,)),
    ],
)
def test_an_error_is_a_component_error_and_the_fitting_builtin(error, builtins):
    bases = getattr(errors, error).__mro__
    assert errors.ComponentError in bases
    assert set(builtins) <= set(bases)


def test_every_error_is_a_public_name_of_the_package():
    assert all(getattr(cv, name) is getattr(errors, name) for name in errors.__all__)


@pytest.mark.parametrize("name", [n for n in errors.__all__ if n.endswith("Warning")])
def test_a_warning_is_a_user_warning_and_no_error(name):
    assert issubclass(getattr(errors, name), UserWarning)
    assert not issubclass(getattr(errors, name), errors.ComponentError)


@pytest.mark.parametrize("name", [n for n in errors.__all__ if n.endswith("Error")])
def test_an_error_prints_its_message_plainly(name):
    assert str(getattr(errors, name)("`a.b` has no `c`")) == "`a.b` has no `c`"


def test_a_missing_name_is_answered_with_close_ones():
    error = errors.LabelError("no component 'wieght'", "wieght", ["bias", "weight", "height"])
    assert str(error) == "no component 'wieght'; did you mean 'weight' or 'height'?"


def test_without_close_names_the_present_ones_are_listed():
    error = errors.LabelError("no component 'q'", "q", ["bias", "weight"])
    assert str(error) == "no component 'q'; its components are 'bias', 'weight'"


def test_a_long_list_of_present_names_is_cut():
    error = errors.LabelError("no component 'q'", "q", [f"w{i}" for i in range(9)])
    assert str(error).endswith("'w6', 'w7', …")


def test_without_any_names_the_message_says_so():
    error = errors.LabelError("no component 'q'", "q", [])
    assert str(error) == "no component 'q'; it has no components"


def test_close_names_are_looked_for_only_when_the_message_is_printed():
    def names():
        raise AssertionError
        yield

    error = errors.LabelError("no component 'q'", "q", names())
    with pytest.raises(AssertionError):
        str(error)


@pytest.mark.parametrize("transport", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_a_label_error_travels_between_processes(transport):
    axis = cv.Axis(weight=2)
    with pytest.raises(errors.LabelError) as caught:
        axis.index("wight")
    moved = transport(caught.value)
    assert type(moved) is errors.LabelError
    assert str(moved) == "no component 'wight'; did you mean 'weight'?"
    assert (moved.missing, moved.names) == ("wight", axis)


def test_a_label_error_prints_in_one_line_for_a_wide_axis():
    axis = cv.Axis({f"component_{i}": 1 for i in range(2000)})
    with pytest.raises(errors.LabelError) as caught:
        axis.index("weight")
    assert len(str(caught.value)) < 300
