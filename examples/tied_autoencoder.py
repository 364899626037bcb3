"""Train a tied linear autoencoder with SciPy, through one labelled flat vector.

The model is an ordinary list of two dataclasses: an encoder from 64 pixels to 16 numbers, and a
decoder back whose weight is the encoder's, transposed. SciPy's optimizers know flat arrays only. Here
`destructure` makes the one vector they want, with the shared weight in it once; `restructure(v)` makes
the model again, as views of the vector; and `restructure.pullback` adds both gradients of the shared
weight up. The loss below never learns that anything is tied.

The best linear autoencoder is known: principal component analysis (PCA). The training must get there.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.optimize import OptimizeResult, minimize
from sklearn.datasets import load_digits

import componentvec as cv

HIDDEN = 16
TOLERANCE = 0.02  # how far above the error of PCA the result may end, as a fraction


@dataclass
class Layer:
    """Maps rows `x` to ``x @ weight.T + bias``."""

    weight: np.ndarray
    bias: np.ndarray


Model = list[Layer]


def make_model(pixels: int, rng: np.random.Generator) -> Model:
    weight = 0.1 * rng.standard_normal((HIDDEN, pixels))
    # `weight.T` is a view: both layers use the same memory, and that is all it takes to tie them.
    return [Layer(weight, np.zeros(HIDDEN)), Layer(weight.T, np.zeros(pixels))]


def reconstruct(model: Model, images: np.ndarray) -> np.ndarray:
    for layer in model:
        images = images @ layer.weight.T + layer.bias
    return images


def mean_error(reconstructions: np.ndarray, images: np.ndarray) -> float:
    """Squared error of an image, on average."""
    return float(np.sum((reconstructions - images) ** 2) / len(images))


def loss_and_gradients(model: Model, images: np.ndarray) -> tuple[float, Model]:
    """Backpropagation by hand, as if the two layers had nothing to do with each other."""
    encoder, decoder = model
    codes = images @ encoder.weight.T + encoder.bias
    residuals = codes @ decoder.weight.T + decoder.bias - images
    loss = float(np.sum(residuals**2) / len(images))

    d_outputs = 2 / len(images) * residuals
    d_codes = d_outputs @ decoder.weight
    return loss, [
        Layer(d_codes.T @ images, d_codes.sum(axis=0)),
        Layer(d_outputs.T @ codes, d_outputs.sum(axis=0)),
    ]


def pca(images: np.ndarray) -> np.ndarray:
    """Reconstruct from the leading principal components: no linear autoencoder does better."""
    mean = images.mean(axis=0)
    components = np.linalg.svd(images - mean, full_matrices=False)[2][:HIDDEN]
    return (images - mean) @ components.T @ components + mean


def progress_line() -> Callable[[OptimizeResult], None]:
    iterations = 0

    def show(intermediate_result: OptimizeResult) -> None:  # SciPy looks at the argument's name
        nonlocal iterations
        iterations += 1
        line = f"iteration {iterations:4d}   loss {intermediate_result.fun:.6f}"
        if sys.stdout.isatty():
            print(f"\r{line}", end="", flush=True)
        elif iterations % 25 == 1:
            print(line, flush=True)

    return show


def show_sharing(v: cv.ComponentVector, model: Model) -> None:
    encoder, decoder = model
    untied = sum(layer.weight.size + layer.bias.size for layer in model)
    shared = np.shares_memory(encoder.weight, decoder.weight)
    print(f"{v.size} parameters; {untied} if the decoder had a weight of its own")
    print(f"np.shares_memory(encoder.weight, decoder.weight): {shared}")
    before = float(decoder.weight[20, 3])
    v._1.weight[3, 20] += 1.0
    print(f"v._1.weight[3, 20] += 1  takes  decoder.weight[20, 3]  from {before:.4f}", end="")
    print(f" to {decoder.weight[20, 3]:.4f}")
    v._1.weight[3, 20] -= 1.0


def draw(out: Path, images: np.ndarray, reconstructions: np.ndarray, filters: np.ndarray) -> None:
    mpl.use("Agg")  # draws to files only, so it needs no display
    import matplotlib.pyplot as plt

    largest = float(np.abs(filters).max())
    rows = [
        (f"Digits: {images.shape[1]} pixels", images[:12], 0.0, 1.0),
        (f"Reconstructions, each from {HIDDEN} numbers", reconstructions[:12], 0.0, 1.0),
        ("The 16 filters: rows of the weight that encoder and decoder share", filters, -largest, largest),
    ]
    figure = plt.figure(figsize=(12, 4.6), layout="constrained")
    for band, (title, pictures, low, high) in zip(figure.subfigures(3), rows, strict=True):
        band.suptitle(title, x=0.01, ha="left")
        for axes, picture in zip(band.subplots(1, len(pictures)), pictures, strict=True):
            axes.imshow(picture.reshape(8, 8), cmap="gray", vmin=low, vmax=high)
            axes.set_axis_off()
    figure.savefig(out, dpi=150)
    plt.close(figure)


def main(out: Path = Path("demo.png"), iterations: int = 2000) -> int:
    start = time.perf_counter()
    images = load_digits().data / 16  # one row of 64 grey values from 0 to 1 for each image
    v, restructure = cv.destructure(make_model(images.shape[1], np.random.default_rng(0)))

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        loss, gradients = loss_and_gradients(restructure(flat), images)
        return loss, restructure.pullback(gradients)

    options = {"maxiter": iterations, "maxfun": 2 * iterations, "ftol": 1e-9, "gtol": 1e-6}
    result = minimize(
        objective, v, method="L-BFGS-B", jac=True, callback=progress_line(), options=options
    )
    v[:] = result.x
    print(f"\n{result.nit} iterations, {result.nfev} evaluations: {result.message}\n")
    model = restructure(v)
    print(v, end="\n\n")
    show_sharing(v, model)
    reconstructions = reconstruct(model, images)
    error, best = mean_error(reconstructions, images), mean_error(pca(images), images)
    print(error, best, error/best, time.perf_counter() - start)
    draw(out, images, reconstructions, model[0].weight)
    print(time.perf_counter() - start)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
