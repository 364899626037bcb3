"""Two vectors that most tests of this folder look at."""

import numpy as np
import pytest

import componentvec as cv


@pytest.fixture
def v():
    """A scalar, an array and a group: the numbers 1 to 8."""
    return cv.ComponentVector(
        rate=1.0, bias=[2.0, 3.0], net={"weight": [[4.0, 5.0], [6.0, 7.0]], "scale": 8.0}
    )


@pytest.fixture
def tied():
    """A decoder that sees the encoder's weight transposed: the numbers 0 to 10, stored once."""
    weight = np.arange(6.0).reshape(2, 3)
    return cv.ComponentVector(
        {
            "encoder": {"weight": weight, "bias": [6.0, 7.0]},
            "decoder": {"weight": weight.T, "bias": [8.0, 9.0, 10.0]},
        },
        sharing="alias",
    )
