"""Error-driven online linear learners for unbounded sparse event streams, as River estimators."""

from streamptron._core import TopFeatures
from streamptron._format import ModelFileError, load, read_metadata
from streamptron.checkpoint import Checkpoint
from streamptron.mira import MIRA
from streamptron.perceptron import MulticlassPerceptron, Perceptron
from streamptron.text import Tokenizer

__version__ = "0.1.0"

__all__ = [
    "MIRA",
    "Checkpoint",
    "ModelFileError",
    "MulticlassPerceptron",
    "Perceptron",
    "Tokenizer",
    "TopFeatures",
    "load",
    "read_metadata",
]
