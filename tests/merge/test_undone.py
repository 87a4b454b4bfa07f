"""Shards that take steps of their base back: merged they are what the twin says, and sound."""

import copy
import pickle
import random
import struct

import pytest

from streamptron import AdaptiveClassifier, MultiLabelClassifier, Perceptron, merge
from tests.support.marks import seeds
from tests.support.shards import applied, merged_twin, pair_of
from tests.support.streams import random_events
from tests.support.twins import check_answers, check_counts, labels_for
from tests.test_multilabel import check as check_sets
from tests.test_multilabel import check_state, sets
from tests.test_multilabel import twins as pair_of_sets
from tests.twin import undo as twin_undo

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

VARIANTS = [
    ("Perceptron", {}),
    ("Perceptron", {"average": "exponential", "half_life": 9, "serve": "current"}),
    ("MulticlassPerceptron", {}),
    ("MIRA", {"max_features": 15}),
    ("AdaptiveClassifier", {}),
    ("AdaptiveClassifier", {"forget": "auto"}),
    ("MultiLabelClassifier", {}),
    ("MultiLabelClassifier", {"max_features": 15}),
]


def both(learner, params):
    if learner == "MultiLabelClassifier":
        return pair_of_sets(**params)
    return pair_of(learner, **params)


def events_of(rng, learner, n):
    values, size = rng.choice([("one", 6), ("small", 6), ("measured", 12)])
    kinds = {"n_features": 20, "values": values, "size": size, "weighted": rng.random() < 0.5}
    if learner == "MultiLabelClassifier":
        return list(sets(rng, n, **kinds))
    labels = labels_for(learner) if learner != "AdaptiveClassifier" else rng.choice(["ab", "abcd"])
    return list(random_events(rng, n, labels=labels, **kinds))


def check(model, twin, x):
    """Answers and counters."""
    model._check()
    if isinstance(model, MultiLabelClassifier):
        check_sets(model, twin, x)
        check_state(model, twin)
    elif isinstance(model, AdaptiveClassifier):
        assert model.predict_proba_one(x) == twin.predict_proba_one(x)
        assert model.decision_function_one(x) == twin.decision_function_one(x)
        assert (model.n_seen, model.n_updates) == (twin.n_seen, twin.n_updates)
    else:
        check_counts(model, twin)
        check_answers(model, twin, x)


def learn(model, twin, event):
    return model.learn_one(*event, undo=True), twin_undo.learn(twin, *event)


def take_back(model, twin, step):
    model.undo(step[0])
    twin_undo.undo(twin, step[1])


def shards_of(rng, base, twin, steps, events):
    """Copies that take back some of the same steps, and some of their own, and learn."""
    shards = []
    common = rng.sample(steps, min(len(steps), rng.randrange(5)))
    for _ in range(rng.choice([2, 3, 4])):
        shard, its = copy.deepcopy(base), copy.deepcopy(twin)
        own = [step for step in common if rng.random() < 0.9]
        own += [step for step in steps if step not in own and rng.random() < 0.1]
        new = rng.sample(events, rng.randrange(1, 6))
        for step in own:
            if new and rng.random() < 0.3:
                learn(shard, its, new.pop())
            take_back(shard, its, step)
        for event in new or events[:1]:
            learn(shard, its, event)
        shards.append((shard, its))
    return zip(*shards, strict=True)


@seeds(8, n_slow=60)
@pytest.mark.parametrize(("learner", "params"), VARIANTS, ids=str)
def test_steps_of_the_base_taken_back_by_shards_are_merged_as_by_the_twin(learner, params, seed):
    rng = random.Random(f"{learner}, {params}, {seed}")
    base, twin = both(learner, params)
    untrained = copy.deepcopy(twin)
    events = events_of(rng, learner, 60)
    steps = [learn(base, twin, event) for event in events[: rng.randrange(1, 40)]]
    for _ in range(2):  # the second time from what was merged
        shards, twins = shards_of(rng, base, twin, steps, events)
        merged = merge(shards, since=base)
        expected = merged_twin(twins, twin, untrained)
        assert pickle.dumps(applied(base, list(shards))) == pickle.dumps(merged)
        steps = []
        for event in rng.sample(events, 12):
            check(merged, expected, event[0])
            steps.append(learn(merged, expected, event))
        base, twin = merged, expected


# --- Rules, as docs/merging.md has them


def counts(model):
    """Of the first feature: its count and those of both labels."""
    _, numbers = model.__getstate__()["arrays"]["weights"]
    _, cnt, _, _, _, *c = struct.unpack_from("<dffffff", numbers, 32 * 2)
    return cnt, *c


def prizes(*labels):
    """A model that has learned a prize with each label, and the steps."""
    base = AdaptiveClassifier(hash_seed=0)
    return base, [base.learn_one({"prize": 1}, y, undo=True) for y in labels]


def merged_counts(base, *shards):
    """What a merge, and deltas, have of shards that take back steps of the base, and learn."""
    models = []
    for k, (undone, labels) in enumerate(shards):
        model = copy.deepcopy(base)
        for step in undone:
            model.undo(step)
        for y in labels:
            model.learn_one({"prize": 1}, y)
        model.learn_one({f"lunch {k}": 1}, "ham")
        models.append(model)
    merged = merge(models, since=base)
    assert counts(applied(base, models)) == counts(merged)
    return counts(merged)


def test_a_step_that_one_shard_took_back_is_no_count_that_was_halved():
    base, (*_, wrong) = prizes("ham", "ham", "ham", "spam")
    assert merged_counts(base, ([wrong], []), ([], ["ham"])) == (4, 4, 0)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_a_step_that_several_shards_took_back_is_taken_back_once(n):
    base, (*_, wrong) = prizes("ham", "spam", "ham", "spam")
    assert merged_counts(base, *[([wrong], [])] * n) == (3, 2, 1)
    # and if the mail is then learned rightly in each, that counts as often
    assert merged_counts(base, *[([wrong], ["ham"])] * n)[1:] == (3, 1)


def test_different_steps_that_shards_took_back_all_count():
    base, (ham, spam, *_, last) = prizes("ham", "spam", "ham", "spam")
    assert merged_counts(base, ([ham], []), ([spam], [])) == (2, 1, 1)
    assert merged_counts(base, ([spam], []), ([last], [])) == (2, 2, 0)


def test_counts_end_at_nothing_whatever_several_shards_took_back():
    base, (ham, spam) = prizes("ham", "spam")
    shards = ([spam], ["ham"]), ([spam], []), ([ham, spam], ["spam"])
    cnt, *c = merged_counts(base, *shards)
    assert cnt >= 0 <= min(c)
    assert cnt <= 4


@pytest.mark.parametrize("learner", [Perceptron, MultiLabelClassifier])
def test_updates_that_several_shards_took_back_are_taken_off_once(learner):
    y, other = (True, False) if learner is Perceptron else (["a"], ["b"])
    base = learner(hash_seed=0)
    steps = [base.learn_one({name: 1}, y, undo=True) for name in "cde"]
    shards = [copy.deepcopy(base) for _ in range(5)]
    before = base.n_updates
    for k, shard in enumerate(shards):
        for step in steps:
            shard.undo(step)
        shard.learn_one({f"lunch {k}": 1}, other)
    (n,) = {shard.n_updates for shard in shards}
    assert merge(shards, since=base).n_updates == min(n, before) <= before


@pytest.mark.parametrize("most", [2**19, 2**20], ids=["often", "always"])
def test_counts_that_were_halved_are_told_from_steps_taken_back(most):
    """Two shards: one learns until its counts are halved, the other takes a step back."""
    base = AdaptiveClassifier(hash_seed=0)
    base.learn_one({"prize": 1}, "ham", most - 100.0)
    wrong = base.learn_one({"prize": 1}, "spam", 50.0, undo=True)
    if most == 2**19:
        base.learn_one({"lunch": 1}, "spam", 2.0**18)
    here, there = copy.deepcopy(base), copy.deepcopy(base)
    for _ in range(4):
        here.learn_one({"prize": 1}, "ham", 50.0)
    assert counts(here)[0] < counts(base)[0]
    there.undo(wrong)
    there.learn_one({"lunch": 1}, "spam")
    cnt, ham, spam = counts(merge([here, there], since=base))
    # the three that came once they were halved count twice
    assert (2 * cnt, 2 * ham, 2 * spam) == (most + 300.0 - 50.0, most + 300.0 - 50.0, 0)
