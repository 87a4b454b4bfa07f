"""The operations on AdaptiveClassifier, of words and of columns of numbers; see operations.py."""

import math
import random
from pathlib import Path

from streamptron import AdaptiveClassifier, Step
from tests.support import operations_on_labels
from tests.support.operations_on_labels import MAPPINGS, Pair
from tests.twin import adaptive, undo


class Twin(adaptive.AdaptiveClassifier):
    """The twin as the random calls ask it."""

    average, pocket, serving = "none", False, "current"
    n_evicted = property(lambda self: self.ceiling.n_evicted)

    @property
    def n_features(self):
        return len(self.slots)

    @property
    def weights(self):
        found = [
            {j: slot.w[k] for j, slot in self.slots.items() if slot.w.get(k, 0.0) != 0.0}
            for k in self.outputs
        ]
        return found[0] if self.two else dict(zip(self.labels, found, strict=True))

    @property
    def intercept_(self):
        if self.two:
            return self.w0[1]
        return {label: self.w0[k] for k, label in enumerate(self.labels)}


class AdaptivePair(Pair):
    """AdaptiveClassifier; each method is an operation on both."""

    def __init__(self, rule, params, folder):
        self.model = AdaptiveClassifier(**params, hash_seed=0)
        self.twin = Twin(**params)
        self.path = Path(folder, "model")
        self.steps = []

    def learn_for_now(self, mapping, x, y, w):
        """Learn an event that may be taken back."""
        step = self.model.learn_one(MAPPINGS[mapping](x), y, w, undo=True)
        self.steps.append((Step.from_bytes(bytes(step)), undo.learn(self.twin, x, y, w)))

    def undo(self, i):
        """Take back one of the last steps that are left."""
        if self.steps:
            step, its = self.steps.pop(-1 - i % len(self.steps))
            self.model.undo(step)
            undo.undo(self.twin, its)

    def explain(self, mapping, x):
        if self.twin.labels:
            parts = [part for _, part in self.model.explain_one(x)]
            decision = self.twin.decision_function_one(x)
            if not self.twin.two:
                decision = decision[self.twin.predict_one(x)]
            elif len(self.twin.labels) <= self.twin.positive:  # whom it speaks against is all
                decision = -decision
            excess = abs(math.fsum((decision, *(-part for part in parts))))
            assert excess == 0.0 or excess < min(map(math.ulp, parts))


def drawn(rng, apart, number):
    """A case of two sources of random numbers, and a number that chooses the kind of values."""
    numbers = (None, "measured", "wild")[number % 3]
    _, params, operations = operations_on_labels.drawn(rng, apart, numbers=numbers)
    named = "max_features" in params  # no name is a mere object, which has no shape either
    more = random.Random(-number)
    params = {
        "intercept": params["intercept"],
        "naive_bayes": more.random() < 0.8,
        "eta": more.choice((1.0, 0.3, 5.0)),
        "forget": more.choice((2**-10, 0.0, 0.5, "auto")),
        "class_weight": params["class_weight"],
    }
    apart = random.Random(f"shape {number}")  # so that a case's calls are what they were before
    if named and apart.random() < 0.4:
        params |= {
            "max_features": apart.choice((None, None, 30, 12)),
            "shape": apart.choice(("curve", "line")),
        }
    return "AdaptiveClassifier", params, list(with_undo(more, operations))


def with_undo(rng, operations):
    """The operations, with some of the events learned for now, and steps taken back in between."""
    for name, *args in operations:
        for_now = name == "learn" and rng.random() < 0.5
        if for_now and not any(isinstance(each, frozenset) for each in args[1]):  # has no bytes
            name = "learn_for_now"
        yield name, *args
        if rng.random() < 0.2:
            yield "undo", rng.randrange(8)
