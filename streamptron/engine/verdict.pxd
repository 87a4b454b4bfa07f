# What a vector says of an event: the label, and how sure it is.
#
# A verdict is made from the event's scores by one kept vector, once per event (learner_verdict).
# Everything else reads it: who answers, the prediction, the probabilities, the counted mistakes.
#
# Functions in this file: verdict_of.

from libc.math cimport fabs
from streamptron.engine.two_labels cimport TwoLabels, two_labels_answer

cdef struct Verdict:                # what a vector says of an event
    Py_ssize_t best                 # the choice or the label; -1 while there is none
    double top                      # the best choice's score
    double margin
    double size                     # how large the scores are


cdef inline Verdict verdict_of(const double* scores, Py_ssize_t n, bint several,
                                const TwoLabels* two) noexcept nogil:
    """The first of the best-scoring choices, and its margin.

    `several`: one output per choice; otherwise one output for two labels.
    """
    cdef Verdict verdict
    cdef Py_ssize_t k
    cdef double second = 0.0
    if not several:
        verdict.best = two_labels_answer(two, scores[0])
        verdict.top = scores[0]
        verdict.margin = verdict.size = fabs(scores[0])
        return verdict
    verdict.best = -1
    verdict.top = verdict.margin = verdict.size = 0.0
    for k in range(n):
        if verdict.best < 0 or scores[k] > verdict.top:
            second = verdict.top
            verdict.top = scores[k]
            verdict.best = k
        elif k == 1 or scores[k] > second:
            second = scores[k]
    if n >= 2:
        verdict.margin = verdict.top - second
        for k in range(n):
            verdict.size += verdict.top - scores[k]
        verdict.size /= n
    return verdict
