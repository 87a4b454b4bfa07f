"""Curves and surfaces of AdaptiveClassifiers that learned apart: one model, as the twin has it."""

import copy
import random

import pytest

from streamptron import merge
from tests.support.marks import seeds
from tests.support.shards import learn, merged_twin, pair_of, shards_of

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

# what the base has learned, and each shard
LABELS = {
    "two labels": ("ab", ("ab", "ab", "ab")),
    "two labels, the other way round": ("", ("ab", "ba")),
    "one label, then two": ("a", ("ab", "a", "ba")),
    "three labels": ("abc", ("abc", "cba")),
    "two beside three": ("", ("ab", "bca", "cb")),
    "more labels than the base": ("ab", ("abcde", "ab", "fba")),
}
every_past = pytest.mark.parametrize("labels", LABELS)
every_shape = pytest.mark.parametrize("shape", ["curve", "auto"])


def events_of(rng, labels, n, columns):
    """Numbers that say something in a shape that is no line, in an order of their own, and a word.

    Some are missing now and then; a few columns only come late, or end.
    """
    order = rng.sample(range(columns), columns)
    events = []
    for i in range(n):
        x = {f"column {k}": 100.0 * (k == 0) + rng.gauss(0.0, 1.0 + k) for k in order}
        if rng.random() < 0.2:
            del x[f"column {rng.randrange(columns)}"]
        x[rng.choice(["word", "another"])] = 1
        said = x.get("column 1", 0.0) * x.get("column 2", 0.0) > 0
        y = labels[(said + (rng.random() < 0.3) * rng.randrange(5)) % len(labels)]
        events.append((x, y if i >= len(labels) else labels[i], rng.choice([1.0, 0.5, 3.0])))
    return events


def sides(labels, shape, seed, columns=4, n=60, **params):
    """A base and shards, the same of twins, and the shards' events."""
    rng = random.Random(f"{labels}, {shape}, {seed}")
    known, theirs = LABELS[labels]
    base, twin = pair_of("AdaptiveClassifier", shape=shape, **params)
    before = events_of(rng, known, n, columns) if known else []
    learn(base, before), learn(twin, before)
    streams = [events_of(rng, its, n, columns + k % 2) for k, its in enumerate(theirs)]
    return base, shards_of(base, streams), twin, shards_of(twin, streams), streams


def check_same(model, twin, events):
    model._check()
    assert model.labels == twin.labels
    for x, _, _ in events:
        assert model.predict_proba_one(x) == twin.predict_proba_one(x)
        assert model.decision_function_one(x) == twin.decision_function_one(x)


@seeds(3)
@every_shape
@every_past
def test_merged_curves_and_surfaces_equal_the_twins_and_learn_on_like_them(labels, shape, seed):
    base, models, base_twin, twins, streams = sides(labels, shape, seed)
    since, twins_since = (base, base_twin) if base.labels else (None, None)
    model = merge(models, since=since)
    twin = merged_twin(twins, twins_since, pair_of("AdaptiveClassifier", shape=shape)[1])
    events = streams[0][-20:] + streams[-1][-20:]
    for _ in range(2):
        check_same(model, twin, events)
        learn(model, events), learn(twin, events)


@seeds(2)
@every_shape
def test_shards_that_watch_for_drift_merge_the_watch_of_each_family(shape, seed):
    base, models, base_twin, twins, streams = sides(
        "two labels", shape, seed, n=300, forget="auto"
    )
    model, twin = merge(models, since=base), merged_twin(twins, base_twin, None)
    for _ in range(2):
        check_same(model, twin, streams[0][:10])
        learn(model, streams[1][:100]), learn(twin, streams[1][:100])


@seeds(1)
@pytest.mark.parametrize("labels", ["two labels", "three labels"])
def test_of_more_than_sixteen_columns_those_with_surfaces_are_chosen_anew(labels, seed):
    base, models, base_twin, twins, streams = sides(labels, "auto", seed, columns=18, n=50)
    model, twin = merge(models, since=base), merged_twin(twins, base_twin, None)
    events = streams[0][-8:] + streams[-1][-8:]
    for _ in range(2):
        check_same(model, twin, events)
        learn(model, events), learn(twin, events)


def test_a_pair_whose_columns_came_in_another_order_is_the_same_pair():
    rng = random.Random(1)
    one, other = (pair_of("AdaptiveClassifier")[0] for _ in range(2))
    for _ in range(600):
        a, b = rng.gauss(0, 1), rng.gauss(0, 1)
        one.learn_one({"a": a, "b": b}, a > b * b)
        other.learn_one({"b": b, "a": a}, a > b * b)
    model = merge([one, other])
    for a, b in [(1.5, 0.5), (0.5, 1.5), (-0.5, 0.1), (2.0, -2.0)]:
        apart = one.predict_proba_one({"a": a, "b": b})[True]
        assert model.predict_proba_one({"a": a, "b": b})[True] == pytest.approx(apart, abs=0.1)


@every_shape
@every_past
def test_a_shard_that_others_say_nothing_beside_is_merged_as_it_is(labels, shape):
    base, models, _, _, streams = sides(labels, shape, seed=1)
    same = copy.deepcopy(base)
    model = merge([models[0], same], since=base) if base.labels else merge([models[0]])
    for x, _, _ in streams[0][-20:]:
        assert model.predict_proba_one(x) == models[0].predict_proba_one(x)
