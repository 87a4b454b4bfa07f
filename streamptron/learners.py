"""The learners, each said once: model files and the command line go by this list.

A new learner is a rule in the core, a class in a module of its own, and an entry here.
"""

from __future__ import annotations

import typing

from streamptron.mira import MIRA
from streamptron.perceptron import MulticlassPerceptron, Perceptron

if typing.TYPE_CHECKING:
    from typing import Any


class Parameter(typing.NamedTuple):
    """A parameter that not every learner has, as the command line offers it.

    Attributes
    ----------
    name
        As the class has it.
    kind
        The type of its values, or the words that it may be.
    help
        What the command line says about it.
    """

    name: str
    kind: type | tuple[str, ...]
    help: str


class Learner(typing.NamedTuple):
    """A learner. Model files call it by the name of its class.

    Attributes
    ----------
    option
        Its name on the command line.
    kind
        The class.
    own
        The parameters that not every learner has.
    """

    option: str
    kind: Any
    own: tuple[Parameter, ...]


MARGIN = Parameter("margin", float, "Update if the lead is at most this.")

# The first is the command line's default.
LEARNERS = (
    Learner("multiclass", MulticlassPerceptron, (MARGIN,)),
    Learner("perceptron", Perceptron, (MARGIN,)),
    Learner(
        "mira",
        MIRA,
        (
            Parameter("C", float, "MIRA: the largest step."),
            Parameter("update", ("margin", "mistake"), "MIRA: when to update."),
        ),
    ),
)

BY_CLASS_NAME = {learner.kind.__name__: learner.kind for learner in LEARNERS}
BY_OPTION = {learner.option: learner.kind for learner in LEARNERS}
