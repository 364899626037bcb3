"""What a type checker must understand of user code; read by mypy, never run."""

from dataclasses import dataclass
from typing import Any, assert_type

import numpy as np

import componentvec as cv

Array = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass
class Layer:
    weight: Array


v = cv.ComponentVector(rate=1.0, net={"bias": [1.0]})
w = v.copy()

assert_type(v + w, cv.ComponentVector)
assert_type(2 * v, cv.ComponentVector)
assert_type(v - 0.1 * w, cv.ComponentVector)
assert_type(-v, cv.ComponentVector)
assert_type(v > w, cv.ComponentVector)
assert_type(v == w, cv.ComponentVector)
assert_type(v.astype("f4"), cv.ComponentVector)
assert_type(v.axis, cv.Axis)
assert_type((2 * v).axis.label(0), str)
v.net.bias = (v * 2).net.bias
v["net.bias"] += 1
v -= w

vector, restructure = cv.destructure([Layer(np.ones(2))])
assert_type(vector, cv.ComponentVector)
assert_type(restructure, cv.Restructure[list[Layer]])
assert_type(restructure(vector), list[Layer])
assert_type(restructure.flatten(restructure(vector)), cv.ComponentVector)

parameters, _ = cv.trainables_nt({"a": Layer(np.ones(2))})
assert_type(parameters, cv.NamedTree)
parameters.a.weight.sum()

model = {"a": Layer(np.ones(2))}
chosen, back = cv.destructure(model, trainable=lambda path, leaf: path.endswith("weight"))
assert_type(back(chosen, copy=True, dtype="follow", statics="copy"), dict[str, Layer])
assert_type(back.batch(np.ones((3, 2))), dict[str, Layer])
assert_type(back(parameters, base=model), dict[str, Layer])

vectors, by_dtype = cv.destructure_by_dtype(model)
assert_type(vectors, dict[np.dtype[Any], cv.ComponentVector])
assert_type(by_dtype, cv.RestructureByDtype[dict[str, Layer]])
assert_type(by_dtype(vectors), dict[str, Layer])
assert_type(by_dtype.pullback(model), dict[np.dtype[Any], cv.ComponentVector])


@cv.register_static
class Table:
    rows: Array


assert_type(Table(), Table)


class Spline:
    def __init__(self, values: Array) -> None:
        self.values = values


cv.register_pytree_node(
    Spline,
    lambda spline: ((spline.values,), None),
    lambda aux, children: Spline(*children),
    trainable=("_1",),
)
