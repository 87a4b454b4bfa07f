"""The benchmarks run. What they measure is not asserted here: a busy machine would fail it."""

import subprocess
import sys

import pytest

from tests.support.processes import environment
from tests.support.project import ROOT

BENCHMARKS = ROOT / "benchmarks"
SCRIPTS = sorted([*BENCHMARKS.glob("bench_*.py"), BENCHMARKS / "figures.py"])


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_benchmark_prints_its_header_before_any_number(script):
    pytest.importorskip("pandas")
    run = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{script.stem}", "--quick"],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    header, _, tables = run.stdout.partition("\n\n")
    said = [line.split()[0] for line in header.splitlines()]
    rows = ["command", "date", "options", "versions", "flags", "data", "machine", "load"]
    assert said[: len(rows)] == rows
    assert f"python -m benchmarks.{script.stem} --quick" in header
    assert tables or "skipped" in header
