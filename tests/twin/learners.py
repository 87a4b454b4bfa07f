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

What a bad argument raises is settled at the library's doors and does not concern the twin.
"""

import math

from tests.twin.serving import (
    Best,
    BinaryCalibrator,
    MulticlassCalibrator,
    Pocket,
    Scale,
    within,
)
from tests.twin.values import numbers


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


class Ceiling:
    """Which feature leaves when there are max_features and a new one comes.

    Of the next 16 places at the hand whose features are not in the event at hand, the one with the
    smallest size^2 / age; of equals the first. The age counts events that made features leave.
    """

    def __init__(self, max_features):
        self.max_features = max_features
        self.places = []  # the features, each in its place
        self.seen = {}  # {feature: the clock when it was last in a labelled event}
        self.clock = 0
        self.hand = 0
        self.n_evicted = 0

    def see(self, features):
        for feature in features:
            self.seen[feature] = self.clock

    def choose(self, event, size):
        """The place whose feature leaves, or None if all are in the event."""
        candidates = []
        for _ in range(len(self.places)):
            place = self.hand
            self.hand = (self.hand + 1) % len(self.places)
            if self.places[place] not in event:
                candidates.append(place)
            if len(candidates) == 16:
                break

        def loss(place):
            feature = self.places[place]
            return size(feature) * size(feature) / (self.clock - self.seen[feature])

        return min(candidates, key=loss, default=None)

    def make_room(self, names, slots, new, size, forget, stay=()):
        """Give each name a place and what is `new` among the slots; a set of those without one.

        Neither these leave nor those that `stay`.
        """
        stay = {*names, *stay}
        refused = set()
        ticked = False
        for name in names:
            if name in slots:
                continue
            if len(slots) != self.max_features:
                self.places.append(name)
            else:
                if not ticked:
                    self.clock += 1
                    self.see(name for name in stay if name in slots)
                    ticked = True
                place = self.choose(stay, size)
                self.n_evicted += 1
                if place is None:
                    refused.add(name)
                    continue
                forget(self.places[place])
                self.places[place] = name
            slots[name] = new()
            self.see([name])
        return refused


class Learner:
    """What the learners share. The subclasses say how the outputs are read, and the rule:

    decision(by_output)            what is shown of {output: anything}
    prediction(scores)             the label, None when there is none yet
    confidence(scores)             the margin of the prediction, and the x that the scale learns
    calibrator()                   what makes probabilities of a decision
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
        max_features=None,
    ):
        self.average = average
        self.half_life = half_life
        self.pocket = pocket
        self.serve = serve
        self.intercept = intercept
        self.class_weight = class_weight
        self.ceiling = Ceiling(max_features)

        self.kinds = ["current"]
        if average != "none":
            self.kinds.append("average")
        if pocket:
            self.kinds.append("pocket")
        if serve != "best":
            self.check_kept(serve)

        self.slots = {}  # an ordered set: the features in the order of their first updates
        self.w = {}  # {output: {feature: weight}}, as are the next three
        self.u = {}
        self.exponential = {}
        self.pocketed = {}
        self.c = 1.0

        self.n_seen = 0
        self.n_updates = 0
        self.n_mistakes = 0

        # the pocket contends only where no average is kept, and may be asked for by name
        self.contestants = self.kinds[:2] if serve == "best" else [serve]
        self.best = Best()
        self.scales = {kind: Scale() for kind in self.contestants}
        self.calibrators = {kind: self.calibrator() for kind in self.contestants}
        self.pocket_rule = Pocket()

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
        w_0 = {feature: float(weight) for feature, weight in weights.items() if weight != 0}
        for feature in w_0:
            if feature not in self.slots:
                self.add_feature(feature)
        if self.intercept:
            w_0[INTERCEPT] = float(intercept)
        self.add_output(output, w_0)

    # What a user asks

    @property
    def serving(self):
        """The kept vector that answers, as far as that can be said without an event."""
        return self.contestants[self.best.overall() if len(self.contestants) > 1 else 0]

    def served_for(self, x):
        """The kept vector that answers for this event."""
        return self.answering(self.contestants_scores(x))

    def predict_one(self, x):
        scores = self.contestants_scores(x)
        return self.prediction(scores[self.answering(scores)])

    def decision_function_one(self, x):
        scores = self.contestants_scores(x)
        return self.decision(scores[self.answering(scores)])

    def predict_proba_one(self, x):
        scores = self.contestants_scores(x)
        kind = self.answering(scores)
        return self.calibrators[kind].probabilities(self.decision(scores[kind]), self.scales[kind])

    # From x to scores

    def event(self, x):
        """[(feature, value)], the intercept first, without zeros."""
        entries = [(INTERCEPT, 1.0)] if self.intercept else []
        for feature, value in numbers(x):
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

    def contestants_scores(self, x):
        event = self.event(x)
        return {kind: self.scores(event, kind) for kind in self.contestants}

    def relative_margins(self, scores):
        return [self.scales[k].relative(self.confidence(scores[k])[0]) for k in self.contestants]

    def answering(self, scores):
        """The kept vector that answers where the contestants have these scores."""
        if len(self.contestants) == 1:
            return self.contestants[0]
        _, b = self.best.choose(self.relative_margins(scores))
        return self.contestants[b]

    # Learning

    def learn_one(self, x, y, w=1.0):
        event = self.event(x)
        scores = {kind: self.scores(event, kind) for kind in self.kinds}

        asked = len(self.labels) > 0  # before the first there is no prediction, so no mistake
        mistakes = {kind: asked and bool(self.prediction(scores[kind]) != y) for kind in self.kinds}
        self.n_mistakes += mistakes["current"]
        self.judge(scores, mistakes, y)
        self.n_seen += 1

        self.meet(y, scores["current"])
        weight = 1.0 if self.class_weight is None else self.class_weight.get(y, 1.0)
        steps = [
            (output, coefficient)
            for output, coefficient in self.rule(scores["current"], y, w * weight, event)
            if coefficient != 0 and event
        ]
        self.ceiling.see(feature for feature, _ in event if feature in self.slots)
        if steps:
            self.n_updates += 1
            event = self.make_room(event)

        if self.pocket and self.pocket_rule.challenge(mistakes["current"], mistakes["pocket"]):
            self.pocketed = {output: dict(self.w[output]) for output in self.w}

        for output, coefficient in steps:
            self.add(output, coefficient, event)

        self.c += 1.0
        self.average_exponentially()

    def judge(self, scores, mistakes, y):
        """What an event teaches of the contestants. The scales are read first and learn last."""
        if len(self.contestants) > 1:
            self.best.learn(
                self.relative_margins(scores), [mistakes[kind] for kind in self.contestants]
            )
        for kind in self.contestants:
            self.calibrators[kind].learn(
                self.decision(scores[kind]), y, self.scales[kind], self.n_seen
            )
            _, x = self.confidence(scores[kind])
            if x is not None:
                self.scales[kind].learn(x)

    def add_feature(self, feature):
        """A place for one more feature."""
        self.slots[feature] = None
        self.ceiling.places.append(feature)
        self.ceiling.see([feature])

    def make_room(self, event, names=()):
        """Give each new feature of an event a place; the event without those that find none.

        `names`: of other features that must not leave for them.
        """
        new = [feature for feature, _ in event if feature is not INTERCEPT]
        refused = self.ceiling.make_room(
            new, self.slots, lambda: None, size=self.size, forget=self.forget, stay=names
        )
        return [(feature, value) for feature, value in event if feature not in refused]

    def size(self, feature):
        """The largest |weight| of a feature, of all outputs and kept vectors."""
        return max(
            abs(self.weight(kind, output, feature)) for kind in self.kinds for output in self.w
        )

    def forget(self, feature):
        """Drop a feature and all that is kept of it."""
        del self.slots[feature]
        for vectors in (self.w, self.u, self.exponential, self.pocketed):
            for vector in vectors.values():
                vector.pop(feature, None)

    def add(self, output, coefficient, event):
        """w += coefficient x, and u += c coefficient x (CIML, Algorithm 7)."""
        w, u = self.w[output], self.u[output]
        for feature, value in event:
            delta = coefficient * value
            w[feature] = w.get(feature, 0.0) + delta
            u[feature] = u.get(feature, 0.0) + self.c * delta

    def average_exponentially(self):
        """avg = (1-a) avg + a w, with a such that a vector's share halves in half_life events."""
        if self.average != "exponential":
            return
        a = -math.expm1(-math.log(2.0) / self.half_life)
        for output, w in self.w.items():
            avg = self.exponential[output]
            for feature in w:
                avg[feature] = (1.0 - a) * avg.get(feature, 0.0) + a * w[feature]

    # What is shown of the weights: those that are not 0

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
        shown = {}
        for output in self.w:
            weights = {feature: self.weight(kind, output, feature) for feature in self.slots}
            shown[output] = {feature: weight for feature, weight in weights.items() if weight != 0}
        return self.decision(shown)

    def intercept_of(self, kind):
        self.check_kept(kind)
        return self.decision({output: self.weight(kind, output, INTERCEPT) for output in self.w})

    weights = property(lambda self: self.weights_of("current"))
    averaged_weights = property(lambda self: self.weights_of("average"))
    pocket_weights = property(lambda self: self.weights_of("pocket"))
    intercept_ = property(lambda self: self.intercept_of("current"))
    averaged_intercept = property(lambda self: self.intercept_of("average"))
    pocket_intercept = property(lambda self: self.intercept_of("pocket"))
    n_features = property(lambda self: len(self.slots))
    n_evicted = property(lambda self: self.ceiling.n_evicted)


class Perceptron(Learner):
    """CIML, Algorithms 5 to 7: one output, True where its score is above 0."""

    calibrator = BinaryCalibrator

    def __init__(self, *, margin=0.0, **kept):
        super().__init__(**kept)
        self.margin = margin
        self.labels = [False, True]
        self.add_output(True)

    @classmethod
    def from_weights(cls, weights, intercept=0.0, **params):
        """A learner that starts from these weights."""
        learner = cls(**params)
        learner.start_output(True, weights, intercept)
        return learner

    def decision(self, by_output):
        return by_output[True]

    def prediction(self, scores):
        return scores[True] > 0

    def confidence(self, scores):
        return abs(scores[True]), abs(scores[True])

    def meet(self, y, scores):
        """Both labels are known from the start."""

    def rule(self, scores, y, step, event):
        """If Y a <= margin: w += Y x, with Y = +1 or -1. A tie is a mistake for either label."""
        Y = 1.0 if y else -1.0
        return [(True, Y * step)] if Y * scores[True] <= self.margin else []


class Multiclass(Learner):
    """One output for each label, numbered in the order in which they were first seen."""

    calibrator = MulticlassCalibrator
    newcomer = 0.0  # where the intercept of a label begins

    @classmethod
    def from_weights(cls, weights, intercept=None, **params):
        """A learner that starts from {label: {feature: weight}} and {label: intercept}, else 0."""
        learner = cls(**params)
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

    def confidence(self, scores):
        """The lead of the best score over the second, and over the average label's."""
        if len(scores) < 2:
            return 0.0, None
        second, best = sorted(scores.values())[-2:]
        total = 0.0
        for score in scores.values():
            total += best - score
        return best - second, total / len(scores)

    def meet(self, y, scores):
        if y not in self.w:
            scores[y] = self.newcomer if self.intercept else 0.0
            self.add_output(y, {INTERCEPT: scores[y]} if scores[y] else ())

    def rule(self, scores, y, step, event):
        """w_y gains tau x, which the violators lose, each its share."""
        others = {k: score for k, score in scores.items() if k != y}
        lead = {k: scores[y] - score for k, score in others.items()}
        violators = [k for k in others if self.violates(lead[k])]
        if not violators:
            return []
        if self.violators == "best":
            violators = [self.prediction(others)]
        share = self.shares({k: self.required - lead[k] for k in violators})
        tau = self.tau(lead, share, event) * step
        return [(y, tau)] + [(k, -(s * tau)) for k, s in share.items()]

    def shares(self, d):
        """{label: share} for labels that lack d of the lead that y should have over them."""
        total = 0.0
        for lack in d.values():
            total += lack
        if self.violators != "proportional" or total == 0:
            return {k: 1.0 / len(d) for k in d}
        return {k: lack / total for k, lack in d.items()}


class MulticlassPerceptron(Multiclass):
    """CS188: w_y* += f, w_guess -= f, where guess is the best-scoring other label.

    Crammer & Singer 2003: all labels of the error set may share what w_y* gains.
    """

    def __init__(self, *, margin=0.0, violators="best", **kept):
        super().__init__(**kept)
        self.required = margin
        self.violators = violators

    def violates(self, lead):
        return lead <= self.required

    def tau(self, lead, share, event):
        return 1.0


class MIRA(Multiclass):
    """CS188: the smallest change after which y* scores 1 more than guess, at most C of it.

    A step goes as far as it must, also for a label's first event, after which many others would be
    answered with it. So its intercept begins at -1, where weights are not averaged.
    """

    required = 1.0

    @property
    def newcomer(self):
        return -1.0 if self.average == "none" else 0.0

    def __init__(self, *, C=1.0, update="margin", violators="best", **kept):
        super().__init__(**kept)
        self.C = C
        self.update = update
        self.violators = violators

    def violates(self, lead):
        return lead <= 0 if self.update == "mistake" else lead < 1

    def tau(self, lead, share, event):
        """tau = min(the shared lack of a lead of 1 / ||the direction||^2, C); 0 where that is 0."""
        loss = squares = ff = 0.0
        for k, s in share.items():
            loss += s * (1.0 - lead[k])
            squares += s * s
        for _, value in event:
            ff += value * value
        return min(loss / ((1.0 + squares) * ff), self.C) if ff else 0.0


class RankingPerceptron(Learner):
    """Collins 2002: w += d, where d = x_chosen - x_guess and guess is the best-scoring other one.

    Candidates {id: x} share one vector, the output True; scores are by candidate. With
    update="margin" or "mistake" MIRA's step: min((score_guess - score_chosen + 1) / d·d, C) d.
    """

    calibrator = MulticlassCalibrator

    def __init__(self, *, update="perceptron", margin=0.0, C=1.0, **kept):
        super().__init__(intercept=False, **kept)
        self.update = update
        self.margin = margin
        self.C = C
        self.add_output(True)

    @classmethod
    def from_weights(cls, weights, **params):
        learner = cls(**params)
        learner.w.clear()
        learner.start_output(True, weights, 0.0)
        return learner

    def decision(self, by_candidate):
        return by_candidate

    def prediction(self, scores):
        return max(scores, key=scores.get, default=None)

    def confidence(self, scores):
        return Multiclass.confidence(self, scores)

    def vectors(self, candidates):
        return {y: dict(self.event(x)) for y, x in candidates.items()}

    def contestants_scores(self, candidates):
        vectors = self.vectors(candidates)
        return {kind: self.scores_of(vectors, kind) for kind in self.contestants}

    def scores_of(self, vectors, kind):
        return {y: self.scores(x.items(), kind)[True] for y, x in vectors.items()}

    def rank_one(self, candidates):
        scores = self.decision_function_one(candidates)
        return sorted(scores, key=lambda y: -scores[y])

    def difference(self, vectors, y, guess):
        d = dict(vectors[y])
        for feature, value in vectors[guess].items():
            d[feature] = d.get(feature, 0.0) - value
        return [(feature, value) for feature, value in d.items() if value != 0]

    def learn_one(self, candidates, chosen, w=1.0):
        self.learn_vectors(self.vectors(candidates), chosen, w)

    def learn_vectors(self, vectors, chosen, w, said=None):
        """`said`: the scores by which the kept vectors are judged; None: those of this moment."""
        scores = {kind: self.scores_of(vectors, kind) for kind in self.kinds}
        said = said or scores
        mistakes = {kind: self.prediction(said[kind]) != chosen for kind in self.kinds}
        self.n_mistakes += mistakes["current"]
        self.judge(said, mistakes, chosen)
        self.n_seen += 1

        features = {feature for x in vectors.values() for feature in x}
        self.ceiling.see(feature for feature in features if feature in self.slots)
        d, coefficient = self.step(vectors, scores["current"], chosen, w)
        if d:
            self.n_updates += 1
            d = self.make_room(d, features)
        if self.pocket and self.pocket_rule.challenge(mistakes["current"], mistakes["pocket"]):
            self.pocketed = {output: dict(self.w[output]) for output in self.w}
        self.add(True, coefficient, d)
        self.c += 1.0
        self.average_exponentially()

    def step(self, vectors, scores, chosen, w):
        """The difference that is added and how many times; nothing where no update is due."""
        guess = self.prediction({y: score for y, score in scores.items() if y != chosen})
        if guess is None or w == 0:
            return [], 0.0
        loss = (scores[guess] - scores[chosen]) + 1.0
        due = {
            "perceptron": scores[chosen] - scores[guess] <= self.margin,
            "margin": loss > 0.0,
            "mistake": scores[chosen] <= scores[guess],
        }
        d = self.difference(vectors, chosen, guess)
        if not due[self.update] or not d:
            return [], 0.0
        if self.update == "perceptron":
            return d, w
        dd = 0.0
        for _, value in d:
            dd += value * value
        return d, min(loss / dd, self.C) * w

    def learn_many(self, rows, grades, qid, weights=None, last=None):
        """Each row is the worst of itself and the rows of higher grade in its query, in order.

        The worst is the best when the values change their signs. The vectors are judged by what
        they said before the query. `last`: where to stop.
        """
        said = {}
        for r in range(len(rows) if last is None else last):
            query = {
                i: {feature: -value for feature, value in self.event(rows[i])}
                for i in range(len(rows))
                if qid[i] == qid[r]
            }
            if qid[r] not in said:
                said[qid[r]] = {kind: self.scores_of(query, kind) for kind in self.kinds}
            betters = {i: x for i, x in query.items() if i == r or grades[i] > grades[r]}
            if len(betters) > 1:
                of_these = {
                    kind: {i: scores[i] for i in betters} for kind, scores in said[qid[r]].items()
                }
                w = 1.0 if weights is None else weights[r]
                self.learn_vectors(betters, r, w, of_these)

    def weights_of(self, kind):
        return super().weights_of(kind)[True]


class AROW(Learner):
    """Crammer, Kulesza & Dredze 2009, diagonal: a variance S for each weight, 1 at first.

    With v = sum of S x^2, beta = 1 / (v + r) and alpha = Y (1 - Y w.x) beta: w += alpha S x and
    S -= beta S^2 x^2, where Y w.x < 1. Here q = 1/S - 1 is kept instead, 0 for what was never seen.
    The same update in it is q_j += x_j^2 / (r + the variance of the event's other features).

    An event of sample weight u is an observation with 1/u of the noise: r / u stands for r.

    Up to two labels have one output, True, whose score is for the positive one: the second, or
    the first if it equals True. At the third each label gets an output, w and -w with the same q
    for those that were there. Then it is one against all, and a newcomer's intercept starts at -1,
    so that it steps only where a feature of an event favours it.
    """

    calibrator = BinaryCalibrator

    def __init__(self, *, r=1.0, **kept):
        super().__init__(average="none", serve="current", **kept)
        self.r = r
        self.labels = []
        self.positive = 1  # its place among the labels
        self.two = True
        self.q = {True: {}}
        self.add_output(True)

    @classmethod
    def from_weights(cls, weights, intercept=0.0, **params):
        learner = cls(**params)
        learner.start_output(True, weights, intercept)
        return learner

    def decision(self, by_output):
        return by_output[True] if self.two else by_output

    def prediction(self, scores):
        if not self.two:
            return max(scores, key=scores.get)
        if len(self.labels) < 2:
            return self.labels[0] if self.labels else None
        return self.labels[self.positive if scores[True] > 0 else 1 - self.positive]

    def confidence(self, scores):
        if self.two:
            return abs(scores[True]), abs(scores[True])
        return Multiclass.confidence(self, scores)

    def predict_proba_one(self, x):
        if len(self.labels) < 2:
            return dict.fromkeys(self.labels, 1.0)
        p = super().predict_proba_one(x)
        if self.two:
            return {label: p[k == self.positive] for k, label in enumerate(self.labels)}
        return p

    def judge(self, scores, mistakes, y):
        if self.two:
            if y in self.labels or len(self.labels) < 2:
                side = self.is_positive(y)
                self.calibrators["current"].learn(
                    scores["current"][True], side, self.scales["current"], self.n_seen
                )
            self.scales["current"].learn(abs(scores["current"][True]))
        else:
            super().judge(scores, mistakes, y)

    def is_positive(self, y):
        if not self.labels:
            return y == True  # noqa: E712
        return ([*self.labels, y].index(y)) == self.positive

    def meet(self, y, scores):
        if y in self.labels:
            return
        if not self.labels:
            self.positive = 0 if y == True else 1  # noqa: E712
        self.labels.append(y)
        if len(self.labels) == 3:
            self.split(scores)
        if len(self.labels) > 2:
            self.add_output(y, {INTERCEPT: -1.0} if self.intercept else {})
            self.q[y] = {}
            scores[y] = -1.0 if self.intercept else 0.0

    def split(self, scores):
        """One output becomes two; no answer changes, and no probability where B was 0."""
        w, q, score = self.w.pop(True), self.q.pop(True), scores.pop(True)
        for k, label in enumerate(self.labels[:2]):
            sign = 1.0 if k == self.positive else -1.0
            self.add_output(label, {feature: sign * weight for feature, weight in w.items()})
            self.q[label] = dict(q)
            scores[label] = sign * score
        for vectors in (self.u, self.exponential, self.pocketed):
            del vectors[True]
        self.two = False
        fit = MulticlassCalibrator()
        fit.beta = max(0.5 * self.calibrators["current"].A, 0.015625)
        self.calibrators["current"] = fit

    def rule(self, scores, y, step, event):
        """[(output, (alpha, v, r))]."""
        moves = []
        for output, score in scores.items():
            speaks = self.is_positive(y) if self.two else output == y
            Y = 1.0 if speaks else -1.0
            loss = 1.0 - Y * score
            if step > 0 and loss > 0:
                v = 0.0
                for feature, x in event:
                    v += (x * x) / (1.0 + self.q[output].get(feature, 0.0))
                r = self.r / step
                moves.append((output, (within(-1e100, Y * loss / (v + r), 1e100), v, r)))
        return moves

    def add(self, output, move, event):
        alpha, v, r = move
        w, q = self.w[output], self.q[output]
        for feature, x in event:
            S = 1.0 + q.get(feature, 0.0)  # one over the variance
            w[feature] = w.get(feature, 0.0) + (alpha * x) / S
            q[feature] = q.get(feature, 0.0) + (x * x) / (r + max(0.0, v - (x * x) / S))

    def forget(self, feature):
        super().forget(feature)
        for q in self.q.values():
            q.pop(feature, None)
