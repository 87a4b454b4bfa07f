"""Pictures of models, of what they learn and of how they answer, by matplotlib.

Each function draws on one Axes and returns it.
"""

from streamptron.plot.answers import calibration_curve, confusion_matrix
from streamptron.plot.history import mistakes_per_pass, training_curve
from streamptron.plot.plane import decision_boundary
from streamptron.plot.streams import memory, progressive_error
from streamptron.plot.vectors import projections, update
from streamptron.plot.weights import explanation, top_weights

__all__ = [
    "calibration_curve",
    "confusion_matrix",
    "decision_boundary",
    "explanation",
    "memory",
    "mistakes_per_pass",
    "progressive_error",
    "projections",
    "top_weights",
    "training_curve",
    "update",
]
