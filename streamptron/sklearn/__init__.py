"""The learners as scikit-learn classifiers: `pip install "streamptron[sklearn]"`."""

from streamptron.sklearn.classifiers import (
    AdaptiveClassifier,
    AROWClassifier,
    MIRAClassifier,
    PerceptronClassifier,
    VotedPerceptronClassifier,
)
from streamptron.sklearn.multilabel import MultiLabelClassifier

__all__ = [
    "AROWClassifier",
    "AdaptiveClassifier",
    "MIRAClassifier",
    "MultiLabelClassifier",
    "PerceptronClassifier",
    "VotedPerceptronClassifier",
]
