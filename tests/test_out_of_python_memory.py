"""When Python has no memory for an object, what was learned has its names, or nothing has changed.

Every allocation of Python's fails in turn, or some one after the other: its own tests have a call
for that. (If all did from one on, Python itself would end.) The core's memory is another matter:
tests/test_out_of_memory.py.
"""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from streamptron import (
    AROW,
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    VotedPerceptron,
)
from streamptron.doors.steps import learned

testcapi = pytest.importorskip("_testcapi", reason="this Python has no tests of its own")
LEARNERS = [AdaptiveClassifier, MulticlassPerceptron, MIRA, AROW, VotedPerceptron]
N_KNOWN = 6  # labels before
ROWS = 24


def label(i):
    return f"label {i % 17}" if i % 3 else (i % 7, "a tuple")


def row(i):
    return {i % 5: 1.0, 10 + i % 3: 2.0}


def one_by_one(model, first, last):
    for i in range(first, last):
        model.learn_one(row(i), label(i))


def matrix():
    x = np.zeros((ROWS, 13))
    for i in range(ROWS):
        for j, value in row(N_KNOWN + i).items():
            x[i, j] = value
    return sp.csr_matrix(x)


MATRIX = matrix()


def many(model):
    y = [label(N_KNOWN + i) for i in range(ROWS)]
    model.learn_many(MATRIX, y)


def one(model):
    model.learn_one(row(N_KNOWN), label(11))


def one_kept(model):
    # below json, whose encoder in C ends Python without memory
    learned(model, row(N_KNOWN), label(11), 1.0)


# Made ahead, as Python 3.11 has no memory for a tuple either while the allocations fail. The second
# is raised by sys.intern, of Python's own.
FAILURES = (MemoryError, SystemError)


def failing(model, call, n, stop):
    """Whether a call fails whose n-th allocation does, and those that follow up to `stop`."""
    testcapi.set_nomemory(n, stop)
    try:
        call(model)
    except FAILURES:
        return True
    finally:
        testcapi.remove_mem_hooks()
    return False


@pytest.mark.parametrize("together", [1, 6])
@pytest.mark.parametrize("call", [many, one, one_kept])
@pytest.mark.parametrize("learner", LEARNERS)
def test_what_was_learned_has_its_names_or_nothing_has_changed(learner, call, together):
    if call is one_kept and learner in (AROW, VotedPerceptron):
        pytest.skip("it takes no step back")
    base = learner(hash_seed=1)
    one_by_one(base, 0, N_KNOWN)
    data = pickle.dumps(base)
    call(pickle.loads(data))  # what is imported and made once is there
    n = n_failed = in_a_row = 0
    while in_a_row < 30:  # some failures are taken care of, so one that goes well is not the end
        n += 1
        model = pickle.loads(data)
        failed = failing(model, call, n, n + together)
        in_a_row = 0 if failed else in_a_row + 1
        n_failed += failed
        seen = model.n_seen - base.n_seen
        twin = pickle.loads(data)
        if call is many:
            one_by_one(twin, N_KNOWN, N_KNOWN + seen)
        elif seen:
            one(twin)
        assert model.labels == twin.labels
        state = pickle.dumps(model)  # which it has, whatever happened
        assert call is one_kept or state == pickle.dumps(twin), (n, failed, seen)
        assert call is many or failed == (seen == 0) or call is one_kept
        model.learn_one({1: 1.0}, label(1))  # a label that it knows
        twin.learn_one({1: 1.0}, label(1))
        assert model.labels == twin.labels
        assert model.predict_proba_one(row(3)) == twin.predict_proba_one(row(3))
    assert n_failed > 0
