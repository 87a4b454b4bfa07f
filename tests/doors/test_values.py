"""A value is a number that a float64 holds; any other is refused by its feature."""

import math
import pickle
import random
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from streamptron import Perceptron
from tests.support.doors import CALLS, INF, NAN, refused, trained
from tests.support.marks import in_turn
from tests.support.variants import (
    LEARNERS,
    ONE_OUTPUT,
    STARTERS,
    answers,
    every_learner,
    every_variant,
    labels_for,
    make,
    most_weight,
)

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
    "int that is not a float": (2**53 + 1, ValueError),
    "int below 0 that is not a float": (-(2**60) - 1, ValueError),
    "int of 64 bits that is not a float": (2**64 - 1, ValueError),
    "large int that is not a float": (10**50, ValueError),
    "numpy int that is not a float": (np.int64(-(2**53) - 1), ValueError),
    "numpy unsigned int that is not a float": (np.uint64(2**64 - 1), ValueError),
    "numpy long double that is not a float": (np.longdouble(1) / 3, ValueError),
    "str of digits": ("1", TypeError),
    "str of a number": (" -2.5e3", TypeError),
    "str of nan": ("nan", TypeError),
    "numpy str of digits": (np.str_("1"), TypeError),
    "bytes": (b"red", TypeError),
    "list": ([1.0], TypeError),
    "tuple": ((1.0,), TypeError),
    "dict": ({"a": 1}, TypeError),
    "complex": (1j, TypeError),
    "numpy complex": (np.complex64(1), TypeError),
    "array of no dimension": (np.array(1.0), TypeError),
    "array": (np.array([1.0]), TypeError),
    "datetime": (np.datetime64("2020-01-01"), TypeError),
    "object": (object(), TypeError),
    "type": (int, TypeError),
}


@pytest.mark.parametrize(("kind", "call", "learner"), in_turn(BAD_VALUES, CALLS, LEARNERS))
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


def test_number_as_text_is_answered_with_the_event_to_write():
    model = Perceptron()
    message = refused(model, lambda model: model.learn_one({"zip": "10115"}, True))
    assert "{'zip=10115': 1}" in message
    assert "write a number" in message
    message = refused(model, lambda model: model.learn_one({3: "red"}, True))
    assert "{'3=red': 1}" in message


def test_messages_about_values_say_what_to_do():
    model = Perceptron()
    message = refused(model, lambda model: model.learn_one({"f": NAN}, True))
    assert "impute" in message
    assert "missing='skip_nan'" in message
    for value in (INF, 1e51, 10**400):
        message = refused(model, lambda model, v=value: model.learn_one({"f": v}, True))
        assert "finite" in message
        assert "1e+50" in message
    # a name or a value of any length does not flood the log
    for x in (
        {"f" * 10**6: NAN},
        {"f": "1" * 10**6},
        {3: "v" * 10**6},
        {"f": 10**400},
        {"f": [1] * 10**6},
    ):
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
    ]
    if learner in STARTERS:
        doors.append(lambda model: type(model).from_weights(x if learner in ONE_OUTPUT else {y: x}))
    for door in doors:
        refused(trained(learner), door, "'the culprit'", "exactly", error=ValueError)
    if learner not in STARTERS:
        return
    start = ({}, value) if learner in ONE_OUTPUT else ({y: {}}, {y: value})
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
    most = 1e50 if model.degree == 1 else 0.9e25  # so that a product is below 1e50
    rng = random.Random(2)
    for i in range(60):
        x = {f"f{rng.randrange(4)}": rng.choice((most, -most, 5e-324, 1.0)) for _ in range(3)}
        model.learn_one(x, labels[i % len(labels)], w=rng.choice((most_weight(learner), 1.0, 0.0)))
        p = model.predict_proba_one(x)
        assert math.isclose(math.fsum(p.values()), 1.0, abs_tol=1e-9)
        assert all(0.0 <= value <= 1.0 for value in p.values())
    decision = model.decision_function_one(x)
    assert all(map(math.isfinite, decision.values() if isinstance(decision, dict) else [decision]))
