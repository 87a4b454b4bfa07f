"""The plain-Python twin of VotedPerceptron: every vector there has been is stored, and is asked.

It imports nothing of the library. A vector is what its perceptron was between two updates:
{feature: weight} if the degree is 1, otherwise the list of updates that it is made of. It stands
from a time to a time, in a clock of sample weights, and has as many votes as it stood long.

Where values, steps and weights are small whole numbers every sum is exact, and a core must agree in
every bit, however it comes to the sums. Elsewhere a vector whose score is 0 but for rounding may
vote either way: `doubt` says how many votes are such a vector's.
"""

from tests.twin.learners import INTERCEPT
from tests.twin.serving import (
    BinaryCalibrator,
    MulticlassCalibrator,
    Scale,
    fading,
    is_due,
    within,
)
from tests.twin.values import numbers


class Perceptron:
    """One label against all others: its vectors, the oldest first, each with its time."""

    def __init__(self, degree):
        self.degree = degree
        self.vectors = [(0.0, {} if degree == 1 else [])]

    def mirrored(self):
        """What stands for the other of two labels."""
        other = Perceptron(self.degree)
        other.vectors = [
            (
                since,
                {feature: -w for feature, w in vector.items()}
                if self.degree == 1
                else [(number, -a, z) for number, a, z in vector],
            )
            for since, vector in self.vectors
        ]
        return other

    def score(self, vector, x):
        """w x + b, or the sum of a (b + z x)^degree."""
        total = 0.0
        if self.degree == 1:
            for feature, value in x.items():
                total += vector.get(feature, 0.0) * value
            return total
        for _, a, z in vector:
            dot = 0.0
            for feature, value in x.items():
                dot += z.get(feature, 0.0) * value
            total += a * dot**self.degree
        return total

    def step(self, number, time, a, x):
        """w += a x: the vector that was there stands until now, and another one from now on."""
        vector = self.vectors[-1][1]
        if self.degree == 1:
            vector = dict(vector)
            for feature, value in x.items():
                vector[feature] = vector.get(feature, 0.0) + a * value
        else:
            vector = [*vector, (number, a, x)]
        self.vectors.append((time, vector))

    def forget(self, number, time):
        """Drop an update: what stood before it is gone, and no kernel has it in its sum."""
        while len(self.vectors) > 1 and self.vectors[1][0] <= time:
            del self.vectors[0]
        if self.degree > 1:
            self.vectors = [
                (since, [update for update in vector if update[0] != number])
                for since, vector in self.vectors
            ]

    def adds(self, vector, x):
        """Whether its score is a sum of anything: in another order a sum of 0 may be 1e-17."""
        return any(map(vector.get, x)) if self.degree == 1 else bool(vector)

    def vote(self, x, since, now):
        """The votes for it less those against it, and how many are too close to call."""
        votes = doubt = 0.0
        ends = [start for start, _ in self.vectors[1:]] + [now]
        for (start, vector), end in zip(self.vectors, ends, strict=True):
            c = end - max(start, since)
            score = self.score(vector, x)
            votes += c if score > 0 else -c
            doubt += c if abs(score) < 1e-9 and self.adds(vector, x) else 0.0
        return votes, doubt


class VotedPerceptron:
    """See streamptron/learners/voted.py for what it promises."""

    def __init__(self, degree=1, budget=None, intercept=True, class_weight=None):
        self.degree = degree
        self.budget = budget
        self.intercept = intercept
        self.class_weight = class_weight or {}
        self.labels = []
        self.positive = 1  # its place among the labels
        self.outputs = {True: Perceptron(degree)}  # of two labels one, for the positive label
        self.kept = []  # (number, time, event) of the updates
        self.names = set()  # of features, see `let_go`
        self.now = self.since = 0.0
        self.n_seen = self.n_updates = self.n_mistakes = 0
        self.scale = Scale()
        self.calibrator = BinaryCalibrator()

    @property
    def two(self):
        return True in self.outputs and len(self.labels) < 3

    def event(self, x):
        """An intercept is a feature of value 1; a value of 0 is as if the feature were absent."""
        event = {INTERCEPT: 1.0} if self.intercept else {}
        return event | {feature: float(value) for feature, value in numbers(x) if value}

    def scores(self, x):
        """Of the current vectors, by output."""
        event = self.event(x)
        return {
            output: perceptron.score(perceptron.vectors[-1][1], event)
            for output, perceptron in self.outputs.items()
        }

    def votes(self, x):
        """Each output's share of votes for it less those against it, and how much is in doubt."""
        votes, doubt = {}, 0.0
        for output, perceptron in self.outputs.items():
            vote, open_ = perceptron.vote(self.event(x), self.since, self.now)
            total = self.now - self.since
            votes[output] = vote / total if total > 0 else 0.0
            doubt += open_ / total if total > 0 else 0.0
        return votes, doubt

    def best(self, scores):
        if not self.two:
            return max(scores, key=scores.get)
        if len(self.labels) < 2:
            return self.labels[0] if self.labels else None
        return self.labels[self.positive if scores[True] > 0 else 1 - self.positive]

    def predict_one(self, x):
        return self.best(self.votes(x)[0])

    def decision_function_one(self, x):
        votes = self.votes(x)[0]
        return votes[True] if self.two else votes

    def predict_proba_one(self, x):
        if len(self.labels) < 2:
            return dict.fromkeys(self.labels, 1.0)
        p = self.calibrator.probabilities(self.decision_function_one(x), self.scale)
        if self.two:
            return {label: p[k == self.positive] for k, label in enumerate(self.labels)}
        return p

    def learn_one(self, x, y, w=1.0):
        u = w * self.class_weight.get(y, 1.0)
        event = self.event(x)
        known = y in self.labels
        if not self.labels:
            self.positive = 0 if y == True else 1  # noqa: E712
        if not known and len(self.labels) == 2:
            self.split()
        guess = self.best(self.scores(x))
        self.n_mistakes += guess is not None and guess != y
        if is_due(self.n_seen, 8):
            self.calibrate(self.votes(x)[0], y)
        self.n_seen += 1
        if not known:
            self.labels.append(y)
            if not self.two:
                self.outputs[y] = Perceptron(self.degree)
        scores = self.scores(x)
        moves = {}
        for output, score in scores.items():
            right = self.labels.index(y) == self.positive if self.two else output == y
            Y = 1.0 if right else -1.0
            if Y * score <= 0 and u > 0 and event:
                moves[output] = Y * u
        if moves:
            number = self.n_updates
            self.n_updates += 1
            self.kept.append((number, self.now, event))
            for output, a in moves.items():
                self.outputs[output].step(number, self.now, a, event)
        if self.budget and len(self.kept) > self.budget:
            number, self.since, _ = self.kept.pop(0)
            for perceptron in self.outputs.values():
                perceptron.forget(number, self.since)
        self.now += u
        if moves:
            self.let_go(self.names | (event.keys() - {INTERCEPT}))

    def let_go(self, names):
        """Whenever there are as many names as a power of two, drop those that nothing has any more.

        That is not a kept update and, where vectors are weights, not the current one. No answer
        changes. While more than three in four are needed, all stay.
        """
        if self.budget and len(names).bit_length() > len(self.names).bit_length():
            needed = {name for _, _, event in self.kept for name in event}
            if self.degree == 1:
                for perceptron in self.outputs.values():
                    needed |= {name for name, w in perceptron.vectors[-1][1].items() if w}
            if 4 * len(names & needed) <= 3 * len(names):
                names = names & needed
        self.names = names

    def split(self):
        """A perceptron for each of two labels."""
        one = self.outputs.pop(True)
        pair = [one, one.mirrored()] if self.positive == 0 else [one.mirrored(), one]
        self.outputs = dict(zip(self.labels, pair, strict=True))
        fit = MulticlassCalibrator()
        fit.beta = max(0.5 * self.calibrator.A, 0.015625)
        self.calibrator = fit

    def calibrate(self, votes, y):
        """As every learner does it, but from one event in eight, whatever the number of labels."""
        if not self.two:
            best = max(votes.values())
            self.calibrator.learn(votes, y, self.scale, self.n_seen)
            size = 0.0
            for vote in votes.values():
                size += best - vote
            self.scale.learn(size / len(votes))
            return
        fit = self.calibrator
        side = ([*self.labels, y].index(y) == self.positive) if self.labels else not self.positive
        z = fit.z(votes[True], self.scale)
        g = fit.p(z) - (1.0 if side else 0.0)
        h = g * z
        fit.GA, fit.GB = fading(fit.GA, h), fading(fit.GB, g)
        if is_due(self.n_seen, 32):
            fit.RA, fit.RB = fit.GA**-0.5, fit.GB**-0.5
        fit.A = within(0.0, fit.A - h * fit.RA, 16.0)
        fit.B = within(-16.0, fit.B - g * fit.RB, 16.0)
        self.scale.learn(abs(votes[True]))
