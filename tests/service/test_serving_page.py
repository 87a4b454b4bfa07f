"""docs/serving.md: what its commands print is what it shows."""

import shlex
import shutil
import sys

import pytest

from journeys.run import is_as_written, steps_of, walk
from tests.support.project import ROOT

pytest.importorskip("starlette")


pytestmark = [pytest.mark.once, pytest.mark.slow]  # each starts servers


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_commands_of_the_page_print_what_it_shows(tmp_path):
    tool = tmp_path / "streamptron"
    path = shlex.quote(str(ROOT))
    tool.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} -m streamptron "$@"\n')
    tool.chmod(0o755)
    steps = steps_of((ROOT / "docs" / "serving.md").read_text("utf-8"))
    assert len(steps) > 10
    for step, answer in zip(steps, walk(steps, tmp_path), strict=True):
        assert is_as_written(step, answer), f"{step.typed}{answer}"
