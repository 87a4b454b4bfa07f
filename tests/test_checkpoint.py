"""Checkpoints: when they are due, how many are kept, and what is there after a crash."""

import datetime
import itertools
import os
import re
import stat
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import pytest

from streamptron import Checkpoint, ModelFileError, Perceptron, Tokenizer, load, read_metadata
from tests.support import killed, saves
from tests.support.marks import on_posix, seeds
from tests.support.river import scaler
from tests.support.variants import learned, make


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "model"


@pytest.fixture(autouse=True)
def folder(path):
    path.parent.mkdir()
    return path.parent


def learn(model, n):
    for _ in range(n):
        model.learn_one({f"w{model.n_seen}": 1}, model.n_seen % 2 == 0)


def test_step_saves_when_so_many_events_have_been_learned(path, folder):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path, every_events=3)
    due = []
    for _ in range(10):
        learn(model, 1)
        due.append(checkpoint.step())
    assert due == [False, False, True] * 3 + [False]
    assert sorted(os.listdir(folder)) == [f"model.00000{i}" for i in (1, 2, 3)]
    assert [load(f"{path}.00000{i}").n_seen for i in (1, 2, 3)] == [3, 6, 9]


@pytest.fixture
def clock(monkeypatch):
    """A second passes whenever somebody asks for the time."""
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))


def test_step_saves_when_so_many_seconds_have_passed(path, clock):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path, every_seconds=3)
    due = []
    for _ in range(7):
        learn(model, 1)
        due.append(checkpoint.step())
    assert due == [False, False, True] * 2 + [False]


def test_step_saves_nothing_while_nothing_is_learned_however_long_that_lasts(path, folder, clock):
    model = make("Perceptron")
    learn(model, 5)
    checkpoint = Checkpoint(model, path, every_seconds=3)
    assert not any(checkpoint.step() for _ in range(9))
    learn(model, 1)
    assert checkpoint.step()  # at once: the last save is long ago
    assert not any(checkpoint.step() for _ in range(9))
    assert os.listdir(folder) == ["model.000001"]
    learn(model, 1)
    checkpoint.save()
    assert not any(checkpoint.step() for _ in range(9))
    # a position that moves is worth a file
    assert [checkpoint.step(position=k // 5) for k in range(10)].count(True) == 2
    assert Checkpoint.newest_saved(path).position == 1


def test_what_could_not_be_saved_is_saved_when_it_is_due_again(path, folder, clock):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path, every_seconds=3)
    learn(model, 1)
    folder.rename(folder.with_name("away"))
    with pytest.raises(OSError, match="model"):
        [checkpoint.step() for _ in range(9)]
    folder.with_name("away").rename(folder)
    assert [checkpoint.step() for _ in range(9)].count(True) == 1


def test_step_saves_nothing_unless_asked_for_an_interval(path, folder):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path)
    learn(model, 100)
    assert not checkpoint.step()
    assert os.listdir(folder) == []
    assert checkpoint.save() == path.with_name("model.000001")


@pytest.mark.parametrize("keep", [1, 2, 5])
def test_only_the_newest_files_are_kept_and_numbers_go_on_after_a_restart(path, folder, keep):
    (folder / "model.txt").write_text("another's")
    (folder / "model.000001.backup").write_text("another's")
    model = make("Perceptron")
    for _ in range(3):
        checkpoint = Checkpoint(model, path, keep=keep)
        for _ in range(4):
            learn(model, 1)
            checkpoint.save()
    files = sorted(set(os.listdir(folder)) - {"model.txt", "model.000001.backup"})
    assert files == [f"model.{i:06}" for i in range(13 - keep, 13)]
    assert learned(Checkpoint.newest(path)) == learned(model)
    assert len(os.listdir(folder)) == keep + 2


def test_numbers_may_outgrow_their_places(path):
    model = make("Perceptron")
    model.save(f"{path}.999999")
    learn(model, 1)
    assert Checkpoint(model, path, keep=1).save() == path.with_name("model.1000000")
    assert Checkpoint.newest(path).n_seen == 1


def test_newest_is_none_where_there_is_none(path, tmp_path):
    assert Checkpoint.newest(path) is None
    assert Checkpoint.newest(tmp_path / "no folder" / "model") is None


def test_newest_passes_over_damaged_files_and_says_which_it_took(path):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path)
    for _ in range(3):
        learn(model, 1)
        checkpoint.save()
    for i in (2, 3):
        file = path.with_name(f"model.00000{i}")
        file.write_bytes(file.read_bytes()[:-5])
    with pytest.warns(UserWarning, match=r"model.000003' is damaged: .*; using instead: .*000001'"):
        assert Checkpoint.newest(path).n_seen == 1
    learn(model, 1)
    checkpoint.save()
    assert Checkpoint.newest(path).n_seen == 4


def test_newest_raises_where_all_are_damaged_rather_than_start_anew(path):
    checkpoint = Checkpoint(make("Perceptron"), path)
    for _ in range(2):
        checkpoint.save().write_bytes(b"damaged")
    with pytest.raises(ModelFileError, match=r"model\.000002"):
        Checkpoint.newest(path)


def test_newest_may_be_opened_in_place(path):
    Checkpoint(make("Perceptron"), path).save()
    with pytest.raises(RuntimeError, match="read-only"):
        learn(Checkpoint.newest(path, mmap=True), 1)


def test_save_that_fails_leaves_all_as_it_was_and_is_tried_again_only_when_due(path, folder):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path, every_events=2)
    learn(model, 2)
    checkpoint.step()
    folder.rename(folder.with_name("elsewhere"))
    learn(model, 2)
    before = learned(model)
    with pytest.raises(FileNotFoundError) as error:
        checkpoint.step()
    assert error.value.filename == f"{path}.000001"
    assert learned(model) == before
    folder.with_name("elsewhere").rename(folder)
    learn(model, 1)
    assert not checkpoint.step()
    learn(model, 1)
    assert checkpoint.step()
    assert sorted(os.listdir(folder)) == ["model.000001", "model.000002"]


def test_save_removes_what_a_killed_one_has_left(path, folder):
    left = folder / ".model.000001.0123456789ab.tmp"
    others = [folder / ".model.tmp", folder / ".another.000001.0123456789ab.tmp"]
    for file in (left, *others):
        file.write_bytes(b"")
    Checkpoint(make("Perceptron"), path).save()
    assert sorted(os.listdir(folder)) == [
        ".another.000001.0123456789ab.tmp",
        ".model.tmp",
        "model.000001",
    ]


def test_other_models_in_the_folder_save_while_checkpoints_are_written(path, monkeypatch):
    others = [path.with_name(name) for name in ("model2", "model-eu", "model.old", "mod")]
    with saves.held_up(monkeypatch, *others):
        Checkpoint(make("Perceptron"), path).save()
    assert all(load(other).n_seen == 0 for other in others)


def test_threads_that_learn_and_step_save_each_time_that_it_is_due(path, folder):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path, every_events=10)
    saved, errors = [], []

    def work():
        try:
            for _ in range(200):
                model.learn_one({"a": 1}, True)
                saved.append(checkpoint.step())
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert 20 <= sum(saved) <= 60
    numbers = sorted(int(name.removeprefix("model.")) for name in os.listdir(folder))
    assert numbers == [sum(saved) - 2, sum(saved) - 1, sum(saved)]
    seen = [load(path.with_name(f"model.{number:06}")).n_seen for number in numbers]
    assert seen == sorted(seen)
    assert seen[-1] > 590


def test_threads_that_save_at_once_write_a_file_each(path, folder):
    checkpoint = Checkpoint(make("Perceptron"), path, keep=100)
    with ThreadPoolExecutor(4) as pool:
        files = set(pool.map(lambda _: checkpoint.save(), range(40)))
    assert sorted(os.listdir(folder)) == sorted(file.name for file in files)
    assert len(files) == 40


def test_save_of_a_signal_handler_within_a_save_is_the_newest(path, folder, monkeypatch):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path)
    fsync = os.fsync

    def interrupted(number):
        monkeypatch.setattr(os, "fsync", fsync)
        learn(model, 1)
        checkpoint.save()
        fsync(number)

    monkeypatch.setattr(os, "fsync", interrupted)
    checkpoint.save()
    assert sorted(os.listdir(folder)) == ["model.000001", "model.000002"]
    assert Checkpoint.newest(path).n_seen == 1


def test_newest_is_found_although_the_writer_has_removed_all_that_were_listed(path, monkeypatch):
    checkpoint = Checkpoint(make("Perceptron"), path, keep=1)
    checkpoint.save()
    regular = os.stat

    def overtaken(name, *more, **named):
        monkeypatch.setattr(os, "stat", regular)
        checkpoint.save()
        return regular(name, *more, **named)

    monkeypatch.setattr(os, "stat", overtaken)
    assert Checkpoint.newest_saved(path).path == path.with_name("model.000002")


def test_metadata_goes_into_every_file(path):
    assert read_metadata(Checkpoint(make("MIRA"), path, metadata={"a": 1}).save()) == {"a": 1}


# What can be saved


def test_pipeline_of_a_tokenizer_and_a_learner_is_saved_when_due_and_comes_back(path):
    model = Tokenizer(ngram_range=(1, 2)) | make("MIRA")
    checkpoint = Checkpoint(model, path, every_events=2, metadata={"a": 1})
    due = []
    for label in ("spam", "ham", "spam", "ham", "spam"):
        model.learn_one(f"some text of {label}", label)
        due.append(checkpoint.step())
    assert due == [False, True, False, True, False]
    checkpoint.save()
    for mmap in (False, True):
        again = Checkpoint.newest(path, mmap)
        assert again[0]._get_params() == model[0]._get_params()
        assert learned(again[-1]) == learned(model[-1])
        assert again.predict_one("some ham") == model.predict_one("some ham")
    assert Checkpoint.newest_saved(path).metadata == {"a": 1}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            lambda: Perceptron() | scaler(),
            r"not a pipeline of Perceptron, StandardScaler\. Pickle the pipeline instead; or save "
            r"its learner alone, pipeline\['Perceptron'\], and rebuild the others",
        ),
        (scaler, r"not a StandardScaler from river\..*; pickle it instead"),
        (lambda: type("Mine", (Perceptron,), {})(), "not a Mine from"),
    ],
    ids=["pipeline", "transformer", "subclass"],
)
def test_model_that_no_file_holds_is_refused_at_once_and_what_to_do_is_said(model, message, path):
    with pytest.raises(TypeError, match=message):
        Checkpoint(model(), path)


def test_metadata_that_would_not_come_back_are_refused_at_once(path):
    with pytest.raises(TypeError, match="metadata="):
        Checkpoint(make("MIRA"), path, metadata={1: 2})


# The position in a stream


POSITIONS = [
    "1700000000000-3", b"\0\xff", 2**70, 0, 0.1, "", True, {("mail", 0): 17, "other": [1, None]},
    {0: 5, 1: 7}, [("a", 1), ["b"], {}], (), Decimal("0.10"), Fraction(1, 3),
    datetime.datetime(2026, 2, 3, 4, 5, tzinfo=datetime.UTC),
]  # fmt: skip


@pytest.mark.parametrize("position", POSITIONS, ids=repr)
def test_position_comes_back_equal_and_of_the_same_type_with_what_was_learned_up_to_it(
    position, path
):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path, every_events=3, metadata={"a": 1})
    learn(model, 2)
    assert not checkpoint.step(position="not due")
    learn(model, 1)
    assert checkpoint.step(position=position)
    learn(model, 1)
    assert not checkpoint.step(position="not due")
    saved = Checkpoint.newest_saved(path)
    assert (saved.model.n_seen, saved.metadata) == (3, {"a": 1})
    assert saved.path == path.with_name("model.000001")
    assert repr(saved.position) == repr(position)
    assert type(saved.position) is type(position)
    assert Checkpoint.newest_saved(path, mmap=True).position == position
    assert read_metadata(saved.path) == {"a": 1}


def test_position_is_none_where_none_was_given_even_after_another(path):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path)
    assert Checkpoint.newest_saved(path) is None
    checkpoint.save(position=5)
    checkpoint.save()
    assert Checkpoint.newest_saved(path).position is None
    model.save(f"{path}.000003")
    assert Checkpoint.newest_saved(path)[1:] == ({}, None, path.with_name("model.000003"))


@pytest.mark.parametrize(
    "position", [{1, 2}, object(), ["a", {"b": range(3)}]], ids=["set", "object", "range"]
)
def test_position_that_cannot_be_kept_is_refused_whether_a_save_is_due_or_not(
    position, path, folder
):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path, every_events=2)
    for _ in range(2):
        learn(model, 1)
        with pytest.raises(TypeError, match=r"position: .* which a model file cannot hold"):
            checkpoint.step(position=position)
    with pytest.raises(TypeError, match="position: "):
        checkpoint.save(position=position)
    assert os.listdir(folder) == []
    assert checkpoint.step(position=2)  # it was due all the time


def test_damaged_checkpoint_is_passed_over_with_its_position(path):
    model = make("Perceptron")
    checkpoint = Checkpoint(model, path)
    for position in (1, 2):
        learn(model, 1)
        checkpoint.save(position)
    newest = path.with_name("model.000002")
    newest.write_bytes(newest.read_bytes()[:-5])
    with pytest.warns(UserWarning, match="using instead"):
        saved = Checkpoint.newest_saved(path)
    assert (saved.position, saved.model.n_seen) == (1, 1)


def test_stream_read_again_from_the_position_is_learned_once_however_often_it_breaks_off(path):
    """A consumer that crashes after any number of events, saved or not."""
    for crash in itertools.cycle((5, 1, 9, 12, 3)):
        saved = Checkpoint.newest_saved(path)
        model, start = (saved.model, saved.position) if saved else (make("Perceptron"), 0)
        checkpoint = Checkpoint(model, path, every_events=4)
        for offset in range(start, min(100, start + crash)):
            model.learn_one({f"w{offset}": 1}, offset % 2 == 0)
            checkpoint.step(position=offset + 1)
        if offset == 99:
            break
    once = make("Perceptron")
    for offset in range(100):
        once.learn_one({f"w{offset}": 1}, offset % 2 == 0)
    assert learned(model) == learned(once)


@on_posix
def test_checkpoints_are_their_owners_alone_until_the_newest_is_changed(path):
    checkpoint = Checkpoint(make("Perceptron"), path)
    modes = []
    for mode in (0o640, None, 0o604, None):
        file = checkpoint.save()
        modes.append(stat.S_IMODE(file.stat().st_mode))
        if mode:
            file.chmod(mode)
    assert modes == [0o600, 0o640, 0o640, 0o604]


@pytest.mark.parametrize(
    "params",
    [
        {"every_events": 0},
        {"every_events": 1.5},
        {"keep": 0},
        {"keep": True},
        {"every_seconds": 0},
        {"every_seconds": "60"},
        {"every_seconds": float("nan")},
        {"every_seconds": True},
    ],
    ids=str,
)
def test_parameter_that_cannot_be_is_refused_by_name(path, params):
    (name,) = params
    with pytest.raises(ValueError, match=f"{name}="):
        Checkpoint(make("Perceptron"), path, **params)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@seeds(1, n_slow=1)
def test_daemon_killed_at_any_moment_loses_nothing_that_was_saved(seed, folder):
    within, n_seen = killed.kill(12, seed, folder)
    assert 0 <= within <= 12
    assert n_seen >= 12 * 7


def test_a_folder_that_is_not_there_is_said_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path=.*: there is no folder '.*nix'; make it"):
        Checkpoint(Perceptron(), tmp_path / "nix" / "mail")


class Odd(str):
    """A str that equals no other one, so that it stays the object that it is."""

    def __hash__(self):
        return 7


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ({uuid.UUID(int=1): 1}, True, "the feature name UUID("),
        ({"a": 1}, uuid.UUID(int=1), "the label UUID("),
        ({"a": 1}, Odd("spam"), "the label 'spam' is an Odd"),
    ],
)
def test_what_no_file_can_hold_is_said_at_the_next_step_not_when_a_save_is_due(path, x, y, said):
    model = make("MulticlassPerceptron")
    checkpoint = Checkpoint(model, path, every_events=1000)
    model.learn_one({"a": 1}, False)
    assert checkpoint.step() is False
    model.learn_one(x, y)
    for _ in range(2):
        with pytest.raises(TypeError, match=re.escape(said)):
            checkpoint.step()
    with pytest.raises(TypeError, match=re.escape(said)):
        Checkpoint(model, path)


def test_odd_names_that_a_file_can_hold_are_saved(path):
    model = make("MulticlassPerceptron")
    checkpoint = Checkpoint(model, path, every_events=1)
    model.learn_one({datetime.date(2026, 1, 31): 1, 0.5: 1}, datetime.date(2026, 1, 31))
    assert checkpoint.step()
    assert learned(Checkpoint.newest(path)) == learned(model)
