import copy
import gc
import keyword
import pickle
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import componentvec as cv
from componentvec.arrays import named_tree

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def repickled(tree, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(tree, protocol))


# The named-tuple protocol ------------------------------------------------------------------------


def test_it_is_a_named_tuple():
    tree = named_tree(["a", "b"], [1.0, 2.0])
    like = namedtuple("Like", "a b")(1.0, 2.0)
    assert isinstance(tree, tuple)
    assert isinstance(tree, cv.NamedTree)
    assert tree == like
    assert tree._fields == like._fields
    assert tree._asdict() == like._asdict()
    assert tree._replace(b=3.0) == like._replace(b=3.0)
    assert tree._make([5.0, 6.0]) == like._make([5.0, 6.0])
    assert type(tree)._make(iter([5.0, 6.0])) == (5.0, 6.0)
    assert type(tree)(5.0, b=6.0) == (5.0, 6.0)
    assert type(tree)(a=5.0, b=6.0)._asdict() == {"a": 5.0, "b": 6.0}
    assert (tree.a, tree[1], tree[-1], len(tree), hash(tree)) == (1.0, 2.0, 2.0, 2, hash(like))
    first, second = tree
    assert (first, second) == (1.0, 2.0)
    assert not hasattr(tree, "__dict__")


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3)], ids=len)
def test_a_wrong_number_of_values_is_refused(values):
    cls = type(named_tree(["a", "b"], [1, 2]))
    for make in (lambda: cls(*values), lambda: cls._make(values)):
        with pytest.raises(
            TypeError, match=rf"expected 2 values for \('a', 'b'\), got {len(values)}"
        ):
            make()


@pytest.mark.parametrize(
    ("positional", "named"),
    [((), {"a": 1}), ((1,), {"c": 2}), ((1, 2), {"b": 3}), ((), {"a": 1, "b": 2, "c": 3})],
)
def test_wrong_names_are_refused(positional, named):
    with pytest.raises(TypeError, match=r"expected .*\('a', 'b'\), got"):
        type(named_tree(["a", "b"], [1, 2]))(*positional, **named)


def test_replacing_an_unknown_field_names_close_ones():
    tree = named_tree(["weight", "bias"], [1, 2])
    with pytest.raises(cv.LabelError) as error:
        tree._replace(wieght=3)
    assert str(error.value) == "no field 'wieght'; did you mean 'weight'?"


def test_fields_cannot_be_set():
    tree = named_tree(["a"], [1.0])
    with pytest.raises(AttributeError):
        tree.a = 2.0
    with pytest.raises(AttributeError):
        tree.b = 2.0
    with pytest.raises(AttributeError):
        tree.b  # noqa: B018


def test_its_repr_names_the_values():
    tree = named_tree(["a", "b"], [np.ones(2), named_tree(["c"], [3.0])])
    assert repr(tree) == "NamedTree(a=array([1., 1.]), b=NamedTree(c=3.0))"


def test_the_repr_of_a_deep_or_wide_tree_is_short():
    deep = named_tree(["leaf"], [1.0])
    for _ in range(500):
        deep = named_tree(["g"], [deep])
    wide = named_tree([f"f{place}" for place in range(1000)], range(1000))
    assert len(repr(deep)) < 1000
    assert len(repr(wide)) < 1000
    assert repr(wide).startswith("NamedTree(f0=0, f1=1, ")


def test_an_empty_tree_has_no_fields():
    tree = named_tree([], [])
    assert tree._fields == ()
    assert tree == ()
    assert repickled(tree) == ()


# Names -------------------------------------------------------------------------------------------

ODD = ["_1", "_private", "__x", "count", "index", "self", "cls", "values", "named", "", "a.b", "ﬁ"]
ODD += [*keyword.kwlist, "fields", "mro", "two words", "a\0b", "1", "π"]


@pytest.mark.parametrize("name", ODD, ids=repr)
def test_a_field_may_have_any_name(name):
    tree = named_tree([name, "other"], [1.0, 2.0])
    assert getattr(tree, name) == 1.0
    assert tree._asdict() == {name: 1.0, "other": 2.0}
    assert tree._replace(**{name: 3.0}) == (3.0, 2.0)
    assert type(tree)(**{name: 4.0, "other": 5.0}) == (4.0, 5.0)
    assert repickled(tree)._fields == (name, "other")


@pytest.mark.parametrize(
    "name", ["_fields", "_make", "_asdict", "_replace", "_field_defaults", "__len__", "__class__"]
)
def test_names_that_the_protocol_uses_are_refused(name):
    with pytest.raises(cv.LabelError) as error:
        named_tree(["a", name], [1, 2], ("net", "0"))
    assert name in str(error.value)
    assert "cannot be a field of a named tuple, whose protocol uses that name" in str(error.value)
    assert "`net" in str(error.value)


def test_a_model_with_such_a_name_is_refused_by_its_path():
    with pytest.raises(cv.LabelError, match=r"`layer\._make` cannot be a field"):
        cv.trainables_nt({"layer": {"_make": np.ones(2)}})


def test_a_name_given_twice_is_refused():
    with pytest.raises(cv.LabelError, match="`a` occurs twice"):
        named_tree(["a", "b", "a"], [1, 2, 3])


# One class per field set -------------------------------------------------------------------------


def test_trees_of_one_structure_have_one_type():
    one = cv.trainables_nt({"a": np.ones(2), "b": [np.ones(1)]})[0]
    two = cv.trainables_nt({"a": np.zeros(3), "b": (np.zeros(1),)})[0]
    assert type(one) is type(two)
    assert type(one.b) is type(two.b)
    assert type(one) is type(repickled(one)) is type(copy.deepcopy(one))


def test_trees_of_other_fields_have_other_types():
    assert type(named_tree(["a", "b"], [1, 2])) is not type(named_tree(["b", "a"], [1, 2]))
    assert type(named_tree(["a"], [1])) is not cv.NamedTree


def test_a_class_goes_with_its_last_tree():
    before = len(cv.NamedTree.__subclasses__())
    named_tree(["never", "used", "elsewhere"], [1, 2, 3])
    gc.collect()
    assert len(cv.NamedTree.__subclasses__()) <= before


# Pickles and copies ------------------------------------------------------------------------------

COPIES = {
    "deepcopy": copy.deepcopy,
    **{f"pickle {p}": lambda tree, p=p: repickled(tree, p) for p in PROTOCOLS},
}


def tied_tree(order="C"):
    w = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], order=order)
    empty = np.zeros((0, 2))
    return named_tree(
        ["w", "same", "inner", "row", "empty", "nothing", "scalar"],
        [
            w,
            w,
            named_tree(["t", "flip", "t2"], [w.T, w[::-1], w.T]),
            w.reshape(-1),  # a copy where the order is Fortran's
            empty,
            empty,
            np.float32(2.0),
        ],
    )


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_copies_keep_values_types_and_ties(make, order):
    tree = tied_tree(order)
    again = make(tree)
    assert type(again) is type(tree)
    assert type(again.inner) is type(tree.inner)
    for one, two in ((again, tree), (again.inner, tree.inner)):
        for left, right in zip(one, two, strict=True):
            if not isinstance(left, tuple):
                np.testing.assert_array_equal(left, right)
                assert left.dtype == right.dtype
    assert again.w is again.same
    assert again.empty is again.nothing
    assert again.inner.t is not again.w
    again.w[0, 2] = -1.0
    assert again.inner.t[2, 0] == -1.0
    assert again.inner.t2[2, 0] == -1.0
    assert again.inner.flip[1, 2] == -1.0
    assert tree.w[0, 2] == 2.0
    assert type(again.scalar) is np.float32


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_a_copied_tree_makes_the_same_vector(make):
    tree = tied_tree()
    assert cv.ComponentVector(make(tree), promotion="allow").axis == (
        cv.ComponentVector(tree, promotion="allow").axis
    )


def test_a_shallow_copy_shares_every_array():
    for order in "CF":
        tree = tied_tree(order)
        assert all(one is two for one, two in zip(copy.copy(tree), tree, strict=True))


def test_arrays_that_overlap_in_part_are_copied_with_their_values():
    x = np.arange(6.0)
    tree = named_tree(["a", "b"], [x[:4], x[2:]])
    for make in COPIES.values():
        again = make(tree)
        assert again.a.tolist() == [0.0, 1.0, 2.0, 3.0]
        assert again.b.tolist() == [2.0, 3.0, 4.0, 5.0]


def test_tied_memory_is_pickled_once():
    w = np.zeros((100, 100))
    tree = named_tree(["a", "b", "c"], [w, w.T, w[::-1]])
    assert len(pickle.dumps(tree)) < w.nbytes + 1000


def test_arrays_go_out_of_band():
    w = np.zeros((100, 100))
    buffers = []
    text = pickle.dumps(named_tree(["a", "b"], [w, w.T]), 5, buffer_callback=buffers.append)
    assert len(text) < 1000
    again = pickle.loads(text, buffers=buffers)
    assert np.shares_memory(again.a, w)
    assert np.shares_memory(again.b, w)


def test_five_hundred_levels_are_no_problem():
    model = leaf = np.ones(2)
    model = [leaf, leaf.reshape(2, 1)]
    for _ in range(500):
        model = [model]
    tree, _ = cv.trainables_nt(model)
    for protocol in PROTOCOLS:
        again = repickled(tree, protocol)
        for _ in range(500):
            (again,) = again
        assert np.shares_memory(again._1, again._2)
    assert type(copy.deepcopy(tree)) is type(tree)


def test_a_shared_subtree_stays_shared():
    layer = {"w": np.ones(2)}
    tree, _ = cv.trainables_nt([layer, layer])
    assert tree._1.w is tree._2.w
    again = repickled(tree)
    assert again._1.w is again._2.w


@settings(deadline=None, max_examples=40)
@given(
    st.permutations(range(3)),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.integers(0, 5),
)
def test_any_permutation_and_reversal_survives(order, backwards, protocol):
    x = np.arange(24.0).reshape(2, 3, 4)
    y = x.transpose(order)[tuple(slice(None, None, -1 if b else 1) for b in backwards)]
    again = repickled(named_tree(["x", "y"], [x, y]), protocol)
    np.testing.assert_array_equal(again.y, y)
    again.x[...] += 100.0
    np.testing.assert_array_equal(again.y, y + 100.0)
