"""A stranger's Cython code: it cimports us, and learns without the GIL.

STRANGER is what docs/threads.md shows, and SETUP is all that it takes to build it.
"""

import importlib.util
import os
import random
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import streamptron
from streamptron import MulticlassPerceptron, Perceptron
from tests.support.marks import seeds
from tests.support.stranger import SETUP, STRANGER
from tests.support.threads import eager, finished
from tests.support.variants import answers, every_variant, labels_for, learned, make

pytestmark = pytest.mark.slow  # a compiler is at work

# Python 3.15 has fields of a type that Cython 3.3 does not fill in.
KNOWN = "-Wno-missing-field-initializers" if sys.version_info >= (3, 15) else ""


def build(folder, code):
    """What building a stranger's module in a folder prints."""
    (folder / "stranger.pyx").write_text(code)
    (folder / "setup.py").write_text(SETUP)
    process = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(streamptron.__file__).parents[1]),
            "CFLAGS": f"-O1 -Wall -Wextra {KNOWN}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.returncode == 0, process.stdout
    return process.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The stranger's folder, and what its build printed."""
    folder = tmp_path_factory.mktemp("stranger")
    return folder, build(folder, STRANGER)


@pytest.fixture(scope="module")
def stranger(built):
    """The stranger's module."""
    (file,) = built[0].glob("stranger.*.so")
    spec = importlib.util.spec_from_file_location("stranger", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_matrix(rng, n_rows, n_names=50):
    """(starts, names, values): a sparse matrix without zeros, and its rows as events."""
    rows = [
        {
            name: rng.choice((1.0, -2.0, rng.gauss(0, 1) or 1.0))
            for name in rng.sample(range(-n_names, n_names), rng.randint(0, 8))
        }
        for _ in range(n_rows)
    ]
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    names = np.array([name for x in rows for name in x], dtype=np.int64)
    values = np.array([value for x in rows for value in x.values()], dtype=np.float64)
    return (starts, names, values), rows


def test_strangers_code_compiles_without_a_warning(built):
    assert "stranger.pyx" in built[1]
    for line in built[1].splitlines():
        assert "warning" not in line.lower()
        assert "hint" not in line.lower()


@seeds(2)
@every_variant
def test_stranger_learns_what_learn_one_learns(stranger, learner, variant, seed):
    if variant == "class weights":
        pytest.skip("below the doors a step is the sample weight times the class weight")
    rng = random.Random(seed)
    labels = labels_for(learner)
    model, plain = make(learner, variant), make(learner, variant)
    for label in labels:  # a label gets its name here, and the stranger knows its number
        model.learn_one({}, label)
        plain.learn_one({}, label)
    for _ in range(4):
        matrix, rows = random_matrix(rng, 60)
        ys = [rng.randrange(len(labels)) for _ in rows]
        stranger.learn(model, *matrix, np.array(ys, dtype=np.int64))
        for x, y in zip(rows, ys, strict=True):
            plain.learn_one(x, labels[y])
        assert learned(model) == learned(plain)
        # the scratch is shared: what the one left in it must not mislead the other
        for x in (rows[-1], rows[0], {"spam": 1}):
            assert answers(model, x) == answers(plain, x)
    assert model.n_seen == 240 + len(labels)


def test_other_threads_run_while_the_stranger_learns(stranger):
    rng = np.random.default_rng(1)
    n = 200_000
    starts = np.arange(0, 10 * n + 1, 10)
    names = rng.integers(0, 10_000, 10 * n)
    labels = rng.integers(0, 2, n)
    model = Perceptron()
    thread = threading.Thread(
        target=stranger.learn, args=(model, starts, names, np.ones(10 * n), labels)
    )
    thread.start()
    ticks = 0
    while thread.is_alive():
        ticks += 1
    assert model.n_seen == n
    assert ticks > 1000


@eager
def test_two_strangers_and_learn_one_wait_for_each_other(stranger):
    model = MulticlassPerceptron(intercept=False, serve="current")
    for label in range(4):
        model.learn_one({}, label)
    rng = np.random.default_rng(2)
    n, width, times = 500, 20, 20

    def learn_rows(value):  # names and values say whose they are
        starts = np.arange(0, width * n + 1, width)
        for _ in range(times):
            names = (rng.integers(0, 200, n)[:, None] + np.arange(width)) * 2 + value - 1
            values = np.full(width * n, float(value))
            stranger.learn(model, starts, names.ravel(), values, rng.integers(0, 4, n))

    def learn_events():
        for i in range(2_000):
            x = {f"w{i % 100 + j}": 4.0 for j in range(30)}
            model.learn_one(x, i % 4)
            assert model.predict_one(x) in range(4)

    finished(partial(learn_rows, 1), partial(learn_rows, 2), learn_events)
    assert model.n_seen == 4 + 2 * times * n + 2_000
    weights = {**model.weights[0], **model.weights[1], **model.weights[2], **model.weights[3]}
    assert len(weights) > 500
    for name, weight in weights.items():
        assert weight % (4 if isinstance(name, str) else 1 + name % 2) == 0
    model._check()


def test_a_model_that_is_only_read_refuses_the_stranger(stranger, tmp_path):
    model = Perceptron()
    model.learn_one({7: 1.0}, True)
    model.save(tmp_path / "m")
    mapped = streamptron.load(tmp_path / "m", mmap=True)
    matrix, rows = random_matrix(random.Random(3), 2)
    with pytest.raises(RuntimeError, match="mmap=True"):
        stranger.learn(mapped, *matrix, np.zeros(len(rows), dtype=np.int64))
    assert mapped.weights == model.weights
