"""Marks that many tests carry."""

import argparse
import os
import re
import zlib
from itertools import groupby, product

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


def turn(text):
    """K/N, as --turn has it."""
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not found or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"--turn {text}: it is K/N, as in 1/2, K from 1 to N")
    return int(found[1]), int(found[2])


def in_its_turn(items, k, n):
    """Of these tests the k-th of n parts: of each with parameters some of them, at least one.

    A sum over the parameters' names says which: each value of each parameter meets others than
    with every n-th in their order.
    """
    kept = set()
    for _, those in groupby(items, lambda item: item.nodeid.partition("[")[0]):
        those = list(those)
        part = [
            item
            for item in those
            if not hasattr(item, "callspec")
            or zlib.crc32(item.callspec.id.encode("utf-8", "surrogateescape")) % n == k - 1
        ]
        kept.update(part or those[:1])
    return kept
