"""Which system wrote this log line? A classifier that learns line by line and meets new systems.

Numbers, hex and addresses are folded, so that `pid 4096` and `pid 17` are the same evidence, and
pairs of words count beside single ones.

Run `python examples/log_topics.py lines.tsv`, with lines of a label, a TAB and a text, also
compressed (.gz, .xz). Without a file it makes lines of three systems up.
"""

import random
import sys
from collections import Counter

from streamptron import AdaptiveClassifier, Tokenizer
from streamptron.files import read

TEMPLATES = {
    "sshd": [
        "Failed password for root from 10.0.{a}.{b} port {n}",
        "Accepted publickey for user{a} from 10.0.0.{b} port {n}",
        "Connection closed by 10.0.{a}.{b} port {n}",
    ],
    "kernel": [
        "usb {a}-{b}: new high-speed device number {b}",
        "Out of memory: killed process {n}",
        "eth{a}: link is down",
    ],
    "nginx": [
        "GET /page/{n} HTTP/1.1 200 {n}",
        "upstream timed out while reading from 10.0.{a}.{b}",
        "client 10.0.{a}.{b} closed connection {n}",
    ],
}


def log_lines():
    """(line, system)"""
    if sys.argv[1:]:
        yield from read(sys.argv[1], "plain")
        return
    rng = random.Random(0)
    for n in range(4096):  # one system after the other turns up
        system = rng.choice(list(TEMPLATES)[: 1 + n // 500])
        a, b = rng.randrange(10), rng.randrange(256)
        yield rng.choice(TEMPLATES[system]).format(a=a, b=b, n=rng.randrange(10**5)), system


def loaded():
    """All of them, or one line that says what is missing."""
    try:
        return list(log_lines())
    except (OSError, ValueError) as error:
        sys.exit(
            f"No log lines ({error}). Give a file of lines 'label<TAB>text': "
            "python examples/log_topics.py lines.tsv"
        )


model = Tokenizer(ngram_range=(1, 2), fold_numbers=True) | AdaptiveClassifier()
right, seen = Counter(), Counter()
for n, (line, system) in enumerate(loaded(), 1):
    right[system] += model.predict_one(line) == system
    seen[system] += 1
    model.learn_one(line, system)
    if n & (n - 1) == 0 and n >= 256:
        print(f"{n:6} lines: {sum(right.values()) / n:6.1%} right so far, {len(seen)} labels")

learner = model["AdaptiveClassifier"]
print(f"\n{'label':14}{'right':>7}  what counts towards it most")
for system in learner.labels:
    words = ", ".join(word for word, _ in learner.top_features(4, system).positive)
    print(f"{system:14}{right[system] / seen[system]:7.1%}  {words}")
