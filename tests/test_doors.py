"""The doors: what bad input gets, what is good, and that a call touches nothing but the model.

A refused call raises a TypeError or ValueError that names what is wrong, and leaves no trace: the
model's pickled bytes are the same, and it learns on as if the call had not been made.
"""

import copy
import gc
import json
import math
import pickle
import random
import sys
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from river import preprocessing
from streams import needs_data, random_events, text_stream
from variants import (
    LEARNERS,
    answers,
    every_learner,
    every_variant,
    labels_for,
    learned,
    make,
)

import streamptron
from streamptron import MIRA, MulticlassPerceptron, Perceptron

NAN, INF = float("nan"), float("inf")


def trained(learner, **params):
    """A model that has learned some events of every label."""
    model = make(learner, **params)
    for x, y, _ in random_events(random.Random(7), n=40, labels=labels_for(learner)):
        model.learn_one(x, y)
    return model


def assert_learns_on_alike(model, twin, learner):
    """Each does, to the last bit, what the other one does on events to come."""
    for x, y, _ in random_events(random.Random(8), n=10, labels=labels_for(learner)):
        assert answers(model, x) == answers(twin, x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert pickle.dumps(model) == pickle.dumps(twin)


def refused(model, call, *names, error=(TypeError, ValueError)):
    """The message of the error that a call must raise; it has all the names, the model no trace."""
    learner = type(model).__name__
    before = pickle.dumps(model)
    twin = copy.deepcopy(model)
    with pytest.raises(error) as caught:
        call(model)
    assert pickle.dumps(model) == before
    message = str(caught.value)
    assert type(caught.value) in (TypeError, ValueError)
    for name in names:
        assert name in message
    assert_learns_on_alike(model, twin, learner)
    return message


# Every way in for an event. The label is one that the learner knows.
CALLS = {
    "learn_one": lambda model, x, y: model.learn_one(x, y),
    "predict_one": lambda model, x, y: model.predict_one(x),
    "predict_proba_one": lambda model, x, y: model.predict_proba_one(x),
    "decision_function_one": lambda model, x, y: model.decision_function_one(x),
    "test_then_train_one": lambda model, x, y: model.test_then_train_one(x, y),
    "explain_one": lambda model, x, y: model.explain_one(x),
    "debug_one": lambda model, x, y: model.debug_one(x),
}
every_call = pytest.mark.parametrize("call", CALLS)


# Values


BAD_VALUES = {
    "nan": (NAN, ValueError),
    "inf": (INF, ValueError),
    "-inf": (-INF, ValueError),
    "too large": (1e51, ValueError),
    "too small": (-1e51, ValueError),
    "too large for a float": (10**400, ValueError),
    "too large to print": (10**5000, ValueError),
    "numpy nan": (np.float64("nan"), ValueError),
    "numpy inf": (np.float32("inf"), ValueError),
    "Decimal NaN": (Decimal("NaN"), ValueError),
    "Decimal sNaN": (Decimal("sNaN"), ValueError),
    "Decimal Infinity": (Decimal("-Infinity"), ValueError),
    "Fraction": (Fraction(10**60, 3), ValueError),
    "int that is no float": (2**53 + 1, ValueError),
    "int below 0 that is no float": (-(2**60) - 1, ValueError),
    "int of 64 bits that is no float": (2**64 - 1, ValueError),
    "large int that is no float": (10**50, ValueError),
    "numpy int that is no float": (np.int64(-(2**53) - 1), ValueError),
    "numpy unsigned int that is no float": (np.uint64(2**64 - 1), ValueError),
    "numpy long double that is no float": (np.longdouble(1) / 3, ValueError),
    "None": (None, TypeError),
    "str": ("red", TypeError),
    "str of digits": ("1", TypeError),
    "numpy str": (np.str_("red"), TypeError),
    "bytes": (b"red", TypeError),
    "list": ([1.0], TypeError),
    "tuple": ((1.0,), TypeError),
    "dict": ({"a": 1}, TypeError),
    "complex": (1j, TypeError),
    "numpy complex": (np.complex64(1), TypeError),
    "array of no dimension": (np.array(1.0), TypeError),
    "array": (np.array([1.0]), TypeError),
    "datetime": (np.datetime64("2020-01-01"), TypeError),
    "pandas NA": (pd.NA, TypeError),
    "object": (object(), TypeError),
    "type": (int, TypeError),
}


@every_call
@pytest.mark.parametrize("kind", BAD_VALUES)
@every_learner
def test_bad_value_is_refused_by_the_name_of_its_feature(learner, kind, call):
    value, error = BAD_VALUES[kind]
    y = labels_for(learner)[0]
    refused(
        trained(learner),
        lambda model: CALLS[call](model, {"good": 1, "the culprit": value}, y),
        "'the culprit'",
        error=error,
    )


@pytest.mark.parametrize("kind", BAD_VALUES)
@pytest.mark.parametrize("mapping", [dict, OrderedDict])
@pytest.mark.parametrize("place", ["alone", "first", "between", "beside an object"])
def test_bad_value_is_refused_wherever_it_stands(kind, mapping, place):
    value, error = BAD_VALUES[kind]
    before = {"alone": [], "first": [], "between": ["a", 2], "beside an object": [frozenset("a")]}
    after = {"alone": [], "first": ["b"], "between": ["b"], "beside an object": [frozenset("b")]}
    x = mapping.fromkeys([*before[place], "the culprit", *after[place]], 1)
    x["the culprit"] = value
    refused(trained("MIRA"), lambda model: model.learn_one(x, "new"), "'the culprit'", error=error)


def test_text_as_a_value_is_answered_with_the_event_to_write():
    model = Perceptron()
    message = refused(model, lambda model: model.learn_one({"color": "red"}, True))
    assert "{'color=red': 1}" in message
    assert "Tokenizer" in message
    message = refused(model, lambda model: model.learn_one({3: "red"}, True))
    assert "{'3=red': 1}" in message


def test_messages_about_values_say_what_to_do():
    model = Perceptron()
    for value in (NAN, None):
        message = refused(model, lambda model, v=value: model.learn_one({"f": v}, True))
        assert "impute" in message
    for value in (INF, 1e51, 10**400):
        message = refused(model, lambda model, v=value: model.learn_one({"f": v}, True))
        assert "finite" in message
        assert "1e+50" in message
    # a name or a value of any length does not flood the log
    for x in ({"f" * 10**6: NAN}, {"f": "v" * 10**6}, {"f": 10**400}, {"f": [1] * 10**6}):
        assert len(refused(model, lambda model, x=x: model.learn_one(x, True))) < 600


GOOD_VALUES = [
    True,
    np.True_,
    3,
    2**53,
    2**53 + 2,
    -(2**63),
    2**63 + 2**20,
    -(2**100),
    0.1,
    1e50,
    5e-324,
    np.float32(0.1),
    np.float16(0.1),
    np.float64(0.1),
    np.longdouble(0.1),
    np.int8(-3),
    np.int16(-300),
    np.intc(-(2**31)),
    np.int64(-(2**63)),
    np.longlong(2**40),
    np.uint8(200),
    np.uint16(60_000),
    np.uint32(2**32 - 1),
    np.uint64(2**64 - 2**11),
    Fraction(1, 3),
    Fraction(2**53 + 1),  # rounded, as a decimal 9007199254740993.0 is
    Decimal("0.1"),
    Decimal(2**53 + 1),
]


@pytest.mark.parametrize("value", GOOD_VALUES, ids=lambda v: f"{type(v).__name__} {float(v):g}")
@every_learner
def test_numbers_of_every_kind_are_the_floats_that_they_equal(learner, value):
    model, plain = trained(learner), trained(learner)
    y = labels_for(learner)
    for label in (y[0], y[1], y[0]):
        assert answers(model, {"a": 1, "f": value}) == answers(plain, {"a": 1, "f": float(value)})
        model.learn_one({"a": 1, "f": value}, label)
        plain.learn_one({"a": 1, "f": float(value)}, label)
    assert pickle.dumps(model) == pickle.dumps(plain)
    assert all(math.isfinite(p) for p in model.predict_proba_one({"f": value}).values())


NO_FLOATS = [2**53 + 1, -(2**60) - 1, 2**63 - 1, np.int64(2**53 + 1), np.uint64(2**64 - 1)]


@pytest.mark.parametrize("value", NO_FLOATS, ids=lambda v: f"{type(v).__name__} {v}")
@every_learner
def test_int_that_no_float64_holds_is_refused_by_every_door_with_its_feature(learner, value):
    y = labels_for(learner)[0]
    kind = type(value) if isinstance(value, np.generic) else "i8"
    column = np.array([[1, int(value)]], dtype=kind)
    objects = pd.DataFrame({"good": [1], "the culprit": pd.Series([value], dtype=object)})
    frame = pd.DataFrame(column, columns=["good", "the culprit"])
    names = ["good", "the culprit"]
    x = {"good": 1, "the culprit": value}
    doors = [
        lambda model: model.learn_one(x, y),
        lambda model: model.learn_one(OrderedDict(x), y),
        lambda model: model.learn_one({**x, frozenset(): Fraction(1, 2)}, y),
        lambda model: model.predict_one(x),
        lambda model: model.learn_many(column, [y], feature_names=names),
        lambda model: model.learn_many(frame, [y]),
        lambda model: model.learn_many(objects, [y]),
        lambda model: model.predict_many(frame),
        lambda model: type(model).from_weights(x if learner == "Perceptron" else {y: x}),
    ]
    for door in doors:
        refused(trained(learner), door, "'the culprit'", "exactly", error=ValueError)
    start = ({}, value) if learner == "Perceptron" else ({y: {}}, {y: value})
    with pytest.raises(ValueError, match=r"^intercept is .* exactly"):
        LEARNERS[learner].from_weights(*start)


def test_long_double_is_refused_by_every_door_where_no_float64_holds_it():
    value = np.longdouble(1) / 3
    if value == float(value):
        pytest.skip("long double is double here")
    X = np.array([[1, value]], dtype=np.longdouble)
    for door in (
        lambda model: model.learn_one({"good": 1, 1: value}, True),
        lambda model: model.learn_many(X, [True]),
    ):
        refused(trained("Perceptron"), door, "1", "exactly", error=ValueError)


ZEROS = [0, 0.0, -0.0, False, np.False_, np.int8(0), np.float32(-0.0), Fraction(0), Decimal("-0")]


@pytest.mark.parametrize("zero", ZEROS, ids=lambda v: f"{type(v).__name__} {v}")
@every_learner
def test_value_of_zero_is_as_if_the_feature_were_absent(learner, zero):
    model, plain = trained(learner), trained(learner)
    for label in labels_for(learner)[:2] * 2:
        assert answers(model, {"z": zero, "a": 1}) == answers(plain, {"a": 1})
        model.learn_one({"z": zero, "a": 1}, label)
        plain.learn_one({"a": 1}, label)
    assert pickle.dumps(model) == pickle.dumps(plain)


@every_variant
def test_largest_values_and_weights_leave_everything_finite(learner, variant):
    model = make(learner, variant)
    labels = labels_for(learner)
    rng = random.Random(2)
    for i in range(60):
        x = {f"f{rng.randrange(4)}": rng.choice((1e50, -1e50, 5e-324, 1.0)) for _ in range(3)}
        model.learn_one(x, labels[i % len(labels)], w=rng.choice((1e50, 1.0, 0.0)))
        p = model.predict_proba_one(x)
        assert math.isclose(math.fsum(p.values()), 1.0, abs_tol=1e-9)
        assert all(0.0 <= value <= 1.0 for value in p.values())
    decision = model.decision_function_one(x)
    assert all(map(math.isfinite, decision.values() if isinstance(decision, dict) else [decision]))


# Events


NO_MAPPINGS = {
    "list": [("a", 1)],
    "str": "a",
    "bytes": b"a",
    "None": None,
    "set": {"a"},
    "int": 1,
    "bool": True,
    "array": np.ones(2),
    "Series": pd.Series({"a": 1.0}),
    "DataFrame": pd.DataFrame({"a": [1.0]}),
    "generator": (pair for pair in [("a", 1)]),
    "items": {"a": 1}.items(),
    "type": dict,
}


@every_call
@pytest.mark.parametrize("kind", NO_MAPPINGS)
@every_learner
def test_event_that_is_no_mapping_is_refused(learner, kind, call):
    x = NO_MAPPINGS[kind]
    message = refused(
        trained(learner),
        lambda model: CALLS[call](model, x, labels_for(learner)[0]),
        "x is",
        type(x).__name__,
        error=TypeError,
    )
    assert "mapping" in message


class Pairs(Mapping):
    """A mapping that gives out whatever it was made of, twice the same name too."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def __repr__(self):
        return f"Pairs{self.pairs}"

    def __len__(self):
        return len(self.pairs)

    def __iter__(self):
        return (name for name, _ in self.pairs)

    def __getitem__(self, name):
        return next(value for key, value in self.pairs if key == name)

    def items(self):
        yield from self.pairs


MAPPINGS = {
    "Counter": Counter,
    "defaultdict": lambda x: defaultdict(int, x),
    "OrderedDict": OrderedDict,
    "MappingProxyType": MappingProxyType,
    "UserDict": UserDict,
    "ChainMap": ChainMap,
    "dict subclass": type("Mine", (dict,), {}),
    "Mapping": lambda x: Pairs(*x.items()),
}


@pytest.mark.parametrize("kind", MAPPINGS)
@every_learner
def test_mapping_of_every_kind_is_the_dict_that_it_equals(learner, kind):
    model, plain = make(learner), make(learner)
    events = random_events(
        random.Random(3), n=60, keys="mixed", values="real", labels=labels_for(learner)
    )
    for x, y, _ in events:
        mapping = MAPPINGS[kind](x)
        for call in CALLS.values():
            assert call(model, mapping, y) == call(plain, x, y)
        assert dict(mapping) == x
    assert learned(model) == learned(plain)


def test_dict_subclass_is_asked_for_its_items():
    class Doubled(dict):
        def items(self):
            return [(name, 2 * value) for name, value in super().items()]

    assert Perceptron.from_weights({"a": 1.0}).decision_function_one(Doubled(a=3)) == 6.0


@pytest.mark.parametrize("name", [["k"], {"k": 1}, {"k"}, bytearray(b"k"), ("t", ["k"])], ids=repr)
@every_call
@every_learner
def test_unhashable_name_is_refused(learner, call, name):
    x = Pairs(("good", 1), (name, 1))
    refused(
        trained(learner),
        lambda model: CALLS[call](model, x, labels_for(learner)[0]),
        repr(name),
        error=TypeError,
    )


@pytest.mark.parametrize("name", [NAN, np.float32("nan"), Decimal("NaN"), ("a", NAN)], ids=repr)
@every_call
@every_learner
def test_name_that_equals_nothing_is_refused(learner, call, name):
    x = {"good": 1, name: 1}
    message = refused(
        trained(learner),
        lambda model: CALLS[call](model, x, labels_for(learner)[0]),
        error=ValueError,
    )
    assert "nan" in message.lower()


@every_call
@every_learner
def test_name_that_has_no_hash_of_its_own_is_refused_by_a_hashed_model(learner, call):
    refused(
        trained(learner, hash_bits=10),
        lambda model: CALLS[call](model, {frozenset("a"): 1}, labels_for(learner)[0]),
        "frozenset({'a'})",
        "hash_bits",
        error=TypeError,
    )


# Labels


HASHABLE_NO_TRUTH = [
    "spam",
    "True",
    b"",
    -1,
    2,
    None,
    0.5,
    NAN,
    (True,),
    np.int8(2),
    np.float64(2),
    1 + 1j,
]
UNHASHABLE = [[1], {}, {1}, ([1],), np.array(1), np.array([True]), np.array([1, 2])]
NO_LABEL = [None, NAN, np.float64("nan"), Decimal("NaN"), Decimal("sNaN"), pd.NaT]


TRUTHS = [
    True,
    1,
    1.0,
    np.float64(1),
    np.float32(1),
    np.float16(1),
    np.int8(1),
    np.bool_(True),
    Decimal(1),
]


@pytest.mark.parametrize("one", [*TRUTHS, Fraction(1)], ids=repr)
def test_perceptron_takes_whatever_equals_true_or_false_at_every_door(one):
    zero = one - one if not isinstance(one, bool | np.bool_) else type(one)(False)
    expected = Perceptron(class_weight={True: 2.0}, hash_seed=1)
    expected.learn_one({"a": 1}, True)
    expected.learn_one({"b": 1}, False)
    model = Perceptron(class_weight={one: 2.0}, hash_seed=1)
    model.learn_one({"a": 1}, one)
    model.learn_one({"b": 1}, zero)
    tested = Perceptron(class_weight={one: 2.0}, hash_seed=1)
    tested.test_then_train_one({"a": 1}, one)
    tested.test_then_train_one({"b": 1}, zero)
    rows = Perceptron(class_weight={one: 2.0}, hash_seed=1)
    rows.learn_many(np.eye(2), [one, zero], feature_names=["a", "b"])
    for other in (model, tested, rows):
        assert other.__getstate__() == expected.__getstate__()
        assert other.explain_one({"a": 1}, zero) == expected.explain_one({"a": 1}, False)
        assert other.top_features(1, one) == expected.top_features(1, True)
    array = np.array([1, 0], dtype=float)
    again = Perceptron(class_weight={one: 2.0}, hash_seed=1)
    again.learn_many(np.eye(2), array, feature_names=["a", "b"])
    assert again.__getstate__() == expected.__getstate__()


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize("y", HASHABLE_NO_TRUTH, ids=repr)
def test_perceptron_refuses_a_label_that_is_no_truth_value(y, call):
    refused(
        trained("Perceptron"),
        lambda model: CALLS[call](model, {"a": 1}, y),
        f"y={y!r}",
        "MulticlassPerceptron",
        error=ValueError,
    )


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize("y", UNHASHABLE, ids=repr)
@every_learner
def test_unhashable_label_is_refused(learner, y, call):
    refused(
        trained(learner),
        lambda model: CALLS[call](model, {"a": 1}, y),
        "y",
        repr(y),
        error=TypeError,
    )


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize("y", NO_LABEL, ids=repr)
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_stands_for_nothing_is_refused(learner, y, call):
    refused(
        trained(learner),
        lambda model: CALLS[call](model, {"a": 1}, y),
        "y",
        "NaT" if y is pd.NaT else str(y),
        "label",
        error=TypeError if str(y) == "sNaN" else ValueError,  # that one has no hash
    )


@pytest.mark.parametrize("y", [pd.NA, pd.Series([1, 2])], ids=["NA", "Series"])
@every_learner
def test_label_that_cannot_be_compared_is_refused(learner, y):
    message = refused(trained(learner), lambda model: model.learn_one({"a": 1}, y))
    assert message.startswith("y")


# Sample weights


BAD_WEIGHTS = [NAN, INF, -INF, -1, -0.5, 1e51, 10**400, Decimal("NaN")]
NO_WEIGHTS = ["1", b"1", None, [1.0], 1j, np.array(1.0), {}]


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize(
    ("w", "error"),
    [(w, ValueError) for w in BAD_WEIGHTS] + [(w, TypeError) for w in NO_WEIGHTS],
    ids=lambda value: f"{value!r:.12}",
)
@every_learner
def test_bad_sample_weight_is_refused(learner, w, error, call):
    message = refused(
        trained(learner),
        lambda model: getattr(model, call)({"a": 1}, labels_for(learner)[0], w),
        error=error,
    )
    assert message.startswith("w")
    assert "x[" not in message


@pytest.mark.parametrize("w", [0, 2, True, 0.5, np.float32(0.5), np.int8(2), Fraction(1, 2)])
@every_learner
def test_sample_weight_is_any_number_of_at_least_zero(learner, w):
    model, plain = trained(learner), trained(learner)
    for label in labels_for(learner)[:2] * 2:
        model.learn_one({"a": 1}, label, w)
        plain.learn_one({"a": 1}, label, float(w))
    assert pickle.dumps(model) == pickle.dumps(plain)


# Parameters


BAD_SHARED = [
    ("average", "mean", ValueError),
    ("average", "Uniform", ValueError),
    ("average", None, ValueError),
    ("average", True, ValueError),
    ("average", 1, ValueError),
    ("average", ["uniform"], ValueError),
    ("average", np.array(["uniform", "none"]), ValueError),
    ("half_life", 0, ValueError),
    ("half_life", 0.5, ValueError),
    ("half_life", -1, ValueError),
    ("half_life", NAN, ValueError),
    ("half_life", INF, ValueError),
    ("half_life", 10**400, ValueError),
    ("half_life", 1.001e12, ValueError),
    ("half_life", 1e16, ValueError),
    ("half_life", "1000", TypeError),
    ("half_life", None, TypeError),
    ("half_life", True, TypeError),
    ("pocket", 1, TypeError),
    ("pocket", "yes", TypeError),
    ("pocket", None, TypeError),
    ("serve", "last", ValueError),
    ("serve", None, ValueError),
    ("serve", "pocket", ValueError),  # without a pocket
    ("intercept", 0, TypeError),
    ("intercept", 1.0, TypeError),
    ("intercept", None, TypeError),
    ("class_weight", "balanced", TypeError),
    ("class_weight", 2.0, TypeError),
    ("class_weight", [1, 2], TypeError),
    ("class_weight", {True: -1}, ValueError),
    ("class_weight", {True: NAN}, ValueError),
    ("class_weight", {True: INF}, ValueError),
    ("class_weight", {True: "2"}, TypeError),
    ("class_weight", {True: None}, TypeError),
    ("class_weight", {None: 1.0}, ValueError),
    ("class_weight", {NAN: 1.0}, ValueError),
    ("max_features", 0, ValueError),
    ("max_features", -1, ValueError),
    ("max_features", 2**32, ValueError),
    ("max_features", 1e6, TypeError),
    ("max_features", "1000", TypeError),
    ("max_features", True, TypeError),
    ("hash_bits", 0, ValueError),
    ("hash_bits", -1, ValueError),
    ("hash_bits", 32, ValueError),
    ("hash_bits", 10**400, ValueError),
    ("hash_bits", 8.0, TypeError),
    ("hash_bits", "8", TypeError),
    ("hash_bits", True, TypeError),
    ("hash_seed", -1, ValueError),
    ("hash_seed", 2**64, ValueError),
    ("hash_seed", 1.0, TypeError),
    ("hash_seed", "secret", TypeError),
    ("hash_seed", True, TypeError),
]
BAD_MARGIN = [
    ("margin", -1, ValueError),
    ("margin", -1e-9, ValueError),
    ("margin", NAN, ValueError),
    ("margin", INF, ValueError),
    ("margin", 1e51, ValueError),
    ("margin", "0", TypeError),
    ("margin", None, TypeError),
    ("margin", True, TypeError),
    ("margin", [0.0], TypeError),
]
BAD_PARAMETERS = {
    "Perceptron": [
        *BAD_SHARED,
        *BAD_MARGIN,
        ("class_weight", {"spam": 2.0}, ValueError),
        ("class_weight", {-1: 2.0}, ValueError),
    ],
    "MulticlassPerceptron": BAD_SHARED + BAD_MARGIN,
    "MIRA": [
        *BAD_SHARED,
        ("C", 0, ValueError),
        ("C", -1, ValueError),
        ("C", NAN, ValueError),
        ("C", INF, ValueError),
        ("C", "1", TypeError),
        ("C", None, TypeError),
        ("C", True, TypeError),
        ("update", "always", ValueError),
        ("update", None, ValueError),
        ("update", 1, ValueError),
    ],
}


@pytest.mark.parametrize(
    ("learner", "name", "value", "error"),
    [(learner, *bad) for learner, table in BAD_PARAMETERS.items() for bad in table],
    ids=lambda value: f"{value!r:.20}".strip("'"),
)
def test_bad_parameter_is_refused_by_its_name(learner, name, value, error):
    with pytest.raises(error) as caught:
        LEARNERS[learner](**{name: value})
    assert type(caught.value) is error
    assert name in str(caught.value)
    assert len(str(caught.value)) < 600


@every_learner
def test_average_cannot_be_served_where_there_is_none(learner):
    with pytest.raises(ValueError, match=r"serve='average' needs .*average='uniform'"):
        LEARNERS[learner](average="none", serve="average")
    with pytest.raises(ValueError, match="serve='pocket' needs pocket=True"):
        LEARNERS[learner](serve="pocket")


@every_learner
def test_unknown_parameter_is_refused(learner):
    with pytest.raises(TypeError, match="n_features"):
        LEARNERS[learner](n_features=100)
    other = "C" if learner != "MIRA" else "margin"
    with pytest.raises(TypeError, match=other):
        LEARNERS[learner](**{other: 1.0})
    assert not hasattr(LEARNERS[learner](), other)


@every_learner
def test_parameters_may_be_numpy_numbers(learner):
    name = "C" if learner == "MIRA" else "margin"
    for number in (np.float64(0.5), np.float32(0.5), np.int64(2), Fraction(1, 2)):
        model = LEARNERS[learner](**{name: number, "half_life": number + 1})
        assert getattr(model, name) is number
        assert learned(LEARNERS[learner](**{name: float(number)}, hash_seed=3)) == learned(
            LEARNERS[learner](**{name: float(number)}, hash_seed=3)
        )


@every_learner
def test_vectors_that_are_not_kept_cannot_be_read(learner):
    model = make(learner, "no average")
    with pytest.raises(ValueError, match=r"keeps no average.*average='uniform'"):
        _ = model.averaged_weights
    with pytest.raises(ValueError, match=r"keeps no pocket.*pocket=True"):
        _ = model.pocket_weights


# Frames


def bad_columns():
    """(how, column, error, whether the message can name a row): the cell in row 1 is bad."""
    text = "text"
    for library, series in (("pandas", pd.Series), ("polars", pl.Series), ("pyarrow", pa.array)):
        yield f"{library} NaN", series([1.0, NAN, 3.0]), ValueError, True
        yield f"{library} inf", series([1.0, INF, 3.0]), ValueError, True
        yield f"{library} too large", series([1.0, -1e51, 3.0]), ValueError, True
        yield f"{library} text", series(["a", text, "b"]), TypeError, False
        yield f"{library} missing text", series(["a", None, "b"]), TypeError, False
    for library, series in (("polars", pl.Series), ("pyarrow", pa.array)):
        yield f"{library} missing", series([1, None, 3]), ValueError, True
        yield f"{library} missing float", series([1.0, None, NAN]), ValueError, True
        yield f"{library} missing bool", series([True, None, False]), ValueError, True
        yield f"{library} list", series([[1], [2], [3]]), TypeError, False
        yield f"{library} nothing", series([None, None, None]), (TypeError, ValueError), False
    yield "pandas missing", pd.Series([1, None, 3], dtype="Int64"), ValueError, True
    yield "pandas missing float", pd.Series([1, None, 3], dtype="Float64"), ValueError, True
    yield "pandas missing bool", pd.Series([1, None, 0], dtype="boolean"), ValueError, True
    yield "pandas missing arrow", pd.Series([1, None, 3], dtype="int64[pyarrow]"), ValueError, True
    yield "pandas categories", pd.Series(["a", "b", "a"], dtype="category"), TypeError, False
    yield "pandas numbers as categories", pd.Series([1, 2], dtype="category"), TypeError, False
    yield "pandas dates", pd.Series(pd.date_range("2020-01-01", periods=3)), TypeError, False
    yield "pandas complex", pd.Series([1, 1j, 2]), TypeError, False
    objects = {
        "None": (None, (TypeError, ValueError), True),
        "NaN": (NAN, ValueError, True),
        "NA": (pd.NA, (TypeError, ValueError), True),
        "inf": (INF, ValueError, True),
        "too large for a float": (10**400, ValueError, True),
        "text": ("a", TypeError, False),
        "bytes": (b"a", TypeError, False),
        "list": ([1], TypeError, False),
        "complex": (1j, TypeError, False),
        "array": (np.array(1.0), TypeError, False),
    }
    for kind, (value, error, row) in objects.items():
        column = pd.Series([1, None, True], dtype=object)
        column[1] = value
        yield f"object {kind}", column, error, row
    yield (
        "polars categories",
        pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        TypeError,
        False,
    )
    yield "polars dates", pl.Series(pd.date_range("2020-01-01", periods=3)), TypeError, False


BAD_COLUMNS = {how: rest for how, *rest in bad_columns()}

MANY_CALLS = {
    "learn_many": lambda model, X, y: model.learn_many(X, y),
    "test_then_train_many": lambda model, X, y: model.test_then_train_many(X, y),
    "predict_many": lambda model, X, y: model.predict_many(X),
    "predict_proba_many": lambda model, X, y: model.predict_proba_many(X),
    "decision_function_many": lambda model, X, y: model.decision_function_many(X),
}


def frame_with(column, name="the culprit"):
    """A frame of the column's library: a good column and this one."""
    if isinstance(column, pd.Series):
        return pd.DataFrame({"good": np.ones(len(column)), name: column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"good": np.ones(len(column)), name: column})
    return pa.table({"good": np.ones(len(column)), name: column})


@pytest.mark.parametrize("how", BAD_COLUMNS)
@every_learner
def test_bad_cell_of_a_frame_is_refused_by_row_and_column(learner, how):
    column, error, row = BAD_COLUMNS[how]
    X = frame_with(column)
    ys = [labels_for(learner)[i % 2] for i in range(len(column))]
    for call in MANY_CALLS.values():
        names = ["'the culprit'", *(["row 1"] if row else [])]
        model = trained(learner)
        refused(model, lambda model, call=call: call(model, X, ys), *names, error=error)


NO_TABLES = {
    "dict": {"a": [1.0, 2.0]},
    "dict of a row": {"a": 1.0},
    "list": [[1.0], [2.0]],
    "list of dicts": [{"a": 1.0}, {"a": 2.0}],
    "Series": pd.Series([1.0, 2.0]),
    "Index": pd.Index([1.0, 2.0]),
    "polars Series": pl.Series([1.0, 2.0]),
    "pyarrow array": pa.array([1.0, 2.0]),
    "LazyFrame": pl.LazyFrame({"a": [1.0, 2.0]}),
    "number of numpy": np.float64(1.0),
    "buffer": memoryview(np.ones((2, 1))),
    "generator": (row for row in [[1.0], [2.0]]),
    "None": None,
    "int": 1,
    "str": "ab",
    "bytes": b"ab",
    "type": pd.DataFrame,
}


@pytest.mark.parametrize("call", MANY_CALLS)
@pytest.mark.parametrize("kind", NO_TABLES)
@every_learner
def test_mini_batch_that_is_no_frame_array_or_matrix_is_refused(learner, kind, call):
    X = NO_TABLES[kind]
    refused(
        trained(learner),
        lambda model: MANY_CALLS[call](model, X, labels_for(learner)[:2]),
        "X is",
        type(X).__name__,
        "frame",
        "numpy array",
        "sparse matrix",
        error=TypeError,
    )


@pytest.mark.parametrize("call", MANY_CALLS)
@every_learner
def test_columns_of_the_same_name_are_refused(learner, call):
    X = pd.DataFrame(np.ones((2, 3)), columns=["a", "twin", "twin"])
    with pytest.raises(ValueError, match="twin"):
        MANY_CALLS[call](trained(learner), X, labels_for(learner)[:2])


@every_learner
def test_columns_whose_names_are_equal_are_refused(learner):
    X = pd.DataFrame(np.ones((2, 2)), columns=pd.Index([1, True], dtype=object))
    with pytest.raises(ValueError, match="1"):
        trained(learner).learn_many(X, labels_for(learner)[:2])


@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_labels_of_another_length_than_the_frame_are_refused(learner, call):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    y = labels_for(learner)[0]
    for n in (0, 2, 4):
        for ys in ([y] * n, pd.Series([y] * n, dtype=object), np.array([y] * n, dtype=object)):
            message = refused(
                trained(learner), lambda model, ys=ys: MANY_CALLS[call](model, X, ys), "y", "3"
            )
            assert str(n) in message
    refused(trained(learner), lambda model: MANY_CALLS[call](model, X, True), "y", error=TypeError)
    refused(trained(learner), lambda model: MANY_CALLS[call](model, X, None), "y", error=TypeError)


@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@pytest.mark.parametrize(
    "ys",
    [
        "abc",
        b"abc",
        {"u": 1, "v": 2, "w": 3},
        {"u", "v", "w"},
        pd.DataFrame({"u": [1, 2, 3], "v": [1, 2, 3], "w": [1, 2, 3]}),
        pl.DataFrame({"u": [1, 2, 3], "v": [1, 2, 3], "w": [1, 2, 3]}),
        np.ones((3, 2)),
    ],
    ids=lambda ys: f"{type(ys).__module__}.{type(ys).__name__}",
)
@every_learner
def test_labels_of_a_frame_that_are_no_sequence_of_labels_are_refused(learner, ys, call):
    """A text, a table or a set has three of something too, and would be learned as nonsense."""
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    refused(trained(learner), lambda model: MANY_CALLS[call](model, X, ys), "y")


@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_bad_label_of_a_row_is_refused_by_its_row(learner, call):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    y = labels_for(learner)[0]
    bad = (None, NAN, [1]) if learner != "Perceptron" else ("spam", -1, 2, None, NAN, [1])
    for label in bad:
        refused(
            trained(learner),
            lambda model, label=label: MANY_CALLS[call](model, X, [y, label, y]),
            "row 1",
            repr(label),
        )
    for ys in (pl.Series([y, None, y]), pa.array([y, None, y]), pd.Series([y, None, y])):
        refused(trained(learner), lambda model, ys=ys: MANY_CALLS[call](model, X, ys), "row 1", "y")


@pytest.mark.parametrize("call", ["learn_many", "test_then_train_many"])
@every_learner
def test_bad_sample_weights_of_a_frame_are_refused(learner, call):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    ys = [labels_for(learner)[0]] * 3

    def using(w):
        return lambda model: getattr(model, call)(X, ys, w=w)

    for w in ([], [1.0], [1.0] * 4, np.ones(2), pd.Series([1.0] * 4)):
        refused(trained(learner), using(w), "w has", str(len(w)), "3", error=ValueError)
    for w in ([1, -1, 1], [1, NAN, 1], np.array([1, INF, 1]), pd.Series([1, -0.5, 1])):
        refused(trained(learner), using(w), "row 1", "w", error=ValueError)
    for w in ([1, None, 1], [1, "2", 1], ["1", "1", "1"], None, "111", object()):
        refused(trained(learner), using(w), "w", error=TypeError)
    for w in (-1, NAN, INF):
        refused(trained(learner), using(w), "w", error=ValueError)


# Code of others that runs while an event is read


class Fault(Exception):
    """What a user's code raised."""


def broken_after(pairs):
    yield from pairs
    raise Fault


class BrokenItems(Pairs):
    def items(self):
        return broken_after(self.pairs)


class BrokenNumber(Fraction):
    def __float__(self):
        raise Fault


class BrokenHash:
    broken = False

    def __hash__(self):
        if self.broken:
            raise Fault
        return 1


def broken_events():
    name = BrokenHash()
    yield "items", BrokenItems(("a", 1), (frozenset("b"), 2))
    yield "float", {"a": 1, "b": BrokenNumber(1)}
    yield "hash", {"a": 1, name: 1}
    name.broken = True


BROKEN_EVENTS = dict(broken_events())


@every_call
@pytest.mark.parametrize("where", BROKEN_EVENTS)
@every_learner
def test_error_of_the_users_own_code_passes_through_and_leaves_no_trace(learner, where, call):
    model = trained(learner)
    twin = copy.deepcopy(model)
    with pytest.raises(Fault):
        CALLS[call](model, BROKEN_EVENTS[where], labels_for(learner)[0])
    assert_learns_on_alike(model, twin, learner)


@pytest.mark.parametrize(
    ("items", "culprit"),
    [
        ([1, 2], "gave 1, a int"),
        ([("a", 1), ("a",)], "gave ('a',), a tuple"),
        ([("a", 1, 2)], "gave ('a', 1, 2), a tuple"),
        ([None], "gave None, a NoneType"),
        (["abc"], "gave 'abc', a str"),
        (5, "gave 5, a int"),
        (None, "gave None, a NoneType"),
    ],
    ids=repr,
)
@every_call
@every_learner
def test_items_that_are_no_pairs_are_refused(learner, call, items, culprit):
    x = Pairs()
    x.items = lambda: items
    message = refused(
        trained(learner),
        lambda model: CALLS[call](model, x, labels_for(learner)[0]),
        "x is a Pairs",
        "items()",
        culprit,
        error=TypeError,
    )
    assert "pairs of a name and a number" in message


def test_error_of_a_mappings_own_code_says_that_x_was_being_read():
    with pytest.raises(Fault) as caught:
        Perceptron().learn_one(BrokenItems(("a", 1)), True)
    assert caught.value.__notes__ == ["streamptron was reading the items() of x, a BrokenItems"]
    x = Pairs()
    x.items = None
    with pytest.raises(TypeError) as caught:
        Perceptron().learn_one(x, True)
    assert caught.value.__notes__ == ["streamptron was reading the items() of x, a Pairs"]


class Growing(UserDict):
    """Every time that an item is read there is one more."""

    def __getitem__(self, name):
        self.data[len(self.data)] = 1
        return self.data[name]


class GrowingOrdered(OrderedDict):
    def items(self):
        for pair in super().items():
            yield pair
            self[len(self)] = 1


@pytest.mark.parametrize("kind", [Growing, GrowingOrdered], ids=lambda kind: kind.__name__)
@every_call
@every_learner
def test_mapping_that_changes_while_it_is_read_is_refused(learner, call, kind):
    model = trained(learner)
    twin = copy.deepcopy(model)
    x = kind({"a": 1, "b": 2})
    with pytest.raises(RuntimeError, match=rf"x is a {kind.__name__} that cannot be read: .*"):
        CALLS[call](model, x, labels_for(learner)[0])
    assert_learns_on_alike(model, twin, learner)


class LyingLength(Pairs):
    def __len__(self):
        return self.length


@pytest.mark.parametrize("length", [0, 1, 10**9, -1], ids="length={}".format)
def test_length_that_a_mapping_says_is_not_believed(length):
    x = LyingLength(("a", 1), ("b", 2), (frozenset(), 3))
    x.length = length
    model = Perceptron.from_weights({"a": 1, "b": 10, frozenset(): 100})
    assert model.decision_function_one(x) == 321


def test_items_may_be_anything_in_twos():
    x = Pairs()
    x.items = lambda: iter([["a", 1], ("b", 2), {"c": 0, 3: 0}, iter(("d", 4))])
    model = Perceptron.from_weights({"a": 1, "b": 10, "c": 100, "d": 1000})
    assert model.decision_function_one(x) == 4321


def test_weights_that_cannot_be_read_are_refused_by_their_own_name():
    x = Pairs()
    x.items = lambda: [("a", 1), 2]
    with pytest.raises(TypeError, match=r"weights is a Pairs whose items\(\) gave 2"):
        Perceptron.from_weights(x)


class Once:
    """Runs an action the first time that it is called: an event acts once, however it is read."""

    def __init__(self, action):
        self.action = action

    def __call__(self):
        action, self.action = self.action, None
        if action is not None:
            action()


class ActingItems(Pairs):
    def items(self):
        for i, pair in enumerate(self.pairs):
            if i == 1:
                self.act()
            yield pair


class ActingNumber(Fraction):
    def __float__(self):
        self.act()
        return 1.0


class ActingName:
    act = None

    def __hash__(self):
        if self.act is not None:
            self.act()
        return 1

    def __eq__(self, other):
        if self.act is not None:
            self.act()
        return self is other


def acting_event(where, act):
    """An event of three features that acts while it is read."""
    if where == "items":
        x = ActingItems(("a", 1), ("b", 1), ("c", 1))
        x.act = act
        return x
    if where == "float":
        number = ActingNumber(1)
        number.act = act
        return {"a": 1, "b": number, "c": 1}
    name = ActingName()
    x = {"a": 1, name: 1, "c": 1}
    name.act = act
    return x


def assert_nan_is_refused(model, y):
    with pytest.raises(ValueError, match="NaN"):
        model.learn_one({"c": 1, "n": NAN}, y)


ACTIONS = {
    "learns": lambda model, known, new: model.learn_one({"a": 2, "q": 1, "r": 3}, known),
    "learns a new label": lambda model, known, new: model.learn_one({"a": 2, "q": 1}, new),
    "learns a frame": lambda model, known, new: model.learn_many(
        pd.DataFrame({"a": [2.0], "q": [1.0]}), [new]
    ),
    "learns a matrix": lambda model, known, new: model.learn_many(np.ones((2, 3)), [known, new]),
    "learns columns": lambda model, known, new: model.learn_many(
        np.ones((2, 2)), [new, known], feature_names=["a", frozenset("q")]
    ),
    "predicts": lambda model, known, new: model.predict_one({"q": 1, "c": 1}),
    "predicts a matrix": lambda model, known, new: model.predict_many(np.ones((2, 30))),
    "explains": lambda model, known, new: model.explain_one({"q": 1, "c": 1}),
    "is copied": lambda model, known, new: copy.deepcopy(model).learn_one({"c": 1}, new),
    "is refused": lambda model, known, new: assert_nan_is_refused(model, new),
}


@every_call
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("where", ["items", "float", "hash"])
@every_learner
def test_event_that_uses_the_model_while_it_is_read_comes_after_what_it_did(
    learner, where, action, call
):
    """For both doors: what the event's own code learned is learned before the event."""
    known, _, *others = labels_for(learner)
    new = "new inside" if others else known
    y = "new outside" if others else labels_for(learner)[1]

    model, twin = trained(learner), trained(learner)
    x = acting_event(where, Once(lambda: ACTIONS[action](model, known, new)))
    found = CALLS[call](model, x, y)

    ACTIONS[action](twin, known, new)
    plain = dict(x.items()) if where == "items" else x  # its action is over
    assert found == CALLS[call](twin, plain, y)
    if others:
        assert model.labels == twin.labels
    assert (model.weights, model.intercept_) == (twin.weights, twin.intercept_)
    assert (model.n_seen, model.n_updates, model.n_mistakes) == (
        twin.n_seen,
        twin.n_updates,
        twin.n_mistakes,
    )
    for event in (x, {"a": 1}, {"q": 1}):
        assert answers(model, event) == answers(twin, event)


class ActingLabel:
    """A label whose hash acts the `at`-th time that it is asked for."""

    def __init__(self, at, act):
        self.at, self.act = at, act

    def __hash__(self):
        self.at -= 1
        if self.at == 0:
            self.act()
        return 2

    def __eq__(self, other):
        return self is other


@pytest.mark.parametrize("call", ["learn_one", "test_then_train_one"])
@pytest.mark.parametrize("class_weight", [None, {"x": 2.0}], ids="class_weight={}".format)
@pytest.mark.parametrize("at", range(1, 8), ids="at={}".format)
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_uses_the_model_as_it_is_hashed_keeps_labels_and_outputs_together(
    learner, at, class_weight, call
):
    """Whether the inner event comes first or last, every label has weights of its own."""

    def run(label, inner_first):
        model = make(learner, class_weight=class_weight)
        model.learn_one({"a": 1}, "x")
        steps = [("outer", {"q": 1}, label), ("inner", {"z": 1}, "inner")]
        for _, x, y in steps[::-1] if inner_first else steps:
            model.learn_one(x, y)
        return model

    def state(model):
        order = [str(label) if isinstance(label, str) else "outer" for label in model.labels]
        weights = list(model.weights.values())
        return order, weights, model.n_seen, list(model.decision_function_one({"q": 1}).values())

    model = make(learner, class_weight=class_weight)
    model.learn_one({"a": 1}, "x")
    inner = Once(lambda: model.learn_one({"z": 1}, "inner"))
    label = ActingLabel(at, inner)
    CALLS[call](model, {"q": 1}, label)
    label.at = 0
    if inner.action is not None:  # the hash was not asked for so often
        inner()
    quiet = [run(ActingLabel(0, None), first) for first in (False, True)]
    assert state(model) in [state(other) for other in quiet]


@pytest.mark.parametrize("place", [0, 1, 2], ids="place={}".format)
@pytest.mark.parametrize("call", ["decision_function_one", "predict_proba_one"])
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_uses_the_model_while_an_answer_is_written_does_not_spoil_the_answer(
    learner, call, place
):
    model = make(learner, serve="current")
    labels = [ActingLabel(0, None) for _ in range(3)]
    for i in range(9):
        model.learn_one({i % 3: 1, "a": i}, labels[i % 3])
    x = {0: 1, "a": 0.5}
    expected = CALLS[call](model, x, None)

    def act():  # with so many new labels the scratch for scores must move
        for i in range(200):
            model.learn_one({"b": 1, i: 1}, f"label {i}")

    labels[place].act, labels[place].at = Once(act), 1
    found = CALLS[call](model, x, None)
    assert [found[label] for label in labels] == [expected[label] for label in labels]


# The event stays the caller's


def fresh_names():
    """Names of every kind that nobody else holds."""
    i = random.randrange(10**6, 10**7)
    return [
        f"short {i}",
        f"a name of more than fifteen bytes {i}",
        f"ж {i}",
        f"語 {i} and more of it, so that it is long",
        b"bytes %d" % i,
        b"more than fifteen bytes %d" % i,
        i + 2**40,
        i + 2**100,
        i + 0.5,
        ("new", "york", i),
        (f"a part of more than fifteen bytes {i}", i, (None,)),
    ]


@pytest.mark.parametrize("mapping", [dict, OrderedDict], ids=["dict", "OrderedDict"])
@pytest.mark.parametrize("params", [{}, {"hash_bits": 10}], ids=["exact", "hashed"])
@every_learner
def test_event_is_neither_changed_nor_kept(learner, params, mapping):
    model = trained(learner, **params)
    y = labels_for(learner)
    names = fresh_names()
    values = [float(f"{i}.25") for i in range(1, len(names) + 1)]
    x = mapping(zip(names, values, strict=True))
    before = dict(x)

    def references():
        return [sys.getrefcount(thing) for thing in (x, *names, *values)]

    # several times each: the scratch remembers the last event
    counts = references()
    for _ in range(3):
        for name, call in CALLS.items():
            call(model, x, y[1])
            call(model, x, y[0])
            assert references() == counts, name
    assert dict(x) == before
    assert list(x) == names

    x["bad"] = NAN
    counts = references()
    for call in CALLS.values():
        with pytest.raises(ValueError, match="bad"):
            call(model, x, y[0])
    gc.collect()
    assert references() == counts


@every_learner
def test_names_that_are_objects_are_kept_only_once_learned(learner):
    class Name:
        pass

    model = trained(learner)
    before = pickle.dumps(model)
    name = Name()
    gone = weakref.ref(name)
    x = UserDict({name: 1, "a": 1})
    for call in CALLS:
        if "learn" not in call and "train" not in call:
            CALLS[call](model, x, None)
            model.predict_many(pd.DataFrame({"a": [1.0]}))
    del name, x
    gc.collect()
    assert gone() is None
    assert pickle.dumps(model) == before


@every_learner
def test_frame_is_neither_changed_nor_kept(learner):
    class Column(str):
        """A name that can be watched."""

        __slots__ = ("__weakref__",)

    model = trained(learner)
    names = [Column("a"), Column("a name of more than fifteen bytes")]
    watched = [weakref.ref(name) for name in names]
    X = pd.DataFrame(np.eye(2), columns=pd.Index(names, dtype=object))
    before = X.copy()
    for call in MANY_CALLS.values():
        call(model, X, labels_for(learner)[:2])
    pd.testing.assert_frame_equal(X, before)
    del X, before, names
    gc.collect()
    assert [ref() for ref in watched] == [None, None]


def test_defaultdict_gains_no_features():
    x = defaultdict(float, a=1.0)
    model = Perceptron.from_weights({"a": 1.0, "b": 2.0})
    for call in CALLS.values():
        call(model, x, True)
    assert x == {"a": 1.0}


# Explanations


def real_stream(learner, n):
    for x, y in text_stream("20news_train", n):
        yield x, (y < "m" if learner == "Perceptron" else y)


@needs_data
@every_variant
def test_explanation_sums_up_to_the_decision_exactly(learner, variant):
    model = make(learner, variant)
    explained = 0
    for i, (x, y) in enumerate(real_stream(learner, 300)):
        x = {name: value + i % 3 / 7 for name, value in x.items()}
        if i > 20 and i % 3 == 0:
            parts = model.explain_one(x)
            decision = model.decision_function_one(x)
            if learner != "Perceptron":
                decision = decision[model.predict_one(x)]
            assert math.fsum(part for _, part in parts) == decision
            names = [name for name, _ in parts]
            assert len(set(names)) == len(names)
            assert set(names) <= {*x, None}
            assert (None in names) == model.intercept
            explained += 1
        model.learn_one(x, y)
    assert explained > 90


@needs_data
@every_variant
def test_explanation_is_sorted_by_size(learner, variant):
    model = make(learner, variant)
    for i, (x, y) in enumerate(real_stream(learner, 300)):
        x = {name: value + i % 3 / 7 for name, value in x.items()}
        if i > 20 and i % 3 == 0:
            sizes = [abs(part) for _, part in model.explain_one(x)]
            assert sizes == sorted(sizes, reverse=True)
        model.learn_one(x, y)


@pytest.mark.parametrize("kind", ["current", "average", "pocket"])
@every_learner
def test_contribution_is_value_times_weight_of_the_vector_that_answers(learner, kind):
    model = make(learner, pocket=True, serve=kind)
    labels = labels_for(learner)
    for x, y, _ in random_events(random.Random(4), values="real", labels=labels):
        model.learn_one(x, y)
    names = {"current": "weights", "average": "averaged_weights", "pocket": "pocket_weights"}
    weights = getattr(model, names[kind])
    bias = getattr(
        model,
        {"weights": "intercept_"}.get(names[kind], names[kind].replace("weights", "intercept")),
    )
    for x, _, _ in random_events(random.Random(5), n=20, values="real", labels=labels):
        label = None if learner == "Perceptron" else model.predict_one(x)
        w, b = (weights, bias) if label is None else (weights[label], bias[label])
        expected = {name: value * w[name] for name, value in x.items() if value and name in w}
        parts = dict(model.explain_one(x))
        assert parts == pytest.approx({**expected, None: b}, rel=1e-9, abs=1e-9)


@needs_data
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_any_label_can_be_explained(learner):
    model = make(learner)
    for x, y in real_stream(learner, 200):
        model.learn_one(x, y)
    decision = model.decision_function_one(x)
    assert len(decision) == 20
    for label, score in decision.items():
        assert math.fsum(part for _, part in model.explain_one(x, label=label)) == score
    assert model.explain_one(x) == model.explain_one(x, label=model.predict_one(x))


def test_false_is_explained_by_the_opposite_of_true():
    model = Perceptron.from_weights({"a": 2.0, "b": -3.0}, intercept=0.5)
    assert model.explain_one({"a": 1, "b": 1, "c": 1}) == [("b", -3.0), ("a", 2.0), (None, 0.5)]
    assert model.explain_one({"a": 1}, label=True) == [("a", 2.0), (None, 0.5)]
    assert model.explain_one({"a": 1}, label=np.False_) == [("a", -2.0), (None, -0.5)]


@every_learner
def test_label_that_is_not_known_cannot_be_explained(learner):
    for call in ("explain_one", "top_features"):
        args = ({"a": 1},) if call == "explain_one" else (3,)
        for label in ("another", -5, ("a",)):
            refused(
                trained(learner),
                lambda m, label=label, call=call, args=args: getattr(m, call)(*args, label=label),
                repr(label),
                "label",
                error=ValueError,
            )


@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_nothing_can_be_explained_before_the_first_label(learner):
    refused(make(learner), lambda model: model.explain_one({"a": 1}), "label", error=ValueError)
    assert make(learner).top_features() == {}
    assert isinstance(make(learner).debug_one({"a": 1}), str)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 6, 7, 10, 10**6], ids="n={}".format)
def test_top_features_are_the_first_of_each_sign(n):
    weights = {"a": 2.0, "b": -3.0, "c": 0.5, "d": 4.0, "e": -1.0, "f": 1.0}
    positive = [("d", 4.0), ("a", 2.0), ("f", 1.0), ("c", 0.5)][:n]
    negative = [("b", -3.0), ("e", -1.0)][:n]
    model = Perceptron.from_weights(weights, intercept=100.0)
    assert model.top_features(n=n) == (positive, negative)
    assert model.top_features(n=n, label=True) == (positive, negative)
    turned = [[(name, -weight) for name, weight in side] for side in (negative, positive)]
    assert model.top_features(n=n, label=False) == tuple(turned)

    model = MIRA.from_weights({"x": weights, "y": {"a": 7.0}})
    assert model.top_features(n=n, label="x") == (positive, negative)
    assert model.top_features(n=n) == {
        "x": (positive, negative),
        "y": ([("a", 7.0)][:n], []),
    }


@pytest.mark.parametrize("n", [-1, 1.0, None, True, "3"], ids=repr)
def test_number_of_top_features_must_be_a_whole_one(n):
    refused(
        Perceptron(),
        lambda model: model.top_features(n=n),
        f"n={n!r}",
        error=(TypeError, ValueError),
    )


# From weights


@every_variant
def test_model_from_weights_starts_from_them_in_every_kept_vector(learner, variant):
    if variant == "no intercept":
        pytest.skip("from_weights takes the weight of that name, not the parameter")
    params = make(learner, variant)._get_params()
    del params["intercept"]
    if learner == "Perceptron":
        weights, bias = {"a": 1.5, "long enough a name": -2.0}, 0.5
    else:
        weights = {"u": {"a": 1.5, "long enough a name": -2.0}, "v": {"b": 1.0}, "w": {}}
        bias = {"u": 0.5, "v": 0.0, "w": 0.0}
    model = LEARNERS[learner].from_weights(weights, bias, **params)
    assert {**params, "intercept": True} == model._get_params()
    assert (model.n_seen, model.n_updates) == (0, 0)
    if variant != "hashed, colliding":
        decision = model.decision_function_one({"a": 2, "long enough a name": 1, "c": 1})
        assert (decision if learner == "Perceptron" else decision["u"]) == 1.5
    if params["hash_bits"] is not None:
        return
    assert (model.weights, model.intercept_) == (weights, bias)
    if params["average"] != "none":
        assert (model.averaged_weights, model.averaged_intercept) == (weights, bias)
    if params["pocket"]:
        assert (model.pocket_weights, model.pocket_intercept) == (weights, bias)


@every_learner
def test_weights_that_were_read_give_the_same_model_back(learner):
    model = trained(learner)
    again = LEARNERS[learner].from_weights(model.weights, model.intercept_, serve="current")
    assert (again.weights, again.intercept_) == (model.weights, model.intercept_)


BAD_WEIGHTS_GIVEN = {
    "no mapping": ([1.0], 0.0, TypeError, "weights"),
    "None": (None, 0.0, TypeError, "weights"),
    "text": ({"the culprit": "x"}, 0.0, TypeError, "'the culprit'"),
    "None as a weight": ({"the culprit": None}, 0.0, TypeError, "'the culprit'"),
    "NaN": ({"a": 1.0, "the culprit": NAN}, 0.0, ValueError, "'the culprit'"),
    "too large": ({"the culprit": 1e51}, 0.0, ValueError, "'the culprit'"),
    "unhashable": (Pairs((["k"], 1.0)), 0.0, TypeError, "['k']"),
    "intercept text": ({"a": 1.0}, "0", TypeError, "intercept"),
    "intercept NaN": ({"a": 1.0}, NAN, ValueError, "intercept"),
}


@pytest.mark.parametrize("kind", BAD_WEIGHTS_GIVEN)
@pytest.mark.parametrize("several", [False, True], ids=["two labels", "many labels"])
def test_bad_weights_to_start_from_are_refused(several, kind):
    weights, intercept, error, name = BAD_WEIGHTS_GIVEN[kind]
    learner = MIRA if several else Perceptron
    given = ({"u": weights}, {"u": intercept}) if several else (weights, intercept)
    with pytest.raises(error) as caught:
        learner.from_weights(*given)
    assert name in str(caught.value)
    assert "Tokenizer" not in str(caught.value)
    assert "x[" not in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "intercept", "error", "name"),
    [
        ([1.0], None, TypeError, "weights"),
        ("ab", None, TypeError, "weights"),
        ({None: {"a": 1.0}}, None, ValueError, "None"),
        ({NAN: {"a": 1.0}}, None, ValueError, "nan"),
        ({"u": {"a": 1.0}}, 0.5, TypeError, "intercept"),
        ({"u": {"a": 1.0}}, [("u", 1.0)], TypeError, "intercept"),
        ({"u": {"a": 1.0}}, {"v": 0.5}, ValueError, "'v'"),
        (Pairs(("u", {}), ("u", {})), None, ValueError, "'u'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("learner", [MulticlassPerceptron, MIRA])
def test_bad_labels_to_start_from_are_refused(learner, weights, intercept, error, name):
    with pytest.raises(error, match=name) as caught:
        learner.from_weights(weights, intercept)
    assert type(caught.value) is error


@every_learner
def test_intercept_to_start_from_needs_a_learner_that_has_one(learner):
    weights = {"a": 1.0} if learner == "Perceptron" else {"u": {"a": 1.0}}
    intercept = 0.5 if learner == "Perceptron" else {"u": 0.5}
    with pytest.raises(ValueError, match="intercept=False"):
        # the constructor's parameter of the same name is taken by the weight itself
        subclass_without_intercept(LEARNERS[learner]).from_weights(weights, intercept)


def subclass_without_intercept(learner):
    class Mine(learner):
        def __init__(self):
            super().__init__(intercept=False)

    return Mine


# What the caller keeps


@every_learner
def test_class_weight_is_a_copy_that_nobody_can_change(learner, tmp_path):
    labels = labels_for(learner)
    given = {labels[0]: 2.0}
    model = make(learner, class_weight=given)
    before = pickle.dumps(model)
    given[labels[0]] = -5.0
    given["more"] = "bad"
    assert pickle.dumps(model) == before
    assert model.class_weight == {labels[0]: 2.0}
    assert repr(model.class_weight) == repr({labels[0]: 2.0})
    for change in (
        lambda kept: kept.update({labels[1]: 3.0}),
        lambda kept: kept.__setitem__(labels[1], 3.0),
        lambda kept: kept.__delitem__(labels[0]),
        lambda kept: kept.__ior__({labels[1]: 3.0}),
        lambda kept: kept.setdefault(labels[1], 3.0),
        lambda kept: kept.pop(labels[0]),
        lambda kept: kept.popitem(),
        lambda kept: kept.clear(),
    ):
        with pytest.raises(TypeError, match="clone"):
            change(model.class_weight)
    model.learn_one({"a": 1}, labels[1])
    model.learn_one({"a": 1}, labels[0])
    model.save(tmp_path / "model")
    for other in (
        model.clone(),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        streamptron.load(tmp_path / "model"),
    ):
        assert other.class_weight == {labels[0]: 2.0}
        assert pickle.dumps(other.clone()) == pickle.dumps(model.clone())
        with pytest.raises(TypeError, match="clone"):
            other.class_weight[labels[0]] = 1.0
    kept = copy.deepcopy(model.class_weight)
    kept[labels[0]] = 9.0
    assert json.loads(json.dumps(dict.fromkeys(map(str, kept), 9.0))) == {str(labels[0]): 9.0}
    assert model.class_weight[labels[0]] == 2.0


def test_class_weight_of_a_mapping_of_the_users_own_is_read_once():
    class Fickle(Mapping):
        """Whose weights are others each time that they are read."""

        n = 0

        def __getitem__(self, label):
            self.n += 1
            return float(self.n)

        def __iter__(self):
            return iter([True])

        def __len__(self):
            return 1

    model = Perceptron(class_weight=Fickle())
    model.learn_one({"a": 1}, True)
    assert model.class_weight == {True: 1.0}
    assert model.weights == {"a": 1.0}


# What the errors say to do


def test_average_that_is_not_there_cannot_be_served_and_the_error_says_what_can():
    with pytest.raises(ValueError, match=r"average='uniform'.*serve='current'"):
        Perceptron(average="none", serve="average")


@every_learner
def test_nan_of_a_step_before_the_learner_is_told_with_a_cure_that_works(learner):
    y = labels_for(learner)[0]
    model = preprocessing.MinMaxScaler() | make(learner)
    with pytest.raises(ValueError, match=r"x\['a'\] is NaN.*MinMaxScaler.*StandardScaler makes 0"):
        model.predict_one({"a": 2.0})
    cured = preprocessing.StandardScaler() | make(learner)
    cured.predict_one({"a": 2.0})
    cured.learn_one({"a": 2.0}, y)
    assert cured.predict_one({"a": 2.0}) == y or learner == "Perceptron"


def test_prediction_before_the_first_label_is_told_when_it_is_used_as_a_feature():
    guess = MulticlassPerceptron().predict_one({"a": 1})
    assert guess is None
    with pytest.raises(
        TypeError, match=r"x\['guess'\] is None.*until the learner has seen a label"
    ):
        Perceptron().learn_one({"guess": guess}, True)
