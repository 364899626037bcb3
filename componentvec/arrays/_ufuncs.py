"""What NumPy ufuncs do with labels: elementwise calls keep the axis, everything else is plain."""

from __future__ import annotations

from typing import Any

from componentvec.arrays._attach import agreed_axis, axis_mismatch, label_result, strip_all

__all__ = ["apply_ufunc"]


def apply_ufunc(
    cls: type[Any], ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Call a ufunc on the plain arrays, and label results whose elements are still the same ones.

    Raises
    ------
    AxisMismatchError
        When operands, ``where`` or ``out`` have different axes.
    """
    if ufunc.nargs == 2 and method == "__call__" and not options:  # np.exp(v), the hot case
        axis, plain = inputs[0]._cv_state
        return label_result(cls, ufunc(plain), axis)

    operands: list[Any] = []
    plain_inputs = strip_all(inputs, operands)
    targets = options.pop("out", None)
    plain_options = strip_all(options, operands)
    if targets is not None:
        plain_options["out"] = strip_all(targets, [])

    axis = None
    if method == "__call__":
        axis = agreed_axis(operands)
        for target in targets or ():
            target_axis = getattr(target, "axis", None) if isinstance(target, cls) else None
            if axis is not None and target_axis is not None and target_axis != axis:
                raise axis_mismatch(axis, target_axis)
    result = getattr(ufunc, method)(*plain_inputs, **plain_options)
    if ufunc.signature is not None:  # a generalised ufunc (matmul, vecdot) mixes elements
        axis = None
    if targets is None:
        if isinstance(result, tuple):
            return tuple(label_result(cls, output, axis) for output in result)
        return label_result(cls, result, axis)
    if len(targets) == 1:
        return targets[0]
    outputs = result if isinstance(result, tuple) else (result,)
    return tuple(
        label_result(cls, output, axis) if target is None else target
        for output, target in zip(outputs, targets, strict=True)
    )
