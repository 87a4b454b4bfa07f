"""Walk journeys: type what a person types, and hold what comes against what is written.

    python journeys/run.py [--accept] [--spt PROGRAM] FOLDER_OF_COMMANDS [JOURNEY ...]

A journey is a page. Its blocks

    ```console README.md
    $ streamptron train mail.tsv --model mail.model
    ```

are typed into one shell, in an empty folder, with the streamptron of FOLDER_OF_COMMANDS (an
environment's bin). What a command prints, errors too, must be the lines below it; `...` stands for
any text. A block that names a page shows what that page shows: commands and answers must be in it.
The shell knows two folders: $DATA, with real streams, and $PAGES, the project's pages.

A line "Needs `a`, `b`." names the programs and files of $DATA without which there is nothing to
walk. --accept writes what came into the page; read the difference before you believe it.
With --spt what the program spt has, too, is done by it, and must print the same; it has neither
--config nor --status.
"""

import argparse
import contextlib
import difflib
import doctest
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent
DATA = PAGES.parent / "shared" / "data"
BOTH = "predict*|filter*|learn*|explain*|top*|info*"  # commands of both programs
SHIM = """\
#!/bin/bash
case "$1 $* " in
    *" --config "* | *" --status "*) ;;
    {BOTH}) exec -a streamptron {spt} "$@" ;;
esac
exec {streamptron} "$@"
"""
MARK = "=== the next command ==="
BLOCK = re.compile(r"^```console ?(\S*)\n(.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*\n(?:> ?.*\n)*)", re.M)


class Step:
    """A command, and what it answers."""

    def __init__(self, typed: str, answer: str, page: str) -> None:
        self.typed = typed
        self.answer = answer
        self.page = page

    @property
    def command(self) -> str:
        return re.sub(r"^> ?", "", self.typed, flags=re.M)

    def not_shown(self) -> list[str]:
        """What the page that it is from does not show."""
        if not self.page:
            return []
        text = spaced((PAGES / self.page).read_text("utf-8"))
        lines = [self.command, *self.answer.splitlines()]
        return [line for line in lines if spaced(line.replace("\t", "<TAB>")) not in text]


def spaced(text: str) -> str:
    return " ".join(text.split())


def steps_of(text: str) -> list[Step]:
    found = []
    for page, block in BLOCK.findall(text):
        before, *parts = COMMAND.split(block)
        assert not before, f"a block begins with a command, after $: {before}"
        pairs = zip(parts[::2], parts[1::2], strict=True)
        found += [Step(typed, answer, page) for typed, answer in pairs]
    return found


def missing(text: str) -> list[str]:
    """The programs and files of $DATA that are not on this machine."""
    needs = re.findall(r"^Needs (.*)\.$", text, re.M)
    names = re.findall(r"`([^`]+)`", " ".join(needs))
    return [name for name in names if not (shutil.which(name) or (DATA / name).exists())]


def walk(steps: list[Step], commands: Path | str) -> list[str]:
    """What each step answers."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "DATA": str(DATA),
            "HOME": folder,
            "LANG": "C.UTF-8",
            "PAGES": str(PAGES),
            "PATH": f"{commands}:{os.environ['PATH']}:/usr/sbin",
        }
        done = subprocess.run(
            ["bash"],
            input="".join(f"{step.command}\necho '{MARK}'\n" for step in steps),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            encoding="utf-8",
            check=False,
        )
    answers = done.stdout.split(f"{MARK}\n")
    assert len(answers) == len(steps) + 1, done.stdout
    return answers[:-1]


@contextlib.contextmanager
def by_spt(program: Path, commands: Path) -> Iterator[str]:
    """Where a streamptron lies that leaves to spt what that has."""
    with tempfile.TemporaryDirectory() as folder:
        shim = Path(folder, "streamptron")
        text = SHIM.format(BOTH=BOTH, spt=program.resolve(), streamptron=commands / "streamptron")
        shim.write_text(text, "utf-8")
        shim.chmod(0o755)
        Path(folder, "spt").symlink_to(program.resolve())
        yield f"{folder}:{commands}"


def is_as_written(step: Step, answer: str) -> bool:
    return doctest.OutputChecker().check_output(step.answer, answer, doctest.ELLIPSIS)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--spt", type=Path)
    parser.add_argument("bin", type=Path)
    parser.add_argument("pages", type=Path, nargs="*")
    given = parser.parse_args(arguments)
    commands, pages = given.bin.resolve(), given.pages or sorted(HERE.glob("*.md"))
    if given.spt is None:
        return walk_all(pages, str(commands), given.accept)
    with by_spt(given.spt, commands) as both:
        return walk_all(pages, both, given.accept)


def walk_all(pages: list[Path], commands: str, accept: bool) -> int:
    n_passed = n_failed = n_skipped = 0
    for page in pages:
        text = page.read_text("utf-8")
        if lacks := missing(text):
            print(f"{page.name}: skipped, there is no {', no '.join(lacks)}", flush=True)
            n_skipped += 1
            continue
        start = time.monotonic()
        steps = steps_of(text)
        answers = walk(steps, commands)
        seconds = time.monotonic() - start
        wrong = [
            "".join(
                difflib.unified_diff(
                    step.answer.splitlines(True),
                    answer.splitlines(True),
                    f"{page.name}: {step.typed.rstrip()}",
                    "what came",
                )
            )
            for step, answer in zip(steps, answers, strict=True)
            if not is_as_written(step, answer)
        ]
        wrong += [
            f"{page.name}: {step.page} does not show: {line}"
            for step in steps
            for line in step.not_shown()
        ]
        n_passed, n_failed = n_passed + (not wrong), n_failed + bool(wrong)
        verdict = "it is not as written" if wrong else "as written"
        print(f"{page.name}: {len(steps)} commands, {seconds:.0f} s, {verdict}", flush=True)
        print("\n".join(wrong), end="\n" * bool(wrong), flush=True)
        if accept:
            answered = iter(zip(steps, answers, strict=True))
            page.write_text(
                BLOCK.sub(functools.partial(rewritten, answered=answered), text), "utf-8"
            )
    print(f"{n_passed} passed, {n_failed} failed, {n_skipped} skipped")
    return 1 if n_failed else 0


def rewritten(block: re.Match[str], answered) -> str:
    """The block, with what came in place of what is not so."""
    lines = [f"```console {block[1]}".rstrip() + "\n"]
    for _ in COMMAND.findall(block[2]):
        step, answer = next(answered)
        lines += [f"$ {step.typed}", step.answer if is_as_written(step, answer) else answer]
    return "".join([*lines, "```"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
