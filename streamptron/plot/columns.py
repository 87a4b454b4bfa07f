"""What a model thinks of a column of numbers: an additive model's picture."""

from __future__ import annotations

import math
import typing
from collections.abc import Hashable
from typing import Any

import numpy as np

from streamptron.doors.adaptive import AdaptiveModel
from streamptron.estimator.names import shown, type_shown
from streamptron.plot.drawing import axes_of, check_axes, ink, line_style, name_lines, said, whole
from streamptron.study.data import learner_of

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 121  # of a line
NEAR = 1e-3  # of the mean, by which it may differ from the size of values that are all negative
TINY = 1e-9  # of a standard deviation
WIDTH = 3.0  # how many standard deviations it goes to both sides


def column(model: Any, name: Hashable, n: int = 6, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """What a column of numbers adds to the score, from low values to high ones.

    All other columns are at their means, and there are no words. The band is where the column's
    values lie, one standard deviation to each side of the mean, which is the line in it. A column
    that was never negative is drawn from 0 on, and one that was never positive up to 0.

    Parameters
    ----------
    model
        An AdaptiveClassifier, or a pipeline that ends in one.
    name
        The column: a feature that many events have, and whose value varies.
    n
        At most how many labels have a line, those for which the column does most. Two labels share
        one.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if the model has no such column. Nothing is drawn then.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import AdaptiveClassifier, plot
    >>> model = AdaptiveClassifier()
    >>> for age in range(20, 80):
    ...     model.learn_one({"age": age}, age > 50)
    >>> ax = plot.column(model, "age", ax=Figure().subplots())
    >>> line = ax.lines[-1].get_ydata()
    >>> bool(line[0] < 0 < line[-1])
    True
    """
    check_axes(ax)
    whole("n", n)
    _, learner = learner_of(model)
    (mean, deviation, size), others = _usual(learner, name)
    edge = TINY * deviation  # of all values that are positive, or negative: 0 itself may be a gap
    least = edge if math.copysign(1.0, size) > 0.0 else -math.inf
    most = -edge if abs(abs(size) + mean) <= NEAR * -mean else math.inf
    low, high = (min(max(mean + side * deviation, least), most) for side in (-1.0, 1.0))
    first = max(mean - WIDTH * deviation, least)
    xs = np.linspace(first, min(mean + WIDTH * deviation, most), POINTS)
    labels = learner._known_labels if learner._scores_by_label else [None]
    events = [{**others, name: x} for x in xs.tolist()]
    lines = {
        label: [dict(learner.explain_one(event, label)).get(name, 0.0) for event in events]
        for label in labels
    }
    drawn = sorted(lines, key=lambda label: min(lines[label]) - max(lines[label]))[:n]
    ax = axes_of(ax)
    ax.axvspan(low, high, color=ink(ax), alpha=0.08, linewidth=0)
    ax.axvline(mean, color=ink(ax), linewidth=0.8, alpha=0.5)
    ax.axhline(0.0, color=ink(ax), linewidth=0.8)
    named = {}
    for at, label in enumerate(drawn):
        (named[said(label)],) = ax.plot(xs, lines[label], **{**line_style(at), **kwargs})
    if labels == [None]:
        ax.set_ylabel(f"part of the score for {said(learner._towards)}")
    else:
        ax.set_ylabel("part of the label's score")
        name_lines(ax, named)
    ax.set_xlabel(said(name))
    ax.set_xlim(xs[0], xs[-1])
    return ax


def _usual(learner: Any, name: Hashable) -> tuple[list[float], dict[Hashable, float]]:
    """A column's mean, standard deviation and mean size, and the means of the other columns."""
    if not isinstance(learner, AdaptiveModel):
        raise TypeError(
            f"the model is {type_shown(learner)}, which keeps no columns of numbers; an "
            "AdaptiveClassifier does, and top_weights draws the weights of any"
        )
    if learner.hash_bits is not None:
        raise ValueError("a model with hash_bits keeps no names: its columns cannot be drawn")
    if learner.degree != 1 or learner.interactions:
        raise ValueError(
            "of pairs of features no column stands alone; draw a model without degree and "
            "interactions"
        )
    columns = learner._columns()
    if name not in columns:
        raise ValueError(
            f"{shown(name)} is no column of numbers: "
            + (
                f"the model has {shown(list(columns), 200)}"
                if columns
                else "the model has none. A column is what half of the events have, with values "
                "that vary"
            )
        )
    spread = columns.pop(name)
    if not (math.isfinite(spread[1]) and spread[1] > 0.0):
        raise ValueError(f"the values of {shown(name)} hardly vary: there is nothing to draw")
    return spread, {other: usual for other, (usual, *_) in columns.items() if usual}
