"""ROC, precision and false positives: curves are what counting finds at each threshold."""

import math

import numpy as np
import pandas as pd
import pytest

from streamptron import plot
from tests.support.marks import seeds
from tests.support.pictures import judged

CURVES = ("roc_curve", "precision_recall_curve", "false_positives")
every_curve = pytest.mark.parametrize("name", CURVES)


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def scored(seed, n=200):
    """Truth values and probabilities, of which many are the same."""
    rng = np.random.default_rng(seed)
    truths = rng.random(n) < 0.4
    return truths, np.clip((truths + rng.normal(size=n) + 1) / 3, 0, 1).round(1)


def at_threshold(truths, p, t):
    """Shares of events with and without the label that are taken for it."""
    taken = p >= t
    return (taken & truths).sum() / truths.sum(), (taken & ~truths).sum() / (~truths).sum()


@seeds(3)
def test_a_roc_curve_goes_through_every_threshold_and_its_area_is_that_of_pairs(seed, ax):
    truths, p = scored(seed)
    plot.roc_curve(truths, p, ax=ax)
    found = {(round(x, 9), round(y, 9)) for x, y in ax.lines[0].get_xydata()}
    expected = {(0.0, 0.0)}
    for t in set(p.tolist()):
        hit, false = at_threshold(truths, p, t)
        expected.add((round(100 * false, 9), round(100 * hit, 9)))
    assert found == expected
    ahead = [(a > b) + 0.5 * (a == b) for a in p[truths] for b in p[~truths]]
    assert ax.lines[0].get_label() == f"area {np.mean(ahead):.4g}"


@seeds(3)
def test_precision_is_that_of_every_threshold_and_its_mean_scikit_learns(seed, ax):
    metrics = pytest.importorskip("sklearn.metrics")
    truths, p = scored(seed)
    plot.precision_recall_curve(truths, p, ax=ax)
    points = ax.lines[0].get_xydata()
    for x, y in points[1:]:
        assert any(
            x == pytest.approx(100 * at_threshold(truths, p, t)[0])
            and y == pytest.approx(100 * truths[p >= t].mean())
            for t in set(p.tolist())
        )
    mean = metrics.average_precision_score(truths, p)
    assert ax.lines[0].get_label() == f"mean precision {mean:.4g}"
    assert ax.lines[1].get_ydata()[0] == pytest.approx(100 * truths.mean())


@seeds(3)
def test_false_positives_and_misses_are_those_of_the_threshold(seed, ax):
    truths, p = scored(seed)
    plot.false_positives(truths, p, ax=ax)
    drawn = lines(ax)
    thresholds = drawn["missed"].get_xdata()
    assert thresholds[0] == pytest.approx(0.001)
    assert thresholds[-1] == pytest.approx(0.999)
    for at in range(0, len(thresholds), 7):
        hit, false = at_threshold(truths, p, thresholds[at])
        assert drawn["false positives"].get_ydata()[at] == pytest.approx(100 * false)
        assert drawn["missed"].get_ydata()[at] == pytest.approx(100 * (1 - hit))


@every_curve
@pytest.mark.parametrize("kind", ["dicts", "list", "array", "series"])
def test_probabilities_may_come_in_any_way(name, kind, ax):
    truths, p = scored(1)
    labels = np.where(truths, "spam", "ham").tolist()
    given = {
        "dicts": [{"spam": each, "ham": 1 - each} for each in p.tolist()],
        "list": p.tolist(),
        "array": p,
        "series": pd.Series(p),
    }[kind]
    getattr(plot, name)(labels, given, "spam", ax=ax)
    other = ax.figure.add_subplot()
    getattr(plot, name)(truths, p, ax=other)
    for mine, its in zip(ax.lines, other.lines, strict=True):
        assert mine.get_xydata() == pytest.approx(its.get_xydata())


@every_curve
def test_several_models_are_named_in_the_legend(name, ax):
    labels, p = judged()
    getattr(plot, name)(labels, p, "spam", ax=ax)
    legend = ax.get_legend()
    texts = [text.get_text() for text in legend.get_texts()]
    assert {text.partition(":")[0] for text in texts} == {"good", "poor"}
    assert (
        legend.get_title().get_text()
        == f"{sum(labels == 'spam')} spam, {sum(labels == 'ham')} others"
    )
    styles = {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert len(styles) >= len(texts)


def test_scores_that_are_no_probabilities_have_a_roc_curve_but_no_thresholds(ax):
    truths, p = scored(2)
    plot.roc_curve(truths, 40 * p - 20, ax=ax)
    other = ax.figure.add_subplot()
    plot.roc_curve(truths, p, ax=other)
    assert ax.lines[0].get_xydata() == pytest.approx(other.lines[0].get_xydata())
    with pytest.raises(ValueError, match="must be a probability, from 0 to 1"):
        plot.false_positives(truths, 40 * p - 20, ax=ax)


def test_a_curve_of_many_events_has_few_points(ax):
    rng = np.random.default_rng(4)
    truths = rng.random(50_000) < 0.5
    plot.roc_curve(truths, rng.random(50_000), ax=ax)
    xy = ax.lines[0].get_xydata()
    assert 1000 < len(xy) <= 2000
    assert xy[0].tolist() == [0, 0]
    assert xy[-1].tolist() == [100, 100]


@every_curve
@pytest.mark.parametrize(
    ("truths", "given", "label", "error", "message"),
    [
        ([], [], None, ValueError, "y_true is empty"),
        ([True], [0.5, 0.5], None, ValueError, "y_true has 1 events and y_proba has 2"),
        ([True, False], {"a": [0.5]}, None, ValueError, r"and y_proba\['a'\] has 1"),
        ([True, False], {}, None, ValueError, "y_proba is empty"),
        ([True, False], [0.5, "x"], None, TypeError, r"y_proba\[1\] is 'x'; it must be a number"),
        ([True, False], [0.5, math.nan], None, ValueError, r"y_proba\[1\] is nan"),
        ([True, False], [{}, {True: 1.0}], None, ValueError, r"y_proba\[0\] is empty"),
        (["spam", "ham"], [0.5, 0.5], None, ValueError, "y_true has 'spam'; name the label"),
        (["spam", "ham"], [0.5, 0.5], "eggs", ValueError, "no events have the label 'eggs'"),
        ([True, True], [0.5, 0.5], None, ValueError, "all events have the label True"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(name, truths, given, label, error, message, ax):
    with pytest.raises(error, match=message):
        getattr(plot, name)(truths, given, label, ax=ax)
    assert not ax.has_data()
