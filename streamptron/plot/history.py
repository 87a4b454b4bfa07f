"""Pictures of the passes of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamptron.common.history import History
from streamptron.common.names import type_shown
from streamptron.plot.drawing import (
    LINES,
    MARKERS,
    Axes,
    axes_of,
    check_axes,
    ink,
    label_text,
    limit_x,
    limit_y,
    line_colour,
    name_lines,
    write_beside,
)


def mistakes_per_pass(histories: Any, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Plot the mistakes in each pass, one line per history.

    With a permuted and a fixed order, this is the comparison in CIML, figure 4.4.

    Parameters
    ----------
    histories
        ``{name: History}``, as ``streamptron.study.fit`` returns them; or one History.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for every line.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If histories is empty or has anything else. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> from streamptron.study import fit
    >>> data = [({"x": n, "y": 1}, n > 4) for n in range(9)]
    >>> permuted = fit(Perceptron(), data, epochs=30, seed=1)
    >>> fixed = fit(Perceptron(), data, epochs=30, shuffle=False)
    >>> histories = {"permuted": permuted, "fixed": fixed}
    >>> ax = plot.mistakes_per_pass(histories, ax=Figure().subplots())
    >>> [len(line.get_xdata()) for line in ax.lines] == [len(permuted), len(fixed)]
    True

    References
    ----------
    * Daume III, H. (2017). A Course in Machine Learning, section 4.2, figure 4.4.
    """
    check_axes(ax)
    alone = isinstance(histories, History)
    if not alone and not isinstance(histories, Mapping):
        raise TypeError(
            f"histories is {type_shown(histories)}; give {{name: History}}, or one History"
        )
    named = {"": histories} if alone else dict(histories)
    if not named:
        raise ValueError("histories is empty; give at least one")
    for name, history in named.items():
        _check_history(f"histories[{name!r}]", history)
    ax = axes_of(ax)
    most = max(row.mistakes for history in named.values() for row in history)
    last = max(len(history) for history in named.values())
    for at, (name, history) in enumerate(named.items()):
        style = {**_style(at, last), "label": label_text(name), **kwargs}
        ax.plot([row.number for row in history], [row.mistakes for row in history], **style)
    _frame(ax, last, -0.04 * max(most, 1), 1.08 * max(most, 1), "mistakes in the pass")
    if not alone:
        ax.legend(handlelength=3)
    return ax


def training_curve(history: History, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Plot the training and validation error after each pass, and the pass that was chosen.

    Parameters
    ----------
    history
        What ``streamptron.study.fit`` returns; without validation data there is one line.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.plot`` for both lines.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If history is not a History, or has no passes. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import Perceptron, plot
    >>> from streamptron.study import fit
    >>> data = [({"x": n, "y": 1}, n > 4) for n in range(9)]
    >>> history = fit(Perceptron(), data[::2], epochs=9, validation=data[1::2], seed=1)
    >>> ax = plot.training_curve(history, ax=Figure().subplots())
    >>> sorted(text.get_text() for text in ax.get_legend().get_texts())
    ['training', 'validation']

    References
    ----------
    * Daume III, H. (2017). A Course in Machine Learning, section 4.2, figure 4.3.
    """
    check_axes(ax)
    _check_history("history", history)
    numbers = [row.number for row in history]
    lines = {"training": [100 * row.error for row in history]}
    checked = [row.validation_error for row in history if row.validation_error is not None]
    if checked:
        lines["validation"] = [100 * error for error in checked]
    ax = axes_of(ax)
    drawn = {}
    for at, (name, errors) in enumerate(lines.items()):
        style = {**_style(at, len(history)), "linestyle": ("--", "-")[at], "label": name, **kwargs}
        (drawn[name],) = ax.plot(numbers, errors, **style)
    most = max(max(errors) for errors in lines.values()) or 1.0
    _frame(ax, numbers[-1], -0.04 * most, 1.15 * most, "error (%)")
    best = history[history.best - 1]
    error = lines[list(lines)[-1]][history.best - 1]
    ax.axvline(best.number, color=ink(ax), linestyle=":", linewidth=1, zorder=0)
    ax.plot(best.number, error, "o", markersize=11, fillstyle="none", color=ink(ax), label="chosen")
    right = -5 if best.number > (numbers[0] + numbers[-1]) / 2 else 5
    text = f"pass {best.number}: {error:.3g} %"
    write_beside(ax, text, (best.number, 1.13 * most), right, va="top")
    name_lines(ax, drawn)
    return ax


def _style(at: int, last: int) -> dict[str, Any]:
    """The style of one of several lines, with a marker at each pass unless there are many."""
    return {
        "color": line_colour(at),
        "linestyle": LINES[at % len(LINES)],
        "marker": MARKERS[at % len(MARKERS)],
        "markersize": 4 if last <= 40 else 0,
    }


def _frame(ax: Axes, last: int, low: float, high: float, name: str) -> None:
    """Set the limits and the names of both axes."""
    limit_y(ax, low, high)
    limit_x(ax, 1, max(last, 2))
    ax.set(xlabel="pass", ylabel=name)


def _check_history(name: str, history: Any) -> None:
    if not isinstance(history, History):
        raise TypeError(f"{name} is {type_shown(history)}; give what streamptron.study.fit returns")
    if not len(history):
        raise ValueError(f"{name} has no passes")
