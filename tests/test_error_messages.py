"""Every error by the text that users read: what was asked, what was found, where, and what to do.

One table: a function per mistake, and above it the class and the whole printed message. Who rewords
a message changes it there. The last test reads the package: each of its ``raise`` statements
answers a mistake of the table.
"""

import ast
import collections
import contextlib
import json
import pickle
import re
import sys
import types
import warnings
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import ml_dtypes
import numpy as np
import pytest

import componentvec as cv

PACKAGE = Path(cv.__file__).parent

BUILTINS = {
    cv.LabelError: (KeyError, AttributeError),
    cv.AxisMismatchError: (ValueError,),
    cv.LengthError: (ValueError,),
    cv.SharingError: (ValueError,),
    cv.PromotionError: (TypeError,),
    cv.CopyError: (cv.PromotionError, ValueError),
    cv.DeviceError: (TypeError,),
    cv.UnregisteredTypeError: (TypeError,),
    cv.MissingDependencyError: (ImportError,),
}

# Functions with a ``raise`` that no user reaches, each with the reason.
EXCUSED = {}


# Vectors and models to make mistakes with ---------------------------------------------------------


def small():
    return cv.ComponentVector(rate=0.5, net={"weight": np.ones((2, 3)), "bias": [1.0, 2.0, 3.0]})


def integers():
    return cv.ComponentVector(n=[1, 2], m=3)


def singles():
    return cv.ComponentVector(a=np.zeros(2, "f4"), g={"b": np.zeros(1, "f4")})


def tied():
    """A vector whose group `out` shows `w` twice more, transposed and in one line."""
    w = np.arange(6.0).reshape(2, 3)
    parts = {"w": w, "out": {"wt": w.T, "line": w.reshape(-1), "b": np.zeros(2)}}
    return cv.ComponentVector(parts, sharing="alias")


def odd_names():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.ShadowedNameWarning)
        return cv.ComponentVector({"a.b": {"T": [1.0], "c": [2.0]}, "mean": 1.0})


def frozen():
    vector = small()
    vector.setflags(write=False)
    return vector


def unlabelled():
    return np.ones(2).view(cv.ComponentVector)


def back(model=None, **options):
    """The way back to a model; by default to one like `small`."""
    with_default = {"rate": np.ones(()), "net": {"weight": np.ones((2, 3)), "bias": np.ones(3)}}
    return cv.destructure(with_default if model is None else model, **options)[1]


def back_tied():
    w = np.ones((2, 3))
    return back({"enc": w, "dec": w.T, "b": np.ones(1)})


def by_dtype():
    return cv.destructure_by_dtype({"a": np.ones(2, "f4"), "b": np.ones(3)})[1]


def always(path, leaf):
    return True


class DeviceArray:
    """Stands for an array of CuPy."""

    __module__ = "cupy"
    shape = (2,)
    dtype = np.dtype(float)


@contextlib.contextmanager
def cupy():
    with mock.patch.dict(sys.modules, cupy=types.SimpleNamespace(ndarray=DeviceArray)):
        yield


class OddArray:
    """Stands for an array of a library nobody knows."""

    __module__ = "oddlib"

    def __dlpack__(self):
        raise NotImplementedError


class Layer:
    """A hand-written class that nobody registered."""

    def __init__(self, weight):
        self.weight = weight


class Table(list):
    pass


class Spline:
    pass


# The table ----------------------------------------------------------------------------------------


class Mistake(NamedTuple):
    make: Any
    error: type
    message: str
    given: Any
    """Makes the vector of the mistake; none of its bytes may change."""
    whole: bool
    """Whether it is about no component in particular, so that there is no path to name."""


MISTAKES = []


def mistake(error, message, *, given=small, whole=False):
    """Add a function that makes a mistake with a vector."""

    def add(make):
        MISTAKES.append(pytest.param(Mistake(make, error, message, given, whole), id=make.__name__))
        return make

    return add


# LabelError: reading


@mistake(cv.LabelError, "no component 'rat'; did you mean 'rate'?", whole=True)
def an_attribute_that_is_no_component(v):
    return v.rat


@mistake(cv.LabelError, "no component 'loss'; its components are 'rate', 'net'", whole=True)
def a_name_that_is_no_component(v):
    return v["loss"]


@mistake(cv.LabelError, "`net` has no component 'wieght'; did you mean 'weight'?")
def an_inner_name_that_is_no_component(v):
    return v["net.wieght"]


@mistake(cv.LabelError, "no component 'wieght'; did you mean 'weight'?", whole=True)
def an_inner_attribute_that_is_no_component(v):
    return v.net.wieght


@mistake(
    cv.LabelError,
    "`empty` has no component 'a'; it has no components",
    given=lambda: cv.ComponentVector(empty={}),
)
def a_name_in_an_empty_group(v):
    return v["empty.a"]


@mistake(cv.LabelError, "`net` has no component 'weigth'; did you mean 'weight'?")
def an_axis_asked_for_an_unknown_name(v):
    return v.axis.index("net.weigth")


@mistake(cv.LabelError, "a path is a string or cv.path(...), not 3", whole=True)
def an_axis_asked_for_a_number(v):
    return v.axis.index(3)


@mistake(cv.LabelError, "the axis has 2 components, so none at position 7", whole=True)
def a_position_without_component(v):
    return v[cv.path(7)]


@mistake(cv.LabelError, "`net` has 2 components, so none at position 5")
def an_inner_position_without_component(v):
    return v[cv.path("net", 5)]


@mistake(cv.LabelError, "`net.weight` of shape (2, 3) has no `[2,0]`")
def an_element_outside_its_array(v):
    return v.axis.index("net.weight[2,0]")


@mistake(cv.LabelError, "`net.weight` of shape (2, 3) has no `[1]`")
def an_element_with_too_few_indices(v):
    return v.axis.index("net.weight[1]")


@mistake(cv.LabelError, '`net.bias` of shape (3,) has no `["mean"]`')
def a_name_below_an_array(v):
    return v["net.bias.mean"]


@mistake(cv.LabelError, "a path is made of names and integers, not 1.5", whole=True)
def a_path_made_of_a_float(v):
    return v[cv.path("net", 1.5)]


@mistake(
    cv.LabelError,
    "'net[bias' is not a path; write it like `a.b`, `a[\"b c\"]` or cv.path(...)",
)
def a_bracket_that_does_not_close(v):
    return v["net[bias"]


@mistake(
    cv.LabelError,
    '\'net["\\\\x"]\' is not a path; write it like `a.b`, `a["b c"]` or cv.path(...)',
)
def a_quoted_name_that_is_no_literal(v):
    return v['net["\\x"]']


@mistake(
    cv.LabelError,
    "v['net', 'bias']: a tuple has one key per dimension, and a vector has one; write a path, "
    'as in v["net.bias"] or v[cv.path("net", "bias")]',
    whole=True,
)
def a_tuple_of_names(v):
    return v["net", "bias"]


@mistake(cv.LabelError, "no component 'los'; its components are 'rate', 'net'", whole=True)
def a_choice_of_unknown_names(v):
    return v[["rate", "los"]]


@mistake(cv.LabelError, "`net.bias` is chosen twice")
def a_component_chosen_twice(v):
    return v[["net", "net.bias"]]


@mistake(cv.LabelError, "`net.bias[0]` is an element; this call takes whole components")
def an_element_chosen_as_a_component(v):
    return v[["net.bias[0]"]]


@mistake(
    cv.LabelError,
    "an array without an axis has no component 'rate'",
    given=unlabelled,
    whole=True,
)
def a_component_of_an_array_without_axis(v):
    return v["rate"]


@mistake(
    AttributeError,
    "'ComponentVector' object without an axis has no attribute 'rate'",
    given=unlabelled,
    whole=True,
)
def an_attribute_of_an_array_without_axis(v):
    return v.rate


@mistake(AttributeError, "__cuda_array_interface__", whole=True)
def a_private_attribute(v):
    return v.__cuda_array_interface__


@mistake(
    cv.LabelError,
    "`wt` is stored at `w`, outside this group; a copy of the group does not hold it",
    given=tied,
)
def a_tied_name_of_a_copied_group(v):
    return v.out.copy().wt


@mistake(cv.LabelError, "`line` is stored at `w`, outside this axis", given=tied)
def a_range_of_a_name_stored_outside(v):
    return v.out.axis.index("line")


# LabelError: writing


@mistake(
    cv.LabelError,
    "no component 'momentum', and assignment does not make one; its components are 'rate', 'net'",
    whole=True,
)
def a_new_attribute(v):
    v.momentum = 0.9


@mistake(cv.LabelError, "`net` has no component 'gain'; its components are 'weight', 'bias'")
def a_new_key(v):
    v["net.gain"] = 1.0


@mistake(cv.LabelError, "`net` has no component 'wieght'; did you mean 'weight'?")
def a_mapping_with_an_unknown_name(v):
    v.net = {"bias": [7.0, 8.0, 9.0], "wieght": 0.0}


@mistake(cv.LabelError, "there is no component 'nett'; did you mean 'net'?", whole=True)
def a_mapping_with_an_unknown_name_for_the_whole(v):
    v[:] = {"rate": 9.0, "nett": {}}


@mistake(cv.LabelError, "`net.weight` is an array of shape (2, 3), which has no components")
def a_mapping_for_an_array(v):
    v.net = {"bias": [7.0, 8.0, 9.0], "weight": {"a": 1.0}}


@mistake(
    cv.LabelError,
    '`["a.b"]["T"]` is an array of shape (1,), which has no components',
    given=odd_names,
)
def a_mapping_for_an_array_with_odd_names(v):
    v["a.b"] = {"c": 9.0, "T": {"a": 1.0}}


@mistake(
    cv.LabelError,
    "v[['rate', 'net']] = ... : assign one component at a time, or a mapping to v[:] to write "
    "several",
    whole=True,
)
def several_components_at_once(v):
    v[["rate", "net"]] = 0.0


@mistake(
    cv.LabelError,
    "v['net', 'bias']: a tuple has one key per dimension, and a vector has one; write a path, "
    'as in v["net.bias"] or v[cv.path("net", "bias")]',
    whole=True,
)
def a_write_to_a_tuple_of_names(v):
    v["net", "bias"] = 0.0


@mistake(
    cv.LabelError,
    'v.mean is an attribute of the array itself; use v["mean"] = ... instead',
    given=odd_names,
    whole=True,
)
def an_assignment_to_a_name_of_the_array(v):
    v.mean = 3.0


@mistake(
    cv.LabelError,
    "setting v.shape would tear values from their names; work on np.asarray(v)",
    whole=True,
)
def setting_the_shape(v):
    v.shape = (2, 5)


@mistake(
    cv.LabelError,
    "v.sort() would move values under other names; work on a plain copy, as in `np.array(v)`",
)
def sorting_in_place(v):
    v.sort()


@mistake(cv.LabelError, "components cannot be deleted: del v.rate", whole=True)
def deleting_a_component(v):
    del v.rate


# LabelError: building


@mistake(cv.LabelError, "component names are strings; `net` has the key 1")
def a_key_that_is_no_string(v):
    cv.ComponentVector(net={1: v})


@mistake(cv.LabelError, "component names are strings; the mapping has the key 1", whole=True)
def a_key_that_is_no_string_at_the_top(v):
    cv.ComponentVector({1: v})


@mistake(
    cv.LabelError,
    "component 'rate' is given twice: in the first argument and by keyword",
    whole=True,
)
def a_component_given_twice(v):
    cv.ComponentVector({"rate": 1.0}, rate=2.0)


@mistake(
    cv.LabelError,
    "component 'rate' is given twice: in the first argument and by keyword",
    whole=True,
)
def a_vector_with_a_component_given_twice(v):
    cv.ComponentVector(v, rate=2.0)


@mistake(
    cv.LabelError,
    "ndarray has no component names; pass a mapping, a named tuple, a dataclass or keywords, "
    "or axis= to label a flat array",
    whole=True,
)
def a_flat_array_without_names(v):
    cv.ComponentVector(np.ones(3))


@mistake(
    cv.LabelError,
    "list has no component names; pass a mapping, a named tuple, a dataclass or keywords, or "
    "axis= to label a flat array",
    whole=True,
)
def a_list_of_numbers_without_names(v):
    cv.ComponentVector([1.0, 2.0])


@mistake(
    cv.LabelError,
    "axis= labels one flat array as it is; only dtype= goes with it",
    whole=True,
)
def an_axis_together_with_components(v):
    cv.ComponentVector(np.ones(10), axis=v.axis, rate=1.0)


@mistake(cv.LabelError, "axis= takes an Axis, not ComponentVector; its axis is v.axis", whole=True)
def a_vector_given_as_axis(v):
    cv.ComponentVector(np.ones(10), axis=v)


@mistake(cv.LabelError, "axis= takes an Axis, not dict", whole=True)
def a_mapping_given_as_axis(v):
    cv.ComponentVector(np.ones(10), axis={"a": 10})


@mistake(cv.LabelError, "axis= takes an Axis, not dict", whole=True)
def zeros_of_a_mapping(v):
    cv.zeros({"a": 10})


@mistake(
    cv.LabelError,
    "an Axis is made of a mapping of names to shapes, not of a list",
    whole=True,
)
def an_axis_of_a_list(v):
    cv.Axis([2, 3])


@mistake(cv.LabelError, "component name 'a' occurs twice", whole=True)
def an_axis_with_a_name_twice(v):
    cv.Axis({"a": 1}, a=2)


@mistake(cv.LabelError, "component names are strings, not 1", whole=True)
def an_axis_with_a_key_that_is_no_string(v):
    cv.Axis({1: 2})


@mistake(cv.LabelError, "component names are strings, not 1 in `net`")
def an_axis_with_an_inner_key_that_is_no_string(v):
    cv.Axis(net={1: 2})


@mistake(cv.LabelError, "component name `net.bias` occurs twice")
def renaming_to_a_name_that_is_taken(v):
    v.axis.rename({"net.weight": "bias"})


@mistake(cv.LabelError, "component names are strings, not 5", whole=True)
def renaming_to_a_number(v):
    v.axis.rename({"net.weight": 5})


@mistake(cv.LabelError, "rename takes a mapping of paths to new names, not a str", whole=True)
def renaming_with_a_string(v):
    v.axis.rename("net.weight")


@mistake(
    cv.LabelError,
    "the axis itself has no name to change; nest(name) puts it into a group",
    whole=True,
)
def renaming_the_axis_itself(v):
    v.axis.rename({cv.path(): "all"})


@mistake(cv.LabelError, "a path is a string or cv.path(...), not 5", whole=True)
def choosing_with_a_number(v):
    v.axis.select(5)


@mistake(cv.LabelError, "component name `rate` occurs twice")
def merging_axes_with_a_name_in_common(v):
    v.axis.merge(v.axis)


@mistake(cv.LabelError, "expected an Axis, not dict", whole=True)
def merging_with_something_else(v):
    v.axis.merge({"a": 1})


@mistake(cv.LabelError, "`net` has no component 'gain'; its components are 'weight', 'bias'")
def dropping_an_unknown_name(v):
    v.axis.drop(["net.gain"])


# LabelError: models


@mistake(cv.LabelError, "`net`: the keys 1 and '_1' would both be named '_1'")
def keys_that_would_have_one_name(v):
    cv.destructure({"net": {1: np.ones(1), "_1": np.ones(1)}})


@mistake(cv.LabelError, "`net`: the keys 1 and '_1' would both be named '_1'")
def chosen_keys_that_would_have_one_name(v):
    cv.destructure({"net": {1: 0.5, "_1": 0.5}}, trainable=always)


@mistake(cv.LabelError, "`net`: the keys 1 and '_1' would both be named '_1'")
def flattening_keys_that_would_have_one_name(v):
    back().flatten({"rate": 1.0, "net": {1: 1.0, "_1": 2.0}})


@mistake(cv.LabelError, "the model: the keys 1 and '_1' would both be named '_1'", whole=True)
def keys_that_would_have_one_name_at_the_top(v):
    cv.destructure({1: np.ones(1), "_1": np.ones(1)})


@mistake(
    cv.LabelError,
    "`net._fields` cannot be a field of a named tuple, whose protocol uses that name; rename "
    "it in the model",
)
def a_name_that_named_tuples_need(v):
    cv.destructure({"net": {"_fields": np.ones(1)}})


@mistake(cv.LabelError, "the field `net.a` occurs twice")
def a_named_tuple_with_a_field_twice(v):
    kind = type("Odd", (tuple,), {"_fields": ("a", "a")})
    cv.destructure({"net": kind((np.ones(1), np.ones(1)))})


@mistake(
    cv.LabelError,
    "`net`: Net was registered with 'weight' as trainable, but has no such child; its "
    "components are 'w'",
)
def a_registration_of_an_unknown_child(v):
    kind = type("Net", (), {"__qualname__": "Net"})
    cv.register_pytree_node(
        kind, lambda x: ({"w": np.ones(1)}, None), lambda *_: None, trainable=("weight",)
    )
    cv.destructure({"net": kind()})


@mistake(cv.LabelError, "no field 'wieght'; did you mean 'weight'?", whole=True)
def replacing_an_unknown_field(v):
    cv.trainables_nt({"weight": np.ones(1)})[0]._replace(wieght=1.0)


@mistake(cv.LabelError, "`net.bias` is missing")
def flattening_a_model_with_a_part_missing(v):
    back().flatten({"rate": 1.0, "net": {"weight": np.ones((2, 3))}}, out=v)


@mistake(
    cv.LabelError,
    "the model has no parameter `net.gain`; its components are 'weight', 'bias'",
)
def flattening_a_model_with_an_unknown_parameter(v):
    net = {"weight": np.zeros((2, 3)), "bias": np.zeros(3), "gain": np.zeros(1)}
    back().flatten({"rate": 1.0, "net": net}, out=v)


@mistake(cv.LabelError, "the model has no parameter `net.wieght`; did you mean 'weight'?")
def a_gradient_with_an_unknown_name(v):
    back().pullback({"net": {"wieght": np.ones((2, 3))}})


@mistake(
    cv.LabelError,
    "base= completes trees and labelled vectors; a plain array has no names to go by",
    whole=True,
)
def a_base_for_a_plain_array(v):
    back()(np.ones(10), base={"rate": 1.0})


@mistake(cv.LabelError, "the model has no parameter `nett`; did you mean 'net'?")
def a_partial_tree_with_an_unknown_name(v):
    back()({"nett": {}}, base=v)


@mistake(cv.LabelError, "the model has vectors of float32, float64, but was given f4", whole=True)
def a_vector_that_is_missing_among_the_dtypes(v):
    by_dtype()({"f4": np.ones(2)})


# AxisMismatchError


@mistake(
    cv.AxisMismatchError,
    "the operands have different axes: there is `net.bias` on the left and `net.gain` on the "
    "right; select the same components in the same order (w[[...]]), or use np.asarray(w) to "
    "combine by position",
)
def adding_vectors_with_other_names(v):
    v += cv.ComponentVector(rate=0.5, net={"weight": np.ones((2, 3)), "gain": [1.0, 2.0, 3.0]})


@mistake(
    cv.AxisMismatchError,
    "the operands have different axes: `net.weight` has shape (2, 3) on the left and (3, 2) on "
    "the right; select the same components in the same order (w[[...]]), or use np.asarray(w) "
    "to combine by position",
)
def adding_vectors_of_other_shapes(v):
    return v + cv.ComponentVector(rate=0.5, net={"weight": np.ones((3, 2)), "bias": np.ones(3)})


@mistake(
    cv.AxisMismatchError,
    "the operands have different axes: `more` is only on the right; select the same components "
    "in the same order (w[[...]]), or use np.asarray(w) to combine by position",
)
def adding_vectors_of_which_one_is_longer(v):
    return v + cv.ComponentVector(v, more=1.0)


@mistake(
    cv.AxisMismatchError,
    "the operands have different axes: `rate` is an array on the left and a group on the "
    "right; select the same components in the same order (w[[...]]), or use np.asarray(w) to "
    "combine by position",
)
def adding_a_group_and_an_array(v):
    return v + cv.ComponentVector(rate={"a": 1.0}, net=np.ones(9))


@mistake(
    cv.AxisMismatchError,
    "the operands have different axes: `out.wt` is tied to slot 0 through View(offset=0, "
    "strides=(1, 3)) on the left and stored here on the right; select the same components in "
    "the same order (w[[...]]), or use np.asarray(w) to combine by position",
    given=tied,
)
def adding_a_tied_and_an_untied_vector(v):
    return v + cv.ComponentVector(w=v.w, out={"wt": v.w.T, "line": v.w, "b": v.w}, sharing="copy")


@mistake(
    cv.AxisMismatchError,
    "the operands have different axes: there is `rate` on the left and `net` on the right; "
    "select the same components in the same order (w[[...]]), or use np.asarray(w) to combine "
    "by position",
)
def assigning_a_vector_of_another_axis(v):
    v[:] = v[["net", "rate"]]


@mistake(
    cv.AxisMismatchError,
    "the operands have different axes: there is `rate` on the left and `net` on the right; "
    "select the same components in the same order (w[[...]]), or use np.asarray(w) to combine "
    "by position",
)
def a_mask_of_another_axis(v):
    v[v[["net", "rate"]] > 0] = 0.0


@mistake(
    cv.AxisMismatchError,
    "the operands have different axes: there is `net` on the left and `rate` on the right; "
    "select the same components in the same order (w[[...]]), or use np.asarray(w) to combine "
    "by position",
)
def a_ufunc_into_a_vector_of_another_axis(v):
    np.exp(v[["net", "rate"]], out=v)


@mistake(
    cv.AxisMismatchError,
    "the vector does not have the model's axis: there is `rate` in the model and `net` in the "
    "vector",
)
def a_model_of_a_vector_of_another_axis(v):
    back()(v[["net", "rate"]])


@mistake(
    cv.AxisMismatchError,
    "out does not have the model's axis: there is `rate` in the model and `net` in out",
)
def flattening_into_a_vector_of_another_axis(v):
    model = back()(v)
    back().flatten(model, out=v[["net", "rate"]])


# LengthError


@mistake(
    cv.LengthError,
    "`bias` has shape (3,): could not broadcast input array from shape (2,) into shape (3,)",
)
def a_value_that_does_not_broadcast(v):
    v.net.bias = [1.0, 2.0]


@mistake(
    cv.LengthError,
    "`net.weight` has shape (2, 3): could not broadcast input array from shape (3,2) into "
    "shape (2,3)",
)
def a_value_that_does_not_broadcast_in_a_mapping(v):
    v.net = {"bias": [7.0, 8.0, 9.0], "weight": np.zeros((3, 2))}


@mistake(
    cv.LengthError,
    "`rate` has shape (): could not broadcast input array from shape (2,) into shape ()",
)
def an_array_for_a_scalar(v):
    v.rate = [1.0, 2.0]


@mistake(
    cv.LengthError,
    "`net` has shape (9,): could not broadcast input array from shape (7,) into shape (9,)",
)
def a_flat_array_of_the_wrong_length_for_a_group(v):
    v.net = np.zeros(7)


@mistake(
    cv.LengthError,
    "`net` is a group of 9 elements; assign a scalar, a mapping, or a flat array of that "
    "length, not a value of shape (7,)",
)
def a_flat_array_of_the_wrong_length_for_a_group_in_a_mapping(v):
    v[:] = {"rate": 9.0, "net": np.zeros(7)}


@mistake(
    cv.LengthError,
    "`out` has names that are stored outside it: `wt` (at `w`), `line` (at `w`); a flat array "
    "cannot fill them, assign a mapping",
    given=tied,
)
def a_flat_array_for_a_group_with_names_outside(v):
    v.out = np.zeros(2)


@mistake(cv.LengthError, "`bias` was given numbers that are not rectangular, or of several dtypes")
def a_ragged_list(v):
    v.net.bias = [[1.0, 2.0], [3.0]]


@mistake(
    cv.LengthError,
    "`net.weight` is a list of numbers that is not rectangular, or of several dtypes",
)
def a_ragged_component(v):
    cv.ComponentVector(net={"weight": [[1.0, 2.0], [3.0]]})


@mistake(
    cv.LengthError,
    "`net.bias` is a list of numbers that is not rectangular, or of several dtypes",
)
def a_component_of_scalars_of_two_dtypes(v):
    cv.ComponentVector(net={"bias": [np.float32(1.0), np.float64(2.0)]})


@mistake(
    cv.LengthError,
    "the model is a list of numbers that is not rectangular, or of several dtypes",
    whole=True,
)
def a_ragged_list_without_names(v):
    cv.ComponentVector([[1.0, 2.0], [3.0]])


@mistake(cv.LengthError, "the axis has 10 elements, but the array has shape (9,)", whole=True)
def a_flat_array_that_does_not_fit_the_axis(v):
    cv.ComponentVector(np.ones(9), axis=v.axis)


@mistake(cv.LengthError, "`net.weight`: expected a shape, an integer or a mapping, got (2, -3)")
def an_axis_of_a_negative_extent(v):
    cv.Axis(net={"weight": (2, -3)})


@mistake(
    cv.LengthError,
    "`net.bias`: expected a shape, an integer or a mapping, got an array of shape (3,)",
)
def an_axis_of_arrays(v):
    cv.Axis(net={"bias": np.ones(3)})


@mistake(
    cv.LengthError,
    "the model has 10 elements, `rate` to `net.bias`, so it takes arrays of shape (10,), not (9,)",
)
def a_model_of_a_vector_of_the_wrong_length(v):
    back()(np.ones(9))


@mistake(
    cv.LengthError,
    "the model has 10 elements, `rate` to `net.bias`, so it takes arrays of shape (10,), not "
    "(10, 1)",
)
def a_model_of_a_column(v):
    back()(np.ones((10, 1)))


@mistake(
    cv.LengthError,
    "the model has 3 elements, so it takes arrays of shape (3,), not (2,)",
    whole=True,
)
def a_model_of_one_array_of_the_wrong_length(v):
    back(np.ones(3))(np.ones(2))


@mistake(
    cv.LengthError,
    "the model has 10 elements, `rate` to `net.bias`, so it takes batches of shape (…, 10), "
    "not (4, 9)",
)
def a_batch_of_the_wrong_length(v):
    back().batch(np.ones((4, 9)))


@mistake(
    cv.LengthError,
    "expected a vector of 10 numbers, not a dict; to get the vector of a model, use flatten, "
    "and to change some of a model's parameters, pass base=",
    whole=True,
)
def a_model_of_a_model(v):
    back()({"rate": 1.0, "net": {}})


@mistake(
    cv.LengthError,
    "expected a vector of 10 numbers, not a list; to get the vector of a model, use flatten, "
    "and to change some of a model's parameters, pass base=",
    whole=True,
)
def a_model_of_ragged_lists(v):
    back()([[1.0], [2.0, 3.0]])


@mistake(cv.LengthError, "`net.weight` has shape (2, 3), but was given shape (3, 2)")
def flattening_a_model_with_an_array_of_another_shape(v):
    back().flatten({"rate": 9.0, "net": {"weight": np.ones((3, 2)), "bias": np.ones(3)}}, out=v)


@mistake(cv.LengthError, "`net` has the parts weight, bias, but was given an object of type float")
def flattening_a_model_with_another_kind_of_part(v):
    back().flatten({"rate": 9.0, "net": 3.0}, out=v)


@mistake(cv.LengthError, "`_2` has the parts _1, _2, but was given a list of 1")
def flattening_a_list_of_another_length(v):
    back([np.ones(1), [np.ones(1), np.ones(2)]]).flatten([np.ones(1), [np.ones(1)]])


@mistake(cv.LengthError, "`e` has no parts, but was given an object of type float")
def flattening_something_else_where_the_model_has_an_empty_group(v):
    back({"a": np.ones(1), "e": []}).flatten({"a": np.ones(1), "e": 3.0})


@mistake(cv.LengthError, "`net.weight` is an array of shape (2, 3), but was given a mapping")
def flattening_a_mapping_where_the_model_has_an_array(v):
    back().flatten({"rate": 9.0, "net": {"weight": {"a": 1.0}, "bias": np.ones(3)}}, out=v)


@mistake(cv.LengthError, "`net.weight` is an array of shape (2, 3), but was given None")
def flattening_a_none_where_the_model_has_an_array(v):
    back().flatten({"rate": 9.0, "net": {"weight": None, "bias": np.ones(3)}}, out=v)


@mistake(
    cv.LengthError,
    "`net.weight` is an array of shape (2, 3), but was given a list that does not make an array",
)
def flattening_a_ragged_list(v):
    back().flatten({"rate": 9.0, "net": {"weight": [[1.0], [2.0, 3.0]], "bias": 0.0}}, out=v)


@mistake(cv.LengthError, "out must be an array of 10 numbers, not a list", whole=True)
def flattening_into_a_list(v):
    back().flatten(back()(v), out=[0.0] * 10)


@mistake(
    cv.LengthError,
    "the model has 10 elements, `rate` to `net.bias`, so it takes arrays of shape (10,), not (9,)",
)
def flattening_into_an_array_of_the_wrong_length(v):
    back().flatten(back()(v), out=np.ones(9))


@mistake(
    cv.LengthError,
    "expected a dict of dtype to vector, as destructure_by_dtype gives, not a ndarray",
    whole=True,
)
def one_vector_for_a_model_of_several(v):
    by_dtype()(np.ones(5))


@mistake(cv.LengthError, "the vectors have different leading dimensions: (4,), (5,)", whole=True)
def batches_of_different_sizes(v):
    by_dtype().batch({"f4": np.ones((4, 2), "f4"), "f8": np.ones((5, 3))})


# SharingError


@mistake(
    cv.SharingError,
    "these components share memory: `pos` and `vel`; `net.w` and `net.v`; pass sharing='alias' "
    "to store them once and keep them tied, or sharing='copy' to store each apart",
)
def components_that_are_one_array(v):
    z = np.zeros(3)
    cv.ComponentVector(pos=z, vel=z, net={"w": v.net.weight, "v": v.net.weight.T})


@mistake(
    cv.SharingError,
    "`head` and `tail` overlap in memory, but are not the same elements seen through a "
    "transpose, reversal or reshape, so they cannot share a slot; copy one of them, or pass "
    "sharing='copy' to store both apart",
)
def components_that_overlap_in_part(v):
    cv.ComponentVector(head=v.net.bias[:2], tail=v.net.bias[1:])


@mistake(
    cv.SharingError,
    "these components share memory: `enc.w` and `dec.w`; pass sharing='alias' to store them "
    "once and keep them tied, or sharing='copy' to store each apart",
)
def parameters_that_share_memory_where_that_is_refused(v):
    z = np.zeros(3)
    cv.trainables_nt({"enc": {"w": z}, "dec": {"w": z}}, sharing="reject")


@mistake(
    cv.SharingError,
    "`head` and `tail._1` overlap in memory, but are not the same elements seen through a "
    "transpose, reversal or reshape, so they cannot share a slot; copy one of them, or pass "
    "sharing='copy' to store both apart",
)
def parameters_that_overlap_in_part(v):
    cv.destructure({"head": v.net.bias[:2], "tail": [v.net.bias[1:]]})


@mistake(
    cv.SharingError,
    "`w` and `table` overlap in memory, but are not the same elements seen through a "
    "transpose, reversal or reshape, so they cannot share a slot; copy one of them, or pass "
    "sharing='copy' to store both apart",
)
def a_static_array_that_overlaps_a_parameter_in_part(v):
    model = {"table": v.net.bias[:2], "w": v.net.bias[1:]}
    cv.destructure(model, trainable=lambda path, leaf: path == "w")


@mistake(
    cv.SharingError,
    "`net.again` is `net` again; a cycle has no end, so no vector can hold it",
)
def a_mapping_that_holds_itself(v):
    net = {"v": v}
    net["again"] = net
    cv.ComponentVector(net=net)


@mistake(
    cv.SharingError,
    "`net.again` is the mapping itself again; a cycle has no end, so no vector can hold it",
)
def a_mapping_that_holds_itself_at_the_top(v):
    parts = {}
    parts["net"] = {"again": parts}
    cv.ComponentVector(parts)


@mistake(
    cv.SharingError,
    "`layers._1.parent._1` is `layers._1` again; a cycle has no end, so no vector can hold it",
)
def a_model_that_holds_itself(v):
    layer = {"w": np.ones(1)}
    layer["parent"] = [layer]
    cv.destructure({"layers": [layer]})


@mistake(cv.SharingError, "`me` is the model again; a cycle has no end, so no vector can hold it")
def a_model_that_holds_itself_at_the_top(v):
    model = {"w": np.ones(1)}
    model["me"] = model
    cv.destructure(model)


@mistake(cv.SharingError, "`net.again` is `net` again")
def an_axis_of_shapes_that_hold_themselves(v):
    net = {}
    net["again"] = net
    cv.Axis(net=net)


@mistake(cv.SharingError, "`w` and `out.wt` are tied, but are given different values", given=tied)
def tied_names_that_are_given_different_values(v):
    v[:] = {"w": np.zeros((2, 3)), "out": {"wt": np.ones((3, 2))}}


@mistake(cv.SharingError, "`enc` and `dec` are tied, but hold different values")
def a_model_whose_tied_arrays_differ(v):
    re = back_tied()
    re.flatten({"enc": np.zeros((2, 3)), "dec": np.ones((3, 2)), "b": np.ones(1)})


@mistake(
    cv.SharingError,
    "`out.line` cannot stay tied in this order: the two views of one slot differ by a reshape "
    "that strides cannot express",
    given=tied,
)
def tied_names_chosen_in_an_order_that_no_strides_show(v):
    return v[["out.wt", "out.line"]]


@mistake(
    cv.SharingError,
    "`x.line` and `x.wt` cannot stay tied: the two views of one slot differ by a reshape that "
    "strides cannot express",
    given=tied,
)
def a_group_of_tied_names_that_no_strides_show(v):
    return cv.ComponentVector(x=v.out)


# PromotionError: several dtypes


@mistake(
    cv.PromotionError,
    "the leaves have 2 dtypes, and one buffer would change some of them: float32: `rate`, "
    "`net.b`; float64: `net.w`; pass dtype= to choose one, promotion='allow' to promote, or "
    "use destructure_by_dtype for one vector each",
)
def components_of_two_dtypes(v):
    cv.ComponentVector(rate=np.float32(1.0), net={"w": np.ones(2), "b": np.ones(1, "f4")})


@mistake(
    cv.PromotionError,
    "the leaves have 2 dtypes, and one buffer would change some of them: float32: `_1`; "
    "float64: `_2.w`; pass dtype= to choose one, promotion='allow' to promote, or use "
    "destructure_by_dtype for one vector each",
)
def a_model_of_two_dtypes(v):
    cv.destructure([np.ones(1, "f4"), {"w": np.ones(2)}])


@mistake(
    cv.PromotionError,
    "`rate` is a Python float, which int64 leaves (`net.n`) cannot take without becoming "
    "float64; convert one side, or pass dtype= or promotion='allow'",
)
def a_python_float_beside_integers(v):
    cv.ComponentVector(rate=0.5, net={"n": np.arange(3)})


@mistake(
    cv.PromotionError,
    "no dtype holds all of these: bfloat16: `a`; float8_e4m3fn: `b`; pass dtype=, or use "
    "destructure_by_dtype",
)
def dtypes_that_do_not_promote(v):
    parts = {"a": np.ones(1, ml_dtypes.bfloat16), "b": np.ones(1, ml_dtypes.float8_e4m3fn)}
    cv.ComponentVector(parts, promotion="allow")


@mistake(cv.PromotionError, "`net.rate` is 1e+300, which float32 cannot hold")
def a_python_float_too_large_for_single_precision(v):
    cv.ComponentVector(net={"rate": 1e300, "w": np.ones(2, "f4")})


@mistake(cv.PromotionError, "dtype=<U8 was asked for; a vector holds numbers only", whole=True)
def a_dtype_of_text(v):
    cv.ComponentVector(rate=1.0, dtype="U8")


@mistake(cv.PromotionError, "`net.rate` is float, which does not go into dtype=int64")
def floats_in_a_vector_of_integers(v):
    cv.ComponentVector(net={"rate": 0.5}, dtype=int)


@mistake(cv.PromotionError, "`net.z` is complex128, which does not go into dtype=float64")
def complex_numbers_in_a_vector_of_floats(v):
    cv.ComponentVector(net={"z": np.ones(2, complex)}, dtype=float)


@mistake(
    cv.PromotionError, "the value is complex128, which does not go into dtype=float64", whole=True
)
def a_complex_value_everywhere_in_a_vector_of_floats(v):
    cv.full(v.axis, 1j, float)


# PromotionError: what is no number


@mistake(
    cv.PromotionError,
    "`net.name` is a str; a component is a number, an array or a group of these",
)
def a_component_that_is_text(v):
    cv.ComponentVector(net={"name": "encoder"})


@mistake(
    cv.PromotionError,
    "`net.bias` is a NoneType; a component is a number, an array or a group of these",
)
def a_component_that_is_none(v):
    cv.ComponentVector(net={"bias": None})


@mistake(cv.PromotionError, "`net.bias` has dtype object; a vector holds numbers only")
def a_component_of_objects(v):
    cv.ComponentVector(net={"bias": np.array([None, 1.0])})


@mistake(cv.PromotionError, '`["mean"]` has dtype datetime64[D]; a vector holds numbers only')
def a_component_of_dates(v):
    cv.ComponentVector({"mean": np.array(["2026-01-01"], "M8[D]")})


@mistake(cv.PromotionError, "`net.bias` is a masked array; a vector has no place for its mask")
def a_component_that_is_masked(v):
    cv.ComponentVector(net={"bias": np.ma.array([1.0, 2.0], mask=[0, 1])})


@mistake(
    cv.PromotionError,
    "the array is masked, and a vector has no place for its mask",
    whole=True,
)
def a_flat_array_that_is_masked(v):
    cv.ComponentVector(np.ma.ones(10), axis=v.axis)


@mistake(cv.PromotionError, "the array has dtype <U1; a vector holds numbers only", whole=True)
def a_flat_array_of_text(v):
    cv.ComponentVector(np.array(["a"] * 10), axis=v.axis)


@mistake(cv.PromotionError, "the array is float64, which does not go into dtype=int64", whole=True)
def a_flat_array_that_does_not_go_into_the_dtype(v):
    cv.ComponentVector(np.ones(10), axis=v.axis, dtype=int)


# PromotionError: writing


@mistake(
    cv.PromotionError,
    "`n` holds int64, which cannot take float64 by the same_kind rule; convert it first",
    given=integers,
)
def a_float_for_integers(v):
    v.n = 0.5


@mistake(
    cv.PromotionError,
    "`m` holds int64, which cannot take float64 by the same_kind rule; convert it first",
    given=integers,
)
def a_float_for_integers_in_a_mapping(v):
    v[:] = {"n": [7, 8], "m": 0.5}


@mistake(
    cv.PromotionError,
    "`bias` holds float64, which cannot take complex128 by the same_kind rule; convert it first",
)
def complex_numbers_for_floats(v):
    v.net.bias = np.array([1j, 2j, 3j])


@mistake(
    cv.PromotionError,
    "`bias` holds float64, which cannot take <U3 by the same_kind rule; convert it first",
)
def text_for_floats(v):
    v.net.bias = "abc"


@mistake(cv.PromotionError, "`rate` holds float64 and cannot take None")
def none_for_floats(v):
    v.rate = None


@mistake(cv.PromotionError, "`net` holds float64 and cannot take None")
def none_for_the_whole_group(v):
    v.net = None


@mistake(cv.PromotionError, "the vector holds float64 and cannot take None", whole=True)
def none_for_the_whole_vector(v):
    v[:] = None


@mistake(cv.PromotionError, "`bias` holds float64 and cannot take a masked array")
def a_masked_array_for_floats(v):
    v.net.bias = np.ma.ones(3)


@mistake(cv.PromotionError, "`g.b` is 1e+300, which float32 cannot hold", given=singles)
def a_value_too_large_for_single_precision(v):
    v[:] = {"a": [1.0, 2.0], "g": {"b": 1e300}}


# PromotionError: models


@mistake(
    cv.PromotionError,
    "`rate` is float64 and cannot take complex128 values; pass dtype='follow' to give the "
    "model complex parameters",
)
def a_complex_vector_for_a_real_model(v):
    back()(v * 1j)


@mistake(
    cv.PromotionError,
    "`w` is float64 and cannot take (1+1j); pass dtype='follow' to give the model the vector's "
    "dtype, or use destructure_by_dtype",
)
def an_imaginary_part_for_the_real_array_of_a_complex_model(v):
    _, re = cv.destructure({"w": np.ones(1), "z": np.ones(1, complex)}, promotion="allow")
    re(np.array([1 + 1j, 1j]))


@mistake(
    cv.PromotionError,
    "`steps` is int64 and cannot take 1.5; pass dtype='follow' to give the model the vector's "
    "dtype, or use destructure_by_dtype",
)
def fractions_for_integers_of_the_model(v):
    model = {"steps": np.arange(2), "w": np.ones(1)}
    back(model, trainable=always, promotion="allow")(np.array([1.0, 1.5, 1.0]))


@mistake(
    cv.PromotionError,
    "`n` has 9007199254740993, which float64 does not hold exactly; use destructure_by_dtype, "
    "or leave it out with trainable=",
)
def a_python_integer_that_the_vector_cannot_hold(v):
    cv.destructure({"n": 2**53 + 1, "w": np.ones(1)}, trainable=always)


@mistake(
    cv.PromotionError,
    "`n` is int64 and cannot take 3.5; pass dtype='follow' to give the model the vector's "
    "dtype, or use destructure_by_dtype",
)
def a_fraction_for_a_python_integer(v):
    back({"n": 3, "w": np.ones(1)}, trainable=always)(np.array([3.5, 1.0]))


@mistake(
    cv.PromotionError,
    "the vector is masked, and a model has no place for its mask",
    whole=True,
)
def a_model_of_a_masked_vector(v):
    back()(np.ma.ones(10))


@mistake(cv.PromotionError, "expected numbers, but the vector has dtype <U1", whole=True)
def a_model_of_a_vector_of_text(v):
    back()(np.array(["a"] * 10))


@mistake(
    cv.PromotionError,
    "`net.weight` is a masked array, and a vector has no place for its mask",
)
def flattening_a_masked_array(v):
    back().flatten({"rate": 9.0, "net": {"weight": np.ma.ones((2, 3)), "bias": 0.0}}, out=v)


@mistake(cv.PromotionError, "`rate` is an array of shape (), but was given a str of dtype <U1")
def flattening_text(v):
    back().flatten({"rate": "9", "net": {"weight": np.ones((2, 3)), "bias": np.ones(3)}}, out=v)


@mistake(cv.PromotionError, "`a` is float64, which float32 does not hold exactly", given=singles)
def flattening_into_a_vector_that_does_not_hold_the_values(v):
    model = {"a": np.zeros(2), "g": {"b": np.zeros(1)}}
    back(model).flatten({"a": np.ones(2), "g": {"b": np.ones(1)}}, out=v)


@mistake(
    cv.PromotionError,
    "the gradient of `net.bias` is complex128, that of the vector float64; pass dtype= to get "
    "a wider one",
)
def a_complex_gradient_of_a_real_model(v):
    back().pullback({"net": {"bias": np.array([1j, 2j, 3j])}})


# CopyError


@mistake(
    cv.CopyError,
    "`w` is float32 in the model and float64 in the vector, and a cast would copy, which "
    "copy=False forbids; pass dtype='follow' to give the model the vector's dtype, or use "
    "destructure_by_dtype",
)
def a_cast_where_copies_are_forbidden(v):
    model = {"w": np.ones(1, "f4"), "b": np.ones(1)}
    back(model, promotion="allow")(np.ones(2), copy=False)


@mistake(cv.CopyError, "`enc` can only be given by a copy, which copy=False forbids")
def a_reordering_where_copies_are_forbidden(v):
    w = np.ones((2, 3))
    ps, re = cv.trainables_nt({"enc": w, "dec": w.T})
    re(ps._replace(enc=np.asfortranarray(w), dec=np.ones((3, 2))), copy=False)


# DeviceError


@mistake(
    cv.DeviceError,
    "`net.w` is an array of cupy; ComponentVector holds NumPy arrays, so convert it first",
)
def a_component_of_another_library(v):
    with cupy():
        cv.ComponentVector(net={"w": DeviceArray()})


@mistake(
    cv.DeviceError,
    "`net.w` is an array of oddlib; ComponentVector holds NumPy arrays, so convert it first",
)
def a_component_of_a_library_that_nobody_knows(v):
    cv.ComponentVector(net={"w": OddArray()})


@mistake(cv.DeviceError, "ComponentVector labels NumPy arrays, not cupy; convert it", whole=True)
def a_flat_array_of_another_library(v):
    with cupy():
        cv.ComponentVector(DeviceArray(), axis=cv.Axis(a=2))


@mistake(cv.DeviceError, "`net.w` is an array of cupy; convert it to NumPy first")
def flattening_an_array_of_another_library(v):
    with cupy():
        back({"net": {"w": np.ones(2)}}).flatten({"net": {"w": DeviceArray()}})


# UnregisteredTypeError


@mistake(
    cv.UnregisteredTypeError,
    "`net._1` is of class Layer, which is not registered, but holds an array at `.weight`; it "
    "would be left out of the vector. Call cv.register_pytree_node(Layer, flatten, unflatten) "
    "to say what its parts are, or cv.register_static(Layer) to leave it out",
)
def an_object_that_holds_arrays(v):
    cv.destructure({"net": [Layer(np.ones(2))], "w": np.ones(1)})


@mistake(
    cv.UnregisteredTypeError,
    "the model is of class Layer, which is not registered, but holds an array at "
    "`.weight.W._1`; it would be left out of the vector. Call cv.register_pytree_node(Layer, "
    "flatten, unflatten) to say what its parts are, or cv.register_static(Layer) to leave it "
    "out",
)
def a_model_that_is_an_object(v):
    cv.destructure(Layer({"W": [np.ones(2)]}))


@mistake(
    cv.UnregisteredTypeError,
    "`net` is of class Table, which is not registered, but holds an array at `.scale`, beside "
    "its parts; it would be left out of the vector. Make it one of the parts, or call "
    "cv.register_pytree_node(Table, flatten, unflatten) to say what its parts are, or "
    "cv.register_static(Table) to leave it out",
)
def a_list_with_an_array_beside_its_parts(v):
    table = Table([np.ones(1)])
    table.scale = np.ones(1)
    cv.destructure({"net": table})


@mistake(
    cv.UnregisteredTypeError,
    "`net` is of class deque, which is not registered, but holds an array at `[0]`; it would "
    "be left out of the vector. Put what it holds into a list or dict",
)
def a_deque_of_arrays(v):
    cv.destructure({"net": collections.deque([np.ones(2)])})


@mistake(
    cv.UnregisteredTypeError,
    "`net.w` is of class OddArray, which is not registered, but is an array; it would be left "
    "out of the vector. Call cv.register_pytree_node(OddArray, flatten, unflatten) to say what "
    "its parts are, or cv.register_static(OddArray) to leave it out",
)
def an_array_of_a_library_that_nobody_knows(v):
    cv.destructure({"net": {"w": OddArray()}})


@mistake(
    cv.UnregisteredTypeError,
    "`net`: the flatten function registered for Net must return (children, aux), where "
    "children are a sequence or a mapping, not 5.0",
)
def a_flatten_function_that_returns_no_pair(v):
    kind = type("Net", (), {"__qualname__": "Net"})
    cv.register_pytree_node(kind, lambda x: 5.0, lambda *_: None)
    cv.destructure({"net": kind()})


@mistake(
    cv.UnregisteredTypeError,
    "elsewhere.Spline is not registered here; call cv.register_pytree_node for it first",
    whole=True,
)
def a_restructure_pickled_where_its_class_was_registered(v):
    module = types.ModuleType("elsewhere")
    module.Spline = type("Spline", (), {"__module__": "elsewhere"})
    cv.register_pytree_node(module.Spline, lambda s: ((np.ones(1),), None), lambda aux, parts: None)
    with mock.patch.dict(sys.modules, elsewhere=module):
        pickled = pickle.dumps(back({"net": module.Spline()}))
        module.Spline = type("Spline", (), {"__module__": "elsewhere"})
        pickle.loads(pickled)(np.ones(1))


# Options and arguments: plain ValueError and TypeError


@mistake(ValueError, "promotion must be 'reject' or 'allow', not 'permit'", whole=True)
def another_promotion_policy(v):
    cv.ComponentVector(a=1.0, promotion="permit")


@mistake(ValueError, "sharing must be 'alias', 'reject' or 'copy', not 'alais'", whole=True)
def another_sharing_policy(v):
    cv.ComponentVector(a=1.0, sharing="alais")


@mistake(ValueError, "sharing must be 'alias', 'reject' or 'copy', not 'tie'", whole=True)
def another_sharing_policy_of_a_model(v):
    cv.trainables_nt([np.ones(1)], sharing="tie")


@mistake(ValueError, "dtype must be 'restore' or 'follow', not 'float32'", whole=True)
def another_dtype_rule(v):
    back()(v, dtype="float32")


@mistake(ValueError, "statics must be 'share' or 'copy', not 'deepcopy'", whole=True)
def another_rule_for_statics(v):
    back()(v, statics="deepcopy")


@mistake(ValueError, "copy must be None, True or False, not 'never'", whole=True)
def another_rule_for_copies(v):
    back()(v, copy="never")


@mistake(ValueError, "dtype must be 'restore' or 'follow', not 'keep'", whole=True)
def another_dtype_rule_by_dtype(v):
    by_dtype()({"f4": np.ones(2), "f8": np.ones(3)}, dtype="keep")


@mistake(
    TypeError,
    "ComponentVector has one class for all layouts; hold a vector instead of deriving one",
    whole=True,
)
def a_class_that_derives_from_the_vector(v):
    type("MyVector", (cv.ComponentVector,), {})


@mistake(TypeError, "trainable= takes a function of (path, leaf), not ('w',)", whole=True)
def a_choice_of_parameters_that_is_no_function(v):
    cv.destructure({"w": np.ones(1)}, trainable=("w",))


@mistake(
    TypeError,
    "trainable= gave array([ True,  True]) for `net.w`; it must give True or False for the "
    "whole leaf",
)
def a_choice_of_parameters_by_element(v):
    cv.destructure({"net": {"w": np.ones(2)}}, trainable=lambda path, leaf: leaf > 0)


@mistake(TypeError, "unflatten must be a function, not None", whole=True)
def a_registration_without_function(v):
    cv.register_pytree_node(Spline, lambda s: ((), None), None)


@mistake(
    TypeError,
    "trainable must be a collection of names, such as ('weight',), not 'weight'",
    whole=True,
)
def a_registration_with_names_in_one_string(v):
    cv.register_pytree_node(Spline, lambda s: ((), None), lambda aux, x: None, trainable="weight")


@mistake(TypeError, "only classes can be registered, not 'Layer'", whole=True)
def a_registration_of_something_else_than_a_class(v):
    cv.register_static("Layer")


@mistake(ValueError, "mine.Net is registered already, in another way", whole=True)
def a_registration_in_two_ways(v):
    kind = cv.register_static(type("Net", (), {"__module__": "mine"}))
    cv.register_pytree_node(kind, lambda s: ((), None), lambda aux, parts: None)


@mistake(TypeError, "expected 2 values for ('w', 'b'), got 1", whole=True)
def a_named_tree_with_too_few_values(v):
    tree = cv.trainables_nt({"w": np.ones(1), "b": np.ones(1)})[0]
    type(tree)(1.0)


@mistake(TypeError, "expected the fields ('w', 'b'), got () and ('w', 'c')", whole=True)
def a_named_tree_with_an_unknown_field(v):
    tree = cv.trainables_nt({"w": np.ones(1), "b": np.ones(1)})[0]
    type(tree)(w=1.0, c=2.0)


@mistake(AttributeError, "an Axis is immutable; cannot set 'size'", whole=True)
def setting_an_attribute_of_an_axis(v):
    v.axis.size = 3


@mistake(AttributeError, "an Axis is immutable; cannot delete 'size'", whole=True)
def deleting_an_attribute_of_an_axis(v):
    del v.axis.size


@mistake(IndexError, "position 10 is not in an axis of 10 elements", whole=True)
def the_label_of_a_position_outside(v):
    v.axis.label(10)


@mistake(ValueError, "assignment destination is read-only", given=frozen, whole=True)
def a_write_to_a_read_only_array(v):
    v.net.bias = 1.0


@mistake(ValueError, "assignment destination is read-only", given=frozen, whole=True)
def a_write_to_a_read_only_group(v):
    v.net = {"bias": 1.0}


# Axes from text


def read_axis(*nodes, version=1):
    return cv.Axis.from_json(json.dumps({"componentvec.axis": version, "nodes": nodes}))


@mistake(ValueError, "expected an axis of format version 1, found version 2", whole=True)
def an_axis_of_another_format(v):
    read_axis(version=2)


@mistake(ValueError, "expected an axis of format version 1, found version None", whole=True)
def an_axis_of_text_that_is_something_else(v):
    cv.Axis.from_json("[1, 2]")


@mistake(ValueError, "expected a list under 'nodes'", whole=True)
def an_axis_of_text_without_nodes(v):
    cv.Axis.from_json('{"componentvec.axis": 1}')


@mistake(ValueError, "node 1 of the axis is malformed: {'shape': [2]}", whole=True)
def an_axis_with_a_node_without_name(v):
    read_axis({"name": "", "children": 1}, {"shape": [2]})


@mistake(ValueError, "node 1 of the axis is malformed: {'name': 5, 'shape': [2]}", whole=True)
def an_axis_with_a_name_that_is_a_number(v):
    read_axis({"name": "", "children": 1}, {"name": 5, "shape": [2]})


@mistake(ValueError, "node 1 of the axis is malformed: {'name': 'a', 'shape': [-2]}", whole=True)
def an_axis_with_a_negative_extent_in_the_text(v):
    read_axis({"name": "", "children": 1}, {"name": "a", "shape": [-2]})


@mistake(ValueError, "the records do not form one root group: a child count is wrong", whole=True)
def an_axis_with_a_wrong_count(v):
    read_axis({"name": "", "children": 2}, {"name": "a", "shape": [2]})


@mistake(ValueError, "`a` is tied to slot 3, which does not come before it")
def an_axis_tied_to_a_slot_that_comes_later(v):
    read_axis({"name": "", "children": 1}, {"name": "a", "shape": [2], "slot": 3})


@mistake(ValueError, "`b` of shape (3,) does not cover its slot of 2 elements exactly once")
def an_axis_tied_to_a_slot_of_another_size(v):
    nodes = {"name": "a", "shape": [2]}, {"name": "b", "shape": [3], "slot": 0}
    read_axis({"name": "", "children": 2}, *nodes)


# Warnings -----------------------------------------------------------------------------------------


def a_component_with_a_name_of_the_array():
    cv.ComponentVector({"rate_of_turn": 1.0, "net": {"T": [1.0]}})


def an_axis_renamed_to_a_name_of_the_array():
    cv.Axis(rate_of_turn=3).rename({"rate_of_turn": "mean"})


def an_axis_nested_under_a_name_of_the_array():
    cv.Axis(rate_of_turn=4).nest("size")


def a_model_of_python_numbers():
    cv.destructure({"rate": 0.5, "net": {"gain": 1j, "steps": 3}})


def a_model_of_many_python_numbers():
    cv.trainables_nt([0.5] * 8)


WARNINGS = [
    (
        a_component_with_a_name_of_the_array,
        cv.ShadowedNameWarning,
        "component 'T' has the name of an array attribute; reach it as v[\"T\"]",
    ),
    (
        an_axis_renamed_to_a_name_of_the_array,
        cv.ShadowedNameWarning,
        "component 'mean' has the name of an array attribute; reach it as v[\"mean\"]",
    ),
    (
        an_axis_nested_under_a_name_of_the_array,
        cv.ShadowedNameWarning,
        "component 'size' has the name of an array attribute; reach it as v[\"size\"]",
    ),
    (
        a_model_of_python_numbers,
        cv.NoParametersWarning,
        (
            "the model has no parameters; its Python numbers `rate`, `net.gain` are static: make "
            "them NumPy arrays or scalars, or pass trainable=lambda path, leaf: True"
        ),
    ),
    (
        a_model_of_many_python_numbers,
        cv.NoParametersWarning,
        (
            "the model has no parameters; its Python numbers `_1`, `_2`, `_3`, `_4`, `_5`, `_6` "
            "and 2 more are static: make them NumPy arrays or scalars, or pass trainable=lambda "
            "path, leaf: True"
        ),
    ),
]


# The tests ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_answered_in_these_words_and_changes_nothing(case):
    vector = case.given()
    before = vector.tobytes()
    with pytest.raises(case.error) as caught:
        case.make(vector)
    assert type(caught.value) is case.error
    assert str(caught.value) == case.message
    assert str(caught.value).startswith(caught.value.args[0])  # KeyError alone prints a repr
    assert vector.tobytes() == before


@pytest.mark.parametrize("case", MISTAKES)
def test_a_message_names_the_place_as_code(case):
    places = re.findall("`([^`]*)`", case.message)
    assert bool(places) is not case.whole
    for place in places:
        ast.parse(f"v{place}" if place[0] in ".[" else f"v.{place}", mode="eval")


@pytest.mark.parametrize("error", BUILTINS, ids=lambda error: error.__name__)
def test_an_error_is_a_component_error_and_the_fitting_builtin(error):
    assert issubclass(error, cv.ComponentError)
    assert all(issubclass(error, builtin) for builtin in BUILTINS[error])


def test_every_error_class_has_its_builtin_and_a_mistake():
    public = {getattr(cv.errors, name) for name in cv.errors.__all__ if name.endswith("Error")}
    assert public == {cv.ComponentError, *BUILTINS}
    # Nothing optional is loaded yet, so nothing can be missing.
    made = {case.values[0].error for case in MISTAKES}
    assert public - made == {cv.ComponentError, cv.MissingDependencyError}


def test_a_missing_library_is_told_plainly():
    error = cv.MissingDependencyError("this needs cupy; pip install componentvec[cupy]")
    assert str(error) == "this needs cupy; pip install componentvec[cupy]"


@pytest.mark.parametrize(
    ("make", "warning", "message"), WARNINGS, ids=[make.__name__ for make, _, _ in WARNINGS]
)
def test_a_warning_says_what_to_do_and_names_the_line_of_the_user(make, warning, message):
    with pytest.warns(warning) as caught:
        make()
    assert [str(warned.message) for warned in caught] == [message]
    assert [warned.filename for warned in caught] == [__file__]


def raise_statements():
    """Find every ``raise`` of the package that names an error: file, lines and function."""
    for file in sorted(PACKAGE.rglob("*.py")):
        pending = [(ast.parse(file.read_text(encoding="utf-8")), "")]
        while pending:
            node, function = pending.pop()
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                function = f"{function}.{node.name}".removeprefix(".")
            if isinstance(node, ast.Raise) and node.exc is not None:
                yield str(file), range(node.lineno, node.end_lineno + 1), function
            pending.extend((child, function) for child in ast.iter_child_nodes(node))


def raised_at(error):
    """Yield where an error was raised, and those that it was made of."""
    while error is not None:
        trace = error.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        error = error.__cause__ or error.__context__


def test_every_raise_of_the_package_is_a_mistake_in_the_table():
    reached = set()
    for case in (param.values[0] for param in MISTAKES):
        with pytest.raises(case.error) as caught:
            case.make(case.given())
        reached.update(raised_at(caught.value))
    unreached = [
        f"{Path(file).name}:{lines.start} in {function}"
        for file, lines, function in raise_statements()
        if function not in EXCUSED and not any((file, line) in reached for line in lines)
    ]
    assert unreached == []


def test_what_is_excused_is_still_there():
    assert EXCUSED.keys() <= {function for _, _, function in raise_statements()}
