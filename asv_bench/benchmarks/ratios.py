"""Ratios of our time to that of the same work written by hand, each with a budget.

``python -m benchmarks.ratios`` prints them without asv.
"""

from types import SimpleNamespace

import numpy as np

import componentvec as cv

from .common import budget, ratio


@budget(1.3)
def track_attribute_chain() -> float:
    vector = cv.ComponentVector(a={"b": {"w": np.ones(3)}})
    plain = SimpleNamespace(a=SimpleNamespace(b=SimpleNamespace(w=np.ones(3))))
    return ratio("vector.a.b.w", "plain.a.b.w", {"vector": vector, "plain": plain})


@budget(2.8)
def track_add_n10() -> float:
    v = cv.ComponentVector(a=np.ones((2, 3)), b=np.ones(4))
    w = v.copy()
    x, y = np.ones(10), np.ones(10)
    return ratio("v + w", "x + y", {"v": v, "w": w, "x": x, "y": y})


@budget(1.3)
def track_restructure_100_leaves() -> float:
    names = [f"layer{i}" for i in range(50)]
    model = {name: {"weight": np.ones((8, 8)), "bias": np.ones(8)} for name in names}
    v, re = cv.destructure(model)
    flat = np.array(v)

    def by_hand() -> dict[str, dict[str, np.ndarray]]:
        layers = {}
        start = 0
        for name in names:
            weight = flat[start : start + 64].reshape(8, 8)
            bias = flat[start + 64 : start + 72]
            layers[name] = {"weight": weight, "bias": bias}
            start += 72
        return layers

    np.testing.assert_equal(re(v), by_hand())
    return ratio(lambda: re(v), by_hand)


def main() -> None:
    print(f"{'benchmark':32}{'ratio':>8}{'budget':>8}")
    for name, benchmark in list(globals().items()):
        if name.startswith("track_"):
            measured = benchmark()
            note = "  over" if measured > benchmark.budget else ""
            print(f"{name.removeprefix('track_'):32}{measured:8.2f}{benchmark.budget:8.2f}{note}")


if __name__ == "__main__":
    main()
