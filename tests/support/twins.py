"""A learner beside its plain-Python twin, and how the two are compared."""

from math import fsum, ulp

import pytest

import streamptron
from tests.twin import learners

RULES = {
    "Perceptron": ("Perceptron", {}),
    "Perceptron margin=0.5": ("Perceptron", {"margin": 0.5}),
    "MulticlassPerceptron": ("MulticlassPerceptron", {}),
    "MulticlassPerceptron margin=0.5": ("MulticlassPerceptron", {"margin": 0.5}),
    "MulticlassPerceptron uniform": ("MulticlassPerceptron", {"violators": "uniform"}),
    "MulticlassPerceptron proportional": (
        "MulticlassPerceptron",
        {"violators": "proportional", "margin": 0.5},
    ),
    "MulticlassPerceptron proportional, no margin": (
        "MulticlassPerceptron",
        {"violators": "proportional"},
    ),
    "MIRA": ("MIRA", {}),
    "MIRA uniform": ("MIRA", {"violators": "uniform"}),
    "MIRA proportional": ("MIRA", {"violators": "proportional"}),
    "MIRA proportional on mistakes, C=0.1": (
        "MIRA",
        {"violators": "proportional", "update": "mistake", "C": 0.1},
    ),
    "MIRA C=0.1": ("MIRA", {"C": 0.1}),
    "MIRA on mistakes": ("MIRA", {"update": "mistake"}),
}


# what is kept, and every way to serve from it
KEPT = {
    f"{average}{' pocket' * pocket} serve={serve}": {
        "average": average,
        "pocket": pocket,
        "serve": serve,
    }
    for average in ("none", "uniform", "exponential")
    for pocket in (False, True)
    for serve in ("current", "average", "pocket", "best")
    if (serve != "average" or average != "none") and (serve != "pocket" or pocket)
}

LABELS = ("ham", "spam", "eggs", 7, ("baked", "beans"), "bacon")


def labels_for(rule):
    return (False, True) if rule.startswith("Perceptron") else LABELS


def twins(rule, *, hash_bits=None, **params):
    """The library's learner and its twin. The library's hashes are the same in every run."""
    learner, rule_params = RULES[rule]
    params = {**rule_params, **params}
    model = getattr(streamptron, learner)(**params, hash_bits=hash_bits, hash_seed=0)
    return model, getattr(learners, learner)(**params)


def flat(number_or_dict):
    """Numbers by their place in nested dicts."""
    if not isinstance(number_or_dict, dict):
        return {(): number_or_dict}
    return {
        (key, *place): number
        for key, part in number_or_dict.items()
        for place, number in flat(part).items()
    }


def check_equal(got, expected, exact):
    """Numbers, or dicts of them; a weight that is not listed is 0."""
    if exact:
        assert got == expected
        return
    got, expected = flat(got), flat(expected)
    places = {**got, **expected}
    # a sum of products of size 1 to 100, some of which cancel out
    assert {place: got.get(place, 0.0) for place in places} == pytest.approx(
        {place: expected.get(place, 0.0) for place in places}, rel=1e-12, abs=1e-11
    )


def check_answers(model, twin, x):
    exact = twin.average != "exponential"
    assert model.predict_one(x) == twin.predict_one(x)
    check_equal(model.decision_function_one(x), twin.decision_function_one(x), exact)
    check_equal(model.predict_proba_one(x), twin.predict_proba_one(x), exact)
    assert model.serving == twin.serving


def check_counts(model, twin):
    counts = (twin.n_seen, twin.n_updates, twin.n_mistakes, twin.n_features, twin.n_evicted)
    assert (
        *(model.n_seen, model.n_updates, model.n_mistakes),
        *(model.n_features, model.n_evicted),
    ) == counts


def check_weights(model, twin):
    if not isinstance(twin, learners.Perceptron):
        assert model.labels == twin.labels
    assert model.weights == twin.weights
    assert model.intercept_ == twin.intercept_
    if twin.average != "none":
        exact = twin.average == "uniform"
        check_equal(model.averaged_weights, twin.averaged_weights, exact)
        check_equal(model.averaged_intercept, twin.averaged_intercept, exact)
    if twin.pocket:
        assert model.pocket_weights == twin.pocket_weights
        assert model.pocket_intercept == twin.pocket_intercept


def check_stream(model, twin, events):
    for x, y, w in events:
        check_answers(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        check_counts(model, twin)
    check_weights(model, twin)


def check_explanation(model, twin, x):
    parts = model.explain_one(x)
    score = twin.decision_function_one(x)
    output = twin.predict_one(x) if isinstance(score, dict) else True
    kind = twin.served_for(x)
    if isinstance(score, dict):
        score = score[output]
    # exact, unless no doubles of the parts' size add up to it
    finest = min((ulp(part) for _, part in parts), default=0.0)
    assert abs(excess := fsum((score, *(-part for _, part in parts)))) < finest or excess == 0.0
    names = {learners.INTERCEPT: None}
    expected = {
        names.get(feature, feature): value * twin.weight(kind, output, feature)
        for feature, value in twin.event(x)
    }
    check_equal(dict(parts), expected, exact=False)
