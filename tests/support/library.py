"""The C library, built once, and programs that are linked with it."""

import atexit
import contextlib
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
SANITIZED = ("-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]

needs_compiler = pytest.mark.compiled  # tests/conftest.py skips it where there is none
HAS_COMPILER = sys.platform != "win32" and shutil.which(COMPILER[0]) is not None


def called(*command, **options):
    """What a command prints, which must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


@functools.cache
def sanitizer():
    """Clang, where its sanitizers are: it takes a quarter of the time for the same checks."""
    words = [*SANITIZED, "-x", "c", "-", "-o", os.devnull]
    if shutil.which("clang"):
        tried = subprocess.run(["clang", *words], input=b"int main(void) {}", capture_output=True)
        if tried.returncode == 0:
            return ["clang"]
    return COMPILER


@contextlib.contextmanager
def alone(name):
    """One process of the run at a time is here; it learns whether it is the first."""
    with open(made() / f"{name}.lock", "a+") as lock:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.seek(0, os.SEEK_END) == 0
        lock.write("done")  # not if what was to be made has failed: then the next one tries


@functools.cache
def made():
    """The folder of what is compiled, in the life of this run: tests/conftest.py says where."""
    shared = os.environ.get("STREAMPTRON_TESTS_MADE")
    path = Path(shared or tempfile.mkdtemp(prefix="libstreamptron"))
    path.mkdir(exist_ok=True)
    if not shared:
        atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def folder():
    """Where the library is built."""
    path = made() / "library"
    with alone("library") as first:
        if first:
            called(str(ROOT / ".ci" / "library"), sys.executable, str(path))
    return path


def plain(*words):
    return "-".join(word.strip("-") for word in words).replace("/", "_")


@functools.cache
def compiled(compiler, flags):
    """The library, compiled anew with these flags: an object."""
    path = folder() / f"{plain(*compiler, *flags)}.o"
    with alone(path.stem) as first:
        if first:
            # under sanitizers gcc's warnings of the library's own code are not to be trusted
            command = [*compiler, "-std=c11", *flags, "-c", str(folder() / "streamptron.c")]
            called(*command, "-o", str(path), cwd=folder())
    return path


@functools.cache
def program(name, *flags, source=None, compiler=None):
    """A program of tests/library/, or another one, linked with the static library.

    With flags it is linked with the library as it is under the same ones, those of a sanitizer.
    """
    compiler = tuple(compiler or (sanitizer() if flags else COMPILER))
    library = compiled(compiler, flags) if flags else folder() / "libstreamptron.a"
    path = folder() / plain(name, *flags)
    source = source or TESTS / "library" / f"{name}.c"
    with alone(path.name) as first:
        if first:
            options = [*(FLAGS[:1] if flags else FLAGS), *flags, f"-I{folder()}"]
            files = [str(source), str(library), "-lm", "-lpthread"]
            called(*compiler, *options, *files, "-o", str(path))
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
    """A line of tests/library/conformance.c: {name: value}, a text, a tuple of texts, or a list of
    such candidates."""
    if isinstance(x, list):
        parts = [event_line(each)[:-1].split("\t")[2:] for each in x]
        fields = [parts[0][0] if parts else "N", *(f for part in parts for f in ("|", *part[1:]))]
    elif isinstance(x, dict):
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
