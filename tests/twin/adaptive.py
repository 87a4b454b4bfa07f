"""The plain-Python twins of AdaptiveClassifier and AROW: slow, obvious, and what a core is held to.

They import nothing of the library and perform IEEE operations in a stated order, so that a core
can agree to the last bit: one accumulator that starts at 0.0, the event's order, each product
rounded before it is added, brackets as they stand. `arithmetic.py` has what they need for it, and
`many.py` what AdaptiveClassifier does from its third label on.

What is kept for a feature is rounded to float32 when it is stored, but for its mean size, which
must hold 1e-50 and 1e50. All arithmetic is in float64, and so is what a model or label keeps once.

What a bad argument raises is settled at the library's doors and does not concern the twins. They
trust that values lie within 1e50 and that sample weight times class weight is at most 1e30.
"""

import math

from tests.twin.arithmetic import (
    LN2,
    clip,
    float32,
    lanes,
    log_exact,
    moved_mean,
    sigmoid,
    softmax,
)
from tests.twin.learners import Ceiling
from tests.twin.many import ManyLabels
from tests.twin.shapes import Shapes
from tests.twin.values import numbers


class TwoLabelsOrMore:
    """Labels of any name, new ones at any time, and the places that they take.

    Labels take places in the order in which they come. Up to two of them have one output, number 1,
    whose score is for the positive label, against the other: for the second, but for the first
    if that is True (or equals it: 1, 1.0). At the third each label gets an output of its own. A tie
    goes to the negative label, among more to the one that came first.
    """

    def __init__(self, class_weight=None):
        self.class_weight = class_weight
        self.place = {}  # {label: place}
        self.positive = 1  # a place
        self.two = True
        self.n_seen = 0
        self.n_updates = 0
        self.n_mistakes = 0

    @property
    def labels(self):
        """Those met so far, by place."""
        return sorted(self.place, key=self.place.get)

    @property
    def n_places(self):
        """Two from the start, whether or not labels have come."""
        return 2 if self.two else len(self.place)

    @property
    def outputs(self):
        return [1] if self.two else list(range(self.n_places))

    def predict_one(self, x):
        return self.prediction(self.scores(x))

    def prediction(self, scores):
        labels = self.labels
        if len(labels) < 2:
            return labels[0] if labels else None
        if self.two:
            return labels[self.positive if scores[1] > 0 else 1 - self.positive]
        return labels[max(scores, key=scores.get)]  # max() keeps the first of equals

    def by_label(self, numbers):
        return {label: numbers[place] for label, place in self.place.items()}

    def weight_of(self, y, w):
        return w * (1.0 if self.class_weight is None else self.class_weight.get(y, 1.0))

    def count(self, answered, y):
        """The tallies of a labelled event; the first of all is not a mistake."""
        self.n_mistakes += bool(self.place) and bool(answered != y)
        self.n_seen += 1

    def meet(self, y):
        """Give a label its place."""
        if y in self.place:
            return
        if not self.place:
            self.positive = 0 if y == True else 1  # noqa: E712
        self.make_way(y)
        self.place[y] = len(self.place)
        if not self.two:
            self.add_output(self.place[y])

    def make_way(self, y):
        """Give two labels an output each, if the label is the third."""
        if self.two and y not in self.place and len(self.place) == 2:
            self.split()
            self.two = False

    def speaks_for(self, k, y):
        """Whether output k is the label's, not against it."""
        return self.place[y] == (self.positive if self.two else k)


class Slot:
    """What is kept for a feature."""

    def __init__(self):
        self.s = 0.0  # the mean of |x|, by sample weight; float64
        self.negative = False  # whether it ever was
        self.cnt = 0.0  # the sum of sample weights u
        self.om = 0.125  # how informative it is about the label; sqrt(eps) at first
        self.c = {}  # {place: the sum of u v}, of which N is the sum
        self.w = {}  # {output: weight}
        self.G = {}  # {output: the sum of q X^2}
        self.column = None  # a Column, while it is one

    @property
    def row(self):
        """The counts, in the order of places."""
        return [self.c[k] for k in sorted(self.c)]

    def enter(self, k):
        """Make the entry of a label of more than two, of zeros."""
        for numbers_of in (self.c, self.w, self.G):
            numbers_of.setdefault(k, 0.0)

    def sift(self):
        """Drop entries that say nothing."""
        told = [k for k in sorted(self.c) if self.c[k] != 0 or self.G[k] != 0]
        self.c, self.w, self.G = ({k: its[k] for k in told} for its in (self.c, self.w, self.G))


class Column:
    """What is kept of a column of numbers since it is one: also of the events that have it not."""

    def __init__(self, a):
        self.a = a  # the mean of its values, zeros apart
        self.b = 0.0  # and their variance
        self.n = 1.0  # the sum of sample weights of the events that had it
        self.since = 1.0  # and of all events
        self.e = {}  # {place: the sum of u v}

    def sift(self):
        self.e = {k: e for k, e in self.e.items() if e != 0}

    def __eq__(self, other):
        return isinstance(other, Column) and vars(self) == vars(other)

    __hash__ = None


class Answer:
    """What an event is found to be: the formula's letters."""


class AdaptiveClassifier(TwoLabelsOrMore, ManyLabels):
    """A soft perceptron on features weighted by chi^2, with naive Bayes as one more feature.

    The step is as large as the error of the probability: w += eta u g X / sqrt(G), with logistic
    loss and AdaGrad (Duchi, Hazan & Singer 2011). X is the event scaled to length 1 at most. Each
    feature counts as much as it has been informative so far: om^2 = eps + chi^2 of its counts.
    The naive Bayes log-odds of the same counts are one more feature (Wang & Manning 2012).

    What the equations leave open, and how it is settled here:

    * A value of 0 is as if the feature were absent. An event that is empty, or only of values too
      small to square, has X = 0; the intercept and naive Bayes still answer and learn.
    * Two labels: naive Bayes counts both from the first event on, with D = 0 for what has not come.
      m learns from each event, also the first, whose d is 0. (Both matter: so the published
      orderings are met to the last digit, and by no other way that was tried.)
    * The third label makes two outputs out of one, and from then on another rule answers and
      learns, made for many: `many.py` has it.
    * s is kept as a mean by sample weight, not as a sum and a number of events: the mean of equal
      values is that value, exactly, and a weight of 2 is as good as two events. A value seen first
      is its own mean, so v is 1 or -1.
    * A feature takes part in naive Bayes where N > 0, it never was negative and is not now.
    * An event is divided by the root of the sum of max(h^2, om^2), not of h^2: so a small value
      of one feature does not make another's larger.
    * A value that is what the feature has always been counts as 1, whole.
    * Measurements are events too: numbers that many events have, and that vary. A feature becomes a
      column when it has another value than it always had, and at least half of the events before
      had it; the value until then counts as one event of the column's. It is one until fewer than a
      quarter of the events since then have it. All it knows as a column is of these events.
    * A column takes part in every event; where the event does not have it, it is 0. What v is of a
      column is the distance from the mean, zeros included, in standard deviations. Mean and
      variance of the values that are not 0 are kept (the last 1,024 of them count most), and how
      many are not, so that an event that lacks the column writes neither. A value more than 32
      standard deviations of these away counts as 32, or one wrong value would hide all others.
    * Where 0 is far from a column's values, more than sqrt(8) of their standard deviations from
      their mean, it is a gap. The column's v is then of the values that are not 0 alone, and 0 in
      an event that lacks it. In its place the event has a hidden feature, ("gap", column), so that
      a gap may say something, too. A column that is far now may be no more with the next event: a
      and b say it, and nothing else is kept.
    * A column's om is made of centred counts of its own, e; it has no part in naive Bayes. Its
      plain counts go on, for when it is not a column.
    * An event has its features in its order, then the columns in the order of their places, then
      what these hide: their gaps.
    * Curves and surfaces of columns: `shapes.py`.
    * Hidden features are features like others, of this v, that of a gap 1: what they usually are
      does not matter, they never become columns, and the length has their h^2 as it is.
    * since, n and e are halved before since is 2^20, as counts are.
    * Probabilities are P^tau, renormalised; tau is learned by AdaGrad on the log-loss, of events
      whose label was known. It changes no order.
    * Whether a feature is always there is judged when its cnt first reaches 2^19: it is, if at
      least 7/8 (T + K) events had it; otherwise its counts are halved there, again and again, and
      cnt stays below 2^19.
    * Where cnt would reach 2^20, the feature's cnt and c are halved until it is below. A float32 of
      that size still adds 1/16; from 2^24 on it would not add 1, and counts would stand still, each
      from another time on. What is read of counts are ratios, so only the `+ 1` of cnt + 1 notices,
      and what a feature said more than a million of its events ago fades.
    * Sample weights are meant in events. One above 1/phi makes an output forget its G, as the
      equations have it; one above 2^20 drowns what a feature counted before. Nothing overflows.
    * L bounds the sum of |X| without the intercept. c, of the rank, is without it too.
    * An event of weight 0 is tallied and changes nothing else; it makes no label known.
    * With one label it is the answer, with probability 1; the output learns all the same.
    * Under a ceiling (max_features) a feature's size is om |w| sqrt(cnt), of its largest weight:
      what it does to the scores of its events, by how often it comes. A feature that finds no place
      answers as one never seen, and nothing of it is learned.
    * N and the sum in chi^2, over labels, run in four lanes, the i-th count in lane i mod 4.
    """

    L = 12.0
    eps = 1 / 64
    P0 = 2.0**-20
    thr = 1 / 128
    window = 1024.0
    far = 8.0
    most = 2.0**20

    def __init__(
        self,
        *,
        eta=1.0,
        forget="auto",
        naive_bayes=True,
        intercept=True,
        class_weight=None,
        max_features=None,
        shape="auto",
        false_positive_rate=None,
    ):
        super().__init__(class_weight)
        self.alarms = Alarms(false_positive_rate or {})
        self.eta = eta
        self.watch = Watch() if forget == "auto" else None
        self.shapes = None
        if shape != "line":
            self.shapes = Shapes(shape, lambda: Watch() if forget == "auto" else None)
        self.forget = forget
        self.naive_bayes = naive_bayes
        self.intercept = intercept
        self.slots = {}  # {feature: Slot}
        self.ceiling = Ceiling(max_features)
        self.D = {0: 0.0, 1: 0.0}  # {place: sum of u}
        self.T = 0.0
        self.m = 0.0  # the usual |d|
        self.nm = 0.0
        self.b = 0.0  # of more than two labels
        self.tau = 1.0
        self.Gtau = 1.0
        self.columns = []  # the features that are, in the order of their places
        self.w0 = {}  # {output: the intercept's weight}
        self.G0 = {}
        self.wn = 3.0
        self.Gn = 0.0
        self.add_output(1)

    def add_output(self, k):
        self.w0[k] = self.G0[k] = 0.0
        if not self.two:
            self.w0[k], self.G0[k] = self.newcomers_intercept(k), 1.0
        self.D.setdefault(k, 0.0)

    # What a user asks

    def scores(self, x):
        """{output: score}."""
        return self.answer(x).final

    def predict_one(self, x):
        return self.answered(self.answer(x))

    def answered(self, a):
        """The label of an answered event; those of `false_positive_rate` have a bar to pass."""
        if len(self.place) < 2 or not any(label in self.alarms.q for label in self.place):
            return self.prediction(a.final)
        bar = [self.alarms.bar(label, self.n_seen) for label in self.labels]
        if self.two:
            is_above = self.rank(a) > bar[self.positive] - bar[1 - self.positive]
            return self.labels[self.positive if is_above else 1 - self.positive]
        free = [k for k, label in enumerate(self.labels) if label not in self.alarms.q]
        ahead = {k: a.final[k] * self.tempering - bar[k] for k in self.outputs if k not in free}
        if free:
            best = max(free, key=lambda k: a.final[k])  # of equals the first
            ahead[best] = a.final[best] * self.tempering
        return self.labels[min(ahead, key=lambda k: (-ahead[k], k))]

    def rank(self, a):
        """Of two labels."""
        return a.final[1] * self.tempering / (1.0 + 2.0 * a.unknown)

    @property
    def tempering(self):
        """Probabilities of a model that has seen little are nearer to equal."""
        return self.T / (self.T + 10.0)

    def predict_proba_one(self, x):
        if len(self.place) < 2:
            return dict.fromkeys(self.place, 1.0)
        t = self.answer(x).final
        scale = self.tempering * self.tau
        if self.two:
            t = t[1] * scale
            return self.by_label({self.positive: sigmoid(t), 1 - self.positive: sigmoid(-t)})
        return self.by_label(softmax([t[k] * scale for k in self.outputs]))

    def decision_function_one(self, x):
        """Up to two labels the rank, a number; for more {label: score}. P is of tau times that."""
        a = self.answer(x)
        if self.two:
            return self.rank(a)
        return self.by_label([a.final[k] * self.tempering for k in self.outputs])

    def explain_one(self, x, label=None):
        """{feature: contribution} to decision_function_one, None being what is always there.

        A feature's share in the naive Bayes value is V by its share in d.
        """
        a = self.answer(x)
        scale = self.tempering / (1.0 + 2.0 * a.unknown) if self.two else self.tempering
        share = self.explain_two(a) if self.two else self.explain_many(a, self.place[label])
        parts = {j: part * scale for j, part in share.items() if j not in a.hidden}
        for j in a.hidden:  # ("gap", column) and others: a column's share has theirs
            parts[j[1]] += share[j] * scale
        if self.shapes:  # a column's share has its curve, each pair of columns its own
            output = 1 if self.two else self.place[label]
            for j, part in self.shapes.explain(self, a, output).items():
                parts[j] = parts.get(j, 0.0) + part * scale
        return parts

    def explain_two(self, a):
        share = {None: self.w0[1] if self.intercept else 0.0}
        for j, h in a.h.items():
            share[j] = self.slot(j).w.get(1, 0.0) * (h * a.r)
        if self.naive_bayes and a.d != 0:
            factor = self.wn * a.V / a.d
            pair = self.positive, 1 - self.positive
            log_D = [log_exact(self.D[i] + 1.0) for i in pair]
            share[None] += factor * (log_D[0] - log_D[1])
            for j in a.counted:
                slot = self.slot(j)
                t = self.T / lanes(slot.row)
                odds = [log_exact(1.0 + slot.c.get(i, 0.0) * t) for i in pair]
                share[j] += factor * ((odds[0] - log_D[0]) - (odds[1] - log_D[1]))
        return share

    # From x to scores

    def slot(self, feature):
        return self.slots.get(feature) or Slot()

    def plain_value(self, slot, x):
        """A value by the feature's usual size."""
        mean = moved_mean(slot.s, abs(x), 1.0 / (slot.cnt + 1.0))
        # 0 where that is too small for a float64
        return clip(x / mean, 8.0) if mean > 0 else math.copysign(8.0, x)

    def moved(self, column, x, u):
        """Mean and variance of a column's values after x has come, which is not 0."""
        k = min(max(u / (column.n + u), u / self.window), 1.0)
        way = x - column.a
        if column.b > 0 and way * way > 1024.0 * column.b:
            way = math.copysign(32.0 * math.sqrt(column.b), way)
        a = column.a + way * k
        return a, (1.0 - k) * column.b + (((1.0 - k) * way) * way) * k

    def is_far(self, column):
        """Whether 0 is far from a column's values, and so a gap."""
        return column.a * column.a > self.far * column.b

    def centred(self, column, x):
        """v of a value of a column, and how much one event more would say of it."""
        known = 1.0 / (column.since + 1.0)
        a, b, n = column.a, column.b, column.n
        far = self.is_far(column)
        if far and x == 0:
            return 0.0, known
        if x != 0:
            a, b = self.moved(column, x, 1.0)
            n += 1.0
        # 1, exactly, of what is always there
        share = 1.0 if far else min(n / (column.since + 1.0), 1.0)
        mean = share * a
        variance = share * b + (share * (1.0 - share)) * (a * a)
        v = clip((x - mean) / math.sqrt(variance), 8.0) if variance > 0 else 0.0
        return v, known

    def has_hidden(self, column):
        """Whether it may: a name that is a mere object has none.

        Nor have pairs of features, which this twin does not know.
        """
        if isinstance(column, tuple):
            return all(map(self.has_hidden, column))
        return column is None or isinstance(column, str | bytes | int | float)

    def hidden_of(self, name, column, x):
        """{name: value} of what a column hides in an event in which it is x."""
        if not self.has_hidden(name):
            return {}
        if x == 0 and self.is_far(column):
            return {("gap", name): 1.0}
        return {}

    def answer(self, x):
        """Everything of an event that its label has no part in. Nothing is written."""
        a = Answer()
        a.x = {j: float(x_j) for j, x_j in numbers(x) if x_j != 0}
        a.v, a.h = {}, {}  # h = om v, so X = h r
        a.hidden = {}
        a.gaps = set()  # columns that the event lacks so
        squares = absolute = unknown = 0.0
        features = [*(j for j in a.x if j not in self.columns), *self.columns]
        for j in features:  # to which columns add what they hide
            slot = self.slot(j)
            least = slot.om * slot.om
            if j in a.hidden:
                v, known, least = a.x[j], 1.0 / (slot.cnt + 1.0), 0.0
            elif slot.column is None:
                v, known = self.plain_value(slot, a.x[j]), 1.0 / (slot.cnt + 1.0)
            else:
                v, known = self.centred(slot.column, a.x.get(j, 0.0))
                hidden = self.hidden_of(j, slot.column, a.x.get(j, 0.0))
                if a.x.get(j, 0.0) == 0 and self.is_far(slot.column):
                    a.gaps.add(j)
                a.hidden.update(hidden)
                a.x.update(hidden)
                features.extend(hidden)
            h = slot.om * v
            squares += max(h * h, least)
            absolute += abs(h)
            unknown += (h * h) * known
            a.v[j], a.h[j] = v, h
        a.r = 1.0 / math.sqrt(squares) if squares > 0 else 0.0
        a.length = absolute * a.r  # the sum of |X|
        a.unknown = (unknown * a.r) * a.r  # c: how little of the event is known
        (self.answer_two if self.two else self.answer_many)(a)
        a.final, a.told = a.score, a.U
        if self.shapes:
            self.shapes.answer(self, a)
        return a

    def answer_two(self, a):
        dot = 0.0
        for j, h in a.h.items():
            dot += self.slot(j).w.get(1, 0.0) * h
        self.ask_naive_bayes(a)
        score = dot * a.r
        if self.intercept:
            score += self.w0[1]
        if self.naive_bayes:
            score += self.wn * a.V
        a.score, a.U = {1: score}, [1]

    def ask_naive_bayes(self, a):
        """z_k = log(D_k + 1) + sum of log((1 + c_k T / N) / (D_k + 1)), and d and V of it.

        The logarithm is taken of the product P 2^E. Each factor is from 1 to T + 1; before four of
        them could make too much of P, its exponent moves to the integer E. That rounds nothing.
        """
        P, E = [1.0, 1.0], [0, 0]
        a.counted = []
        for j in a.h:
            slot = self.slot(j)
            N = lanes(slot.row)
            if slot.column or not (N > 0 and not slot.negative and a.x[j] > 0):
                continue
            t = self.T / N
            for k in (0, 1):
                P[k], e = math.frexp(P[k] * (1.0 + slot.c.get(k, 0.0) * t))
                E[k] += e
            a.counted.append(j)
        n = len(a.counted)
        z = [
            (log_exact(P[k]) + E[k] * LN2) - (n - 1.0) * log_exact(self.D[k] + 1.0) for k in (0, 1)
        ]
        a.d = z[self.positive] - z[1 - self.positive]
        a.V = clip(a.d / (self.m if self.m > 0 else 1.0), 2.0)

    # Learning

    def learn_one(self, x, y, w=1.0):
        a = self.answer(x)
        u = self.weight_of(y, w)
        if u > 0 and self.two:
            self.make_way(y)
            if not self.two:
                a = self.answer(x)
        answered = self.answered(a)
        self.count(answered, y)
        if u > 0 and len(self.place) > 1:
            self.alarms.learn(self.labels, answered, y)
        self.ceiling.see(j for j in a.x if j in self.slots)
        if u == 0:
            return
        self.ceiling.make_room(list(a.x), self.slots, Slot, self.size, self.slots.pop)
        known = y in self.place
        if self.shapes:
            self.shapes.aim(self, a, self.place.get(y, len(self.place)), u, known)
        self.learn_tau(a, y, u)
        self.learn_usual_odds(a)
        self.meet(y)
        stepped = (self.step_two if self.two else self.step_many)(a, y, u, known)
        if self.shapes:
            stepped |= self.shapes.step(self, a, u, known)
        self.n_updates += stepped
        changed = self.keep_counts(a, y, u)
        if self.shapes:
            self.shapes.count(self, a, self.place[y], u, changed)

    def learn_tau(self, a, y, u):
        """By how much probabilities are sharper: tau += .1 g / sqrt(G), g = u d log P(y) / dtau."""
        if len(self.place) < 2 or y not in self.place or not self.sharpens:
            return
        sharper = self.sharper_of_two if self.two else self.sharper_of_many
        g = sharper(a, a.score, y, u)
        self.Gtau += g * g
        # what curves say, too, must be heard: so the line must be able to grow
        rate = 0.3 if self.shapes and any(a.ways[0].values()) else 0.1
        tau = min(max(self.tau + (rate * g) / math.sqrt(self.Gtau), 0.2), 5.0)
        if self.shapes and a.shaped:
            self.shapes.learn_tau(a, lambda way: sharper(a, way, y, u))
        self.tau = tau

    def sharper_of_two(self, a, d, y, u):
        """u d log P(y) / dtau, where tau multiplies the scores d."""
        is_positive = 1.0 if self.speaks_for(1, y) else 0.0
        p = sigmoid((a.final[1] * self.tempering) * self.tau)
        return u * ((d[1] * self.tempering) * (is_positive - p))

    def learn_usual_odds(self, a):
        """m, the running mean of |d|; `many.py` says what that is of more labels."""
        if not self.naive_bayes or not (self.two or a.U):
            return
        usual = abs(a.d) if self.two else self.usual_odds_of_many(a)
        self.nm = min(self.nm + 1.0, self.window)
        self.m += (usual - self.m) / self.nm

    @property
    def phi(self):
        return self.watch.phi if self.watch else self.forget

    def step_size(self, a):
        return self.eta if a.length <= self.L else self.eta * (self.L / a.length)

    def step_two(self, a, y, u, known):
        """The update of the weights; whether there was one. `known`: y is not new."""
        is_positive = 1.0 if self.speaks_for(1, y) else 0.0
        p = sigmoid(a.score[1])
        phi = self.phi
        if self.watch and known:
            self.watch.see(p if is_positive else 1.0 - p, [1.0 - p, p], u)
        g = is_positive - p
        q = u * abs(g)
        if not q > self.thr:
            return False
        kept = max(0.0, 1.0 - phi * q)
        f = (self.step_size(a) * u) * g
        for j, h in a.h.items():
            slot = self.slots.get(j)
            if slot is None:  # the ceiling has refused it
                continue
            X = h * a.r
            slot.G[1] = float32(slot.G.get(1, 0.0) * kept + q * (X * X))
            slot.w[1] = float32(slot.w.get(1, 0.0) + (f * X) / math.sqrt(slot.G[1] + self.P0))
        if self.intercept:
            self.G0[1] = self.G0[1] * kept + q
            self.w0[1] += f / math.sqrt(self.G0[1] + self.P0)
        if self.naive_bayes:
            self.Gn += q * (a.V * a.V)
            self.wn += (f * a.V) / math.sqrt(self.Gn + 1.0)
        return True

    def keep_counts(self, a, y, u):
        place = self.place[y]
        before = self.T
        self.T += u
        self.D[place] += u
        changed = [j for j in self.columns if j not in self.slots]  # what the ceiling let go
        for j, v in a.v.items():
            slot = self.slots.get(j)
            if slot is None:
                continue
            x = a.x.get(j, 0.0)
            if slot.column:
                if x != 0:
                    self.keep_plain_counts(slot, x, self.plain_value(slot, x), place, u)
                if not self.keep_column(slot, x, v, place, u):
                    changed.append(j)
                continue
            always = -slot.s if slot.negative else slot.s
            begins = j not in a.hidden and slot.cnt > 0 and x != always
            if begins and self.is_frequent(slot, before):
                slot.column = Column(always)
                self.count_in_column(slot.column, x, u)
                changed.append(j)
            self.keep_plain_counts(slot, x, v, place, u)
            slot.om = float32(self.weight_by_chi2(slot))
        if changed:
            self.find_columns()
        return bool(changed)

    def keep_plain_counts(self, slot, x, v, place, u):
        cnt = slot.cnt + u
        slot.s = moved_mean(slot.s, abs(x), u / cnt)
        slot.negative = slot.negative or x < 0
        halved = self.halved(cnt, slot.cnt >= self.always)
        slot.cnt = float32(cnt * halved)
        if not self.two:
            slot.enter(place)
        slot.c[place] = slot.c.get(place, 0.0) + u * v
        for k in slot.c:
            slot.c[k] = float32(slot.c[k] * halved)

    def is_frequent(self, slot, T):
        return 2.0 * slot.cnt >= T + 1.0 or slot.cnt >= self.always

    def count_in_column(self, column, x, u):
        if x != 0:
            column.a, column.b = self.moved(column, x, u)
            column.n += u
        column.since += u
        halved = 1.0
        while column.since * halved >= self.most:
            halved *= 0.5
        column.since *= halved
        column.n *= halved
        return halved

    def keep_column(self, slot, x, v, place, u):
        """Count an event of a column; whether it still is one."""
        column = slot.column
        halved = self.count_in_column(column, x, u)
        if v != 0:
            column.e[place] = column.e.get(place, 0.0) + u * v
        for k in column.e:
            column.e[k] = float32(column.e[k] * halved)
        slot.om = float32(self.weight_by_chi2(slot))
        if 4.0 * column.n < column.since + 1.0:
            slot.column = None
        return slot.column is not None

    def find_columns(self):
        self.columns = [j for j in self.ceiling.places if self.slots[j].column]

    @property
    def always(self):
        """A count of so much: the feature is always there."""
        return self.most / 2

    def halved(self, cnt, always):
        """By what counts are halved; `always`: of a feature that was always there until now."""
        always = always or cnt >= 0.875 * (self.T + self.n_places)
        halved = 1.0
        while cnt * halved >= (self.most if always else self.always):
            halved *= 0.5
        return halved

    def size(self, feature):
        slot = self.slots[feature]
        largest = max((abs(w) for w in slot.w.values()), default=0.0)
        return slot.om * largest * math.sqrt(slot.cnt)

    def weight_by_chi2(self, slot):
        """om = sqrt(eps + chi^2 / (cnt + 1)^2), where chi^2 = sum of (c_k - pi_k N)^2 / pi_k.

        With pi_k = (D_k + 1) / (T + K) that is (T + K) sum of c_k^2 / (D_k + 1), less N^2. With
        more than two labels it is D_k + 10 there: a feature that came a few times, each time with
        another rare label, has said nothing yet.
        """
        column = slot.column
        few = 1.0 if self.two else 10.0
        counts = column.e if column else slot.c
        N = lanes(counts[k] for k in sorted(counts))
        squares = lanes((counts[k] * counts[k]) * (1.0 / (self.D[k] + few)) for k in sorted(counts))
        chi2 = (self.T + self.n_places) * squares - N * N
        known = 1.0 / ((column.since if column else slot.cnt) + 1.0)
        return math.sqrt(self.eps + max(0.0, chi2) * (known * known))


class Alarms:
    """false_positive_rate: labels that are answered only where they are ahead by more than a bar.

    A bar is q_k, which is learned, and a start that matters while little has been seen. At each
    event of another label, before that is learned, q_k += (1[k was answered] - rate_k) / 2: it
    stays where it is if k is answered in just so many of them.
    """

    step = 0.5

    def __init__(self, rates):
        self.rates = dict(rates)
        self.q = dict.fromkeys(rates, 0.0)

    def bar(self, label, n_seen):
        return self.q[label] + 100.0 / (50.0 + n_seen) if label in self.q else 0.0

    def learn(self, labels, answered, y):
        """Of labels that have come; once there are two."""
        for label in self.q:
            if label in labels and label != y:
                wrong = 1.0 if label == answered else 0.0
                self.q[label] += self.step * (wrong - self.rates[label])


class Watch:
    """forget="auto": long steps once the model errs more than its probabilities say.

    Of each event, with P(y) of its label, 1 - P(y) is what it erred. With probabilities p_k that is
    expected to be E = sum of p_k (1 - p_k), with a variance of sum of p_k (1 - p_k)^2 - E^2. Faded
    sums of the three, over some 64 events, are compared: more than six standard deviations is
    drift. phi is then 1 until 40 have been erred in all, and the watch starts anew.
    """

    usual = 2.0**-10
    fade = 63 / 64

    def __init__(self):
        self.owed = 0.0
        self.anew()

    def anew(self):
        self.events = self.erred = self.expected = self.variance = 0.0

    @property
    def numbers(self):
        return self.events, self.erred, self.expected, self.variance, self.owed

    @numbers.setter
    def numbers(self, numbers):
        self.events, self.erred, self.expected, self.variance, self.owed = numbers

    @property
    def phi(self):
        return 1.0 if self.owed > 0 else self.usual

    def see(self, p_y, p, u, rest=0.0):
        """`rest`: what labels whose P is not among p have in all; they are many and small."""
        erred = 1.0 - p_y
        if self.owed > 0:
            self.owed = max(0.0, self.owed - u * erred)
            return
        expected = lanes([p_k * (1.0 - p_k) for p_k in p]) + rest
        squares = lanes([(p_k * (1.0 - p_k)) * (1.0 - p_k) for p_k in p]) + rest
        variance = max(0.0, squares - expected * expected)
        self.erred = self.erred * self.fade + u * erred
        self.expected = self.expected * self.fade + u * expected
        self.variance = self.variance * (self.fade * self.fade) + (u * u) * variance
        self.events = min(self.events + 1.0, 256.0)
        if self.events < 256:
            return
        if self.erred - self.expected > 6.0 * math.sqrt(self.variance + 0.1):
            self.anew()
            self.owed = 40.0


class INTERCEPT:
    """The intercept's name, which no feature of a user's can equal."""


class AROW(TwoLabelsOrMore):
    """Adaptive regularisation of weight vectors, diagonal (Crammer, Kulesza & Dredze 2009).

    The paper keeps a variance S for each weight, 1 at first, and after an event of variance
    v = sum S x^2 with Y w.x < 1 takes w += alpha Y S x and S -= beta S^2 x^2, with
    beta = 1 / (v + r) and alpha = (1 - Y w.x) beta. Here q = 1/S - 1 is kept instead, 0 for what
    was never seen. The same update in it is

        q_j += x_j^2 / (r + the variance of the event's other features)

    which subtracts nothing from q, so it never falls. All is float64, nothing is rounded to
    float32: a value of 1e50 has a q of 1e100.

    An event of sample weight u is an observation with 1/u of the noise: r / u stands for r. So a
    weight of 2 is almost the event twice, no weight oversteps, and 0 changes nothing.

    More than two labels: one against all, each label's output with the others for -1. Two labels
    have one output, which is what two opposite ones would be; at the third it becomes them, w and
    -w with the same q. The intercept is a feature of value 1, and a newcomer's starts at -1: so it
    steps only where a feature favours it. All its other weights start at 0.
    """

    def __init__(self, *, r=1.0, intercept=True, class_weight=None):
        super().__init__(class_weight)
        self.r = r
        self.intercept = intercept
        self.w = {1: {}}  # {output: {feature: weight}}
        self.q = {1: {}}

    def add_output(self, k):
        self.w[k], self.q[k] = {INTERCEPT: -1.0} if self.intercept else {}, {}

    def split(self):
        w, q = self.w[1], self.q[1]
        against = {j: -w_j for j, w_j in w.items()}
        self.w = {self.positive: w, 1 - self.positive: against}
        self.q = {0: q, 1: dict(q)}

    def event(self, x):
        """[(feature, value)], the intercept first, without zeros."""
        entries = [(INTERCEPT, 1.0)] if self.intercept else []
        return entries + [(j, float(x_j)) for j, x_j in numbers(x) if x_j != 0]

    def scores(self, x):
        scores = {}
        for k in self.outputs:
            scores[k] = 0.0
            for j, x_j in self.event(x):
                scores[k] += self.w[k].get(j, 0.0) * x_j
        return scores

    def decision_function_one(self, x):
        """Up to two labels a number, for more {label: score}."""
        scores = self.scores(x)
        return scores[1] if self.two else self.by_label(scores)

    def learn_one(self, x, y, w=1.0):
        scores = self.scores(x)
        self.count(self.prediction(scores), y)
        u = self.weight_of(y, w)
        if u == 0:
            return
        two = self.two
        self.meet(y)
        if two and not self.two:
            scores = {self.positive: scores[1], 1 - self.positive: -scores[1]}
        event = self.event(x)
        stepped = False
        for k in self.outputs:
            Y = 1.0 if self.speaks_for(k, y) else -1.0
            loss = 1.0 - Y * scores.get(k, self.w[k].get(INTERCEPT, 0.0))
            if loss > 0 and event:
                self.step(k, event, Y, loss, self.r / u)
                stepped = True
        self.n_updates += stepped

    def step(self, k, event, Y, loss, r):
        w, q = self.w[k], self.q[k]
        v = 0.0
        for j, x in event:
            v += (x * x) / (1.0 + q.get(j, 0.0))
        alpha = Y * (loss / (v + r))
        for j, x in event:
            S = 1.0 + q.get(j, 0.0)  # one over the variance
            w[j] = w.get(j, 0.0) + (alpha * x) / S
            q[j] = q.get(j, 0.0) + (x * x) / (r + max(0.0, v - (x * x) / S))
