"""The learners, each said once: model files and the command line go by this list.

A new learner is a rule in the core, a class in a module of its own, and an entry here.
"""

from __future__ import annotations

from typing import Any

from streamptron.adaptive import AdaptiveClassifier
from streamptron.arow import AROW
from streamptron.mira import MIRA
from streamptron.multilabel import MultiLabelClassifier
from streamptron.perceptron import MulticlassPerceptron, Perceptron
from streamptron.ranking import RankingPerceptron
from streamptron.voted import VotedPerceptron

# By the name on the command line, whose default is the first. Files have the names of the classes.
LEARNERS: dict[str, Any] = {
    "adaptive": AdaptiveClassifier,
    "multiclass": MulticlassPerceptron,
    "perceptron": Perceptron,
    "mira": MIRA,
    "arow": AROW,
    "voted": VotedPerceptron,
}
# Not on the command line, whose lines are events with a label: its events are sets of candidates.
RANKERS = (RankingPerceptron,)
# The same for lines that have several labels.
TAGGERS: dict[str, Any] = {"multilabel": MultiLabelClassifier}
BY_NAME = LEARNERS | TAGGERS

BY_CLASS_NAME = {learner.__name__: learner for learner in (*BY_NAME.values(), *RANKERS)}

# The parameters that not all of them have: a type, the allowed words, a type and the words allowed
# besides, or of a truth value its default; and the help of the command line, which adds the
# learners that have it. Which learner has which, its constructor says.
OWN: dict[str, tuple[type | tuple[str, ...] | tuple[type, str] | bool, str]] = {
    "margin": (float, "update if the lead is at most this."),
    "violators": (("best", "uniform", "proportional"), "which labels lose by a step."),
    "C": (float, "the largest step."),
    "update": (("margin", "mistake"), "when to update."),
    "r": (float, "the noise of a label."),
    "eta": (float, "how far a step goes."),
    "forget": (
        (float, "auto"),
        "how fast the steps become large again after a change; auto, of adaptive: once it errs "
        "more than it expects.",
    ),
    "naive_bayes": (True, "leave naive Bayes out."),
    "shape": (
        ("auto", "curve", "line"),
        "what columns of numbers say: lines, curves, or also surfaces of two columns.",
    ),
    "threshold": ((float, "f1"), "answer labels above this probability; f1: what suits F1 best."),
    "max_features": (int, "keep at most this many; the least important leave."),
    "budget": (int, "how many updates are kept at most."),
    "average": (("uniform", "exponential", "none"), "the average kept beside the current weights."),
    "half_life": (float, "of the exponential average, in events."),
    "pocket": (False, "keep the best recent weights."),
    "serve": (("best", "current", "average", "pocket"), "which weights answer."),
}
