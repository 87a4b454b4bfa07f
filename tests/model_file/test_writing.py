"""A file is replaced whole or not at all, whatever goes wrong in writing."""

import os
import re
import stat
import subprocess
import sys

import pytest

from streamptron import (
    Checkpoint,
    ModelFileError,
    ModelLock,
    Perceptron,
    Tokenizer,
    load,
)
from tests.support import saves
from tests.support.marks import on_posix
from tests.support.model_files import taught
from tests.support.processes import environment
from tests.support.variants import learned, make


def test_directory_and_what_cannot_be_written_are_errors_of_the_systems_with_the_path(tmp_path):
    model = taught("MIRA")
    with pytest.raises(IsADirectoryError) as error:
        model.save(tmp_path)
    assert error.value.filename == os.fspath(tmp_path)
    with pytest.raises(FileNotFoundError) as error:
        model.save(tmp_path / "none" / "model")
    assert error.value.filename == os.fspath(tmp_path / "none" / "model")
    assert os.listdir(tmp_path) == []


@on_posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_is_an_error_of_the_systems(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError) as error:
        taught("MIRA").save(tmp_path / "model")
    assert error.value.filename == os.fspath(tmp_path / "model")


FULL_DISK = """
import resource, signal, sys
from tests.support.variants import learned
from streamptron import load
model = load(sys.argv[1])
model.learn_one({"new": 1}, "label 1", 1e6)
before = learned(model)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    model.save(sys.argv[1])
except OSError as error:
    print(error.filename, learned(model) == before)
"""


@on_posix
def test_full_disk_leaves_the_old_file_whole_and_nothing_else(path):
    taught("MIRA").save(path)
    data = path.read_bytes()
    for room in (0, 100, len(data) // 2, len(data) - 10):
        run = subprocess.run(
            [sys.executable, "-c", FULL_DISK, path, str(room)],
            env=environment(),
            capture_output=True,
            text=True,
        )
        assert run.stdout == f"{path} True\n", run.stderr
        assert path.read_bytes() == data
        assert os.listdir(path.parent) == [path.name]


@on_posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_new_file_is_its_owners_alone_and_the_permissions_of_an_old_one_stay(umask, path):
    models = make("MIRA"), Tokenizer() | make("MIRA")
    old = os.umask(umask)
    try:
        for model in models:
            model.save(path)
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            for mode in (0o604, 0o640, 0o666):
                path.chmod(mode)
                model.save(path)
                assert stat.S_IMODE(path.stat().st_mode) == mode
            path.unlink()
    finally:
        os.umask(old)


@on_posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid(), reason="only root gives files away")
def test_owner_and_group_of_the_old_file_stay_where_that_is_allowed(path):
    model = make("MIRA")
    model.save(path)
    path.chmod(0o640)
    os.chown(path, 1234, 2345)
    model.save(path)
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 2345, 0o640)


@on_posix
def test_group_that_cannot_be_kept_hands_its_permissions_to_no_other(path, monkeypatch):
    """What a user who may write, but not give away, would meet; root is never refused."""
    model = make("MIRA")
    model.save(path)
    path.chmod(0o664)
    before = os.fstat

    def elsewhere(number):
        status = list(before(number))
        status[5] += 1  # st_gid: the new file is another group's
        return os.stat_result(status)

    def refused(*call):
        raise PermissionError

    monkeypatch.setattr(os, "fstat", elsewhere)
    monkeypatch.setattr(os, "fchown", refused)
    model.save(path)
    monkeypatch.undo()
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@on_posix
def test_file_that_a_link_names_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "model", tmp_path / "link"
    link.symlink_to(target)
    for model in (taught("MIRA"), taught("MIRA", seed=1)):
        model.save(link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert learned(load(link)) == learned(load(target)) == learned(model)
    assert os.listdir(target.parent) == ["model"]


@on_posix
def test_the_next_save_removes_what_killed_ones_have_left(path):
    for _ in range(2):
        saves.killed(path)
        assert len(os.listdir(path.parent)) == 1
    another = path.with_name(f"{path.name}2")
    saves.killed(another)
    make("Perceptron").save(path)
    assert len(os.listdir(path.parent)) == 2
    make("Perceptron").save(another)
    assert sorted(os.listdir(path.parent)) == [path.name, another.name]


def test_saves_into_one_folder_leave_each_other_alone(path, monkeypatch):
    others = [path.with_name(path.name + more) for more in ("", "2", "-eu", ".000001", ".tmp")]
    with saves.held_up(monkeypatch, *others):
        make("Perceptron").save(path)
        Checkpoint(make("Perceptron"), path).save()
    assert sorted(os.listdir(path.parent)) == sorted(other.name for other in others)
    assert all(load(other).n_seen == 0 for other in others)


@pytest.mark.parametrize("name", ["模" * 80, "m" * 200, "m" * 255, "é" * 120 + ".st"])
def test_a_name_may_be_as_long_as_the_system_allows(name, path):
    path = path.with_name(name)
    model = make("Perceptron")
    model.save(path)
    model.learn_one({"a": 1}, True)
    with ModelLock(path) as lock:
        lock.save(model)
    assert os.listdir(path.parent) == [name]
    assert load(path).n_seen == 1


@on_posix
def test_a_device_is_written_to_and_stays():
    device = os.stat(os.devnull)
    make("MIRA").save(os.devnull)
    assert os.path.samestat(os.stat(os.devnull), device)
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match="No space left on device"):
            make("MIRA").save("/dev/full")


def test_a_path_may_be_bytes(path):
    model = make("Perceptron")
    name = os.fsencode(path)
    model.save(name)
    with ModelLock(name) as lock:
        model.learn_one({"a": 1}, True)
        lock.save(model)
    assert load(name).n_seen == 1
    assert Checkpoint(model, name).save() == path.with_name(f"{path.name}.000001")
    assert Checkpoint.newest(name).n_seen == 1


@on_posix
def test_what_is_no_regular_file_is_not_replaced(path):
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        make("MIRA").save(path)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_path_may_be_bytes_as_those_of_os_may(tmp_path):
    path = os.fsencode(tmp_path / "m")
    model = Perceptron()
    with ModelLock(path) as lock:
        lock.save(model)
    assert load(path).n_seen == 0
    checkpoint = Checkpoint(model, path, every_events=1)
    model.learn_one({"a": 1}, True)
    assert checkpoint.step()
    assert Checkpoint.newest(path).n_seen == 1
    (tmp_path / "m").write_bytes(b"")
    with pytest.raises(ModelFileError, match=re.escape(repr(str(tmp_path / "m")))):
        load(path)
