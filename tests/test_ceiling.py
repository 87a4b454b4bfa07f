"""The ceilings: max_features, whose rule the twin has too (test_twin.py), and max_labels."""

import copy
import pickle
import random
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from streamptron import MIRA, AdaptiveClassifier, MulticlassPerceptron, Perceptron
from tests.support.counts import counts_of, counts_text
from tests.support.marks import seeds
from tests.support.streams import KEYS, make_key, random_events
from tests.support.variants import (
    LEARNERS,
    answers,
    every_learner,
    every_limited_learner,
    labels_for,
    learned,
    make,
)

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

PLAIN = [kind for kind in KEYS if kind != "object"]

several_labels = pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])


def stream(learner, seed, n=300, **how):
    rng = random.Random(f"{learner}, {seed}")
    how = {"keys": rng.choice(PLAIN), "values": "real", "n_features": 300, "weighted": True, **how}
    return list(random_events(rng, n, labels=labels_for(learner), **how))


# max_features: how many


@seeds(3)
@pytest.mark.parametrize("max_features", [1, 2, 7, 30, 120])
@every_limited_learner
def test_there_are_never_more_features_than_may_be(learner, max_features, seed):
    model, unlimited = make(learner, max_features=max_features), make(learner)
    for x, y, w in stream(learner, seed):
        model.learn_one(x, y, w)
        unlimited.learn_one(x, y, w)
        assert model.n_features == min(model.n_features + model.n_evicted, max_features)
        assert len({*model.explain_one(x)}) <= max_features + 1
    assert model.n_features == max_features < unlimited.n_features
    assert unlimited.n_evicted == 0
    model._check()
    unlimited._check()


@every_learner
def test_a_ceiling_that_is_not_reached_changes_nothing(learner):
    model, unlimited = make(learner, max_features=300), make(learner)
    for x, y, w in stream(learner, 0):
        model.learn_one(x, y, w)
        unlimited.learn_one(x, y, w)
        assert answers(model, x) == answers(unlimited, x)
    assert model.weights == unlimited.weights
    assert model.n_evicted == 0


@pytest.mark.slow
@pytest.mark.parametrize("lengths", [(0, 6), (20, 60), (0, 300)], ids=["short", "long", "mixed"])
@pytest.mark.parametrize(
    ("learner", "labels"),
    [(Perceptron, 2), (AdaptiveClassifier, 2), (AdaptiveClassifier, 6)],
    ids=["Perceptron", "AdaptiveClassifier", "AdaptiveClassifier, six labels"],
)
def test_memory_is_flat_however_many_words_come(learner, labels, lengths):
    rng = random.Random(1)
    padding = ["x" * length for length in range(*lengths)]
    labels = [False, True] if labels == 2 else list(range(labels))
    model = learner(max_features=3000, hash_seed=1)
    sizes = []
    for t in range(100_000):
        x = {f"{3 * t + i}{rng.choice(padding)}": 1 for i in range(3)}
        model.learn_one(x, rng.choice(labels))
        if t >= 20_000 and t % 1000 == 0:
            sizes.append(model.memory_usage)
    model._check()
    assert model.n_evicted > 100_000
    # the lengths of 3000 random names differ a little
    assert max(sizes) < 1.05 * min(sizes)


# max_features: which


def weighed(**weights):
    """A learner of features whose weights are given; the hand stands before the first."""
    model = Perceptron(
        max_features=len(weights), average="none", serve="current", intercept=False, margin=1e40
    )
    for name, weight in weights.items():
        model.learn_one({name: weight}, True)
    return model


def test_the_feature_with_the_smallest_weight_leaves_if_all_are_of_one_age():
    model = weighed(a=3, b=-2, c=1, d=4)
    model.learn_one({"new": 5}, True)
    assert model.weights == {"a": 3, "b": -2, "new": 5, "d": 4}


@pytest.mark.parametrize(("away", "left"), [(99, "small"), (101, "large")])
def test_a_weight_ten_times_as_large_may_stay_away_a_hundred_times_as_long(away, left):
    model = weighed(large=10, small=1, noise=1e-6)
    last = "noise"
    for i in range(away - 1):  # each new word takes the place of the last
        model.learn_one({"small": 1e-9, f"noise {i}": 1e-6}, True)
        assert last not in model.weights
        last = f"noise {i}"
    model.learn_one({last: 1, "new": 1}, True)
    assert {"large", "small"} - model.weights.keys() == {left}


def test_a_feature_of_the_event_at_hand_never_leaves():
    model = weighed(a=1, b=2, c=3)
    model.learn_one({"a": 0.5, "new": 1}, True)
    assert model.weights == {"a": 1.5, "new": 1, "c": 3}


def test_an_event_of_more_features_than_may_be_keeps_the_first_that_find_a_place():
    model = weighed(a=1, b=2, c=3)
    model.learn_one({"d": 1, "c": 1, "e": 1, "f": 1, "g" * 20: 1}, True)
    assert model.weights == {"d": 1, "c": 4, "e": 1}
    assert (model.n_evicted, model.n_features) == (4, 3)
    model._check()
    model.learn_one({"d": 1, "c": 1, "e": 1, "f": 1, "g" * 20: 1}, True)
    assert model.weights == {"d": 2, "c": 5, "e": 2}


@pytest.mark.parametrize("average", ["uniform", "exponential", "none"])
def test_a_feature_that_returns_starts_from_zero(average):
    # so large a margin makes every event an update
    model, never_seen = (
        Perceptron(max_features=1, average=average, pocket=True, margin=1e40) for _ in range(2)
    )
    for name in ("a word", "another", "a word", "the last, a long one"):
        for y in (True, True, False, True):
            model.learn_one({name: 2}, y)
            never_seen.learn_one({f"{name} {model.n_evicted}": 2}, y)
        assert list(model.weights) == [name]
        assert list(model.weights.values()) == list(never_seen.weights.values())
        assert model.intercept_ == never_seen.intercept_
        assert answers(model, {name: 1}) == answers(
            never_seen, dict.fromkeys(never_seen.weights, 1)
        )
        model._check()
    assert model.n_evicted == never_seen.n_evicted == 3


@seeds(3)
@every_limited_learner
def test_what_leaves_does_not_depend_on_the_hash(learner, seed):
    models = [make(learner, max_features=25, hash_seed=hash_seed) for hash_seed in range(4)]
    for x, y, w in stream(learner, seed):
        for model in models:
            model.learn_one(x, y, w)
    for model in models[1:]:
        assert model.weights == models[0].weights
        assert model.n_evicted == models[0].n_evicted > 0


# max_features: everything else goes on as ever


@seeds(3)
@pytest.mark.parametrize("average", ["uniform", "exponential", "none"])
@pytest.mark.parametrize("max_features", [5, 60])
@every_limited_learner
def test_a_batch_gives_the_model_that_its_rows_give_one_by_one(
    learner, max_features, average, seed
):
    rng = np.random.default_rng(seed)
    names = [make_key(PLAIN[j % len(PLAIN)], j) for j in range(120)]
    X = scipy.sparse.random(200, 120, density=0.06, format="csr", rng=rng)
    labels = labels_for(learner)
    y = [labels[i] for i in rng.integers(len(labels), size=200)]
    one, csr, dense, numbered, numbers = (
        make(learner, max_features=max_features, average=average) for _ in range(5)
    )
    csr.learn_many(X[:150], y[:150], feature_names=names)
    csr.learn_many(X[150:], y[150:], feature_names=names)
    dense.learn_many(X.toarray(), y, feature_names=names)
    numbered.learn_many(X, y)
    for row, label in zip(X.toarray(), y, strict=True):
        one.learn_one({names[j]: row[j] for j in range(120)}, label)
        numbers.learn_one({j: row[j] for j in range(120)}, label)
    assert learned(csr) == learned(dense) == learned(one)
    assert learned(numbered) == learned(numbers)
    assert one.n_evicted > 100
    csr._check()
    numbered._check()
    expected = [one.predict_one(dict(zip(names, row, strict=True))) for row in X.toarray()]
    assert csr.predict_many(X, feature_names=names).tolist() == expected


@every_learner
def test_a_batch_that_is_learned_on_a_copy_gives_the_same(learner):
    """Much larger than the model, and of a megabyte."""
    rng = np.random.default_rng(3)
    X = rng.random((400, 400)) * (rng.random((400, 400)) < 0.02)
    labels = labels_for(learner)
    y = [labels[i] for i in rng.integers(len(labels), size=400)]
    batch, one = make(learner, max_features=50), make(learner, max_features=50)
    batch.learn_many(X, y)
    for row, label in zip(X, y, strict=True):
        one.learn_one(dict(enumerate(row)), label)
    assert learned(batch) == learned(one)
    batch._check()
    X[399, 7] = np.nan
    before = pickle.dumps(batch)
    with pytest.raises(ValueError, match="row 399"):
        batch.learn_many(X, y)
    assert pickle.dumps(batch) == before


@pytest.mark.parametrize("how", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@seeds(3)
@every_limited_learner
def test_a_copy_in_the_middle_of_a_stream_goes_on_alike(learner, seed, how):
    events = stream(learner, seed, keys="long")
    model = make(learner, max_features=40, pocket=True)
    for x, y, w in events[:150]:
        model.learn_one(x, y, w)
    other = how(model)
    other._check()
    assert (other.n_evicted, other.n_features) == (model.n_evicted, 40)
    for x, y, w in events[150:]:
        model.learn_one(x, y, w)
        other.learn_one(x, y, w)
    assert pickle.dumps(other) == pickle.dumps(model)
    other._check()


@seeds(3)
@every_limited_learner
def test_an_event_that_was_asked_about_before_others_left_is_read_anew(learner, seed):
    """The scratch remembers its slots, which others may have by now."""
    rng = random.Random(seed)
    model, forgetful = make(learner, max_features=10), make(learner, max_features=10)
    labels = labels_for(learner)
    for _ in range(300):
        x = {make_key("long", rng.randrange(40)): 1 for _ in range(3)}
        forgetful.predict_one({})
        assert model.predict_one(x) == forgetful.predict_one(x)
        rows = pd.DataFrame({make_key("long", rng.randrange(40)): [1.0, 2.0]})
        y = pd.Series(rng.choices(labels, k=2))
        for either in (model, forgetful):
            either.learn_many(rows, y)
        forgetful = copy.deepcopy(forgetful)
        assert answers(model, x) == answers(forgetful, x)
    assert model.n_evicted > 50


@seeds(3)
@pytest.mark.parametrize("keys", [*PLAIN, "mixed"])
def test_all_that_the_core_holds_agrees_after_every_event(keys, seed):
    rng = random.Random(f"{keys}, {seed}")
    model = MulticlassPerceptron(
        max_features=rng.choice([3, 40, 700]),
        pocket=rng.random() < 0.5,
        average=rng.choice(["none", "uniform", "exponential"]),
        hash_seed=seed,
    )
    for _ in range(150):
        kinds = PLAIN if keys == "mixed" else [keys]
        x = {make_key(rng.choice(kinds), rng.randrange(5000)): 1 for _ in range(20)}
        model.learn_one(x, rng.randrange(6))
        model._check()
    assert model.n_evicted > 0


@every_limited_learner
def test_names_that_are_mere_objects_are_refused(learner):
    model = make(learner, max_features=5)
    before = pickle.dumps(model)
    for call in (model.predict_one, lambda x: model.learn_one(x, labels_for(learner)[0])):
        with pytest.raises(TypeError, match=r"frozenset.*max_features"):
            call({frozenset("a"): 1})
    assert pickle.dumps(model) == before


@every_limited_learner
def test_max_features_and_hash_bits_exclude_each_other(learner):
    with pytest.raises(ValueError, match="max_features=5 and hash_bits=5"):
        LEARNERS[learner](max_features=5, hash_bits=5)


def test_weights_to_start_from_must_find_room():
    weights = {"a": 1.0, "b": 2.0, "c": 0.0}
    assert Perceptron.from_weights(weights, max_features=2).weights == {"a": 1.0, "b": 2.0}
    with pytest.raises(ValueError, match="max_features=1"):
        Perceptron.from_weights(weights, max_features=1)
    with pytest.raises(ValueError, match="max_features=2"):
        MIRA.from_weights({"x": {"a": 1}, "y": {"a": 1, "b": 1, "c": 1}}, max_features=2)


@every_limited_learner
def test_max_features_cannot_change_in_a_copy_of_what_was_learned(learner):
    model = make(learner, max_features=5)
    assert model.clone({"max_features": 6}).max_features == 6
    with pytest.raises(ValueError, match="max_features"):
        model.clone({"max_features": 6}, include_attributes=True)


# max_labels


@several_labels
def test_a_label_too_many_is_refused_and_nothing_has_changed(learner):
    model = make(learner, max_labels=2)
    model.learn_one({"a": 1}, "x")
    model.learn_one({"b": 1}, "y")
    before = pickle.dumps(model)
    x = {"a": 1, frozenset("b"): 1, "a name of more than fifteen bytes": 1}
    for call in (model.learn_one, model.test_then_train_one):
        with pytest.raises(ValueError, match=r"'z'.*max_labels=2"):
            call(x, "z")
        assert pickle.dumps(model) == before
    for y in (["x", "z"], ["z", "x"], ["y", "x", "z"]):
        with pytest.raises(ValueError, match=r"'z'.*max_labels=2"):
            model.learn_many(pd.DataFrame({"a": [1.0] * len(y)}), pd.Series(y))
        assert pickle.dumps(model) == before
    model.learn_one(x, "y")
    assert model.labels == ["x", "y"]


@several_labels
def test_a_batch_may_bring_as_many_labels_as_there_is_room_for(learner):
    model = make(learner, max_labels=3)
    model.learn_many(np.eye(4), ["a", "b", "c", "a"])
    assert model.labels == ["a", "b", "c"]
    model.learn_many(np.eye(4), ["c", "a", "b", "a"])
    empty = make(learner, max_labels=3)
    with pytest.raises(ValueError, match=r"'d'.*max_labels=3"):
        empty.learn_many(np.eye(4), ["a", "b", "c", "d"])
    assert learned(empty) == learned(make(learner, max_labels=3))


@several_labels
def test_max_labels_holds_for_weights_and_copies_too(learner):
    weights = {"x": {"a": 1.0}, "y": {"a": 2.0}}
    model = LEARNERS[learner].from_weights(weights, max_labels=2)
    with pytest.raises(ValueError, match=r"'y'.*max_labels=1"):
        LEARNERS[learner].from_weights(weights, max_labels=1)
    assert model.clone({"max_labels": None}, include_attributes=True).labels == ["x", "y"]
    with pytest.raises(ValueError, match=r"max_labels=1.*2 labels"):
        model.clone({"max_labels": 1}, include_attributes=True)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with pytest.raises(ValueError, match="max_labels=2"):
            copied.learn_one({"a": 1}, "z")


@several_labels
@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError), (True, TypeError)]
)
def test_max_labels_must_be_a_number_of_labels(learner, value, error):
    with pytest.raises(error, match="max_labels"):
        LEARNERS[learner](max_labels=value)


def test_two_labels_need_no_ceiling():
    with pytest.raises(TypeError, match="max_labels"):
        Perceptron(max_labels=2)


def test_a_feature_that_has_been_away_for_ever_is_as_old_as_one_can_be():
    model = Perceptron(max_features=3, intercept=False)
    for name, size in (("a", 5.0), ("b", 1.0), ("c", 3.0)):
        model.learn_one({name: size}, True)
    state = model.__getstate__()
    hand, clock, n_evicted = counts_of(state["ceiling"])
    ceiling = counts_text((hand, (clock + 2**31 + 7) % 2**32, n_evicted))
    model.__setstate__({**state, "ceiling": ceiling})
    model.learn_one({"d": 1.0}, True)
    assert sorted(model.weights) == ["a", "c", "d"]
    for age, last in enumerate("ef", start=2**31):
        state = model.__getstate__()
        stamps = np.frombuffer(state["arrays"]["stamps"][1], "<u4")[2:]
        assert max((counts_of(state["ceiling"])[1] - int(stamp)) % 2**32 for stamp in stamps) <= age
        model.learn_one({last: 1.0}, True)


class Twice(Mapping):
    """A mapping that names each feature twice."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, name):
        return self.x[name]

    def __len__(self):
        return 2 * len(self.x)

    def __iter__(self):
        return iter([*self.x, *self.x])


def test_a_feature_that_an_event_names_twice_gets_one_slot_under_a_ceiling_too():
    learned = []
    for most in (None, 5):
        model = Perceptron(max_features=most)
        model.learn_one(Twice({"a": 1.0, "b": 2.0}), True)
        learned.append((model.n_features, model.weights))
    assert learned[0] == learned[1]
    assert learned[0][0] == 2
