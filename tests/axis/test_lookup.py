"""Finding components by every kind of path; a path that leads nowhere says how far it came."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from componentvec import Axis, LabelError, path
from componentvec.axis import Group, Leaf, Location
from componentvec.names import format_path


@pytest.fixture
def axis():
    return Axis({"s": (), "a": (2, 3), "g": {"x": 2, "h": {"y": ()}}, "we ird": {"p.q": 3}})


@pytest.mark.parametrize(
    ("where", "start", "shape"),
    [
        ("s", 0, ()),
        ("a", 1, (2, 3)),
        ("g", 7, (3,)),
        ("g.x", 7, (2,)),
        ("g.h.y", 9, ()),
        ("we ird", 10, (3,)),
        ("we ird.p.q", 10, (3,)),
        ('["we ird"]["p.q"]', 10, (3,)),
        ('g["h"].y', 9, ()),
        ('["g"].h', 9, (1,)),
        ("[2][1]", 9, (1,)),
        ("g[0]", 7, (2,)),
        (path("g", "x"), 7, (2,)),
        (path("g", 1, "y"), 9, ()),
        (path(2, 0), 7, (2,)),
        (path("we ird", "p.q"), 10, (3,)),
        (path(), 0, (13,)),
    ],
)
def test_a_component_is_found_by(axis, where, start, shape):
    size = int(np.prod(shape, dtype=int))
    assert axis.index(where) == Location(slice(start, start + size), shape, None)


@pytest.mark.parametrize(
    ("where", "position"),
    [
        ("a[1,2]", 6),
        ("a[1, 2]", 6),
        ("a[1][2]", 6),
        ("g.x[1]", 8),
        ("g[0][1]", 8),
        ('["we ird"]["p.q"][2]', 12),
        (path("a", 0, 2), 3),
        (path(1, 0, 2), 3),
        (path("we ird", 0, 1), 11),
    ],
)
def test_an_element_is_found_by(axis, where, position):
    assert axis.index(where) == Location(slice(position, position + 1), (), None)


def test_resolving_spells_the_path_out(axis):
    names, found = axis.resolve(path(2, 1, 0))
    assert names == ("g", "h", "y")
    assert isinstance(found, Leaf)
    assert axis.resolve("g[0][1]")[0] == ("g", "x", 1)


def test_a_group_is_located_with_its_axis(axis):
    found = axis.locate("g.h")
    assert isinstance(found, Group)
    assert found.axis is Axis(y=())


def test_an_exact_name_wins_over_a_dotted_path():
    axis = Axis({"a": {"b": 2}, "a.b": 3})
    assert axis.index("a.b").shape == (3,)
    assert axis.index('a["b"]').shape == axis.index(path("a", "b")).shape == (2,)


def test_an_exact_name_wins_at_every_level():
    axis = Axis({"a": {"b.c": 1, "b": {"c": 2}}})
    assert axis.index("a.b.c").shape == (1,)
    assert axis.index('a["b"].c').shape == (2,)


def test_a_name_with_brackets_wins_over_an_element():
    axis = Axis({"x": 2, "x[0]": 3})
    assert axis.index("x[0]").shape == (3,)
    assert axis.index(path("x", 0)).shape == ()


def test_a_name_is_not_a_position():
    axis = Axis({"b": 2, "0": 3})
    assert axis.index("0").shape == (3,)
    assert axis.index(path(0)).shape == (2,)


def test_the_empty_name_is_a_name():
    axis = Axis({"": 2, "g": {"": 3}})
    assert axis.index("").shape == (2,)
    assert axis.index(path("g", "")).shape == axis.index('g[""]').shape == (3,)


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_every_component_is_found_by_every_spelling_of_its_path(trees, data):
    axis = Axis.from_records(data.draw(trees)[0], warn=False)
    for names, child in axis.components():
        places = []
        below = axis
        for name in names:
            places.append(below.names.index(name))
            below = getattr(below.children[name], "axis", None)
        mixed = [data.draw(st.sampled_from(pair)) for pair in zip(names, places, strict=True)]
        for spelling in (path(*names), path(*places), path(*mixed), path(names[0], *places[1:])):
            assert axis.resolve(spelling) == (names, child)
        if len(names) > 1 or names[0] in axis.children:
            printed = format_path(names)
            assert printed in axis
            # A child may have a printed path for a name; it is an exact name, and wins.
            if printed not in axis.children:
                assert axis.resolve(printed) == (names, child)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("q", "no component 'q'; its components are 's', 'a', 'g', 'we ird'"),
        ("we_ird", "no component 'we_ird'; did you mean 'we ird'?"),
        ("g.z", "`g` has no component 'z'; its components are 'x', 'h'"),
        ("g.h.z.t", "`g.h` has no component 'z'; its components are 'y'"),
        ('["we ird"].pq', "`[\"we ird\"]` has no component 'pq'; did you mean 'p.q'?"),
        ("a.b", "`a` of shape (2, 3) has no `b`"),
        ("a[0]", "`a` of shape (2, 3) has no `[0]`"),
        ("a[2,0]", "`a` of shape (2, 3) has no `[2,0]`"),
        ("a[0,0,0]", "`a` of shape (2, 3) has no `[0,0,0]`"),
        ("s[0]", "`s` of shape () has no `[0]`"),
        (path("a", -1, 0), "`a` of shape (2, 3) has no `[-1,0]`"),
        (path("a", 0, "x"), "`a` of shape (2, 3) has no `[0].x`"),
        ("g[2]", "`g` has 2 components, so none at position 2"),
        (path(-1), "the axis has 4 components, so none at position -1"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_came(axis, where, message):
    with pytest.raises(LabelError) as caught:
        axis.index(where)
    assert str(caught.value) == message
    assert where not in axis


@pytest.mark.parametrize("text", ["a[", "g..x.[", 'a["', "g.[0]", '["\\q"]'])
def test_text_that_is_no_path_says_how_to_write_one(axis, text):
    with pytest.raises(LabelError, match=r"is not a path; write it like `a\.b`"):
        axis.index(text)
    assert text not in axis


@pytest.mark.parametrize("key", [3, None, ("g", "x"), 1.5, b"a"])
def test_a_key_of_another_type_is_no_path(axis, key):
    with pytest.raises(LabelError) as caught:
        axis.index(key)
    assert str(caught.value) == f"a path is a string or cv.path(...), not {key!r}"
    assert key not in axis


def test_iterating_gives_the_direct_names(axis):
    assert list(axis) == list(axis.names) == ["s", "a", "g", "we ird"]


def test_paths_are_those_of_the_leaves(axis):
    assert list(axis.paths()) == ["s", "a", "g.x", "g.h.y", '["we ird"]["p.q"]']
