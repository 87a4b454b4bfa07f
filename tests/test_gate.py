"""Any number of threads may use a model, and no answer ever mixes two of its states.

In these tests every event has all features, and turns all weights from +1 to -1 or back. So all are
equal at any moment, and the number of events says which they are: an update that is seen half made
shows as weights that differ, or as a score between the two.
"""

import copy
import pickle
import re
import sys
import threading
from functools import partial
from itertools import count
from operator import le

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from streamptron import Tokenizer, load
from tests.support.marks import in_turn, slow
from tests.support.threads import eager, finished
from tests.support.variants import LEARNERS

N = 256
NAMES = [f"w{i}" if i % 3 else f"a_long_name_of_the_feature_{i}" for i in range(N)]
X = dict.fromkeys(NAMES, 1.0)
TEXT = " ".join(NAMES)
TOKENIZER = Tokenizer()
LABELS = {"Perceptron": (False, True), "MulticlassPerceptron": ("no", "yes")}
CHANGES = 10  # of state that every reader is to see


def turning(learner):
    """A model of weights +1, of the label "yes" if there are two, after an odd number of events."""
    model = LEARNERS[learner](intercept=False, serve="current", hash_seed=1)
    if learner == "MulticlassPerceptron":
        model.learn_one({}, "no")
        model.learn_one({}, "yes")
    model.learn_one(X, LABELS[learner][1])
    return model


def labels(learner, model, n):
    """Of the next n events, each of which is a mistake."""
    return [LABELS[learner][(model.n_seen + i + 1) % 2] for i in range(n)]


def learn_events(learner, model):
    model.learn_one(X, *labels(learner, model, 1), 2.0)


def learn_texts(learner, model):
    model.learn_one(TOKENIZER.transform_one(TEXT), *labels(learner, model, 1), 2.0)


def learn_rows(learner, model, n=33):
    rows = sp.csr_array(np.ones((n, N)))
    model.learn_many(rows, labels(learner, model, n), w=[2.0] * n, feature_names=NAMES)


def learn_many_texts(learner, model, n=33):
    rows = TOKENIZER.transform_many([TEXT] * n)
    model.learn_many(rows, labels(learner, model, n), w=[2.0] * n)


def learn_many_rows(learner, model, n=701):
    """A batch so much larger than the model that it is learned on a copy."""
    rows = np.ones((n, N))
    model.learn_many(rows, labels(learner, model, n), w=[2.0] * n, feature_names=NAMES)


WAYS = {
    "events": learn_events,
    "texts": learn_texts,
    "rows": learn_rows,
    "many texts": learn_many_texts,
    "many rows": learn_many_rows,
}


# What is read: the numbers that each must be +1, or each -1


def score(model, x):
    answer = model.decision_function_one(x)
    return [(answer["yes"] if isinstance(answer, dict) else answer) / N]


def scores(model, rows, **how):
    answers = model.decision_function_many(rows, **how).reshape(len(rows), -1)
    return answers[:, -1] / N


def of_yes(model, weights):
    return (weights["yes"] if hasattr(model, "labels") else weights).values()


def whole(model):
    """The weights of a model that no other thread has, which fit its counters."""
    weights = of_yes(model, model.weights)
    assert {*weights} == {1.0 if model.n_seen % 2 else -1.0}
    assert len({*of_yes(model, model.averaged_weights)}) <= 1  # a weight of 0 is left out
    assert model.n_updates == model.n_seen - (2 if hasattr(model, "labels") else 0)
    model._check()
    return weights


def top(model):
    """The weights of "yes", which are those of "no" with the other sign."""
    largest = model.top_features(N)
    if isinstance(largest, dict):
        largest, no = largest["yes"], largest["no"]
        assert [len(no.positive), len(no.negative)] == [
            len(largest.negative),
            len(largest.positive),
        ]
    return [weight for side in largest for _, weight in side]


READERS = {
    "score": lambda model, _: score(model, X),
    "score of a text": lambda model, _: score(model, TOKENIZER.transform_one(TEXT)),
    "scores": lambda model, _: scores(model, np.ones((5, N)), feature_names=NAMES),
    "scores of texts": lambda model, _: scores(model, TOKENIZER.transform_many([TEXT] * 5)),
    "explanation": lambda model, _: [
        part for _, part in model.explain_one(X, LABELS[type(model).__name__][1])
    ],
    "weights": lambda model, _: of_yes(model, model.weights),
    "top features": lambda model, _: top(model),
    "deepcopy": lambda model, _: whole(copy.deepcopy(model)),
    "pickle": lambda model, _: whole(pickle.loads(pickle.dumps(model))),
    "file": lambda model, path: model.save(path) or whole(load(path)),
}


def watch(model, read, path, changes):
    """Read again and again, and count the changes of state; an error counts for all of them."""
    last = None
    counters = 0, 0, 0
    try:
        while changes[read] < CHANGES:
            answer = {*map(float, READERS[read](model, path))}
            assert answer in ({1.0}, {-1.0})
            changes[read] += answer != last
            last = answer
            before, counters = counters, (model.n_seen, model.n_updates, model.n_mistakes)
            assert all(map(le, before, counters))
            assert model.n_features == N
    finally:
        changes[read] = CHANGES


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("learner", LABELS)
@eager
def test_no_answer_mixes_two_states_of_a_model_that_learns(learner, way, tmp_path):
    model = turning(learner)
    changes = dict.fromkeys(READERS, 0)

    def learn():
        while min(changes.values()) < CHANGES:
            WAYS[way](learner, model)

    finished(learn, *(partial(watch, model, read, tmp_path / read, changes) for read in READERS))
    whole(model)


@pytest.mark.parametrize(
    ("learner", "read", "how"), in_turn(LABELS, READERS, ["__init__", "__setstate__"])
)
@eager
def test_no_answer_mixes_two_states_of_a_model_that_is_started_anew(learner, how, read, tmp_path):
    """It is the one that was, of weights 1, or the new one: untrained, or of weights -1."""
    model = turning(learner)
    one = copy.deepcopy(model).__getstate__()
    WAYS["events"](learner, model)
    other = model.__getstate__()
    states = ({1.0}, {-1.0}, {0.0}, set())  # a weight of 0 is left out

    def write():
        for turn in range(200):
            if how == "__setstate__":
                model.__setstate__((one, other)[turn % 2])
            else:
                model.__init__(intercept=False, serve="current", hash_seed=1)
                if turn % 2:
                    model.__setstate__(one)

    def ask(stop):
        path = tmp_path / "file"
        while not stop.is_set():
            try:
                answer = {*map(float, ANEW.get(read, READERS[read])(model, path))}
            except (KeyError, ValueError, RuntimeError) as error:
                # the label that was asked for is not there, or is about to be
                if learner == "Perceptron" or not re.search("yes|label", str(error)):
                    raise
            else:
                assert answer in states

    finished(write, ask, ask)
    model.__setstate__(one)
    whole(model)


def weights_alone(model, _):
    weights = model.weights
    return (weights.get("yes", {}) if hasattr(model, "labels") else weights).values()


def anew(model):
    """The weights of a model that no other thread has, or none."""
    model._check()
    return weights_alone(model, None)


ANEW = {
    "weights": weights_alone,
    "scores": lambda model, _: scores_alone(model, np.ones((2000, N)), feature_names=NAMES),
    "scores of texts": lambda model, _: scores_alone(model, TOKENIZER.transform_many([TEXT] * 99)),
    "deepcopy": lambda model, _: anew(copy.deepcopy(model)),
    "pickle": lambda model, _: anew(pickle.loads(pickle.dumps(model))),
    "file": lambda model, path: model.save(path) or anew(load(path)),
}


def scores_alone(model, rows, **how):
    answers = model.decision_function_many(rows, **how).reshape(len(rows), -1)
    return answers[:, -1] / N if answers.size else ()


@pytest.mark.parametrize("way", ["rows", "many texts", "many rows"])
@pytest.mark.parametrize("learner", LABELS)
@eager
def test_a_model_that_learns_a_batch_is_started_anew_before_or_after_it(learner, way):
    model = turning(learner)
    state = model.__getstate__()

    def learn():
        for _ in range(12):
            WAYS[way](learner, model)

    def start(stop):
        while not stop.is_set():
            model.__setstate__(state)
            model._check()

    finished(learn, start)
    model.__setstate__(state)
    whole(model)


@pytest.mark.parametrize("learner", LABELS)
@eager
def test_parameters_that_cannot_be_change_nothing_of_a_model_in_use(learner):
    model = turning(learner)
    state = pickle.dumps(model)

    def write():
        for _ in range(300):
            with pytest.raises(ValueError, match="half_life"):
                model.__init__(half_life=0)
            with pytest.raises(ValueError, match="hash_bits"):
                model.__init__(hash_bits=99)

    def ask(stop):
        while not stop.is_set():
            assert {*scores(model, np.ones((50, N)), feature_names=NAMES)} == {1.0}

    finished(write, ask)
    assert pickle.dumps(model) == state


class Restarting:
    """A label, or a name, that starts a model anew the first few times that it is hashed."""

    def __init__(self, model, times):
        self.model, self.times = model, times

    def __hash__(self):
        if self.times:
            self.times -= 1
            self.model.__init__()
        return 7


@pytest.mark.parametrize("times", range(1, 7), ids="times={}".format)
@pytest.mark.parametrize("part", ["label", "name", "weighted label"])
def test_a_model_started_anew_by_a_hash_in_the_middle_of_an_event_learns_it_whole(part, times):
    params = {"class_weight": {"yes": 1.0}} if part == "weighted label" else {}
    model = LEARNERS["MulticlassPerceptron"](**params)
    for i in range(50):
        model.learn_one({f"w{i}": 1}, f"label {i}")
    odd = Restarting(model, times)
    if part == "name":
        model.learn_one({odd: 1, "a": 1}, "yes")
    else:
        model.learn_one({"a": 1}, odd)
    odd.times = 0
    model._check()
    model.learn_one({"b": 1}, "next")
    assert model.n_seen >= 1
    assert len(model.labels) == len(model.decision_function_one({"a": 1}))
    copy.deepcopy(model)._check()


@pytest.mark.parametrize("door", ["rows", "texts"])
@pytest.mark.parametrize(
    "call",
    slow(
        ["predict_proba_many", "decision_function_many"],
        ["predict_many", "test_then_train_many", "predict_proba_many", "decision_function_many"],
    ),
)
def test_labels_of_a_batch_are_those_of_the_model_that_answered_it(call, door):
    """It is started anew, with other labels, at each place where another thread may get in."""
    first, second, third = (LEARNERS["MulticlassPerceptron"](hash_seed=1) for _ in range(3))
    rows = {"rows": np.ones((5, 3)), "texts": TOKENIZER.transform_many(["a b"] * 5)}[door]
    if door == "rows":
        rows = pd.DataFrame(rows, columns=list("abc"))
    first.learn_many(rows, ["no", "yes", "yes", "yes", "yes"])
    second.learn_many(rows, ["up", "down", "down", "down", "down"], w=3.0)
    answers = [repr(LABELLED[call](copy.deepcopy(m), rows)) for m in (first, second, third)]
    # the one at the even places, the other one at the odd ones
    for first_place, other in enumerate((second, third)):
        state = other.__getstate__()
        for place in count(first_place, 2):
            model, calls = copy.deepcopy(first), count()

            def look(frame, event, what, model=model, calls=calls, place=place, state=state):
                if next(calls) == place:
                    sys.setprofile(None)
                    model.__setstate__(state)

            sys.setprofile(look)
            try:
                answer = LABELLED[call](model, rows)
            finally:
                sys.setprofile(None)
            assert repr(answer) in answers, place
            if next(calls) <= place:
                break
        assert place > 20


LABELLED = {
    "predict_many": lambda model, rows: list(model.predict_many(rows)),
    "test_then_train_many": lambda model, rows: list(
        model.test_then_train_many(rows, ["no"] * len(rows))
    ),
    "predict_proba_many": lambda model, rows: model.predict_proba_many(rows),
    "decision_function_many": lambda model, rows: model.decision_function_many(rows),
}


@eager
def test_rows_are_answered_between_blocks_of_a_batch_though_somebody_waits_to_learn():
    model = turning("Perceptron")
    texts = TOKENIZER.transform_many([TEXT] * 20_000)
    ys = labels("Perceptron", model, len(texts))
    first, last = model.n_seen, model.n_seen + len(texts)
    waits = threading.Event()
    between = []

    def wait_to_learn():
        while model.n_seen == first:
            pass
        waits.set()
        model.learn_one(X, True)

    def ask(stop):
        waits.wait()
        while not stop.is_set():
            answered = scores(model, TOKENIZER.transform_many([TEXT]))
            assert {*answered} in ({1.0}, {-1.0})
            between.append(first < model.n_seen < last)

    finished(lambda: model.learn_many(texts, ys, w=[2.0] * len(texts)), wait_to_learn, ask)
    assert sum(between) >= 3
    assert model.n_seen == last + 1


@eager
def test_a_delta_is_applied_beside_batches_that_are_read_and_learners_that_wait():
    model = turning("Perceptron")
    late = copy.deepcopy(model)
    learn_events("Perceptron", late)
    late = late.delta(model)
    rows = np.ones((500, N))

    def apply():
        for _ in range(50):
            base = copy.deepcopy(model)
            shard = copy.deepcopy(base)
            learn_events("Perceptron", shard)
            model.apply(shard.delta(base))

    def read(stop):
        while not stop.is_set():
            scores(model, rows, feature_names=NAMES)

    def wait(stop):
        while not stop.is_set():
            with pytest.raises(ValueError, match="the delta continues the model"):
                model.apply(late)

    learn_events("Perceptron", model)  # so that `late` is
    finished(apply, read, wait)
    assert model.n_seen == 52
    whole(model)


@eager
def test_these_tests_would_notice_a_model_that_mixes_states():
    """River's, for one, moves its intercept before its weights."""
    from river import linear_model

    model, twin = linear_model.Perceptron(), linear_model.Perceptron()
    x = dict.fromkeys(range(N), 1 / 16)

    def turn(model, t):
        model.learn_one(x, t % 2 == 0, w=2.0 if t else 1.0)

    states = set()
    for t in range(5):
        turn(twin, t)
        states.add(twin.predict_proba_one(x)[True])
    assert len(states) == 2
    turn(model, 0)

    def learn(stop):
        for t in count(1):
            if stop.is_set():
                return
            turn(model, t)

    def read():
        while (answer := model.predict_proba_one(x)[True]) in states:
            pass
        return answer

    _, answer = finished(learn, read)
    assert min(states) < answer < max(states)


@eager
def test_debug_one_names_the_answer_that_its_contributions_make():
    model = LEARNERS["Perceptron"](intercept=False, serve="current")
    model.learn_one({"a": 1}, True)

    def learn(stop):
        for turn in count():
            if stop.is_set():
                return
            model.learn_one({"a": 1}, turn % 2 == 1, 2.0)

    def ask():
        for _ in range(2000):
            lines = model.debug_one({"a": 1}).splitlines()
            assert lines[-1].startswith("True ") == (float(lines[2].split()[-1]) > 0)

    finished(ask, learn)
