"""Two who would write one model file: the second hears of the first, and nothing is lost."""

import errno
import os
import re
import signal
import subprocess
import sys
import threading

import pytest

from streamptron import ModelLock, ModelLockError, Perceptron, Tokenizer, load
from streamptron.files.lines import LineModel
from tests.support.commands import ENVIRONMENT, MAIL, answered, process, run
from tests.support.marks import on_posix
from tests.support.variants import loaded

HOLDER = """
import sys, time
from streamptron import ModelLock
with ModelLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of tmp_path / "m"."""
    words = [sys.executable, "-c", HOLDER, str(tmp_path / "m")]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"held\n"
        yield running
        running.kill()


def model_of(*words):
    model = Perceptron()
    for word in words:
        model.learn_one({word: 1}, True)
    return model


def test_a_lock_that_is_held_says_by_whom_and_since_when(holder, tmp_path):
    message = (
        rf"written by process {holder.pid} \(.*, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\); wait"
    )
    with pytest.raises(ModelLockError, match=message), ModelLock(tmp_path / "m"):
        pass
    assert not (tmp_path / "m").exists()


def test_a_lock_goes_with_its_process_however_that_ends(holder, tmp_path):
    holder.send_signal(signal.SIGKILL)
    holder.wait(60)
    with ModelLock(tmp_path / "m") as lock:
        lock.save(model_of("a"))
    assert os.listdir(tmp_path) == ["m"]


def test_a_process_has_a_lock_once(tmp_path):
    with (
        ModelLock(tmp_path / "m"),
        pytest.raises(ModelLockError, match=f"process {os.getpid()} "),
        ModelLock(tmp_path / "m"),
    ):
        pass
    with ModelLock(tmp_path / "m"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_lock_is_of_the_file_whatever_it_is_called(tmp_path):
    model_of("a").save(tmp_path / "m")
    (tmp_path / "link").symlink_to("m")
    with ModelLock(tmp_path / "link") as lock:
        with pytest.raises(ModelLockError), ModelLock(os.path.relpath(tmp_path / "m")):
            pass
        lock.save(model_of("a", "b"))
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "m").n_seen == 2


def test_a_file_that_somebody_else_has_replaced_is_not_overwritten(tmp_path):
    model_of("a").save(tmp_path / "m")
    with ModelLock(tmp_path / "m") as lock:
        lock.save(model_of("a", "b"))
        lock.save(model_of("a", "b", "c"))
        model_of("x").save(tmp_path / "m")
        for _ in range(2):
            with pytest.raises(ModelLockError, match="a program that did not take the lock"):
                lock.save(model_of("a", "b", "c", "d"))
        assert load(tmp_path / "m").weights == model_of("x").weights
        with pytest.raises(ZeroDivisionError), lock.reloading():
            raise ZeroDivisionError
        with pytest.raises(ModelLockError):
            lock.check()
        with lock.reloading():
            model = load(tmp_path / "m")
        model.learn_one({"y": 1}, True)
        lock.save(model)
        (tmp_path / "m").unlink()
        lock.save(model)  # there is nothing to lose
    assert load(tmp_path / "m").n_seen == 2


def test_a_lock_that_is_not_held_saves_nothing(tmp_path):
    lock = ModelLock(tmp_path / "m")
    with pytest.raises(ModelLockError, match="use it in a with block"):
        lock.save(model_of("a"))
    with pytest.raises(FileNotFoundError), ModelLock(tmp_path / "none" / "m"):
        pass


@on_posix
@pytest.mark.parametrize("leaves", ["at its end", "by exit", "by an error"])
def test_a_child_that_leaves_the_block_takes_nothing_from_its_parent(leaves, tmp_path):
    with ModelLock(tmp_path / "m") as lock:
        child = os.fork()
        if child == 0:
            try:
                if leaves == "by exit":
                    sys.exit(0)
                if leaves == "by an error":
                    raise ZeroDivisionError
                lock.__exit__(None, None, None)
            except BaseException as error:
                lock.__exit__(type(error), error, None)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        with pytest.raises(ModelLockError, match=f"process {os.getpid()} "), ModelLock(lock.path):
            pass
        lock.save(model_of("a"))
    assert os.listdir(tmp_path) == ["m"]


@on_posix
def test_a_child_that_stays_in_the_block_holds_the_lock_too(tmp_path):
    ends, waits = os.pipe()
    with ModelLock(tmp_path / "m") as lock:
        child = os.fork()
        if child == 0:
            try:
                os.close(waits)
                os.read(ends, 1)
                lock.__exit__(None, None, None)
            finally:
                os._exit(0)
    with pytest.raises(ModelLockError), ModelLock(tmp_path / "m"):
        pass
    os.close(waits)
    os.waitpid(child, 0)
    os.close(ends)
    assert os.listdir(tmp_path) == []
    with ModelLock(tmp_path / "m"):
        pass


def test_one_lock_is_taken_once(tmp_path):
    with ModelLock(tmp_path / "m") as lock:
        with pytest.raises(ModelLockError, match=f"written by process {os.getpid()} "), lock:
            pass
        lock.save(model_of("a"))
        with pytest.raises(ModelLockError), ModelLock(tmp_path / "m"):
            pass
    with lock:  # and again when it was given back
        lock.save(model_of("a", "b"))


@on_posix
@pytest.mark.parametrize("how", ["symlink_to", "hardlink_to", "write_bytes"])
def test_nothing_is_written_into_a_file_that_only_has_the_locks_name(how, tmp_path):
    (tmp_path / "other").write_bytes(b"precious")
    getattr(tmp_path / ".m.lock", how)(b"precious" if how == "write_bytes" else tmp_path / "other")
    with pytest.raises(ModelLockError, match=r"\.m\.lock' is not a lock file of") as error:
        ModelLock(tmp_path / "m").__enter__()
    assert "remove it" in str(error.value)
    assert (tmp_path / ".m.lock").read_bytes() == b"precious"
    os.mkfifo(tmp_path / ".n.lock")
    with pytest.raises(ModelLockError, match="not a lock"):
        ModelLock(tmp_path / "n").__enter__()


@on_posix
def test_a_file_system_without_locks_is_said_with_the_files_name(tmp_path, monkeypatch):
    import fcntl

    def without(number, how):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", without)
    with pytest.raises(OSError, match="file system has no locks") as error:
        ModelLock(tmp_path / "m").__enter__()
    assert error.value.filename == os.fspath(tmp_path / "m")
    assert error.value.errno == errno.ENOLCK
    assert os.listdir(tmp_path) == []
    model_of("a").save(tmp_path / "m")  # which needs none
    assert os.listdir(tmp_path) == ["m"]


def test_names_that_begin_alike_have_locks_of_their_own(tmp_path):
    with ModelLock(tmp_path / ("m" * 200 + "1")), ModelLock(tmp_path / ("m" * 200 + "2")):
        pass
    assert os.listdir(tmp_path) == []


def test_of_many_who_take_and_lift_a_lock_one_holds_it_at_a_time(tmp_path):
    """With the file of the lock removed and made anew all the while."""
    inside, most, turns = 0, 0, 0

    def take():
        nonlocal inside, most, turns
        left = 100
        while left:
            try:
                with ModelLock(tmp_path / "m"):
                    inside += 1
                    most = max(most, inside)
                    turns += 1
                    inside -= 1
                    left -= 1
            except ModelLockError:
                pass

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert turns == 400
    assert os.listdir(tmp_path) == []


# --- On the command line


@pytest.mark.parametrize(
    "words", [["train", "{tsv}"], ["train", "{tsv}", "--resume"], ["predict", "--learn"]]
)
def test_a_model_that_a_filter_learns_is_nobody_elses_to_write(words, mail):
    tsv, model = mail
    words = [word.format(tsv=tsv) for word in words]
    with process("predict", "--learn", "--model", model) as running:
        assert answered(running, b"eggs\tbacon\n")
        _, said = run(*words, "--model", model, code=1)
        assert re.search(
            rf"'{model}' is being written by process {running.pid} \(streamptron predict, since",
            said,
        )
        assert run("predict", "--model", model, data=b"a prize\n")[0].startswith(b"spam\t")
        running.communicate(b"eggs\tbacon\n", timeout=60)
        assert running.returncode == 0
    assert loaded(model).n_seen == 6
    run(*words, "--model", model, data=MAIL)


def test_a_training_holds_its_model_while_it_waits(mail):
    tsv, model = mail
    with process("train", "-", "--resume", "--model", model) as running:
        running.stdin.write(MAIL)
        assert running.stderr.readline()
        _, said = run("train", tsv, "--model", model, code=1)
        assert f"process {running.pid} (streamptron train, since" in said
        running.communicate(timeout=60)
    assert running.returncode == 0
    assert loaded(model).n_seen == 8


def test_what_was_learned_is_kept_beside_a_file_with_a_very_long_name(tmp_path):
    path = tmp_path / ("模" * 80)
    (Tokenizer() | Perceptron()).save(path)
    with ModelLock(path) as lock:
        lines = LineModel.load(path)
        model_of("x").save(path)
        with pytest.raises(ModelLockError, match=f"was learned is in .*process-{os.getpid()}'"):
            lines.save_at_last(lock)
    assert len(os.listdir(tmp_path)) == 2


@pytest.mark.parametrize("words", [["predict", "--learn"], ["train", "-", "--resume"]])
def test_what_was_learned_is_kept_beside_a_file_that_was_replaced(words, mail):
    _, model = mail
    with process(*words, "--model", model) as running:
        running.stdin.write(MAIL)
        assert (running.stdout if words[0] == "predict" else running.stderr).readline()
        other = model.with_name("other")
        model_of("x").save(other)
        other.replace(model)
        _, said = running.communicate(timeout=60)
        assert running.returncode == 1
    beside = model.with_name(f"{model.name}.of-process-{running.pid}")
    assert f"it is left as it is; what was learned is in '{beside}'" in said.decode()
    assert loaded(model).weights == model_of("x").weights
    assert loaded(beside).n_seen == 8
    assert sorted(os.listdir(model.parent)) == sorted(["mail.tsv", model.name, beside.name])


def test_a_training_that_fails_leaves_no_lock(mail, told):
    tsv, model = mail
    tsv.write_bytes(b"no label\n")
    assert told("train", tsv, "--model", model)[0] == 1
    assert sorted(os.listdir(model.parent)) == ["mail.model", "mail.tsv"]
