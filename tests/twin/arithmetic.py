"""The twins' own arithmetic: the same bits on every machine, and in every core.

IEEE operations in a stated order: one accumulator that starts at 0.0, each product rounded before
it is added, brackets as they stand. sqrt, frexp and ldexp are exact or correctly rounded
everywhere; log and exp are not, so both have their own here, in plain double arithmetic. Hence no
`sum()` in a twin: since Python 3.12 it compensates its rounding errors.
"""

import math
import struct

MEAN_MOST = 1e50 * (1.0 + 2.0**-30)  # of numbers within 1e50, which may be rounded beyond it
LN2 = 0.6931471805599453
LN2_HIGH = 6.93147180369123816490e-01  # its last 32 bits are 0: times an exponent it is exact
LN2_LOW = 1.90821492927058770002e-10


def polynomial(coefficients, x):
    """c0 + c1 x + c2 x^2 + ..., in pairs: no term has to wait for all before it."""
    while len(coefficients) > 1:
        pairs = [coefficients[i : i + 2] for i in range(0, len(coefficients), 2)]
        coefficients = [c[0] + c[1] * x if len(c) == 2 else c[0] for c in pairs]
        x *= x
    return coefficients[0]


def log_exact(x):
    """The logarithm of x > 0, the same on every machine; at most 2 ulp off what libm says.

    x = m 2^e with m from sqrt(1/2) to sqrt(2); log m = 2 (s + s^3/3 + s^5/5 + ...) at
    s = (m - 1) / (m + 1).
    """
    m, e = math.frexp(x)
    if m < 0.7071067811865476:
        m *= 2.0
        e -= 1
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    p = polynomial([1.0 / n for n in range(3, 24, 2)], q) * q
    return (2.0 * s + 2.0 * s * p) + e * LN2


def exp_exact(x):
    """e^x for x <= 0, the same on every machine, within 1 ulp of libm; 0 below -700."""
    if x < -700.0:
        return 0.0
    k = int(x * 1.4426950408889634 - 0.5)  # towards 0: the nearest
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = polynomial([1.0 / math.factorial(n) for n in range(2, 14)], r)
    return math.ldexp((p * r + 1.0) * r + 1.0, k)


def sigmoid(t):
    if t >= 0:
        return 1.0 / (1.0 + exp_exact(-t))
    e = exp_exact(t)
    return e / (1.0 + e)


def softmax(scores):
    best = max(scores)
    e = [exp_exact(score - best) for score in scores]
    S = 0.0
    for e_k in e:
        S += e_k
    return [e_k / S for e_k in e]


def clip(number, limit):
    return min(max(number, -limit), limit)


def float32(number):
    """What is left of a float64 that is stored as a float32."""
    return struct.unpack("f", struct.pack("f", number))[0]


def lanes(terms):
    """The sum of a number for each label, in four lanes: place k is in lane k mod 4."""
    lane = [0.0, 0.0, 0.0, 0.0]
    for k, term in enumerate(terms):
        lane[k % 4] += term
    return (lane[0] + lane[1]) + (lane[2] + lane[3])


def moved_mean(mean, a, share):
    """A mean of positive numbers after a came, with that share of it.

    What is more than 32 times the mean counts as 32 times, or one wrong value would shrink all
    others for good.

    A mean of equal numbers stays that number, to the last bit. Where the numbers are so far apart
    that the difference swallows one of them, it is still no less than a's share.
    """
    if mean > 0 and a > 32.0 * mean:
        a = 32.0 * mean
    return max(mean + (a - mean) * share, a * share)
