"""The classes that a model file may name.

They stand above this folder, so they are handed in: `streamptron/__init__.py` says where they are.
A file's name of a class is looked up here, and nothing is imported because a file names it.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


class Classes(typing.NamedTuple):
    """Where a reader finds what a file names.

    Attributes
    ----------
    learners
        By the names of their classes.
    tokenizers
        By the parts of a file that hold their parameters.
    pipelines
        Imports the room of pipelines, which is slow because River's is.
    wrappers
        Imports the classifiers for scikit-learn.
    """

    learners: Mapping[str, Any]
    tokenizers: Mapping[str, Any]
    pipelines: Callable[[], ModuleType]
    wrappers: Callable[[], ModuleType]


_sources: list[Callable[[], Classes]] = []


def come_from(source: Callable[[], Classes]) -> None:
    """Say where the classes are; they are asked for when a file is read."""
    _sources[:] = [source]


def classes() -> Classes:
    """The classes."""
    return _sources[0]()
