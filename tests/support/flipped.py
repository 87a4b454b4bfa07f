"""A small file with one bit flipped, opened in place, and all done with it that a user can.

Whatever the file says, nothing may be read or written outside it: every call answers, or says that
the file is damaged. The calls are made in a process of their own, which says before each bit which
one it is.
"""

import contextlib
import copy
import pickle
import random
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

from streamptron import Delta, ModelFileError, load, merge
from streamptron.keeping.mergeable import NotOfThisBase
from tests.support import mutations
from tests.support.processes import environment
from tests.support.variants import has, labels_for, make

VARIANTS = ("default", "hashed, colliding", "ceiling", "pocket", "exponential")
NAMES = ["a", "longer than fifteen bytes", 7, 0.5, b"by", ("t", 1, ""), ("a long tuple of", 2, "b")]


def names_of(model):
    return [*NAMES, Decimal("0.11")] if mutations.takes_objects(model) else NAMES


def taught(learner, variant, labels):
    """A model that has met each name more than once."""
    model = make(learner, variant)
    rng, names = random.Random(3), names_of(model)
    for i in range(3 * len(names)):
        x = {names[i % len(names)]: rng.gauss(0, 1), names[(3 * i + 1) % len(names)]: 1.0}
        model.learn_one(x, labels[i % len(labels)])
    return model


class Damage:
    """A file whose bits can be flipped, and the models that it is used with."""

    def __init__(self, folder, learner, variant, n_labels):
        self.path, self.copy = Path(folder, "model"), Path(folder, "copy")
        self.labels = labels_for(learner, n_labels)
        self.since = taught(learner, variant, self.labels)
        self.other = copy.deepcopy(self.since)
        for i, name in enumerate(names_of(self.since)[:4]):
            self.other.learn_one({name: 1.0, f"new {i}": 2.0}, self.labels[i % len(self.labels)])
        model = copy.deepcopy(self.since)
        model.learn_one(mutations.event(model), self.labels[0])
        model.save(self.path)
        self.data = self.path.read_bytes()
        self.first = 8 * (8 + len(mutations.parts(self.data)[0]))  # before it is the header

    def bits(self, rng, n):
        """Some bits: half of them the highest of four bytes, a sign or a flag perhaps."""
        bits = range(self.first, 8 * len(self.data))
        return sorted({*rng.choices(bits, k=n // 2), *rng.choices(bits[31::32], k=n // 2)})

    def calls(self):
        """What a user can do with the file opened in place."""
        mapped = load(self.path, mmap=True)
        yield from mutations.doors(mapped)
        x = dict.fromkeys(names_of(self.since), 1.5)
        yield from (lambda call=call: call(x) for call in (mapped.predict_one, mapped.explain_one))
        yield lambda: self.learns(merge([mapped, self.other]))
        yield lambda: self.learns(merge([self.other, mapped]))
        yield lambda: self.learns(merge([self.other, mapped], since=self.since))
        yield lambda: self.learns(merge([self.other, self.more()], since=mapped))
        yield lambda: self.learns(merge([mapped, load(self.path, mmap=True)]))
        yield lambda: self.learned(mapped.delta(self.since))
        yield lambda: self.other.delta(mapped).to_bytes()
        yield lambda: self.learns(copy.deepcopy(mapped))
        yield lambda: self.learns(pickle.loads(pickle.dumps(mapped)))
        yield lambda: mapped.save(self.copy)

    def more(self):
        model = copy.deepcopy(self.other)
        model.learn_one({"newer": 1.0}, self.labels[0])
        return model

    def learned(self, delta):
        model = copy.deepcopy(self.since)
        model.apply(Delta.from_bytes(delta.to_bytes()))
        self.learns(model)

    def learns(self, model):
        """A model in memory is whole: whatever it was made of has been checked."""
        mutations.used(model, learn=True)

    def used(self, bit):
        data = bytearray(self.data)
        data[bit // 8] ^= 1 << bit % 8
        self.path.unlink()  # a mapped file is never written in place
        self.path.write_bytes(data)
        try:
            calls = list(self.calls())
        except ModelFileError:
            return
        for call in calls:
            # another name may be as good as the old one: then it is another model
            with contextlib.suppress(ModelFileError, NotOfThisBase, NotADirectoryError):
                call()


def bases(learner):
    """Variant and number of labels of each file."""
    for variant in VARIANTS:
        if variant not in ("pocket", "exponential") or has(learner, "pocket"):
            for n_labels in (2,) if learner == "Perceptron" else (2, 5):
                yield variant, n_labels


def run(learner, seed, n):
    """Flip n bits of each file, one by one."""
    # where memory is a folder: each bit is a file
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    for base in bases(learner):
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            damage = Damage(folder, learner, *base)
            for bit in damage.bits(random.Random(seed), n):
                print(*base, "bit", bit - damage.first, flush=True)
                damage.used(bit)


def outlived(learner, seed, n):
    """Run it in another process: None, or at which bit of the arrays that ended and how."""
    code = f"from tests.support import flipped; flipped.run({learner!r}, {seed}, {n})"
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
    )
    if process.returncode == 0 and not process.stderr:
        return None
    where = process.stdout.splitlines()[-1:]
    return f"{learner}, {where}: {process.returncode}\n{process.stderr[-3000:]}"
