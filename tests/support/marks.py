"""Marks that many tests carry."""

import os

import pytest

on_posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


def slow(values, among):
    """The parameters `among`, of which some are left to `make check`."""
    return [pytest.param(x, marks=pytest.mark.slow) if x in values else x for x in among]


def seeds(n, n_slow=0):
    """The test runs with each of n seeds, in `make check` with some more; its name says which."""
    numbers = range(n + n_slow)
    return pytest.mark.parametrize("seed", slow(numbers[n:], numbers), ids="seed={}".format)
