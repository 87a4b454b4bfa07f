"""A recorder of a live stream: what it counts, where it says that things have changed."""

import csv
import io
import math
import os
import pickle
import random
import sys

import numpy as np
import pandas as pd
import pytest
from river import drift, linear_model, preprocessing

from streamptron import (
    AdaptiveClassifier,
    MulticlassPerceptron,
    MultiLabelClassifier,
    Perceptron,
    Tokenizer,
)
from streamptron.study import Recorder, compare
from tests.support.marks import on_posix, seeds


def answers(rng, n, labels="abc", wrong=0.3):
    """Labels and answers; None now and then."""
    for _ in range(n):
        label = rng.choice(labels)
        if rng.random() < 0.1:
            yield label, None
        else:
            yield label, rng.choice(labels) if rng.random() < wrong else label


def share(pairs):
    """The error in percent of some pairs."""
    answered = [(y, a) for y, a in pairs if a is not None]
    return sum(y != a for y, a in answered) / len(answered) if answered else math.nan


@seeds(2, n_slow=3)
def test_errors_are_those_of_the_answers_so_far_by_window_and_by_label(seed):
    rng = random.Random(seed)
    window, pairs = rng.randint(1, 40), list(answers(rng, 500))
    recorder = Recorder(window=window, drift=None)
    for at, (label, answer) in enumerate(pairs, 1):
        recorder.update(label, answer)
        if at in (1, 17, 250, 500):
            past = pairs[:at]
            assert recorder.n_events == at
            assert recorder.error == pytest.approx(share(past), nan_ok=True)
            assert recorder.n_answered == sum(a is not None for _, a in past)
            for each, (n, wrong) in recorder.labels.items():
                mine = [(y, a) for y, a in past if y == each]
                assert (n, wrong) == (len(mine), sum(a not in (y, None) for y, a in mine))
            rows = recorder.windows
            assert [row.n_events for row in rows] == [*range(window, at, window), at]
            for row in rows:
                mine = past[row.n_events - row.n : row.n_events]
                assert row.error == pytest.approx(share(mine), nan_ok=True)
                assert row.error_so_far == pytest.approx(share(past[: row.n_events]), nan_ok=True)
                assert sum(n for n, _ in row.labels.values()) == row.n
                assert sum(wrong for _, wrong in row.labels.values()) == row.n_wrong


@seeds(2)
def test_with_too_many_windows_two_become_one_and_nothing_is_lost(seed):
    rng = random.Random(seed)
    most = rng.randint(2, 9)
    recorder, fine = Recorder(window=3, max_windows=most), Recorder(window=3, max_windows=10**6)
    for label, answer in answers(rng, 400):
        recorder.update(label, answer)
        fine.update(label, answer)
        assert len(recorder.windows) <= most
    assert recorder.window > 3
    ends = {row.n_events: row for row in fine.windows}
    for row in recorder.windows:
        assert row.error_so_far == pytest.approx(ends[row.n_events].error_so_far, nan_ok=True)
    for what in ("n", "n_answered", "n_wrong", "n_drifts"):
        total = sum(getattr(row, what) for row in fine.windows)
        assert sum(getattr(row, what) for row in recorder.windows) == total
    assert recorder.labels == fine.labels


def flipping(n=4000, at=2500, seed=3):
    """Events whose labels mean the opposite from one of them on."""
    rng = np.random.default_rng(seed)
    for k, row in enumerate(rng.normal(size=(n, 6))):
        yield dict(enumerate(row)), bool(row.sum() > 0) != (k >= at)


@pytest.mark.parametrize(
    "detector",
    ["adwin", drift.PageHinkley(mode="up"), drift.binary.DDM(), drift.binary.HDDMA()],
    ids=lambda detector: detector if isinstance(detector, str) else type(detector).__name__,
)
def test_a_change_is_marked_soon_after_it_and_none_before(detector):
    model = AdaptiveClassifier(forget=2**-10)  # "auto" has noticed it before some detectors do
    recorder = Recorder(model, drift=detector)
    for x, y in flipping():
        recorder.update(y, model.predict_one(x))
        model.learn_one(x, y)
    assert recorder.drifts
    assert 2500 < recorder.drifts[0] < 2800
    assert sum(row.n_drifts for row in recorder.windows) == len(recorder.drifts)


def test_getting_better_is_not_marked():
    recorder = Recorder()
    rng = random.Random(1)
    for n in range(3000):
        recorder.update(True, rng.random() > (0.5 if n < 1000 else 0.02))
    assert recorder.drifts == []


def test_without_a_detector_nothing_is_marked():
    recorder = Recorder(drift=None)
    for n in range(3000):
        recorder.update(True, n < 1500)
    assert recorder.drifts == []


@pytest.mark.parametrize("pipeline", [False, True])
def test_who_served_and_memory_are_the_models(pipeline):
    model = Perceptron(average="exponential", half_life=50, max_features=8)
    whole = preprocessing.StandardScaler() | model if pipeline else model
    recorder = Recorder(whole, window=100)
    served = []
    for n, (x, y) in enumerate(flipping(1200, 700), 1):
        x[f"once {n}"] = 1
        served.append(model.serving)
        recorder.update(y, whole.predict_one(x))
        whole.learn_one(x, y)
        if n % 100 == 0:
            row = recorder.windows[-1]
            mine = served[n - 100 :]
            assert row.serving in (max(set(mine), key=mine.count), mine[0])
            assert mine.count(row.serving) >= 50
            assert row.n_evicted == model.n_evicted
            assert row.memory > 500
    assert {"current", "average"} == {row.serving for row in recorder.windows}


def test_a_model_of_rivers_has_neither():
    model = linear_model.LogisticRegression()
    recorder = Recorder(model, window=10)
    for x, y in flipping(50):
        recorder.update(y, model.predict_one(x))
        model.learn_one(x, y)
    assert {(row.serving, row.memory, row.n_evicted) for row in recorder.windows} == {
        (None, None, None)
    }


def test_a_model_learns_nothing_of_its_recorder():
    told, alone = (Tokenizer() | MulticlassPerceptron(hash_seed=1) for _ in range(2))
    recorder = Recorder(told)
    for n in range(300):
        text, label = f"word {n % 7} and {n % 3}", "abc"[n % 3]
        recorder.update(label, told.predict_one(text))
        alone.predict_one(text)
        told.learn_one(text, label)
        alone.learn_one(text, label)
    assert pickle.dumps(told) == pickle.dumps(alone)


def test_labels_invented_by_strangers_cost_little_in_windows():
    recorder = Recorder(window=1000, drift=None)
    for n in range(5000):
        recorder.update(n, 0)
    assert len(recorder.labels) == 5000
    assert max(len(row.labels) for row in recorder.windows) == 50
    assert "4990 labels with fewer errors" in repr(recorder)


def some():
    recorder = Recorder(window=2, drift=None)
    for label, answer in [("ham", "ham"), ("spam", "ham"), ("spam", None), ("é,\n", "ham")]:
        recorder.update(label, answer)
    return recorder


def test_a_frame_has_the_windows_or_the_labels_of_each():
    frame = some().to_frame()
    assert frame[["n_events", "n", "n_answered", "n_wrong"]].values.tolist() == [
        [2, 2, 2, 1],
        [4, 2, 1, 1],
    ]
    assert frame["error"].tolist() == [0.5, 1.0]
    assert frame["error_so_far"].tolist() == [0.5, pytest.approx(2 / 3)]
    by_label = some().to_frame(by_label=True)
    assert by_label[["n_events", "label", "n", "n_wrong"]].values.tolist() == [
        [2, "ham", 1, 0],
        [2, "spam", 1, 1],
        [4, "spam", 1, 0],
        [4, "é,\n", 1, 1],
    ]


def test_a_csv_is_what_the_frame_is(tmp_path):
    path = tmp_path / "errors.csv"
    for by_label in (False, True):
        some().to_csv(path, by_label)
        found, frame = pd.read_csv(path), some().to_frame(by_label)
        assert list(found) == list(frame)
        text = io.StringIO(frame.to_csv(index=False))
        pd.testing.assert_frame_equal(found, pd.read_csv(text))
    with open(path, newline="", encoding="utf-8") as file:
        assert [row[1] for row in csv.reader(file)][-1] == "é,\n"


@on_posix
def test_a_csv_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "any").touch()
    some().to_csv(tmp_path / "errors.csv")
    assert (tmp_path / "errors.csv").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_files_that_are_watched_are_there_at_once_and_follow_the_stream(tmp_path):
    pytest.importorskip("matplotlib")
    chart, table = tmp_path / "errors.svg", tmp_path / "errors.csv"
    recorder = Recorder(window=20)
    recorder.watch(chart=chart, csv=table, seconds=0)
    empty = chart.read_bytes()
    for n in range(1, 61):
        recorder.update(True, n % 3 == 0)
        assert len(pd.read_csv(table)) == n // 20
    assert b"so far" not in empty
    assert b"<svg" in chart.read_bytes()
    assert chart.read_bytes() != empty
    recorder.update(True, False)
    recorder.refresh()
    assert len(pd.read_csv(table)) == 4
    assert sorted(os.listdir(tmp_path)) == ["errors.csv", "errors.svg"]


def test_no_file_is_written_more_often_than_asked(tmp_path):
    table = tmp_path / "errors.csv"
    recorder = Recorder(window=2)
    recorder.watch(csv=table, seconds=3600)
    for _ in range(100):
        recorder.update(True, True)
    assert len(pd.read_csv(table)) == 0


def test_a_file_that_cannot_be_written_is_an_error_at_first_and_a_warning_later(tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    with pytest.raises(OSError, match="nowhere"):
        Recorder().watch(csv=tmp_path / "nowhere" / "errors.csv")
    recorder = Recorder(window=2)
    recorder.watch(csv=folder / "errors.csv", seconds=0)
    (folder / "errors.csv").unlink()
    folder.rmdir()
    recorder.update(True, True)
    with pytest.warns(RuntimeWarning, match=r"errors\.csv cannot be written"):
        recorder.update(True, True)
    assert recorder.n_events == 2


def test_a_chart_in_a_notebook_is_drawn_anew_in_its_cell(monkeypatch):
    pytest.importorskip("matplotlib")
    shown = []

    class Handle:
        def update(self, figure):
            shown.append(figure)

    class Display:
        @staticmethod
        def display(figure, display_id):
            shown.append(figure)
            return Handle()

    monkeypatch.setitem(sys.modules, "IPython", Display)
    monkeypatch.setitem(sys.modules, "IPython.display", Display)
    recorder = Recorder(window=5)
    recorder.watch(chart="notebook", seconds=0)
    for _ in range(10):
        recorder.update(True, True)
    assert len(shown) == 3
    assert [len(figure.axes[0].lines) for figure in shown] == [0, 2, 2]


def test_without_a_notebook_the_error_says_so(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(sys.modules, "IPython", None)
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ImportError, match="needs IPython; give the name of a file"):
        Recorder().watch(chart="notebook")


def test_a_recorder_can_be_pickled_with_what_it_has(tmp_path):
    recorder = some()
    recorder.watch(csv=tmp_path / "errors.csv")
    again = pickle.loads(pickle.dumps(recorder))
    assert again.windows == recorder.windows
    again.update("ham", "ham")
    assert again.n_events == recorder.n_events + 1


def test_a_comparison_has_a_recorder_of_each_model():
    stream = list(flipping(700, 400))
    models = {"ours": AdaptiveClassifier(), "River's": linear_model.LogisticRegression()}
    found = compare(models, stream, window=50)
    assert list(found.recorders) == [result.name for result in found]
    for result in found:
        recorder = found.recorders[result.name]
        assert recorder.error == pytest.approx(result.error)
        assert len(recorder.windows) == 14
    assert found.recorders["ours"].windows[-1].memory == models["ours"].memory_usage


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"window": 0}, ValueError, "window=0"),
        ({"window": True}, TypeError, "window=True"),
        ({"max_windows": 1}, ValueError, "max_windows=1"),
        ({"model": Perceptron}, TypeError, "model is the class Perceptron"),
        ({"model": "mail.model"}, TypeError, "model is"),
        ({"drift": "ADWIN"}, TypeError, "drift='ADWIN'; give \"adwin\""),
        ({"drift": drift.ADWIN}, TypeError, "drift="),
        ({"name": 3}, TypeError, "name=3"),
    ],
)
def test_a_bad_argument_is_named(given, error, message):
    with pytest.raises(error, match=message):
        Recorder(**given)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: r.update(None, "a"), ValueError, "y_true is None"),
        (lambda r: r.update(["a"], "a"), TypeError, r"y_true is \['a'\].*hashable"),
        (lambda r: r.watch(), ValueError, "nothing to watch"),
        (lambda r: r.watch(csv="x.csv", seconds=-1), ValueError, "seconds=-1"),
        (lambda r: r.watch(csv="x.csv", seconds="1"), ValueError, "seconds='1'"),
        (lambda r: r.watch(chart="errors"), ValueError, "its suffix must be a format"),
        (lambda r: r.to_frame(by_label=1), TypeError, "by_label=1"),
    ],
)
def test_a_bad_call_is_named_and_changes_nothing(call, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recorder = some()
    before = pickle.dumps(recorder)
    with pytest.raises(error, match=message):
        call(recorder)
    assert pickle.dumps(recorder) == before
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", [list, set, tuple, frozenset])
def test_events_of_several_labels_are_wrong_if_a_label_is(kind):
    recorder = Recorder(window=2, drift=None)
    for y_true, y_pred in [
        (kind(["a"]), {}),
        (kind(["a", "b"]), {"a": True, "b": True, "c": False}),
        (kind(["a"]), {"a": True, "b": True}),
        (kind([]), {"c": True}),
        (kind([]), {"c": False}),
        ({"a": True, "b": False}, {"a": True, "c": True}),
        ({"a": False}, {"a": True}),
    ]:
        recorder.update(y_true, y_pred)
    assert (recorder.n_events, recorder.n_answered, recorder.n_wrong) == (7, 7, 4)
    assert recorder.labels == {"a": (5, 2), "b": (2, 1), "c": (1, 1)}
    assert sum(window.n_wrong for window in recorder.windows) == 4


def test_a_recorder_takes_what_a_model_of_several_labels_answers():
    model = Tokenizer() | MultiLabelClassifier()
    recorder = Recorder(model)
    for text, labels in [("a b", {"x"}), ("c d", {"x", "y"})] * 20:
        recorder.update(labels, model.predict_one(text))
        model.learn_one(text, labels)
    assert recorder.n_events == 40
    assert recorder.n_wrong == 0 or recorder.error < 0.5
    assert set(recorder.labels) == {"x", "y"}
    with pytest.raises(TypeError, match="the answer has several labels, so give a set or list"):
        recorder.update("x", {"x": True})
