"""Code of others that runs while a batch is read."""

import copy
import gc
import pickle
import random
import sys
from contextlib import contextmanager, suppress
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from tests.support.doors import Fault, Once, assert_learns_on_alike, trained
from tests.support.marks import in_turn
from tests.support.matrices import (
    CALLS,
    NAN,
    WAYS,
    both_ways,
    every_call,
    grown,
    threads_batch,
    widened,
)
from tests.support.streams import KEYS, make_key
from tests.support.threads import eager, finished
from tests.support.variants import (
    LEARNERS,
    ONE_OUTPUT,
    answers,
    every_learner,
    labels_for,
    make,
)


class Actor:
    """A name or a label whose hash acts once: when it is asked for the `at`-th time."""

    def __init__(self, act, at=1):
        self.act, self.at = act, at

    def __hash__(self):
        self.at -= 1
        if self.at == 0:
            self.act()
        return 3

    def __eq__(self, other):
        return self is other


class ActingNumber(Fraction):
    """A weight of 1 that acts when it is read."""

    def __float__(self):
        self.act()
        return 1.0


class ActingList(list):
    """A list that acts when its second item is read."""

    def __iter__(self):
        for i, value in enumerate(list.__iter__(self)):
            if i == 1:
                self.act()
            yield value


def acting(kind, value, act):
    thing = kind(value)
    thing.act = act
    return thing


# How three labels, three weights and two names may act, each in its place
PLACES = {
    "labels": lambda act, ys, ws, names: (acting(ActingList, ys, act), ws, names),
    "weight": lambda act, ys, ws, names: (ys, [1.0, acting(ActingNumber, 1, act), 1.0], names),
    "weights": lambda act, ys, ws, names: (ys, acting(ActingList, ws, act), names),
    "name": lambda act, ys, ws, names: (ys, ws, ["b", Actor(act)]),
    "names": lambda act, ys, ws, names: (ys, ws, acting(ActingList, names, act)),
}

ACTIONS = {
    "learns": lambda model, known, new: model.learn_one({"a": 2, "q": 1, "c": 3}, known),
    "learns a new label": lambda model, known, new: model.learn_one({"a": 2, "q": 1}, new),
    "learns many new labels": lambda model, known, new: [
        model.learn_one({"q": 1}, new if isinstance(new, bool) else f"{new} {i}")
        for i in range(500)
    ],
    "learns a matrix": lambda model, known, new: model.learn_many(np.ones((2, 3)), [known, new]),
    "learns a large matrix": lambda model, known, new: model.learn_many(
        np.ones((2, 70_000)), [known, new]
    ),
    "learns named columns": lambda model, known, new: model.learn_many(
        np.ones((2, 3)), [known, new], feature_names=["q", "c", frozenset("x")]
    ),
    "predicts": lambda model, known, new: model.predict_one({"q": 1, "c": 1}),
    "predicts objects": lambda model, known, new: model.predict_one({frozenset("y"): 1, "c": 1}),
    "predicts a matrix": lambda model, known, new: model.predict_many(np.ones((2, 30))),
    "explains": lambda model, known, new: model.explain_one({"q": 1, "c": 1}),
    "is copied": lambda model, known, new: copy.deepcopy(model).learn_one({"c": 1}, new),
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("call", "place"),
    [
        (call, place)
        for call in CALLS
        for place in PLACES
        if call in ("learn_many", "test_then_train_many") or place in ("name", "names")
    ],
)
@pytest.mark.parametrize("learner", ["Perceptron", "MIRA"])
def test_batch_that_uses_the_model_while_it_is_read_comes_after_what_it_did(
    learner, call, place, action
):
    """Or is refused, if it would learn while the batch is being learned: then it is as if never."""
    X = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
    labels = labels_for(learner)
    known, new = labels[0], labels[1] if learner == "Perceptron" else "new inside"
    given = [labels[0], labels[1], labels[0]], [1.0] * 3, ["b", "c"]

    def do(model, ys, ws, names):
        weights = {"w": ws} if call in ("learn_many", "test_then_train_many") else {}
        return CALLS[call](model, X, ys, feature_names=names, **weights)

    def run():
        model, twin = trained(learner), trained(learner)
        act = Once(lambda: ACTIONS[action](model, known, new))
        acting_given = PLACES[place](act, *given)
        try:
            found = do(model, *acting_given)
        except RuntimeError:
            assert "learn" in action or action == "predicts a matrix"
            assert "learn" in call or "train" in call
            assert act.action is None
            assert pickle.dumps(model) == pickle.dumps(twin)
            assert_learns_on_alike(model, twin, learner)
            return
        assert act.action is None

        ACTIONS[action](twin, known, new)
        expected = do(twin, *(acting_given if place == "name" else given))
        assert found is expected is None or np.array_equal(found, expected)
        assert model._known_labels == twin._known_labels
        assert (model.weights, model.intercept_) == (twin.weights, twin.intercept_)
        assert model.n_seen == twin.n_seen
        assert answers(model, {"b": 1, "q": 1}) == answers(twin, {"b": 1, "q": 1})

    finished(run)


def assert_each_has_weights_of_its_own(model, *labels):
    """A model has an output for each of its labels, and what is learned goes to the right one."""
    n = len(model.labels)
    assert len(set(model.labels)) == n
    assert len(model.decision_function_one({})) == len(model.predict_proba_one({})) == n
    for i, y in enumerate(labels):
        # without an intercept an event of one new feature is a tie, and so a mistake
        model.learn_one({f"only {i}": 1.0}, y)
        weights = model.weights.items()
        assert [label for label, w in weights if w.get(f"only {i}", 0.0) > 0] == [y]


def raise_fault(model, known, new):
    raise Fault


@pytest.mark.parametrize(
    ("action", "at", "way", "learner"),
    in_turn(["raises", *ACTIONS], range(1, 8), WAYS, ["MulticlassPerceptron", "MIRA"]),
)
def test_label_that_acts_when_it_is_hashed_keeps_labels_and_outputs_together(
    learner, way, action, at
):
    """Whenever that is: the batch is learned as a whole with its labels, or not at all."""
    X = widened(np.eye(4), way)

    def run():
        model = make(learner, "no intercept")
        for y in ("x", "y"):
            model.learn_one({"a": 1}, y)
        n_inner = [0]

        def act():
            before = model.n_seen
            {**ACTIONS, "raises": raise_fault}[action](model, "x", "inner")
            n_inner[0] = model.n_seen - before

        label = Actor(act, at)
        done = False
        with suppress(Fault, RuntimeError):
            CALLS[rng.choice(["learn_many", "test_then_train_many"])](
                model, X, ["x", "first", label, "last"]
            )
            done = True
        label.at = 0
        assert done or action not in ("predicts", "predicts objects", "explains", "is copied")
        assert model.n_seen == 2 + 4 * done + n_inner[0]
        assert (
            (label in model.labels) == ("first" in model.labels) == ("last" in model.labels) == done
        )
        assert_each_has_weights_of_its_own(model, "x", "another", label)

    rng = random.Random(f"{learner}, {way}, {action}, {at}")
    finished(run)


class Busy:
    """A label whose hash uses the model every time, but not while it does so."""

    def __init__(self, use):
        self.use, self.busy = use, False

    def __hash__(self):
        if self.use is not None and not self.busy:
            self.busy = True
            try:
                self.use()
            finally:
                self.busy = False
        return 4


@pytest.mark.parametrize(
    "how", ["predicts", "predicts a matrix", "learns", "learns a matrix", "learns named columns"]
)
@pytest.mark.parametrize("call", ["learn_one", "learn_many", "test_then_train_many"])
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
def test_label_that_uses_the_model_whenever_it_is_hashed_hangs_nothing(learner, call, how):
    def run():
        model = make(learner, "no intercept")
        for y in ("x", "y"):
            model.learn_one({"a": 1}, y)
        label = Busy(lambda: ACTIONS[how](model, "x", "y"))
        done = False
        with suppress(RuntimeError):
            if call == "learn_one":
                model.learn_one({"q": 1}, label)
            else:
                CALLS[call](model, np.eye(3), ["x", label, "y"])
            done = True
        for ask in (model.predict_one, model.decision_function_one, model.predict_proba_one):
            ask({"q": 1})
        model.predict_many(np.eye(3))
        label.use = None
        assert done == (label in model.labels)
        assert_each_has_weights_of_its_own(model, "x", "another", label)

    finished(run, seconds=20)


@every_call
@every_learner
def test_error_of_a_names_own_code_passes_through_and_leaves_no_trace(learner, call):
    def fail():
        raise Fault

    faults = 0
    for at in range(1, 6):
        model = trained(learner)
        before = pickle.dumps(model)
        try:
            CALLS[call](
                model, np.eye(2), labels_for(learner)[:2], feature_names=["a", Actor(fail, at)]
            )
        except Fault:
            faults += 1
            assert pickle.dumps(model) == before
            assert_learns_on_alike(model, trained(learner), learner)
    assert faults > 1


@pytest.mark.parametrize(
    ("call", "use", "learner", "way"),
    in_turn(CALLS, ["predict_one", "learn_one", "predict_many", "learn_many"], LEARNERS, WAYS),
)
def test_name_that_uses_the_model_when_it_is_shown_in_an_error_hangs_nothing(
    learner, way, use, call
):
    label = labels_for(learner)[0]
    uses = {
        "predict_one": lambda: model.predict_one({"a": 1}),
        "learn_one": lambda: model.learn_one({"a": 1}, label),
        "predict_many": lambda: model.predict_many(np.ones((2, 30))),
        "learn_many": lambda: model.learn_many(np.ones((2, 30)), [label, label]),
    }

    class Name:
        def __repr__(self):
            uses[use]()
            return "<the culprit>"

    X = widened(np.ones((100, 2)), way)
    X[99, 1] = NAN
    names = ["a", Name(), *range(2, X.shape[1])]
    model = trained(learner)

    def run():
        with pytest.raises(ValueError, match="row 99"):
            CALLS[call](model, X, [label] * 100, feature_names=names)

    before = model.n_seen
    finished(run, seconds=20)
    assert model.n_seen - before <= 2 * 3
    model.learn_many(X[:99], [label] * 99, feature_names=names)
    assert model.n_seen - before >= 99


# From 3.12 on the collector waits until the interpreter is between two of its instructions, so it
# may never come in the middle of a call. That it came is asked of older ones only.
COLLECTS_BETWEEN_LINES = sys.version_info >= (3, 12)


@contextmanager
def collecting(act):
    """The collector runs as often as it can, and finds each time what acts when it is finalized.

    Gives a list, as long as there were acts that were not refused.
    """
    acts, state = [], {"on": True}

    class Cycle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            if state["on"]:
                state["on"] = False
                with suppress(RuntimeError):  # it would learn while a batch is being learned
                    act()
                    acts.append(True)
                state["on"] = True
                Cycle()

    threshold = gc.get_threshold()
    gc.freeze()  # for good, as in conftest.py: what the tests that follow need not look at
    gc.set_threshold(1, 10**6, 10**6)
    try:
        Cycle()
        yield acts
    finally:
        state["on"] = False
        gc.set_threshold(*threshold)


USES = {
    "predict_one": (0, lambda model, y: model.predict_one({"a": 1, frozenset("b"): 1, 3: 2})),
    "learn_one": (1, lambda model, y: model.learn_one({"a": 1, frozenset("b"): 1}, y)),
    "predict_many": (0, lambda model, y: model.predict_many(np.ones((2, 800)))),
    "learn_many": (2, lambda model, y: model.learn_many(np.ones((2, 800)), [y, y])),
    "learn names": (
        2,
        lambda model, y: model.learn_many(np.ones((2, 1)), [y, y], feature_names=["a"]),
    ),
}


@pytest.mark.parametrize("use", USES)
@both_ways
@pytest.mark.parametrize("learner", ["Perceptron", "MIRA"])
def test_finalizer_that_learns_or_asks_at_any_moment_spoils_nothing(learner, way, use):
    model = grown(learner, way)
    X, ys = threads_batch(learner, 8, 200, 700)
    bad = X.copy()
    bad[150, 20] = NAN
    names = [[str(j), j, (j, "name"), frozenset((j,))][j % 4] for j in range(X.shape[1])]
    rows, act = USES[use]
    before = model.n_seen
    with collecting(lambda: act(model, labels_for(learner)[0])) as acts:

        def run():
            for call in CALLS.values():
                for more in ({}, {"feature_names": names}):
                    call(model, X, ys, **more)
                    with pytest.raises(ValueError, match="row 150"):
                        call(model, bad, ys, **more)

        finished(run)
        n_acts = len(acts)
    assert model.n_seen - before == 4 * len(X) + rows * n_acts
    assert n_acts > 20 or COLLECTS_BETWEEN_LINES
    other = copy.deepcopy(model)
    assert other.weights == model.weights
    assert pickle.dumps(other) == pickle.dumps(model)
    assert_learns_on_alike(other, model, learner)


READS = {
    "predict_one": lambda model, x: model.predict_one(x),
    "predict_proba_one": lambda model, x: model.predict_proba_one(x),
    "decision_function_one": lambda model, x: model.decision_function_one(x),
    "explain_one": lambda model, x: model.explain_one(x),
    "debug_one": lambda model, x: model.debug_one(x),
    "top_features": lambda model, x: model.top_features(50),
    "weights": lambda model, x: model.weights,
    "averaged_weights": lambda model, x: getattr(model, "averaged_weights", None),
    "memory_usage": lambda model, x: model.memory_usage > 0,
    "pickle": lambda model, x: pickle.dumps(model),
    "deepcopy": lambda model, x: pickle.dumps(copy.deepcopy(model)),
    "predict_many": lambda model, x: model.predict_many(np.eye(3)).tolist(),
    "predict_proba_many": lambda model, x: model.predict_proba_many(
        sp.csr_array(np.eye(3))
    ).tolist(),
    "decision_function_many": lambda model, x: model.decision_function_many(
        np.eye(3), feature_names=list(x)[:3]
    ).tolist(),
}


def model_of_many_names(learner):
    """A model that has learned names of every kind, and an event of them."""
    model = make(learner)
    names = [make_key(keys, i) for i in range(8) for keys in KEYS]
    rng = random.Random(9)
    for i in range(60):
        x = {name: rng.gauss(0, 1) for name in rng.sample(names, 20)}
        model.learn_one(x, labels_for(learner)[i % len(labels_for(learner))])
    return model, dict.fromkeys(names[::-1], 1.0)


@pytest.mark.parametrize("read", READS)
@every_learner
def test_answers_are_not_spoiled_by_a_finalizer_that_asks_for_others(learner, read):
    model, x = model_of_many_names(learner)
    expected = READS[read](model, x)
    answers = []
    with collecting(lambda: model.predict_one({"other": 1.0, 2: 1.0, 3: 1.0})) as acts:
        for _ in range(5):
            # each list counts for the collector: some reads make no container of their own
            answers.append([READS[read](model, x)])
    assert answers == [[expected]] * 5
    assert acts or COLLECTS_BETWEEN_LINES


@pytest.mark.parametrize("read", READS)
@every_learner
@eager
def test_answers_are_not_spoiled_by_other_threads_that_ask_for_others(learner, read):
    model, x = model_of_many_names(learner)
    expected = READS[read](model, x)

    def ask():
        for _ in range(100):
            assert READS[read](model, x) == expected

    def ask_for_others(stop):
        while not stop.is_set():
            model.predict_one({"other": 1.0, 2: 1.0, 3: 1.0})
            model.explain_one({("word", 1, None): 1.0, 2: 1.0, 3: 1.0})

    finished(ask, ask, ask_for_others)


@every_learner
@eager
def test_weights_are_those_of_one_state_while_batches_are_learned(learner):
    """All weights are the same after every row, so those that are read must be the same too."""
    model = make(learner, average="none", intercept=False, serve="current")
    labels = labels_for(learner)[:2]
    names = [("name", j) for j in range(400)]
    X = np.ones((2, 400))

    def learn():
        for i in range(30):  # a weight that grows makes every event a mistake
            model.learn_many(X, labels[::-1], [2.0**i] * 2, feature_names=names)

    def look(stop):
        while not stop.is_set():
            weights = model.weights
            if learner not in ONE_OUTPUT:
                weights = weights.get(labels[0], {})
            assert len(set(weights.values())) <= 1
            assert len(weights) in (0, 400)

    finished(learn, look, look)
    assert model.n_seen == 60
