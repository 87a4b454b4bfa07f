"""Explanations add up to the decision, exactly."""

import math
import random
from itertools import islice

import numpy as np
import pytest

from streamptron import MIRA, Pair, Perceptron
from tests.support.doors import refused, trained
from tests.support.streams import needs_data, random_events, text_stream
from tests.support.variants import (
    every_averager,
    every_learner,
    every_linear_variant,
    labels_for,
    make,
)

pytestmark = pytest.mark.once  # another Python would say the same


def real_stream(learner, n, most_words=None):
    for x, y in text_stream("20news_train", n):
        words = dict(islice(x.items(), most_words))
        yield words, (y < "m" if learner == "Perceptron" else y)


def most_words(variant):
    """Of an event, so that its pairs stay few."""
    return 20 if "pairs" in variant else None


def halves(name):
    """The names of which a pair is, however deep: hashed, pairs are columns with surfaces."""
    if not isinstance(name, Pair):
        return [name]
    return [*halves(name.first), *halves(name.second)]


@needs_data
@every_linear_variant
def test_explanation_is_sorted_by_size_and_sums_up_to_the_decision_exactly(learner, variant):
    model = make(learner, variant)
    explained = n_pairs = 0
    beside = {None}
    for i, (x, y) in enumerate(real_stream(learner, 300, most_words(variant))):
        x = {name: value + i % 3 / 7 for name, value in x.items()}
        if i > 20 and i % 3 == 0:
            parts = model.explain_one(x)
            sizes = [abs(part) for _, part in parts]
            assert sizes == sorted(sizes, reverse=True)
            decision = model.decision_function_one(x)
            if learner != "Perceptron":
                decision = decision[model.predict_one(x)]
            # exact, unless no doubles of the parts' size add up to it
            excess = abs(math.fsum((decision, *(-part for _, part in parts))))
            assert excess == 0.0 or excess < min(math.ulp(part) for _, part in parts)
            names = [name for name, _ in parts]
            assert len(set(names)) == len(names)
            assert {half for name in names for half in halves(name)} <= {*x, *beside}
            n_pairs += sum(isinstance(name, Pair) for name in names)
            # how often each label comes is always there, and who votes without a reason may be
            if learner != "VotedPerceptron" or model.intercept:
                assert (None in names) == (model.intercept or getattr(model, "naive_bayes", False))
            explained += 1
        model.learn_one(x, y)
        if learner == "AdaptiveClassifier":  # columns of numbers are in every event
            beside.update(x)
    assert explained > 90
    if getattr(model, "shape", "line") == "line":  # else columns have surfaces, named as pairs are
        assert (n_pairs > 100) == (model.degree == 2 and model.max_features is None)


@pytest.mark.parametrize("kind", ["current", "average", "pocket"])
@every_averager
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
