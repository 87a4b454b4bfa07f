"""Random sequences of calls of every kind, on a model and on its plain-Python twin.

After each call both must say the same, and what the model holds must be in good order. Bad input
comes in between, which must be refused and change nothing. A case is a learner, its parameters and
a list of operations, each a tuple whose first item names a method of Pair; none depends on those
before it, so that a case that fails can be tried without some of them.
"""

import random
import tempfile
import traceback
from pathlib import Path

from tests.support import (
    operations_on_candidates,
    operations_on_labels,
    operations_on_numbers,
    operations_on_sets,
)
from tests.support.operations_on_candidates import CandidatePair
from tests.support.operations_on_labels import Pair, VotedPair
from tests.support.operations_on_numbers import AdaptivePair
from tests.support.operations_on_sets import SetPair

# in memory where that can be: each file waits for the disk
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None

# Seeds that have found something once; test_fuzz.py goes through them again.
FOUND = (1257,)

# Of sixteen cases in a row most are of labels; so a seed's calls are what they were before.
KINDS = (
    *("labels",) * 6,
    "candidates",
    "votes",
    "numbers",
    *("labels",) * 4,
    "sets",
    "candidates",
    "votes",
)


def made(seed):
    """The case of a seed: a rule, its parameters, and operations."""
    # ceilings and pairs are drawn apart, so that a seed's calls are what they were before
    return drawn(random.Random(seed), random.Random(-1 - seed), seed)


def drawn(rng, apart, number):
    """The same of two sources of random numbers, and a number that chooses the kind of learner."""
    kind = KINDS[number % len(KINDS)]
    if kind == "candidates":
        return operations_on_candidates.drawn(rng)
    if kind == "sets":
        return operations_on_sets.drawn(rng, apart, number // len(KINDS))
    if kind == "numbers":
        return operations_on_numbers.drawn(rng, apart, number // len(KINDS))
    return operations_on_labels.drawn(rng, apart, votes=kind == "votes")


PAIRS = (Pair, VotedPair, AdaptivePair, CandidatePair, SetPair)


def pair_of(rule):
    """The class whose methods are the operations."""
    if rule.startswith("RankingPerceptron"):
        return CandidatePair
    pairs = {
        "VotedPerceptron": VotedPair,
        "AdaptiveClassifier": AdaptivePair,
        "MultiLabelClassifier": SetPair,
    }
    return pairs.get(rule, Pair)


def difference(rule, params, operations):
    """What went wrong, and where; None if nothing did."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        pair = pair_of(rule)(rule, params, folder)
        for number, (name, *args) in enumerate([*operations, ("weights",)]):
            try:
                getattr(pair, name)(*args)
                pair.counts()
                pair.model._check()
            except Exception:
                return f"operation {number}, {name}:\n{traceback.format_exc()}"
    return None


def smallest(rule, params, operations):
    """Fewer operations that still go wrong: some are left out, ever fewer at a time."""
    size = len(operations)
    while size:
        at = 0
        while at < len(operations):
            fewer = operations[:at] + operations[at + size :]
            if difference(rule, params, fewer):
                operations = fewer
            else:
                at += size
        size //= 2
    return operations
