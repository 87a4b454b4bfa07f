"""Charts of what a recorder noted: lines, marks and bars are its numbers."""

import math
import random

import pytest

from streamptron import AROW, AdaptiveClassifier, Perceptron, plot
from streamptron.study import Recorder, compare
from tests.support.pictures import recorded, words


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def noted(n=1000, window=10, seed=1, wrong=0.2, **more):
    recorder = Recorder(window=window, **more)
    rng = random.Random(seed)
    for _ in range(n):
        recorder.update(True, rng.random() > wrong)
    return recorder


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_lines_are_the_errors_of_windows_and_so_far(ax):
    recorder = noted()
    assert recorder.plot(ax) is ax
    rows = recorder.windows
    drawn = lines(ax)
    assert set(drawn) == {"window", "so far"}
    assert drawn["window"].get_xdata().tolist() == [row.n_events for row in rows]
    assert drawn["window"].get_ydata() == pytest.approx([100 * row.error for row in rows])
    assert drawn["so far"].get_ydata() == pytest.approx([100 * row.error_so_far for row in rows])
    assert f"so far {100 * recorder.error:.3g} %" in legend(ax)


def test_a_long_stream_is_a_line_of_few_windows_together(ax):
    recorder = noted(5000, window=10, drift=None)
    plot.errors(recorder, by="window", ax=ax)
    (line,) = ax.lines
    assert len(line.get_xdata()) == 100
    assert line.get_xdata().tolist() == list(range(50, 5001, 50))
    rows = recorder.windows
    first = sum(row.n_wrong for row in rows[:5]) / sum(row.n_answered for row in rows[:5])
    assert line.get_ydata()[0] == pytest.approx(100 * first)


def test_several_models_have_a_line_each_named_in_the_order_of_their_ends(ax):
    recorders = {f"model {k}": noted(wrong=k / 10, seed=k, drift=None) for k in (2, 1, 4, 3)}
    plot.errors(recorders, ax=ax)
    assert set(lines(ax)) == set(recorders)
    for name, line in lines(ax).items():
        assert line.get_ydata()[-1] == pytest.approx(100 * recorders[name].error)
    assert [text.rpartition(" ")[0].split(" ")[1] for text in legend(ax)] == ["4", "3", "2", "1"]
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 4
    assert ax.get_ylabel() == "error so far (%)"


def test_a_comparison_draws_its_models(ax):
    stream = list(words(600))
    found = compare({"adaptive": AdaptiveClassifier(), "AROW": AROW()}, stream)
    assert found.plot(ax=ax) is ax
    drawn = lines(ax)
    for result in found:
        assert drawn[result.name].get_ydata()[-1] == pytest.approx(100 * result.error)
    ax.clear()
    found.plot(by="window", ax=ax)
    assert ax.get_ylabel() == "error of the window (%)"


def test_changes_have_a_mark_where_they_were_found(ax):
    recorder = recorded(AdaptiveClassifier())
    assert recorder.drifts
    recorder.plot(ax)
    assert lines(ax)["changes found"].get_xdata() == recorder.drifts
    assert "change found" in [text.get_text() for text in ax.texts]
    ax.clear()
    plot.errors(noted(drift=None), ax=ax)
    assert not ax.texts


def test_the_ribbon_is_who_served_the_windows(ax):
    recorder = recorded(Perceptron(average="exponential", half_life=100))
    recorder.plot(ax)
    served = {row.serving for row in recorder.windows}
    assert served == {"current", "average"}
    bars = {bar.get_label(): bar for bar in ax.collections}
    assert set(bars) == {f"{kind} serves" for kind in served}
    assert {*bars} <= {*legend(ax)}
    for kind in served:
        spans = [path.get_extents() for path in bars[f"{kind} serves"].get_paths()]
        for row in recorder.windows:
            inside = any(s.x0 <= row.n_events - row.n and row.n_events <= s.x1 for s in spans)
            assert inside == (row.serving == kind)


def test_nothing_is_left_empty_beside_the_lines(ax):
    recorded(AdaptiveClassifier()).plot(ax)
    low, high = ax.get_xlim()
    assert low < 0
    assert high < 1500 * 1.05
    assert max(line.get_xdata()[-1] for line in ax.lines) == 1500


def test_memory_is_what_was_noted_and_nothing_learns(ax):
    recorder = recorded(AdaptiveClassifier(max_features=60))
    plot.memory(recorder, ax=ax)
    rows = recorder.windows
    (line,) = ax.lines[:1]
    assert line.get_xdata().tolist() == [row.n_events for row in rows]
    assert line.get_ydata() == pytest.approx([row.memory / 1e3 for row in rows])
    (other,) = (axes for axes in ax.figure.axes if axes is not ax)
    assert other.lines[0].get_ydata().tolist() == [row.n_evicted for row in rows]
    assert "60 features" in [text.get_text() for text in ax.texts]


def test_bars_are_shares_of_each_label_the_worst_first(ax):
    recorder = Recorder()
    for label, n, wrong in [("a", 10, 1), ("b", 40, 6), ("c", 5, 0), ("$d$", 3, 2)]:
        for k in range(n):
            recorder.update(label, "z" if k < wrong else label)
    plot.errors_by_label(recorder, n=3, ax=ax)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["b", r"\$d\$", "a"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([15, 200 / 3, 10])
    assert [text.get_text() for text in ax.texts] == ["6 of 40", "2 of 3", "1 of 10"]
    assert ax.get_xlabel() == "wrong answers (%), 3 of 4 labels"


def test_no_answer_at_all_is_no_line_but_no_error_either(ax):
    recorder = Recorder(window=5)
    for _ in range(20):
        recorder.update("a", None)
    assert math.isnan(recorder.error)
    recorder.plot(ax)
    assert ax.get_legend() is None


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda ax: plot.errors([1], ax=ax), TypeError, "recorded is a list; give a"),
        (lambda ax: plot.errors({}, ax=ax), ValueError, "recorded is empty"),
        (lambda ax: plot.errors({"a": 1}, ax=ax), TypeError, r"recorded\['a'\] is an int"),
        (lambda ax: plot.errors(Recorder(), ax=ax), ValueError, "recorded has no events yet"),
        (lambda ax: plot.errors(noted(), by="day", ax=ax), ValueError, "by='day'"),
        (lambda ax: plot.errors_by_label(1, ax=ax), TypeError, "record is an int"),
        (lambda ax: plot.errors_by_label(noted(), n=0, ax=ax), ValueError, "n=0"),
        (lambda ax: plot.memory(noted(), ax=ax), ValueError, r"give it the model, Recorder\(model"),
        (lambda ax: plot.memory(noted(), [], ax=ax), ValueError, "stream is for a model"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(draw, error, message, ax):
    with pytest.raises(error, match=message):
        draw(ax)
    assert not ax.has_data()
