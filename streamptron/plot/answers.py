"""Answers and probabilities against the labels: confusion matrix and calibration."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamptron.common.checks import at_least_one
from streamptron.common.names import short_repr
from streamptron.plot.drawing import (
    COLOURS,
    Axes,
    axes_of,
    check_axes,
    in_order,
    ink,
    label_text,
    shades,
)

CERTAIN = 1.959964  # half-width of a 95 % interval of a normal distribution, in deviations
CELL = 0.3  # inches per cell, if the figure grows with the number of labels
AROUND = 1.8  # inches for names around such a matrix
ZEROS = 8  # with more labels than this, zeros are not drawn
SMALL = 5.0  # points; numbers that would be smaller are left out


def confusion_matrix(
    y_true: Any, y_pred: Any, labels: Any = None, ax: Axes | None = None, **kwargs: Any
) -> Axes:
    """Plot how many events of each label got which answer.

    The colour is the share among the events of the label, the number is the count; with more than
    eight labels, zeros are left out. If there is no figure yet, one is made whose size grows with
    the number of labels. If you make your own figure, allow 0.3 inches per label.

    Parameters
    ----------
    y_true
        The labels of the events.
    y_pred
        Their answers, as from ``predict_one`` or ``predict_many``; None, no answer, has its own
        column.
    labels
        Which labels to draw, in this order; others are left out. By default all, sorted if
        possible, otherwise in the order of appearance.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.imshow``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import plot
    >>> labels, answers = ["spam", "ham", "spam", "spam"], ["spam", "ham", "ham", "spam"]
    >>> ax = plot.confusion_matrix(labels, answers, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['1', '0', '1', '2']
    """
    check_axes(ax)
    truths, answers = listed("y_true", y_true), listed("y_pred", y_pred)
    same_length("y_pred", truths, answers)
    for row, label in enumerate(truths):
        if label is None:
            raise ValueError(f"y_true[{row}] is None, which is not a label; leave that event out")
    if labels is None:
        rows = in_order(truths + [answer for answer in answers if answer is not None])
    else:
        rows = list(dict.fromkeys(listed("labels", labels)))
        if not rows:
            raise ValueError("labels is empty; name at least one")
        if strange := [label for label in rows if label not in truths and label not in answers]:
            raise ValueError(f"labels has {short_repr(strange[0])}, which no event has")
    columns = [*rows, None] if None in answers else rows
    at = {label: k for k, label in enumerate(columns)}
    counts = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for truth, answer in zip(truths, answers, strict=True):
        if truth in at and answer in at:
            counts[at[truth], at[answer]] += 1
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax = axes_of(ax, matrix_inches(len(columns)))
    colours = shades(ax.get_facecolor(), COLOURS[0])
    image = ax.imshow(shares, **{"cmap": colours, "vmin": 0.0, "vmax": 1.0, **kwargs})
    turned: dict[str, Any] = {}
    if len(columns) > 20:
        turned = {"rotation": 90}
    elif len(columns) > 3 and max(len(label_text(label)) for label in columns) > 3:
        turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    whole_figure = ax.figure.figure  # even if `ax` is in a subfigure
    room = (min(whole_figure.get_size_inches()) - AROUND) / len(columns) * 72
    sized = {"fontsize": min(10.0, max(5.0, 0.65 * room))}
    names = ["(none)" if label is None else label_text(label) for label in columns]
    ax.set_xticks(range(len(columns)), names, **sized, **turned)
    ax.set_yticks(range(len(rows)), names[: len(rows)], **sized)
    ax.set(xlabel="answer", ylabel="label")
    many = len(rows) > ZEROS
    if many:  # lines that help the eye follow rows and columns
        for k in range(1, len(columns)):
            ax.axvline(k - 0.5, color=ink(ax), linewidth=0.2)
        for k in range(1, len(rows)):
            ax.axhline(k - 0.5, color=ink(ax), linewidth=0.2)
    size = _size_in_cells(ax, counts)
    centred: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
    if size >= SMALL:
        for (row, column), n in np.ndenumerate(counts):
            if n == 0 and many:
                continue
            dark = _lightness(image.cmap(image.norm(shares[row, column]))[:3]) < 0.55
            ax.text(column, row, str(n), color="white" if dark else "black", **centred)
    return ax


def matrix_inches(n: int) -> float:
    """The width and height of a figure in which a matrix of n labels is readable."""
    return CELL * n + AROUND


def _size_in_cells(ax: Axes, counts: NDArray[np.int64]) -> float:
    """The font size at which all counts fit into their cells."""
    figure = ax.figure.figure  # the whole figure, even if `ax` is in a subfigure
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # before that, the Axes does not have its final place
    box = ax.get_window_extent()
    cell = min(box.width / counts.shape[1], box.height / counts.shape[0]) / figure.dpi * 72
    digits = len(str(counts.max()))
    return float(min(10.0, 0.55 * cell, 0.9 * cell / (0.62 * digits)))


def calibration_curve(
    y_true: Any,
    y_proba: Any,
    label: Hashable = None,
    n_bins: int = 10,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Plot how often predicted probabilities come true: a reliability curve.

    Each point stands for the events in one bin of probabilities, with its 95 % interval (Wilson's);
    empty bins have no point. On the diagonal the probabilities are right, below it they are too
    high.

    Parameters
    ----------
    y_true
        The labels of the events.
    y_proba
        For each event, what ``predict_proba_one`` returned, ``{label: probability}``; or a column
        per label, as from ``predict_proba_many`` or scikit-learn's ``predict_proba``: in a frame
        with the labels as names, otherwise in sorted order; or a number, the probability of
        `label`.
    label
        The label whose probability to check. None: True if labels are truth values; otherwise, with
        dicts or columns, the likeliest label, which is right if it is the event's label.
    n_bins
        The number of bins from 0 to 1.
    ax
        The Axes to draw on; None: the current one.
    kwargs
        Passed to ``Axes.errorbar``.

    Returns
    -------
    The Axes.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid. Nothing is drawn.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from streamptron import plot
    >>> labels, p = [True, False, True, True], [0.75, 0.25, 0.25, 0.75]
    >>> ax = plot.calibration_curve(labels, p, n_bins=2, ax=Figure().subplots())
    >>> [(float(x), float(y)) for x, y in zip(*ax.lines[1].get_data(), strict=True)]
    [(0.25, 0.5), (0.75, 1.0)]
    """
    check_axes(ax)
    at_least_one("n_bins", n_bins)
    truths = listed("y_true", y_true)
    given = probabilities("y_proba", y_proba, truths)
    p, right = _judged(truths, given, label)
    bins = np.minimum((p * n_bins).astype(int), n_bins - 1)
    n = np.bincount(bins, minlength=n_bins)
    used = n > 0
    x = np.bincount(bins, p, n_bins)[used] / n[used]
    y = np.bincount(bins, right, n_bins)[used] / n[used]
    ax = axes_of(ax)
    ax.plot([0, 1], [0, 1], color=ink(ax), linestyle=":", linewidth=1)
    style = {
        "fmt": "o-",
        "color": COLOURS[0],
        "ecolor": ink(ax),
        "elinewidth": 1,
        "capsize": 3,
        "markersize": 5,
        **kwargs,
    }
    ax.errorbar(x, y, yerr=wilson(y, n[used]), **style)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    likeliest = label is None and isinstance(given[0], Mapping)
    of = "the answer" if likeliest else label_text(True if label is None else label)
    ax.set_xlabel(f"probability of {of}")
    ax.set_ylabel(f"share of events that are {'answered rightly' if likeliest else of}")
    ax.text(0.97, 0.04, f"{len(p)} events", transform=ax.transAxes, ha="right", color=ink(ax))
    return ax


def _judged(
    truths: list[Any], given: list[Any], label: Hashable
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The probability for each event, and 1.0 or 0.0 for whether it came true."""
    dicts = isinstance(given[0], Mapping)
    labels = [truth for truth in truths if truth not in (True, False)]
    if not dicts and label is None and labels:
        raise ValueError(
            f"y_true has {short_repr(labels[0])}, and y_proba has numbers; say which label they "
            "are for by label=, or give dicts"
        )
    p, right = [], []
    for row, (truth, each) in enumerate(zip(truths, given, strict=True)):
        if isinstance(each, Mapping) != dicts:
            raise TypeError(f"y_proba[{row}] is {short_repr(each)}; give all dicts, or all numbers")
        looked_for = True if label is None else label
        if dicts and label is None and each:
            looked_for = max(each, key=each.__getitem__)  # the likeliest label
        value = said_of(f"y_proba[{row}]", each, looked_for)
        try:
            value = float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"y_proba[{row}] is {short_repr(each)}; it must be a probability"
            ) from None
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"y_proba[{row}] is {short_repr(each)}; it must be from 0 to 1")
        p.append(value)
        right.append(float(truth == looked_for))
    if label is not None and not dicts and label not in truths:
        raise ValueError(f"label={short_repr(label)} is not in y_true")
    if dicts and label is not None and not any(label in each for each in given):
        raise ValueError(f"label={short_repr(label)} has no probability in y_proba")
    return np.array(p), np.array(right)


def wilson(share: NDArray[np.float64], n: NDArray[Any]) -> NDArray[np.float64]:
    """How far Wilson's 95 % interval for a share among n goes below it, and how far above."""
    z2 = CERTAIN**2 / n
    middle = (share + z2 / 2) / (1 + z2)
    half = np.sqrt(share * (1 - share) * z2 + z2**2 / 4) / (1 + z2)
    return np.maximum([share - (middle - half), middle + half - share], 0.0)


def _lightness(rgb: Any) -> float:
    """The lightness L* of a colour, from 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    luminance = math.fsum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return float(1.16 * luminance ** (1 / 3) - 0.16 if luminance > 0.008856 else 9.033 * luminance)


def listed(name: str, values: Any) -> list[Any]:
    """A sequence, series or array as a list of plain Python values."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is {short_repr(values)}; give a list, an array or a series")
    found = list(values.tolist() if hasattr(values, "tolist") else values)
    return [value.item() if isinstance(value, np.generic) else value for value in found]


def probabilities(name: str, values: Any, truths: list[Any]) -> list[Any]:
    """For each event a number, or ``{label: number}``; columns, one per label, are converted."""
    if hasattr(values, "columns"):
        labels, columns = list(values.columns), np.asarray(values.to_numpy())
    elif np.ndim(values) == 2:
        columns = np.asarray(values)
        labels = [False, True] if {*truths} <= {True, False} else in_order(truths)
    else:
        found = listed(name, values)
        same_length(name, truths, found)
        return found
    if columns.shape[1] == 1:
        return probabilities(name, columns[:, 0], truths)
    if columns.shape[1] != len(labels):
        raise ValueError(
            f"{name} has {columns.shape[1]} columns, but y_true has {len(labels)} labels, "
            f"{short_repr(labels, 200)}; give {{label: probability}} for each event, or one column "
            "and its label, label="
        )
    same_length(name, truths, columns.tolist())
    if {*labels} == {True, False}:
        return columns[:, labels.index(True)].tolist()  # type: ignore[no-any-return]
    return [dict(zip(labels, row, strict=True)) for row in columns.tolist()]


def said_of(what: str, said: Any, label: Hashable) -> Any:
    """What is said of a label, by a number or by ``{label: number}``; `what` is for errors."""
    if not isinstance(said, Mapping):
        return said
    if not said:
        raise ValueError(f"{what} is empty: no label was known then; leave that event out")
    return said.get(label, 0.0)


def same_length(name: str, truths: list[Any], others: list[Any]) -> None:
    if not truths:
        raise ValueError("y_true is empty; give at least one event")
    if len(truths) != len(others):
        raise ValueError(f"y_true has {len(truths)} events and {name} has {len(others)}")
