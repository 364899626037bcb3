"""Two axes that differ: the first difference, in words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec import Axis
from componentvec.axis import GroupRecord, LeafRecord, Tie, View

AXIS = Axis(a=2, b={"c": 3})


def square(view=None, *, tied=True):
    tie = Tie(0, view) if tied else None
    records = [GroupRecord("", 2), LeafRecord("a", (2, 2)), LeafRecord("b", (2, 2), tie)]
    return Axis.from_records(records)


def outside(storage, size):
    records = [GroupRecord("", 2), LeafRecord(storage, (2,)), GroupRecord("g", 2)]
    records += [LeafRecord("w", (2,), Tie(0)), LeafRecord("z", (size,))]
    return Axis.from_records(records).children["g"].axis


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Axis(a=2), "`b` is only on the left"),
        (Axis(a=2, b={"c": 3}, d=1), "`d` is only on the right"),
        (Axis(a=2, b={"c": 3, "d": 1}), "`b.d` is only on the right"),
        (Axis(a=2, b={}), "`b.c` is only on the left"),
        (Axis(), "`a` is only on the left"),
        (Axis(a=2, d={"c": 3}), "there is `b` on the left and `d` on the right"),
        (Axis(b={"c": 3}, a=2), "there is `a` on the left and `b` on the right"),
        (Axis(a=2, b={}, c=3), "there is `b.c` on the left and `c` on the right"),
        (Axis(a=2, b=3), "`b` is a group on the left and an array on the right"),
        (Axis(a={}, b={"c": 3}), "`a` is an array on the left and a group on the right"),
        (Axis(a=2, b={"c": (3, 1)}), "`b.c` has shape (3,) on the left and (3, 1) on the right"),
        (Axis(a=(), b={"c": 4}), "`a` has shape (2,) on the left and () on the right"),
    ],
)
def test_the_first_difference_is_named(other, words):
    assert AXIS.difference(other) == words


def test_names_print_as_code():
    left, right = Axis({"we ird": {"lambda": 1}}), Axis({"we ird": {"lambda": 2}})
    assert left.difference(right).startswith('`["we ird"]["lambda"]` has shape (1,) on the left')


def test_equal_axes_have_no_difference():
    assert AXIS.difference(Axis(a=2, b={"c": 3})) is None


def test_a_tie_is_a_difference():
    words = square(tied=False).difference(square())
    assert words.startswith("`b` is stored here on the left and tied to ")


def test_another_view_of_the_same_slot_is_a_difference():
    words = square().difference(square(View(0, (1, 2))))
    assert words.startswith("`b` is tied to ")
    assert words.endswith(" on the right")


def test_an_outside_name_is_a_difference():
    words = outside("a", 3).difference(Axis(w=2, z=3))
    assert words.startswith("`w` is stored ")


def test_the_place_of_outside_storage_is_no_difference():
    words = outside("a", 2).difference(outside("q", 3))
    assert words == "`z` has shape (2,) on the left and (3,) on the right"


@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_any_two_axes_that_differ_differ_in_words(trees, data):
    left, right = (Axis.from_records(data.draw(trees)[0], warn=False) for _ in range(2))
    assert (left.difference(right) is None) == (left == right)
