"""The C library gives Python's bits for candidates: answers, explanations, and files."""

import random
import subprocess

import pytest

from streamptron import RankingPerceptron, Tokenizer, load
from tests.library.test_conformance import NAMES
from tests.support.library import (
    SANITIZED,
    c_hex,
    called,
    event_line,
    needs_compiler,
    program,
    quoted,
)
from tests.support.marks import seeds

pytestmark = [needs_compiler, pytest.mark.once]  # the library knows no Python

VARIANTS = {
    "default": {},
    "margin": {"margin": 0.5},
    "update": {"update": "margin", "C": 0.25},
    "mistake": {"update": "mistake"},
    "exponential": {"average": "exponential", "half_life": 5},
    "pocket": {"average": "none", "pocket": True},
    "current": {"serve": "current"},
    "hashed": {"hash_bits": 12},
    "hashed, colliding": {"hash_bits": 3},
    "ceiling": {"max_features": 12},
    "pairs": {"degree": 2},
    "interactions": {"interactions": [("word1", "word2")], "max_pairs": 50},
}


def choices(seed, n, most=5):
    """(candidates, the right one, weight): names met again and again, in the same event too."""
    rng = random.Random(seed)
    for _ in range(n):
        xs = []
        for _ in range(rng.randint(1, most)):
            names = rng.sample(NAMES[:40], rng.randint(0, 6))
            xs.append({name: rng.choice([1, 2.0, 0.5, -1.0, 0.1, 0.0, 1e-30]) for name in names})
        yield xs, rng.randrange(len(xs)), rng.choice([1.0, 1.0, 2.0, 0.5, 0.0])


def answer(model, xs, explained):
    """What tests/library/conformance.c prints of candidates."""
    scores, p = model.decision_function_one(xs), model.predict_proba_one(xs)
    best = model.predict_one(xs)
    first = [str(best), c_hex(scores[best]), c_hex(p[best])] if xs else ["-1", "0x0p+0", "0x0p+0"]
    first += ["scores", *map(c_hex, scores), "p", *map(c_hex, p), "top"]
    first += [word for k in model.rank_one(xs)[:3] for word in (str(k), c_hex(p[k]))]
    if xs and explained:
        first += ["parts", "-", c_hex(0.0)]
        parts, _ = model._explain_lead(xs, None)
        first += [word for name, part in parts for word in (quoted(str(name)), c_hex(part))]
    return " ".join(first)


def compared(model, stream, folder, tokens=None, mapped=False):
    """C and Python are asked and taught the same: the answers before each, and the files."""
    before, after, mine, lines = (folder / name for name in ("before", "after", "mine", "lines"))
    (model if tokens is None else tokens | model).save(before)
    expected = []
    with open(lines, "w", newline="\n") as file:
        for xs, right, weight in stream:
            file.write(event_line(xs, None if mapped else right, weight))
            read = xs if tokens is None else [tokens.transform_one(x) for x in xs]
            expected.append(answer(model, read, not model.hash_bits))
            if not mapped and xs:
                model.learn_one(read, right, weight)
    command = [program("conformance"), before, lines, "mapped" if mapped else after]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    *found, counts = done.stdout.splitlines()
    for line, want in zip(found, expected, strict=True):
        assert (line.split(" parts")[0] if model.hash_bits else line) == want
    assert counts == (f"seen {model.n_seen} updates {model.n_updates} mistakes {model.n_mistakes}")
    if not mapped:
        (model if tokens is None else tokens | model).save(mine)
        assert after.read_bytes() == mine.read_bytes()
    return after


@pytest.mark.parametrize("variant", VARIANTS)
@seeds(2)
def test_candidates_are_answered_and_learned_alike(variant, seed, tmp_path):
    model = RankingPerceptron(hash_seed=3, **VARIANTS[variant])
    for xs, right, w in choices(seed, 60):
        model.learn_one(xs, right, w)
    saved = compared(model, choices(seed + 10, 120), tmp_path)
    assert load(saved).n_updates > 20
    compared(model, choices(seed + 20, 30), tmp_path, mapped=True)


def test_an_untrained_model_has_no_preference(tmp_path):
    stream = [*choices(4, 40), *([[], None, 1.0], [[{}, {}], 1, 1.0])]
    compared(RankingPerceptron(hash_seed=3), stream, tmp_path)


def test_candidates_are_texts(tmp_path):
    rng = random.Random(3)
    tokens = Tokenizer(ngram_range=(1, 2), value="log", normalize="l2", fold_numbers=True)
    words = ["oil", "Écris", "10.0.0.1", "wheat", "日本語", "a-b", "long" * 9]
    stream = []
    for _ in range(60):
        texts = [" ".join(rng.choices(words, k=rng.randint(0, 6))) for _ in range(3)]
        stream.append((texts, rng.randrange(3), 1.0))
    compared(RankingPerceptron(hash_seed=1), stream, tmp_path, tokens)


def test_a_new_model_is_pythons(tmp_path):
    stream = list(choices(1, 60))
    (tmp_path / "lines").write_text("".join(event_line(*each) for each in stream))
    spec = 'ranking:{"hash_seed": 5, "update": "margin", "C": 0.5}'
    called(program("conformance", *SANITIZED), spec, tmp_path / "lines", tmp_path / "saved")
    model = RankingPerceptron(hash_seed=5, update="margin", C=0.5)
    for xs, right, w in stream:
        model.learn_one(xs, right, w)
    model.save(tmp_path / "mine")
    assert load(tmp_path / "saved").weights == model.weights
    assert load(tmp_path / "saved").averaged_weights == model.averaged_weights
