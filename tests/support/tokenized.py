"""A tokenizer beside its plain-Python twin."""

import random

from streamptron import Tokenizer
from tests.support.variants import labels_for
from tests.twin.text import features


def check(x, tokenizer=None, **params):
    """A text's features, by the tokenizer and by its twin."""
    event = (tokenizer or Tokenizer(**params)).transform_one(x)
    assert list(event.items()) == list(features(x, **params).items())


def as_bytes(text):
    """UTF-8 as a careless program writes it: surrogates, which it does not have, come along."""
    return text.encode("utf-8", "surrogatepass")


MAIL = {"subject": "Free prize", "body": b"a free\xff lunch", "id": 7}


def random_mails(rng, n, labels):
    """(text, label) that can be learnt in part: each label has words that it likes."""
    words = ["Été", "語漢字", "a_name_of_more_than_15_bytes", "İx"]
    words += [f"word{i}" for i in range(30)]
    for i in range(n):
        k = rng.randrange(len(labels) if i > n // 4 else 2)
        some = [words[(k + rng.randrange(9) * len(labels)) % len(words)] for _ in range(4)]
        some += rng.choices(words, k=rng.randint(0, 8))
        some += rng.choices(("10.0.0.1", "42", "::1", "0x1F", "\0", "\ud800", "🙂."), k=2)
        yield rng.choice((" ", ", ", "\n")).join(some[: rng.choice((0, 1, 20, 20, 20))]), labels[k]


def mails(learner, n=80, seed=3):
    return list(random_mails(random.Random(seed), n, labels_for(learner)))
