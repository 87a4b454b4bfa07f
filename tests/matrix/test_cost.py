"""What a batch costs in memory."""

import gc
import random
import sys
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tests.support.marks import slow
from tests.support.matrices import (
    CALLS,
    NAN,
    both_ways,
    bytes_of,
    csr,
    is_frame,
    random_batch,
    widened,
)
from tests.support.processes import in_another_process
from tests.support.variants import every_learner, make


def large_batches():
    """Batches of 12 to 50 MB, by what they are."""
    rng = np.random.default_rng(1)
    n, size = 80_000, 40
    columns = rng.integers(0, 40, (n, 1)) + 50 * np.arange(size)
    values = rng.choice([0.5, 1.0, -1.0, 2.0], (n, size))
    starts = np.arange(0, n * size + 1, size)
    for name, dtype in (("CSR", np.int32), ("CSR of int64", np.int64)):
        indices = columns.ravel().astype(dtype)
        X = sp.csr_array((values.ravel(), indices, starts.astype(dtype)), shape=(n, 2000))
        yield name, X
    n = 40_000  # of these some would take long
    values = values[:n]
    small = np.array([0, 1, 2, 0], np.int8)[rng.integers(0, 4, (n, 320), np.int8)]
    yield "int8", small
    yield "truth values", small == 1
    yield "float, part", values.repeat(2, axis=1)[:, ::2]
    yield "float, Fortran, backwards", np.asfortranarray(values.repeat(2, axis=1))[:, ::-1]
    yield "float32", np.hstack([values, values, values]).astype(np.float32)
    yield "pandas", pd.DataFrame(np.hstack([values, values]))


@pytest.fixture(scope="module")
def large():
    return dict(large_batches())


LARGE = [
    "CSR",
    "CSR of int64",
    "int8",
    "truth values",
    "float, part",
    "float, Fortran, backwards",
    "float32",
    "pandas",
]


def most_allocated(call):
    """The most bytes that Python and numpy had for a call at any time."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("kind", LARGE)
@pytest.mark.parametrize("learner", slow(["MIRA"], among=["Perceptron", "MIRA"]))
def test_large_matrix_is_read_where_it_lies(learner, kind, large):
    X = large[kind]
    n = X.shape[0]
    assert bytes_of(X) > 12_000_000
    ys = np.arange(n) % 2
    model = make(learner)
    spare = 300_000
    named = {"feature_names": [f"feature {j}" for j in range(X.shape[1])]}
    for names in [{}] if is_frame(X) else [{}, named]:
        CALLS["learn_many"](model, X[:500], ys[:500], **names)
        for call in ("predict_many", "predict_proba_many", "decision_function_many"):
            # no more than the answers and their labels; as a series they are a list first
            most = most_allocated(partial(CALLS[call], model, X, ys, **names))
            assert most < (90 if is_frame(X) else 16) * n + spare
        # the labels and their numbers
        assert most_allocated(partial(CALLS["learn_many"], model, X, ys, **names)) < 40 * n + spare
    assert model.n_seen >= n + 500


GROWTH = """
import gc, sys
import numpy as np, scipy.sparse as sp
from streamptron import {learner}

def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024

def batch(n, first, size):
    columns = np.arange(first, first + n * size).reshape(n, size)
    indices = columns.ravel().astype(np.int32)
    indptr = np.arange(0, n * size + 1, size, dtype=np.int32)
    return sp.csr_array((np.ones(n * size), indices, indptr), shape=(n, {columns}))

def learn(n, first, size):
    model.learn_many(batch(n, first, size), labels[np.arange(n) % len(labels)], 2.0)

labels = np.array({labels})
model = {learner}(hash_seed=1, **{params})
other = {learner}(hash_seed=1, **{params})
other.learn_many(batch(500, 0, 100), labels[np.arange(500) % len(labels)], 2.0)  # warm up
del other
learn(40, 0, 1)
gc.collect()
before, held = resident(), model.memory_usage
for first in range(1000, {columns} - {step}, {step}):
    learn({step} // 100, first, 100)
gc.collect()
print(resident() - before, model.memory_usage - held, model.n_features)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("learner", "params", "labels", "step", "most"),
    [
        ("Perceptron", {}, [False, True], 2000, 48),
        ("Perceptron", {}, [False, True], 200_000, 48),
        ("Perceptron", {"average": "none"}, [False, True], 2000, 40),
        ("MIRA", {"pocket": True}, [0, 1, 2, 3, 4, 5], 2000, 310),
    ],
    ids=["in place", "on a copy", "no average", "six labels and a pocket"],
)
def test_memory_usage_is_what_the_process_has_grown_by(learner, params, labels, step, most):
    """Of a column that is learned: its key, its weights and its place among the columns."""
    code = GROWTH.format(learner=learner, params=params, labels=labels, step=step, columns=601_000)
    resident, usage, n_features = map(int, in_another_process(code).split())
    assert n_features > 350_000
    assert 0.75 < usage / resident < 1.25
    assert usage / n_features < most


@both_ways
@every_learner
def test_refused_and_learned_batches_leave_no_memory_behind(learner, way):
    dense, ys, _ = random_batch(random.Random(1), learner)
    dense = widened(dense, way)
    bad = dense.copy()
    bad[50, 3] = NAN
    names = [f"a name of more than fifteen bytes {j}" for j in range(dense.shape[1])]
    model = make(learner, budget=50)  # a VotedPerceptron without one keeps every update
    model.learn_many(dense, ys)
    model.learn_many(dense, ys, feature_names=names)

    def calls():
        for X in (dense, csr(dense, way)):
            for more in ({}, {"feature_names": names}):
                for call in CALLS.values():
                    call(model, X, ys, **more)
        for call in CALLS.values():
            with pytest.raises(ValueError, match="row 50"):
                call(model, bad, ys)

    calls()
    usage, things = model.memory_usage, len(gc.get_objects())
    references = [sys.getrefcount(thing) for thing in (dense, bad, ys, names, names[0])]
    for _ in range(3):
        calls()
    assert model.memory_usage < 1.1 * usage
    assert [sys.getrefcount(thing) for thing in (dense, bad, ys, names, names[0])] == references
    gc.collect()
    assert len(gc.get_objects()) < things + 1000
