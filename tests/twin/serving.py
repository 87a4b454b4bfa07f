"""Who answers, and how sure: the twin's kept vectors in contest, the pocket, probabilities."""

import math


class Scale:
    """The usual size m of a kept vector's scores; divided by it, scores of two vectors compare.

    m is a mean over all events at first, and later fades by 1/1024 an event.
    """

    def __init__(self):
        self.m = 0.0
        self.n = 0.0

    def relative(self, difference):
        return difference / self.m if self.m > 0 else 0.0

    def learn(self, x):
        if self.n < 1024:
            self.n += 1.0
        self.m += (x - self.m) / self.n


class Best:
    """Which of two contestants, 0 or 1, answers for serve="best".

    The context c of an event is the contestant that is relatively more confident of it. T[k][c]
    counts recent mistakes of contestant k in a context, and G[k] those of a longer time in any. The
    leader of a context stays unless it is beaten by more than a half.
    """

    def __init__(self):
        self.T = [[0.0, 0.0], [0.0, 0.0]]
        self.G = [0.25, 0.0]
        self.lead = [0, 0]

    def choose(self, r):
        """The context of an event with relative margins r, and who answers."""
        c = 1 if r[1] > r[0] else 0
        b = self.lead[c]
        least = (self.T[b][c] + 0.25 * self.G[b]) - 0.5
        for k in (0, 1):
            mistakes = self.T[k][c] + 0.25 * self.G[k]
            if mistakes < least:
                least = mistakes
                b = k
        return c, b

    def learn(self, r, mistakes):
        c, b = self.choose(r)
        self.lead[c] = b
        if any(mistakes):
            for k in (0, 1):
                for q in (0, 1):
                    self.T[k][q] *= 31 / 32
                self.G[k] *= 1023 / 1024
                if mistakes[k]:
                    self.T[k][c] += 1.0
                    self.G[k] += 1.0

    def overall(self):
        """Who makes fewer mistakes, whatever the context."""
        total = [(self.T[k][0] + self.T[k][1]) + 0.25 * self.G[k] for k in (0, 1)]
        return 1 if total[1] < total[0] else 0


class Pocket:
    """When the current vector goes into the pocket.

    It does when its run of right answers exceeds the record, with which the pocket's was put there,
    and the duel since then is not lost; or when it is ahead in the duel. The duel counts the
    pocket's mistakes less the current vector's, and never falls below -2.
    """

    def __init__(self):
        self.run = 0
        self.record = 0
        self.duel = 0

    def challenge(self, mistake, pocket_mistake):
        """Before an event's update: does the current vector replace the pocket's?"""
        if not mistake:
            self.run += 1
        self.duel = max(self.duel + pocket_mistake - mistake, -2)
        won = (self.run > self.record and self.duel >= 0) or (self.duel >= 1 and not mistake)
        if won:
            self.record = self.run
            self.duel = 0
        if mistake:
            self.run = 0
        return won


def fading(G, g):
    """AdaGrad's sum of squared gradients, of which 1/1024 fades in an event; at rest it is 1."""
    return (1023 / 1024 * G + g * g) + 1 / 1024


def within(low, number, high):
    return min(max(number, low), high)


def is_due(t, each):
    """Whether something is due at labelled event number t: the first 1024, then 1 in `each`."""
    return t < 1024 or (t * 0x9E3779B97F4A7C15) % 2**64 < 2**64 // each


class BinaryCalibrator:
    """p = 1 / (1 + exp(-(A z + B))) of True, where z is the score by its scale, within 8.

    A and B descend the log-loss by AdaGrad (Duchi, Hazan & Singer 2011).
    """

    def __init__(self):
        self.A = 1.0
        self.B = 0.0
        self.GA = 1.0
        self.GB = 1.0
        self.RA = 1.0  # one by the roots of these, not always up to date
        self.RB = 1.0

    def z(self, d, scale):
        return within(-8.0, scale.relative(d), 8.0)

    def p(self, z):
        t = self.A * z + self.B
        if t >= 0:
            return 1.0 / (1.0 + math.exp(-t))
        e = math.exp(t)
        return e / (1.0 + e)

    def probabilities(self, d, scale):
        p = self.p(self.z(d, scale))
        return {False: 1.0 - p, True: p}

    def learn(self, d, y, scale, t):
        """What the vector said of event number t before it knew that the label is y."""
        if not is_due(t, 2):
            return
        z = self.z(d, scale)
        g = self.p(z) - (1.0 if y else 0.0)  # the loss's derivative by B, and h that by A
        h = g * z
        self.GA = fading(self.GA, h)
        self.GB = fading(self.GB, g)
        if is_due(t, 32):
            self.RA = 1.0 / math.sqrt(self.GA)
            self.RB = 1.0 / math.sqrt(self.GB)
        self.A = within(0.0, self.A - h * self.RA, 16.0)
        self.B = within(-16.0, self.B - g * self.RB, 16.0)


class MulticlassCalibrator:
    """p_j = exp(-beta z_j) / S, where z_j is label j's distance from the best score, by the scale.

    beta descends the log-loss by AdaGrad, in its logarithm to first order.
    """

    def __init__(self):
        self.beta = 1.0
        self.G = 1.0

    def z(self, decision, scale):
        best = max(decision.values())
        return {label: min(scale.relative(best - s), 8.0) for label, s in decision.items()}

    def probabilities(self, decision, scale):
        if not decision:
            return {}
        w = {j: math.exp(-(self.beta * z)) for j, z in self.z(decision, scale).items()}
        S = 0.0
        for w_j in w.values():
            S += w_j
        return {j: w_j / S for j, w_j in w.items()}

    def learn(self, decision, y, scale, t):
        """What the vector said of event number t before it knew that the label is y."""
        if len(decision) < 2 or y not in decision or not is_due(t, 8):
            return
        z = self.z(decision, scale)
        S = E = 0.0
        for z_j in z.values():
            w_j = math.exp(-(self.beta * z_j))
            S += w_j
            E += w_j * z_j
        g = self.beta * (z[y] - E / S)  # the loss's derivative by the logarithm of beta
        self.G = fading(self.G, g)
        self.beta = within(0.015625, self.beta * (1.0 - (0.5 * g) / math.sqrt(self.G)), 64.0)
