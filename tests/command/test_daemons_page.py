"""docs/daemons.md: what its commands print is what it shows, by either program."""

import shlex
import sys
from contextlib import nullcontext

import pytest

from journeys.run import by_spt, is_as_written, steps_of, walk
from tests.support.programs import PROGRAMS, spt
from tests.support.project import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_commands_of_the_page_print_what_it_shows(program, tmp_path):
    tool = tmp_path / "streamptron"
    path = shlex.quote(str(ROOT))
    tool.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} -m streamptron "$@"\n')
    tool.chmod(0o755)
    steps = steps_of((ROOT / "docs" / "daemons.md").read_text("utf-8"))
    assert len(steps) > 25
    with by_spt(spt(), tmp_path) if program == "spt" else nullcontext(tmp_path) as commands:
        answers = walk(steps, commands)
    for step, answer in zip(steps, answers, strict=True):
        assert is_as_written(step, answer), f"{step.typed}{answer}"
