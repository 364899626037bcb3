"""Names as attributes, and paths as text that Python itself reads back."""

import enum
import keyword
import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import componentvec as cv
from componentvec.names import RESERVED_NAMES, Path, format_path, is_attribute, parse_path

ODD_NAMES = [
    *["", " ", ".", "a.b", "a[0]", "[0]", '"', '"]', "\\", "\n", "a\u2028b", "\ud800", "0", "_1"],
    *["T", "sum", "axis", "lambda", "None", "match", "__init__", "__x", "_", "_cv_state", "_x"],
    *["é", "ﬁ", "µ", "\u210c", "日本", "℘", "\u212e", "a·", "·a", "٣", "a٣", "名 前"],
]
names = st.sampled_from(ODD_NAMES) | st.text(max_size=4)
places = st.integers(0, 12)
paths = st.lists(names | places, max_size=5)


class Recorder:
    """Notes the attributes and keys it is asked for; what `eval` of a path is tried on."""

    def __init__(self, keys=()):
        self.keys = keys

    def __getattr__(self, name):
        return Recorder((*self.keys, name))

    def __getitem__(self, key):
        return Recorder((*self.keys, *(key if isinstance(key, tuple) else (key,))))


def evaluate(text):
    return eval(f"v{'' if text.startswith('[') else '.'}{text}", {"v": Recorder()}).keys


@pytest.mark.parametrize("name", ["a", "_1", "weight", "match", "é", "日本", "℘", "_", "_private"])
def test_an_ordinary_identifier_is_an_attribute(name):
    assert is_attribute(name)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("T", id="owned by ndarray"),
        pytest.param("axis", id="owned by the vector"),
        pytest.param("lambda", id="keyword"),
        pytest.param("None", id="constant"),
        pytest.param("a.b", id="no identifier"),
        pytest.param("", id="empty"),
        pytest.param("__a", id="mangled in classes"),
        pytest.param("_cv_state", id="slot of the vector"),
        pytest.param("ﬁ", id="normalised by Python"),
    ],
)
def test_what_python_would_read_otherwise_is_no_attribute(name):
    assert not is_attribute(name)


def test_every_public_name_of_ndarray_is_reserved():
    public = {name for name in dir(np.ndarray) if not name.startswith("_")}
    assert public - RESERVED_NAMES == set()


def test_every_public_name_of_a_vector_is_reserved():
    public = {name for name in dir(cv.ComponentVector) if not name.startswith("_")}
    assert public - RESERVED_NAMES == set()


def test_no_attribute_is_a_keyword_or_reserved():
    assert not any(map(is_attribute, [*keyword.kwlist, *RESERVED_NAMES]))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["layers", "_1", "weight"], "layers._1.weight"),
        (["layers", "_1", "weight", 0, 2], "layers._1.weight[0,2]"),
        (["T", 0], '["T"][0]'),
        (["a", "we.ird", "b"], 'a["we.ird"].b'),
        ([""], '[""]'),
        (['q"]', 0, 1], '["q\\"]"][0,1]'),
        ([0, "x", 1], "[0].x[1]"),
        ([], ""),
    ],
)
def test_a_path_prints_as_code(keys, text):
    assert format_path(keys) == text


@given(paths)
@example(ODD_NAMES)
@settings(deadline=None, max_examples=200)
def test_parsing_undoes_printing(keys):
    assert parse_path(format_path(keys)) == tuple(keys)


@given(paths.filter(bool))
@example(ODD_NAMES)
@settings(deadline=None, max_examples=200)
def test_python_reads_a_printed_path_as_its_keys(keys):
    assert evaluate(format_path(keys)) == tuple(keys)


@pytest.mark.parametrize(
    "text",
    [
        *[".", ".a", "a.", "a..b", "a.[0]", 'a."b"', "a[", "a]", "a[]", "a[-1]", "a[0", "a[0,]"],
        *["a[x]", "a['b']", 'a["b]', '["c"]d', "[0]a", '["\\q"]', '["\\u12"]', "a[0].", " a"],
    ],
)
def test_text_that_is_no_path_is_refused(text):
    with pytest.raises(cv.LabelError) as caught:
        parse_path(text)
    assert str(caught.value).startswith(f"{text!r} is not a path; write it like `a.b`")


def test_several_brackets_continue_one_index():
    assert parse_path("x[0][1, 2]") == ("x", 0, 1, 2)


def test_a_path_shows_the_call_that_makes_it():
    path = cv.path('we"ird', 0, "é\n")
    assert eval(repr(path)) == path


def test_a_path_prints_as_the_code_it_stands_for():
    assert str(cv.path("a", "we.ird", 2)) == 'a["we.ird"][2]'


def test_paths_of_equal_keys_are_one_dictionary_key():
    assert {cv.path("a", 0): 1}[cv.path("a", 0)] == 1
    assert cv.path("a", 0) != cv.path("a", "0")


def test_a_path_pickles():
    assert pickle.loads(pickle.dumps(cv.path("a", 0))) == cv.path("a", 0)


def test_a_path_cannot_be_changed():
    with pytest.raises(AttributeError):
        cv.path("a").keys = ("b",)


def test_numpy_integers_are_positions():
    assert cv.path(np.int64(2)) == Path((2,))
    assert type(cv.path(np.int64(2)).keys[0]) is int


@pytest.mark.parametrize("subclass", [np.str_, enum.StrEnum("Kind", {"W": "w"})])
def test_names_of_other_string_classes_become_plain_strings(subclass):
    (key,) = cv.path(subclass("w")).keys
    assert (type(key), key) == (str, "w")


@pytest.mark.parametrize("key", [True, 1.0, None, b"a", ("a",)])
def test_a_path_of_other_things_is_refused(key):
    with pytest.raises(cv.LabelError, match="made of names and integers, not ") as caught:
        cv.path("a", key)
    assert repr(key) in str(caught.value)
