"""The plain-Python twin of MultiLabelClassifier: several labels an event, each on its own.

Slow and obvious: every label is worked out at every event. IEEE operations in a stated order, as in
the other twins; what is kept for a feature and label is rounded to float32 when it is stored.

A label k is learned against its absence, as AdaptiveClassifier learns two labels, but all labels
share what is kept of a feature, and what a feature weighs for a label is worked out when it is
read. A feature and label have numbers of their own, an *entry*, only where the label came with the
feature, or was wrongly expected with a probability of more than 1/8.
"""

import math

from tests.twin.arithmetic import LN2, clip, float32, log_exact, moved_mean, sigmoid
from tests.twin.learners import Ceiling
from tests.twin.values import numbers


class Entry:
    """What is kept for a feature and a label."""

    def __init__(self):
        self.c = 0.0  # the sum of u v over events with both
        self.w = 0.0
        self.G = 0.0  # the sum of q X^2


class Slot:
    """What is kept for a feature."""

    def __init__(self):
        self.s = 0.0  # the mean of |x|, by sample weight; float64
        self.negative = False
        self.cnt = 0.0  # the sum of sample weights u
        self.N = 0.0  # the sum of u v; float64
        self.row = {}  # {place of a label: Entry}


class Label:
    """What is kept for a label, all float64."""

    def __init__(self, w0, wn):
        self.D = 0.0  # the sum of u over events that had it
        self.left = 0.0  # over events that left it open
        self.w0, self.wn = w0, wn
        self.G0 = self.Gn = 0.0


class Sums:
    """What the entries of a label in an event add up to."""

    def __init__(self):
        self.dot = self.told = self.there = 0.0
        self.P = [1.0, 1.0]  # naive Bayes' factors for the label, and against it
        self.E = [0, 0]
        self.used = 0


class Answer:
    """What an event is found to be."""


class MultiLabelClassifier:
    """Rule S: K independent outputs over shared features.

    With T the sum of all u, T_k that of the events that did not leave label k open, f_k = T_k / T
    and n_k = T_k - D_k, the weight of its absence:

        pi_k = (D_k + 1) / (T_k + 2)                         how often the label comes
        om_jk^2 = 1/64 + ((c_jk - pi_k f_k N_j) / (cnt_j + 1))^2 / (pi_k (1 - pi_k))
        X_jk = om_jk a_j / R_k,  R_k^2 = sum over all features of om_jk^2 max(a_j^2, 1)
        d_k = sum over features of log((1 + c T / N) / (1 + (f_k N - c) T / N))
              - (n - 1) log((D_k + 1) / (n_k + 1))           the odds of naive Bayes
        V_k = clip(d_k / m, 2), m the usual |d| of labels with an entry;  -2 without one
        score_k = sum of w_jk X_jk + w0_k + wn_k V_k;  P = sigmoid(score)

    a_j is AdaptiveClassifier's v less what a feature that is always there usually is.

    What the equations leave open:

    * A label that comes for the first time counts as absent from all events before:
      w0 = -min(log(T + 1), 5), wn the mean of the others', or 3. In its first event naive Bayes
      has no say, V = 0: it would be blamed for what it could not know.
    * A set or list of labels says of every label that is not in it that it is absent; a dict leaves
      open what it does not name: no step, no count.
    * A label that steps without an entry for a feature gets one if it is in the set, or if
      q > 1/8; for others that feature stays as it is.
    * An event of weight 0 is tallied and changes nothing else; it makes no label known.
    * A mistake is a set that was not answered exactly, of the labels that the event names.
    * Where counts are halved (AdaptiveClassifier's twin says when) so are N and the whole row.
    * The running F1: of each label named in an event and each multiple of 1/64, whether P was
      above it and whether the label was there. All of it is halved when 2^16 labels were there.
    """

    L = 12.0
    eps = 1 / 64
    P0 = 2.0**-20
    thr = 1 / 128
    wide = 1 / 8
    window = 1024.0
    most = 2.0**20
    least = 2.0**-126  # of an N that naive Bayes goes by: below it a c is 0 or far off
    steps = 64
    tally_most = 2.0**16

    def __init__(self, *, eta=1.0, forget=2**-10, max_features=None):
        self.eta = eta
        self.phi = forget
        self.place = {}  # {label: number}
        self.kept = []  # [Label]
        self.slots = {}
        self.ceiling = Ceiling(max_features)
        self.T = self.m = self.nm = 0.0
        self.n_seen = self.n_updates = self.n_mistakes = 0
        self.there = [0.0] * self.steps  # weight of labels that were there, by their P's step
        self.said = [0.0] * self.steps  # of all
        self.positives = 0.0

    # What a user asks

    @property
    def labels(self):
        return list(self.place)

    def probabilities(self, x):
        scores = self.answer(x).score
        return {y: sigmoid(scores[k]) for y, k in self.place.items()}

    def predict_proba_one(self, x):
        return {y: {False: 1.0 - p, True: p} for y, p in self.probabilities(x).items()}

    def predict_one(self, x, threshold=0.5):
        return {y: p > threshold for y, p in self.probabilities(x).items()}

    def decision_function_one(self, x):
        scores = self.answer(x).score
        return {y: scores[k] for y, k in self.place.items()}

    def best_threshold(self):
        """The multiple of 1/64 above which answers have had the best F1; of equals nearest 1/2."""
        best, chosen = -1.0, self.steps // 2
        there = said = 0.0
        for t in range(self.steps - 1, 0, -1):
            there += self.there[t]
            said += self.said[t]
            total = said + self.positives
            f1 = 2.0 * there / total if total > 0 else 0.0
            nearer = abs(t - self.steps // 2) < abs(chosen - self.steps // 2)
            if f1 > best or (f1 == best and nearer):
                best, chosen = f1, t
        return chosen / self.steps

    def explain_one(self, x, label):
        """{feature: contribution} to decision_function_one, None being what is always there."""
        a = self.answer(x)
        k = self.place[label]
        kept, t = self.kept[k], a.told[k]
        share = {None: kept.w0}
        naive = k in a.sums and a.d[k] != 0
        factor = kept.wn * a.V[k] / a.d[k] if naive else 0.0
        share[None] += factor * t.log_odds if naive else kept.wn * a.V[k]
        for j, a_j in a.a.items():
            slot = self.slot(j)
            entry = slot.row.get(k) or Entry()
            share[j] = entry.w * ((self.om(slot, entry.c, t)[0] * a_j) * a.r[k])
            if naive and j in a.t:
                c, against = entry.c * a.t[j], self.against(slot, entry.c, t) * a.t[j]
                share[j] += factor * ((log_exact(1.0 + c) - log_exact(1.0 + against)) - t.log_odds)
        return share

    # From x to scores

    def slot(self, feature):
        return self.slots.get(feature) or Slot()

    def usual(self, slot, x):
        if slot.negative or x < 0 or x == slot.s:
            return 0.0
        share = min(slot.cnt * (1.0 / (self.T + 1.0)), 1.0)
        if slot.cnt >= self.most / 2:
            share = 1.0
        share *= share
        return share * share

    def told(self, k):
        """What is worked out of a label once an event."""
        kept, t = self.kept[k], Answer()
        known = self.T - kept.left
        absent = max(known - kept.D, 0.0)
        t.f = known / self.T if self.T > 0 else 1.0
        t.share = (kept.D + 1.0) / (known + 2.0) * t.f
        t.inverse = ((known + 2.0) / (kept.D + 1.0)) * ((known + 2.0) / (absent + 1.0))
        t.log_odds = log_exact((kept.D + 1.0) / (absent + 1.0))
        t.log_known = log_exact(known + 1.0)
        return t

    def om(self, slot, c, t):
        """What a feature weighs for a label, and by how much it differs from its share."""
        apart = (c - t.share * slot.N) * (1.0 / (slot.cnt + 1.0))
        return math.sqrt(self.eps + t.inverse * (apart * apart)), apart

    @staticmethod
    def against(slot, c, t):
        return max(t.f * slot.N - c, 0.0)

    def answer(self, x):
        """Everything of an event that its labels have no part in. Nothing is written."""
        a = Answer()
        a.x, a.v, a.a, a.t, a.sums = {}, {}, {}, {}, {}
        a.told = [self.told(k) for k in range(len(self.kept))]
        mass = there = 0.0
        a.used = 0
        for j, x_j in numbers(x):
            x_j = float(x_j)
            if x_j == 0:
                continue
            slot = self.slot(j)
            known = 1.0 / (slot.cnt + 1.0)
            mean = moved_mean(slot.s, abs(x_j), known)
            v = clip(x_j / mean, 8.0) if mean > 0 else math.copysign(8.0, x_j)
            a_j = v - self.usual(slot, x_j)
            weight = max(a_j * a_j, 1.0)
            seen = slot.N * known
            mass += weight
            there += weight * (seen * seen)
            a.x[j], a.v[j], a.a[j] = x_j, v, a_j
            counted = slot.N
            if counted >= self.least and not slot.negative and x_j > 0:
                a.t[j] = self.T / counted
                a.used += 1
            for k in sorted(slot.row):
                self.add_entry(a, j, k, slot, weight, weight * (seen * seen))
        a.mass, a.there = mass, there
        a.r, a.d, a.V, a.score = {}, {}, {}, {}
        m = self.m if self.m > 0 else 1.0
        for k, kept in enumerate(self.kept):
            t, s = a.told[k], a.sums.get(k, Sums())
            a.r[k] = self.scale(a, t, s)
            a.V[k] = -2.0
            if k in a.sums:
                d = log_exact(s.P[0] / s.P[1]) + (s.E[0] - s.E[1]) * LN2
                d = (d - (a.used - s.used) * t.log_known) - (a.used - 1.0) * t.log_odds
                a.d[k] = d
                a.V[k] = clip(d / m, 2.0)
            a.score[k] = (s.dot * a.r[k] + kept.w0) + kept.wn * a.V[k]
        return a

    def scale(self, a, t, s):
        """1 / R; features without an entry are known from what is left of the sum over all."""
        apart = s.told + (t.share * t.share) * (a.there - s.there)
        R2 = a.mass * self.eps + t.inverse * apart
        return 1.0 / math.sqrt(R2) if R2 > 0 else 0.0

    def add_entry(self, a, j, k, slot, weight, there):
        entry, t = slot.row[k], a.told[k]
        s = a.sums.setdefault(k, Sums())
        om, apart = self.om(slot, entry.c, t)
        s.dot += entry.w * (om * a.a[j])
        s.told += weight * (apart * apart)
        s.there += there
        if j in a.t:
            for side, c in enumerate((entry.c, self.against(slot, entry.c, t))):
                s.P[side], e = math.frexp(s.P[side] * (1.0 + c * a.t[j]))
                s.E[side] += e
            s.used += 1

    # Learning

    def learn_one(self, x, y, w=1.0):
        """`y`: a set or list of labels, or {label: bool}."""
        u = float(w)
        a = self.answer(x)
        open_ = set(self.place) - set(y) if isinstance(y, dict) else set()
        present = [label for label in y if not isinstance(y, dict) or y[label]]
        named = [label for label in self.place if label not in open_]
        wrong = any((a.score[self.place[label]] > 0) != (label in present) for label in named)
        self.n_mistakes += bool(self.place) and (wrong or any(v not in self.place for v in present))
        self.n_seen += 1
        self.ceiling.see(j for j in a.a if j in self.slots)
        if u == 0:
            return
        self.ceiling.make_room(list(a.a), self.slots, Slot, self.size, self.slots.pop)
        self.tally(a, [(self.place[v], v in present) for v in named], len(present), u)
        self.learn_usual_odds(a)
        for label in y:
            self.meet(label, a)
        named += [label for label in y if label not in named]
        stepped = [self.step(a, self.place[v], v in present, u) for v in named]
        self.n_updates += any(stepped)
        self.keep_counts(a, [self.place[v] for v in present], u)
        for label in open_:
            self.kept[self.place[label]].left += u

    def tally(self, a, named, n_present, u):
        for k, there in named:
            t = min(int(sigmoid(a.score[k]) * self.steps), self.steps - 1)
            if t > 0:
                self.said[t] += u
                self.there[t] += u if there else 0.0
        self.positives += u * n_present
        if self.positives >= self.tally_most:
            self.positives *= 0.5
            self.there = [0.5 * n for n in self.there]
            self.said = [0.5 * n for n in self.said]

    def learn_usual_odds(self, a):
        if not a.d:
            return
        mean = 0.0
        for k in a.sums:  # in the order in which they were met
            mean += abs(a.d[k])
        mean /= len(a.d)
        self.nm = min(self.nm + 1.0, self.window)
        self.m += (mean - self.m) / self.nm

    def meet(self, label, a):
        if label in self.place:
            return
        wn = 0.0
        for kept in self.kept:
            wn += kept.wn
        wn = wn / len(self.kept) if self.kept else 3.0
        k = self.place[label] = len(self.kept)
        self.kept.append(Label(0.0 - min(log_exact(self.T + 1.0), 5.0), wn))
        a.told.append(self.told(k))
        a.r[k] = self.scale(a, a.told[k], Sums())
        a.V[k] = 0.0
        a.score[k] = self.kept[k].w0

    def step(self, a, k, there, u):
        """The update of a label's weights; whether there was one."""
        kept = self.kept[k]
        g = (1.0 if there else 0.0) - sigmoid(a.score[k])
        q = u * abs(g)
        if not q > self.thr:
            return False
        h, length = {}, 0.0
        for j, a_j in a.a.items():
            slot = self.slot(j)
            om, _ = self.om(slot, slot.row[k].c if k in slot.row else 0.0, a.told[k])
            h[j] = om * a_j
            length += abs(h[j])
        r = a.r[k]
        length *= r
        eta = self.eta if length <= self.L else self.eta * (self.L / length)
        left = max(0.0, 1.0 - self.phi * q)
        f = (eta * u) * g
        for j in a.a:
            slot = self.slots.get(j)
            if slot is None or not (there or q > self.wide or k in slot.row):
                continue
            entry = slot.row.setdefault(k, Entry())
            X = h[j] * r
            entry.G = float32(entry.G * left + q * (X * X))
            entry.w = float32(entry.w + (f * X) / math.sqrt(entry.G + self.P0))
        kept.G0 = kept.G0 * left + q
        kept.w0 += f / math.sqrt(kept.G0 + self.P0)
        V = a.V[k]
        kept.Gn += q * (V * V)
        kept.wn += (f * V) / math.sqrt(kept.Gn + 1.0)
        return True

    def keep_counts(self, a, present, u):
        self.T += u
        for k in present:
            self.kept[k].D += u
        for j, v in a.v.items():
            slot = self.slots.get(j)
            if slot is None:  # the ceiling has refused it
                continue
            cnt = slot.cnt + u
            slot.s = moved_mean(slot.s, abs(a.x[j]), u / cnt)
            slot.negative = slot.negative or a.x[j] < 0
            halved = self.halved(cnt, slot.cnt >= self.most / 2)
            slot.cnt = float32(cnt * halved)
            slot.N = (slot.N + u * v) * halved
            for k in present:
                slot.row.setdefault(k, Entry()).c += u * v
            for entry in slot.row.values():
                entry.c = float32(entry.c * halved)

    def halved(self, cnt, always):
        """By what counts are halved; `always`: of a feature that was always there until now."""
        always = always or cnt >= 0.875 * (self.T + 2.0)
        halved = 1.0
        while cnt * halved >= (self.most if always else self.most / 2):
            halved *= 0.5
        return halved

    def forget(self, feature):
        del self.slots[feature]

    def size(self, feature):
        slot = self.slots[feature]
        largest = max((abs(entry.w) for entry in slot.row.values()), default=0.0)
        return largest * math.sqrt(slot.cnt)
