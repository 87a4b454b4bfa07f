# VotedPerceptron: every vector that a perceptron has had votes, for as long as it stood.
#
# Freund & Schapire 1999; Daume, A Course in Machine Learning, equation 4.17. A label's perceptron
# changes only when it errs. Between two such updates one vector stands, and it votes with the
# weight of the events after which it stood. In the clock of these weights the vote is an integral:
#
#     vote = sum_k c_k sign(w_k x + b_k) = the integral of sign(score(t)) from `since` to `now`
#
#     score      w_0 = 0     w_1            w_2    w_3 = the current one
#                |-----------|--------------|------|---------------------|
#     time     since       T_1            T_2    T_3                    now
#
# sign is +1 above 0, else -1: a vector votes what it would answer. w_0 stands until the label's
# first update, also if the label comes late: it says "not this one" of all events before.
#
# Nothing here stores the w_k. What is stored is each update's event, by feature: a feature's
# *mentions* say in which updates it was, and with which value. The dot product of an event with
# every update is collected from the mentions of its own features, all others being 0. Then each
# label's *turns*, the updates at which it erred, are walked in the order of time:
#
#     score after turn k = A_k + B_k      A_k = the sum of a (K(z, x) - K(z, 0)) up to k
#                                         B_k = the sum of a K(z, 0), the running intercept
#     K(z, x) = (b + z x)^degree          b = 1 with an intercept, else 0
#
# A changes only at updates that share a feature with the event. B wanders by itself, and is known
# beforehand. So of each block of 64 turns, and of 64 such blocks, the least and the largest B are
# kept: a block without mentions and whose A + B does not change its sign is passed in one step.
#
# Every A_k + B_k is the same number whichever blocks were passed, and the vote adds up whole runs
# of one sign. So the answer does not depend on where blocks begin.
#
# With degree 1 the current weights are the table's, and an event is learned without any of this.
# For a higher one the current score is the walk's last.
#
# Under a budget the oldest update is dropped when there is one too many. `since` moves on to its
# time: the vectors before it do not vote any more. With degree 1 those behind it stay what they
# were, for the walk can start from the current score less the kept updates. A kernel's vectors are
# made of updates and nothing else, so the dropped one leaves them all.
#
# Cost. A vote takes a step for each mention, one for each turn in a block with mentions, and one
# for each 64 updates. A mention takes 16 bytes, an update 16, a turn 24.
#
# Functions in this file: ballot_reserve (this may fail), ballot_free, ballot_bytes; voters_count;
# voters_shares for explanations.

from libc.math cimport fabs
from libc.string cimport memset
from streamptron.engine.heap cimport calloc, free
from streamptron.engine.types cimport slot_t, uint8_t, uint32_t
from streamptron.engine.voters cimport (
    SPAN, SPAN_BITS, SPANS, Mention, Mentions, Span, Turn, Voter, Voters, last_B, mentions_of,
    voters_updates)

cdef enum:
    DEGREE_MOST = 16

cdef struct Ballot:
    # Scratch: the dot products of an event with the updates, from the oldest on. All 0 between
    # events, as are the flags, which say where they are not.
    double* dots
    uint8_t* touched                # a block of SPAN updates
    uint8_t* wide                   # one of SPANS
    Py_ssize_t room


# --- Scratch

cdef inline void ballot_free(Ballot* ballot) noexcept nogil:
    free(ballot.dots)
    free(ballot.touched)
    memset(ballot, 0, sizeof(Ballot))


cdef inline size_t ballot_bytes(const Ballot* ballot) noexcept nogil:
    return ballot.room * sizeof(double) + ballot.room // SPAN + ballot.room // SPANS + (
        ballot.room != 0)


cdef inline int ballot_reserve(Ballot* ballot, const Voters* v) noexcept nogil:
    """Room for all updates. Returns -1 without memory."""
    cdef Py_ssize_t n = voters_updates(v)
    cdef Py_ssize_t room = SPAN * ((n + n // 2) // SPAN + 1)
    if n <= ballot.room:
        return 0
    ballot_free(ballot)             # nothing in it has to be kept
    ballot.dots = <double*> calloc(room, sizeof(double))
    ballot.touched = <uint8_t*> calloc(room // SPAN + room // SPANS + 1, 1)
    if ballot.dots == NULL or ballot.touched == NULL:
        ballot_free(ballot)
        return -1
    ballot.wide = ballot.touched + room // SPAN
    ballot.room = room
    return 0


# --- The vote

cdef inline void _ballot_fill(Ballot* ballot, const Voters* v, const slot_t* slots, const double* x,
                              Py_ssize_t n) noexcept nogil:
    """The dot products of an event with the updates, each summed in the event's order."""
    cdef const Mentions* m
    cdef const Mention* mention
    cdef const Mention* end
    cdef double* dots = ballot.dots
    cdef uint8_t* touched = ballot.touched
    cdef uint32_t number = v.number, r
    cdef double value
    cdef Py_ssize_t i
    for i in range(n):
        m = mentions_of(v, slots[i])
        if m == NULL:
            continue
        value = x[i]
        mention = m.mentions + m.start
        end = m.mentions + m.end
        while mention < end:
            r = mention.update - number
            dots[r] += value * mention.x
            touched[r >> SPAN_BITS] = 1
            mention += 1
    for i in range((voters_updates(v) + SPAN - 1) >> SPAN_BITS):
        if touched[i]:
            ballot.wide[i >> SPAN_BITS] = 1


cdef inline void _ballot_clear(Ballot* ballot, const Voters* v) noexcept nogil:
    cdef size_t i, n = voters_updates(v)
    if n == 0:                      # then there may be no memory to clear
        return
    for i in range((n + SPAN - 1) >> SPAN_BITS):
        if ballot.touched[i]:
            memset(ballot.dots + i * SPAN, 0, SPAN * sizeof(double))
    memset(ballot.touched, 0, (n + SPAN - 1) >> SPAN_BITS)
    memset(ballot.wide, 0, (n + SPANS - 1) >> 2 * SPAN_BITS)


cdef inline bint _is_touched(const Voters* v, const Voter* voter, Py_ssize_t p, Py_ssize_t last,
                             const uint8_t* flags, int bits) noexcept nogil:
    """Whether the event may share a feature with an update of the turns p to last."""
    cdef uint32_t i = (voter.turns[p].update - v.number) >> bits
    cdef uint32_t end = (voter.turns[last].update - v.number) >> bits
    while i <= end:
        if flags[i]:
            return True
        i += 1
    return False


cdef inline bint _keeps_sign(const Span* span, double A, bint above) noexcept nogil:
    return A + span.low > 0.0 if above else A + span.high <= 0.0


cdef inline Py_ssize_t _pass(const Voters* v, const Voter* voter, const Ballot* ballot,
                             Py_ssize_t p, double A, bint above) noexcept nogil:
    """How many turns from p on change nothing, as far as whole blocks tell."""
    if (p & (SPANS - 1) == 0 and p + SPANS <= voter.end
            and _keeps_sign(&voter.wide[p >> 2 * SPAN_BITS], A, above)
            and not _is_touched(v, voter, p, p + SPANS - 1, ballot.wide, 2 * SPAN_BITS)):
        return SPANS
    if (p + SPAN <= voter.end and _keeps_sign(&voter.spans[p >> SPAN_BITS], A, above)
            and not _is_touched(v, voter, p, p + SPAN - 1, ballot.touched, SPAN_BITS)):
        return SPAN
    return 0


cdef inline double _more(const Voters* v, double dot) noexcept nogil:
    """K(z, x) - K(z, 0), where the dot product of z and x is not 0.

    A kernel's is bounded, far above any useful value, so that no stream makes a score infinite.
    """
    cdef double K = v.b + dot
    cdef double power = K
    cdef int k
    if v.degree == 1:
        return dot
    for k in range(v.degree - 1):
        power *= K
    return max(-1e150, min(power - v.b, 1e150))


cdef inline double _walk(const Voters* v, const Voter* voter, const Ballot* ballot,
                         double* A) noexcept nogil:
    """An output's vote; A goes from what it is at first to what it is in the end."""
    cdef double vote = 0.0, since = v.since, sum_ = A[0], dot, time
    cdef bint above = sum_ + voter.B > 0.0
    cdef Py_ssize_t p = voter.start, passed
    cdef const Turn* turn
    cdef uint32_t r
    while p < voter.end:
        if p & (SPAN - 1) == 0:
            passed = _pass(v, voter, ballot, p, sum_, above)
            if passed:
                p += passed
                continue
        turn = &voter.turns[p]
        p += 1
        r = turn.update - v.number
        dot = ballot.dots[r]
        if dot != 0.0:
            sum_ += turn.a * _more(v, dot)
        if (sum_ + turn.B > 0.0) != above:
            time = v.updates[v.start + r].time
            vote += time - since if above else since - time
            since = time
            above = not above
    vote += v.now - since if above else since - v.now
    A[0] = sum_
    return vote


cdef inline double _first_A(const Voters* v, const Voter* voter, const Ballot* ballot,
                            double current) noexcept nogil:
    """A before the first turn: 0 but for the dropped updates, which are in the current score.

    If these have none of the event's features it is 0 as well, so what is left of the difference
    by rounding (2^-40 of the sum) is taken for 0: the first vector's answer would be chance.
    """
    cdef double kept = 0.0, size = 0.0, part, dot, A = current - last_B(voter)
    cdef Py_ssize_t p
    if v.degree > 1:
        return -voter.B             # the dropped ones are in no vector any more
    if not voter.cut:
        return 0.0
    for p in range(voter.start, voter.end):
        dot = ballot.dots[<uint32_t> (voter.turns[p].update - v.number)]
        if dot != 0.0:
            part = voter.turns[p].a * dot
            kept += part
            size += fabs(part)
    return 0.0 if fabs(A - kept) <= 9.094947017729282e-13 * (size + fabs(A)) else A - kept


cdef inline void voters_count(const Voters* v, const slot_t* slots, const double* x, Py_ssize_t n,
                              Ballot* ballot, Py_ssize_t n_outputs, double* current,
                              double* votes) noexcept nogil:
    """The outputs' votes for an event, as shares from -1 to 1.

    `current`: the scores of the current vectors, known if the degree is 1 and else filled in. Room
    for the updates has been reserved.
    """
    cdef Py_ssize_t k
    cdef double A
    cdef double all_ = v.now - v.since
    cdef Voter* voter
    _ballot_fill(ballot, v, slots, x, n)
    for k in range(n_outputs):
        if k >= v.n_voters:         # without an event yet
            votes[k] = 0.0
            if v.degree > 1:
                current[k] = 0.0
            continue
        voter = &v.voters[k]
        A = _first_A(v, voter, ballot, current[k])
        votes[k] = _walk(v, voter, ballot, &A) / all_ if all_ > 0.0 else 0.0
        if v.degree > 1:
            if all_ <= 0.0:
                _walk(v, voter, ballot, &A)
            current[k] = A + last_B(voter)
    _ballot_clear(ballot, v)


# --- Explanations

cdef inline void _share_out(double votes, const double* parts, double B, double* shares,
                            Py_ssize_t n) noexcept nogil:
    """Give a vector's votes to the parts of its score that pull its way; shares[n]: the intercept.
    """
    cdef double score = B, pull, sign
    cdef Py_ssize_t i
    for i in range(n):
        score += parts[i]
    sign = 1.0 if score > 0.0 else -1.0
    pull = max(0.0, sign * B)
    for i in range(n):
        pull += max(0.0, sign * parts[i])
    if pull <= 0.0:                 # a score of 0 of nothing: the vector says no
        shares[n] += sign * votes
        return
    votes *= sign / pull
    shares[n] += votes * max(0.0, sign * B)
    for i in range(n):
        shares[i] += votes * max(0.0, sign * parts[i])


cdef inline void voters_shares(const Voters* v, Py_ssize_t output, const slot_t* slots,
                               const double* x, Py_ssize_t n, const double* current,
                               double* parts, uint32_t* seen, double* shares) noexcept nogil:
    """What each entry of an event has of an output's vote, of degree 1; shares[n]: the intercept.

    A vector's votes go to those parts of its score that have its sign, in proportion.
    `current`: the parts of the current score. `parts`, `seen`: scratch for n entries. A walk
    through all turns, for once without shortcuts.
    """
    cdef const Voter* voter
    cdef const Mentions* m
    cdef double since = v.since, time, all_ = v.now - v.since, B
    cdef Py_ssize_t i, p
    cdef int turn
    memset(shares, 0, (n + 1) * sizeof(double))
    if output >= v.n_voters or all_ <= 0.0:
        return
    voter = &v.voters[output]
    if n:
        memset(parts, 0, n * sizeof(double))
    for turn in range(0 if voter.cut else 1, 2):    # at first what the kept ones add up to
        for i in range(n):
            seen[i] = 0
        B = voter.B
        for p in range(voter.start, voter.end + 1):
            if turn == 1:
                time = (v.updates[v.start + <uint32_t> (voter.turns[p].update - v.number)].time
                        if p < voter.end else v.now)
                if time > since:
                    _share_out((time - since) / all_, parts, B, shares, n)
                    since = time
            if p == voter.end:
                break
            B = voter.turns[p].B
            for i in range(n):
                m = mentions_of(v, slots[i])
                if m == NULL:
                    continue
                while (m.start + seen[i] < m.end
                       and m.mentions[m.start + seen[i]].update - v.number
                       < <uint32_t> (voter.turns[p].update - v.number)):
                    seen[i] += 1
                while (m.start + seen[i] < m.end
                       and m.mentions[m.start + seen[i]].update == voter.turns[p].update):
                    parts[i] += voter.turns[p].a * (x[i] * m.mentions[m.start + seen[i]].x)
                    seen[i] += 1
        if turn == 0:
            for i in range(n):
                parts[i] = current[i] - parts[i]
