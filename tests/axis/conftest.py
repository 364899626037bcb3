"""Axes with ties, and where every one of their elements lies, worked out slowly by NumPy."""

from math import prod

import numpy as np
import pytest
from hypothesis import strategies as st

from componentvec.axis import Axis, GroupRecord, LeafRecord, Tie, View

NAMES = ["a", "b", "_1", "w", "x.y", "", "T", "lambda", "we ird", 'q"]', "[0]", "é", "ﬁ", "℘"]
SHAPES = [(), (1,), (2,), (3,), (4,), (2, 2), (2, 3), (3, 2), (1, 4), (0,), (2, 0), (2, 1, 3)]


def draw_view(draw, size):
    """A tie to a slot of `size` elements: its view, and its array of positions in the slot."""
    extents = []
    rest = size
    while rest > 1 and draw(st.booleans()):
        extents.append(draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0])))
        rest //= extents[-1]
    seen = np.arange(size).reshape(*extents, rest)
    seen = seen.transpose(draw(st.permutations(range(seen.ndim))))
    seen = seen[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in seen.shape)]
    view = View(int(seen.flat[0]), tuple(step // seen.itemsize for step in seen.strides))
    return view, seen


@st.composite
def draw_tree(draw, max_depth=3):
    """Records of an axis, and by path the position of every element of every site."""
    records = []
    sites = {}
    slots = []

    def leaf(names):
        filled = [slot for slot in range(len(slots)) if slots[slot].size]
        if filled and draw(st.integers(0, 2)) == 0:
            slot = draw(st.sampled_from(filled))
            view, seen = draw_view(draw, slots[slot].size)
            records.append(LeafRecord(names[-1], seen.shape, Tie(slot, view)))
            sites[names] = slots[slot][seen]
            return
        shape = draw(st.sampled_from(SHAPES))
        start = sum(slot.size for slot in slots)
        slots.append(start + np.arange(prod(shape)))
        records.append(LeafRecord(names[-1], shape))
        sites[names] = slots[-1].reshape(shape)

    def group(names):
        children = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
        records.append(GroupRecord(names[-1] if names else "", len(children)))
        for child in children:
            if len(names) < max_depth and draw(st.integers(0, 2)) == 0:
                group((*names, child))
            else:
                leaf((*names, child))

    group(())
    return records, sites


@pytest.fixture(scope="session")
def trees():
    """Strategy for (records, {names: positions of the elements})."""
    return draw_tree()


@pytest.fixture(scope="session")
def positions_of():
    """Function that gives, element by element, where a leaf's elements lie."""

    def positions_of(leaf):
        if leaf.view is None:
            return leaf.span.start + np.arange(prod(leaf.shape)).reshape(leaf.shape)
        steps = np.array(leaf.view.strides, dtype=int)
        found = [
            leaf.span.start + leaf.view.offset + int(steps @ np.array(index, dtype=int))
            for index in np.ndindex(leaf.shape)
        ]
        return np.array(found, dtype=int).reshape(leaf.shape)

    return positions_of


@pytest.fixture
def autoencoder():
    """An encoder, and a decoder with the encoder's weight transposed: 11 elements, two ties."""
    return Axis.from_records(
        [
            GroupRecord("", 2),
            GroupRecord("encoder", 2),
            LeafRecord("weight", (2, 3)),
            LeafRecord("bias", (2,)),
            GroupRecord("decoder", 3),
            LeafRecord("weight", (3, 2), Tie(0, View(0, (1, 3)))),
            LeafRecord("bias", (3,)),
            LeafRecord("offset", (3,), Tie(2)),
        ]
    )
