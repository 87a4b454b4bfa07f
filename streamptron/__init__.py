"""Online linear learners for unbounded sparse event streams, as River estimators."""

import typing

from streamptron.common import compiled as _compiled  # noqa: F401  which finds those below

try:
    from streamptron.learners.adaptive import AdaptiveClassifier
except ModuleNotFoundError as _error:
    if str(_error.name).startswith("streamptron."):
        raise ImportError(
            f"streamptron is not built in {__path__[0]!r}; start Python in another folder to use "
            "the installed one, or build this one: python setup.py build_ext -i"
        ) from _error
    raise
from streamptron.common.errors import ModelFileError, ParameterError
from streamptron.common.names import Pair
from streamptron.estimator.base import TopFeatures
from streamptron.keeping.classes import Classes as _Classes
from streamptron.keeping.classes import come_from as _come_from
from streamptron.learners.arow import AROW
from streamptron.learners.mira import MIRA
from streamptron.learners.perceptron import MulticlassPerceptron, Perceptron
from streamptron.learners.text import Tokenizer

if typing.TYPE_CHECKING:
    from streamptron.estimator.looking import decision_function_one, explain_one, top_features
    from streamptron.keeping.checkpoint import Checkpoint
    from streamptron.keeping.journal import Journal
    from streamptron.keeping.lock import ModelLock, ModelLockError
    from streamptron.keeping.merging import Delta, merge
    from streamptron.keeping.read import load, read_metadata
    from streamptron.keeping.tickets import Step, Ticket
    from streamptron.keeping.write import save
    from streamptron.learners.learn_unsure import LearnUnsure
    from streamptron.learners.mail import Mail
    from streamptron.learners.multilabel import MultiLabelClassifier
    from streamptron.learners.ranking import RankingPerceptron
    from streamptron.learners.voted import VotedPerceptron

    __version__: str

__all__ = [
    "AROW",
    "MIRA",
    "AdaptiveClassifier",
    "Checkpoint",
    "Delta",
    "Journal",
    "LearnUnsure",
    "Mail",
    "ModelFileError",
    "ModelLock",
    "ModelLockError",
    "MultiLabelClassifier",
    "MulticlassPerceptron",
    "Pair",
    "ParameterError",
    "Perceptron",
    "RankingPerceptron",
    "Step",
    "Ticket",
    "Tokenizer",
    "TopFeatures",
    "VotedPerceptron",
    "decision_function_one",
    "explain_one",
    "get_include",
    "load",
    "merge",
    "read_metadata",
    "save",
    "top_features",
]

# Imported on first use: programs without model files, say, do not load what reads them.
_ROOMS = {
    "Checkpoint": "keeping.checkpoint",
    "Delta": "keeping.merging",
    "Journal": "keeping.journal",
    "LearnUnsure": "learners.learn_unsure",
    "Mail": "learners.mail",
    "ModelLock": "keeping.lock",
    "ModelLockError": "keeping.lock",
    "MultiLabelClassifier": "learners.multilabel",
    "RankingPerceptron": "learners.ranking",
    "Step": "keeping.tickets",
    "Ticket": "keeping.tickets",
    "VotedPerceptron": "learners.voted",
    "decision_function_one": "estimator.looking",
    "explain_one": "estimator.looking",
    "load": "keeping.read",
    "merge": "keeping.merging",
    "read_metadata": "keeping.read",
    "save": "keeping.write",
    "top_features": "estimator.looking",
}


def _classes() -> _Classes:
    """What model files may name, for keeping/read.py, which stands below it."""
    from functools import partial
    from importlib import import_module

    from streamptron.learners.mail import Mail
    from streamptron.learners.registry import BY_CLASS_NAME

    return _Classes(
        BY_CLASS_NAME,
        {"tokenizer": Tokenizer, "mail": Mail},
        partial(import_module, "streamptron.estimator.pipeline"),
        partial(import_module, "streamptron.sklearn"),
    )


_come_from(_classes)


def get_include() -> list[str]:
    """The folders of the C headers that the package's Cython declarations include.

    Returns
    -------
    list of str
        For ``include_dirs`` of an ``Extension`` whose code cimports from streamptron.

    Examples
    --------
    >>> import os
    >>> import streamptron
    >>> [os.path.basename(folder) for folder in streamptron.get_include()]
    ['engine', 'doors']
    """
    import os

    return [os.path.join(__path__[0], folder) for folder in ("engine", "doors")]


def __getattr__(name: str) -> typing.Any:
    if name == "__version__":
        from streamptron.common.version import version

        return version()
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, "__version__"})
