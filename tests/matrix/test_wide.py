"""Very wide matrices, and columns that are the ints of dicts."""

import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from streamptron import Perceptron
from tests.support.doors import refused
from tests.support.marks import seeds
from tests.support.matrices import (
    CALLS,
    WAYS,
    assert_answers_alike,
    both_ways,
    every_call,
    learn_each,
    padded,
)
from tests.support.variants import COPIES, answers, every_learner, labels_for, make


@seeds(3)
@every_learner
def test_columns_are_the_ints_that_dicts_have(learner, seed):
    """Ints of any sign and size, learned before and after, and floats, are not columns."""
    rng = random.Random(f"{learner}, {seed}")
    model, twin = make(learner), make(learner)
    others = [-1, -2, 0.5, 2.5, 40, 41, 10**6, 2**32, 2**40 + 1, 2**61 - 2, 2**61, 2**64, "0", "1"]
    labels = labels_for(learner)
    for width in (3, 8, 2, 50, 50, 2000, 7, 100_000):
        for _ in range(20):
            x = {rng.choice([*others, *range(60)]): rng.gauss(0, 1) for _ in range(6)}
            y = rng.choice(labels)
            assert answers(model, x) == answers(twin, x)
            model.learn_one(x, y)
            twin.learn_one(x, y)
        n = rng.randint(5, 20)
        columns = rng.sample(range(width), min(width, 30))
        X = sp.lil_array((n, width))
        for row in range(n):
            for column in rng.sample(columns, min(2, width)):
                X[row, column] = rng.gauss(0, 1)
        X = sp.csr_array(X)
        rows = [
            dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in pairwise(X.indptr.tolist())
        ]
        ys = [rng.choice(labels) for _ in range(n)]
        assert_answers_alike(model, twin, X, rows)
        model.learn_many(padded(X, rng.choice(WAYS)), ys)
        learn_each(twin, rows, ys)
        if rng.random() < 0.3:
            model = COPIES[rng.choice(list(COPIES))](model)
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert model.weights == twin.weights


@both_ways
@pytest.mark.parametrize(
    "width", [2**22 - 1, 2**22, 2**22 + 1, 2**31 - 1, 2**31, 2**32, 2**32 + 2, 2**61 - 1]
)
@pytest.mark.parametrize("params", [{}, {"hash_bits": 12}], ids=["exact", "hashed"])
@every_learner
def test_very_wide_matrix_is_learned_as_its_rows(learner, params, width, way):
    rng = random.Random(f"{learner}, {width}")
    columns = sorted({0, 1, 7, 255, width // 3, width - 2, width - 1, min(width, 2**32) - 1})
    rows = [
        {column: rng.gauss(0, 1) for column in columns if rng.random() < 0.5} for _ in range(80)
    ]
    dtype = np.int64 if width > 2**31 - 1 else np.int32
    X = sp.csr_array(
        (
            [value for x in rows for value in x.values()],
            np.array([column for x in rows for column in x], dtype),
            np.cumsum([0, *map(len, rows)], dtype=dtype),
        ),
        shape=(80, width),
    )
    assert X.indices.dtype == dtype
    ys = [rng.choice(labels_for(learner)) for _ in rows]
    model, twin = (make(learner, **params) for _ in range(2))
    for first in (0, 40):
        model.learn_many(padded(X[first : first + 40], way), ys[first : first + 40])
        learn_each(twin, rows[first : first + 40], ys[first : first + 40])
        assert_answers_alike(model, twin, X, rows)
        x = {width - 1: 1.0, 7: 1.0, width: 1.0}
        assert answers(model, x) == answers(twin, x)
    assert pickle.dumps(model) == pickle.dumps(twin)
    # the same rows shuffled, each entry in two halves
    halves = sp.csr_array(
        (
            np.repeat(X.data[::-1] / 2, 2),
            np.repeat(X.indices[::-1], 2),
            2 * (X.nnz - X.indptr[::-1]),
        ),
        shape=X.shape,
    )
    model.learn_many(halves, ys[::-1])
    learn_each(twin, rows[::-1], ys[::-1])
    assert pickle.dumps(model) == pickle.dumps(twin)


@every_call
@pytest.mark.parametrize("width", [2**61, 2**63 - 1])
def test_matrix_of_more_columns_than_can_be_told_apart_is_refused(width, call):
    X = sp.csr_array((np.ones(1), np.array([0]), np.array([0, 1])), shape=(1, width))
    refused(
        Perceptron(),
        lambda model: CALLS[call](model, X, [True]),
        "X has",
        str(width),
        "columns",
        error=ValueError,
    )


@pytest.mark.parametrize("params", [{}, {"hash_bits": 12}], ids=["exact", "hashed"])
def test_array_of_more_columns_than_a_model_keeps_at_hand_is_learned_as_its_rows(params):
    dense = np.zeros((2, 2**22 + 10), np.int8)
    dense[0, [0, 5, 2**22 - 1]] = 1, 2, 3
    dense[1, [0, 2**22, 2**22 + 9]] = 1, -2, -3
    rows = [{0: 1, 5: 2, 2**22 - 1: 3}, {0: 1, 2**22: -2, 2**22 + 9: -3}]
    model, twin = (make("Perceptron", **params) for _ in range(2))
    model.learn_many(dense, [False, True])
    learn_each(twin, rows, [False, True])
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert_answers_alike(model, twin, dense, rows)
