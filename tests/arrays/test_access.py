import operator

import numpy as np
import pytest

import componentvec as cv

# Groups, arrays and scalars, by every spelling ---------------------------------------------------

SPELLINGS = {
    "attributes": lambda v: v.net.weight,
    "brackets": lambda v: v["net"]["weight"],
    "mixed": lambda v: v.net["weight"],
    "dotted": lambda v: v["net.weight"],
    "path of names": lambda v: v[cv.path("net", "weight")],
    "path of positions": lambda v: v[cv.path(2, 0)],
    "mixed path": lambda v: v[cv.path("net", 0)],
    "label": lambda v: v['["net"].weight'],
    "getattr": lambda v: operator.attrgetter("net.weight")(v),
    "one-tuple": lambda v: v["net.weight",],
}


def place(array):
    """Where an array lies and how it walks: equal for identical views."""
    return array.__array_interface__["data"], array.shape, array.strides, array.dtype


@pytest.mark.parametrize("get", SPELLINGS.values(), ids=SPELLINGS)
def test_every_spelling_is_the_same_view(v, get):
    seen = get(v)
    assert type(seen) is np.ndarray
    assert place(seen) == place(np.asarray(v)[3:7].reshape(2, 2))


@pytest.mark.parametrize("get", SPELLINGS.values(), ids=SPELLINGS)
def test_writing_into_a_view_writes_the_vector(v, get):
    get(v)[1, 0] = 60.0
    assert v.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 60.0, 7.0, 8.0]


def test_writing_the_vector_shows_in_every_view(v):
    views = [get(v) for get in SPELLINGS.values()]
    v[3] = -4.0
    assert [view[0, 0] for view in views] == [-4.0] * len(views)


@pytest.mark.parametrize("get", [lambda v: v.net, lambda v: v["net"], lambda v: v[cv.path(2)]])
def test_a_group_is_a_labelled_view_of_its_range(v, get):
    group = get(v)
    assert type(group) is cv.ComponentVector
    assert group.axis == cv.Axis(weight=(2, 2), scale=())
    assert place(group) == place(np.asarray(v)[3:])
    group *= 2.0
    assert v.tolist() == [1.0, 2.0, 3.0, 8.0, 10.0, 12.0, 14.0, 16.0]


@pytest.mark.parametrize("get", [lambda v: v.rate, lambda v: v["rate"], lambda v: v[cv.path(0)]])
def test_a_scalar_is_a_value_of_the_dtype(v, get):
    for dtype in (np.float32, np.complex64, np.int8, np.bool_):
        value = get(v.astype(dtype))
        assert type(value) is dtype
        assert value == 1


def test_a_scalar_is_read_anew_each_time(v):
    assert v.rate == 1.0
    v[0] = 5.0
    assert v.rate == 5.0


def test_leaves_have_their_shapes():
    shapes = {"s": (), "n": (0,), "m": (2, 0, 3), "one": (1,), "t": (2, 1, 2), "g": {}}
    v = cv.zeros(cv.Axis(shapes))
    assert {name: np.shape(v[name]) for name in shapes} == {**shapes, "g": (0,)}


def test_views_are_kept(v):
    assert v.bias is v.bias
    assert v.net is v.net
    assert v["net"] is v.net
    assert v["bias"] is v.bias
    assert v.net.weight is v.net.weight


def test_a_tied_leaf_is_a_view_of_its_storage(tied):
    assert tied.decoder.weight.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    tied.decoder.weight[2, 0] = 20.0
    assert tied.encoder.weight[0, 2] == 20.0
    assert tied[2] == 20.0


# Elements ----------------------------------------------------------------------------------------


def test_the_label_of_an_element_reads_and_writes_it(v):
    for position, label in enumerate(v.axis.labels()):
        assert v[label] == v[position]
        v[label] = 10.0 * position
    assert v.tolist() == [10.0 * position for position in range(8)]


def test_the_path_of_an_element_reads_it(v):
    for position in range(v.size):
        assert v[v.axis.path(position)] == v[position]


def test_an_element_of_a_transposed_tie_is_found(tied):
    assert tied["decoder.weight[2,1]"] == tied.encoder.weight[1, 2]
    tied["decoder.weight[2,1]"] = -1.0
    assert tied.encoder.weight[1, 2] == -1.0


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("bias[2]", "`bias` of shape (2,) has no `[2]`"),
        ("net.weight[0]", "`net.weight` of shape (2, 2) has no `[0]`"),
        ("rate[0]", "`rate` of shape () has no `[0]`"),
        ("bias[-1]", "'bias[-1]' is not a path"),
        ("bias[", "'bias[' is not a path"),
        (cv.path("net", 5), "`net` has 2 components, so none at position 5"),
        (cv.path(-1), "the axis has 3 components, so none at position -1"),
        (cv.path("bias", "x"), "`bias` of shape (2,) has no `x`"),
    ],
    ids=str,
)
def test_elements_that_are_not_there_are_refused(v, path, message):
    with pytest.raises(cv.LabelError) as error:
        v[path]
    assert str(error.value).startswith(message)


# Names that are not there ------------------------------------------------------------------------


@pytest.mark.parametrize("get", [lambda v: v.nett, lambda v: v["nett"], lambda v: v[["nett"]]])
def test_an_unknown_name_names_close_ones(v, get):
    with pytest.raises(cv.LabelError) as error:
        get(v)
    assert str(error.value) == "no component 'nett'; did you mean 'net'?"


def test_an_unknown_name_that_is_close_to_nothing_lists_what_is_there(v):
    with pytest.raises(cv.LabelError) as error:
        v.net["zzz"]
    assert str(error.value) == "no component 'zzz'; its components are 'weight', 'scale'"


def test_an_unknown_name_below_a_group_names_the_group(v):
    with pytest.raises(cv.LabelError) as error:
        v["net.weigth"]
    assert str(error.value) == "`net` has no component 'weigth'; did you mean 'weight'?"


def test_unknown_names_raise_what_python_expects(v):
    with pytest.raises(AttributeError):
        v.nett  # noqa: B018
    with pytest.raises(KeyError):
        v["nett"]
    assert not hasattr(v, "nett")
    assert getattr(v, "nett", None) is None


@pytest.mark.parametrize(
    "probe", ["__array_namespace_info__", "_repr_html_", "__cuda_array_interface__", "__torch__"]
)
def test_names_that_libraries_probe_for_are_absent(v, probe):
    assert not hasattr(v, probe)


def test_two_keys_are_too_many_for_one_dimension(v):
    with pytest.raises(cv.LabelError, match="a tuple has one key per dimension, and a vector has"):
        v["net", "weight"]
    with pytest.raises(IndexError):
        v[0, 0]


# Contains, dir, iteration ------------------------------------------------------------------------


def test_contains_answers_for_names_paths_and_values(v):
    assert "net" in v
    assert "net.weight" in v
    assert "net.weight[1,1]" in v
    assert cv.path("net", 0) in v
    assert 8.0 in v
    assert "weight" not in v
    assert "net.weight[2,2]" not in v
    assert cv.path("net", 9) not in v
    assert 9.0 not in v


def test_dir_lists_the_components_that_are_attributes():
    v = cv.ComponentVector({"rate": 1.0, "not a name": 2.0, "class": 3.0, "_private": 4.0})
    listed = dir(v)
    assert {"rate", "_private", "axis", "sum"} <= set(listed)
    assert not {"not a name", "class"} & set(listed)


def test_iteration_gives_the_elements(v):
    assert list(v) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert [type(x) for x in v] == [np.float64] * 8


# Positions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [slice(None), ...], ids=["colon", "ellipsis"])
def test_the_whole_is_a_labelled_view(v, key):
    whole = v[key]
    assert whole.axis is v.axis
    assert whole is not v
    whole.rate = 5.0
    assert v[0] == 5.0


POSITIONS = {
    "slice": slice(1, 3),
    "all by bounds": slice(0, 8),
    "all by step": slice(None, None, 1),
    "reversed": slice(None, None, -1),
    "list": [0, 2],
    "every position": list(range(8)),
    "permutation": np.array([1, 0, *range(2, 8)]),
    "mask": np.arange(8) > 3,
    "full mask": np.ones(8, bool),
    "new axis": (None, slice(None)),
    "trailing new axis": (..., None),
    "empty list": [],
    "empty tuple": (),
}


@pytest.mark.parametrize("key", POSITIONS.values(), ids=POSITIONS)
def test_indexing_by_position_gives_what_a_plain_array_gives(v, key):
    got = v[key]
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, np.asarray(v)[key])


def test_indexing_by_a_vector_follows_its_values(v):
    order = (v - 1.0).astype(int)[::-1]
    labelled = cv.ComponentVector(order, axis=v.axis)
    assert v[labelled].tolist() == v[::-1].tolist()
    assert v[v > 6.0].tolist() == [7.0, 8.0]


def test_a_mask_of_another_axis_is_refused(v):
    other = cv.ComponentVector(x=np.ones(8, bool))
    with pytest.raises(cv.AxisMismatchError, match="`rate`"):
        v[other]
    with pytest.raises(cv.AxisMismatchError, match="`rate`"):
        v[other] = 0.0
    with pytest.raises(cv.AxisMismatchError, match="`rate`"):
        v[(other,)]
    assert 0.0 not in v


def test_one_element_is_a_scalar(v):
    assert type(v[3]) is np.float64
    assert v[-1] == 8.0
    with pytest.raises(IndexError, match="out of bounds"):
        v[8]


# Without an axis ---------------------------------------------------------------------------------


@pytest.fixture
def unlabelled():
    return np.arange(6.0).view(cv.ComponentVector)


def test_a_vector_without_an_axis_behaves_as_a_plain_array(unlabelled):
    assert unlabelled.axis is None
    assert repr(unlabelled) == repr(np.arange(6.0))
    assert str(unlabelled) == repr(np.arange(6.0))
    assert type(unlabelled + 1.0) is np.ndarray
    assert type(np.exp(unlabelled)) is np.ndarray
    assert type(unlabelled.copy()) is np.ndarray
    unlabelled[1:3] = 0.0
    assert unlabelled[::-1].tolist() == [5.0, 4.0, 3.0, 0.0, 0.0, 0.0]
    unlabelled.sort()
    assert unlabelled.tolist() == [0.0, 0.0, 0.0, 3.0, 4.0, 5.0]


def test_copies_that_numpy_makes_itself_have_no_axis(v):
    for copied in (np.array(v, subok=True), np.asanyarray(v, dtype=np.float32), v.flat[1:3]):
        assert copied.axis is None
        assert type(copied[::-1]) is np.ndarray
        assert repr(copied) == repr(np.asarray(copied))
        copied[0] = -1.0
    assert v.rate == 1.0


def test_a_vector_inside_a_masked_array_is_its_values(v):
    masked = np.ma.masked_where(np.asarray(v) > 6.0, v)
    assert masked.sum() == 21.0
    assert (masked + 1.0).tolist() == [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, None, None]
    assert v.net.scale == 8.0


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
def test_a_vector_without_an_axis_may_change_its_shape(unlabelled):
    unlabelled.shape = (2, 3)
    assert unlabelled[1, 0] == 3.0
    assert (unlabelled @ np.ones(3)).tolist() == [3.0, 12.0]


def test_a_vector_without_an_axis_has_the_attributes_of_an_array(unlabelled):
    z = (np.arange(3.0) * 1j).view(cv.ComponentVector)
    z.imag = 2.0
    z.real = 1.0
    assert z.tolist() == [1.0 + 2.0j] * 3
    assert z.imag.tolist() == [2.0] * 3
    assert (-unlabelled).tolist() == [0.0, -1.0, -2.0, -3.0, -4.0, -5.0]
    assert unlabelled.T.tolist() == unlabelled.view().tolist() == unlabelled.tolist()
    unlabelled.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        unlabelled += 1.0


def test_a_vector_without_an_axis_has_no_components(unlabelled):
    with pytest.raises(AttributeError, match="without an axis has no attribute 'a'"):
        unlabelled.a  # noqa: B018
    with pytest.raises(cv.LabelError, match="without an axis has no component 'a'"):
        unlabelled["a"]
    assert "a" not in unlabelled
