import itertools
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import componentvec as cv
from componentvec.sharing import Link, find_ties, tied_to


def ties(*leaves, policy="alias"):
    return find_ties(leaves, [(f"p{place}",) for place in range(len(leaves))], policy)


def addresses(array):
    """The place in memory of every element: the slow, certain way."""
    start = array.__array_interface__["data"][0]
    steps = zip(array.strides, np.indices(array.shape), strict=True)
    return start + sum((step * index for step, index in steps), np.zeros(array.shape, int))


def shown(first, link, shape):
    """The places that a link says an array of this shape shows."""
    places = addresses(first).ravel()
    if link.view is None:
        return places.reshape(shape)
    offset, strides = link.view
    steps = zip(strides, np.indices(shape), strict=True)
    return places[offset + sum((s * i for s, i in steps), np.zeros(shape, int))]


# What is a tie -----------------------------------------------------------------------------------

X = np.arange(24.0).reshape(2, 3, 4)
M = np.arange(60.0).reshape(6, 10)
SAME = {
    "same object": (X, X),
    "another view": (X, X[:]),
    "transpose": (X, X.T),
    "swapped axes": (X, X.swapaxes(0, 1)),
    "cycled axes": (X, X.transpose(2, 0, 1)),
    "reversed": (X, X[::-1]),
    "reversed everywhere": (X, X[::-1, ::-1, ::-1]),
    "reversed and transposed": (X, X.T[:, ::-1]),
    "flattened": (X, X.reshape(-1)),
    "merged dimensions": (X, X.reshape(6, 4)),
    "split dimensions": (X, X.reshape(2, 3, 2, 2)),
    "split and transposed": (X, X.reshape(2, 3, 2, 2).transpose(3, 1, 0, 2)),
    "new dimensions": (X, X[None, :, :, None]),
    "seen from the transpose": (X.T, X),
    "seen from the flattened": (X.reshape(-1), X.T),
    "seen from the reversed": (X[:, ::-1], X[::-1]),
    "reshaped twice": (X.reshape(6, 4), X.reshape(2, 12).reshape(4, 6)[::-1]),
    "strided block": (M[1:3, 2:5], M[1:3, 2:5].T),
    "strided block reversed": (M[::2, 1::3], M[::2, 1::3][::-1, ::-1]),
    "column": (M[:, 3], M[::-1, 3]),
    "column and matrix of one column": (M[:, 3], M[:, 3:4]),
    "Fortran order": (np.asfortranarray(M), np.asfortranarray(M)[:]),
    "one element": (M[2:3, 3], M[2, 3:4]),
    "zero-dimensional": (M[2, 3, ...], M[2:3, 3:4]),
    "real part": ((1j * M).real, None),
    "big-endian": (M.astype(">f8"), None),
}
SAME["Fortran order"] = (SAME["Fortran order"][0], SAME["Fortran order"][0].T)
SAME["real part"] = (SAME["real part"][0], SAME["real part"][0].T)
SAME["big-endian"] = (SAME["big-endian"][0], SAME["big-endian"][0][::-1])


@pytest.mark.parametrize(("one", "two"), SAME.values(), ids=SAME)
def test_the_same_elements_are_a_tie(one, two):
    none, link = ties(one, two)
    assert none is None
    assert link.first == 0
    np.testing.assert_array_equal(shown(one, link, two.shape), addresses(two))


@pytest.mark.parametrize(("one", "two"), SAME.values(), ids=SAME)
def test_a_vector_shows_a_tie_with_its_values(one, two):
    v = cv.ComponentVector(one=one, two=two, sharing="alias")
    assert v.size == one.size
    np.testing.assert_array_equal(v["one"], one)
    np.testing.assert_array_equal(v["two"], two)


Z = np.zeros(12, complex)
APART = {
    "two arrays": (np.zeros(3), np.zeros(3)),
    "even and odd": (X.reshape(-1)[::2], X.reshape(-1)[1::2]),
    "two columns": (M[:, 1], M[:, 2]),
    "column groups": (M[:, :3], M[:, 3:]),
    "columns taken in turn": (M[:, ::2], M[:, 1::2]),
    "rows": (M[:2], M[2:]),
    "chessboard": (M[::2, ::2], M[1::2, 1::2]),
    "steps that never meet": (M.reshape(-1)[0:20:6], M.reshape(-1)[4:36:10]),
    "different steps": (M.reshape(-1)[::4], M.reshape(-1)[1::6]),
    "real and imaginary": (Z.real, Z.imag),
    "fields of a record": tuple(np.zeros(3, "f8, f8")[name] for name in ("f0", "f1")),
    "before and behind": (M[0], M[1]),
    "numbers": (1.0, 1.0),
    "NumPy scalars": (M[0, 0], M[0, 0]),
}
SCALAR = np.float64(2.0)
APART["one NumPy scalar twice"] = (SCALAR, SCALAR)
EMPTY = M[:0]
APART["empty views"] = (EMPTY, EMPTY[:])
APART["empty view inside another array"] = (M, M[2:2])


@pytest.mark.parametrize("pair", APART.values(), ids=APART)
def test_no_element_in_common_is_independent(pair):
    for policy in ("alias", "reject", "copy"):
        assert ties(*pair, policy=policy) == [None, None]
        assert ties(*pair[::-1], policy=policy) == [None, None]


PARTIAL = {
    "shifted": (M.reshape(-1)[:-1], M.reshape(-1)[1:]),
    "part": (M, M[1:3]),
    "one element": (M, M[2, 3, ...]),
    "every other": (M.reshape(-1), M.reshape(-1)[::2]),
    "crossing": (M[2], M[:, 3]),
    "steps that meet once": (M.reshape(-1)[::4], M.reshape(-1)[2::6]),
    "other dtype": (M, M.view(np.int64)),
    "halves of elements": (M, M.view(np.float32)[:, ::2]),
    "complex and real part": (Z, Z.real),
    "broadcast and its source": (np.broadcast_to(M[0], (3, 10)), M[0]),
    "two broadcasts": (np.broadcast_to(M[0], (3, 10)), np.broadcast_to(M[0], (3, 10))),
    "broadcast scalar": (np.broadcast_to(M[0, 0, ...], 4), np.broadcast_to(M[0, 0, ...], 4)),
    "two sliding windows": (sliding_window_view(M[0], 3), sliding_window_view(M[0], 3)),
    "sliding window reversed": (sliding_window_view(M[0], 3), sliding_window_view(M[0], 3)[::-1]),
}


@pytest.mark.parametrize("pair", PARTIAL.values(), ids=PARTIAL)
def test_some_elements_in_common_are_refused(pair):
    for leaves, policy in itertools.product((pair, pair[::-1]), ("alias", "reject")):
        with pytest.raises(cv.SharingError) as error:
            ties(*leaves, policy=policy)
        assert str(error.value) == (
            "`p0` and `p1` overlap in memory, but are not the same elements seen through a "
            "transpose, reversal or reshape, so they cannot share a slot; copy one of them, or "
            "pass sharing='copy' to store both apart"
        )


@pytest.mark.parametrize("pair", [*PARTIAL.values(), *SAME.values()], ids=[*PARTIAL, *SAME])
def test_copy_looks_at_nothing(pair):
    assert ties(*pair, policy="copy") == [None, None]


def test_a_reshape_across_a_transpose_is_a_tie_in_one_order_only():
    assert ties(M.reshape(-1), M.T)[1] is not None
    with pytest.raises(cv.SharingError, match="overlap in memory"):
        ties(M.T, M.reshape(-1))


def test_partial_overlap_in_a_vector_is_refused_by_its_paths():
    x = np.zeros(6)
    with pytest.raises(cv.SharingError, match=r"`head\.x` and `tail\.x` overlap in memory"):
        cv.ComponentVector(head={"x": x[:4]}, tail={"x": x[2:]}, sharing="alias")


@pytest.mark.parametrize("leaf", [np.broadcast_to(1.0, 4), sliding_window_view(np.ones(5), 3)])
def test_an_array_that_repeats_elements_is_tied_to_itself_only(leaf):
    assert ties(leaf) == [None]
    assert ties(leaf, leaf) == [None, Link(0, None)]


def test_an_empty_array_is_tied_by_identity_only():
    assert ties(EMPTY, EMPTY, EMPTY.T) == [None, Link(0, None), None]


# Several at once ---------------------------------------------------------------------------------


def test_every_link_points_at_the_first_of_its_memory():
    y = np.zeros((2, 2))
    leaves = [X.T, y, X, y, X[::-1], X, 1.0, y.T]
    links = ties(*leaves)
    assert [link and link.first for link in links] == [None, None, 0, 1, 0, 0, None, 1]
    for leaf, link in zip(leaves, links, strict=True):
        if link is not None:
            np.testing.assert_array_equal(
                shown(leaves[link.first], link, leaf.shape), addresses(leaf)
            )


def test_reject_names_every_group_of_paths():
    y = np.zeros(3)
    with pytest.raises(cv.SharingError) as error:
        find_ties(
            [X, y, X.T, y, np.zeros(1), X[:]],
            [("a",), ("b", "we.ird"), ("c", "d"), ("e",), ("f",), ("T",)],
            "reject",
        )
    assert str(error.value) == (
        'these components share memory: `a` and `c.d` and `["T"]`; `b["we.ird"]` and `e`; pass '
        "sharing='alias' to store them once and keep them tied, or sharing='copy' to store each "
        "apart"
    )


def test_an_array_behind_a_short_one_is_still_compared_with_a_long_one():
    flat = M.reshape(-1)
    with pytest.raises(cv.SharingError, match="`p0` and `p2` overlap"):
        ties(flat[::2], flat[1:4:2], flat[20:22])


@pytest.mark.parametrize("policy", ["never", "", None])
def test_an_unknown_policy_is_refused(policy):
    with pytest.raises(ValueError, match="sharing must be 'alias', 'reject' or 'copy', not"):
        ties(X, policy=policy)


def test_nothing_is_tied_to_nothing():
    assert ties() == []


@pytest.mark.parametrize(
    "split",
    [
        lambda m: [m[:, i] for i in range(m.shape[1])],
        lambda m: [m[i] for i in range(m.shape[0])],
        lambda m: [m[:, i, None] for i in range(m.shape[1])],
        lambda m: [m[:, i : i + 2] for i in range(0, m.shape[1], 2)],
        lambda m: [m[:, i] for i in range(m.shape[1])] + [m[::-1, i] for i in range(m.shape[1])],
        lambda m: [part for i in range(m.shape[1]) for part in (m[0::2, i], m[1::2, i])],
    ],
    ids=["columns", "rows", "thin columns", "pairs of columns", "columns twice", "half columns"],
)
def test_the_work_does_not_grow_with_the_square(split, monkeypatch):
    calls = []
    honest = np.shares_memory
    monkeypatch.setattr(np, "shares_memory", lambda *a, **k: calls.append(1) or honest(*a, **k))
    leaves = split(np.zeros((4, 1000)))
    links = ties(*leaves)
    assert sum(link is None for link in links) == len({addresses(x).min() for x in leaves})
    assert len(calls) <= 10 * len(leaves)


# Elements 0, 6, 12, 18 and 4, 14, 24, 34: apart, but not by any simple rule.
UNCLEAR = (M.reshape(-1)[0:20:6], M.reshape(-1)[4:36:10])


def test_what_cannot_be_decided_is_refused(monkeypatch):
    def give_up(*args, **options):
        raise np.exceptions.TooHardError

    monkeypatch.setattr(np, "shares_memory", give_up)
    with pytest.raises(cv.SharingError, match="overlap in memory"):
        ties(*UNCLEAR)


def test_the_search_is_bounded(monkeypatch):
    work = []

    def watch(one, two, max_work=None):
        work.append(max_work)
        return False

    monkeypatch.setattr(np, "shares_memory", watch)
    ties(*UNCLEAR)
    assert work
    assert all(limit is not None and 0 < limit < 10**8 for limit in work)


# Against brute force -----------------------------------------------------------------------------

BUFFER = np.arange(40.0)


@st.composite
def strided(draw):
    """Any view of the buffer: overlapping itself, reversed, broadcast or empty."""
    shape = draw(st.lists(st.integers(0, 3), max_size=3).map(tuple))
    steps = [draw(st.integers(-6, 6)) for _ in shape]
    reach = [
        step * (extent - 1) if extent else 0 for step, extent in zip(steps, shape, strict=True)
    ]
    lowest, highest = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    start = draw(st.integers(-lowest, BUFFER.size - 1 - highest))
    return as_strided(BUFFER[start:], shape, [8 * step for step in steps])


@st.composite
def related(draw):
    """A view, and another that transposes, reverses, reshapes or cuts it."""
    one = draw(strided())
    two = one.transpose(draw(st.permutations(range(one.ndim))))
    steps = [draw(st.sampled_from([1, 1, -1])) for _ in two.shape]
    two = two[(*(slice(None, None, step) for step in steps), ...)]
    if draw(st.booleans()):
        flattened = two.view()
        try:
            flattened.shape = (two.size,)
        except (AttributeError, ValueError):
            flattened = two
        two = flattened
    if two.ndim and draw(st.integers(0, 4)) == 0:
        two = two[draw(st.integers(0, 1)) :]
    return draw(st.permutations([one, two]))


def is_mixed_radix(array):
    """Whether each step goes beyond all that the smaller ones reach."""
    reach = 1
    steps = zip(array.strides, array.shape, strict=True)
    for step, extent in sorted((abs(step) // 8, extent) for step, extent in steps):
        if extent > 1:
            if step < reach:
                return False
            reach += step * (extent - 1)
    return True


def strides_can_say(one, two):
    """Whether positions in the C order of `one` are linear in the index of `two`."""
    order = {place: position for position, place in enumerate(addresses(one).ravel().tolist())}
    positions = np.vectorize(order.__getitem__, otypes=[int])(addresses(two))
    origin = positions[(0,) * two.ndim]
    steps = [
        positions[tuple(int(d == other) for other in range(two.ndim))] - origin
        if two.shape[d] > 1
        else 0
        for d in range(two.ndim)
    ]
    linear = origin + sum(
        (step * index for step, index in zip(steps, np.indices(two.shape), strict=True)),
        np.zeros(two.shape, int),
    )
    return np.array_equal(positions, linear)


def verdict(one, two):
    """What two different arrays are: apart, tied, an error, or either of the last two."""
    mine, yours = addresses(one).ravel().tolist(), addresses(two).ravel().tolist()
    if not set(mine) & set(yours):
        return "apart"
    repeats = len(set(mine)) < len(mine) or len(set(yours)) < len(yours)
    if repeats or set(mine) != set(yours) or not strides_can_say(one, two):
        return "error"
    return "tied" if is_mixed_radix(one) and is_mixed_radix(two) else "tied or error"


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@settings(deadline=None, max_examples=300)
@given(st.one_of(st.tuples(strided(), strided()), related()))
def test_two_views_are_what_brute_force_says(pair):
    one, two = pair
    assume(one is not two)
    expected = verdict(one, two)
    try:
        none, link = ties(one, two)
    except cv.SharingError:
        assert "error" in expected
        return
    assert none is None
    assert ("tied" if link else "apart") in expected
    if link:
        np.testing.assert_array_equal(shown(one, link, two.shape), addresses(two))


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@settings(deadline=None, max_examples=100)
@given(st.lists(st.one_of(strided(), related().map(lambda pair: pair[0])), max_size=5))
def test_many_views_are_what_brute_force_says(leaves):
    verdicts = {verdict(one, two) for one, two in itertools.combinations(leaves, 2)}
    try:
        links = ties(*leaves)
    except cv.SharingError:
        assert any("error" in found for found in verdicts)
        return
    assert "error" not in verdicts
    for place, (leaf, link) in enumerate(zip(leaves, links, strict=True)):
        if link is None:
            assert all(verdict(leaf, earlier) == "apart" for earlier in leaves[:place])
        else:
            assert links[link.first] is None
            np.testing.assert_array_equal(
                shown(leaves[link.first], link, leaf.shape), addresses(leaf)
            )


@settings(deadline=None, max_examples=100)
@given(st.lists(strided(), max_size=4))
def test_a_vector_holds_the_values_of_any_views(leaves):
    tree = {f"p{place}": leaf for place, leaf in enumerate(leaves)}
    for policy in ("alias", "copy"):
        try:
            v = cv.ComponentVector(tree, sharing=policy)
        except cv.SharingError:
            assert policy == "alias"
            continue
        for name, leaf in tree.items():
            np.testing.assert_array_equal(v[name], leaf)


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@settings(deadline=None, max_examples=100)
@given(st.lists(st.one_of(strided(), related().map(lambda pair: pair[0])), max_size=4))
def test_reject_raises_where_alias_raises_or_ties(leaves):
    try:
        shared = any(ties(*leaves))
    except cv.SharingError:
        shared = True
    if shared:
        with pytest.raises(cv.SharingError):
            ties(*leaves, policy="reject")
    else:
        assert ties(*leaves, policy="reject") == [None] * len(leaves)


# Frozen and trainable ----------------------------------------------------------------------------


def tied(trainable, frozen):
    names = [("t", f"p{place}") for place in range(len(trainable))]
    names += [("f", f"p{place}") for place in range(len(frozen))]
    return tied_to(trainable, frozen, names)


@pytest.mark.parametrize(("one", "two"), SAME.values(), ids=SAME)
def test_a_frozen_array_that_is_trainable_memory_is_found(one, two):
    assert tied([one], [two]) == [True]
    assert tied([two], [one]) == [True]
    assert tied([np.ones(3), one], [np.ones(2), two, None, two]) == [False, True, False, True]


@pytest.mark.parametrize("pair", APART.values(), ids=APART)
def test_frozen_memory_of_its_own_stays_frozen(pair):
    assert tied(pair[:1], pair[1:]) == [False]
    assert tied(pair[1:], pair[:1]) == [False]


@pytest.mark.parametrize(("one", "two"), PARTIAL.values(), ids=PARTIAL)
def test_a_frozen_array_that_overlaps_a_trainable_one_is_refused_by_their_names(one, two):
    for trainable, frozen in ((one, two), (two, one)):
        with pytest.raises(cv.SharingError) as caught:
            tied([np.ones(1), trainable], [frozen])
        assert str(caught.value) == (
            "`t.p1` and `f.p0` overlap in memory, but are not the same elements seen through a "
            "transpose, reversal or reshape, so they cannot share a slot; copy one of them, or "
            "pass sharing='copy' to store both apart"
        )


@pytest.mark.parametrize(("one", "two"), PARTIAL.values(), ids=PARTIAL)
def test_arrays_of_one_side_may_overlap_each_other(one, two):
    apart = np.ones(2)
    assert tied([apart], [one, two]) == [False, False]
    assert tied([one, two], [apart]) == [False]


def test_another_dtype_on_the_same_memory_overlaps():
    for view in (X.view("i8"), X.view("c16"), X.view("f4"), X.view("u1")):
        with pytest.raises(cv.SharingError, match=r"`t\.p0` and `f\.p0` overlap"):
            tied([X], [view])
        with pytest.raises(cv.SharingError, match=r"`t\.p0` and `f\.p0` overlap"):
            tied([view], [X])
        assert tied([np.ones(1)], [X, view]) == [False, False]


def test_frozen_arrays_tied_to_each_other_through_a_trainable_one_are_all_found():
    assert tied([X.T], [X, X[::-1], X.T[::-1], X.copy()]) == [True, True, True, False]
    assert tied([M[:3], M[3:]], [M[3:][::-1], M[:3].T]) == [True, True]


def test_objects_of_other_kinds_are_never_tied():
    one, two = object(), np.float64(1.0)
    assert tied([one, two, 1.5], [one, two, 1.5]) == [False, False, False]
    assert tied([], [X]) == [False]
    assert tied([X], []) == []


def test_arrays_without_elements_are_tied_to_trainable_ones_as_one_object_only():
    assert tied([EMPTY], [EMPTY, EMPTY[:], M]) == [True, False, False]


def test_many_frozen_views_of_one_array_are_looked_at_in_reasonable_time():
    table = np.zeros((20, 10_000))
    columns = [table[:, k] for k in range(10_000)]
    start = time.perf_counter()
    assert not any(tied(columns[::2], columns[1::2]))
    assert all(tied(columns, [column[::-1] for column in columns]))
    assert time.perf_counter() - start < 10


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(strided(), st.booleans()), max_size=5))
def test_frozen_and_trainable_views_are_what_brute_force_says(leaves):
    trainable = [leaf for leaf, is_trainable in leaves if is_trainable]
    frozen = [leaf for leaf, is_trainable in leaves if not is_trainable]
    verdicts = [{verdict(one, two) for one in trainable} for two in frozen]
    found = set().union(*verdicts)
    try:
        answers = tied(trainable, frozen)
    except cv.SharingError:
        assert found & {"error", "tied or error"}
        return
    assert "error" not in found
    for answer, seen in zip(answers, verdicts, strict=True):
        assert answer == bool(seen - {"apart"})
