"""A process that learns and checkpoints, and is killed at random moments; see test_checkpoint.py.

What it learns depends on the number of the event alone, so that the model of any moment can be made
again.
"""

import os
import random
import select
import subprocess
import sys
import time
import warnings
from pathlib import Path

from streamptron import Checkpoint, MulticlassPerceptron
from tests.support.processes import environment
from tests.support.variants import learned

KEEP = 3


def event(t):
    """The event number t of the stream: a few of many words, some of them long."""
    rng = random.Random(t)
    words = [f"a word that is not short {rng.randrange(20_000)}" for _ in range(30)]
    return dict.fromkeys(words, 1), f"label {rng.randrange(5)}"


def model_after(t, model=None):
    """The model that has learned the first t events; goes on from one that has learned fewer."""
    model = model or MulticlassPerceptron(hash_seed=1)
    for number in range(model.n_seen, t):
        model.learn_one(*event(number))
    return model


def daemon(path):
    """Go on from the newest checkpoint, for ever; say what has been saved."""
    model = Checkpoint.newest(path) or MulticlassPerceptron(hash_seed=1)
    checkpoint = Checkpoint(model, path, every_events=7, keep=KEEP)
    while True:
        model.learn_one(*event(model.n_seen))
        if checkpoint.step(position=("stream", model.n_seen)):
            os.write(1, b"%d\n" % model.n_seen)


def killed_once(rng, path, saved):
    """Start the daemon, and kill it a moment after its first save. The last that it has said."""
    code = f"from tests.support import killed; killed.daemon({str(path)!r})"
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code], env=environment(), stdout=subprocess.PIPE
    ) as process:
        try:
            ready, _, _ = select.select([process.stdout], [], [], 120)
            assert ready, "the daemon saves nothing"
            time.sleep(rng.random() * 0.05)
        finally:
            process.kill()
        said = process.stdout.read().split(b"\n")
    return max([saved, *(int(line) for line in said[:-1])])


def kill(n, seed, folder):
    """Kill the daemon n times, and look what is left: how often a half-written file; events."""
    rng = random.Random(seed)
    path = Path(folder, "model")
    saved, within = 0, 0
    again = None
    for _ in range(n):
        saved = killed_once(rng, path, saved)
        left = list(path.parent.iterdir())
        within += any(file.suffix == ".tmp" for file in left)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no file may be damaged
            model, _, position, _ = Checkpoint.newest_saved(path)
        assert model.n_seen >= saved, f"{saved} events were saved, {model.n_seen} are there"
        saved = model.n_seen
        assert position == ("stream", saved)
        again = model_after(saved, again)
        assert learned(model) == learned(again)
        numbered = [file for file in left if file.suffix != ".tmp"]
        assert min(KEEP, saved // 7) <= len(numbered) <= KEEP + 1
        assert len(left) - len(numbered) <= 1
    return within, saved
