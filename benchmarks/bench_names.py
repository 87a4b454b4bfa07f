"""predict_one and then learn_one on events of rarer names, values and mappings, beside River.

The first row is the everyday event: a dict of 100 words, each with the value 1. The other rows are
the same events with names or values of another type, or in another kind of mapping; the last two
are River's own transformers, timed with what they make. For each row the targets are half of
River's time, and for some of them three times the first row's; for names that Python has to hash
and compare, as River's dicts do, its time and a quarter. Where a transformer comes first,
what it takes by itself, which is the same for both, is shown, and is left out of the ratios.

All rows go by together, chunk by chunk of about a thousand features, in an order drawn anew for
each chunk, with the garbage collector off. Each learner has events of its own, made just before,
and learn_one gets another one than predict_one, equal to it. As the other rows have been busy
since, each learner first predicts the chunk before once more, untimed. Times are the thread's CPU
time.

River takes nothing but dicts, so of the other mappings it gets the equal dict, made untimed.
"""

import gc
import random
from collections import ChainMap, OrderedDict, namedtuple
from decimal import Decimal
from itertools import islice
from time import thread_time_ns
from types import MappingProxyType

import numpy as np
from river import datasets, feature_extraction, linear_model

import streamptron
from benchmarks import common
from tests.support import streams

N_FEATURES = 100  # of an event
N_WORDS = 20_000
CHUNK = 1000  # features

WORDS = [f"word{i}" for i in range(N_WORDS)]


Place = namedtuple("Place", "word number")


def plain(numbers):
    return {f"word{i}": 1 for i in numbers}


def one_float32(numbers):
    return {f"word{i}": np.float32(1) if n == 50 else 1 for n, i in enumerate(numbers)}


def halves(numbers):
    half = len(numbers) // 2
    return ChainMap(plain(numbers[:half]), plain(numbers[half:]))


def named(make):
    return lambda numbers: {make(i): 1 for i in numbers}


EVERYDAY = "str"
HASHED = 1.25  # times River's, for names of OBJECTS
OBJECTS = {
    "Decimal names": named(lambda i: Decimal(i) / 10),
    "frozenset names": named(lambda i: frozenset((f"word{i}", "word"))),
}
# name: how an event is made of numbers of words, and how many times the first row it may take
ROWS = {
    EVERYDAY: (plain, None),
    "one np.float32 value": (one_float32, 3),
    "np.int64 values": (lambda numbers: {f"word{i}": np.int64(1) for i in numbers}, 3),
    "OrderedDict": (lambda numbers: OrderedDict(plain(numbers)), 3),
    "MappingProxyType": (lambda numbers: MappingProxyType(plain(numbers)), None),
    "ChainMap of two dicts": (halves, None),
    "np.str_ names": (named(lambda i: np.str_(f"word{i}")), None),
    "float names": (named(lambda i: i + 0.5), None),
    "np.int64 names": (named(np.int64), None),
    "tuples (str, str)": (named(lambda i: (f"word{i}", f"word{i % 97}")), 3),
    "tuples (int, int)": (named(lambda i: (i, i % 97)), 3),
    "named tuples": (named(lambda i: Place(f"word{i}", i % 97)), None),
    **{name: (make, None) for name, make in OBJECTS.items()},
}


def synthetic(n_chunks):
    """Chunks of (numbers of words, label): some words are common, and each favours a label."""
    rng = random.Random(0)
    sides = [rng.choice((-1, 1)) for _ in range(N_WORDS)]
    chunk = []
    for _ in range(n_chunks * CHUNK // N_FEATURES):
        numbers = set()
        while len(numbers) < N_FEATURES:
            numbers.add(int(N_WORDS ** rng.random()))
        numbers = sorted(numbers, key=lambda _: rng.random())
        chunk.append((numbers, sum(sides[i] for i in numbers) > 0))
        if len(chunk) == CHUNK // N_FEATURES:
            yield chunk
            chunk = []


def grouped(events, transformer):
    """Chunks of (x, label) of which a transformer makes about as many features."""
    chunk, size = [], 0
    for x, y in events:
        chunk.append((x, y))
        size += len(transformer.transform_one(x))
        if size >= CHUNK:
            yield chunk, size
            chunk, size = [], 0


class Learner:
    """A learner, perhaps behind a transformer, and its CPU time a feature of each chunk."""

    def __init__(self, model, as_dict):
        self.model = model
        self.as_dict = as_dict
        self.times = []
        self.before = []

    def run(self, chunk, make, size):
        for x, _ in self.before:
            self.model.predict_one(x)
        if self.as_dict:
            events = [(dict(make(x)), dict(make(x)), y) for x, y in chunk]
        else:
            events = [(make(x), make(x), y) for x, y in chunk]
        predict_one, learn_one = self.model.predict_one, self.model.learn_one
        start = thread_time_ns()
        for asked, learned, y in events:
            predict_one(asked)
            learn_one(learned, y)
        self.times.append((thread_time_ns() - start) / size)
        self.before = [(x, y) for x, _, y in events]


class Transforming:
    """What a transformer alone takes for both calls: no learner behind it can be faster."""

    def __init__(self, transformer):
        self.transformer = transformer
        self.times = []

    def run(self, chunk, make, size):
        transform_one = self.transformer.transform_one
        start = thread_time_ns()
        for x, _ in chunk:
            transform_one(x)
            transform_one(x)
        self.times.append((thread_time_ns() - start) / size)


class Row:
    """What is timed side by side."""

    def __init__(self, name, chunks, make, most=None, transformer=None):
        self.name = name
        self.chunks = iter(chunks)
        self.make = make
        self.most = most

        ours, rivers = streamptron.Perceptron(), linear_model.Perceptron()
        if transformer is None:
            self.ours, self.river, self.alone = Learner(ours, False), Learner(rivers, True), None
        else:
            self.ours = Learner(transformer() | ours, False)
            self.river = Learner(transformer() | rivers, False)
            self.alone = Transforming(transformer())

    def run(self, rng):
        chunk, size = next(self.chunks)
        contenders = [c for c in (self.ours, self.river, self.alone) if c is not None]
        for contender in rng.sample(contenders, len(contenders)):
            contender.run(chunk, self.make, size)

    def learning(self, learner):
        """The times of a learner without those of the transformer before it."""
        if self.alone is None:
            return learner.times
        return [all_ - part for all_, part in zip(learner.times, self.alone.times, strict=True)]

    def cells(self, everyday):
        ours = self.learning(self.ours)
        to_river = common.group_ratios(ours, self.learning(self.river))
        to_first = common.group_ratios(ours, everyday.ours.times)
        missed = []
        share = HASHED if self.name in OBJECTS else 0.5
        if self is not everyday and common.median(to_river) > share:
            missed.append(f"above {share} of River's")
        if self.most and common.median(to_first) > self.most:
            missed.append(f"above {self.most} x {everyday.name}")
        return [
            self.name,
            common.spread(self.ours.times, 0),
            common.spread(self.river.times, 0),
            common.spread(to_river, 2),
            common.spread(to_first, 1),
            f"{common.median(self.alone.times):.0f}" if self.alone else "",
            "; ".join(missed),
        ]


def rows(n_chunks):
    for name, (make, most) in ROWS.items():
        chunks = ((chunk, CHUNK) for chunk in synthetic(n_chunks))
        yield Row(name, chunks, make, most)

    def words():
        return feature_extraction.BagOfWords(ngram_range=(1, 2))

    def same(x):
        return x

    texts = [(text, label == "spam") for text, label in streams.labelled_texts("sms_spam")]
    chunks = grouped(texts, words())
    yield Row("BagOfWords(ngram_range=(1, 2)) |", islice(chunks, n_chunks), same, None, words)

    def sampler():
        return feature_extraction.RBFSampler(seed=1)

    events = datasets.Bananas()
    trial = sampler()
    chunks = grouped(events, trial)
    yield Row("RBFSampler() on Bananas |", islice(chunks, n_chunks), same, None, sampler)


HEADINGS = ["", "ns a feature (5-95 %)", "River's", "x River's", f"x {EVERYDAY}", "transformer", ""]


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--chunks", type=int, help="of a thousand features a row (default 100)")
    args = parser.parse_args()
    if args.chunks is None:
        args.chunks = 5 if args.quick else 100
    common.header(args, "made up; sms_spam; River's Bananas")
    common.need_data()
    common.section("CPU time of predict_one and learn_one")
    rng = random.Random(1)
    timed = list(rows(args.chunks))
    gc.collect()
    gc.disable()
    for _ in range(args.chunks):
        for row in rng.sample(timed, len(timed)):
            row.run(rng)
    gc.enable()
    common.table(HEADINGS, [row.cells(timed[0]) for row in timed])
    missed = sum(bool(row.cells(timed[0])[-1]) for row in timed)
    print(f"\ntargets met in {len(timed) - missed} of {len(timed)} rows")


if __name__ == "__main__":
    main()
