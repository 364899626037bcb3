"""Names that are no identifiers, or that Python or ndarray use for themselves."""

import copy
import pickle

import numpy as np
import pytest

import componentvec as cv
from componentvec.names import RESERVED_NAMES, format_path, shortened

pytestmark = pytest.mark.filterwarnings("ignore::componentvec.ShadowedNameWarning")

ODD = {
    "": 1.0,
    "T": [2.0, 3.0],
    "sum": 4.0,
    "axis": 5.0,
    "class": [6.0],
    "a.b": 7.0,
    "a": {"b": 8.0, "": 9.0},
    "a[0]": 10.0,
    "ﬁ": 11.0,  # NFKC: Python reads the name as "fi"
    "fi": 12.0,
    "__len__": 13.0,
    "__x": 14.0,
    "_y": 15.0,
    "_cv_state": [16.0],
    "__dict__": {"x": 17.0},
    "__class__": 18.0,
    "two words": 19.0,
    'quo"te\\': 20.0,
    "line\n": 21.0,
    "1": 22.0,
    "[0]": 23.0,
    "ünï": 24.0,
    ".": 25.0,
}


@pytest.fixture
def odd():
    return cv.ComponentVector(ODD)


def numbers(component):
    return list(component.values()) if isinstance(component, dict) else np.ravel(component).tolist()


@pytest.mark.parametrize("name", ODD, ids=repr)
def test_any_name_is_reached_by_bracket_and_path(odd, name):
    for key in (name, cv.path(name), cv.path(odd.axis.names.index(name))):
        assert np.ravel(odd[key]).tolist() == numbers(ODD[name])


@pytest.mark.parametrize("name", ODD, ids=repr)
def test_any_name_is_written_by_bracket_and_path(odd, name):
    before = odd.copy()
    span = odd.axis.index(cv.path(name)).slice
    for value, key in ((-1.0, name), (-2.0, cv.path(name))):
        odd[key] = value
        before[span] = value
        assert odd.tolist() == before.tolist()


def test_every_label_evaluates_to_its_element(odd):
    for position, label in enumerate(odd.axis.labels()):
        code = f"v{label}" if label.startswith("[") else f"v.{label}"
        assert eval(code, {"v": odd}) == odd[position]
        assert odd[odd.axis.path(position)] == odd[position]


def test_an_exact_name_wins_over_a_dotted_path(odd):
    assert odd["a.b"] == 7.0
    assert odd.a.b == 8.0
    assert odd["a"]["b"] == 8.0
    assert odd[cv.path("a", "b")] == 8.0


def test_an_exact_name_wins_at_every_level():
    v = cv.ComponentVector({"g": {"a.b": 1.0, "a": {"b": 2.0}}, "g.a": {"b": 3.0}})
    assert v["g.a.b"] == 1.0
    assert v["g.a"].tolist() == [3.0]


def test_names_that_the_array_owns_stay_the_arrays(odd):
    assert odd.T.axis is odd.axis
    assert odd.sum() == np.asarray(odd).sum()
    assert isinstance(odd.axis, cv.Axis)
    assert len(odd) == odd.size
    assert odd.__class__ is cv.ComponentVector


def test_every_public_name_of_an_array_is_known_to_be_owned():
    public = {name for name in dir(np.ndarray) if not name.startswith("_")}
    assert public <= RESERVED_NAMES


def test_the_class_adds_one_public_name():
    assert {n for n in set(dir(cv.ComponentVector)) - set(dir(np.ndarray)) if n[0] != "_"} == {
        "axis"
    }


def test_a_name_that_python_normalises_is_found_by_bracket_only(odd):
    assert odd.fi == 12.0
    assert eval("v.ﬁ", {"v": odd}) == 12.0
    assert odd["ﬁ"] == 11.0


@pytest.mark.parametrize("name", [name for name in ODD if hasattr(cv.ComponentVector, name)])
def test_an_owned_name_is_not_written_as_an_attribute(odd, name):
    before = odd.tolist()
    with pytest.raises(cv.LabelError) as error:
        setattr(odd, name, 0.0)
    assert f'use v["{name}"] = ... instead' in str(error.value)
    assert odd.tolist() == before


def test_every_name_survives_copies(odd):
    for copied in (odd.copy(), copy.deepcopy(odd), pickle.loads(pickle.dumps(odd)), odd + 0.0):
        assert copied.axis is odd.axis
        assert copied["__dict__"]["x"] == 17.0


def test_every_name_is_printed(odd):
    rows = repr(odd).splitlines()[1:]
    shown = [shortened(format_path(names[-1:]), 36) for names, _ in odd.axis.components()]
    assert [row.strip().startswith(name) for row, name in zip(rows, shown, strict=True)] == [
        True
    ] * len(shown)


def test_every_name_is_taken_by_mapping_assignment(odd):
    odd[:] = dict.fromkeys(ODD, 0.0)
    assert odd.tolist() == [0.0] * odd.size
