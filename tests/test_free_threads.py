"""What many threads do to one model or one dict is what one of them does after the other.

Under an interpreter with a lock these tests say little more than tests/test_gate.py does. `make
free-threaded` runs them under one that has none.
"""

import pickle
import random
import subprocess
import sys
import sysconfig
import threading
from collections import Counter, OrderedDict, UserDict, defaultdict
from types import MappingProxyType

import pytest

from streamptron import MultiLabelClassifier, RankingPerceptron
from streamptron.learners.registry import BY_NAME
from tests.support.threads import eager, finished

LEARNERS = {learner.__name__: learner for learner in BY_NAME.values()}
WITHOUT_LOCK = sysconfig.get_config_var("Py_GIL_DISABLED") == 1
READERS = 8
NAMES = ["a", "b", "c", 1, 2.5, ("d", 1), "a name that is too long for a key", ("e", "long" * 9)]

IMPORTS = """
import importlib, sys
doors = "_core adaptive batch desk merges model multilabel names ranking rows".split()
doors += "shared state steps texts".split()
for name in ["engine.api", *(f"doors.{door}" for door in doors)]:
    importlib.import_module(f"streamptron.{name}")
    print(name, sys._is_gil_enabled())
"""


@pytest.mark.skipif(not WITHOUT_LOCK, reason="this interpreter has a lock")
def test_no_compiled_module_turns_the_interpreters_lock_on():
    call = [sys.executable, "-P", "-W", "error", "-c", IMPORTS]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    said = subprocess.check_output(call, text=True, env=environment).split()
    assert len(said) == 26
    assert {*said[1::2]} == {"False"}


def event(rng):
    return {name: rng.choice([0.5, 1, -2, True]) for name in rng.sample(NAMES, 5)}


def stream(name, seed):
    """Events as the learner takes them, and their labels."""
    rng = random.Random(seed)
    events = [event(rng) for _ in range(80)]
    if name == "RankingPerceptron":
        return [[x, event(rng), event(rng)] for x in events], [rng.randrange(3) for _ in events]
    labels = {"Perceptron": [True, False], "MultiLabelClassifier": [{"x"}, {"x", "y"}, set()]}
    return events, [rng.choice(labels.get(name, ["x", "y", "z"])) for _ in events]


def answers(model, x):
    """All that it says of an event, as a str."""
    return repr([model.predict_one(x), model.predict_proba_one(x)])


@pytest.mark.parametrize("name", LEARNERS)
@eager
def test_who_reads_beside_a_learner_sees_the_states_of_a_model_that_learns_alone(name):
    events, labels = stream(name, 1)
    probes = events[:READERS]
    twin = LEARNERS[name](hash_seed=1)
    probabilities = [{repr(twin.predict_proba_one(x))} for x in probes]
    for x, y in zip(events, labels, strict=True):
        twin.learn_one(x, y)
        for seen, probe in zip(probabilities, probes, strict=True):
            seen.add(repr(twin.predict_proba_one(probe)))

    model = LEARNERS[name](hash_seed=1)

    def learn():
        for x, y in zip(events, labels, strict=True):
            model.learn_one(x, y)

    def read(k):
        def run(stop):
            while not stop.is_set():
                assert repr(model.predict_proba_one(probes[k])) in probabilities[k]
                model.predict_one(probes[k])

        return run

    finished(learn, *map(read, range(READERS)))
    model._check()
    assert pickle.dumps(model) == pickle.dumps(twin)
    assert [answers(model, x) for x in events] == [answers(twin, x) for x in events]


@pytest.mark.parametrize("name", LEARNERS)
@eager
def test_events_that_several_threads_learn_are_each_learned_once(name):
    model = LEARNERS[name]()

    def learn(k):
        def run():
            for x, y in zip(*stream(name, k), strict=True):
                model.learn_one(x, y)
                model.predict_one(x)

        return run

    finished(*map(learn, range(READERS)))
    model._check()
    assert model.n_seen == READERS * 80


KINDS = {
    "dict": dict,
    "defaultdict": lambda x: defaultdict(float, x),
    "Counter": Counter,
    "UserDict": UserDict,
    "MappingProxyType": MappingProxyType,
}
if not WITHOUT_LOCK:  # its own methods are not safe there
    KINDS["OrderedDict"] = OrderedDict
PLUS = dict.fromkeys([f"w{i}" for i in range(40)], 1.0)
PLUS |= {f"a long name of the feature {i}": 1.0 for i in range(9)}
PLUS |= {("part", i): 1.0 for i in range(9)}
MINUS = dict.fromkeys(PLUS, -1.0)


@pytest.mark.parametrize("kind", KINDS)
@eager
def test_a_dict_that_another_thread_changes_is_read_at_one_moment_or_refused(kind):
    """All its values are 1, or all -1; some names of no weight come and go."""
    model = LEARNERS["Perceptron"](intercept=False, serve="current")
    model.learn_one(PLUS, True)
    x = KINDS[kind](dict(PLUS))
    inner = x.data if kind == "UserDict" else x
    if kind == "MappingProxyType":
        inner = dict(PLUS)
        x = MappingProxyType(inner)
    # in one call of C; dict.clear would leave an OrderedDict's own list of names as it was
    changed = OrderedDict if kind == "OrderedDict" else dict

    def change(stop):
        turn = 0
        while not stop.is_set():
            turn += 1
            changed.update(inner, MINUS if turn % 2 else PLUS)
            for i in range(50):
                inner[f"another long name, of turn {turn} and {i}"] = 1.0
            for i in range(50):
                del inner[f"another long name, of turn {turn} and {i}"]
            if turn % 10 == 0:
                changed.clear(inner)

    def read(learning):
        def run():
            for _ in range(300):
                try:
                    score = model.decision_function_one(x)
                    if learning:
                        model.learn_one(x, True, w=0.0)
                except RuntimeError as error:
                    if "changed" not in str(error):
                        raise
                else:
                    assert score in (len(PLUS), -len(PLUS), 0.0) or kind == "MappingProxyType"

        return run

    finished(change, read(False), read(False), read(True))
    model._check()


@eager
def test_candidates_and_odd_events_that_another_thread_changes_crash_nothing():
    ranking, several = RankingPerceptron(), MultiLabelClassifier()
    x = dict(PLUS)

    def change(stop):
        turn = 0
        while not stop.is_set():
            turn += 1
            x.update({f"name {turn} {i}": "a text" if i % 3 else 1 for i in range(30)})
            for i in range(30):
                del x[f"name {turn} {i}"]

    def use():
        for _ in range(100):
            ranking.learn_one([dict(PLUS), PLUS, PLUS], 0)
            ranking.predict_one([x, x, PLUS])
            several.learn_one(x, {"a"})
            several.predict_proba_one(x)

    finished(change, use, use)
    ranking._check()
    several._check()
    assert several.n_seen == 200


@eager
def test_numpys_scalars_are_known_whoever_meets_them_first():
    """They are registered once numpy has been loaded, perhaps by several threads at a time."""
    code = """
import threading
from streamptron import Perceptron
models = [Perceptron() for _ in range(8)]
import numpy as np
x = {np.str_("a"): np.float32(1), np.int64(3): np.float64(2), "b": np.int8(1)}
start = threading.Barrier(8)
def run(model):
    start.wait()
    model.learn_one(x, True)
threads = [threading.Thread(target=run, args=(model,)) for model in models]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert all(model.weights == {"a": 1.0, 3: 2.0, "b": 1.0} for model in models), models[0].weights
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


@eager
def test_a_text_shared_by_threads_has_one_dict_of_features():
    from streamptron import Tokenizer

    start = threading.Barrier(READERS)
    events = [Tokenizer().transform_one(f"some words of text {i}") for i in range(200)]

    def ask():
        start.wait()
        return [dict(x.items()) for x in events]

    found = finished(*[ask] * READERS)
    assert all(each == found[0] for each in found)
