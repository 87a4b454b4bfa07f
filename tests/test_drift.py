"""forget="auto" of AdaptiveClassifier: nothing while a stream is what it was, long steps when it
turns."""

import copy
import pickle
import random

import pandas as pd
import pytest

import streamptron
from streamptron import AdaptiveClassifier
from tests.support.marks import seeds
from tests.support.streams import needs_data, text_stream
from tests.twin import adaptive

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

LABELS = [("ham", "spam"), (False, True), ("mail", "news", "chat", "logs")]


def turning(rng, labels, n=1200, turn=700):
    """Events whose words tell the label; from `turn` on each label has the next one's words."""
    for i in range(n):
        k = rng.randrange(len(labels))
        of = k if i < turn else (k + 1) % len(labels)
        words = [f"{of}/{rng.randrange(6)}" for _ in range(3)] + [f"any{rng.randrange(20)}"]
        yield {word: rng.choice((1, 1, 2.5)) for word in words}, labels[k], rng.choice((1.0, 0.5))


def learned(model, events):
    """The share of wrong answers in each hundred."""
    wrong = [model.test_then_train_one(x, y) != y for x, y in events]
    return [sum(wrong[i : i + 100]) for i in range(0, len(wrong), 100)]


@seeds(2, n_slow=3)
@pytest.mark.parametrize("labels", LABELS, ids=len)
def test_it_equals_its_twin_through_two_turns(labels, seed):
    rng = random.Random(f"{labels} {seed}")
    model = AdaptiveClassifier(hash_seed=1)
    twin = adaptive.AdaptiveClassifier()
    noticed = 0
    for x, y, w in [*turning(rng, labels), *turning(rng, labels)]:
        owed = twin.watch.owed
        assert model.decision_function_one(x) == twin.decision_function_one(x)
        model.learn_one(x, y, w=w)
        twin.learn_one(x, y, w)
        noticed += twin.watch.owed > owed
    assert noticed >= 2
    assert model.n_updates == twin.n_updates
    assert model.intercept_ == (
        twin.w0[1] if len(labels) == 2 else dict(zip(twin.labels, twin.w0.values(), strict=True))
    )


@pytest.mark.parametrize("labels", LABELS, ids=len)
def test_a_turn_is_learned_sooner(labels):
    events = [(x, y) for x, y, _ in turning(random.Random(3), labels, n=2000, turn=1000)]
    usual = learned(AdaptiveClassifier(forget=2**-10), events)
    auto = learned(AdaptiveClassifier(), events)
    assert auto[:10] == usual[:10]
    assert sum(auto[10:]) < 0.9 * sum(usual[10:])


@pytest.mark.parametrize("when", ["before the turn", "while it forgets", "after it"])
@pytest.mark.parametrize("way", ["pickle", "copy", "file"])
def test_a_saved_model_goes_on_watching(way, when, tmp_path):
    events = list(turning(random.Random(5), LABELS[0]))
    model = AdaptiveClassifier(hash_seed=1)
    cut = {"before the turn": 690, "while it forgets": 730, "after it": 1000}[when]
    for x, y, w in events[:cut]:
        model.learn_one(x, y, w=w)
    if way == "file":
        model.save(tmp_path / "m.model")
        other = streamptron.load(tmp_path / "m.model")
    else:
        other = copy.deepcopy(model) if way == "copy" else pickle.loads(pickle.dumps(model))
    assert other.forget == "auto"
    for x, y, w in events[cut:]:
        model.learn_one(x, y, w=w)
        other.learn_one(x, y, w=w)
        assert other.decision_function_one(x) == model.decision_function_one(x)


def test_learn_many_watches_as_learn_one_does():
    events = list(turning(random.Random(7), LABELS[2]))
    one, many = (AdaptiveClassifier(hash_seed=1) for _ in range(2))
    X = pd.DataFrame([x for x, _, _ in events]).fillna(0)
    y, w = [y for _, y, _ in events], [w for _, _, w in events]
    for row in zip(X.to_dict("records"), y, w, strict=True):
        one.learn_one(*row)
    many.learn_many(X[:650], y[:650], w=w[:650])
    many.learn_many(X[650:], y[650:], w=w[650:])
    assert one.weights == many.weights
    assert one.intercept_ == many.intercept_


def test_a_new_label_is_no_drift():
    """It cannot be expected; else each newcomer among many labels would make a model forget."""
    rng = random.Random(11)
    usual, auto = (AdaptiveClassifier(forget=f, hash_seed=1) for f in (2**-10, "auto"))
    for i in range(3000):
        label = f"label {rng.randrange(1 + i // 10)}"
        x = {label: 1, f"any{rng.randrange(50)}": 1}
        usual.learn_one(x, label)
        auto.learn_one(x, label)
    assert auto.weights == usual.weights


@needs_data
@pytest.mark.parametrize("stream", ["sms_spam", "spamassassin"])
def test_it_changes_nothing_on_a_stream_that_stays_as_it_is(stream):
    usual, auto = (AdaptiveClassifier(forget=f, hash_seed=1) for f in (2**-10, "auto"))
    for x, y in text_stream(stream, limit=3000):
        usual.learn_one(x, y)
        auto.learn_one(x, y)
    assert auto.weights == usual.weights


@needs_data
def test_flipped_labels_of_real_messages_are_learned_sooner():
    events = [
        (x, (y == "spam") != (i >= 2800))
        for i, (x, y) in enumerate(text_stream("sms_spam", limit=5600))
    ]
    usual = sum(learned(AdaptiveClassifier(forget=2**-10), events)[28:])
    auto = sum(learned(AdaptiveClassifier(), events)[28:])
    assert auto < 0.85 * usual
