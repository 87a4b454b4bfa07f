"""The one list of learners, for model files and the command line.

A new learner needs a rule in the core, a class in its own module, and an entry here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from streamptron.doors.state import parameters_listed
from streamptron.learners.adaptive import AdaptiveClassifier
from streamptron.learners.arow import AROW
from streamptron.learners.mira import MIRA
from streamptron.learners.multilabel import MultiLabelClassifier
from streamptron.learners.perceptron import MulticlassPerceptron, Perceptron
from streamptron.learners.ranking import RankingPerceptron
from streamptron.learners.voted import VotedPerceptron

# By the name on the command line; the first is the default. Files have the names of the classes.
LEARNERS: dict[str, Any] = {
    "adaptive": AdaptiveClassifier,
    "multiclass": MulticlassPerceptron,
    "perceptron": Perceptron,
    "mira": MIRA,
    "arow": AROW,
    "voted": VotedPerceptron,
}
# Not on the command line, where a line is one event: the events of these are sets of candidates.
RANKERS = (RankingPerceptron,)
# For lines that have several labels.
MULTILABEL: dict[str, Any] = {"multilabel": MultiLabelClassifier}
BY_NAME = LEARNERS | MULTILABEL

BY_CLASS_NAME = {learner.__name__: learner for learner in (*BY_NAME.values(), *RANKERS)}


class Parameter(NamedTuple):
    """A parameter of some classes: a line of the table (engine/file/parameters_table.h)."""

    name: str
    learners: tuple[str, ...]  # names of classes, Tokenizer and Mail included
    kind: str
    low: float
    high: float
    default: Any
    words: tuple[str, ...]  # the words that it may be, possibly besides numbers
    wanted: str
    needs: tuple[str, str] | None  # it has an effect only if this other parameter has this value
    about: str


def _default_of(kind: str, start: float, words: tuple[str, ...]) -> Any:
    if kind == "TRUTH":
        return start != 0
    if kind == "WORD" or start < 0:
        return words[max(int(start), 0)]
    if kind in ("COUNT", "SPAN") or (kind == "COUNT_OR_NONE" and start):
        return int(start)
    if kind == "RANGE":
        return (int(start), int(start))
    return start if kind in ("NUMBER", "NUMBER_OR_WORD") else None


def _parameters() -> Iterator[Parameter]:
    lines, classes = parameters_listed()
    for name, of, kind, low, high, start, words, wanted, needs, about in lines:
        learners = tuple(kind for letter, kind in classes.items() if letter in of)
        default = _default_of(kind, start, words)
        needed = (needs.partition("=")[0], needs.partition("=")[2]) if needs else None
        yield Parameter(name, learners, kind, low, high, default, words, wanted, needed, about)


_OF_ALL = tuple(_parameters())
PARAMETERS = tuple(each for each in _OF_ALL if not {"Tokenizer", "Mail"} & {*each.learners})
TOKENS = _OF_ALL[len(PARAMETERS) :]  # those of Tokenizer and Mail


def parameters_of(kind: Any) -> dict[str, Parameter]:
    """The parameters of a class, a learner or a tokenizer, by their names."""
    return {each.name: each for each in _OF_ALL if kind.__name__ in each.learners}
