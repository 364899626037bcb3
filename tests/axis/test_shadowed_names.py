"""Names that ndarray owns: allowed, with one warning that names the line which chose them."""

import linecache
import warnings
from pathlib import Path

import numpy as np
import pytest

import componentvec as cv
from componentvec import Axis, ShadowedNameWarning
from componentvec.axis import GroupRecord, LeafRecord


def warnings_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = call()
    assert all(warning.category is ShadowedNameWarning for warning in caught)
    return caught, kept


def messages(call):
    return [str(warning.message) for warning in warnings_of(call)[0]]


def test_the_warning_says_how_to_reach_the_component():
    assert messages(lambda: Axis({"T": 2})) == [
        "component 'T' has the name of an array attribute; reach it as v[\"T\"]"
    ]


def test_each_name_warns_once_however_often_it_occurs():
    found = messages(lambda: Axis(x={"mean": 1, "std": 2}, y={"mean": 3}))
    assert [text.partition(" has")[0] for text in found] == ["component 'mean'", "component 'std'"]


def test_a_structure_known_already_does_not_warn_again():
    caught, kept = warnings_of(lambda: Axis({"T": 2, "b": 3}))
    assert len(caught) == 1
    assert messages(lambda: Axis({"T": 2, "b": 3})) == []
    assert kept.size == 5


@pytest.mark.parametrize("name", ["a", "_T", "t", "lambda", "__x", "we ird", "ﬁ"])
def test_other_names_do_not_warn(name):
    assert messages(lambda: Axis({name: 7})) == []


PLAIN = Axis(plain={"inner": 2})
RECORDS = [GroupRecord("", 1), LeafRecord("argmax", (2,))]

CALLS = {
    "Axis": lambda: Axis(data=2),
    "Axis.from_records": lambda: Axis.from_records(RECORDS),
    "rename": lambda: PLAIN.rename({"plain.inner": "flat"}),
    "nest": lambda: PLAIN.nest("real"),
    "ComponentVector": lambda: cv.ComponentVector(sum=2.0),
    "trainables_nt": lambda: cv.trainables_nt({"prod": np.ones(2)}),
    "destructure": lambda: cv.destructure({"layers": [{"size": np.ones(2)}]}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_line_of_the_caller_is_named(name):
    call = CALLS[name]
    (warning,), _ = warnings_of(call)
    assert warning.filename == __file__
    assert f'"{name}": lambda' in linecache.getline(__file__, warning.lineno)


def test_code_in_a_folder_beside_the_package_is_the_callers():
    folder = Path(cv.__file__).parent
    code = compile("made = Axis(var=2)", f"{folder}_examples/script.py", "exec")
    (warning,), _ = warnings_of(lambda: exec(code, {"Axis": Axis}))
    assert warning.filename == f"{folder}_examples/script.py"


def test_making_further_axes_of_one_does_not_warn_again():
    _, axis = warnings_of(lambda: Axis({"T": 2, "b": {"sum": 3}}))
    assert messages(lambda: axis.select(["b", "T"])) == []
    assert messages(lambda: axis.drop(["b"])) == []
    assert messages(lambda: axis.merge(Axis(c=2))) == []
    assert messages(lambda: axis.nest("model")) == []
    assert messages(lambda: axis.rename({"b": "c"})) == []


def test_reading_an_axis_that_was_stored_does_not_warn():
    _, axis = warnings_of(lambda: Axis({"T": 2}))
    text = axis.to_json()
    del axis
    assert messages(lambda: Axis.from_json(text)) == []
