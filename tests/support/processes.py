"""Other processes, with the same streamptron as this one."""

import os
import subprocess
import sys
from pathlib import Path

import streamptron


def environment():
    """In which another process has the same streamptron as this one, wherever that is."""
    # the package first: beside the tests lie its sources, which need not be what is installed
    path = os.pathsep.join([str(Path(streamptron.__file__).parents[1]), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}


def in_another_process(code, hash_seed="random"):
    """What Python prints in a process of its own, where str hashes are salted otherwise."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**environment(), "PYTHONHASHSEED": hash_seed},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
