"""Pictures of models, of what they learn and of how they answer, by matplotlib.

Each function draws on one Axes and returns it.
"""

from streamptron.plot.answers import calibration_curve, confusion_matrix
from streamptron.plot.columns import column
from streamptron.plot.errors import errors, errors_by_label
from streamptron.plot.history import mistakes_per_pass, training_curve
from streamptron.plot.plane import decision_boundary
from streamptron.plot.streams import memory, progressive_error
from streamptron.plot.surfaces import gates, surface
from streamptron.plot.thresholds import false_positives, precision_recall_curve, roc_curve
from streamptron.plot.vectors import projections, update
from streamptron.plot.weights import explanation, top_weights

__all__ = [
    "calibration_curve",
    "column",
    "confusion_matrix",
    "decision_boundary",
    "errors",
    "errors_by_label",
    "explanation",
    "false_positives",
    "gates",
    "memory",
    "mistakes_per_pass",
    "precision_recall_curve",
    "progressive_error",
    "projections",
    "roc_curve",
    "surface",
    "top_weights",
    "training_curve",
    "update",
]
