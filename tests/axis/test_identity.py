"""Equal axes are one object, everywhere and however they were made."""

import copy
import gc
import pickle
import pickletools
import threading
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec import Axis
from componentvec.axis import GroupRecord, LeafRecord, Tie, View

AGAIN = [
    pytest.param(copy.copy, id="copy"),
    pytest.param(copy.deepcopy, id="deepcopy"),
    pytest.param(lambda axis: Axis.from_records(axis.records()), id="records"),
    pytest.param(lambda axis: Axis.from_json(axis.to_json()), id="json"),
    *(
        pytest.param(lambda a, p=p: pickle.loads(pickle.dumps(a, p)), id=f"pickle {p}")
        for p in range(pickle.HIGHEST_PROTOCOL + 1)
    ),
]


def outside(storage, size=2):
    """The group `g` whose `w` is stored in its sibling `storage`, beside `z` of `size`."""
    records = [
        GroupRecord("", 2),
        LeafRecord(storage, (2,)),
        GroupRecord("g", 2),
        LeafRecord("w", (2,), Tie(0)),
        LeafRecord("z", (size,)),
    ]
    return Axis.from_records(records).children["g"].axis


def test_equal_axes_are_one_object():
    assert Axis(a=2, b={"c": ()}) is Axis({"a": (2,), "b": {"c": ()}})


def test_equal_groups_are_one_object_wherever_they_lie():
    axis = Axis(x={"w": 2}, y={"deeper": {"w": 2}})
    assert axis.children["x"].axis is axis.children["y"].axis.children["deeper"].axis
    assert axis.children["x"].axis is Axis(w=2)


@pytest.mark.parametrize("again", AGAIN)
def test_a_copy_is_the_axis_itself(autoencoder, again):
    assert again(autoencoder) is autoencoder


@pytest.mark.parametrize("again", AGAIN)
def test_a_copy_of_a_group_with_outside_names_is_equal(again):
    group = outside("store")
    assert again(group) == group
    assert hash(again(group)) == hash(group)
    assert again(group).outside() == {"w": "store"}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Axis(b=2, a=2), id="order"),
        pytest.param(Axis(a=2, c=2), id="name"),
        pytest.param(Axis(a=2, b=(2, 1)), id="shape"),
        pytest.param(Axis(a=2, b={"c": 2}), id="group"),
        pytest.param(Axis(a=2, b=2, c={}), id="an empty group more"),
        pytest.param(
            Axis.from_records(
                [GroupRecord("", 2), LeafRecord("a", (2,)), LeafRecord("b", (2,), Tie(0))]
            ),
            id="tie",
        ),
    ],
)
def test_axes_that_differ_are_not_equal(other):
    assert Axis(a=2, b=2) != other


def test_ties_through_different_views_are_not_equal():
    def square(view):
        tied = LeafRecord("b", (2, 2), Tie(0, view))
        return Axis.from_records([GroupRecord("", 2), LeafRecord("a", (2, 2)), tied])

    assert len({square(None), square(View(0, (1, 2))), square(View(3, (-2, -1)))}) == 3


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Tie(1), id="another slot"),
        pytest.param(Tie(0, View(3, (-2, -1))), id="another view"),
        pytest.param(None, id="a slot of its own"),
    ],
)
def test_ties_across_groups_are_part_of_the_structure(other):
    def squares(tie):
        records = [GroupRecord("", 3)]
        for name, own in [("x", None), ("y", None), ("z", tie)]:
            records += [GroupRecord(name, 1), LeafRecord("w", (2, 2), own)]
        return Axis.from_records(records)

    one, two = squares(Tie(0)), squares(other)
    assert one != two
    if other is not None:
        assert one.children["z"].axis == two.children["z"].axis


def test_a_view_in_c_order_is_no_view():
    def column(view):
        tied = LeafRecord("b", (2, 1), Tie(0, view))
        return Axis.from_records([GroupRecord("", 2), LeafRecord("a", (2,)), tied])

    assert column(View(0, (1, 1))) is column(View(0, (1, 7))) is column(None)


def test_groups_tied_to_different_places_are_equal():
    one, two = outside("store"), outside("cellar")
    assert one == two
    assert hash(one) == hash(two)
    assert (one.outside(), two.outside()) == ({"w": "store"}, {"w": "cellar"})


def test_stored_groups_keep_their_own_note_of_the_place():
    one, two = (Axis.from_json(outside(name).to_json()) for name in ("store", "cellar"))
    assert one == two
    assert (one.outside(), two.outside()) == ({"w": "store"}, {"w": "cellar"})


def test_equal_groups_with_ties_inside_note_paths_of_their_own_root():
    def nested(name):
        inner = [LeafRecord("z", (2,)), GroupRecord("h", 1), LeafRecord("near", (2,), Tie(0))]
        root = Axis.from_records([GroupRecord("", 1), GroupRecord(name, 2), *inner])
        return root.children[name].axis

    one, two = nested("left"), nested("right")
    assert one == two
    assert one.children["h"].axis.outside() == {"near": "left.z"}
    assert two.children["h"].axis.outside() == {"near": "right.z"}


def test_a_group_with_an_outside_name_is_not_one_that_holds_it():
    assert outside("store") != Axis(w=2, z=2)


def test_equal_axes_find_each_other_in_a_dictionary(autoencoder):
    assert {autoencoder: 1}[Axis.from_records(autoencoder.records())] == 1


def test_an_axis_is_equal_to_no_other_kind_of_object():
    assert Axis(a=2) != {"a": 2}
    assert Axis() != ()


def test_an_axis_nobody_holds_is_gone_without_the_collector():
    gc.disable()
    try:
        gone = weakref.ref(Axis(only_here={"and_here": 3}))
        assert gone() is None
    finally:
        gc.enable()


def test_a_structure_nobody_uses_is_forgotten():
    gone = weakref.ref(Axis(only_here={"and_here": 3})._structure)
    assert gone() is None


def test_an_axis_asked_for_labels_is_gone_without_the_collector():
    gc.disable()
    try:
        axis = Axis(only_here={"and_here": 3})
        axis.label(2)
        gone = weakref.ref(axis)
        del axis
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["size", "children", "names", "new"])
def test_an_axis_cannot_be_changed(name):
    axis = Axis(a=2)
    with pytest.raises(AttributeError, match=f"an Axis is immutable; cannot set '{name}'"):
        setattr(axis, name, 3)
    with pytest.raises(AttributeError, match=f"an Axis is immutable; cannot delete '{name}'"):
        delattr(axis, name)


def test_the_children_of_an_axis_cannot_be_changed():
    with pytest.raises(TypeError):
        Axis(a=2).children["b"] = 3


@given(data=st.data())
@settings(deadline=None, max_examples=50)
def test_axes_are_equal_exactly_when_their_records_are(trees, data):
    one, two = (Axis.from_records(data.draw(trees)[0], warn=False) for _ in range(2))
    assert (one == two) == (one.records() == two.records()) == (one is two)


def test_a_pickle_needs_no_class_but_the_axis(autoencoder):
    named = [
        argument for _, argument, _ in pickletools.genops(pickle.dumps(autoencoder, 0)) if argument
    ]
    classes = {text for text in named if isinstance(text, str) and text.startswith("componentvec")}
    assert classes == {"componentvec.axis._axis _unpickle"}


def test_threads_that_build_one_structure_get_equal_axes():
    shapes = {f"group_{i}": {"weight": (3, i), "bias": 3} for i in range(50)}
    start = threading.Barrier(8)
    made = []

    def build():
        start.wait()
        for _ in range(20):
            axis = Axis(shapes)
            made.append((axis, hash(axis), axis.label(axis.size - 1)))

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 160
    assert len({axis for axis, _, _ in made}) == 1
    assert {(number, label) for _, number, label in made} == {
        (hash(made[0][0]), "group_49.bias[2]")
    }


def test_threads_that_drop_and_build_axes_do_not_disturb_each_other():
    kept = Axis(shared={"w": 2})
    failures = []

    def churn(own):
        for i in range(200):
            axis = Axis({own: {"w": 2}, "shared": {"w": 2}, "n": i})
            if axis.children["shared"].axis != kept.children["shared"].axis:
                failures.append(axis)

    threads = [threading.Thread(target=churn, args=(f"t{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
