"""Online linear learners for unbounded sparse event streams, as River estimators."""

import typing

from streamptron import compiled as _compiled  # noqa: F401  the modules below are found by it

try:
    from streamptron.adaptive import AdaptiveClassifier
except ModuleNotFoundError as _error:
    if str(_error.name).startswith("streamptron."):
        raise ImportError(
            f"streamptron is not built in {__path__[0]!r}; start Python in another folder to use "
            "the installed one, or build this one: python setup.py build_ext -i"
        ) from _error
    raise
from streamptron.arow import AROW
from streamptron.doors.model import TopFeatures
from streamptron.errors import ParameterError
from streamptron.estimator.names import Pair
from streamptron.mira import MIRA
from streamptron.perceptron import MulticlassPerceptron, Perceptron
from streamptron.text import Tokenizer

if typing.TYPE_CHECKING:
    from streamptron.checkpoint import Checkpoint
    from streamptron.journal import Journal
    from streamptron.looking import decision_function_one, explain_one, top_features
    from streamptron.mail import Mail
    from streamptron.merging import Delta, merge
    from streamptron.modelfile.layout import ModelFileError
    from streamptron.modelfile.lock import ModelLock, ModelLockError
    from streamptron.modelfile.read import load, read_metadata
    from streamptron.modelfile.write import save
    from streamptron.multilabel import MultiLabelClassifier
    from streamptron.ranking import RankingPerceptron
    from streamptron.thick import LearnUnsure
    from streamptron.tickets import Step, Ticket
    from streamptron.voted import VotedPerceptron

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
    "Checkpoint": "checkpoint",
    "Delta": "merging",
    "Journal": "journal",
    "LearnUnsure": "thick",
    "Mail": "mail",
    "ModelFileError": "modelfile.layout",
    "ModelLock": "modelfile.lock",
    "ModelLockError": "modelfile.lock",
    "MultiLabelClassifier": "multilabel",
    "RankingPerceptron": "ranking",
    "Step": "tickets",
    "Ticket": "tickets",
    "VotedPerceptron": "voted",
    "decision_function_one": "looking",
    "explain_one": "looking",
    "load": "modelfile.read",
    "merge": "merging",
    "read_metadata": "modelfile.read",
    "save": "modelfile.write",
    "top_features": "looking",
}


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
        from streamptron.version import version

        return version()
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, "__version__"})
