"""Random histories: learned, taken back in several shards, merged, sent as deltas, saved, loaded.

Whatever was done, a model is one that learning can have made: it passes its own check, answers with
numbers, and is saved and loaded again.
"""

import copy
import pickle
import random

import pytest

import streamptron
from streamptron import Delta, merge
from tests.support.marks import seeds

LEARNERS = {
    "Perceptron": ([{}, {"average": "exponential", "half_life": 3}, {"pocket": True}], 2),
    "MulticlassPerceptron": ([{}], 40),
    "MIRA": ([{}, {"average": "none"}], 5),
    "AROW": ([{}], 5),
    "AdaptiveClassifier": ([{}, {"shape": "line"}, {"forget": "auto"}, {"eta": 0.1}], 2),
    "AdaptiveClassifier of many": ([{}, {"shape": "line"}, {"naive_bayes": False}], 9),
    "MultiLabelClassifier": ([{}, {"forget": 0.5}], 8),
}
NAMES = ({}, {"hash_bits": 3}, {"hash_bits": 8}, {"max_features": 6}, {"max_features": 25})
WEIGHTS = ((1.0,), (1.0, 0.3, 7.0), (1.0, 1e30, 1e-30), (1.0, 2.0**18, 2.0**19 - 1))
UNDONE = ("Perceptron", "MulticlassPerceptron", "MIRA", "AdaptiveClassifier")


class History:
    def __init__(self, learner, seed):
        rng = self.rng = random.Random(f"{learner}, {seed}")
        params, self.n_labels = LEARNERS[learner]
        self.name = learner.split()[0]
        self.sets = self.name == "MultiLabelClassifier"
        self.undoes = self.sets or self.name in UNDONE
        self.params = {**rng.choice(params), **rng.choice(NAMES), "hash_seed": 1}
        self.weights = rng.choice(WEIGHTS)
        self.n_names = rng.choice([4, 12, 40])
        self.columns = rng.random() < 0.5

    def started(self):
        return getattr(streamptron, self.name)(**self.params)

    def event(self):
        rng = self.rng
        x = {f"w{rng.randrange(self.n_names)}": 1 for _ in range(rng.randrange(5))}
        for name in "de" if self.columns else ():
            if rng.random() < 0.8:
                x[name] = rng.choice([1, round(rng.gauss(5, 1), 2), round(rng.gauss(0, 1), 2)])
        if rng.random() < 0.1:
            x["n"] = rng.choice([-1, 1e50, 1e-50, -1e50])
        if self.sets:
            y = {f"L{k}" for k in rng.sample(range(self.n_labels), rng.randrange(3))}
            if rng.random() < 0.2:
                y = {label: rng.random() < 0.5 for label in y}
        elif self.name == "Perceptron":
            y = rng.random() < 0.5
        else:
            y = rng.randrange(self.n_labels)
        return x, y, rng.choice(self.weights)

    def learn(self, model, n):
        """Learn n events; the steps."""
        steps = []
        for _ in range(n):
            if self.undoes and self.rng.random() < 0.8:
                steps.append(model.learn_one(*self.event(), undo=True))
            else:
                model.learn_one(*self.event())
        return steps

    def shard(self, base, common, steps):
        """A copy that takes back some steps, the common ones first, and learns."""
        rng, model = self.rng, copy.deepcopy(base)
        if rng.random() < 0.2:
            model = pickle.loads(pickle.dumps(model))
        own = [step for step in common if rng.random() < 0.9]
        own += [step for step in steps if step not in own and rng.random() < 0.1]
        new = []
        for step in own:
            if rng.random() < 0.3:
                new += self.learn(model, 1)
            model.undo(step)
        new += self.learn(model, rng.choice([1, 1, 2, 10]))
        for step in new:
            if rng.random() < 0.1:
                model.undo(step)
        return model

    def check(self, model, path):
        model._check()
        for _ in range(3):
            x, *_ = self.event()
            found = model.predict_proba_one(x)
            for p in found.values():
                for number in p.values() if self.sets else [p]:
                    assert 0.0 <= number <= 1.0
        model.save(path)
        loaded = streamptron.load(path)
        loaded._check()
        assert pickle.dumps(loaded) == pickle.dumps(pickle.loads(pickle.dumps(loaded)))
        return loaded if self.rng.random() < 0.5 else model


def merged_somehow(history, base, shards):
    """A merge at once or by deltas, of all or of parts; both ways give the same."""
    rng = history.rng
    model = merge(shards, since=base)
    deltas = [shard.delta(base, shard=k).to_bytes() for k, shard in enumerate(shards)]
    applied = copy.deepcopy(base)
    applied.apply(Delta.combine([Delta.from_bytes(data) for data in deltas]))
    assert applied.delta(base).to_bytes() == model.delta(base).to_bytes()
    way = rng.random()
    if way < 0.2 and len(shards) > 2:  # a merge of merges
        return merge([merge(shards[:2], since=base), *shards[2:]], since=base)
    if way < 0.3:  # without a past in common
        return merge(shards)
    return model if way < 0.7 else applied


@seeds(6, n_slow=60)
@pytest.mark.parametrize("learner", LEARNERS)
def test_no_history_makes_a_model_that_cannot_be_saved_or_learn_on(learner, seed, tmp_path):
    history = History(learner, seed)
    rng, path = history.rng, tmp_path / "model"
    older = base = history.started()
    steps = history.learn(base, rng.randrange(30))
    for _ in range(4):
        common = rng.sample(steps, min(len(steps), rng.randrange(6)))
        if rng.random() < 0.1:
            common = steps  # a shard that takes back everything
        shards = [history.shard(base, common, steps) for _ in range(rng.choice([2, 3, 5]))]
        for shard in shards:
            history.check(shard, path)
        model = merged_somehow(history, base, shards)
        model = history.check(model, path)
        if rng.random() < 0.2 and older is not base:  # since= of an older base
            history.check(merge([model, *shards], since=older), path)
        older, base = base, model
        steps = history.learn(base, rng.randrange(1, 20))
        base = history.check(base, path)
        steps = [] if base is not model else steps


def test_a_mean_that_is_rounded_below_nothing_is_nothing(tmp_path):
    """Features that were evicted have begun anew in all shards, and lost what AROW kept of them."""
    test_no_history_makes_a_model_that_cannot_be_saved_or_learn_on("AROW", 36, tmp_path)
