"""The command line in a process of its own, and mail for it."""

import os
import random
import re
import subprocess
import sys
import time

from streamptron import Tokenizer
from tests.support.programs import started
from tests.support.project import ROOT
from tests.support.variants import loaded

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
COMMANDS = ("train", "predict", "eval", "compare", "top", "explain", "info", "plot")
SEEDED = ("--hash-seed", "1")

PROGRAM = None  # which is started for the commands that it has: None is streamptron

MAIL = b"spam\twin a prize\nham\tsee you\nspam\ta prize\nham\tyou see a man\n"


def command(*words):
    """The words that start a process."""
    python = [sys.executable, "-m", "streamptron", *map(str, words)]
    return started(words, PROGRAM) or python


def process(*words, **options):
    return subprocess.Popen(
        command(*words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        bufsize=0,
        **options,
    )


def run(*words, data=b"", code=0, **options):
    """The output of a process that ends with this code, and what it says."""
    with process(*words, **options) as running:
        out, said = running.communicate(data, timeout=60)
    assert running.returncode == code, said.decode()
    assert b"Traceback" not in said
    return out, said.decode()


def predict(data, model, *words, code=0):
    """The lines that answer some lines."""
    out, said = run("predict", "--model", model, *words, data=data, code=code)
    assert out.endswith(b"\n") or not out
    return out.decode().split("\n")[:-1], said


def answered(process, line):
    process.stdin.write(line)
    return process.stdout.readline()


def random_mail(seed, n=200, labels=("ham", "spam", "a list")):
    """Lines of a label and words that have to do with it."""
    rng = random.Random(seed)
    for _ in range(n):
        label = rng.choice(labels)
        words = [f"{rng.choice((label, 'any'))}{rng.randrange(9)}" for _ in range(rng.randrange(8))]
        yield label, " ".join(words)


def written(events):
    return "".join(f"{label}\t{text}\n" for label, text in events).encode()


SHAPES = {"plain": "{}\t{}\n", "fasttext": "__label__{} {}\n", "vw": "{} | {}\n"}

FORMATS = {
    "vw": (b"1 2.0 |f a b:2\n-1 'tag|f c\n1 |g a\n", {"label_type": "text"}, []),
    "svmlight": (b"1 1:0.5 7:2\n-1 3:1 # c\n\n+1 1:2\n", {}, []),
    "jsonl": (
        b'{"y": true, "x": {"t": "a b"}}\n{"y": false, "x": {"t": "c"}}\n',
        {"label": "y", "text": "x.t"},
        ["--label", "y", "--text", "x.t"],
    ),
    "csv": (
        b'y;a;b\n1;2;x\n0;3;"y\nz"\n1;;x\n',
        {"label": "y", "features": ["a", "b"], "delimiter": ";", "types": {"a": "category"}},
        ["--label", "y", "--features", "a,b", "--delimiter", ";", "--type", "a=category"],
    ),
    "fasttext": (b"__label__1 a b\n__label__0 c\n__label__1 a\n", {}, []),
}


def library(model, texts):
    """The lines that answer texts."""
    model, tokenizer = loaded(model), Tokenizer()
    for text in texts:
        event = tokenizer.transform_one(text)
        label = model.predict_one(event)
        if label is None:
            yield "\t"
        else:
            yield f"{label}\t{model.predict_proba_one(event)[label]:.4f}"


def saved(path, n):
    """Wait until a model with so many events is there."""
    for _ in range(600):
        if loaded(path).n_seen == n:
            return
        time.sleep(0.05)
    raise AssertionError(f"{loaded(path).n_seen} events, not {n}")


def undated(said):
    """What a service has said, without the times before its messages."""
    return re.sub(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", "", said, flags=re.MULTILINE)
