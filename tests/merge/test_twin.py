"""What merge makes of several models equals the plain-Python twin's, and learns on like it."""

import copy
import random

import pytest

from streamptron import merge
from tests.support.marks import seeds
from tests.support.shards import (
    LABELS,
    applied,
    learn,
    merged_twin,
    pair_of,
    shards_of,
    state,
)
from tests.support.streams import KEYS, random_events
from tests.support.twins import check_answers, check_counts, check_weights

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

PERCEPTRONS = {
    "default": {},
    "no average": {"average": "none"},
    "exponential": {"average": "exponential", "half_life": 30},
    "pocket": {"pocket": True},
    "pocket, no average": {"pocket": True, "average": "none"},
    "pocket, exponential": {"pocket": True, "average": "exponential", "half_life": 3},
    "no intercept": {"intercept": False},
    "serve average": {"serve": "average"},
}
VARIANTS = [
    *(("Perceptron", name) for name in PERCEPTRONS),
    *(("MulticlassPerceptron", name) for name in PERCEPTRONS),
    ("MIRA", "default"),
    ("AROW", "default"),
    ("AdaptiveClassifier", "default"),
    ("AdaptiveClassifier", "false alarms"),
]
FALSE_ALARMS = {"false_positive_rate": {"ham": 0.1, "spam": 0.3, "eggs": 0.2}}
every_variant = pytest.mark.parametrize(("learner", "variant"), VARIANTS)


def streams_of(rng, learner, n_shards, n=60, features=30):
    """A base's events and each shard's, of names and labels of its own."""
    kind = rng.choice([*KEYS, "mixed"])
    values, size = rng.choice([("small", 8), ("measured", 25)])
    if learner != "AdaptiveClassifier":
        values, size = "small", 8

    def events(labels, first, n):
        labels = (False, True) if learner == "Perceptron" else labels
        kept = random_events(
            rng,
            n,
            labels=labels,
            keys=kind,
            n_features=features + first,
            weighted=True,
            values=values,
            size=size,
        )
        return list(kept)

    met = rng.choice([(), ("ham",), ("ham", "spam"), LABELS[1]])
    base = events(LABELS[0], 0, n) if met == ("ham", "spam") else events(LABELS[1], 0, n)
    if met in ((), ("ham",)):
        base = [event for event in base if event[1] in met]
    wide = rng.choice([LABELS, (LABELS[0],), (("ham", "spam"), ("spam", "ham"))])
    return base, [events(wide[k % len(wide)], 10 * k, n) for k in range(n_shards)]


def check_same(model, twin, events):
    if learner_adapts(twin):
        for x, _, _ in events[:20]:
            assert model.predict_proba_one(x) == twin.predict_proba_one(x)
            assert model.decision_function_one(x) == twin.decision_function_one(x)
            assert model.predict_one(x) == twin.predict_one(x)
        assert model.labels == twin.labels
        assert (model.n_seen, model.n_updates) == (twin.n_seen, twin.n_updates)
        return
    check_counts(model, twin)
    check_weights(model, twin)
    for x, _, _ in events[:20]:
        check_answers(model, twin, x)


def base_objects(base, models):
    """Names that no bytes can hold."""
    return any(m.__getstate__()["objects"] for m in [base, *models])


def learner_adapts(twin):
    return type(twin).__name__ == "AdaptiveClassifier"


@seeds(4)
@pytest.mark.parametrize("went_on", [True, False], ids=["since", "nothing in common"])
@every_variant
def test_merged_models_equal_the_merged_twins_and_learn_on_like_them(
    learner, variant, went_on, seed
):
    rng = random.Random(f"{learner}, {variant}, {went_on}, {seed}")
    base, base_twin = pair_of(learner, **(PERCEPTRONS | {"false alarms": FALSE_ALARMS})[variant])
    untrained = copy.deepcopy(base_twin)
    past, streams = streams_of(rng, learner, rng.choice([2, 3, 5]))
    if went_on:
        learn(base, past), learn(base_twin, past)
    models, twins = shards_of(base, streams), shards_of(base_twin, streams)
    model = merge(models, since=base if went_on else None)
    twin = merged_twin(twins, base_twin if went_on else None, untrained)
    model._check()
    events = [event for stream in streams for event in stream]
    check_same(model, twin, events)
    if went_on:
        order = rng.sample(range(len(models)), len(models))
        wire = not base_objects(base, models)
        assert state(applied(base, models, order, wire)) == state(model)
    for x, y, w in events[-60:]:
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    check_same(model, twin, events)
