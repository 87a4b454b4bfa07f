# The rules: is this event a mistake, and how big is the step?
#
# A rule gets the scores of the current weights for each choice, and the right choice. It answers
# with a step: for each (k, a) in it, w_k += a x. It knows neither keys nor tables. Each rule says
# what kind of answer it gives (rule_answer) and what it keeps beside a weight (rule_keeps), and has
# one function, with its formula above it. `u` is the sample weight times the class weight. It
# scales what is added, so a weight of 2 counts as two of the same step. Ties between labels go to
# the one seen first.
#
# A rule that keeps something asks for the second sums of the choices that it moves (engine/keep.h),
# and with these says how far they move (rule_settle).
#
# Functions in this file: rule_answer, rule_keeps, rule_is_mira, rule_step, rule_settle; best_output
# for the rules, squares for them and for what the path makes of two candidates.

from streamptron.engine.keep cimport KEEP_NONE, KEEP_PRECISION
from streamptron.engine.step cimport Step, step_add

cdef enum:
    RULE_PERCEPTRON = 0
    RULE_MULTICLASS = 1
    RULE_MIRA = 2
    RULE_AROW = 3
    RULE_ADAPTIVE = 4               # see engine/adaptive.pxd
    RULE_VOTED = 5                  # the current vectors' step; see engine/vote.pxd
    RULE_RANKING = 6

    UPDATE_MARGIN = 0               # MIRA's step whenever there is a loss
    UPDATE_MISTAKE = 1              # only at a mistake
    UPDATE_PERCEPTRON = 2           # the perceptron's

    VIOLATORS_BEST = 0              # who loses what the true label gains: the best other one,
    VIOLATORS_UNIFORM = 1           # all that are too near, by equal shares, or
    VIOLATORS_PROPORTIONAL = 2      # by how much each is too near

    ANSWER_SIGN = 0                 # one output; True where its score is above 0
    ANSWER_LABELS = 1               # an output per label; the best score wins
    ANSWER_PAIR = 2                 # one output for two labels; from the third on ANSWER_LABELS
    ANSWER_CANDIDATES = 3           # one output, several events; the best score wins

cdef struct Rule:
    int kind
    double margin
    double C
    int update
    int violators
    double r
    # of RULE_ADAPTIVE
    double eta
    double forget
    bint naive_bayes
    bint intercept


cdef inline int rule_answer(const Rule* rule) noexcept nogil:
    """What kind of answer is made of the scores; -1: there is no such rule."""
    if rule.kind == RULE_PERCEPTRON:
        return ANSWER_SIGN
    if rule.kind == RULE_MULTICLASS or rule.kind == RULE_MIRA:
        return ANSWER_LABELS
    if rule.kind == RULE_AROW or rule.kind == RULE_ADAPTIVE or rule.kind == RULE_VOTED:
        return ANSWER_PAIR
    if rule.kind == RULE_RANKING:
        return ANSWER_CANDIDATES
    return -1


cdef inline int rule_keeps(const Rule* rule) noexcept nogil:
    """What is kept beside each weight for the rule's own use."""
    return KEEP_PRECISION if rule.kind == RULE_AROW else KEEP_NONE


cdef inline bint rule_is_mira(const Rule* rule) noexcept nogil:
    """Whether a step is as long as the loss asks for."""
    return rule.kind == RULE_MIRA or (
        rule.kind == RULE_RANKING and rule.update != UPDATE_PERCEPTRON)


cdef inline Py_ssize_t best_output(const double* scores, Py_ssize_t n,
                                   Py_ssize_t but) noexcept nogil:
    """The first of the best-scoring outputs other than `but`; -1 if there is none."""
    cdef Py_ssize_t best = -1
    cdef Py_ssize_t k
    for k in range(n):
        if k != but and (best < 0 or scores[k] > scores[best]):
            best = k
    return best


# y = +1 or -1;  if y score <= margin:  w += y u x
# Daume, A Course in Machine Learning, algorithm 5. A score of 0 is a mistake for either label.
cdef inline void _perceptron(const Rule* rule, double score, bint y, double u,
                             Step* step) noexcept nogil:
    if (score if y else -score) <= rule.margin and u != 0.0:
        step_add(step, 0, u if y else -u)


cdef inline double squares(const double* x, Py_ssize_t n, bint intercept) noexcept nogil:
    """x.x, in the order of the event."""
    cdef double xx = 1.0 if intercept else 0.0
    cdef Py_ssize_t i
    for i in range(n):
        xx += x[i] * x[i]
    return xx


# A rule with a score for each choice takes a step against choice k when its score is too near that
# of the true choice y, or above it. d_k is by how much:
#     d_k = (score_k - score_y) + m,  m = margin, for MIRA 1
#     due when d_k >= 0;  for MIRA when d_k > 0, and at mistakes only when score_k >= score_y
# CS188, lecture "Perceptrons"; Crammer et al. 2006, PA-I.
cdef inline double _too_near(const Rule* rule, double score, double rival) noexcept nogil:
    return (rival - score) + (1.0 if rule_is_mira(rule) else rule.margin)


cdef inline bint _due(const Rule* rule, double score, double rival) noexcept nogil:
    cdef double d = _too_near(rule, score, rival)
    if rule_is_mira(rule):
        return d > 0.0 and not (rule.update == UPDATE_MISTAKE and score > rival)
    return d >= 0.0


# The direction of a step: w_y += x, w_k -= s_k x. The violators, for which a step is due, have
# shares s_k of sum 1:
#     best            all of it is the best other label's
#     uniform         s_k = 1 / their number
#     proportional    s_k = d_k / the sum of their d; as uniform where that is 0
# Crammer & Singer 2003: any such shares have the perceptron's bound. Returns the loss, sum of
# s_k d_k, and writes the direction's length^2 in units of x.x, 1 + sum of s_k^2.
cdef inline double _aim(const Rule* rule, const double* scores, Py_ssize_t n_choices, double score,
                        Py_ssize_t y, Py_ssize_t guess, double* length, Step* step) noexcept nogil:
    cdef Py_ssize_t k, n = 0
    cdef double d, s, total = 0.0, loss = 0.0, of_shares = 0.0
    cdef bint even
    if rule.violators == VIOLATORS_BEST:
        step_add(step, min(y, guess), 1.0 if y < guess else -1.0)
        step_add(step, max(y, guess), -1.0 if y < guess else 1.0)
        length[0] = 2.0
        return _too_near(rule, score, scores[guess])
    for k in range(n_choices):
        if k != y and _due(rule, score, scores[k]):
            n += 1
            total += _too_near(rule, score, scores[k])
    even = rule.violators == VIOLATORS_UNIFORM or total == 0.0
    for k in range(max(n_choices, y + 1)):
        if k == y:
            step_add(step, k, 1.0)
        elif _due(rule, score, scores[k]):
            d = _too_near(rule, score, scores[k])
            s = 1.0 / n if even else d / total
            loss += s * d
            of_shares += s * s
            if s != 0.0:
                step_add(step, k, -s)
    length[0] = 1.0 + of_shares
    return loss


# How far along it: the perceptron u, MIRA tau u, the least that brings the loss to 0, at most C:
#     tau = min(loss / (length x.x), C)
cdef inline void _apart(const Rule* rule, const double* scores, Py_ssize_t n_choices, Py_ssize_t y,
                        double u, const double* x, Py_ssize_t n, bint intercept,
                        Step* step) noexcept nogil:
    cdef double score = scores[y] if y < n_choices else 0.0
    cdef Py_ssize_t guess = best_output(scores, n_choices, y)
    cdef double xx = 1.0, tau = 1.0, loss, length
    cdef int i
    if guess < 0 or u == 0.0 or not _due(rule, score, scores[guess]):
        return
    if rule.kind == RULE_MIRA:
        xx = squares(x, n, intercept)
        if xx == 0.0:
            return
    loss = _aim(rule, scores, n_choices, score, y, guess, &length, step)
    if rule.kind == RULE_MIRA:
        tau = min(loss / (length * xx), rule.C)
    tau *= u
    if tau == 0.0:                  # it was too small for a number
        step.n = 0
    for i in range(step.n):
        step.moves[i].a *= tau


# Each output on its own: Y = +1 for the label that it stands for, else -1;  loss = 1 - Y score.
# If loss > 0, with v the variance of the score (its second sum) and r the label's noise, which u
# observations reduce to r / u:
#     alpha = Y loss / (v + r / u);  w += alpha S x,  S -= S^2 x^2 / (v + r / u)
# Crammer, Kulesza & Dredze 2009, AROW, diagonal. engine/keep.h updates S. alpha is bounded, far
# above any useful value, so that no stream of finite values makes a weight infinite.
cdef inline void _arow(int answer, const double* scores, Py_ssize_t n_choices, Py_ssize_t y,
                       double u, Step* step) noexcept nogil:
    cdef bint one = answer == ANSWER_PAIR
    cdef Py_ssize_t k
    cdef double Y, loss
    if u == 0.0:
        return
    for k in range(1 if one else max(n_choices, y + 1)):
        Y = 1.0 if y == (1 if one else k) else -1.0
        loss = 1.0 - Y * (scores[k] if k < n_choices else 0.0)
        if loss > 0.0:
            step_add(step, k, Y * loss)


# The guess is the best *other* candidate. A step is due as for a label, and goes by the difference
# d = x_y - x_guess:
#     perceptron: w += u d;  else, with the loss as above: w += min(loss / d.d, C) u d
# Collins 2002; Crammer et al. 2006. d is made only if there is a step (engine/candidates.pxd).
# Until then the loss stands for MIRA's factor (rule_settle).
cdef inline void _ranking(const Rule* rule, const double* scores, Py_ssize_t n_choices,
                          Py_ssize_t y, double u, Step* step) noexcept nogil:
    cdef Py_ssize_t guess = best_output(scores, n_choices, y)
    cdef double loss, length
    cdef int i
    if guess < 0 or u == 0.0 or not _due(rule, scores[y], scores[guess]):
        return
    loss = _aim(rule, scores, n_choices, scores[y], y, guess, &length, step)
    for i in range(step.n):
        step.moves[i].a *= loss if rule_is_mira(rule) else u


# Each output on its own: Y = +1 for the label that it stands for, else -1;
#     if Y score <= 0:  w += Y u x
# A perceptron for each label, which learns it against all others. Two labels share one.
cdef inline void _one_against_all(int answer, const double* scores, Py_ssize_t n_choices,
                                  Py_ssize_t y, double u, Step* step) noexcept nogil:
    cdef bint one = answer == ANSWER_PAIR
    cdef Py_ssize_t k
    cdef double Y
    if u == 0.0:
        return
    for k in range(1 if one else max(n_choices, y + 1)):
        Y = 1.0 if y == (1 if one else k) else -1.0
        if Y * (scores[k] if k < n_choices else 0.0) <= 0.0:
            step_add(step, k, Y * u)


cdef inline void rule_step(const Rule* rule, int answer, const double* scores, Py_ssize_t n_choices,
                           Py_ssize_t y, double u, const double* x, Py_ssize_t n, bint intercept,
                           Step* step) noexcept nogil:
    """Write the step where choice y is right.

    With one output for two labels, y is whether it stands for the right one. y may be n_choices: a
    label met for the first time, which scores 0. x, n: the event's values; `intercept`: a value of
    1 comes before them. The step has been begun, with room for one more choice than there are.
    """
    if n == 0 and not intercept:    # an empty event: there is nothing to add to
        return
    if rule.kind == RULE_PERCEPTRON:
        _perceptron(rule, scores[0], y, u, step)
    elif rule.kind == RULE_AROW:
        _arow(answer, scores, n_choices, y, u, step)
    elif rule.kind == RULE_RANKING:
        _ranking(rule, scores, n_choices, y, u, step)
    elif rule.kind == RULE_VOTED:
        _one_against_all(answer, scores, n_choices, y, u, step)
    else:
        _apart(rule, scores, n_choices, y, u, x, n, intercept, step)


cdef inline void rule_settle(const Rule* rule, double u, Step* step) noexcept nogil:
    """Finish a step once its second sums are known. For a rule that keeps something: sums over
    what is kept; for one that chooses among candidates: of the squares of d.
    """
    cdef int i
    cdef double alpha
    if rule.kind == RULE_RANKING:
        if rule_is_mira(rule):
            alpha = step.moves[0].a / step.moves[0].second
            step.moves[0].a = (alpha if alpha < rule.C else rule.C) * u
        return
    step.r = rule.r / u
    for i in range(step.n):
        alpha = step.moves[i].a / (step.moves[i].second + step.r)
        step.moves[i].a = max(-1e100, min(alpha, 1e100))
