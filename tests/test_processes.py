"""A model works in other processes: forked ones, spawned ones, joblib's."""

import copy
import multiprocessing
import os
import random

import numpy as np
import pytest

from streamptron import Tokenizer
from tests.support.streams import random_events
from tests.support.variants import LEARNERS, answers, every_learner, labels_for, learned, make

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork")
methods = pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())


def stream(learner, seed):
    rng = random.Random(f"{learner}, {seed}")
    # a frozenset's own pickle depends on the process
    keys = ["str", "long", "non-ascii", "int", "tuple"][seed % 5]
    return list(random_events(rng, 120, keys=keys, values="real", labels=labels_for(learner)))


def learn(model, events):
    for x, y, w in events:
        model.learn_one(x, y, w)
    return model


def trained(learner, seed=0):
    return learn(make(learner, pocket=True), stream(learner, seed))


def learn_and_answer(model, events):
    """What another process is asked to do; what it knows afterwards, and says."""
    learn(model, events)
    return learned(model), [answers(model, x) for x, _, _ in events]


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@every_learner
def test_model_goes_on_in_parent_and_forked_child_each_for_itself(learner):
    model = trained(learner)
    text = Tokenizer().transform_one("word1 word2")
    model.predict_one(text)  # is in scratch
    for_parent, for_child = stream(learner, 1), stream(learner, 2)
    expected = [learn_and_answer(copy.deepcopy(model), some) for some in (for_parent, for_child)]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if answers(model, text) and learn_and_answer(model, for_child) == expected[1]:
                status = 0
        finally:
            os._exit(status)
    assert learn_and_answer(model, for_parent) == expected[0]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@methods
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_pool_maps_over_models(method):
    models = [trained(learner) for learner in LEARNERS]
    work = [(model, stream(learner, 3)) for model, learner in zip(models, LEARNERS, strict=True)]
    before = [learned(model) for model in models]
    with multiprocessing.get_context(method).Pool(2) as pool:
        done = pool.starmap(learn_and_answer, work)
    assert [learned(model) for model in models] == before
    assert done == [learn_and_answer(*some) for some in work]


def learn_rows(model, X, y):
    model.learn_many(X, y)
    return model


def test_joblib_learns_and_answers_in_its_processes():
    joblib = pytest.importorskip("joblib")
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (1500, 100)) * 1.0  # so large that joblib maps it read-only
    ys = {learner: rng.choice(labels_for(learner), len(X)).tolist() for learner in LEARNERS}
    models = {learner: trained(learner) for learner in LEARNERS}
    run = joblib.Parallel(n_jobs=2, backend="loky")
    done = run(joblib.delayed(learn_rows)(models[name], X, ys[name]) for name in LEARNERS)
    for name, model in zip(LEARNERS, done, strict=True):
        assert learned(model) == learned(learn_rows(models[name], X, ys[name]))
    asked = run(joblib.delayed(model.predict_many)(X[:50]) for model in done)
    assert [list(some) for some in asked] == [list(model.predict_many(X[:50])) for model in done]
