"""AROW equals its plain-Python twin, and does what its paper says; what it shares with the other
learners is tested with theirs (tests/support/variants.py).
"""

import copy
import math
import pickle
import random

import numpy as np
import pytest

from streamptron import AROW, load
from tests.support.marks import seeds
from tests.support.streams import KEYS, VALUES, needs_data, random_events, text_stream
from tests.support.twins import LABELS, check_answers, check_stream, check_weights
from tests.support.variants import answers, learned
from tests.twin import learners

pytestmark = pytest.mark.once  # the engine's arithmetic is the same on every Python

STREAMS = {
    "truth values": (False, True),
    "True first": (True, False),
    "two names": ("ham", "spam"),
    "ints": (1, 2),
    "a third label": ("ham", "spam", "eggs"),
    "a third label after True": (True, False, "eggs"),
    "many labels": LABELS,
}
streams = pytest.mark.parametrize("stream", STREAMS)


def twins(**params):
    return AROW(**params, hash_seed=0), learners.AROW(**params)


@seeds(3)
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
@streams
def test_learner_equals_its_twin_at_every_event(stream, intercept, seed):
    rng = random.Random(f"{stream}, {intercept}, {seed}")
    labels = STREAMS[stream]
    model, twin = twins(
        r=rng.choice([1.0, 0.1, 10.0]),
        intercept=intercept,
        class_weight=rng.choice([None, {labels[0]: 2.0, labels[1]: 0.3}, {labels[-1]: 0.0}]),
    )
    events = random_events(
        rng,
        n=200,
        labels=labels,
        keys=rng.choice([*KEYS, "mixed"]),
        values=rng.choice(list(VALUES)),
        weighted=rng.random() < 0.5,
    )
    check_stream(model, twin, events)
    model._check()
    assert twin.n_updates > 0


@seeds(2)
@pytest.mark.parametrize("max_features", [1, 5, 12, 40])
@streams
def test_learner_lets_the_same_features_leave_as_its_twin(stream, max_features, seed):
    rng = random.Random(f"{stream}, {max_features}, {seed}")
    model, twin = twins(max_features=max_features)
    events = random_events(
        rng,
        n=250,
        labels=STREAMS[stream],
        values=rng.choice(list(VALUES)),
        weighted=rng.random() < 0.5,
        n_features=160,
    )
    check_stream(model, twin, events)
    model._check()
    assert twin.n_evicted > 20


@seeds(2)
def test_learner_equals_its_twin_on_a_long_stream(seed):
    """More than the 1024 events after which calibration skips some and the scales fade."""
    rng = random.Random(seed)
    model, twin = twins()
    check_stream(model, twin, random_events(rng, n=1500, labels=LABELS[:4], values="real", size=5))


@needs_data
@pytest.mark.parametrize(("name", "n"), [("sms_spam", 600), ("20news_train", 60)])
def test_learner_equals_its_twin_on_real_texts(name, n):
    model, twin = twins()
    for x, y in text_stream(name, n):
        check_answers(model, twin, x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    check_weights(model, twin)


@needs_data
def test_it_makes_as_many_mistakes_as_the_paper_s_formulas_do():
    """1.956 % of sms_spam's first answers, among them the one before there is a label."""
    model, wrong, n = AROW(), 0, 0
    for x, y in text_stream("sms_spam"):
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
        n += 1
    assert round(100 * (wrong - 1) / n, 2) == 1.94
    assert model.n_mistakes == wrong - 1


@needs_data
@pytest.mark.slow
def test_newcomers_step_only_where_a_feature_speaks_for_them():
    """5.34 % errors on 1,363 templates; from an intercept of 0 there were 6.74."""
    model = AROW()
    for x, y in text_stream("loghub_templates"):
        model.learn_one(x, y)
    assert round(100 * model.n_mistakes / model.n_seen, 2) == 5.34


# --- Two labels, and a third


def test_before_the_first_label_there_is_no_answer_and_one_label_is_the_answer():
    model = AROW()
    assert model.predict_one({"a": 1}) is None
    assert model.predict_proba_one({"a": 1}) == {}
    model.learn_one({"a": 1}, "ham")
    assert model.predict_one({"a": -9}) == "ham"
    assert model.predict_proba_one({"a": 1}) == {"ham": 1.0}
    assert model.n_mistakes == 0


@pytest.mark.parametrize(
    ("labels", "positive"),
    [((False, True), True), ((True, False), True), ((1, 2), 1), (("b", "a"), "a"), ((2, 1), 1)],
)
def test_the_score_of_two_labels_speaks_for_the_second_or_for_what_is_true(labels, positive):
    model = AROW()
    for x, y in zip(({"a": 1}, {"b": 1}), labels, strict=True):
        model.learn_one(x, y)
    assert model.labels == list(labels)
    x = {"a": 1} if positive == labels[0] else {"b": 1}
    assert model.decision_function_one(x) > 0
    assert model.predict_one(x) == positive
    assert model.predict_proba_one(x)[positive] > 0.5
    assert model.decision_function_many(np.zeros((3, 2))).shape == (3,)


@pytest.mark.parametrize("labels", [("ham", "spam"), (True, False)])
def test_a_third_label_changes_no_answer_about_the_two(labels):
    rng = random.Random(0)
    model = AROW(hash_seed=1)
    events = [(x, y) for x, y, _ in random_events(rng, labels=labels, values="real")]
    for x, y in events:
        model.learn_one(x, y)
    before = copy.deepcopy(model)
    model.learn_one({}, "eggs", 0.0)
    positive = 0 if labels[0] is True else 1
    for x, _ in events:
        score = before.decision_function_one(x)
        assert model.decision_function_one(x) == {
            labels[positive]: score,
            labels[1 - positive]: -score,
            "eggs": -1.0,
        }
    w = before.weights
    assert model.weights[labels[positive]] == w
    assert model.weights[labels[1 - positive]] == {
        feature: -weight for feature, weight in w.items()
    }
    assert model.weights["eggs"] == {}
    model._check()


def test_the_third_label_too_many_changes_nothing():
    model = AROW(max_labels=2, hash_seed=1)
    for x, y, _ in random_events(random.Random(0), n=50):
        model.learn_one(x, y)
    before = learned(model)
    with pytest.raises(ValueError, match="max_labels=2"):
        model.learn_one({"word1": 1}, "eggs")
    assert learned(model) == before


@seeds(2)
@streams
def test_many_rows_are_learned_as_one_by_one(stream, seed):
    rng = random.Random(f"{stream}, {seed}")
    labels = STREAMS[stream]
    by_row, by_batch = AROW(hash_seed=1), AROW(hash_seed=1)
    for _ in range(4):
        events = list(random_events(rng, n=60, keys="int", values="real", labels=labels))
        features = list(dict.fromkeys(j for x, _, _ in events for j in x))
        X = np.array([[x.get(j, 0.0) for j in features] for x, _, _ in events])
        ys = [y for _, y, _ in events]
        for row, y in zip(X, ys, strict=True):
            by_row.learn_one(dict(zip(features, row.tolist(), strict=True)), y)
        by_batch.learn_many(X, ys, feature_names=features)
        assert learned(by_batch) == learned(by_row)
        assert by_batch.labels == by_row.labels
        assert by_batch.predict_many(X, feature_names=features).tolist() == [
            by_row.predict_one(dict(zip(features, row.tolist(), strict=True))) for row in X
        ]


@streams
def test_a_model_learns_on_from_its_file_and_its_pickle_as_if_nothing_had_happened(
    stream, tmp_path
):
    rng = random.Random(stream)
    events = list(random_events(rng, n=200, values="real", labels=STREAMS[stream]))
    model = AROW(hash_seed=1)
    for i, (x, y, w) in enumerate(events):
        if i % 20 == 0:
            model.save(tmp_path / "model")
            in_place = load(tmp_path / "model", mmap=True)
            assert answers(in_place, x) == answers(model, x)
            copies = [
                load(tmp_path / "model"),
                pickle.loads(pickle.dumps(model)),
                copy.deepcopy(in_place),
            ]
            for other in copies:
                for again in events[i : i + 40]:
                    other.learn_one(*again)
            assert len({learned(other) for other in copies}) == 1
            expected = copy.deepcopy(model)
            for again in events[i : i + 40]:
                expected.learn_one(*again)
            assert learned(copies[0]) == learned(expected)
        model.learn_one(x, y, w)


# --- What the paper says


def test_a_feature_that_was_seen_often_moves_less():
    model = AROW(intercept=False)
    for _ in range(50):
        model.learn_one({"often": 0.1}, True)
    before = model.weights
    model.learn_one({"often": 1, "rare": 1}, False)
    assert abs(model.weights["rare"]) > abs(model.weights["often"] - before["often"])


def test_one_event_is_learned_as_the_formulas_say():
    model = AROW(r=2.0, intercept=False)
    model.learn_one({"a": 1.0, "b": 2.0}, True)
    alpha = 1.0 / (5.0 + 2.0)
    assert model.weights == {"a": alpha, "b": alpha * 2.0}
    # S = 1 - x^2 / 7: the next event's variance
    S = {"a": 1 - 1 / 7, "b": 1 - 4 / 7}
    model.learn_one({"a": 1.0, "b": 1.0}, False)
    v = S["a"] + S["b"]
    step = -(1 + 3 * alpha) / (v + 2.0)
    assert model.weights == pytest.approx(
        {"a": alpha + step * S["a"], "b": 2 * alpha + step * S["b"]}, rel=1e-15
    )


def test_a_weight_of_zero_teaches_nothing_but_the_label_s_name():
    model = AROW()
    model.learn_one({"a": 1}, "ham", 0.0)
    assert (model.labels, model.weights, model.n_seen, model.n_updates) == (["ham"], {}, 1, 0)


def test_no_stream_of_allowed_numbers_makes_anything_infinite():
    rng = random.Random(0)
    for r in (1e-50, 1.0, 1e50):
        model = AROW(r=r)
        sizes = (1e50, -1e50, 1e-300, 1e-75, -1e-50, 5e-324, 1.0)
        for _ in range(3000):
            x = {rng.randrange(4): rng.choice(sizes) for _ in range(rng.randint(1, 3))}
            model.learn_one(x, rng.choice("abc"), rng.choice((1.0, 1e50, 1e-300)))
            assert all(map(math.isfinite, model.predict_proba_one(x).values()))
        assert model.n_updates > 100
        for weights in model.weights.values():
            assert all(map(math.isfinite, weights.values()))


@pytest.mark.parametrize("r", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_a_noise_that_is_no_number_above_zero_is_refused(r):
    with pytest.raises((TypeError, ValueError), match=r"^r="):
        AROW(r=r)


def test_what_it_does_not_keep_is_no_parameter_and_no_attribute():
    model = AROW()
    for name in ("average", "half_life", "pocket", "serve", "margin", "averaged_weights"):
        assert not hasattr(model, name)


def test_explanations_of_two_labels_are_of_the_positive_one_or_of_the_one_that_is_asked_for():
    model = AROW()
    model.learn_one({"good": 1}, "ham")
    model.learn_one({"buy": 1}, "spam")
    x = {"buy": 1}
    assert math.fsum(part for _, part in model.explain_one(x)) == model.decision_function_one(x)
    assert dict(model.explain_one(x, "ham"))["buy"] == -dict(model.explain_one(x, "spam"))["buy"]
    assert model.top_features(1, "spam").positive == model.top_features(1).positive
    assert model.top_features(1, "ham").negative[0][0] == "buy"
    with pytest.raises(ValueError, match="eggs"):
        model.explain_one(x, "eggs")


def test_a_model_may_start_from_weights_of_two_labels():
    model = AROW.from_weights({"free": 2.0, "meeting": -3.0}, intercept=0.5)
    assert model.weights == {"free": 2.0, "meeting": -3.0}
    assert model.decision_function_one({"free": 1}) == 2.5
    twin = learners.AROW.from_weights({"free": 2.0, "meeting": -3.0}, 0.5)
    rng = random.Random(0)
    check_stream(model, twin, random_events(rng, n=100, values="real", labels=("ham", "spam")))
