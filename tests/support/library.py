"""The C library, built once, and programs that are linked with it."""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.project import ROOT, TESTS

ENGINE = ROOT / "streamptron" / "engine"
COMPILER = os.environ.get("CC", "cc").split()
SANITIZED = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]

needs_compiler = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which(COMPILER[0]) is None,
    reason="there is no C compiler to build the library with",
)


def called(*command, **options):
    """What a command prints, which must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


@functools.cache
def folder():
    """Where the library is built, in this process's life."""
    made = Path(tempfile.mkdtemp(prefix="libstreamptron"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    called(str(ROOT / ".ci" / "library"), sys.executable, str(made))
    return made


@functools.cache
def program(name, *flags, source=None, compiler=None):
    """A program of tests/library/, or another one, linked with the static library.

    With flags the library is compiled anew, with the same ones.
    """
    path = folder() / "-".join([name, *(flag.strip("-") for flag in flags)]).replace("/", "_")
    source = source or TESTS / "library" / f"{name}.c"
    library = folder() / ("streamptron.c" if flags else "libstreamptron.a")
    files = [str(source), str(library)]
    # under sanitizers gcc's warnings of the library's own code are not to be trusted
    warnings = FLAGS[:1] if flags else FLAGS
    called(
        *(compiler or COMPILER),
        *warnings,
        *flags,
        f"-I{folder()}",
        *files,
        "-lm",
        "-lpthread",
        "-o",
        str(path),
    )
    return path


def quoted(text):
    """A text as tests/library/conformance.c reads it."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return "".join(chr(c) if c < 128 and chr(c).isalnum() else f"%{c:02x}" for c in data)


def said(label):
    """A label as tests/library/conformance.c reads it; or a list of them, or {label: bool}."""
    if isinstance(label, dict):
        return "?" + "".join(f",{'-+'[there]}{quoted(str(y))}" for y, there in label.items())
    if isinstance(label, list):
        return "=" + "".join(f",{quoted(str(y))}" for y in label)
    return "" if label is None else quoted(str(label))


def event_line(x, label=None, weight=1.0):
    """A line of tests/library/conformance.c: {name: value}, a text, or a tuple of texts."""
    if isinstance(x, dict):
        fields = ["N", *(f"{quoted(k)}\t{float(v).hex()}" for k, v in x.items())]
    else:
        fields = ["T", *map(quoted, x if isinstance(x, tuple) else (x,))]
    return "\t".join([said(label), float(weight).hex(), *fields]) + "\n"


def c_hex(number):
    """A double as C's %a writes it."""
    text = float(number).hex()
    if text in ("inf", "-inf", "nan"):
        return text
    digits, exponent = text.split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}" if "." in digits else text
