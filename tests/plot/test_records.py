"""Pictures of what happened: passes, streams, answers. Lines show what a slow count finds."""

import copy
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from streamptron import (
    MIRA,
    AdaptiveClassifier,
    MulticlassPerceptron,
    Perceptron,
    RankingPerceptron,
    Tokenizer,
    plot,
)
from streamptron.study import fit
from tests.support.pictures import histories, history, points, words


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


# --- Passes


def test_each_history_is_a_line_of_its_mistakes(ax):
    named = histories()
    plot.mistakes_per_pass(named, ax=ax)
    assert set(lines(ax)) == set(named)
    for name, found in named.items():
        x, y = lines(ax)[name].get_data()
        assert list(x) == [row.number for row in found]
        assert list(y) == [row.mistakes for row in found]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(named)


def test_one_history_needs_no_name(ax):
    found = history()
    plot.mistakes_per_pass(found, ax=ax)
    assert list(ax.lines[0].get_ydata()) == [row.mistakes for row in found]
    assert ax.get_legend() is None


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([1, 2], TypeError, "histories is a list; give {name: History}, or one History"),
        ({}, ValueError, "histories is empty"),
        ({"a": [3, 2]}, TypeError, r"histories\['a'\] is a list; give what streamptron.study.fit"),
    ],
)
def test_what_is_no_history_is_an_error(given, error, message, ax):
    with pytest.raises(error, match=message):
        plot.mistakes_per_pass(given, ax=ax)
    with pytest.raises(TypeError, match="history is a "):
        plot.training_curve(given, ax=ax)
    assert not ax.has_data()


def test_both_errors_and_the_chosen_pass_are_shown(ax):
    found = history()
    plot.training_curve(found, ax=ax)
    shown = lines(ax)
    assert list(shown["training"].get_ydata()) == [100 * row.error for row in found]
    checked = [100 * row.validation_error for row in found]
    assert list(shown["validation"].get_ydata()) == checked
    (x,), (y,) = shown["chosen"].get_data()
    assert (x, y) == (found.best, min(checked))
    assert ax.texts[-1].get_text() == f"pass {found.best}: {min(checked):.3g} %"


def test_without_validation_there_is_the_training_error_alone(ax):
    plot.training_curve(fit(Perceptron(), points(), epochs=3, seed=1), ax=ax)
    assert "validation" not in lines(ax)
    assert "training" in lines(ax)


# --- Streams


def drifting(n=300):
    rng = np.random.default_rng(1)
    for k in range(n):
        a, b = rng.normal(size=2).round(2).tolist()
        yield {"a": a, "b": b}, (a + b > 0) != (k > n // 2)


@pytest.mark.parametrize("kind", [Perceptron, MulticlassPerceptron, MIRA])
@pytest.mark.parametrize("window", [None, 50])
def test_progressive_errors_are_those_of_models_that_serve_so(kind, window, ax):
    model = kind(pocket=True, average="exponential", half_life=30)
    plot.progressive_error(model, drifting(), window=window, ax=ax)
    assert set(lines(ax)) == {"current", "average", "pocket", "best"}
    for serve, line in lines(ax).items():
        twin = model.clone({"serve": serve})
        wrong, answered = [], []
        for x, y in drifting():
            answer = twin.predict_one(x)
            twin.learn_one(x, y)
            answered.append(answer is not None)
            wrong.append(answer is not None and answer != y)
        for n, error in line.get_xydata():
            first = 0 if window is None else max(0, int(n) - window)
            if total := sum(answered[first : int(n)]):
                assert error == pytest.approx(100 * sum(wrong[first : int(n)]) / total)
            else:
                assert math.isnan(error)


def test_the_ribbon_is_who_served_each_event(ax):
    model = Perceptron(pocket=True, average="exponential", half_life=30)
    plot.progressive_error(model, drifting(), ax=ax)
    twin, served = model.clone({"serve": "best"}), []
    for x, y in drifting():
        served.append(twin.serving)
        twin.learn_one(x, y)
    found = {}
    for spans in ax.collections:
        name = spans.get_label().removesuffix(" serves")
        for path in spans.get_paths():
            first, last = path.vertices[:, 0].min(), path.vertices[:, 0].max()
            found |= dict.fromkeys(range(round(first), round(last)), name)
    assert [found[n] for n in range(300)] == served
    assert len(set(served)) > 1
    hatches = [spans.get_hatch() for spans in ax.collections]
    assert len(set(hatches)) == len(hatches)


def test_a_model_of_one_vector_has_one_line_and_no_ribbon(ax):
    plot.progressive_error(AdaptiveClassifier(), drifting(), ax=ax)
    assert list(lines(ax)) == ["error"]
    assert not ax.collections


def test_a_long_stream_is_a_line_of_few_points(ax):
    plot.progressive_error(Perceptron(average="none"), ([({"a": 1}, True)] * 5000), ax=ax)
    (line,) = ax.lines
    assert len(line.get_xdata()) <= 1000
    assert line.get_xdata()[-1] == 5000


def test_texts_and_candidates_are_streams_too(ax):
    texts = [("a prize", True), ("see you", False)] * 20
    plot.progressive_error(Tokenizer() | Perceptron(), iter(texts), ax=ax)
    assert lines(ax)["current"].get_ydata()[-1] == 5.0  # the first of each
    ax.clear()
    stream = [({"a": {"near": 1, "far": k % 3}, "b": {"far": 2}}, "a") for k in range(30)]
    plot.progressive_error(RankingPerceptron(), stream, ax=ax)
    assert "best" in lines(ax)


@pytest.mark.parametrize("picture", [plot.progressive_error, plot.memory])
@pytest.mark.parametrize(
    ("stream", "error", "message"),
    [
        ([], ValueError, "stream is empty"),
        ("text", TypeError, "stream is a str; give pairs"),
        ({}, TypeError, "stream is a dict; give pairs"),
        (3, TypeError, "stream is an int; give pairs"),
        ([({"a": 1}, True), 3], TypeError, "event 1 of the stream is 3; it must be a pair"),
        (
            [({"a": 1}, True), ({"a": "7"}, True)],
            TypeError,
            r"event 1 of the stream: x\['a'\] is the text",
        ),
        ([({"a": 1}, "spam")], ValueError, "event 0 of the stream: y='spam'"),
    ],
)
def test_a_bad_stream_is_an_error_and_the_model_learns_nothing(picture, stream, error, message, ax):
    model = Perceptron()
    with pytest.raises(error, match=message):
        picture(model, stream, ax=ax)
    assert model.n_seen == 0
    assert not ax.has_data()


def test_a_pipeline_of_candidates_and_a_window_of_none_are_errors(ax):
    with pytest.raises(TypeError, match="give the RankingPerceptron alone"):
        plot.memory(Tokenizer() | RankingPerceptron(), [(["a", "b"], 0)], ax=ax)
    with pytest.raises(ValueError, match="window=0; it must be at least 1"):
        plot.progressive_error(Perceptron(), drifting(), window=0, ax=ax)
    assert not ax.has_data()


def test_memory_and_evictions_are_the_models(ax):
    model = AdaptiveClassifier(max_features=50)
    plot.memory(model, words(300), ax=ax)
    left, right = ax.figure.axes
    sizes = {int(n): size for n, size in left.lines[0].get_xydata()}
    evicted = {int(n): gone for n, gone in right.lines[0].get_xydata()}
    assert left.get_ylabel() == "memory (kB, solid)"
    twin = copy.deepcopy(model)
    for n, (x, y) in enumerate(words(300), 1):
        twin.learn_one(x, y)
        assert evicted[n] == twin.n_evicted
        assert sizes[n] == twin.memory_usage / 1e3
    assert evicted[300] > 100
    assert "50 features" in [text.get_text() for text in left.texts]


def test_without_a_ceiling_there_is_no_second_axis(ax):
    plot.memory(Perceptron(), words(100), ax=ax)
    assert ax.figure.axes == [ax]
    assert ax.get_ylabel() == "memory (kB)"


# --- Answers


def cells(ax):
    return [int(text.get_text()) for text in ax.texts]


def ticks(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, tuple])
def test_cells_are_counts_by_label_and_answer(kind, ax):
    truths, answers = ["b", "a", "b", "b"], ["b", "b", "a", "b"]
    plot.confusion_matrix(kind(truths), kind(answers), ax=ax)
    assert cells(ax) == [0, 1, 1, 2]
    assert ticks(ax.xaxis) == ticks(ax.yaxis) == ["a", "b"]
    assert ax.images[0].get_array().tolist() == [[0, 1], [1 / 3, 2 / 3]]


def test_no_answer_has_a_column_and_labels_choose_and_order(ax):
    plot.confusion_matrix([1, 2, 2], [None, 2, 1], ax=ax)
    assert ticks(ax.xaxis) == ["1", "2", "(none)"]
    assert cells(ax) == [0, 0, 1, 1, 1, 0]
    ax.clear()
    plot.confusion_matrix(["x", "y", "z"], ["x", "x", "z"], labels=["y", "x"], ax=ax)
    assert ticks(ax.yaxis) == ["y", "x"]
    assert cells(ax) == [0, 1, 0, 1]


def test_labels_that_cannot_be_sorted_are_as_they_appear_and_many_have_no_numbers(ax):
    plot.confusion_matrix(["b", 1, "a"], ["b", 1, "a"], ax=ax)
    assert ticks(ax.yaxis) == ["b", "1", "a"]
    ax.clear()
    plot.confusion_matrix(list(range(40)), list(range(40)), ax=ax)
    assert not ax.texts  # there is no room for them
    assert ax.images[0].get_array().trace() == 40


def overlapping(texts):
    boxes = [text.get_window_extent().padded(-0.5) for text in texts]
    return [(a, b) for at, a in enumerate(boxes) for b in boxes[:at] if a.overlaps(b)]


@pytest.mark.parametrize("n", [9, 20, 60])
def test_a_matrix_of_many_labels_has_a_figure_that_grows_and_no_zeros(n):
    labels = [f"a label {k:02}" for k in range(n)]
    answers = [labels[(k + (k % 5 == 0)) % n] for k in range(n)]
    try:
        ax = plot.confusion_matrix(labels * 130, answers * 130)
        figure = ax.figure
        figure.draw_without_rendering()
        assert [text.get_text() for text in ax.texts] == ["130"] * n
        assert figure.get_figheight() == max(4.8, 0.3 * n + 1.8)
        assert min(text.get_fontsize() for text in ax.texts) >= 6
        assert not overlapping(ax.texts)
        assert not overlapping(ax.get_yticklabels())
        cell = (ax.bbox.width / n, ax.bbox.height / n)
        for text in ax.texts:
            box = text.get_window_extent()
            assert box.width <= cell[0]
            assert box.height <= cell[1]
    finally:
        plt.close("all")


def test_a_figure_of_ones_own_keeps_its_size():
    labels = list(range(30))
    try:
        figure = plt.figure(figsize=(5, 4))
        assert plot.confusion_matrix(labels, labels).figure is figure
        assert figure.get_size_inches().tolist() == [5, 4]
    finally:
        plt.close("all")


@pytest.mark.parametrize(
    ("truths", "answers", "more", "error", "message"),
    [
        ([], [], {}, ValueError, "y_true is empty"),
        ([1], [1, 2], {}, ValueError, "y_true has 1 events and y_pred has 2"),
        ([None], [1], {}, ValueError, r"y_true\[0\] is None"),
        ("ab", "ab", {}, TypeError, "y_true is 'ab'; give a list"),
        ([1], 3, {}, TypeError, "y_pred is 3; give a list"),
        ([1], [1], {"labels": []}, ValueError, "labels is empty"),
        ([1], [1], {"labels": [7]}, ValueError, "labels has 7, which no event has"),
    ],
)
def test_a_matrix_that_cannot_be_drawn_is_an_error(truths, answers, more, error, message, ax):
    with pytest.raises(error, match=message):
        plot.confusion_matrix(truths, answers, ax=ax, **more)
    assert not ax.has_data()


def test_points_of_a_reliability_curve_are_means_and_shares_of_bins(ax):
    rng = np.random.default_rng(2)
    p = rng.random(400)
    truths = rng.random(400) < p
    plot.calibration_curve(truths, p, n_bins=5, ax=ax)
    _, curve = ax.lines[:2]
    for k, (x, y) in enumerate(curve.get_xydata()):
        mine = (p >= k / 5) & (p < (k + 1) / 5)
        assert (x, y) == pytest.approx((p[mine].mean(), truths[mine].mean()))
    assert len(curve.get_xdata()) == 5


def test_intervals_are_wilsons(ax):
    plot.calibration_curve([True] * 8 + [False] * 2, [0.7] * 10, ax=ax)
    (bars,) = ax.collections
    (segment,) = bars.get_segments()
    assert segment[:, 1] == pytest.approx([0.4902, 0.9433], abs=5e-4)


def test_dicts_give_the_answer_or_a_label(ax):
    truths = ["a", "b", "a", "c"]
    found = [{"a": 0.75, "b": 0.25}, {"a": 0.75, "b": 0.25}, {"a": 1.0}, {"a": 0.25, "b": 0.75}]
    plot.calibration_curve(truths, found, n_bins=4, ax=ax)
    assert ax.lines[1].get_xydata() == pytest.approx(np.array([[0.8125, 0.5]]))
    assert ax.get_ylabel() == "share of events that are answered rightly"
    ax.clear()
    plot.calibration_curve(truths, found, label="b", n_bins=4, ax=ax)
    assert ax.lines[1].get_xydata().tolist() == [[0.0, 0.0], [0.25, 0.5], [0.75, 0.0]]
    assert ax.get_xlabel() == "probability of b"


@pytest.mark.parametrize("kind", [np.array, pd.DataFrame, lambda columns: columns])
def test_columns_are_one_for_each_label(kind, ax):
    columns = [[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]
    numbers = [each for _, each in columns]
    for truths, label in (([False, True, True, True], None), (["b", "c", "c", "c"], "c")):
        named = kind(columns)
        if hasattr(named, "columns"):
            named.columns = sorted({*truths})
        for drawn, of_one in (
            (plot.calibration_curve, numbers),
            (plot.roc_curve, numbers),
            (plot.precision_recall_curve, numbers),
            (plot.false_positives, numbers),
        ):
            drawn(truths, of_one, label, ax=ax)
            expected = [line.get_xydata().tolist() for line in ax.lines]
            ax.clear()
            drawn(truths, named, label, ax=ax)
            assert [line.get_xydata().tolist() for line in ax.lines] == expected
            ax.clear()


@pytest.mark.parametrize(
    ("truths", "given", "more", "error", "message"),
    [
        ([1], [1.5], {}, ValueError, r"y_proba\[0\] is 1.5; it must be from 0 to 1"),
        ([1], [math.nan], {}, ValueError, "must be from 0 to 1"),
        ([1], ["x"], {}, TypeError, "it must be a probability"),
        ([1, 0], [[0.5, 0.5, 0], [1, 0, 0]], {}, ValueError, "3 columns, but y_true has 2 labels"),
        ([1, 0, 1], [[0.5, 0.5], [1, 0]], {}, ValueError, "3 events and y_proba has 2"),
        (["a", "b", "c"], np.ones((3, 2)), {}, ValueError, "2 columns, but y_true has 3 labels"),
        ([1], [{}], {}, ValueError, r"y_proba\[0\] is empty"),
        ([1, 1], [{1: 1.0}, 0.5], {}, TypeError, "all dicts, or all numbers"),
        ([1], [0.5], {"n_bins": 0}, ValueError, "n_bins=0"),
        ([1], [0.5], {"n_bins": True}, TypeError, "n_bins=True"),
        (["spam", "ham"], [0.9, 0.1], {}, ValueError, "y_true has 'spam'.*say which label"),
        (["spam"], [0.9], {"label": "z"}, ValueError, "label='z' is not in y_true"),
        (["spam"], [{"spam": 1.0}], {"label": "z"}, ValueError, "label='z' has no probability"),
    ],
)
def test_a_curve_that_cannot_be_drawn_is_an_error(truths, given, more, error, message, ax):
    with pytest.raises(error, match=message):
        plot.calibration_curve(truths, given, ax=ax, **more)
    assert not ax.has_data()
