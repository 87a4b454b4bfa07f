"""Events to test on: real streams from ../shared/data, and random ones.

The real data lies beside the project, not in it. Mark a test that reads it with `needs_data`.
"""

import gzip
import lzma
import random
import re
from functools import lru_cache
from itertools import islice

import pytest

from tests.support.project import ROOT

DATA = ROOT.parent / "shared" / "data"

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the real streams are not there: no folder {DATA}"
)


def lines(name):
    """The lines of DATA/name.xz, without their ends."""
    # newline="\n": a text may hold other characters that Python takes for the end of a line
    with lzma.open(DATA / f"{name}.xz", "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")


def labelled_texts(name, limit=None):
    """(text, label) of a .tsv.xz, in its order."""
    for line in islice(lines(f"{name}.tsv"), limit):
        label, _, text = line.partition("\t")
        yield text, label


def words(text):
    """{word: 1}: present or not, in order of first occurrence."""
    return dict.fromkeys(re.findall(r"\w+", text.lower()), 1)


def text_stream(name, limit=None):
    """({word: 1}, label) of "sms_spam", "trec07p_first12000", "spamassassin", "20news_train",
    "loghub_system" or "bgl_alert".
    """
    if limit is None:
        yield from ((words(text), label) for text, label in labelled_texts(name))
    else:
        yield from ((x.copy(), label) for x, label in _first_texts(name, limit))


@lru_cache
def _first_texts(name, limit):
    """Kept, as tests ask for the same start of a stream again and again."""
    return [(words(text), label) for text, label in labelled_texts(name, limit)]


def svmlight(name, limit=None):
    """({int: float}, label) of "a9a", "a9a.t", "svmguide3" or "rank.train"; the label is an int."""
    if limit is None:
        yield from map(_svmlight_event, lines(name))
    else:
        yield from ((x.copy(), label) for x, label in _first_svmlight(name, limit))


def _svmlight_event(line):
    label, *entries = line.split()
    pairs = (entry.split(":") for entry in entries)
    return {int(index): float(value) for index, value in pairs}, int(label)


@lru_cache
def _first_svmlight(name, limit):
    return list(map(_svmlight_event, islice(lines(name), limit)))


def rank(limit=None):
    """The candidates of a query, [({int: float}, relevance 0 to 4)], query by query."""
    candidates = svmlight("rank.train")
    sizes = (DATA / "rank.train.query").read_text().split()
    for size in islice(sizes, limit):
        yield list(islice(candidates, int(size)))


def mnist(split):
    """Images (n, 784) and labels (n,), both uint8; split is "train" or "t10k"."""
    import numpy as np

    def idx(kind):
        # IDX: two zero bytes, the type (8 is uint8), the number of dimensions, then their sizes
        raw = gzip.decompress((DATA / f"{split}-{kind}-ubyte.gz").read_bytes())
        n_dimensions = raw[3]
        shape = np.frombuffer(raw, ">u4", n_dimensions, offset=4)
        return np.frombuffer(raw, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)

    images = idx("images-idx3")
    return images.reshape(len(images), -1), idx("labels-idx1")


def tagged_sentences(split, limit=None):
    """[(word, UPOS)], sentence by sentence; split is "train" or "dev"."""

    def sentences():
        sentence = []
        for line in lines(f"en_ewt-ud-{split}.conllu"):
            if not line:
                yield sentence
                sentence = []
            elif not line.startswith("#"):
                number, word, _, tag, *_ = line.split("\t")
                if number.isdigit():  # 8-9 is a contraction of words to come, 8.1 an elided word
                    sentence.append((word, tag))

    return islice(sentences(), limit)


def tagging_stream(split, limit=None):
    """({feature: 1}, UPOS), word by word, of `limit` sentences.

    The features are tuples and know the words around, but no tags: an event does not depend on the
    answers to earlier ones.
    """
    for sentence in tagged_sentences(split, limit):
        padded = ["<", *(word.lower() for word, _ in sentence), ">"]
        for i, (form, tag) in enumerate(sentence):
            before, word, after = padded[i : i + 3]
            features = [
                ("word", word),
                ("suffix", word[-3:]),
                ("suffix", word[-2:]),
                ("prefix", word[:1]),
                ("before", before),
                ("after", after),
                ("shape", re.sub("[A-Z]", "X", re.sub("[a-z]", "x", re.sub("[0-9]", "9", form)))),
            ]
            yield dict.fromkeys(features, 1), tag


# Random events. Names that the core stores in different ways: up to 15 bytes of UTF-8 inside the
# table, longer ones elsewhere, and ints, floats, tuples and other objects each in their own way.
KEYS = {
    "str": lambda i: f"word{i}",
    "long": lambda i: f"a long name {i:0{3 + i % 3}}" + "!" * (i % 2 * i),  # 15 bytes and more
    "non-ascii": lambda i: ("é", "ж", "語", "🙂", "\ud800")[i % 5] * (1 + i // 5),
    "int": lambda i: (i, -i - 1, i + 2**32, -i - 2**60, i + 2**80)[i % 5],
    "float": lambda i: i + 0.5,
    "bytes": lambda i: b"\0" * (i % 20) + b"%d" % i,
    "tuple": lambda i: ("word", i, ("", None, 0.5)[i % 3]),
    "object": lambda i: frozenset((i, "word")),
}


def make_key(kind, i):
    """The i-th name of a kind; "mixed" takes the kinds in turn."""
    kind = list(KEYS)[i % len(KEYS)] if kind == "mixed" else kind
    return KEYS[kind](i)


VALUES = {
    "one": lambda rng: 1,
    "small": lambda rng: rng.randint(-2, 2),  # ties happen, sums are exact, and zeros
    "real": lambda rng: rng.choice((0.0, -0.0, rng.gauss(0, 1), rng.gauss(0, 1))),
    # columns of numbers far from 0, with values that are missing or always the same
    "measured": lambda rng: rng.choice((0, 1000.0, *(1000.0 + rng.gauss(0, 1) for _ in "abc"))),
    # what no unit explains: words that turn into numbers, constants that jump, vast and tiny values
    "wild": lambda rng: rng.choice(
        (0, 1.0, 1.0, 1.0, rng.gauss(50, 1), 1e50, -1e50 * rng.random(), 1e-50, 1e-200, -1e-300)
    ),
}


def random_events(
    rng,
    n=300,
    *,
    keys="str",
    values="small",
    labels=(False, True),
    n_features=40,
    size=8,
    weighted=False,
):
    """(x, y, w) that can be learnt in part: a hidden scorer names the label, one in ten is random.

    Parameters
    ----------
    rng
        A random.Random.
    keys
        One of KEYS, or "mixed".
    values
        One of VALUES.
    labels
        The first two occur from the start, the others join one by one in the first half.
    n_features
        How many names there are.
    size
        The most features of an event; some events are empty.
    weighted
        Sample weights w of 0, 0.5, 1, 2 and others instead of 1.
    """
    names = [make_key(keys, i) for i in range(n_features)]
    hidden = {label: {name: rng.randint(-1, 1) for name in names} for label in labels}
    for t in range(n):
        some = rng.sample(names, rng.randint(0, min(size, n_features)))
        x = {name: VALUES[values](rng) for name in some}
        known = labels[: 2 + (len(labels) - 2) * 2 * t // n]
        y = max(known, key=lambda label: sum(hidden[label][name] * x[name] for name in x))
        if rng.random() < 0.1:
            y = rng.choice(known)
        yield x, y, rng.choice((0.0, 0.5, 1.0, 2.0, rng.random())) if weighted else 1.0


@lru_cache(maxsize=256)
def _kept_events(seed, n, given):
    return list(random_events(random.Random(seed), n, **dict(given)))


def same_events(seed, n=300, **given):
    """The random events of a seed, made once: they are shared, and not to be changed."""
    return list(_kept_events(seed, n, tuple(given.items())))
