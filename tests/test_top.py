"""predict_proba_one(x, top=k): the first k of all labels, sorted by probability."""

import random

import pytest

from streamptron import AdaptiveClassifier, MultiLabelClassifier, Tokenizer
from tests.support.variants import every_learner, labels_for, make


def first(top, probabilities, of=float):
    return sorted(probabilities.items(), key=lambda found: -of(found[1]))[:top]


@every_learner
@pytest.mark.parametrize("top", [1, 2, 3, 10**20])
def test_the_most_probable_labels_come_in_falling_order(learner, top):
    model = make(learner)
    labels = labels_for(learner)
    rng = random.Random(f"{learner}, {top}")
    for i in range(60):
        x = {f"w{rng.randrange(9)}": 1.0 for _ in range(3)}
        found = model.predict_proba_one(x, top=top)
        assert list(found.items()) == first(top, model.predict_proba_one(x))
        model.learn_one(x, labels[i % len(labels)])


@pytest.mark.parametrize("top", [1, 3, 99])
def test_so_do_those_of_an_event_with_several(top):
    model = MultiLabelClassifier()
    rng = random.Random(top)
    for _ in range(60):
        x = {f"w{rng.randrange(9)}": 1.0 for _ in range(3)}
        found = model.predict_proba_one(x, top=top)
        assert list(found.items()) == first(top, model.predict_proba_one(x), of=lambda p: p[True])
        model.learn_one(x, {y for y in "abcde" if rng.random() < 0.4})


@every_learner
@pytest.mark.parametrize("top", [0, -1, True, 2.0, "3"])
def test_what_is_no_number_of_labels_is_refused(learner, top):
    model = make(learner)
    model.learn_one({"a": 1.0}, labels_for(learner)[0])
    with pytest.raises((TypeError, ValueError), match=r"^top=.*; it must be .*at least 1"):
        model.predict_proba_one({"a": 1.0}, top=top)


def test_a_pipeline_hands_on_how_many_labels_are_wanted():
    model = Tokenizer() | AdaptiveClassifier()
    for text, y in [("a goal", "sport"), ("a law", "politics"), ("an atom", "science")] * 3:
        model.learn_one(text, y)
    assert list(model.predict_proba_one("the goal", top=1)) == ["sport"]
