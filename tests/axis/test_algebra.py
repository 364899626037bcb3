"""New axes from old ones: what is kept names the same elements as before."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from componentvec import Axis, LabelError, SharingError, path
from componentvec.axis import GroupRecord, LeafRecord, Tie, View

AXIS = Axis(a=2, b={"c": 3, "d": ()})


def origin(old, new, sources, positions_of):
    """The position in `old` of each element of `new`; checks that sources fit their slots."""
    origins = [positions_of(leaf).reshape(-1) for leaf in sources]
    assert len(origins) == new._slot_count
    return np.concatenate([np.empty(0, int), *origins])


def assert_same_elements(old, new, sources, positions_of):
    """Every site of `new` shows what it showed in `old`, and ties are those of `old`."""
    where = origin(old, new, sources, positions_of)
    before = dict(old.leaves())
    for names, leaf in new.leaves():
        assert leaf.shape == before[names].shape
        assert np.array_equal(where[positions_of(leaf)], positions_of(before[names]))
    assert len(np.unique(where)) == len(where) == new.size


def gather_if_strides_can(axis, paths):
    """Gather; pass over ties that no strides express in the new order (see test_strides)."""
    try:
        return axis.gather(paths)
    except SharingError:
        assume(False)


# Selecting ---------------------------------------------------------------------------------------


def test_selection_follows_the_order_asked_for():
    assert AXIS.select(["b", "a"]) is Axis(b={"c": 3, "d": ()}, a=2)


def test_a_nested_component_keeps_its_groups():
    assert AXIS.select(["b.d"]) is Axis(b={"d": ()})


def test_nested_components_of_one_group_meet_in_it():
    assert AXIS.select(["b.d", "a", "b.c"]) is Axis(b={"d": (), "c": 3}, a=2)


@pytest.mark.parametrize("where", ["b.c", 'b["c"]', "b[0]", path("b", "c"), path(1, 0)])
def test_components_are_selected_by_any_path(where):
    assert AXIS.select([where]) is Axis(b={"c": 3})


def test_nothing_selected_is_an_empty_axis():
    assert AXIS.select([]) is Axis()


def test_selection_takes_any_iterable():
    assert AXIS.select(name for name in AXIS) is AXIS


@pytest.mark.parametrize(
    ("paths", "twice"),
    [
        (["a", "a"], "a"),
        (["b", "b.c"], "b.c"),
        (["b.c", "b"], "b"),
        (["b.c", path(1, 0)], "b.c"),
    ],
)
def test_choosing_a_component_twice_is_refused(paths, twice):
    with pytest.raises(LabelError, match=f"`{twice}` is chosen twice"):
        AXIS.select(paths)


@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_selected_components_show_the_same_elements(trees, positions_of, data):
    old = Axis.from_records(data.draw(trees)[0], warn=False)
    names = data.draw(st.permutations(old.names))
    chosen = names[: data.draw(st.integers(0, len(names)))]
    new, sources = gather_if_strides_can(old, [path(name) for name in chosen])
    assert new.names == tuple(chosen)
    assert_same_elements(old, new, sources, positions_of)


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_chosen_group_shows_the_same_elements(trees, positions_of, data):
    old = Axis.from_records(data.draw(trees)[0], warn=False)
    groups = [names for names, child in old.components() if hasattr(child, "axis")]
    assume(groups)
    new, sources = gather_if_strides_can(old, [path(*data.draw(st.sampled_from(groups)))])
    assert_same_elements(old, new, sources, positions_of)


def test_selecting_everything_in_order_is_the_axis_itself(autoencoder):
    assert autoencoder.select(autoencoder.names) is autoencoder


def test_the_first_chosen_site_becomes_canonical(autoencoder):
    axis = autoencoder.select(["decoder", "encoder"])
    assert axis.ties()[0] == ("decoder.weight", "encoder.weight")
    assert axis.index("decoder.weight").strides is None
    assert axis.index("encoder.weight").strides == (1, 2)


def test_a_lone_alias_gets_a_slot_of_its_own(autoencoder):
    axis, sources = autoencoder.gather(["decoder.weight"])
    assert axis is Axis(decoder={"weight": (3, 2)})
    assert sources == [autoencoder.locate("decoder.weight")]


def test_an_outside_name_chosen_from_its_group_gets_a_slot(autoencoder):
    group = autoencoder.children["decoder"].axis
    axis, sources = group.gather(["weight"])
    assert (axis, sources) == (Axis(weight=(3, 2)), [group.locate("weight")])


def test_outside_names_on_one_slot_stay_tied_when_chosen():
    tied = [LeafRecord("x", (2,), Tie(0)), LeafRecord("y", (2,), Tie(0, View(1, (-1,))))]
    records = [GroupRecord("", 2), LeafRecord("w", (2,)), GroupRecord("g", 2), *tied]
    group = Axis.from_records(records).children["g"].axis
    expected = Axis.from_records([GroupRecord("", 2), tied[0]._replace(tie=None), tied[1]])
    assert group.select(["x", "y"]) is expected
    assert Axis.from_json(group.to_json()).select(["x", "y"]) is expected


def test_outside_names_on_different_slots_stay_apart_when_chosen():
    stored = [LeafRecord("p", (2,)), LeafRecord("q", (2,))]
    tied = [LeafRecord("x", (2,), Tie(0)), LeafRecord("y", (2,), Tie(1))]
    root = Axis.from_records([GroupRecord("", 3), *stored, GroupRecord("g", 2), *tied])
    group = root.children["g"].axis
    assert group.select(["x", "y"]) is Axis(x=2, y=2)
    assert Axis.from_json(group.to_json()).select(["x", "y"]) is Axis(x=2, y=2)


def test_a_tie_that_no_strides_express_in_the_new_order_is_refused():
    line = LeafRecord("line", (4,), Tie(0))
    turned = LeafRecord("turned", (2, 2), Tie(0, View(0, (1, 2))))
    axis = Axis.from_records([GroupRecord("", 3), LeafRecord("w", (2, 2)), line, turned])
    with pytest.raises(SharingError) as caught:
        axis.select(["turned", "line"])
    assert str(caught.value) == (
        "`line` cannot stay tied in this order: "
        "the two views of one slot differ by a reshape that strides cannot express"
    )


# Dropping ----------------------------------------------------------------------------------------


def test_dropping_keeps_the_order_of_the_rest():
    assert AXIS.drop(["b.c"]) is Axis(a=2, b={"d": ()})


def test_a_group_that_lost_all_components_stays():
    assert AXIS.drop(["b.c", "b.d"]) is Axis(a=2, b={})


def test_dropping_a_group_and_something_in_it_drops_the_group():
    assert AXIS.drop(["b", "b.c"]) is Axis(a=2)


def test_dropping_nothing_is_the_axis_itself(autoencoder):
    assert autoencoder.drop([]) is autoencoder


def test_an_alias_whose_storage_is_dropped_gets_a_slot(autoencoder):
    axis = autoencoder.drop(["encoder", "decoder.bias"])
    assert axis is Axis(decoder={"weight": (3, 2), "offset": 3})


# Renaming, merging, nesting ----------------------------------------------------------------------


def test_components_are_renamed_in_place():
    assert AXIS.rename({"a": "x", "b.d": "a"}) is Axis(x=2, b={"c": 3, "a": ()})


def test_names_can_be_swapped():
    assert AXIS.rename({"a": "b", "b": "a"}) is Axis(b=2, a={"c": 3, "d": ()})


def test_a_new_name_is_a_name_and_no_path():
    assert AXIS.rename({"a": "x.y"}).names == ("x.y", "b")


def test_renaming_keeps_ties_and_follows_the_storage(autoencoder):
    axis = autoencoder.rename({"encoder": "first", "decoder.weight": "w"})
    assert axis.ties()[0] == ("first.weight", "decoder.w")
    assert axis.children["decoder"].axis.outside() == {"w": "first.weight"}


@pytest.mark.parametrize(("names", "twice"), [({"a": "b"}, "b"), ({"a": "x", "b": "x"}, "x")])
def test_renaming_to_a_name_in_use_is_refused(names, twice):
    with pytest.raises(LabelError, match=f"component name `{twice}` occurs twice"):
        AXIS.rename(names)


def test_merging_puts_the_other_axis_behind(autoencoder):
    other = autoencoder.rename({"encoder": "e", "decoder": "d"})
    axis = autoencoder.merge(other)
    assert axis.names == ("encoder", "decoder", "e", "d")
    assert axis.size == 22
    assert ("e.weight", "d.weight") in axis.ties()
    assert axis.select(["e", "d"]) is other


def test_merging_with_an_empty_axis_changes_nothing(autoencoder):
    assert autoencoder.merge(Axis()) is Axis().merge(autoencoder) is autoencoder


def test_merging_keeps_outside_names_outside(autoencoder):
    group = autoencoder.children["decoder"].axis
    for axis in (Axis(x=2).merge(group), group.merge(Axis(x=2))):
        assert axis.outside() == {"weight": "encoder.weight"}
        assert axis.ties() == [("bias", "offset")]


def test_merging_axes_with_a_name_in_common_is_refused():
    with pytest.raises(LabelError, match="component name `a` occurs twice"):
        AXIS.merge(Axis(a=3))


def test_nesting_puts_everything_under_one_name(autoencoder):
    axis = autoencoder.nest("model")
    assert axis.names == ("model",)
    assert axis.children["model"].axis == autoencoder
    assert axis.ties()[0] == ("model.encoder.weight", "model.decoder.weight")


# What all of them refuse -------------------------------------------------------------------------

CALLS = {
    "select": lambda axis, where: axis.select([where]),
    "drop": lambda axis, where: axis.drop([where]),
    "rename": lambda axis, where: axis.rename({where: "new"}),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_unknown_names_are_refused(call):
    with pytest.raises(LabelError, match="`b` has no component 'e'"):
        call(AXIS, "b.e")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_elements_are_refused(call):
    with pytest.raises(LabelError, match=r"`a\[0\]` is an element; this call takes whole compo"):
        call(AXIS, "a[0]")


@pytest.mark.parametrize(
    "call", [lambda: AXIS.rename({"a": 3}), lambda: AXIS.nest(3)], ids=["rename", "nest"]
)
def test_a_new_name_is_a_string(call):
    with pytest.raises(LabelError, match="component names are strings, not 3"):
        call()


def test_the_old_axis_stays_as_it_was(autoencoder):
    records = autoencoder.records()
    autoencoder.select(["decoder", "encoder"])
    autoencoder.drop(["encoder"])
    autoencoder.rename({"encoder": "e"})
    autoencoder.merge(AXIS)
    autoencoder.nest("n")
    assert autoencoder.records() == records


@pytest.mark.parametrize("call", [lambda axis: axis.merge(3), lambda axis: axis.difference(3)])
def test_what_is_no_axis_is_refused(call):
    with pytest.raises(LabelError, match="expected an Axis, not int"):
        call(Axis(a=2))


def test_rename_takes_a_mapping_of_components():
    axis = Axis(a=2)
    with pytest.raises(LabelError, match="rename takes a mapping of paths to new names, not a str"):
        axis.rename("a")
    with pytest.raises(LabelError, match="the axis itself has no name"):
        axis.rename({path(): "x"})


@pytest.mark.parametrize("wrong", [5, None, 1.5], ids=repr)
def test_paths_are_strings_or_paths(wrong):
    for call in (Axis(a=2).select, Axis(a=2).drop):
        with pytest.raises(LabelError):
            call(wrong)
