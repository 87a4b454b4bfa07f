"""The plain-Python twin of AdaptiveClassifier's rule for more than two labels.

A label costs nothing where an event says nothing of it. A feature and a label have numbers of their
own, an *entry*, only where the label came with the feature or was wrongly expected of it: with a
probability of more than 1/4, with fewer than 256 labels of more than K / 1024. U are the labels
with an entry of a feature of the event, in the order in which they are met: the event's features in
their order, each one's entries in the order of places. Of all others it is only known how often
they come: their score is the intercept w0_k, and naive Bayes says 0 of them.

With K labels of counts D_k, T their sum, and c_jk and N_j the counts of a feature j:

    z_k = (sum of log(1 + c_jk (T/3) / N_j) - max(n - 1, 0) (L_k - L)) s_k
                                                  k in U; n features with counts;  0 of all others
    L_k = log(1 + D_k / 3),  L = log(1 + (T / K) / 3)           a prior of three events a label
    s_k = D_k / (D_k + min(.006 T / K, 1))                      a newcomer's z counts for less
    Z   = max(0, max z)
    V_k = (max(z_k - Z, -2 m) + min(Z, 2 m)) / m                k in U;  0 of all others
    score_k = sum of w_jk X_j + w0_k + wn V_k                   k in U;  w0_k, all others

What tells labels apart is z_k - Z, and V_k counts it from a label not met, whose z is 0. m is the
usual distance of the labels from the best: of two labels |d|, which is what it was before the third
came. So m and wn go on when that comes.

One wn for all labels: how far naive Bayes is to be trusted is the same for all, and is learned from
the first event on, also of labels that come late.

A newcomer must not shake the others. Its intercept begins as low as a label that is so rare has it,
and its own event's stride is short until it has come a few times.
"""

import math

from tests.twin.arithmetic import (
    LN2,
    clip,
    exp_exact,
    float32,
    lanes,
    log_exact,
)


def exp_within(x):
    """e^x of a number of any sign, cut at 300: sums and products of such stay finite."""
    x = clip(x, 300.0)
    return exp_exact(x) if x <= 0 else 1.0 / exp_exact(-x)


def tree_sum(leaves):
    """The sum of a binary tree over the places: neighbours, then neighbours of these.

    A change of one leaf changes one number a level, and a level more leaves the sum as it is.
    """
    while len(leaves) > 1:
        pairs = [leaves[i : i + 2] for i in range(0, len(leaves), 2)]
        leaves = [pair[0] + pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return leaves[0]


class ManyLabels:
    """What AdaptiveClassifier does from its third label on. Its numbers are those of its class.

    What the equations leave open, and how it is settled here:

    * The third label: before anything of its event is learned, the two labels get rows. Both have
      an entry where their output has stepped, else those that have a count; w is w/2 or -w/2, as is
      w0, and G that of the output. m, nm, wn and Gn go on as they are. The event is then answered
      anew.
    * T, K and b of a new label's intercept are those before its event. V is 0 there, and it is not
      in U. Without an intercept its score is 0.
    * m learns of an event if U is not empty, b if U has another label than the event's.
    * The lead is that of the largest z over the second, of all K labels: those not in U have 0.
    * tau learns of the probabilities of all labels, those in U first. With more than 512 of them
      it learns of one event in K / 512, by T: so an event goes through no more, on average.
    * The others' mass is the sum of e^w0 over all labels less that over U. So no label that is not
      in U is asked, but the best of them.
    * A row's N, and the sum in chi^2, run in four lanes: the i-th entry is in lane i mod 4. So do
      sums over U, of tau, S, m, b and the watch, in its order.
    """

    mu = 3.0
    at_once = 512
    least = 1e-300  # so that 0 is never divided by 0

    def split(self):
        """Two labels get a row each of what they had together."""
        sign = {self.positive: 0.5, 1 - self.positive: -0.5}
        for slot in self.slots.values():
            w = slot.w.get(1, 0.0)
            slot.c = {k: slot.c.get(k, 0.0) for k in (0, 1)}
            slot.w = {k: float32(sign[k] * w) for k in (0, 1)}
            slot.G = dict.fromkeys((0, 1), slot.G.get(1, 0.0))
            slot.sift()
            if slot.column:
                slot.column.sift()
        self.w0 = {k: sign[k] * self.w0[1] for k in (0, 1)}
        self.G0 = dict.fromkeys((0, 1), self.G0[1])
        if self.shapes:
            self.shapes.split(sign)

    # Answering

    def answer_many(self, a):
        """Scores of an event whose features have been weighed."""
        dot = {}
        for j, h in a.h.items():
            slot = self.slot(j)
            for k in sorted(slot.w):
                dot[k] = dot.get(k, 0.0) + slot.w[k] * h
        a.U = list(dot)
        self.ask_naive_bayes_of_many(a)
        a.score = {k: self.w0[k] if self.intercept else 0.0 for k in self.outputs}
        a.plain = {k: dot[k] * a.r + a.score[k] for k in a.U}  # without naive Bayes
        for k in a.U:
            a.score[k] = a.plain[k] + (self.wn * a.V[k] if self.naive_bayes else 0.0)

    def ask_naive_bayes_of_many(self, a):
        """z and V of the labels in U; t of the features that have counts.

        The logarithm is taken of the product P 2^E, with P from 1/2 to 1.
        """
        a.t, a.z = {}, {}
        a.V = dict.fromkeys(a.U, 0.0)
        if not self.naive_bayes:
            return
        P = dict.fromkeys(a.U, 1.0)
        E = dict.fromkeys(a.U, 0)
        for j in a.h:
            slot = self.slot(j)
            N = lanes(slot.row)
            if slot.column or not (N > 0 and not slot.negative and a.x[j] > 0):
                continue
            a.t[j] = (self.T / self.mu) / N
            for k in sorted(slot.c):
                P[k], e = math.frexp(P[k] * (1.0 + slot.c[k] * a.t[j]))
                E[k] += e
        n = max(len(a.t) - 1.0, 0.0)
        for k in a.U:
            z = (log_exact(P[k]) + E[k] * LN2) - n * self.rarity(k)
            a.z[k] = z * self.share_of(k)
        a.Z = max([0.0, *a.z.values()])
        m = self.m if self.m > 0 else 1.0
        far = 2.0 * m
        for k in a.U:
            a.V[k] = (max(a.z[k] - a.Z, -far) + min(a.Z, far)) / m

    def share_of(self, k):
        """s_k: by how much the z of a label that came rarely counts for less."""
        rare = 0.006 * (self.T / float(len(self.place)))
        return self.D[k] / (self.D[k] + max(min(rare, 1.0), self.least))

    def rarity(self, k):
        """L_k - L: how much oftener a label comes than the labels do."""
        usual = (self.T / float(len(self.place))) / self.mu
        return log_exact(1.0 + self.D[k] / self.mu) - log_exact(1.0 + usual)

    def explain_many(self, a, k):
        """{feature: share of label k}, None being what is always there."""
        share = {None: self.w0[k] if self.intercept else 0.0}
        naive = a.z.get(k, 0.0) != 0
        factor = self.wn * a.V[k] / a.z[k] * self.share_of(k) if naive else 0.0
        for j, h in a.h.items():
            slot = self.slot(j)
            share[j] = slot.w.get(k, 0.0) * (h * a.r)
            if naive and j in a.t:
                told = log_exact(1.0 + slot.c.get(k, 0.0) * a.t[j])
                share[j] += factor * (told - self.rarity(k))
        if naive:
            share[None] += factor * self.rarity(k)  # of one feature less than there are
        return share

    # Learning

    def usual_odds_of_many(self, a):
        """How far naive Bayes has the labels from its best, on average, with the lead of that.

        It is the mean over all K of Z - z_k, a K-th of the lead beside it. Of two labels: |d|.
        """
        K = float(len(self.place))
        second = sorted([*a.z.values(), *[0.0] * min(len(self.place) - len(a.U), 2)])[-2]
        return max(0.0, a.Z + ((a.Z - second) - lanes(a.z.values())) / K)

    def learn_usual_score(self, a, y):
        """b, what a label usually has, without naive Bayes, in an event that is not its own."""
        others = lanes(a.plain.values())
        n = float(len(a.U))
        if y in a.plain:
            others -= a.plain[y]
            n -= 1.0
        if n > 0:
            self.b += (others / n - self.b) / 256.0

    def newcomers_intercept(self, k):
        """Where that of place k begins: it comes once in T events, and K were there before it."""
        if not self.intercept:
            return 0.0
        return self.b - log_exact(1.0 + self.T / (2.0 * float(k)))

    @property
    def sharpens(self):
        """Whether tau learns of this event."""
        if self.two:
            return True
        return math.fmod(math.floor(self.T), float(-(-len(self.place) // self.at_once))) == 0

    def sharper_of_many(self, a, d, y, u):
        """The g of a tau that multiplies the scores d."""
        scale = self.tempering * self.tau
        best = max(a.final.values()) * scale
        places = [*a.told, *(k for k in a.final if k not in a.told)]
        e = [exp_exact(a.final[k] * scale - best) for k in places]
        expected = lanes([e_k * d[k] for e_k, k in zip(e, places, strict=True)]) / lanes(e)
        return u * ((d[self.place[y]] - expected) * self.tempering)

    def softmax_of_many(self, score, U, new):
        """{place: p} of all labels, and the mass of those that are not in U.

        `new`: the place of a newcomer, or None. Its score is its intercept.

        Rounding can leave nothing of the others' mass though the best of them is the answer:
        then S would be 0. It is at least 1, as it is without rounding.
        """
        leaf = {k: exp_within(self.w0[k]) for k in score}
        rest = max(0.0, tree_sum(list(leaf.values())) - lanes([leaf[k] for k in U]))
        best = max(score.values())
        if new is not None:
            best = max(best, self.w0[new])
        others = exp_within(-best)
        S = rest * others + lanes([exp_exact(score[k] - best) for k in U])
        if new is not None:
            S += exp_exact(self.w0[new] - best)
        S = max(S, 1.0)
        p = {k: (leaf[k] * others) / S for k in leaf}
        for k in U:
            p[k] = exp_exact(score[k] - best) / S
        if new is not None:
            p[new] = exp_exact(self.w0[new] - best) / S
        return p, (rest * others) / S

    def step_many(self, a, y, u, known):
        """The update of the weights; whether there was one. `known`: y is not new."""
        place = self.place[y]
        self.learn_usual_score(a, place)
        p, rest = self.softmax_of_many(a.score, a.U, None if known else place)
        phi = self.phi
        if self.watch and known:
            self.watch.see(p[place], [p[k] for k in a.U], u, rest)
        # of the labels that there were before the event
        wide = min(1 / 4, len(a.score) / 1024.0)
        stepped = {}
        for k, p_k in p.items():
            g = (1.0 if k == place else 0.0) - p_k
            q = u * abs(g)
            if q > self.thr:
                far = (self.step_size(a) * u) * g
                f = (self.own_step_size(a, place) * u) * g if k == place else far
                stepped[k] = q, f
                kept = max(0.0, 1.0 - phi * q)
                self.step_label(a, k, q, f, kept, k == place or q > wide)
                if self.intercept:
                    self.G0[k] = self.G0[k] * kept + q
                    self.w0[k] += far / math.sqrt(self.G0[k] + self.P0)
        if self.naive_bayes:
            squares = way = 0.0
            for k in a.U:
                if k in stepped:
                    q, f = stepped[k]
                    squares += q * (a.V[k] * a.V[k])
                    way += f * a.V[k]
            self.Gn += squares
            self.wn += way / math.sqrt(self.Gn + 1.0)
        return bool(stepped)

    def own_step_size(self, a, y):
        """That of the event's label: short while it is new. All features of its event are, too."""
        most = min(self.L, 3.0 * (1.0 + 2.0 * self.D[y]))
        return self.eta if a.length <= most else self.eta * (most / a.length)

    def step_label(self, a, k, q, f, kept, makes):
        """The step of one label. `makes`: also where there is no entry yet."""
        for j, h in a.h.items():
            slot = self.slots.get(j)
            X = h * a.r
            if slot is None or X == 0 or not (makes or k in slot.w):  # None: refused by the ceiling
                continue
            slot.enter(k)
            slot.G[k] = float32(slot.G[k] * kept + q * (X * X))
            slot.w[k] = float32(slot.w[k] + (f * X) / math.sqrt(slot.G[k] + self.P0))
