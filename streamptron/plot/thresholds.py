"""One label against all others, at every threshold: ROC, precision, false positives."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamptron.common.names import short_repr
from streamptron.plot.answers import listed, probabilities, said_of
from streamptron.plot.drawing import LINES, Axes, axes_of, check_axes, ink, label_text, line_style

EDGE = 1e-3  # thresholds go from this to 1 minus this
GRID = 400
POINTS = 2000  # the most points of a curve


def roc_curve(
    y_true: Any, y_proba: Any, label: Hashable = None, ax: Axes | None = None, **kwargs: Any
) -> Axes:
    """Plot the share of a label's events that are found against the false positives.

    Each point is a threshold: events with at least that probability are taken for the label. The
    area under the curve is the probability that an event of the label has a higher score than
    another event.

    Parameters
    ----------
    y_true
        The labels of the events.
    y_proba
        For each event, what ``predict_proba_one`` returned, ``{label: probability}``; or a column
        per label, as from scikit-learn's ``predict_proba``; or a number that is larger if the label
        is more likely: its probability, or the score of ``decision_function_one``. For several
        models: ``{name: one of these}``.
    label
        The label to look for. None: True, if labels are truth values.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for every curve.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if all events have the label, or none. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import plot
    >>> labels, p = ["spam", "ham", "spam", "ham"], [0.9, 0.8, 0.7, 0.1]
    >>> ax = plot.roc_curve(labels, p, "spam", ax=Figure().subplots())
    >>> ax.get_legend().get_texts()[0].get_text()
    'area 0.75'
    """
    check_axes(ax)
    label, models = _judged(y_true, y_proba, label)
    curves = {}
    for name, judged in models.items():
        found, false = (counts / counts[-1] for counts in judged.counts())
        area = float(np.sum(np.diff(false) * (found[1:] + found[:-1]) / 2))
        curves[f"{name}area {area:.4g}"] = false, found
    ax = axes_of(ax)
    _draw(ax, curves, kwargs)
    ax.plot([0, 100], [0, 100], color=ink(ax), linestyle=":", linewidth=1)
    shown = label_text(label)
    ax.set(xlabel=f"others taken for {shown} (%)", ylabel=f"{shown} found (%)", aspect="equal")
    ax.legend(loc="lower right", title=_counted(models, label))
    return ax


def precision_recall_curve(
    y_true: Any, y_proba: Any, label: Hashable = None, ax: Axes | None = None, **kwargs: Any
) -> Axes:
    """Plot precision against recall, for one label.

    Precision is the share of the events taken for the label that have it; recall is the share of
    the label's events that are found. If the label is rare, this says more than `roc_curve`. The
    dotted line is the precision of taking events at random.

    Parameters
    ----------
    y_true
        The labels of the events.
    y_proba
        As for `roc_curve`; for several models, ``{name: one of these}``.
    label
        The label that is looked for. None: True, where labels are truth values.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for every curve.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if all events have the label, or none. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import plot
    >>> labels, p = ["spam", "ham", "spam", "ham"], [0.9, 0.8, 0.7, 0.1]
    >>> ax = plot.precision_recall_curve(labels, p, "spam", ax=Figure().subplots())
    >>> ax.get_legend().get_texts()[0].get_text()
    'mean precision 0.8333'
    """
    check_axes(ax)
    label, models = _judged(y_true, y_proba, label)
    curves = {}
    for name, judged in models.items():
        recall, precision = judged.precision()
        mean = float(np.sum(np.diff(recall) * precision[1:]))
        curves[f"{name}mean precision {mean:.4g}"] = recall, precision
    ax = axes_of(ax)
    _draw(ax, curves, {"drawstyle": "steps-pre", **kwargs})
    share = 100 * next(iter(models.values())).right.mean()
    ax.axhline(share, color=ink(ax), linestyle=":", linewidth=1)
    shown = label_text(label)
    ax.set(xlabel=f"{shown} found (%)", ylabel=f"{shown} among those taken for it (%)")
    ax.legend(loc="lower left", title=_counted(models, label))
    return ax


def false_positives(
    y_true: Any, y_proba: Any, label: Hashable = None, ax: Axes | None = None, **kwargs: Any
) -> Axes:
    """Plot the costs of each threshold: other events taken for the label, and its events missed.

    This helps to choose a threshold. Both axes are stretched where it matters: at probabilities
    near 0 and 1, and at few false positives.

    Parameters
    ----------
    y_true
        The labels of the events.
    y_proba
        As for `calibration_curve`: for each event ``{label: probability}``, or a column per label,
        or a number, the probability of `label`. For several models: ``{name: one of these}``.
    label
        The label that is looked for. None: True, where labels are truth values.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for every curve.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, if all events have the label, or none, or if a probability is not
        from 0 to 1. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import plot
    >>> labels, p = ["spam", "ham", "spam", "ham"], [0.9, 0.8, 0.7, 0.1]
    >>> ax = plot.false_positives(labels, p, "spam", ax=Figure().subplots())
    >>> [(line.get_label(), float(max(line.get_ydata()))) for line in ax.lines]
    [('false positives', 100.0), ('missed', 100.0)]
    """
    check_axes(ax)
    label, models = _judged(y_true, y_proba, label)
    for judged in models.values():
        strange = (judged.scores < 0) | (judged.scores > 1)
        if strange.any():
            row = int(np.flatnonzero(strange)[0])
            raise ValueError(
                f"y_proba[{row}] is {judged.scores[row]:g}; it must be a probability, from 0 to 1"
            )
    ax = axes_of(ax)
    edge = np.log(1 / EDGE - 1)
    thresholds = 1 / (1 + np.exp(np.linspace(edge, -edge, GRID + 1)))
    least = 100.0
    for at, (name, judged) in enumerate(models.items()):
        others = np.sort(judged.scores[~judged.right])
        mine = np.sort(judged.scores[judged.right])
        false = 1 - np.searchsorted(others, thresholds) / len(others)
        missed = np.searchsorted(mine, thresholds) / len(mine)
        least = min(least, 100 / len(others), 100 / len(mine))
        for line, (kind, shares) in enumerate({"false positives": false, "missed": missed}.items()):
            style = {**line_style(at), "linestyle": LINES[line], "label": f"{name}{kind}"}
            ax.plot(thresholds, 100 * shares, **{**style, **kwargs})
    from matplotlib.ticker import FixedLocator, FuncFormatter

    ax.set(xscale="logit", xlim=(EDGE, 1 - EDGE))
    ax.xaxis.set_major_locator(FixedLocator([0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.set_yscale("symlog", linthresh=least)
    ax.set_ylim(0, 130)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    wanted = f"least probability to be taken for {label_text(label)}"
    ax.set(xlabel=wanted, ylabel="share of the events (%)")
    ax.legend(title=_counted(models, label))
    return ax


# --- Scores and labels


class Judged(NamedTuple):
    """Scores, and which events have the label."""

    scores: NDArray[np.float64]
    right: NDArray[np.bool_]

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of events at or above each threshold, with the label and others; first 0, 0."""
        order = np.argsort(-self.scores, kind="stable")
        scores, right = self.scores[order], self.right[order]
        last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # of equal scores
        found = np.concatenate([[0], np.cumsum(right)[last]])
        return found, np.concatenate([[0], last + 1]) - found

    def precision(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Recall and precision; the first point has the precision of the second."""
        found, false = self.counts()
        precision = found[1:] / (found[1:] + false[1:])
        return found / found[-1], np.concatenate([precision[:1], precision])


def _judged(y_true: Any, y_proba: Any, label: Hashable) -> tuple[Hashable, dict[str, Judged]]:
    """The label, and each model's scores for it."""
    truths = listed("y_true", y_true)
    given = {"": y_proba} if not isinstance(y_proba, Mapping) else dict(y_proba)
    if not given:
        raise ValueError("y_proba is empty; give probabilities, or {name: probabilities}")
    if label is None:
        if strange := [truth for truth in truths if truth not in (True, False)]:
            raise ValueError(f"y_true has {short_repr(strange[0])}; name the label to find, label=")
        label = True
    right = np.array([truth == label for truth in truths], dtype=bool)
    found = {}
    for name, values in given.items():
        called = f"y_proba[{short_repr(name)}]" if isinstance(y_proba, Mapping) else "y_proba"
        each = probabilities(called, values, truths)
        scores = np.array([_score(called, row, value, label) for row, value in enumerate(each)])
        found[f"{label_text(name)}: " if name else ""] = Judged(scores, right)
    if right.all() or not right.any():
        raise ValueError(
            f"{'all' if right.all() else 'no'} events have the label {short_repr(label)}; give "
            "some events with it and some without"
        )
    return label, found


def _score(called: str, row: int, value: Any, label: Hashable) -> float:
    value = said_of(f"{called}[{row}]", value, label)
    try:
        score = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{called}[{row}] is {short_repr(value)}; it must be a number") from None
    if not np.isfinite(score):
        raise ValueError(f"{called}[{row}] is {score}; it must be finite")
    return score


# --- Lines


def _draw(ax: Axes, curves: Mapping[str, tuple[Any, Any]], style: dict[str, Any]) -> None:
    """Draw curves in percent: both their ends, and no more points than the eye can tell apart."""
    for at, (name, (xs, ys)) in enumerate(curves.items()):
        some = np.unique(np.linspace(0, len(xs) - 1, POINTS).astype(np.intp))
        ax.plot(100 * xs[some], 100 * ys[some], **{**line_style(at), "label": name, **style})
    ax.set(xlim=(-2, 102), ylim=(-2, 102))


def _counted(models: Mapping[str, Judged], label: Hashable) -> str:
    right = next(iter(models.values())).right
    return f"{right.sum()} {label_text(label)}, {(~right).sum()} others"
