"""docs/without-python.md: what its commands print is what it shows, with spt alone in the PATH."""

import pytest

from journeys.run import is_as_written, steps_of, walk
from tests.support.library import needs_compiler
from tests.support.programs import spt
from tests.support.project import ROOT

pytestmark = [needs_compiler, pytest.mark.once]


def test_the_commands_of_the_page_print_what_it_shows(tmp_path):
    (tmp_path / "spt").symlink_to(spt())
    steps = steps_of((ROOT / "docs" / "without-python.md").read_text("utf-8"))
    assert len(steps) > 5
    for step, answer in zip(steps, walk(steps, tmp_path), strict=True):
        assert is_as_written(step, answer), f"{step.typed}{answer}"
