"""AdaptiveClassifier equals its plain-Python twin (reference_adaptive.py), bit for bit.

Every door is held to it: dicts, texts, matrices of every kind, and whatever comes between: pickles, copies, files.
"""

import random
from itertools import islice

import pytest
import reference_adaptive
from streams import (
    KEYS,
    VALUES,
    make_key,
    needs_data,
    random_events,
    svmlight,
    tagging_stream,
    text_stream,
)

from streamptron import AdaptiveClassifier

LABELS = ("ham", "spam", "eggs", 7, ("baked", "beans"), "bacon", "toast", "jam", "tea", 0.5)


def seeds(n):
    return pytest.mark.parametrize("seed", range(n), ids="seed={}".format)


def twins(max_labels=None, max_features=None, hash_bits=None, **params):
    """The library's learner and its twin."""
    model = AdaptiveClassifier(
        **params,
        hash_seed=1,
        max_labels=max_labels,
        max_features=max_features,
        hash_bits=hash_bits,
    )
    return model, reference_adaptive.AdaptiveClassifier(**params)


def check_answers(model, twin, x):
    assert model.predict_one(x) == twin.predict_one(x)
    assert model.decision_function_one(x) == twin.decision_function_one(x)
    assert model.predict_proba_one(x) == twin.predict_proba_one(x)


def check_counts(model, twin):
    assert (model.n_seen, model.n_updates, model.n_mistakes) == (
        *(twin.n_seen, twin.n_updates, twin.n_mistakes),
    )


def check_weights(model, twin):
    """Weights of 0 are left out."""
    assert model.labels == twin.labels
    found = {
        k: {j: row.w[k] for j, row in twin.rows.items() if row.w.get(k, 0.0) != 0.0}
        for k in twin.outputs
    }
    if twin.two:
        assert model.weights == found[1]
        assert model.intercept_ == twin.w0[1]
    else:
        assert model.weights == {label: found[k] for k, label in enumerate(twin.labels)}
        assert model.intercept_ == dict(zip(twin.labels, twin.w0.values(), strict=True))
    assert model.n_features == len(twin.rows)


def check_stream(model, twin, events, ask=check_answers):
    for x, y, w in events:
        ask(model, twin, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
        check_counts(model, twin)
    check_weights(model, twin)
    model._check()


PARAMETERS = {
    "default": {},
    "no naive Bayes": {"naive_bayes": False},
    "no intercept": {"intercept": False},
    "neither": {"naive_bayes": False, "intercept": False},
    "short steps": {"eta": 0.3, "forget": 0.03},
    "long steps": {"eta": 2.0, "forget": 0.0},
}


@seeds(3)
@pytest.mark.parametrize("labels", [(False, True), ("ham", "spam"), LABELS[:3], LABELS], ids=len)
@pytest.mark.parametrize("params", PARAMETERS)
def test_learner_equals_its_twin_at_every_event(params, labels, seed):
    rng = random.Random(f"{params}, {labels}, {seed}")
    class_weight = rng.choice([None, {labels[0]: 2.0, labels[1]: 0.3}, {labels[-1]: 0.0}])
    model, twin = twins(class_weight=class_weight, **PARAMETERS[params])
    events = random_events(
        rng,
        n=250,
        labels=labels,
        keys=rng.choice([*KEYS, "mixed"]),
        values=rng.choice(list(VALUES)),
        weighted=rng.random() < 0.5,
        size=rng.choice((3, 12, 40)),
    )
    check_stream(model, twin, events)
    assert twin.n_updates > 0
