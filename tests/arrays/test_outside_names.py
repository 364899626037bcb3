"""Groups with a name that is tied to storage in another group."""

import copy
import pickle

import numpy as np
import pytest

import componentvec as cv

STORED = "`decoder.weight` is stored at `encoder.weight`"


@pytest.fixture
def nested():
    """The alias two levels down: everything counts from the root."""
    w = np.arange(6.0).reshape(2, 3)
    return cv.ComponentVector(
        {"pre": [9.0, 9.0], "a": {"w": w, "x": 6.0}, "b": {"c": {"w": w.T, "y": 7.0}, "z": 8.0}},
        sharing="alias",
    )


def test_an_outside_name_is_read_through_its_group(tied, nested):
    assert tied.decoder.weight.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    for w in (nested.b.c.w, nested["b"]["c"]["w"], nested["b.c.w"], nested.b["c.w"]):
        assert w.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
        assert np.shares_memory(w, nested.a.w)


def test_an_outside_element_is_read_through_its_group(nested):
    assert nested["b.c.w[2,0]"] == nested.b["c.w[2,0]"] == nested.b.c["w[2,0]"] == 2.0


def test_writing_an_outside_leaf_writes_the_storage(nested):
    nested.b.c.w[2, 0] = -1.0
    assert nested.a.w[0, 2] == -1.0
    nested.b.c.w = np.zeros((3, 2))
    assert nested.a.w.tolist() == [[0.0] * 3] * 2
    nested.b["c.w"] += 1.0
    nested.b.c["w[0,1]"] = 5.0
    assert nested.a.w.tolist() == [[1.0, 1.0, 1.0], [5.0, 1.0, 1.0]]
    assert nested.pre.tolist() == [9.0, 9.0]
    assert [nested.a.x, nested.b.c.y, nested.b.z] == [6.0, 7.0, 8.0]


def test_an_outside_scalar_is_read_and_written():
    s = np.array(2.0)
    v = cv.ComponentVector({"a": {"s": s}, "b": {"s": s, "x": 1.0}}, sharing="alias")
    assert v.b.s == 2.0
    v.b.s += 1.0
    assert v.a.s == 3.0
    v.a.s = 4.0
    assert v.b.s == 4.0
    v.b = 0.0
    assert v.tolist() == [0.0, 0.0]


def test_a_scalar_fills_every_name_of_the_group(nested):
    nested.b = 0.0
    assert nested.tolist() == [9.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0]
    nested.b.c = 1.0
    assert nested.tolist() == [9.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 6.0, 1.0, 0.0]


def test_a_mapping_writes_through(nested):
    nested.b = {"c": {"w": np.ones((3, 2))}, "z": 0.0}
    assert nested.tolist() == [9.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 6.0, 7.0, 0.0]


def test_a_vector_with_that_name_writes_through(tied):
    tied.decoder = cv.ComponentVector(weight=np.zeros((3, 2)), bias=[1.0, 1.0, 1.0])
    assert tied.tolist() == [0.0] * 6 + [6.0, 7.0, 1.0, 1.0, 1.0]


def test_the_group_of_another_such_vector_is_read_through_its_ties(tied):
    other = tied * 10.0
    tied.decoder = other.decoder
    assert tied.encoder.weight.tolist() == other.encoder.weight.tolist()
    assert tied.decoder.bias.tolist() == other.decoder.bias.tolist()
    assert tied.encoder.bias.tolist() == [6.0, 7.0]


def test_a_copy_of_the_group_leaves_outside_values_alone(tied):
    tied.decoder = 2.0 * tied.decoder
    assert tied.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 16.0, 18.0, 20.0]


def test_a_group_assigned_to_itself_changes_nothing(tied):
    before = tied.tolist()
    tied.decoder = tied.decoder
    tied["decoder"] = tied["decoder"]
    assert tied.tolist() == before


@pytest.mark.parametrize("value", [np.zeros(3), [0.0, 0.0, 0.0], np.zeros(9), np.zeros(1)])
def test_a_flat_array_for_the_group_is_refused(tied, value):
    before = tied.tolist()
    for put in (
        lambda: setattr(tied, "decoder", value),
        lambda: tied.__setitem__(slice(None), {"encoder": 0.0, "decoder": value}),
    ):
        with pytest.raises(cv.LengthError) as error:
            put()
        assert str(error.value) == (
            "`decoder` has names that are stored outside it: `weight` (at `encoder.weight`); a "
            "flat array cannot fill them, assign a mapping"
        )
    assert tied.tolist() == before


def test_nothing_is_written_outside_when_a_part_is_wrong(tied):
    before = tied.tolist()
    with pytest.raises(cv.LengthError, match=r"`decoder\.bias`"):
        tied.decoder = {"weight": np.zeros((3, 2)), "bias": [1.0, 2.0]}
    assert tied.tolist() == before


def test_flat_operations_see_the_groups_own_slots_only(tied):
    assert tied.decoder.size == 3
    assert tied.decoder.tolist() == [8.0, 9.0, 10.0]
    assert tied.decoder.sum() == 27.0
    tied.decoder *= 2.0
    assert tied.decoder.tolist() == [16.0, 18.0, 20.0]
    assert tied.encoder.weight.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_the_repr_of_the_group_lists_its_outside_names(tied):
    assert "= encoder.weight transposed" in repr(tied.decoder)
    assert "0 3 1 4" in repr(tied.decoder)
    assert "= encoder.weight transposed" in repr(tied.decoder.copy())


def test_groups_tied_to_the_same_place_are_equal_wherever_they_lie(nested):
    w = np.zeros((2, 3))
    other = cv.ComponentVector(
        {"a": {"w": w}, "b": {"w": w.T, "y": 1.0}, "pre": 0.0, "c": {"w": w.T, "y": 2.0}},
        sharing="alias",
    )
    assert other.b.axis == other.c.axis == nested.b.c.axis


# Views reach the storage, copies do not ----------------------------------------------------------

VIEWS = {
    "colon": lambda group: group[:],
    "ellipsis": lambda group: group[...],
    "view": lambda group: group.view(),
    "T": lambda group: group.T,
    "transpose": lambda group: group.transpose(),
    "real": lambda group: group.real,
}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_a_view_of_the_group_still_reaches_its_outside_names(tied, make):
    view = make(tied.decoder)
    assert np.shares_memory(view.weight, tied.encoder.weight)
    view.weight = 0.0
    assert tied.encoder.weight.tolist() == [[0.0] * 3] * 2


COPIES = {
    "copy": lambda group: group.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda group: pickle.loads(pickle.dumps(group)),
    "plus": lambda group: group + 1.0,
    "ufunc": np.exp,
    "zeros_like": np.zeros_like,
    "astype": lambda group: group.astype(np.float32),
    "wrapped anew": lambda group: cv.ComponentVector(np.asarray(group), axis=group.axis),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copy_of_the_group_says_where_the_values_are(tied, make):
    copied = make(tied.decoder)
    assert copied.axis == tied.decoder.axis
    assert copied.bias.shape == (3,)
    before = tied.tolist()
    for ask in (
        lambda: copied.weight,
        lambda: copied["weight"],
        lambda: copied["weight[0,0]"],
        lambda: copied[["weight"]],
        lambda: setattr(copied, "weight", 0.0),
        lambda: setattr(copied, "weight", np.zeros((3, 2))),
        lambda: copied.__setitem__(slice(None), {"bias": 0.0, "weight": 0.0}),
        lambda: cv.ComponentVector(copied),
    ):
        with pytest.raises(cv.LabelError) as error:
            ask()
        assert "is stored at `encoder.weight`, outside this group" in str(error.value)
        assert "a copy of the group does not hold it" in str(error.value)
    assert copied.tolist() == make(tied.decoder).tolist()
    assert tied.tolist() == before


def test_a_copy_of_the_group_takes_a_mapping_of_what_it_holds(tied):
    copied = tied.decoder.copy()
    copied[:] = {"bias": [0.0, 1.0, 2.0]}
    assert copied.tolist() == [0.0, 1.0, 2.0]


def test_a_copy_of_the_whole_has_all_values(tied):
    copied = pickle.loads(pickle.dumps(tied))
    copied.decoder.weight[0, 0] = -1.0
    assert copied.encoder.weight[0, 0] == -1.0
    assert tied.encoder.weight[0, 0] == 0.0


def test_a_vector_made_from_the_group_stores_the_outside_values(tied):
    made = cv.ComponentVector(tied.decoder)
    assert made.size == 9
    assert made.weight.tolist() == tied.decoder.weight.tolist()
    made.weight[0, 0] = -1.0
    assert tied.encoder.weight[0, 0] == 0.0


def test_two_outside_names_of_one_storage_stay_tied_in_a_vector_made_from_the_group():
    w = np.arange(4.0).reshape(2, 2)
    v = cv.ComponentVector({"a": w, "b": {"one": w.T, "two": w, "x": 4.0}}, sharing="alias")
    made = cv.ComponentVector(v.b)
    assert made.axis.ties() == [("one", "two")]
    assert made.two.tolist() == w.tolist()
    assert made.one.tolist() == w.T.tolist()
    assert made.size == 5


def test_outside_names_that_no_strides_relate_are_refused():
    w = np.arange(6.0).reshape(2, 3)
    v = cv.ComponentVector({"a": w, "b": {"t": w.T, "row": w.reshape(-1)}}, sharing="alias")
    assert v.b.row.tolist() == w.ravel().tolist()
    with pytest.raises(cv.SharingError, match="`row` and `t` cannot stay tied"):
        cv.ComponentVector(v.b)
    assert cv.ComponentVector(v.b, sharing="copy").size == 12


def test_a_read_only_vector_is_read_only_through_outside_names(tied):
    tied.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tied.decoder.weight[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        tied.decoder = 0.0


def test_outside_names_reach_a_strided_buffer(tied):
    memory = np.zeros((2, tied.size))
    v = cv.ComponentVector(memory.T[:, 1], axis=tied.axis)
    v[:] = tied
    v.decoder.weight = 1.0
    assert memory[1, :6].tolist() == [1.0] * 6
    assert memory[0].tolist() == [0.0] * tied.size
