"""Other processes, with the same streamptron as this one."""

import os
import subprocess
import sys


def environment():
    """In which another process has the same streamptron as this one, wherever that is."""
    path = os.pathsep.join(filter(None, sys.path))
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
