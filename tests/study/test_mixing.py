"""A pass that threads share: copies learn a share each and are merged; nothing else changes."""

import copy
import pickle
import threading

import numpy as np
import pytest
from scipy.sparse import csr_array

from streamptron import (
    MulticlassPerceptron,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
    VotedPerceptron,
    merge,
)
from streamptron.study import fit
from tests.support.marks import seeds
from tests.support.studies import blobs, pairs_of
from tests.support.variants import LEARNERS, labels_for, make

pytestmark = pytest.mark.once  # another Python would say the same


def mixed_by_hand(model, pairs, order, n_jobs, mixes):
    """A pass: the rounds' events dealt out among copies, which learn them one by one."""
    for part in np.array_split(order, mixes):
        shards = [copy.deepcopy(model) for _ in range(n_jobs)]
        for k, row in enumerate(part):
            shards[k % n_jobs].learn_one(*pairs[row])
        model = merge(shards, since=model)
    return model


@seeds(1)
@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "VotedPerceptron"])
@pytest.mark.parametrize(("n_jobs", "mixes"), [(2, 10), (3, 1), (5, 60)])
def test_a_shared_pass_is_copies_taught_apart_and_merged_bit_for_bit(learner, n_jobs, mixes, seed):
    X, ys = blobs(seed, noise=0.2, labels=labels_for(learner, 4))
    pairs = pairs_of(X, ys)
    by_row, by_event, twin = make(learner), make(learner), make(learner)
    history = fit(by_row, (csr_array(X), ys), epochs=3, seed=seed, n_jobs=n_jobs, mixes=mixes)
    fit(by_event, pairs, epochs=3, seed=seed, n_jobs=n_jobs, mixes=mixes)
    rng = np.random.default_rng(seed)
    for passed in history:
        before = twin
        twin = mixed_by_hand(twin, pairs, rng.permutation(len(pairs)), n_jobs, mixes)
        assert passed.mistakes == twin.n_mistakes - before.n_mistakes
        assert passed.updates == twin.n_updates - before.n_updates
        assert passed.error == passed.mistakes / len(pairs)
    assert pickle.dumps(by_row) == pickle.dumps(by_event) == pickle.dumps(twin)
    assert twin.n_seen == len(history) * len(pairs)


def test_texts_and_candidates_are_shared_too():
    texts = [f"{word} {n % 7}" for n in range(40) for word in ("win", "see")]
    labels = ["spam", "ham"] * 40
    model, twin = Tokenizer() | MulticlassPerceptron(hash_seed=1), MulticlassPerceptron(hash_seed=1)
    fit(model, (texts, labels), epochs=1, shuffle=False, n_jobs=2, mixes=3)
    pairs = [(Tokenizer().transform_one(text), y) for text, y in zip(texts, labels, strict=True)]
    twin = mixed_by_hand(twin, pairs, range(80), 2, 3)
    assert pickle.dumps(model[-1]) == pickle.dumps(twin)
    queries = [([{"a": n % 3}, {"b": 1}, {"c": n % 2}], n % 3) for n in range(30)]
    model, twin = RankingPerceptron(hash_seed=1), RankingPerceptron(hash_seed=1)
    fit(model, queries, epochs=1, shuffle=False, n_jobs=2, mixes=4)
    assert pickle.dumps(model) == pickle.dumps(mixed_by_hand(twin, queries, range(30), 2, 4))


@pytest.mark.parametrize("arguments", [{"n_jobs": 1}, {"n_jobs": None}, {"mixes": 3}])
def test_one_job_is_a_fit_without_copies_whatever_the_mixes(arguments):
    X, ys = blobs(3, noise=0.2)
    model, twin = Perceptron(hash_seed=1), Perceptron(hash_seed=1)
    fit(model, (X, ys), epochs=3, shuffle=False, **arguments)
    for _ in range(3):
        twin.learn_many(X, ys)
    assert pickle.dumps(model) == pickle.dumps(twin)


@pytest.mark.slow
def test_shared_passes_end_as_others_do_and_the_best_ones_weights_serve(capsys):
    X, ys = blobs(10, noise=0.3)
    held = blobs(10, n=80, noise=0.3)
    model, twin = Perceptron(hash_seed=1), Perceptron(hash_seed=1)
    arguments = {"seed": 3, "n_jobs": 2, "mixes": 3}
    history = fit(
        model, (X, ys), epochs=50, validation=held, patience=4, progress=True, **arguments
    )
    assert history.stopped == "patience"
    assert history.best == len(history) - 4
    assert np.mean(model.predict_many(held[0]) != np.array(held[1])) == min(
        row.validation_error for row in history
    )
    fit(twin, (X, ys), epochs=history.best, **arguments)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert f"{len(history)}/50" in capsys.readouterr().err
    X, ys = blobs(9)
    model = Perceptron()
    assert fit(model, (X, ys), epochs=500, seed=1, n_jobs=2).stopped == "converged"
    assert fit(model, (X, ys), epochs=5, n_jobs=2)[0].updates == 0


def test_each_share_is_learned_by_a_thread_of_its_own_at_the_same_time():
    barrier = threading.Barrier(3, timeout=30)

    class Event(dict):
        """An event that is read only together with those of the other shares."""

        def items(self):
            barrier.wait()
            return super().items()

    model = Perceptron()
    fit(model, [(Event({"a": 1.0}), True) for _ in range(3)], epochs=1, n_jobs=3, mixes=1)
    assert (model.n_seen, barrier.broken) == (3, False)


X, YS = blobs(16, n=6)
REFUSED = {
    "jobs of 0": (Perceptron, (X, YS), {"n_jobs": 0}, "n_jobs=0"),
    "jobs of True": (Perceptron, (X, YS), {"n_jobs": True}, "n_jobs=True"),
    "mixes of 0": (Perceptron, (X, YS), {"n_jobs": 2, "mixes": 0}, "mixes=0"),
    "mixes of 1.5": (Perceptron, (X, YS), {"mixes": 1.5}, "mixes=1.5"),
    "an order that cannot be shared": (
        Perceptron,
        (X, YS),
        {"n_jobs": 2, "order": "random-mistake"},
        'n_jobs=2, but order="random-mistake"',
    ),
    "a learner that cannot be merged": (
        VotedPerceptron,
        (X, YS),
        {"n_jobs": 2},
        "model is a VotedPerceptron, which cannot be merged",
    ),
    "an event that is invalid": (
        Perceptron,
        [({"a": 1}, True), ({"b": 1}, False), ({"a": "7"}, True)],
        {"n_jobs": 2, "shuffle": False},
        r"data\[2\]: x\['a'\]",
    ),
    "more labels than the model may have": (
        lambda: MulticlassPerceptron(max_labels=2),
        [({"a": 1}, "x"), ({"b": 1}, "y"), ({"c": 1}, "z")],
        {"n_jobs": 2},
        "max_labels=2",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_named_and_changes_nothing(what):
    kind, data, arguments, message = REFUSED[what]
    model = kind()
    before = pickle.dumps(model)
    with pytest.raises((TypeError, ValueError), match=message):
        fit(model, data, **arguments)
    assert pickle.dumps(model) == before
