"""Pipelines of all steps that a model file holds, events for them, and a process that is killed."""

import os
import random
import select
import subprocess
import sys
import time
from pathlib import Path

from river import compose, feature_extraction, preprocessing, stats

from streamptron import AdaptiveClassifier, Checkpoint, Tokenizer
from tests.support.processes import environment

NUMBERS = ("a", "b", "d")
WORDS = ("city", "kind")


def numbers(step):
    return compose.Select(*NUMBERS) | step


def words(step):
    return compose.Select(*WORDS) | step


def union():
    """Scaler, encoder and tokenizer, side by side."""
    return (
        (compose.SelectType(float) | preprocessing.StandardScaler())
        + words(preprocessing.OneHotEncoder())
        + Tokenizer(fields="text")
    )


# Every step that a file can hold, each with parameters that change what it keeps.
STEPS = {
    "StandardScaler": lambda: numbers(preprocessing.StandardScaler()),
    "StandardScaler, rolling": lambda: numbers(preprocessing.StandardScaler(window_size=5)),
    "StandardScaler, means": lambda: numbers(preprocessing.StandardScaler(with_std=False)),
    "MinMaxScaler": lambda: numbers(preprocessing.MinMaxScaler()) | compose.FuncTransformer(dict),
    "MinMaxScaler, rolling": lambda: numbers(preprocessing.MinMaxScaler(window_size=4)),
    "MaxAbsScaler": lambda: numbers(preprocessing.MaxAbsScaler()),
    "MaxAbsScaler, rolling": lambda: numbers(preprocessing.MaxAbsScaler(window_size=4)),
    "RobustScaler": lambda: numbers(preprocessing.RobustScaler(q_inf=0.1)),
    "AdaptiveStandardScaler": lambda: numbers(preprocessing.AdaptiveStandardScaler(0.2)),
    "Normalizer": lambda: numbers(preprocessing.Normalizer(order=1)),
    "Binarizer": lambda: numbers(preprocessing.Binarizer(threshold=0.5, dtype=float)),
    "OneHotEncoder": lambda: words(preprocessing.OneHotEncoder()),
    "OneHotEncoder, fixed": lambda: words(
        preprocessing.OneHotEncoder(categories={"city": {"x", "y"}, "kind": {1, 2}})
    ),
    "OrdinalEncoder": lambda: words(preprocessing.OrdinalEncoder(unknown_value=None)),
    "FeatureHasher": lambda: preprocessing.FeatureHasher(n_features=50),
    "PreviousImputer": lambda: preprocessing.PreviousImputer() | compose.Select(*NUMBERS),
    "StatImputer": lambda: (
        preprocessing.StatImputer(("a", stats.Mean()), ("city", stats.Mode()), ("b", -1.0))
        | compose.Select(*NUMBERS, "city")
    ),
    "renamers": lambda: (
        compose.Discard("text", "a")
        | compose.Prefixer("p_")
        | compose.Suffixer("_s")
        | compose.Renamer({"p_b_s": "q"})
    ),
    "TransformerProduct": lambda: words(preprocessing.OneHotEncoder()) * compose.Select("b", "d"),
    "PolynomialExtender": lambda: numbers(feature_extraction.PolynomialExtender()),
    "Grouper": lambda: (
        compose.Discard("text", "city") | compose.Grouper(preprocessing.StandardScaler(), by="kind")
    ),
    "TransformerUnion": union,
    "union within a union": lambda: union() + (compose.Select("a") | compose.Prefixer("again ")),
}


def event(t):
    """The event number t of a stream."""
    rng = random.Random(t)
    x = {
        "a": rng.gauss(0, 1),
        "b": rng.gauss(5, 3),
        "d": rng.random() * 1e-3,
        "city": rng.choice("xyzw"),
        "kind": rng.choice((1, 2, 3)),
        "text": " ".join(rng.choices(["one", "two", "three"], k=3)),
    }
    return x, x["a"] > 0.001 * (t % 700) or x["city"] == "z"


def learned(model, first, last):
    """The model, once it has learned some events of the stream; and its answers before each."""
    answers = []
    for t in range(first, last):
        x, y = event(t)
        if t:  # River's scaler by windows answers nothing before the first event
            answers.append(model.predict_proba_one(dict(x)))
        model.learn_one(dict(x), y)
    return answers


# --- A process that is killed


def fresh():
    return union() | AdaptiveClassifier(hash_seed=1)


def daemon(path, last=None):
    """Go on from the newest checkpoint; say what has been saved."""
    saved = Checkpoint.newest_saved(path)
    model, start = (saved.model, saved.position + 1) if saved else (fresh(), 0)
    checkpoint = Checkpoint(model, path, every_events=7, keep=3)
    for t in range(start, last or 10**9):
        x, y = event(t)
        model.learn_one(x, y)
        if checkpoint.step(position=t):
            os.write(1, b"%d\n" % t)


def started(path, seed, *more):
    """The daemon as a process whose sets have an order of their own."""
    code = f"from tests.support import pipelines; pipelines.daemon(*{(str(path), *more)!r})"
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        env={**environment(), "PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )


def killed(path, seed, wait):
    """Start the daemon, and kill it a moment after its first save."""
    with started(path, seed) as process:
        try:
            ready, _, _ = select.select([process.stdout], [], [], 120)
            assert ready, "the daemon saves nothing"
            time.sleep(wait)
        finally:
            process.kill()
