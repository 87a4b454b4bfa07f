"""Marks that many tests carry."""

import os

import pytest

on_posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


def seeds(n):
    """The test runs with each of n seeds; its name says with which."""
    return pytest.mark.parametrize("seed", range(n), ids="seed={}".format)
