# The rules: is this event a mistake, and how big is the step?
#
# A rule sees the scores of the current weights and the label; it answers with a step, the outputs to
# change and by how much: for each (o, a) in the step, w_o += a x. It knows neither keys nor tables.
#
#     PERCEPTRON   one output, y = +1 or -1:  if y score <= margin:  (0, y step)
#                  Daume, A Course in Machine Learning, algorithm 5; a score of 0 is a mistake for
#                  either label.
#     MULTICLASS   guess = the best *other* label; if score_y - score_guess <= margin:
#                  (y, +step), (guess, -step)            CS188, lecture "Perceptrons"
#     MIRA         loss = (score_guess - score_y) + 1;  tau = min(loss / (2 x.x), C) step;
#                  (y, +tau), (guess, -tau)              CS188; Crammer et al. 2006, PA-I
#                  when score_y <= score_guess (on_mistake), else whenever loss > 0
#
# `step` is the sample weight times the class weight. It scales what is added, so a weight of 2 counts
# for two of the same step. Ties between labels go to the one seen first.

cdef enum:
    RULE_PERCEPTRON = 0
    RULE_MULTICLASS = 1
    RULE_MIRA = 2

cdef struct Rule:
    int kind
    double margin
    double C
    bint on_mistake

cdef struct Step:
    int n
    Py_ssize_t output[2]
    double coefficient[2]


cdef inline Py_ssize_t best_output(const double* scores, Py_ssize_t n, Py_ssize_t but) noexcept nogil:
    """The first of the best-scoring outputs other than `but`; -1 if there is none."""
    cdef Py_ssize_t best = -1
    cdef Py_ssize_t k
    for k in range(n):
        if k != but and (best < 0 or scores[k] > scores[best]):
            best = k
    return best


cdef inline Step rule_step(const Rule* rule, const double* scores, Py_ssize_t n_outputs,
                           Py_ssize_t y, double step, const double* x, Py_ssize_t n,
                           bint intercept) noexcept nogil:
    """What to add for the label y. For PERCEPTRON y is 1 (True) or 0 (False); else an output.

    y may be n_outputs: a label met for the first time, which scores 0. x, n: the event's values;
    `intercept`: a value of 1 comes before them.
    """
    cdef Step s
    cdef Py_ssize_t guess, i
    cdef double score, lead, tau
    cdef double xx = 1.0 if intercept else 0.0
    s.n = 0
    s.output[0] = s.output[1] = 0
    s.coefficient[0] = s.coefficient[1] = 0.0
    if n == 0 and not intercept:    # an empty event: there is nothing to add to
        return s
    if rule.kind == RULE_PERCEPTRON:
        if not y:
            step = -step
        if (scores[0] if y else -scores[0]) <= rule.margin and step != 0.0:
            s.n = 1
            s.output[0] = 0
            s.coefficient[0] = step
        return s
    guess = best_output(scores, n_outputs, y)
    if guess < 0:
        return s
    score = scores[y] if y < n_outputs else 0.0
    tau = step
    if rule.kind == RULE_MULTICLASS:
        lead = score - scores[guess]
        if lead > rule.margin:
            return s
    else:
        lead = (scores[guess] - score) + 1.0
        if lead <= 0.0 or (rule.on_mistake and score > scores[guess]):
            return s
        for i in range(n):
            xx += x[i] * x[i]
        if xx == 0.0:
            return s
        tau = lead / (2.0 * xx)
        tau = (tau if tau < rule.C else rule.C) * step
    if tau == 0.0:
        return s
    s.n = 2
    s.output[0] = y
    s.coefficient[0] = tau
    s.output[1] = guess
    s.coefficient[1] = -tau
    return s
