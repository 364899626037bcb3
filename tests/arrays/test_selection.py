import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import componentvec as cv


def test_a_selection_has_the_chosen_in_the_order_chosen(v):
    chosen = v[["net", "rate"]]
    assert type(chosen) is cv.ComponentVector
    assert chosen.axis == cv.Axis(net={"weight": (2, 2), "scale": ()}, rate=())
    assert chosen.tolist() == [4.0, 5.0, 6.0, 7.0, 8.0, 1.0]


def test_a_selection_is_a_copy(v):
    chosen = v[["bias"]]
    chosen.bias[0] = -1.0
    assert v.bias[0] == 2.0
    assert type(chosen.base) is np.ndarray


def test_nested_paths_keep_their_groups(v):
    chosen = v[["net.scale", "bias", "net.weight"]]
    assert chosen.axis == cv.Axis(net={"scale": (), "weight": (2, 2)}, bias=2)
    assert chosen.tolist() == [8.0, 4.0, 5.0, 6.0, 7.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "paths", [[cv.path("net", "scale")], [cv.path(2, 1)], [cv.path("net", 1)], ["net.scale"]]
)
def test_paths_of_any_kind_select(v, paths):
    assert v[paths].axis == cv.Axis(net={"scale": ()})
    assert v[(paths,)].tolist() == [8.0]


@pytest.mark.parametrize(
    "paths", [["bias", "bias"], ["net", "net.scale"], ["net.scale", "net"], ["net", cv.path(2)]]
)
def test_repeats_are_refused(v, paths):
    with pytest.raises(cv.LabelError, match=r"`net(\.scale)?` is chosen twice|`bias` is chosen"):
        v[paths]


def test_elements_cannot_be_selected(v):
    with pytest.raises(cv.LabelError, match=r"`bias\[0\]` is an element; this call takes whole"):
        v[["bias[0]"]]


def test_unknown_names_are_refused(v):
    with pytest.raises(cv.LabelError, match="`net` has no component 'weigth'; did you mean"):
        v[["rate", "net.weigth"]]


@pytest.mark.parametrize("keys", [["bias", 0], [0, "bias"]])
def test_names_and_positions_do_not_mix(v, keys):
    with pytest.raises(IndexError):
        v[keys]


def test_dtype_and_byte_order_are_kept(v):
    for dtype in ("f4", ">f8", "c8", "i2"):
        wrapped = cv.ComponentVector(np.asarray(v).astype(dtype), axis=v.axis)
        assert wrapped[["bias"]].dtype == np.dtype(dtype)
        assert wrapped[["bias"]].tolist() == [2, 3]


def test_names_with_dots_are_chosen_exactly():
    v = cv.ComponentVector({"a.b": 1.0, "a": {"b": 2.0}})
    assert v[["a.b"]].tolist() == [1.0]
    assert v[[cv.path("a", "b")]].tolist() == [2.0]
    assert v[[cv.path("a", "b"), "a.b"]].tolist() == [2.0, 1.0]


# Ties --------------------------------------------------------------------------------------------


def test_ties_among_the_chosen_stay(tied):
    chosen = tied[["encoder", "decoder"]]
    assert chosen.axis == tied.axis
    assert chosen.tolist() == tied.tolist()


def test_the_first_chosen_becomes_canonical(tied):
    chosen = tied[["decoder", "encoder"]]
    assert chosen.axis.ties() == [("decoder.weight", "encoder.weight")]
    assert chosen.tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0, 8.0, 9.0, 10.0, 6.0, 7.0]
    for path in tied.axis.paths():
        np.testing.assert_array_equal(chosen[path], tied[path])
    chosen.encoder.weight[0, 2] = -1.0
    assert chosen.decoder.weight[2, 0] == -1.0


def test_a_lone_alias_gets_a_slot_of_its_own(tied):
    chosen = tied[["decoder.weight"]]
    assert chosen.axis == cv.Axis(decoder={"weight": (3, 2)})
    assert chosen.tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]


def test_outside_names_are_selected_from_a_group(tied):
    chosen = tied.decoder[["bias", "weight"]]
    assert chosen.tolist() == [8.0, 9.0, 10.0, 0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    assert tied.decoder[["bias"]].tolist() == [8.0, 9.0, 10.0]


def test_a_tie_that_no_strides_can_say_is_refused():
    w = np.arange(6.0).reshape(2, 3)
    v = cv.ComponentVector(w=w, t=w.T, row=w.reshape(-1), sharing="alias")
    assert v[["w", "row"]].axis.ties() == [("w", "row")]
    assert v[["row", "t"]].axis.ties() == [("row", "t")]
    with pytest.raises(cv.SharingError, match="`row` cannot stay tied in this order"):
        v[["t", "row"]]


def site(array, order, backwards):
    """One permutation and reversal of an array."""
    flips = tuple(slice(None, None, -1 if back else 1) for back in backwards)
    return array.transpose(order)[flips]


sites = st.tuples(st.permutations(range(3)), st.tuples(*[st.booleans()] * 3))


@settings(deadline=None, max_examples=60)
@given(
    kinds=st.lists(sites, min_size=1, max_size=4),
    shape=st.tuples(*[st.integers(1, 3)] * 3),
    data=st.data(),
)
def test_every_selection_shows_the_same_values(kinds, shape, data):
    w = np.arange(float(np.prod(shape))).reshape(shape)
    tree = {f"s{i}": site(w, *kind) for i, kind in enumerate(kinds)} | {"x": [-1.0, -2.0]}
    v = cv.ComponentVector(tree, sharing="alias")
    assert v.size == w.size + 2
    chosen = data.draw(st.permutations(sorted(tree)))
    chosen = chosen[: data.draw(st.integers(1, len(chosen)))]
    picked = v[chosen]
    assert picked.size == ("x" in chosen) * 2 + (chosen != ["x"]) * w.size
    for name in chosen:
        np.testing.assert_array_equal(picked[name], tree[name])
    tied_names = [name for name in chosen if name != "x"]
    for one, two in itertools.combinations(tied_names, 2):
        assert np.shares_memory(picked[one], picked[two])
    if tied_names:
        picked[tied_names[-1]] += 100.0
        for name in tied_names:
            np.testing.assert_array_equal(picked[name], np.asarray(tree[name]) + 100.0)
