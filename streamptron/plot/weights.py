"""Weights and contributions of features, as bars."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

from streamptron.common.checks import at_least_one
from streamptron.common.names import short_repr
from streamptron.estimator.looking import learner_of, ranks
from streamptron.plot.drawing import (
    Axes,
    axes_of,
    check_axes,
    draw_bars,
    ink,
    label_text,
    write_beside,
)

FOR, AGAINST = 0, 1  # the styles of bars for a label and against it


def top_weights(
    model: Any, n: int = 10, label: Hashable = None, ax: Axes | None = None, **kwargs: Any
) -> Axes:
    """Plot the features with the largest positive and negative weights.

    Parameters
    ----------
    model
        A learner, or a pipeline that ends in one. The weights are those that answer best overall,
        as in ``top_features``; in a hashed model the features are numbers of slots.
    n
        The largest number of features of each sign.
    label
        The label whose weights to draw. With two labels, the default is the one for which the score
        is positive; if each label has its own weights, it must be given.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.barh``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if the model has no weights yet. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> model = Perceptron.from_weights({"free": 2.0, "win": 1.0, "meeting": -3.0})
    >>> ax = plot.top_weights(model, ax=Figure().subplots())
    >>> names = [text.get_text() for text in ax.get_yticklabels()]
    >>> list(zip(names, [float(bar.get_width()) for bar in ax.patches], strict=True))
    [('free', 2.0), ('win', 1.0), ('meeting', -3.0)]
    """
    check_axes(ax)
    at_least_one("n", n)
    _, learner = learner_of(model)
    if ranks(learner):
        if label is not None:
            raise ValueError(f"label={short_repr(label)}; a RankingPerceptron has no labels")
        top, towards = learner.top_features(n), None
    else:
        if not learner._known_labels:
            raise ValueError("the model has seen no label yet: it has no weights")
        if label is None and learner._scores_by_label:
            raise ValueError(
                f"each label has its own weights; name one, label="
                f"{short_repr(learner._known_labels[0])} (the model knows "
                f"{short_repr(learner._known_labels, 200)})"
            )
        top = learner.top_features(n, label)
        towards = learner._towards if label is None else label
    bars = [*top.positive, *reversed(top.negative)]
    if not bars:
        raise ValueError("all weights of the model are 0: there is nothing to show")
    hashed = getattr(learner, "hash_bits", None) is not None
    ax = axes_of(ax)
    names = [f"slot {name}" if hashed else label_text(name) for name, _ in bars]
    signs = [FOR if weight > 0 else AGAINST for _, weight in bars]
    draw_bars(ax, [weight for _, weight in bars], names, signs, **kwargs)
    ax.axvline(0.0, color=ink(ax), linewidth=0.8)
    ax.set_xlabel("weight" if towards is None else f"weight towards {label_text(towards)}")
    return ax


def explanation(
    model: Any,
    x: Any,
    label: Hashable = None,
    n: int = 10,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Plot what each feature of an event adds to its score, as a waterfall from 0 to the score.

    Parameters
    ----------
    model
        A learner, or a pipeline that ends in one.
    x
        The event, as the model takes it; for a RankingPerceptron, the candidates.
    label
        The label to explain, as for ``explain_one``; for a RankingPerceptron, the candidate's id.
    n
        The largest number of features with their own bar; all smaller ones share one.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.barh``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or if the model has seen no label. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> model = Perceptron.from_weights({"free": 2.0, "meeting": -3.0}, intercept=0.5)
    >>> ax = plot.explanation(model, {"free": 1, "meeting": 1}, ax=Figure().subplots())
    >>> [(float(bar.get_x()), float(bar.get_width())) for bar in ax.patches]
    [(0.0, -3.0), (-3.0, 2.0), (-1.0, 0.5)]
    """
    check_axes(ax)
    at_least_one("n", n)
    tokenizer, learner = learner_of(model)
    if ranks(learner):
        parts = list((model if tokenizer is not None else learner).explain_one(x, label))
        goal = "lead of the best" if label is None else f"lead of {label_text(label)}"
    else:
        event = x if tokenizer is None else tokenizer.transform_one(x)
        parts = list(learner.explain_one(event, label))
        if label is None:
            label = learner.predict_one(event) if learner._scores_by_label else learner._towards
        goal = f"score for {label_text(label)}"
    bars = [(label_text(name), part) for name, part in parts[:n]]
    if rest := parts[n:]:
        bars.append((f"{len(rest)} others", math.fsum(part for _, part in rest)))
    if not bars:
        raise ValueError("no feature of the event has a weight: there is nothing to explain")
    score = math.fsum(part for _, part in parts)
    starts = [math.fsum(part for _, part in bars[:at]) for at in range(len(bars))]
    ax = axes_of(ax)
    names, lengths = zip(*bars, strict=True)
    signs = [FOR if part >= 0 else AGAINST for part in lengths]
    draw_bars(ax, lengths, names, signs, **{"height": 0.62, "left": starts, **kwargs})
    ends = [*starts[1:], score]
    for at in range(len(bars) - 1):
        ax.plot([ends[at]] * 2, [at, at + 1], color=ink(ax), linewidth=0.6, zorder=0)
    for at, (start, (_, part)) in enumerate(zip(starts, bars, strict=True)):
        text = f"{part:+.3g}".replace("-", "\N{MINUS SIGN}")
        write_beside(ax, text, (max(start, start + part), at), 3)
    ax.axvline(0.0, color=ink(ax), linewidth=0.8)
    ax.axvline(score, color=ink(ax), linewidth=0.8, linestyle="--")
    low, high = min(0.0, *starts, *ends), max(0.0, *starts, *ends)
    room = (high - low) or 1.0
    ax.set_xlim(low - 0.05 * room, high + 0.16 * room)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.set_xlabel(f"{goal}: {score:.4g}")
    return ax
