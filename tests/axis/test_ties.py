"""Sites that share a slot, inside an axis and out of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec import Axis, LabelError
from componentvec.axis import GroupRecord, LeafRecord, Location, Tie, View
from componentvec.names import format_path


def decoder(autoencoder):
    return autoencoder.children["decoder"].axis


def test_ties_are_listed_with_the_canonical_path_first(autoencoder):
    assert autoencoder.ties() == [
        ("encoder.weight", "decoder.weight"),
        ("decoder.bias", "decoder.offset"),
    ]


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_ties_are_the_sites_that_hold_the_same_elements(trees, data):
    records, sites = data.draw(trees)
    groups = {}
    for names, positions in sites.items():
        if positions.size:
            groups.setdefault(positions.min(), []).append(format_path(names))
    expected = [tuple(paths) for paths in groups.values() if len(paths) > 1]
    assert sorted(Axis.from_records(records, warn=False).ties()) == sorted(expected)


def test_a_tied_component_tells_its_steps(autoencoder):
    assert autoencoder.index("decoder.weight") == Location(slice(0, 6), (3, 2), (1, 3))


def test_a_reversed_tie_starts_at_its_first_element():
    tied = LeafRecord("back", (3,), Tie(1, View(2, (-1,))))
    axis = Axis.from_records(
        [GroupRecord("", 3), LeafRecord("s", ()), LeafRecord("there", (3,)), tied]
    )
    assert axis.index("back") == Location(slice(1, 4), (3,), (-1,), 2)
    assert [axis.index(f"back[{i}]").slice.start for i in range(3)] == [3, 2, 1]


def test_the_range_of_a_group_holds_its_own_slots_only(autoencoder):
    assert autoencoder.index("decoder") == Location(slice(8, 11), (3,))
    assert decoder(autoencoder).size == 3


def test_outside_names_are_listed_with_their_storage(autoencoder):
    assert autoencoder.outside() == {}
    assert decoder(autoencoder).outside() == {"weight": "encoder.weight"}
    assert autoencoder.children["encoder"].axis.outside() == {}


def test_outside_names_of_deeper_groups_are_listed_too():
    records = [
        *[GroupRecord("", 2), LeafRecord("w", (2,))],
        *[GroupRecord("g", 2), LeafRecord("z", (3,)), GroupRecord("h", 2)],
        *[LeafRecord("far", (2,), Tie(0)), LeafRecord("near", (3,), Tie(1))],
    ]
    group = Axis.from_records(records).children["g"].axis
    assert group.outside() == {"h.far": "w"}
    assert group.ties() == [("z", "h.near")]
    assert group.children["h"].axis.outside() == {"far": "w", "near": "g.z"}


@pytest.mark.parametrize("where", ["weight", "weight[0,1]"])
def test_asking_a_group_for_an_outside_name_says_where_it_is_stored(autoencoder, where):
    with pytest.raises(LabelError) as caught:
        decoder(autoencoder).index(where)
    assert str(caught.value) == f"`{where}` is stored at `encoder.weight`, outside this axis"


def test_an_outside_name_is_a_name_of_the_group(autoencoder):
    assert "weight" in decoder(autoencoder)
    assert list(decoder(autoencoder).paths()) == ["weight", "bias", "offset"]


def test_labels_of_a_group_leave_outside_names_out(autoencoder):
    assert list(decoder(autoencoder).labels()) == ["bias[0]", "bias[1]", "bias[2]"]


def test_two_outside_names_on_one_slot_are_tied():
    tied = [LeafRecord(name, (2,), Tie(0)) for name in "xy"]
    records = [GroupRecord("", 2), LeafRecord("w", (2,)), GroupRecord("g", 2), *tied]
    group = Axis.from_records(records).children["g"].axis
    assert group.ties() == [("x", "y")]
    assert Axis.from_json(group.to_json()).ties() == [("x", "y")]
