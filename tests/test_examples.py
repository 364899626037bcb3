"""The examples: they can be imported, and what they compute is right."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import componentvec as cv

REASON = "the examples need scikit-learn, matplotlib and threadpoolctl (dependency group demo)"


@pytest.fixture(scope="module")
def autoencoder():
    for library in ("sklearn", "matplotlib", "threadpoolctl"):
        pytest.importorskip(library, reason=REASON)
    path = Path(__file__).parents[1] / "examples" / "tied_autoencoder.py"
    spec = importlib.util.spec_from_file_location("tied_autoencoder", path)
    module = sys.modules["tied_autoencoder"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["tied_autoencoder"]


def test_the_autoencoder_has_one_weight(autoencoder):
    model = autoencoder.make_model(64, np.random.default_rng(0))
    v, restructure = cv.destructure(model)
    assert v.size == 64 * 16 + 16 + 64
    encoder, decoder = restructure(v)
    assert type(encoder) is autoencoder.Layer
    assert np.shares_memory(encoder.weight, decoder.weight)
    assert encoder.weight.shape == (16, 64)


def test_the_gradient_of_the_autoencoder_agrees_with_differences(autoencoder):
    rng = np.random.default_rng(0)
    images = rng.random((20, 8))
    v, restructure = cv.destructure(autoencoder.make_model(8, rng))
    _, gradients = autoencoder.loss_and_gradients(restructure(v), images)
    gradient = restructure.pullback(gradients)

    def loss(flat):
        return autoencoder.loss_and_gradients(restructure(flat), images)[0]

    for place in (0, 5, 100, v.size - 1):
        step = np.zeros(v.size)
        step[place] = 1e-6
        difference = (loss(v + step) - loss(v - step)) / 2e-6
        assert gradient[place] == pytest.approx(difference, rel=1e-4, abs=1e-8)


def test_principal_components_are_the_best_reconstruction(autoencoder):
    images = np.random.default_rng(0).random((40, 20))
    lost = np.linalg.svd(images - images.mean(axis=0), compute_uv=False)[autoencoder.CODES :]
    error = autoencoder.mean_error(autoencoder.pca(images), images)
    assert error == pytest.approx(np.sum(lost**2) / len(images))


def test_a_few_iterations_draw_a_picture_and_say_that_they_are_too_few(
    autoencoder, tmp_path, monkeypatch, capsys
):
    drawn = []
    monkeypatch.setattr(autoencoder, "draw", lambda out, *arrays: drawn.append((out, arrays)))
    assert autoencoder.main(tmp_path / "demo.png", iterations=3) == 1
    ((out, (images, outputs, filters)),) = drawn
    assert out == tmp_path / "demo.png"
    assert images.shape == outputs.shape == (1797, 64)
    assert filters.shape == (16, 64)
    printed = capsys.readouterr()
    assert "iteration    1   loss" in printed.out
    assert "_2.weight" in printed.out
    assert "np.shares_memory(encoder.weight, decoder.weight) is True" in printed.out
    assert "not within 2% of that of PCA" in printed.err
