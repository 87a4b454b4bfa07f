"""The classes that a model file may name.

They are in folders above this one, so `streamptron/__init__.py` passes them in. The name of a class
in a file is looked up here; nothing is imported because a file names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple


class Classes(NamedTuple):
    """Where a reader finds the classes that a file names.

    Attributes
    ----------
    learners
        The learners' classes, by their names.
    tokenizers
        The tokenizers' classes, by the part of a file that holds their parameters.
    pipelines
        Imports the module of pipelines: on demand, since River's is slow to import.
    wrappers
        Imports the module of classifiers for scikit-learn.
    """

    learners: Mapping[str, Any]
    tokenizers: Mapping[str, Any]
    pipelines: Callable[[], ModuleType]
    wrappers: Callable[[], ModuleType]


_sources: list[Callable[[], Classes]] = []


def come_from(source: Callable[[], Classes]) -> None:
    """Set the function that returns the classes; it is called when a file is read."""
    _sources[:] = [source]


def classes() -> Classes:
    """The classes."""
    return _sources[0]()
