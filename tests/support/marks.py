"""Marks that many tests carry."""

import os
from itertools import product

import pytest

on_posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


def slow(values, among):
    """The parameters `among`, of which some are left to `make check`."""
    return [pytest.param(x, marks=pytest.mark.slow) if x in values else x for x in among]


def seeds(n, n_slow=0):
    """The test runs with each of n seeds, in `make check` with some more; its name says which."""
    numbers = range(n + n_slow)
    return pytest.mark.parametrize("seed", slow(numbers[n:], among=numbers), ids="seed={}".format)


def in_turn(*axes, n=1):
    """Combinations of the axes' values, but of the last axis only n, in turn, instead of all.

    For a promise that two values could break together, not three: each two still meet where there
    are combinations enough of the others. A value of the first axes that is a tuple is several.
    """
    *others, last = map(list, axes)
    step = max(1, len(last) // n)
    return [
        (*row, last[(sum(places) + j * step) % len(last)])
        for places in product(*map(range, map(len, others)))
        for row in [flat(axis[place] for axis, place in zip(others, places, strict=True))]
        for j in range(n)
    ]


def flat(values):
    return [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
