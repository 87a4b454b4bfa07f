"""Saves that are held up, or killed, when all is written and the file has no name yet."""

import contextlib
import os
import signal
import subprocess
import sys
import threading

from streamptron import Perceptron
from tests.support.processes import environment

KILLED = """
import os, signal, sys
import streamptron
model = streamptron.Perceptron()
os.fsync = lambda number: os.kill(os.getpid(), signal.SIGKILL)
model.save(sys.argv[1])
"""


def killed(path):
    """A process is killed in the middle of saving a model."""
    command = [sys.executable, "-c", KILLED, os.fspath(path)]
    assert subprocess.run(command, env=environment()).returncode == -signal.SIGKILL


@contextlib.contextmanager
def held_up(monkeypatch, *paths):
    """Other threads save a model into each path and go on only when the block has ended."""
    go_on, waiting = threading.Event(), threading.Semaphore(0)
    fsync, mine, errors = os.fsync, threading.get_ident(), []

    def wait(number):
        if threading.get_ident() != mine:
            waiting.release()
            go_on.wait()
        fsync(number)

    def save(path):
        try:
            Perceptron().save(path)
        except OSError as error:
            errors.append(error)

    monkeypatch.setattr(os, "fsync", wait)
    threads = [threading.Thread(target=save, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert waiting.acquire(timeout=60)
    try:
        yield
    finally:
        go_on.set()
        for thread in threads:
            thread.join()
    assert errors == []
