"""Every allocation of spt fails once, under sanitizers: a mail goes on, nothing is half done."""

import os
import shutil
import subprocess

import pytest

from tests.support import library
from tests.support.commands import SEEDED, run
from tests.support.library import SANITIZED, needs_compiler
from tests.support.programs import SOURCES
from tests.support.project import TESTS

pytestmark = [needs_compiler, pytest.mark.slow, pytest.mark.once]

MAIL = b"Subject: a free prize\nFrom: x\n\nwin money\n"
MOST = 1000  # allocations, which no command comes near to


@pytest.fixture(scope="module")
def failing():
    """spt, whose allocations can fail."""
    compiler = tuple(library.sanitizer())
    path = library.folder() / "spt-failing"
    made = library.compiled(compiler, SANITIZED)
    with library.alone(path.name) as first:
        if first:
            wrap = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"
            files = [*map(str, SOURCES), str(TESTS / "program" / "failing.c"), str(made)]
            flags = ["-std=c11", "-D_GNU_SOURCE", *SANITIZED, f"-I{library.folder()}", wrap]
            library.called(*compiler, *flags, *files, "-lm", "-o", str(path))
    return path


@pytest.fixture
def model(tmp_path):
    for name, words in (("Junk", b"free prize"), ("INBOX", b"the meeting")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.eml").write_bytes(b"Subject: %b\n\n%b\n" % (words, words))
    boxes = ("--spam", tmp_path / "Junk", "--ham", tmp_path / "INBOX")
    run("train", "-q", *boxes, "-m", tmp_path / "mail.model", *SEEDED)
    return tmp_path / "mail.model"


def outcome(program, words, data, number, **more):
    environment = {**os.environ, "SPT_FAIL": str(number), **more}
    words = [program, *map(str, words)]
    return subprocess.run(words, input=data, capture_output=True, env=environment, check=False)


@pytest.mark.parametrize("more", [{}, {"SPT_FAIL_ON": "1"}])
def test_the_mail_goes_on_whichever_allocation_fails(failing, model, more):
    for number in range(1, MOST):
        done = outcome(failing, ("filter", "-m", model), MAIL, number, **more)
        lines = done.stdout.splitlines(True)
        kept = b"".join(line for line in lines if not line.startswith(b"X-Streamptron: "))
        assert (kept, done.returncode in (0, 1, 3)) == (MAIL, True), (number, done.stderr)
        if done.returncode != 3:
            break
    assert 10 < number < MOST - 1


@pytest.mark.parametrize(
    ("words", "data"),
    [
        (("predict", "--learn", "--top", "2"), b"spam\ta\nham\tb\n"),
        (("predict", "--json"), b"a prize\n"),
        (("explain", "a prize"), b""),
        (("top",), b""),
        (("info", "--json"), b""),
    ],
)
def test_each_command_says_that_there_is_no_memory(failing, words, data, mail, tmp_path):
    copy = tmp_path / "copy"
    for number in range(1, MOST):
        shutil.copy(mail[1], copy)
        before = copy.read_bytes()
        done = outcome(failing, (words[0], "-m", copy, *words[1:]), data, number)
        assert done.returncode in (0, 1), (number, done.stderr)
        if done.returncode == 0:
            break
        assert done.stderr.startswith(b"spt-failing: ")
        assert copy.read_bytes() == before or "--learn" in words
    assert 10 < number < MOST - 1
