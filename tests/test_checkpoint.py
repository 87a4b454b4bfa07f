"""Checkpoints: when they are due, how many are kept, and what is there after a crash."""

import itertools
import os
import time

import killed
import pytest
from variants import learned, make

from streamptron import Checkpoint, ModelFileError, load, read_metadata


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


def test_step_saves_when_so_many_seconds_have_passed(path, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    checkpoint = Checkpoint(make("Perceptron"), path, every_seconds=3)
    assert [checkpoint.step() for _ in range(7)] == [False, False, True] * 2 + [False]


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
    with pytest.warns(UserWarning, match=r"model.000003' is damaged: .*; taken instead: .*000001'"):
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


def test_metadata_goes_into_every_file(path):
    assert read_metadata(Checkpoint(make("MIRA"), path, metadata={"a": 1}).save()) == {"a": 1}


@pytest.mark.parametrize(
    "params",
    [{"every_events": 0}, {"every_events": 1.5}, {"keep": 0}, {"keep": True}, {"every_seconds": 0}],
    ids=str,
)
def test_parameter_that_cannot_be_is_refused_by_name(path, params):
    (name,) = params
    with pytest.raises(ValueError, match=f"{name}="):
        Checkpoint(make("Perceptron"), path, **params)


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@pytest.mark.parametrize("seed", range(2), ids="seed={}".format)
def test_daemon_killed_at_any_moment_loses_nothing_that_was_saved(seed, folder):
    within, n_seen = killed.kill(12, seed, folder)
    assert 0 <= within <= 12
    assert n_seen >= 12 * 7
