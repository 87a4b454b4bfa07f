"""Which system wrote this log line? A classifier that learns line by line and meets new systems.

Numbers, hex and addresses are folded, so that `pid 4096` and `pid 17` are the same evidence, and
pairs of words count beside single ones.
"""

import lzma
from collections import Counter
from pathlib import Path

from river import datasets

from streamptron import MIRA, Tokenizer

LINES = Path(__file__).resolve().parents[2] / "shared" / "data" / "loghub_system.tsv.xz"


def log_lines():
    """(line, system): real log lines, or River's text messages."""
    if LINES.exists():
        with lzma.open(LINES, "rt", encoding="utf-8", newline="\n") as file:
            for line in file:
                label, _, text = line.rstrip("\n").partition("\t")
                yield text, label
    else:
        for x, label in datasets.SMSSpam():
            yield x["body"], "spam" if label else "ham"


model = Tokenizer(ngram_range=(1, 2), fold_numbers=True) | MIRA(C=0.1)
right, seen = Counter(), Counter()
for n, (line, system) in enumerate(log_lines(), 1):
    right[system] += model.predict_one(line) == system
    seen[system] += 1
    model.learn_one(line, system)
    if n & (n - 1) == 0 and n >= 256:
        print(f"{n:6} lines: {sum(right.values()) / n:6.1%} right so far, {len(seen)} labels")

learner = model["MIRA"]
print(f"\n{'label':14}{'right':>7}  what speaks for it most")
for system, (positive, _) in learner.top_features(4).items():
    words = ", ".join(word for word, _ in positive)
    print(f"{system:14}{right[system] / seen[system]:7.1%}  {words}")
