"""A stranger's Cython code: it cimports us, and learns without the GIL.

STRANGER is what docs/threads.md shows, and SETUP is all that it takes to build it.
"""

import importlib.util
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import streamptron
from streamptron import Perceptron
from tests.support.marks import seeds
from tests.support.stranger import OLD_STRANGER, SETUP, STRANGER
from tests.support.variants import answers, every_variant, labels_for, learned, make

pytestmark = pytest.mark.slow  # a compiler is at work


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
            "CFLAGS": "-O1 -Wall -Wextra",
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


def test_names_of_an_earlier_layout_are_there(tmp_path):
    build(tmp_path, OLD_STRANGER)
    code = (
        "import stranger, numpy as np, streamptron as s; model = s.Perceptron(); "
        "stranger.learn(model, np.array([0, 1]), np.array([7]), np.array([2.0]), np.array([1])); "
        "print(model.weights)"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(streamptron.__file__).parents[1])])
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == "{7: 2.0}\n"


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
