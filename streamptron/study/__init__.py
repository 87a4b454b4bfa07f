"""Passes over finite data, margins and bounds, and comparing learners on one stream."""

from streamptron.common.history import History, Pass
from streamptron.common.record import Window
from streamptron.study.compare import Comparison, Result, compare
from streamptron.study.margins import dataset_margin, geometric_margin, margin, mistake_bound
from streamptron.study.passes import fit
from streamptron.study.recorder import Recorder

__all__ = [
    "Comparison",
    "History",
    "Pass",
    "Recorder",
    "Result",
    "Window",
    "compare",
    "dataset_margin",
    "fit",
    "geometric_margin",
    "margin",
    "mistake_bound",
]
