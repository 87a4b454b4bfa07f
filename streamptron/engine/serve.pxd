# Which kept vector answers, and when the pocket changes.
#
# No average is right on every stream: on a shuffled one it beats the current weights by a third, on
# a drifting one it makes four times as many mistakes. So each vector is watched on every labelled
# event before anything is learned from it, and serve="best" lets the one with the fewest recent
# mistakes answer.
#
# There are two contestants: the current weights, and the average (or the pocket, where there is no
# average). Mistakes are counted separately in two contexts, by which of the two is more confident
# on this event: an average that is right when it is confident and wrong when it is not should
# answer in the first case only.
#
#     margin    |score|, or the best label's lead over the second
#     m         the mean size of the scores so far (smoothed, over the last 1024 events)
#     context   0 if margin_0 / m_0 >= margin_1 / m_1, else 1
#     T[k][q]   mistakes of contestant k in context q, decayed by 31/32 at each counted event
#     G[k]      mistakes of k in both contexts, decayed by 1023/1024 likewise
#
# In a context the contestant with the smaller T[k][q] + G[k]/4 leads. The leader stays until it is
# beaten by more than 1/2. An event on which neither was wrong is not counted: nothing decays. The
# constants were chosen on fifteen real streams, in file order, and are not parameters.
# docs/learning.md says how well they do.
#
# The pocket (Gallant 1990) holds the current vector from its best run. On a stream, luck makes long
# runs, and a vector that was good before a drift would never leave. So the pocket also fights a
# duel: every event on which one of the two is wrong and the other is not scores a point. The
# current vector takes the pocket's place
#     after a run of correct answers longer than the pocket's record, if it is not behind in the
#     duel, or
#     with a right answer, if it is ahead in the duel.
# The pocket's lead in the duel is at most 2, so a pocket that starts to fail is soon replaced.
#
# Functions in this file: serve_init; serve_can_answer, serve_context, serve_kind (which answers an
# event), serve_overall (which answers most); serve_learn, serve_challenge; scale_relative,
# scale_update.

from libc.string cimport memset
from streamptron.engine.types cimport uint64_t
from streamptron.engine.verdict cimport Verdict
from streamptron.engine.table cimport (
    AVERAGE_NONE, KEPT_AVERAGE, KEPT_CURRENT, KEPT_KINDS, KEPT_POCKET)

cdef enum:
    SERVE_BEST = 3                  # the other ways to serve are the KEPT_ kinds

cdef struct Scale:
    double m
    double n

cdef struct Serve:
    int mode
    int rival                       # contestant 1, or KEPT_CURRENT when there is none
    Scale scale[KEPT_KINDS]
    double T[2][2]
    double G[2]
    int lead[2]
    bint stale[2]                   # mistakes have been counted since lead was computed
    # the pocket
    uint64_t run
    uint64_t record
    int duel


cdef inline void serve_init(Serve* serve, int mode, int average, bint pocket) noexcept nogil:
    memset(serve, 0, sizeof(Serve))
    serve.mode = mode
    serve.rival = KEPT_CURRENT
    if mode == SERVE_BEST and average != AVERAGE_NONE:
        serve.rival = KEPT_AVERAGE
    elif mode == SERVE_BEST and pocket:
        serve.rival = KEPT_POCKET
    serve.G[0] = 0.25
    serve.stale[0] = serve.stale[1] = True


cdef inline bint serve_can_answer(const Serve* serve, int kind) noexcept nogil:
    if serve.mode != SERVE_BEST:
        return kind == serve.mode
    return kind == KEPT_CURRENT or kind == serve.rival


cdef inline double scale_relative(const Scale* scale, double margin) noexcept nogil:
    return margin / scale.m if scale.m > 0.0 else 0.0


cdef inline void scale_update(Scale* scale, double size) noexcept nogil:
    if scale.n < 1024.0:
        scale.n += 1.0
        scale.m += (size - scale.m) / scale.n
    else:
        scale.m += (size - scale.m) * 0.0009765625


cdef inline int serve_context(const Serve* serve, double current_margin,
                              double rival_margin) noexcept nogil:
    return (scale_relative(&serve.scale[serve.rival], rival_margin)
            > scale_relative(&serve.scale[KEPT_CURRENT], current_margin))


cdef inline int _leader(const Serve* serve, int context) noexcept nogil:
    cdef int lead = serve.lead[context]
    cdef double least = (serve.T[lead][context] + 0.25 * serve.G[lead]) - 0.5
    cdef double tally
    cdef int k
    for k in range(2):
        tally = serve.T[k][context] + 0.25 * serve.G[k]
        if tally < least:
            least = tally
            lead = k
    return lead


cdef inline int serve_kind(const Serve* serve, const Verdict* verdicts) noexcept nogil:
    """The kept vector that answers this event, given the verdicts by kind."""
    if serve.mode != SERVE_BEST:
        return serve.mode
    if serve.rival == KEPT_CURRENT:
        return KEPT_CURRENT
    return serve.rival if _leader(serve, serve_context(
        serve, verdicts[KEPT_CURRENT].margin, verdicts[serve.rival].margin)) else KEPT_CURRENT


cdef inline int serve_overall(const Serve* serve) noexcept nogil:
    """The kept vector that has done best over both contexts."""
    if serve.mode != SERVE_BEST:
        return serve.mode
    if ((serve.T[1][0] + serve.T[1][1]) + 0.25 * serve.G[1]
            < (serve.T[0][0] + serve.T[0][1]) + 0.25 * serve.G[0]):
        return serve.rival
    return KEPT_CURRENT


cdef inline void serve_learn(Serve* serve, int context, bint current_wrong,
                             bint rival_wrong) noexcept nogil:
    """Count the contestants' mistakes on an event. The scales are updated separately, later."""
    cdef int k, q
    cdef bint wrongs[2]
    if serve.stale[context]:
        serve.lead[context] = _leader(serve, context)
        serve.stale[context] = False
    if not (current_wrong | rival_wrong):
        return
    serve.stale[0] = serve.stale[1] = True
    wrongs[0] = current_wrong
    wrongs[1] = rival_wrong
    for k in range(2):
        for q in range(2):
            serve.T[k][q] *= 0.96875
        serve.T[k][context] += 1.0 if wrongs[k] else 0.0
        serve.G[k] = 0.9990234375 * serve.G[k] + (1.0 if wrongs[k] else 0.0)


cdef inline bint serve_challenge(Serve* serve, bint current_wrong,
                                 bint pocket_wrong) noexcept nogil:
    """Whether the current vector, as it was before this event's update, goes into the pocket."""
    cdef bint won
    if not current_wrong:
        serve.run += 1
    serve.duel += pocket_wrong - current_wrong
    if serve.duel < -2:
        serve.duel = -2
    won = (serve.run > serve.record and serve.duel >= 0) or (serve.duel >= 1 and not current_wrong)
    if won:
        serve.record = serve.run
        serve.duel = 0
    if current_wrong:
        serve.run = 0
    return won
