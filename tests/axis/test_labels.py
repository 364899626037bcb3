"""Labels, paths and ranges: each undoes the others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec import Axis, ComponentVector, path


def test_labels_count_from_zero_and_print_as_code():
    axis = Axis({"s": (), "a": (2, 2), "lambda": 1, "we ird": {"x": ()}})
    labels = ["s", "a[0,0]", "a[0,1]", "a[1,0]", "a[1,1]", '["lambda"][0]', '["we ird"].x']
    assert list(axis.labels()) == labels
    assert [axis.label(i) for i in range(axis.size)] == labels


def test_python_evaluates_a_label_of_a_vector_to_the_element():
    v = ComponentVector(
        {"s": 0.0, "a": [[1.0, 2.0], [3.0, 4.0]], "lambda": [5.0], "g": {"_1": {"w": [6.0]}}}
    )
    for i, label in enumerate(v.axis.labels()):
        assert eval(f"v{label}" if label.startswith("[") else f"v.{label}") == i


def test_a_tied_element_has_the_label_of_its_canonical_site(autoencoder):
    assert autoencoder.label(1) == "encoder.weight[0,1]"
    assert autoencoder.label(8) == "decoder.bias[0]"


def test_components_without_elements_have_no_labels():
    axis = Axis(a=0, b={}, c=(2, 0), d=2, e=0)
    assert [axis.label(i) for i in range(2)] == list(axis.labels()) == ["d[0]", "d[1]"]


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_every_position_has_one_label_that_leads_back(trees, data):
    axis = Axis.from_records(data.draw(trees)[0], warn=False)
    labels = list(axis.labels())
    assert len(set(labels)) == len(labels) == axis.size
    for i, label in enumerate(labels):
        assert axis.label(i) == label == str(axis.path(i))
        assert axis.index(axis.path(i)).slice == slice(i, i + 1)
        if label not in axis.children:
            assert axis.index(label).slice == slice(i, i + 1)


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_every_element_of_every_site_is_found_where_it_lies(trees, data):
    records, sites = data.draw(trees)
    axis = Axis.from_records(records, warn=False)
    for names, expected in sites.items():
        for index in np.ndindex(expected.shape):
            found = axis.index(path(*names, *index))
            assert found.slice == slice(expected[index], expected[index] + 1)
            assert found.shape == ()


@pytest.mark.parametrize("ask", [Axis.label, Axis.path])
@pytest.mark.parametrize("position", [-1, 3, 10**30])
def test_a_position_beyond_the_axis_is_refused(ask, position):
    with pytest.raises(IndexError) as caught:
        ask(Axis(a=3), position)
    assert str(caught.value) == f"position {position} is not in an axis of 3 elements"


@pytest.mark.parametrize("ask", [Axis.label, Axis.path])
def test_an_empty_axis_has_no_positions(ask):
    with pytest.raises(IndexError, match="position 0 is not in an axis of 0 elements"):
        ask(Axis(a=0), 0)


@pytest.mark.parametrize("position", [0.5, 1.0, "a", None])
def test_a_position_is_an_integer(position):
    with pytest.raises(TypeError):
        Axis(a=3).label(position)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.intp])
def test_positions_may_come_from_numpy(kind):
    axis = Axis(a=3)
    assert axis.label(kind(2)) == "a[2]"
    assert axis.path(kind(2)) == axis.path(2)


def test_the_largest_element_of_a_vector_can_be_named():
    v = ComponentVector(a=1.0, b=[2.0, 5.0, 3.0])
    assert v.axis.label(np.argmax(v)) == "b[1]"


def test_labels_are_made_one_at_a_time():
    labels = Axis(a=(10**6, 10**6)).labels()
    assert next(labels) == "a[0,0]"
