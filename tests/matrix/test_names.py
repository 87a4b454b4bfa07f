"""Columns have the names that dicts have, of every kind."""

import datetime
import gc
import pickle
import random
import uuid
import weakref

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from streamptron import Perceptron
from tests.support.doors import refused, trained
from tests.support.marks import in_turn
from tests.support.matrices import (
    CALLS,
    FORMS,
    FRAMES,
    NAN,
    assert_answers_alike,
    assert_learned_on,
    both_ways,
    csr,
    dicts,
    every_call,
    learn_each,
    listed,
    objects,
    random_batch,
    widened,
)
from tests.support.streams import KEYS, make_key
from tests.support.variants import (
    LEARNERS,
    answers,
    every_learner,
    every_variant,
    labels_for,
    make,
)

HOLDERS = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "array": lambda names: objects(names),
    "Index": lambda names: pd.Index(objects(names), dtype=object, tupleize_cols=False),
    "Series": lambda names: pd.Series(objects(names), dtype=object),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("keys", [*KEYS, "mixed"])
def test_columns_may_have_names_of_every_kind(keys, holder):
    rng = random.Random(f"{keys}, {holder}")
    learner = rng.choice(list(LEARNERS))
    model, twin = make(learner), make(learner)
    names = [make_key(keys, i) for i in range(12)]
    for form in ("csr_array", "array", "CSR, unsorted", "coo"):
        dense, ys, ws = random_batch(rng, learner, weighted=True)
        X = FORMS[form](dense, rng, "in place")
        rows = dicts(dense, names)
        model.learn_many(X, ys, ws, feature_names=HOLDERS[holder](names))
        learn_each(twin, rows, ys, ws)
        assert listed(model.predict_many(X, feature_names=HOLDERS[holder](names))) == [
            twin.predict_one(x) for x in rows
        ]
        learn_each(model, rows[:5], ys[:5])
        learn_each(twin, rows[:5], ys[:5])
        assert model.weights == twin.weights
        assert_answers_alike(model, twin, X, rows, feature_names=names)
    if keys not in ("object", "mixed"):  # names of that kind are numbered as they come
        assert pickle.dumps(model) == pickle.dumps(twin)


@both_ways
@pytest.mark.parametrize("keys", [key for key in KEYS if key != "object"])
@every_learner
def test_names_of_columns_are_hashed_as_those_of_dicts(learner, keys, way):
    rng = random.Random(keys)
    model, twin = (make(learner, hash_bits=8) for _ in range(2))
    dense, ys, _ = random_batch(rng, learner)
    dense = widened(dense, way)
    names = [make_key(keys, i) for i in range(dense.shape[1])]
    for X in (dense, csr(dense, way)):
        model.learn_many(X, ys, feature_names=names)
        learn_each(twin, dicts(dense, names), ys)
        assert pickle.dumps(model) == pickle.dumps(twin)
        assert_answers_alike(model, twin, X, dicts(dense, names), feature_names=names)


def test_names_that_numpy_gives_to_texts_and_numbers_are_the_plain_ones():
    model = Perceptron.from_weights({"a": 2.0, "b": 3.0, 7: 5.0, 0.5: 7.0})
    X = np.array([[10.0, 1.0]])
    for names, expected in (
        (np.array(["a", "b"]), 23.0),
        (np.array([7, 0], np.int8), 50.0),
        (np.array([0.5, 7.0]), 75.0),
        (pd.Index(["b", "a"]), 32.0),
        (pd.RangeIndex(6, 8), 5.0),
        (range(7, 9), 50.0),
    ):
        assert model.decision_function_many(X, feature_names=names).tolist() == [expected]


WRONG_NAMES = {
    "too many": (["a", "b", "c", "d"], ValueError, ["4", "3 columns"]),
    "too few": (["a", "b"], ValueError, ["2", "3 columns"]),
    "none": ([], ValueError, ["0", "3 columns"]),
    "str": ("abc", TypeError, ["str"]),
    "bytes": (b"abc", TypeError, ["bytes"]),
    "dict": ({"a": 0, "b": 1, "c": 2}, TypeError, ["dict"]),
    "set": ({"a", "b", "c"}, TypeError, ["set"]),
    "int": (3, TypeError, ["int"]),
    "True": (True, TypeError, ["bool"]),
    "unhashable": (["a", ["b"], "c"], TypeError, ["['b']"]),
    "NaN": (["a", NAN, "c"], ValueError, ["nan"]),
    "twins": (["a", "twin", "twin"], ValueError, ["'twin'"]),
    "long twins": (["a", "a twin of many bytes", "a twin of many bytes"], ValueError, ["twin"]),
    "equal names": (["a", 1, True], ValueError, ["True"]),
    "equal numbers": ([0.0, "a", 0], ValueError, ["0"]),
    "equal objects": ([frozenset("a"), "a", frozenset("a")], ValueError, ["frozenset"]),
    "nested": ([["a", "b", "c"]], ValueError, ["1", "3 columns"]),
}


@pytest.mark.parametrize(("kind", "learner", "call"), in_turn(WRONG_NAMES, LEARNERS, CALLS))
def test_names_that_do_not_fit_the_columns_are_refused(learner, call, kind):
    names, error, said = WRONG_NAMES[kind]
    for X in (np.eye(3), csr(np.eye(3)), sp.csc_matrix(np.eye(3))):
        message = refused(
            trained(learner),
            lambda model, X=X: CALLS[call](
                model, X, [labels_for(learner)[0]] * 3, feature_names=names
            ),
            *said,
            error=error,
        )
        assert "name" in message


@every_call
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@every_learner
def test_names_for_a_frame_are_refused_because_it_has_its_own(learner, library, call):
    X = FRAMES[library](np.eye(2), None, "in place")
    refused(
        trained(learner),
        lambda model: CALLS[call](model, X, labels_for(learner)[:2], feature_names=["a", "b"]),
        "feature_names",
        "frame",
        error=TypeError,
    )


@every_call
@every_learner
def test_column_whose_name_has_no_hash_of_its_own_is_refused_by_a_hashed_model(learner, call):
    names = ["a", frozenset("b")]
    refused(
        trained(learner, hash_bits=10),
        lambda model: CALLS[call](model, np.eye(2), labels_for(learner)[:2], feature_names=names),
        "frozenset({'b'})",
        "hash_bits",
        error=TypeError,
    )


@every_call
@every_learner
def test_names_of_columns_are_kept_only_once_learned(learner, call):
    class Name:
        pass

    model = make(learner)
    labels = labels_for(learner)
    model.learn_one({"a": 1}, labels[0])
    names = [Name(), Name()]
    gone = [weakref.ref(name) for name in names]
    # no values at first; then the second row is a mistake, and its feature is the first one
    CALLS[call](model, np.zeros((2, 2)), [labels[0]] * 2, feature_names=names)
    CALLS[call](model, np.array([[0.0, 0.0], [1.0, 0.0]]), labels[:2], feature_names=names)
    del names
    gc.collect()
    assert gone[1]() is None
    assert (gone[0]() is None) == ("learn" not in call and "train" not in call)


@every_variant
def test_names_of_the_last_event_outlive_the_model_that_a_copy_replaces(learner, variant):
    """The scratch points at the model's long names, and the model is another one afterwards."""
    model, twin = make(learner, variant), make(learner, variant)
    labels = labels_for(learner)
    names = [f"a name of more than fifteen bytes {i}" for i in range(12)]
    X = csr(np.zeros((4, 3)), "on a copy")  # learns no feature: slots stay what they are
    for i in range(20):
        x = dict.fromkeys(names[i % 5 : i % 5 + 3], 1.0)
        for each in (model, twin):
            each.learn_one(x, labels[i % 2], 2.0)
        assert answers(model, x) == answers(twin, x)
        if variant != "hashed":  # where each slot has a chunk of its own
            assert_learned_on("on a copy", X, model)
        model.learn_many(X, labels[:2] * 2)
        learn_each(twin, [{}] * 4, labels[:2] * 2)
        other = dict.fromkeys(names[i % 7 + 2 :: -1], 1.0)
        for event in (x, other, x):
            assert answers(model, event) == answers(twin, event)
    assert pickle.dumps(model) == pickle.dumps(twin)


@pytest.mark.parametrize(
    "name", [pd.Timestamp("2026-01-31"), uuid.UUID(int=1), np.datetime64("2026-01-31", "ns")]
)
def test_a_frame_says_at_once_that_a_model_of_such_columns_cannot_be_saved(name):
    X = pd.DataFrame(np.eye(2), columns=pd.Index([name, "a"], dtype=object))
    with pytest.warns(UserWarning, match="cannot be saved, only pickled; name the columns by text"):
        Perceptron().learn_many(X, [True, False])
    X.columns = [1, datetime.date(2026, 1, 31)]
    Perceptron().learn_many(X, [True, False])
