"""Train a tied linear autoencoder with SciPy, through one labelled flat vector.

The model is an ordinary list of two dataclasses: an encoder from the 64 pixels of a digit to 16
numbers, and a decoder back, whose weight is the encoder's, transposed. SciPy's optimizers know flat
arrays only, so

- `destructure` copies the parameters into one vector, the shared weight once;
- `restructure` turns a vector into a model again, whose arrays are views of the vector;
- `restructure.pullback` turns gradients of the model's arrays into the gradient of the vector; the
  two of the shared weight are added up.

The loss never learns that anything is shared. The result can be checked: no linear autoencoder does
better than principal component analysis (PCA), and the training has to get there.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import OptimizeResult, minimize
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import componentvec as cv

CODES = 16  # numbers that the encoder leaves of an image
TOLERANCE = 0.02  # how far above the error of PCA the training may end, as a fraction


@dataclass
class Layer:
    """Maps each row `x` to ``x @ weight.T + bias``."""

    weight: np.ndarray
    bias: np.ndarray


def make_model(pixels: int, rng: np.random.Generator) -> list[Layer]:
    weight = 0.1 * rng.standard_normal((CODES, pixels))
    # `weight.T` is a view of the same memory. That alone ties the layers; nothing else declares it.
    return [Layer(weight, np.zeros(CODES)), Layer(weight.T, np.zeros(pixels))]


def apply(layer: Layer, x: np.ndarray) -> np.ndarray:
    return x @ layer.weight.T + layer.bias


def mean_error(outputs: np.ndarray, images: np.ndarray) -> float:
    """Sum of squared errors of an image, averaged over the images."""
    return float(np.sum((outputs - images) ** 2) / len(images))


def loss_and_gradients(model: list[Layer], images: np.ndarray) -> tuple[float, list[Layer]]:
    """Backpropagate by hand, as if the layers had nothing to do with each other."""
    encoder, decoder = model
    codes = apply(encoder, images)
    outputs = apply(decoder, codes)
    d_outputs = 2 / len(images) * (outputs - images)
    d_codes = d_outputs @ decoder.weight
    return mean_error(outputs, images), [
        Layer(d_codes.T @ images, d_codes.sum(axis=0)),
        Layer(d_outputs.T @ codes, d_outputs.sum(axis=0)),
    ]


def pca(images: np.ndarray) -> np.ndarray:
    """Reconstruct the images from their leading principal components."""
    mean = images.mean(axis=0)
    components = np.linalg.svd(images - mean, full_matrices=False)[2][:CODES]
    return (images - mean) @ components.T @ components + mean


def progress_line() -> Callable[[OptimizeResult], None]:
    iteration = 0

    def show(intermediate_result: OptimizeResult) -> None:  # SciPy goes by this argument's name
        nonlocal iteration
        iteration += 1
        line = f"iteration {iteration:4d}   loss {intermediate_result.fun:.6f}"
        if sys.stdout.isatty():
            print(f"\r{line}", end="", flush=True)  # over the line before
        elif iteration == 1 or iteration % 25 == 0:
            print(line, flush=True)

    return show


def show_sharing(model: list[Layer], v: cv.ComponentVector) -> None:
    encoder, decoder = model
    untied = sum(layer.weight.size + layer.bias.size for layer in model)
    print(f"{v.size} parameters; without sharing there would be {untied}")
    shared = np.shares_memory(encoder.weight, decoder.weight)
    print(f"np.shares_memory(encoder.weight, decoder.weight) is {shared}")
    encoder.weight[3, 20] = 42.0
    print(f"after encoder.weight[3, 20] = 42.0, decoder.weight[20, 3] is {decoder.weight[20, 3]},")
    print(f"and in the vector v._2.weight[20, 3] is {v._2.weight[20, 3]}")


def draw(out: Path, images: np.ndarray, outputs: np.ndarray, filters: np.ndarray) -> None:
    top = float(np.abs(filters).max())  # grey is zero in every filter
    rows = [
        (f"Originals, {images.shape[1]} pixels each", images[:12], 0.0, 1.0),
        (f"Reconstructions from {CODES} numbers each", outputs[:12], 0.0, 1.0),
        (f"The {CODES} filters: rows of the shared weight", filters, -top, top),
    ]
    # A figure made without pyplot needs no display: it is drawn by Agg, straight to the file.
    figure = Figure(figsize=(12, 4.3), layout="constrained")
    bands = figure.subfigures(3, height_ratios=[12, 12, 10])
    for band, (title, pictures, low, high) in zip(bands, rows, strict=True):
        band.suptitle(title, x=0.004, ha="left")
        for axes, picture in zip(band.subplots(1, len(pictures)), pictures, strict=True):
            axes.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=low, vmax=high)
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_color("0.8")
    figure.savefig(out, dpi=150)


def main(out: Path = Path("demo.png"), iterations: int = 2000) -> int:
    start = time.perf_counter()
    images = load_digits().data / 16  # a row for each image, grey values from 0 to 1
    v, restructure = cv.destructure(make_model(images.shape[1], np.random.default_rng(0)))

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        loss, gradients = loss_and_gradients(restructure(flat), images)
        return loss, restructure.pullback(gradients)

    options = {"maxiter": iterations, "maxfun": 2 * iterations, "ftol": 1e-9}
    show = progress_line()
    # NumPy and SciPy bring a thread pool each; on small matrices they get in each other's way.
    with threadpool_limits(1):
        result = minimize(objective, v, method="L-BFGS-B", jac=True, callback=show, options=options)
    print(f"\nstopped after {result.nit} iterations: {result.message}\n")

    v[:] = result.x  # SciPy's answer is a plain array; this puts it under the labels
    print(v, end="\n\n")
    trial = v.copy()  # because a weight gets overwritten
    show_sharing(restructure(trial), trial)

    encoder, decoder = restructure(v)
    outputs = apply(decoder, apply(encoder, images))
    draw(out, images, outputs, encoder.weight)
    error, optimum = mean_error(outputs, images), mean_error(pca(images), images)
    print(f"\nreconstruction error: {error:.6f}, with {CODES} principal components: {optimum:.6f}")
    print(f"ratio: {error / optimum:.6f}")
    print(f"wrote {out} after {time.perf_counter() - start:.1f} s")
    if not error <= (1 + TOLERANCE) * optimum:  # also when it is nan
        print(f"failed: the error is not within {TOLERANCE:.0%} of that of PCA", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
