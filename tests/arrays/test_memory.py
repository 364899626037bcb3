"""A vector dies with its last name: these tests run without the collector."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import componentvec as cv


@pytest.fixture(autouse=True)
def collector_off():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def fresh():
    w = np.ones((2, 3))
    return cv.ComponentVector(
        {"a": [1.0, 2.0], "s": 3.0, "g": {"w": w, "h": {"x": [4.0]}}, "k": {"w": w.T, "y": 5.0}},
        sharing="alias",
    )


SOURCES = {
    "components": fresh,
    "wrap": lambda: cv.ComponentVector(np.zeros(11), axis=fresh().axis),
    "zeros": lambda: cv.zeros(fresh().axis),
    "copy": lambda: fresh().copy(),
    "deepcopy": lambda: copy.deepcopy(fresh()),
    "pickle": lambda: pickle.loads(pickle.dumps(fresh())),
    "arithmetic": lambda: 2 * fresh() + 1.0,
    "ufunc": lambda: np.exp(fresh()),
    "out": lambda: np.exp(fresh(), out=fresh()),
    "in place": lambda: fresh().__iadd__(1.0),
    "empty_like": lambda: np.zeros_like(fresh()),
    "np.copy": lambda: np.copy(fresh(), subok=True),
    "where": lambda: np.where(True, fresh(), 0.0),
    "astype": lambda: fresh().astype(np.float32),
    "group": lambda: fresh().g,
    "group with outside names": lambda: fresh().k,
    "whole": lambda: fresh()[:],
    "view": lambda: fresh().view(),
    "real": lambda: (fresh() * 1j).imag,
    "selection": lambda: fresh()[["k", "g"]],
    "restructured": lambda: cv.ComponentVector(cv.trainables_nt([np.ones(2)])[0]),
}


def use(v):
    """Touch everything that is cached or could be."""
    for name in v.axis:
        v[name], getattr(v, name)
        if isinstance(v[name], cv.Labelled):
            use(v[name])
    repr(v), dir(v), v.flags, v.T, v[:], v.copy(), list(v), "zzz" in v
    hasattr(v, "zzz")
    v.setflags(write=True)
    v[:] = 0.0
    v += 1.0


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_a_vector_looks_at_a_plain_array(make):
    v = make()
    assert type(v) is cv.ComponentVector
    assert type(v.base) is np.ndarray
    assert not v.flags.owndata


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_a_used_vector_dies_at_once(make):
    v = make()
    use(v)
    vector, memory = weakref.ref(v), weakref.ref(v.base)
    del v
    assert vector() is None
    assert memory() is None


def test_a_group_does_not_hold_its_parent():
    for name in ("g", "k"):
        v = fresh()
        group = v[name]
        use(group)
        parent = weakref.ref(v)
        del v
        assert parent() is None
        assert group.w.shape in ((2, 3), (3, 2))


def test_a_leaf_holds_the_memory_and_not_the_vector():
    v = fresh()
    leaf = v.g.w
    vector, memory = weakref.ref(v), weakref.ref(v.base)
    del v
    assert vector() is None
    assert memory() is not None
    assert leaf.tolist() == [[1.0] * 3] * 2
    del leaf
    assert memory() is None


def test_a_vector_does_not_hold_its_result_nor_the_result_the_vector():
    v = fresh()
    result = v + 1.0
    vector = weakref.ref(v)
    del v
    assert vector() is None
    result_reference = weakref.ref(result)
    del result
    assert result_reference() is None


def test_a_wrapped_array_outlives_its_vector():
    x = np.zeros(11)
    v = cv.ComponentVector(x, axis=fresh().axis)
    use(v)
    vector = weakref.ref(v)
    del v
    assert vector() is None
    assert x.tolist() == [1.0] * 11


def test_errors_leave_nothing_behind():
    v = fresh()
    for go_wrong in (
        lambda v: v.zzz,
        lambda v: v["g.zzz"],
        lambda v: setattr(v, "a", [1.0, 2.0, 3.0]),
        lambda v: v.__setitem__(slice(None), {"a": 0.0, "zzz": 1.0}),
        lambda v: v + cv.ComponentVector(b=1.0),
        lambda v: v.sort(),
    ):
        with pytest.raises(cv.ComponentError):
            go_wrong(v)
    del go_wrong
    vector = weakref.ref(v)
    del v
    assert vector() is None


def test_many_vectors_leave_no_objects_behind():
    use(fresh())
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        use(fresh())
    assert len(gc.get_objects()) - before < 50


def test_components_are_views_of_the_base():
    v = fresh()
    for leaf in (v.a, v.g.w, v.k.w, v.g.h.x):
        assert leaf.base is v.base
    for group in (v.g, v.k, v.g.h):
        assert group.base.base is v.base
