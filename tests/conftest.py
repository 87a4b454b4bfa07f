"""What holds for the whole run."""

import gc
import os
import shutil
import signal
import tempfile

# The tests share the cores among themselves: two processes of two threads each wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

from streamptron.command.cli import main
from tests.support import commands, library, programs
from tests.support.commands import MAIL, SEEDED
from tests.support.marks import in_its_turn, turn
from tests.support.progress import OneLine

# In a shell's background interrupts are ignored, and by all that is started there too: the tests
# that interrupt a process would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files of tests lie in memory where there is room: each that is saved would wait for the disk.
if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 2**31:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")


def pytest_addoption(parser):
    parser.addoption(
        "--turn",
        type=turn,
        metavar="K/N",
        help="of each test with parameters, the K-th of N parts: 1/2 and 2/2 are all of it",
    )
    parser.addoption(
        "--slow-turn", type=turn, metavar="K/N", help="the same, of what is marked slow alone"
    )
    parser.addoption("--one-line", action="store_true", help="how far it is in one line, no dots")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """With --turn every test runs that -m leaves, but each with a part of its parameters."""
    slow = [item for item in items if item.get_closest_marker("slow")]
    for option, those in (("turn", items), ("slow_turn", slow)):
        if config.getoption(option):
            left = {*those} - in_its_turn(those, *config.getoption(option))
            config.hook.pytest_deselected(items=[item for item in items if item in left])
            items[:] = [item for item in items if item not in left]


def pytest_runtest_setup(item):
    if item.get_closest_marker("compiled") and not library.HAS_COMPILER:
        pytest.skip("there is no C compiler to build the library with")


def pytest_configure(config):
    """What tests compile, they compile once: the processes of a run have a folder in common."""
    if not hasattr(config, "workerinput"):  # xdist's are started by this process
        made = tempfile.mkdtemp(prefix="streamptron-tests-")
        config.add_cleanup(lambda: shutil.rmtree(made, ignore_errors=True))
        os.environ["STREAMPTRON_TESTS_MADE"] = made


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    plugins = session.config.pluginmanager
    if session.config.getoption("one_line") and plugins.has_plugin("terminalreporter"):
        plugins.register(OneLine(plugins.get_plugin("terminalreporter")))


def pytest_collection_finish():
    """Thousands of collected tests are of no interest to a collection of garbage in one of them.

    Several tests ask for one, River's checks eight times each; each would look at all of them.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_assertrepr_compare():
    """Of values that differ the first difference, as on a desk.

    Where CI is set, pytest shows whole diffs, whose time is cubic: of long lists it takes hours.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "BUILD_NUMBER"):
            patch.delenv(name, raising=False)
        return (yield)


@pytest.fixture
def mail(tmp_path):
    """A file of mail, and a model that has learned it."""
    (tmp_path / "mail.tsv").write_bytes(MAIL)
    model = tmp_path / "mail.model"
    assert main(["train", str(tmp_path / "mail.tsv"), "--model", str(model), "-q", *SEEDED]) == 0
    return tmp_path / "mail.tsv", model


@pytest.fixture
def program(request, monkeypatch):
    """Which of the two programs a test that is marked by `both` starts."""
    monkeypatch.setattr(commands, "PROGRAM", programs.fixture(request))


@pytest.fixture
def told(capsys):
    """What main says: (code, out, err)."""

    def told(*words):
        if programs.started(words, commands.PROGRAM):
            with commands.process(*words) as running:
                out, err = running.communicate(timeout=60)
            return running.returncode, out.decode(), err.decode()
        code = main(list(map(str, words)))
        return code, *capsys.readouterr()

    return told
