# The rules: is this event a mistake, and how big is the step?
#
# A rule sees the scores of the current weights and the label; it answers with a step: for each (k, a) in it, w_k += a x.
# It knows neither keys nor tables. Each says what kind of answer it gives (rule_answer) and has one function, with its
# formula above it. `u` is the sample weight times the class weight. It scales what is added, so a weight of 2
# counts for two of the same step. Ties between labels go to the one seen first.
#
# Functions in this file: rule_answer, rule_step; best_output for the rules.

from streamptron.engine.step cimport Step, step_add

cdef enum:
    RULE_PERCEPTRON = 0
    RULE_MULTICLASS = 1
    RULE_MIRA = 2
    RULE_ADAPTIVE = 3               # see engine/adaptive.pxd

    ANSWER_SIGN = 0                 # one output; True where its score is above 0
    ANSWER_LABELS = 1               # an output a label; the best score wins

cdef struct Rule:
    int kind
    double margin
    double C
    bint on_mistake
    # of RULE_ADAPTIVE
    double eta
    double forget
    bint naive_bayes
    bint intercept


cdef inline int rule_answer(const Rule* rule) noexcept nogil:
    """What kind of answer is made of the scores."""
    return ANSWER_SIGN if rule.kind == RULE_PERCEPTRON else ANSWER_LABELS


cdef inline Py_ssize_t best_output(const double* scores, Py_ssize_t n, Py_ssize_t but) noexcept nogil:
    """The first of the best-scoring outputs other than `but`; -1 if there is none."""
    cdef Py_ssize_t best = -1
    cdef Py_ssize_t k
    for k in range(n):
        if k != but and (best < 0 or scores[k] > scores[best]):
            best = k
    return best


cdef inline void _move_apart(Step* step, Py_ssize_t y, Py_ssize_t guess, double tau) noexcept nogil:
    """w_y += tau x, w_guess -= tau x."""
    if tau == 0.0:
        return
    if guess < y:
        step_add(step, guess, -tau)
        step_add(step, y, tau)
    else:
        step_add(step, y, tau)
        step_add(step, guess, -tau)


# y = +1 or -1;  if y score <= margin:  w += y u x
# Daume, A Course in Machine Learning, algorithm 5. A score of 0 is a mistake for either label.
cdef inline void _perceptron(const Rule* rule, double score, bint y, double u, Step* step) noexcept nogil:
    if (score if y else -score) <= rule.margin and u != 0.0:
        step_add(step, 0, u if y else -u)


# guess = the best *other* label;  if score_y - score_guess <= margin:  w_y += u x,  w_guess -= u x
# CS188, lecture "Perceptrons".
cdef inline void _multiclass(const Rule* rule, double score, double rival, Py_ssize_t y, Py_ssize_t guess,
                             double u, Step* step) noexcept nogil:
    if score - rival <= rule.margin:
        _move_apart(step, y, guess, u)


# loss = (score_guess - score_y) + 1;  tau = min(loss / (2 x.x), C) u;  w_y += tau x,  w_guess -= tau x
# when score_y <= score_guess (on_mistake), else whenever loss > 0. CS188; Crammer et al. 2006, PA-I.
cdef inline void _mira(const Rule* rule, double score, double rival, Py_ssize_t y, Py_ssize_t guess, double xx,
                       double u, Step* step) noexcept nogil:
    cdef double loss = (rival - score) + 1.0
    cdef double tau
    if loss <= 0.0 or xx == 0.0 or (rule.on_mistake and score > rival):
        return
    tau = loss / (2.0 * xx)
    _move_apart(step, y, guess, (tau if tau < rule.C else rule.C) * u)


cdef inline double _squares(const double* x, Py_ssize_t n, bint intercept) noexcept nogil:
    """x.x, in the order of the event."""
    cdef double xx = 1.0 if intercept else 0.0
    cdef Py_ssize_t i
    for i in range(n):
        xx += x[i] * x[i]
    return xx


cdef inline void rule_step(const Rule* rule, const double* scores, Py_ssize_t n_outputs, Py_ssize_t y, double u,
                           const double* x, Py_ssize_t n, bint intercept, Step* step) noexcept nogil:
    """What to add for the label y: 1 (True) or 0 (False) with ANSWER_SIGN, else an output.

    y may be n_outputs: a label met for the first time, which scores 0. x, n: the event's values;
    `intercept`: a value of 1 comes before them. The step has room for one choice more than there are outputs.
    """
    cdef Py_ssize_t guess
    cdef double score
    step.n = 0
    if n == 0 and not intercept:    # an empty event: there is nothing to add to
        return
    if rule.kind == RULE_PERCEPTRON:
        _perceptron(rule, scores[0], y, u, step)
        return
    guess = best_output(scores, n_outputs, y)
    if guess < 0:
        return
    score = scores[y] if y < n_outputs else 0.0
    if rule.kind == RULE_MULTICLASS:
        _multiclass(rule, score, scores[guess], y, guess, u, step)
    elif scores[guess] - score + 1.0 > 0.0:     # x.x is not asked for in vain
        _mira(rule, score, scores[guess], y, guess, _squares(x, n, intercept), u, step)
