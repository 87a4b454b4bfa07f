"""What a coverage-guided fuzzer's bytes are made into; see fuzz/guided.py.

Each of TARGETS takes any bytes and raises AssertionError if something is wrong.
"""

import random
import tempfile
from pathlib import Path

from tests.support import mutations, operations, texts


class Choices(random.Random):
    """Random choices that are read from bytes, one after the other; all zeros when those end."""

    def __new__(cls, data):
        return super().__new__(cls)

    def __init__(self, data):
        super().__init__(0)
        self.data = data
        self.at = 0

    def getrandbits(self, k):
        size = (k + 7) // 8
        some = self.data[self.at : self.at + size]
        self.at += size
        return int.from_bytes(some, "little") & ((1 << k) - 1)

    def random(self):
        return self.getrandbits(32) / 2**32

    def sample(self, population, k):
        """Random's own draws again whatever it has already, and zeros would be that for ever."""
        rest = list(population)
        return [rest.pop(self.randrange(len(rest))) for _ in range(k)]


def model_file(data):
    """A file with checksums that fit: a guess does not get past those."""
    if b"_crc32" in data:
        data = mutations.sealed(data)
    with tempfile.TemporaryDirectory(dir=operations.MEMORY) as folder:
        mutations.survives(Path(folder, "model"), data)


def tokenizer(data):
    """A tokenizer's parameters, then the text."""
    params = {**texts.random_parameters(Choices(data[:32])), "fields": None}
    text = data[33:]
    if data[32:33] > b"\x7f":
        text = text.decode("utf-8", "replace")
    difference = texts.difference(params, text)
    assert difference is None, f"Tokenizer(**{params}), {text!r}\n{difference}"


def calls(data):
    """Calls of every kind, beside the twin."""
    choices = Choices(data)
    difference = operations.difference(*operations.drawn(choices, choices, len(data)))
    assert difference is None, difference


TARGETS = {"model_file": model_file, "tokenizer": tokenizer, "operations": calls}
