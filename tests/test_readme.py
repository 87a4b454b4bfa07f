"""What README.md shows is what happens."""

import doctest
from pathlib import Path

from test_stranger import STRANGER

README = Path(__file__).resolve().parents[1] / "README.md"


def test_examples_of_the_readme_give_what_it_says():
    failures, tests = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert tests > 15
    assert failures == 0


def test_cython_of_the_readme_is_the_one_that_the_tests_compile():
    assert STRANGER in README.read_text(encoding="utf-8")
