"""n_jobs: several threads share the rows of a batch, and answer as one does, bit for bit."""

import os
import random

import numpy as np
import pytest
import scipy.sparse as sp

from streamptron import AdaptiveClassifier, Perceptron, RankingPerceptron, Tokenizer
from streamptron.common.checks import jobs_of
from tests.support.candidates import documents
from tests.support.marks import seeds
from tests.support.streams import VALUES
from tests.support.variants import every_learner, every_variant, labels_for, make

# This file runs under ThreadSanitizer too, which the frames' libraries do not survive.

CALLS = ("predict_many", "decision_function_many", "predict_proba_many")


def random_batch(rng, learner, n=900, n_columns=12):
    """A dense batch, a third of it zeros, and its labels."""
    X = np.array(
        [[VALUES["real"](rng) * (rng.random() < 0.7) for _ in range(n_columns)] for _ in range(n)]
    )
    return X, [rng.choice(labels_for(learner)) for _ in range(n)]


def alike(model, X, jobs=(2, 3), **names):
    """Whether n_jobs changes nothing about what a model answers."""
    for call in CALLS:
        asked = getattr(model, call)
        alone = np.asarray(asked(X, **names))
        assert all(np.array_equal(asked(X, n_jobs=n, **names), alone) for n in jobs), call


@seeds(1)
@every_variant
def test_the_answers_are_those_of_one_thread(learner, variant, seed):
    rng = random.Random(seed)
    model = make(learner, variant)
    X, ys = random_batch(rng, learner)
    model.learn_many(X[:80], ys[:80])
    alike(model, X)
    alike(model, sp.csr_array(X))
    alike(model, X, feature_names=[f"column {j}" for j in range(X.shape[1])])


@seeds(1)
@every_learner
def test_rows_of_a_wide_matrix_too(learner, seed):
    rng = random.Random(seed)
    model = make(learner)
    X, ys = random_batch(rng, learner)
    tight = sp.csr_array(X)
    wide = sp.csr_array((tight.data, tight.indices, tight.indptr), shape=(900, 1 << 40))
    model.learn_many(wide[:80], ys[:80])
    alike(model, wide)
    falling = sp.csr_array((tight.data[::-1], tight.indices[::-1], tight.indptr), shape=X.shape)
    alike(model, falling)


def test_texts_with_characters_that_each_thread_meets_first():
    """Which characters have been met is the process's own knowledge, so they are rare ones."""
    model = Tokenizer(ngram_range=(1, 2)) | AdaptiveClassifier()
    texts = [f"{chr(0x10300 + 7 * i)} {i % 5} ᚠ{i % 3}" for i in range(600)]
    model.learn_many(texts[:20], [str(i % 3) for i in range(20)])
    several = model.predict_proba_many(texts, n_jobs=4)
    assert np.array_equal(several, model.predict_proba_many(texts))
    alike(model, texts)


@seeds(1)
@pytest.mark.parametrize("serve", ["best", "average"])
def test_a_query_is_never_divided(serve, seed):
    X, grades, qid = documents(random.Random(seed), 300)
    model = RankingPerceptron(serve=serve, hash_seed=1)
    model.learn_many(X[:100], grades[:100], qid[:100])
    alone = model.decision_function_many(X, qid)
    for n_jobs in (2, 3, 7):
        assert np.array_equal(model.decision_function_many(X, qid, n_jobs=n_jobs), alone)
        assert np.array_equal(model.predict_many(X, n_jobs=n_jobs), model.predict_many(X))


def test_what_is_wrong_with_a_row_is_said_as_by_one_thread():
    X = np.ones((3000, 8))
    X[2999, 5] = np.nan
    X[1500, 2] = np.inf
    paired = Perceptron(degree=2, max_pairs=40)
    rows = sp.csr_array(np.triu(np.ones((20, 20)))[np.r_[np.full(2000, 13), 5]])
    for model, matrix, named in (
        (Perceptron(), X, "row 1500, column 2"),
        (Perceptron(), sp.csr_array(X), "row 1500, column 2"),
        (paired, rows, "row 2000"),
    ):
        errors = []
        for n_jobs in (None, 4):
            with pytest.raises(ValueError, match=named) as caught:
                model.predict_many(matrix, n_jobs=n_jobs)
            errors.append(str(caught.value))
        assert errors[0] == errors[1]


def test_few_rows_are_few_parts():
    model = Perceptron()
    model.learn_one({0: 1.0}, True)
    for n in (0, 1, 2):
        assert list(model.predict_many(np.ones((n, 3)), n_jobs=1000)) == [True] * n


@pytest.mark.parametrize("n_jobs", [0, -2, 1025, 1.5, True, "2"])
def test_a_number_of_threads_that_is_none(n_jobs):
    with pytest.raises(
        (TypeError, ValueError), match=r"n_jobs=.*None, -1 or an int from 1 to 1024"
    ):
        Perceptron().predict_many(np.ones((1, 1)), n_jobs=n_jobs)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="not on this system")
def test_minus_one_is_what_this_process_may_use():
    assert jobs_of(-1) == len(os.sched_getaffinity(0))
    assert jobs_of(None) == 1
