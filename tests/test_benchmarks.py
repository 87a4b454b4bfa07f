"""The benchmarks run. What they measure is not asserted here: a busy machine would fail it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SCRIPTS = sorted([*BENCHMARKS.glob("bench_*.py"), BENCHMARKS / "figures.py"])


def environment():
    """In which another process has the same streamptron as this one, wherever that is."""
    path = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_benchmark_prints_its_header_before_any_number(script):
    pytest.importorskip("pandas")
    run = subprocess.run(
        [sys.executable, script, "--quick"],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    header, _, tables = run.stdout.partition("\n\n")
    said = [line.split()[0] for line in header.splitlines()]
    assert said[:7] == ["command", "options", "versions", "flags", "data", "machine", "load"]
    assert f"benchmarks/{script.name} --quick" in header
    assert tables or "skipped" in header
