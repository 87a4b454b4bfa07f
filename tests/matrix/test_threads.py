"""Batches and threads: a batch is learned, or answered, without the interpreter's lock."""

import copy
import math
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

from tests.support.doors import Fault, assert_learns_on_alike
from tests.support.marks import seeds, slow
from tests.support.matrices import (
    CALLS,
    assert_learned_on,
    both_ways,
    csr,
    dicts,
    grown,
    threads_batch,
)
from tests.support.threads import eager, finished
from tests.support.variants import every_learner, labels_for


def decision_of(model, x):
    decision = model.decision_function_one(x)
    return (decision,) if isinstance(decision, float) else tuple(decision.values())


@seeds(3)
@every_learner
@eager
def test_who_asks_while_a_copy_learns_is_told_of_a_state_before_or_after(learner, seed):
    """Every answer is that of one of the known states, and they follow each other."""
    batches = []
    for i in range(6):
        joining = None if learner == "Perceptron" else [f"{i} {label}" for label in "uvw"]
        batches.append(threads_batch(learner, 10 * seed + i, labels=joining))
    model, twin = grown(learner, "on a copy"), grown(learner, "on a copy")
    assert_learned_on("on a copy", batches[0][0], model)
    x = {0: 1.0, 1: -1.0, 3: 2.0, "a": 1.0}
    row = np.zeros((1, 4))
    row[0, [0, 1, 3]] = 1.0, -1.0, 2.0

    def view(of):
        probabilities = of.predict_proba_one(x)
        return of.predict_one(x), decision_of(of, x), list(probabilities)

    states, rows = [view(twin)], [tuple(np.ravel(twin.decision_function_many(row)))]
    for X, ys in batches:
        twin.learn_many(X, ys)
        states.append(view(twin))
        rows.append(tuple(np.ravel(twin.decision_function_many(row))))

    def learn():
        for X, ys in batches:
            model.learn_many(X, ys)

    def ask(stop):
        seen = [[], [], []]
        while not stop.is_set():
            for answers_seen, answer in zip(
                seen,
                (model.predict_one(x), decision_of(model, x), list(model.predict_proba_one(x))),
                strict=True,
            ):
                if not answers_seen or answers_seen[-1] != answer:
                    answers_seen.append(answer)
        return seen

    def ask_many(stop):
        seen = []
        while not stop.is_set():
            answer = tuple(np.ravel(model.decision_function_many(row)))
            if not seen or seen[-1] != answer:
                seen.append(answer)
        return seen

    _, seen, seen_many = finished(learn, ask, ask_many)
    for answers_seen, known in [
        *zip(seen, zip(*states, strict=True), strict=True),
        (seen_many, rows),
    ]:
        at = 0
        for answer in answers_seen:
            assert answer in known[at:]
            at += list(known[at:]).index(answer)
    assert pickle.dumps(model) == pickle.dumps(twin)


@seeds(2)
@every_learner
@eager
def test_who_asks_while_a_batch_is_learned_in_place_is_told_of_a_state_between_rows(learner, seed):
    model, twin = grown(learner, "in place"), grown(learner, "in place")
    for label in labels_for(learner):
        for each in (model, twin):
            each.learn_one({0: 1.0}, label)
    X, ys = threads_batch(learner, seed)
    assert_learned_on("in place", X, model)
    x = {0: 1.0, 1: -1.0, 3: 2.0}
    states = {decision_of(twin, x)}
    for event, y in zip(dicts(X), ys, strict=True):
        twin.learn_one(event, y)
        states.add(decision_of(twin, x))

    row = np.array([[1.0, -1.0, 0.0, 2.0]])

    def ask(stop):
        seen = set()
        while not stop.is_set():
            seen.add(decision_of(model, x))
            seen.add(tuple(np.ravel(model.decision_function_many(row))))
        return seen

    _, *seen = finished(lambda: model.learn_many(X, ys), ask, ask)
    assert set().union(*seen) <= states
    assert pickle.dumps(model) == pickle.dumps(twin)


@both_ways
@seeds(2)
@pytest.mark.parametrize("learner", ["MulticlassPerceptron", "MIRA"])
@eager
def test_who_asks_while_labels_join_finds_labels_and_weights_together(learner, seed, way):
    """Whatever is read, copied or pickled meanwhile is a model in good order."""
    model, twin = grown(learner, way), grown(learner, way)
    batches = [
        threads_batch(learner, 7 * seed + i, 1500, 100, [f"{i} {j}" for j in range(30)])
        for i in range(4)
    ]

    def learn():
        for X, ys in batches:
            model.learn_many(X, ys)

    row = np.ones((3, 5))

    def ask(stop):
        while not stop.is_set():
            least = len(model.labels)
            assert model.predict_one({0: 1.0}) is not None
            for answer in (
                model.decision_function_one({0: 1.0}),
                model.predict_proba_one({1: 1.0}),
            ):
                assert least <= len(answer) <= len(model.labels)
            assert math.isclose(math.fsum(model.predict_proba_one({}).values()), 1.0)
            assert None not in model.predict_many(row).tolist()
            for answer in (model.decision_function_many(row), model.predict_proba_many(row)):
                assert least <= answer.shape[1] <= len(model.labels)
            assert np.allclose(model.predict_proba_many(row).sum(axis=1), 1.0)

    def keep(stop):
        kept = []
        while not stop.is_set():
            kept[4:] = [pickle.dumps(model), copy.deepcopy(model)]
        return kept

    *_, kept = finished(learn, ask, keep)
    for X, ys in batches:
        twin.learn_many(X, ys)
    assert pickle.dumps(model) == pickle.dumps(twin)
    for other in kept:
        other = pickle.loads(other) if isinstance(other, bytes) else other
        n = len(other.labels)
        assert len(other.decision_function_one({0: 1.0})) == len(other.predict_proba_one({})) == n
        other.learn_one({"only": 1.0}, "brand new")
        assert other.labels[n:] == ["brand new"]
        assert [y for y, weights in other.weights.items() if weights.get("only", 0.0) > 0] == [
            "brand new"
        ]


@both_ways
@every_learner
@eager
def test_two_threads_that_learn_take_turns(learner, way):
    (X, ys), (Z, zs) = threads_batch(learner, 1), threads_batch(learner, 2)
    model = grown(learner, way)
    in_turn = []
    for order in (((X, ys), (Z, zs)), ((Z, zs), (X, ys))):
        in_turn.append(copy.deepcopy(model))
        for batch in order:
            in_turn[-1].learn_many(*batch)
    finished(lambda: model.learn_many(X, ys), lambda: model.learn_many(Z, zs))
    assert pickle.dumps(model) in map(pickle.dumps, in_turn)

    before = model.n_seen
    events = dicts(X[:500])

    def learn_some():
        for _ in range(3):
            model.learn_many(X, ys)

    def learn_one_by_one():
        for x, y in zip(events, ys, strict=False):
            model.learn_one(x, y)
            model.test_then_train_one(x, y)

    def learn_small():
        for i in range(0, 500, 5):
            model.test_then_train_many(Z[i : i + 5], zs[i : i + 5])

    finished(learn_some, learn_some, learn_one_by_one, learn_small)
    assert model.n_seen - before == 6 * len(X) + 2 * 500 + 500


@pytest.mark.parametrize("call", ["learn_many", "predict_many"])
@both_ways
@every_learner
def test_other_threads_run_while_a_batch_is_learned_or_answered(learner, way, call):
    """Another thread counts; it sleeps between, so it counts as often as it gets the lock."""
    model = grown(learner, way)
    X, ys = threads_batch(learner, 3, 20_000)
    if way == "in place" and call == "learn_many":
        X, ys = X[:2000], ys[:2000]
        assert_learned_on("in place", X, model)
    stop = threading.Event()
    counts = [0]

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(1e-5)

    thread = threading.Thread(target=count, daemon=True)
    thread.start()
    y = np.array(ys)
    advanced = 0
    for _ in range(300):  # until one call has been seen to let the other go on
        before = counts[0]
        CALLS[call](model, X, y)
        advanced = max(advanced, counts[0] - before)
        if advanced >= 5:
            break
    stop.set()
    thread.join(100)
    # with the lock held it would be let in where Python code runs, before and after the work
    assert advanced >= 5


@seeds(1, n_slow=1)
@both_ways
@every_learner
@eager
def test_calls_of_every_kind_from_many_threads_end_in_a_model_in_good_order(learner, way, seed):
    model = grown(learner, way, pocket=bool(seed))
    batches = [threads_batch(learner, 100 * seed + i, 600, 250) for i in range(5)]
    names = [("column", j) for j in range(250)]
    label = labels_for(learner)[0]
    before = model.n_seen

    def learn():
        for i, (X, ys) in enumerate(batches):
            model.learn_many(X, ys)
            model.learn_many(csr(X, "on a copy"), ys)
            model.test_then_train_many(X[:, : 10 * i + 1], ys, feature_names=names[: 10 * i + 1])

    def learn_ones(stop):
        n = 0
        while not stop.is_set():
            model.learn_one({n % 300: 1.0, f"name {n}": 1.0}, label)
            n += 1
            time.sleep(1e-4)
        return n

    def ask_ones(stop):
        while not stop.is_set():
            model.predict_one({1: 1.0, ("column", 3): 1.0})
            model.predict_proba_one({5: 1.0})
            model.explain_one({1: 1.0, "a": 1.0})
            model.debug_one({1: 1.0, ("column", 3): 1.0})

    def ask_many(stop):
        width = 1
        while not stop.is_set():
            width = width % 400 + 7
            X = sp.csr_array(np.ones((5, width)))
            assert len(model.predict_many(X)) == 5
            model.predict_proba_many(X.toarray())
            model.decision_function_many(X[:, :3], feature_names=["a", 1, ("column", 2)])

    def look(stop):
        n_seen = 0
        while not stop.is_set():
            assert model.n_seen >= n_seen
            n_seen = model.n_seen
            assert model.n_mistakes <= model.n_seen + 1
            assert model.memory_usage > 0
            assert 0 < model.n_features < 10**6
            assert model.serving in ("current", "average", "pocket", "vote")
            model.top_features(3)

    def keep(stop):
        while not stop.is_set():
            assert pickle.loads(pickle.dumps(model)).n_seen <= model.n_seen
            copy.deepcopy(model).learn_one({1: 1.0}, label)
            model.clone(include_attributes=True)

    _, n, *_ = finished(learn, learn_ones, ask_ones, ask_many, look, keep)
    assert model.n_seen - before == 3 * 5 * 600 + n
    other = pickle.loads(pickle.dumps(model))
    assert pickle.dumps(other) == pickle.dumps(model)
    assert other.weights == model.weights
    learn()
    assert model.n_seen - before == 2 * 3 * 5 * 600 + n


@both_ways
@every_learner
@eager
def test_names_that_are_objects_are_not_lost_to_other_threads(learner, way):
    X, ys = threads_batch(learner, 5, n_columns=40)
    names = [frozenset((j, "column")) for j in range(40)]
    model, twin = grown(learner, way), grown(learner, way)
    X[: len(X) // 2, 20:] = 0.0  # these columns join in the middle
    many = np.hstack([X] * (3 if way == "in place" else 6))
    all_names = (
        names + [(name,) for name in names] * 0 + list(range(1000, 1000 + many.shape[1] - 40))
    )

    def ask(stop):
        while not stop.is_set():
            model.predict_one({"a": 1.0, frozenset("unknown"): 1.0})
            model.predict_many(np.ones((1, 2)), feature_names=["a", frozenset("unknown")])

    finished(lambda: model.learn_many(many, ys, feature_names=all_names), ask)
    twin.learn_many(many, ys, feature_names=all_names)
    assert model.weights == twin.weights
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert model.n_features >= 40


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
@pytest.mark.parametrize("readers", slow([0], among=[0, 2]), ids="readers={}".format)
@both_ways
@every_learner
@eager
def test_interrupt_comes_before_or_after_a_batch(learner, way, readers):
    """As Ctrl-C does it: a batch is learned as a whole, labels too, or not at all."""

    armed = False

    def interrupt(*_):
        if armed:
            raise Fault

    X, ys = threads_batch(learner, 6)
    model = grown(learner, way)
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            model.predict_one({1: 1.0})

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(readers)]
    for thread in threads:
        thread.start()
    old = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    try:
        for i in range(8 if readers else 25):
            before = model.n_seen
            labels = ys if learner == "Perceptron" else [f"{i} {y}" for y in ys]
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, 0.0003 * (i + 1))
                model.learn_many(X, labels)
                armed = False
            except Fault:
                interrupted += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert model.n_seen - before in (0, len(X))
            if learner != "Perceptron":
                assert (set(labels) <= set(model.labels)) == (model.n_seen > before)
                assert len(model.predict_proba_one({})) == len(model.labels)
            model.learn_one({"after": 1.0}, labels_for(learner)[0])
            assert model.n_seen - before in (1, len(X) + 1)
            other = pickle.loads(pickle.dumps(model))
            assert_learns_on_alike(other, copy.deepcopy(other), learner)
    finally:
        signal.signal(signal.SIGALRM, old)
        stop.set()
        for thread in threads:
            thread.join(100)
    assert interrupted > 0
