"""One huge event does not hold its memory for good: usual ones that follow give it back."""

import pickle

import pytest

from streamptron import Perceptron, RankingPerceptron, Tokenizer
from tests.support.variants import labels_for, learned, make

N = 300_000
HUGE = {f"f{i}": 1.0 for i in range(N)}
SMALL = {"a": 1.0, "b": 1.0}

LEARNERS = {
    "Perceptron": {},
    "AdaptiveClassifier": {},
    "VotedPerceptron": {},
    "MulticlassPerceptron": {},
    "AROW": {"max_features": 100},
    "MIRA": {"interactions": [("a", "b")]},
}


def usual(model, x, n=3):
    """Predict so many usual events, and say what memory the model takes."""
    for _ in range(n):
        model.predict_one(x)
    return model.memory_usage


@pytest.mark.parametrize(("learner", "params"), LEARNERS.items())
def test_a_huge_event_that_is_predicted_leaves_no_memory_behind(learner, params):
    model = make(learner, **params)
    for label in labels_for(learner):
        model.learn_one(SMALL, label)
    before = usual(model, SMALL)
    model.predict_one(HUGE)
    assert model.memory_usage > before + 50 * N  # it was written
    assert usual(model, SMALL) < before + 20_000


def test_answers_are_the_same_whether_scratch_was_given_back_or_not():
    model = Perceptron(hash_seed=0)
    for i, x in enumerate((SMALL, HUGE, HUGE, SMALL, {"f7": 1.0}, HUGE, SMALL, SMALL)):
        fresh = pickle.loads(pickle.dumps(model))
        assert model.decision_function_one(x) == fresh.decision_function_one(x)
        for each in (model, fresh):
            each.learn_one(x, i % 2 == 0)
        assert learned(model) == learned(fresh)
    model._check()


def test_a_huge_text_leaves_no_memory_behind():
    model = Tokenizer(ngram_range=(1, 2)) | Perceptron()
    learner = model[-1]
    model.learn_one("a usual text", True)
    before = learner.memory_usage
    for text in (" ".join(HUGE), "the same word " * N):
        model.predict_one(text)
        assert learner.memory_usage > before + N
        for i in range(3):
            model.predict_one(f"usual text {i}")
        assert learner.memory_usage < before + 200_000


@pytest.mark.parametrize("learns", [False, True])
def test_a_huge_text_leaves_none_behind_if_one_usual_text_follows_again_and_again(learns):
    model = Tokenizer() | Perceptron()
    learner = model[-1]
    model.learn_one("a usual text", True)
    before = learner.memory_usage
    model.predict_one("the same word " * (4 * N))
    for _ in range(3):
        if learns:
            model.learn_one("a text", False)
        else:
            model.predict_one("a text")
    assert learner.memory_usage < before + 200_000


def test_huge_candidates_leave_no_memory_behind():
    model = RankingPerceptron()
    small = [{"a": 1.0}, {"b": 1.0}]
    model.learn_one(small, 0)
    for _ in range(3):
        model.predict_one(small)
    before = model.memory_usage
    model.predict_one([HUGE, *small])
    assert model.memory_usage > before + 50 * N
    for _ in range(3):
        model.predict_one(small)
    assert model.memory_usage < before + 20_000
    assert model.predict_one(small) == 0
