"""The plain-Python twin of the learners: slow, obvious, and what the compiled core is held against.

It imports nothing of the library. Where the core promises equality bit for bit (every score, weight
and count with the averages "uniform" and "none") the twin performs the same IEEE operations in the
same order: one accumulator that starts at 0.0, the intercept first, then the event's order, each
product rounded before it is added. Hence no `sum()` here: since Python 3.12 it compensates its
rounding errors. The exponential average is written as its definition, not as the core computes it,
and agrees to rounding only.

The letters are the sources': w weights, u and c of CIML's Algorithm 7, tau and C of MIRA. A vector
is a dict {feature: weight} in which an absent feature weighs 0. The intercept is one more feature,
INTERCEPT, of value 1 in every event. There is one vector for each *output*: the labels, or the
single output True of the binary perceptron.

What a bad argument raises is settled at the library's doors and is no business of the twin.
"""

import math


class INTERCEPT:
    """The intercept's name, which no feature of a user's can equal."""


def dot(weights, event):
    """w·x in the event's order."""
    total = 0.0
    for feature, value in event:
        total += weights.get(feature, 0.0) * value
    return total


def brute_force_average(history):
    """The mean of stored copies w_0 .. w_T, each {key: weight}, an absent key weighing 0."""
    keys = dict.fromkeys(key for weights in history for key in weights)
    return {
        key: math.fsum(weights.get(key, 0.0) for weights in history) / len(history) for key in keys
    }


class Tally:
    """Recent mistakes of each kept vector: one counts half as much 1000 events later."""

    decay = 2.0 ** (-1 / 1000)

    def __init__(self, kinds):
        self.tally = dict.fromkeys(kinds, 0.0)

    def record(self, mistakes):
        """The mistakes {kind: bool} that the kept vectors made on an event."""
        for kind, mistake in mistakes.items():
            self.tally[kind] = self.decay * self.tally[kind] + mistake

    def best(self):
        """The kind that answers for serve="best"."""
        # min() keeps the first of equals, and the kinds stand in the order of preference
        return min(self.tally, key=self.tally.get)


class Pocket:
    """When the current vector goes into the pocket.

    Its run of right answers since it last changed must exceed the run with which the pocket's was
    put there, which fades, and its tally must not be the worse one.
    """

    decay = 2.0 ** (-1 / 1000)

    def __init__(self):
        self.run = 0
        self.pocket_run = 0.0

    def challenge(self, mistake, updated, tally):
        """After an event: does the current vector replace the pocket's?"""
        self.pocket_run *= self.decay
        self.run = 0 if mistake or updated else self.run + 1
        if self.run > self.pocket_run and tally["current"] <= tally["pocket"]:
            self.pocket_run = float(self.run)
            return True
        return False


class Calibrator:
    """From the decision function of one kept vector to probabilities. For now: even chances."""

    def learn(self, decision, y):
        """What the vector said of an event before it was told that the label is y."""

    def probabilities(self, decision):
        labels = list(decision) if isinstance(decision, dict) else [False, True]
        return {label: 1 / len(labels) for label in labels}


class Learner:
    """What the learners share. The subclasses say how the outputs are read, and the rule:

    decision(by_output)            what is shown of {output: anything}
    prediction(scores)             the label, None when there is none yet
    meet(y, scores)                what a label never seen before adds
    rule(scores, y, step, event)   the steps [(output, coefficient)] of an update
    """

    def __init__(
        self,
        *,
        average="uniform",
        half_life=1000,
        pocket=False,
        serve="best",
        intercept=True,
        class_weight=None,
    ):
        self.average = average
        self.half_life = half_life
        self.pocket = pocket
        self.serve = serve
        self.intercept = intercept
        self.class_weight = class_weight

        self.kinds = ["current"]
        if average != "none":
            self.kinds.append("average")
        if pocket:
            self.kinds.append("pocket")
        if serve != "best":
            self.check_kept(serve)

        self.rows = {}  # an ordered set: the features in the order in which they were first updated
        self.w = {}  # {output: {feature: weight}}, as are the next three
        self.u = {}
        self.exponential = {}
        self.pocketed = {}
        self.c = 1.0

        self.n_seen = 0
        self.n_updates = 0
        self.n_mistakes = 0
        self.tally = Tally(self.kinds)
        self.pocket_rule = Pocket()
        self.calibrators = {kind: Calibrator() for kind in self.kinds}

    def check_kept(self, kind):
        if kind not in self.kinds:
            raise ValueError(f"{kind!r} is not kept, only {self.kinds}")

    def add_output(self, output, w_0=()):
        """One more output; its w_0 is also its average and its pocket until something is learnt."""
        for vectors in (self.w, self.exponential, self.pocketed):
            vectors[output] = dict(w_0)
        self.u[output] = {}

    def start_output(self, output, weights, intercept):
        """An output that starts from given weights instead of zeros."""
        self.rows.update(dict.fromkeys(weights))
        w_0 = {feature: float(weight) for feature, weight in weights.items()}
        if self.intercept:
            w_0[INTERCEPT] = float(intercept)
        self.add_output(output, w_0)

    # What a user asks

    @property
    def served(self):
        """The kept vector that answers now."""
        return self.tally.best() if self.serve == "best" else self.serve

    def predict_one(self, x):
        return self.prediction(self.scores(self.event(x), self.served))

    def decision_function_one(self, x):
        return self.scores_one(x, self.served)

    def scores_one(self, x, kind):
        """The decision function of one kept vector."""
        self.check_kept(kind)
        return self.decision(self.scores(self.event(x), kind))

    def predict_proba_one(self, x):
        return self.calibrators[self.served].probabilities(self.decision_function_one(x))

    # From x to scores

    def event(self, x):
        """[(feature, value)], the intercept first, without zeros."""
        entries = [(INTERCEPT, 1.0)] if self.intercept else []
        for feature, value in x.items():
            if value != 0:
                entries.append((feature, float(value)))
        return entries

    def scores(self, event, kind):
        """{output: score} of one kept vector."""
        if kind == "average" and self.average == "uniform":
            # not (w - u/c)·x: the core divides once for an output, not once for a feature
            return {
                output: dot(self.w[output], event) - dot(self.u[output], event) / self.c
                for output in self.w
            }
        vectors = {"current": self.w, "average": self.exponential, "pocket": self.pocketed}[kind]
        return {output: dot(vectors[output], event) for output in self.w}

    # Learning

    def learn_one(self, x, y, w=1.0):
        event = self.event(x)
        scores = {kind: self.scores(event, kind) for kind in self.kinds}

        asked = len(self.w) > 0  # before the first label there is no prediction, so no mistake
        mistakes = {kind: asked and bool(self.prediction(scores[kind]) != y) for kind in self.kinds}
        self.n_seen += 1
        self.n_mistakes += mistakes["current"]
        self.tally.record(mistakes)
        for kind in self.kinds:
            self.calibrators[kind].learn(self.decision(scores[kind]), y)

        self.meet(y, scores["current"])
        weight = 1.0 if self.class_weight is None else self.class_weight.get(y, 1.0)
        updated = False
        for output, coefficient in self.rule(scores["current"], y, w * weight, event):
            if coefficient != 0 and event:
                self.add(output, coefficient, event)
                updated = True
        self.n_updates += updated

        self.c += 1.0
        self.average_exponentially()
        if self.pocket and self.pocket_rule.challenge(
            mistakes["current"], updated, self.tally.tally
        ):
            self.pocketed = {output: dict(self.w[output]) for output in self.w}

    def add(self, output, coefficient, event):
        """w += coefficient x, and u += c coefficient x (CIML, Algorithm 7)."""
        w, u = self.w[output], self.u[output]
        for feature, value in event:
            if feature is not INTERCEPT:
                self.rows.setdefault(feature)
            delta = coefficient * value
            w[feature] = w.get(feature, 0.0) + delta
            u[feature] = u.get(feature, 0.0) + self.c * delta

    def average_exponentially(self):
        """avg = (1-a) avg + a w, with a such that a vector's share halves in half_life events."""
        if self.average != "exponential":
            return
        a = 1.0 - 2.0 ** (-1.0 / self.half_life)
        for output, w in self.w.items():
            avg = self.exponential[output]
            for feature in w:
                avg[feature] = (1.0 - a) * avg.get(feature, 0.0) + a * w[feature]

    # What is shown of the weights: of all features that have a row, zeros too

    def weight(self, kind, output, feature):
        w = self.w[output].get(feature, 0.0)
        if kind == "current":
            return w
        if kind == "pocket":
            return self.pocketed[output].get(feature, 0.0)
        if self.average == "exponential":
            return self.exponential[output].get(feature, 0.0)
        return w - self.u[output].get(feature, 0.0) / self.c

    def weights_of(self, kind):
        self.check_kept(kind)
        return self.decision(
            {output: {f: self.weight(kind, output, f) for f in self.rows} for output in self.w}
        )

    def intercept_of(self, kind):
        self.check_kept(kind)
        return self.decision({output: self.weight(kind, output, INTERCEPT) for output in self.w})

    weights = property(lambda self: self.weights_of("current"))
    averaged_weights = property(lambda self: self.weights_of("average"))
    pocket_weights = property(lambda self: self.weights_of("pocket"))
    intercept_ = property(lambda self: self.intercept_of("current"))
    averaged_intercept = property(lambda self: self.intercept_of("average"))
    pocket_intercept = property(lambda self: self.intercept_of("pocket"))
    n_features = property(lambda self: len(self.rows))


class Perceptron(Learner):
    """CIML, Algorithms 5 to 7: one output, True where its score is above 0."""

    def __init__(self, *, margin=0.0, **kept):
        super().__init__(**kept)
        self.margin = margin
        self.labels = [False, True]
        self.add_output(True)

    @classmethod
    def from_weights(cls, weights, intercept=0.0, **params):
        """A learner that starts from these weights; intercept=False: one that has no intercept."""
        learner = cls(intercept=intercept is not False, **params)
        learner.start_output(True, weights, intercept)
        return learner

    def decision(self, by_output):
        return by_output[True]

    def prediction(self, scores):
        return scores[True] > 0

    def meet(self, y, scores):
        """Both labels are known from the start."""

    def rule(self, scores, y, step, event):
        """If Y a <= margin: w += Y x, with Y = +1 or -1. A tie is a mistake for either label."""
        Y = 1.0 if y else -1.0
        return [(True, Y * step)] if Y * scores[True] <= self.margin else []


class Multiclass(Learner):
    """One output for each label, numbered in the order in which they were first seen."""

    @classmethod
    def from_weights(cls, weights, intercept=None, **params):
        """A learner that starts from {label: {feature: weight}} and {label: intercept} or None (all
        zero); intercept=False: one that has no intercept.
        """
        learner = cls(intercept=intercept is not False, **params)
        for label, vector in weights.items():
            learner.start_output(label, vector, (intercept or {}).get(label, 0.0))
        return learner

    @property
    def labels(self):
        return list(self.w)

    def decision(self, by_output):
        return by_output

    def prediction(self, scores):
        # max() keeps the first of equals: a tie goes to the label seen first
        return max(scores, key=scores.get, default=None)

    def meet(self, y, scores):
        if y not in self.w:
            self.add_output(y)
            scores[y] = 0.0

    def rule(self, scores, y, step, event):
        others = {label: score for label, score in scores.items() if label != y}
        if not others:
            return []
        guess = self.prediction(others)
        coefficient = self.tau(scores[y], scores[guess], event) * step
        return [(y, coefficient), (guess, -coefficient)]


class MulticlassPerceptron(Multiclass):
    """CS188: w_y* += f, w_guess -= f, where guess is the best-scoring other label."""

    def __init__(self, *, margin=0.0, **kept):
        super().__init__(**kept)
        self.margin = margin

    def tau(self, score, rival, event):
        return 1.0 if score - rival <= self.margin else 0.0


class MIRA(Multiclass):
    """CS188: the smallest change after which y* scores 1 more than guess, at most C of it."""

    def __init__(self, *, C=1.0, update="margin", **kept):
        super().__init__(**kept)
        self.C = C
        self.update = update

    def tau(self, score, rival, event):
        """tau = min(((w_guess - w_y*)·f + 1) / (2 f·f), C), 0 where no update is due."""
        loss = (rival - score) + 1.0
        due = score <= rival if self.update == "mistake" else loss > 0.0
        ff = 0.0
        for _, value in event:
            ff += value * value
        if not due or ff == 0.0:
            return 0.0
        return min(loss / (2.0 * ff), self.C)
