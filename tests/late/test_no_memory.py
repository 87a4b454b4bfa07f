"""When memory runs out, nothing is learned late or taken back, and the model is as it was.

These tests need a build with -DSTREAMPTRON_FAIL (`make switches`); see ../test_out_of_memory.py.
"""

import copy
import math
import pickle

import pytest

from streamptron import (
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    MultiLabelClassifier,
    Perceptron,
)
from streamptron.engine import api

pytestmark = pytest.mark.skipif(
    not hasattr(api, "_fail_at"), reason="this build cannot fail on purpose: make switches"
)


class Several(MultiLabelClassifier):
    """Labels as sets: those of the events here are True and False."""

    def learn_one(self, x, y, w=1.0, undo=False):
        return super().learn_one(x, [y, "a label of its own"] if y else [y], w, undo)


LEARNERS = {
    "Perceptron": Perceptron,
    "no intercept": lambda: Perceptron(intercept=False, average="exponential", half_life=1),
    "MulticlassPerceptron": MulticlassPerceptron,
    "MIRA, pairs": lambda: MIRA(degree=2),
    "ceiling": lambda: Perceptron(max_features=20),
    "AdaptiveClassifier": AdaptiveClassifier,
    "AdaptiveClassifier, ceiling": lambda: AdaptiveClassifier(max_features=20),
    "AdaptiveClassifier, many labels": lambda: many(9),
    "MultiLabelClassifier": Several,
    "MultiLabelClassifier, ceiling": lambda: Several(max_features=20),
}


def many(n_labels):
    """AdaptiveClassifier that has met so many labels of its own, beside True and False."""
    model = AdaptiveClassifier()
    for t in range(4 * n_labels):
        model.learn_one(event(t), f"label {t % n_labels}")
    return model


def event(t):
    x = {f"a long name of a feature {(t * k) % 40}": k for k in range(1, 12)}
    return x | {"height": math.sin(t), "width": math.cos(7 * t)}  # columns


def learned(model):
    state = model.__getstate__()
    state.pop("past", None)
    return pickle.dumps(state)


@pytest.fixture(params=LEARNERS)
def model(request):
    model = LEARNERS[request.param]()
    for t in range(12):
        model.learn_one(event(t), t % 2 == 0)
    return model


def tried(model, call):
    """What a call leaves that is tried until memory is enough; and how often it was not."""
    for n in range(1, 500):
        other = copy.deepcopy(model)
        before = learned(other)
        api._fail_at(n)
        try:
            call(other)
            failed = False
        except MemoryError:
            failed = True
        finally:
            left = api._fail_at(0)
        other._check()
        if failed:
            assert learned(other) == before
        elif left > 0:  # else it did without what it did not get
            return other, n - 1
    raise AssertionError("memory was never enough")


def test_a_step_is_taken_whole_or_not_at_all(model):
    x = event(101)
    other, n_failed = tried(model, lambda model: model.learn_one(x, True, undo=True))
    model.learn_one(x, True)
    assert learned(other) == learned(model)
    assert n_failed > 0


def test_a_third_label_is_learned_whole_or_not_at_all():
    model = many(2)
    x = event(101)
    other, n_failed = tried(model, lambda model: model.learn_one(x, "third", undo=True))
    model.learn_one(x, "third")
    assert learned(other) == learned(model)
    assert n_failed > 0


def test_a_step_of_two_labels_is_taken_back_from_three_whole_or_not_at_all():
    model = many(2)
    step = model.learn_one(event(103), "label 0", undo=True)
    model.learn_one(event(104), "third")
    expected = copy.deepcopy(model)
    expected.undo(step)
    other, n_failed = tried(model, lambda model: model.undo(step))
    assert learned(other) == learned(expected)
    assert n_failed > 0


def test_a_ticket_is_learned_whole_or_not_at_all(model):
    x = event(102)
    ticket = model.predict_ticket(x)
    other, n_failed = tried(model, lambda model: model.learn_ticket(ticket, False))
    model.learn_one(x, False)
    assert learned(other) == learned(model)
    assert n_failed > 0


def test_a_step_is_taken_back_whole_or_not_at_all(model):
    step = model.learn_one(event(103), True, undo=True)
    for t in range(5):
        model.learn_one(event(t), t % 2 == 0)
    expected = copy.deepcopy(model)
    expected.undo(step)
    other, n_failed = tried(model, lambda model: model.undo(step))
    assert learned(other) == learned(expected)
    assert n_failed > 0
    other, n_failed = tried(model, lambda model: model.predict_ticket(event(104)))
    assert n_failed > 0
