#include "voted/vote.h"

#include "memory/heap.h"

#include <math.h>
#include <string.h>

static void sp_voted_scratch_free(sp_scratch_head *head)
{
    sp_voted_scratch *ballot = (sp_voted_scratch *)(void *)head;
    sp_free(ballot->dots);
    sp_free(ballot->touched);
    ballot->dots = NULL;
    ballot->touched = ballot->outer = NULL;
    ballot->room = 0;
}

static size_t sp_voted_scratch_bytes(const sp_scratch_head *head)
{
    const sp_voted_scratch *ballot = (const sp_voted_scratch *)(const void *)head;
    return sizeof(sp_voted_scratch) + (size_t)ballot->room * sizeof(double)
           + (size_t)(ballot->room / SP_SPAN) + (size_t)(ballot->room / SP_SPANS)
           + (ballot->room != 0);
}

static const sp_scratch_kind sp_voted_scratch_kind = {
    .size = sizeof(sp_voted_scratch),
    .bytes = sp_voted_scratch_bytes,
    .free = sp_voted_scratch_free,
};

SP_PRIVATE int sp_voted_scratch_reserve(sp_event *event, const sp_voters *v)
{
    ptrdiff_t n = sp_voters_updates(v);
    ptrdiff_t room = SP_SPAN * ((n + n / 2) / SP_SPAN + 1);
    sp_voted_scratch *ballot = (sp_voted_scratch *)(void *)sp_event_scratch(event,
                                                                            &sp_voted_scratch_kind);
    if (ballot == NULL)
        return -1;
    if (n <= ballot->room)
        return 0;
    sp_voted_scratch_free(&ballot->head); /* its contents need not be kept */
    ballot->dots = (double *)sp_calloc((size_t)room, sizeof(double));
    ballot->touched = (uint8_t *)sp_calloc((size_t)(room / SP_SPAN + room / SP_SPANS + 1), 1);
    if (ballot->dots == NULL || ballot->touched == NULL) {
        sp_voted_scratch_free(&ballot->head);
        return -1;
    }
    ballot->outer = ballot->touched + room / SP_SPAN;
    ballot->room = room;
    return 0;
}

/* The dot products of an event with the updates, each summed in the event's order. */
static void sp_voted_scratch_fill(sp_voted_scratch *ballot, const sp_voters *v,
                                  const sp_slot_type *slots, const double *x, ptrdiff_t n)
{
    const sp_mentions *m;
    const sp_mention *mention;
    double *dots = ballot->dots;
    uint8_t *touched = ballot->touched;
    uint32_t number = v->number;
    for (ptrdiff_t i = 0; i < n; i++) {
        m = sp_mentions_of(v, slots[i]);
        if (m == NULL)
            continue;
        double value = x[i];
        for (uint32_t k = m->start, end = m->end; k < end; k++) {
            mention = &m->mentions[k];
            uint32_t r = mention->update - number;
            dots[r] += value * mention->x;
            touched[r >> SP_SPAN_BITS] = 1;
        }
    }
    for (ptrdiff_t i = 0, end = (sp_voters_updates(v) + SP_SPAN - 1) >> SP_SPAN_BITS; i < end;
         i++) {
        if (touched[i])
            ballot->outer[i >> SP_SPAN_BITS] = 1;
    }
}

static void sp_voted_scratch_clear(sp_voted_scratch *ballot, const sp_voters *v)
{
    size_t n = (size_t)sp_voters_updates(v);
    if (n == 0)
        return;
    for (size_t i = 0; i < (n + SP_SPAN - 1) >> SP_SPAN_BITS; i++) {
        if (ballot->touched[i])
            memset(ballot->dots + i * SP_SPAN, 0, SP_SPAN * sizeof(double));
    }
    memset(ballot->touched, 0, (n + SP_SPAN - 1) >> SP_SPAN_BITS);
    memset(ballot->outer, 0, (n + SP_SPANS - 1) >> (2 * SP_SPAN_BITS));
}

/* Whether the event may share a feature with an update of the turns p .. last. */
static bool sp_is_touched(const sp_voters *v, const sp_voter *voter, ptrdiff_t p, ptrdiff_t last,
                          const uint8_t *flags, int bits)
{
    uint32_t i = (voter->turns[p].update - v->number) >> bits;
    uint32_t end = (voter->turns[last].update - v->number) >> bits;
    while (i <= end) {
        if (flags[i])
            return true;
        i++;
    }
    return false;
}

static bool sp_keeps_sign(const sp_voters_span *span, double A, bool above)
{
    return above ? A + span->low > 0.0 : A + span->high <= 0.0;
}

/* How many turns from p on certainly change nothing, judged by whole blocks. */
static ptrdiff_t sp_pass(const sp_voters *v, const sp_voter *voter, const sp_voted_scratch *ballot,
                         ptrdiff_t p, double A, bool above)
{
    if ((p & (SP_SPANS - 1)) == 0 && p + SP_SPANS <= voter->end
        && sp_keeps_sign(&voter->outer[p >> (2 * SP_SPAN_BITS)], A, above)
        && !sp_is_touched(v, voter, p, p + SP_SPANS - 1, ballot->outer, 2 * SP_SPAN_BITS))
        return SP_SPANS;
    if (p + SP_SPAN <= voter->end && sp_keeps_sign(&voter->spans[p >> SP_SPAN_BITS], A, above)
        && !sp_is_touched(v, voter, p, p + SP_SPAN - 1, ballot->touched, SP_SPAN_BITS))
        return SP_SPAN;
    return 0;
}

/* K(z, x) - K(z, 0), where the dot product of z and x is not 0.

   With a kernel it is bounded, far above any useful value, so that no stream makes a score
   infinite. */
static double sp_more(const sp_voters *v, double dot)
{
    double K = v->b + dot;
    double power = K;
    if (v->degree == 1)
        return dot;
    for (int k = 0; k < v->degree - 1; k++)
        power *= K;
    return SP_MAX(-1e150, SP_MIN(power - v->b, 1e150));
}

/* An output's vote. *A: the value before the first turn; it becomes the value after the last. */
static double sp_walk(const sp_voters *v, const sp_voter *voter, const sp_voted_scratch *ballot,
                      double *A)
{
    double vote = 0.0;
    double since = v->since;
    double sum_ = *A;
    bool above = sum_ + voter->B > 0.0;
    ptrdiff_t p = voter->start;
    const sp_turn *turn;
    while (p < voter->end) {
        if ((p & (SP_SPAN - 1)) == 0) {
            ptrdiff_t passed = sp_pass(v, voter, ballot, p, sum_, above);
            if (passed) {
                p += passed;
                continue;
            }
        }
        turn = &voter->turns[p];
        p++;
        uint32_t r = turn->update - v->number;
        double dot = ballot->dots[r];
        if (dot != 0.0)
            sum_ += turn->a * sp_more(v, dot);
        if ((sum_ + turn->B > 0.0) != above) {
            double time = v->updates[v->start + r].time;
            vote += above ? time - since : since - time;
            since = time;
            above = !above;
        }
    }
    vote += above ? v->now - since : since - v->now;
    *A = sum_;
    return vote;
}

/* A before the first turn: only the dropped updates count, which are still in the current score.

   If these have none of the event's features, A is 0. So a difference that may be mere rounding
   (2^-40 of the sum) counts as 0: otherwise the first vector's answer would be random. */
static double sp_first_A(const sp_voters *v, const sp_voter *voter, const sp_voted_scratch *ballot,
                         double current)
{
    double kept = 0.0;
    double size = 0.0;
    double A = current - sp_last_B(voter);
    if (v->degree > 1)
        return -voter->B; /* no vector contains the dropped ones any more */
    if (!voter->cut)
        return 0.0;
    for (ptrdiff_t p = voter->start, end = voter->end; p < end; p++) {
        double dot = ballot->dots[(uint32_t)(voter->turns[p].update - v->number)];
        if (dot != 0.0) {
            double part = voter->turns[p].a * dot;
            kept += part;
            size += fabs(part);
        }
    }
    return fabs(A - kept) <= 9.094947017729282e-13 * (size + fabs(A)) ? 0.0 : A - kept;
}

SP_PRIVATE void sp_voters_count(const sp_voters *v, const sp_slot_type *slots, const double *x,
                                ptrdiff_t n, sp_voted_scratch *ballot, ptrdiff_t n_outputs,
                                double *current, double *votes)
{
    double A;
    double all_ = v->now - v->since;
    sp_voter *voter;
    sp_voted_scratch_fill(ballot, v, slots, x, n);
    for (ptrdiff_t k = 0; k < n_outputs; k++) {
        if (k >= v->n_voters) {
            votes[k] = 0.0;
            if (v->degree > 1)
                current[k] = 0.0;
            continue;
        }
        voter = &v->voters[k];
        A = sp_first_A(v, voter, ballot, current[k]);
        votes[k] = all_ > 0.0 ? sp_walk(v, voter, ballot, &A) / all_ : 0.0;
        if (v->degree > 1) {
            if (all_ <= 0.0)
                sp_walk(v, voter, ballot, &A);
            current[k] = A + sp_last_B(voter);
        }
    }
    sp_voted_scratch_clear(ballot, v);
}

/* Divide a vector's votes among the parts of its score that have its sign; shares[n]: the
   intercept. */
static void sp_share_out(double votes, const double *parts, double B, double *shares, ptrdiff_t n)
{
    double score = B;
    for (ptrdiff_t i = 0; i < n; i++)
        score += parts[i];
    double sign = score > 0.0 ? 1.0 : -1.0;
    double pull = SP_MAX(0.0, sign * B);
    for (ptrdiff_t i = 0; i < n; i++)
        pull += SP_MAX(0.0, sign * parts[i]);
    if (pull <= 0.0) {
        shares[n] += sign * votes;
        return;
    }
    votes *= sign / pull;
    shares[n] += votes * SP_MAX(0.0, sign * B);
    for (ptrdiff_t i = 0; i < n; i++)
        shares[i] += votes * SP_MAX(0.0, sign * parts[i]);
}

SP_API void sp_voters_shares(const sp_voters *v, ptrdiff_t output, const sp_slot_type *slots,
                             const double *x, ptrdiff_t n, const double *current, double *parts,
                             uint32_t *seen, double *shares)
{
    const sp_voter *voter;
    const sp_mentions *m;
    double since = v->since;
    double all_ = v->now - v->since;
    memset(shares, 0, ((size_t)(n + 1)) * sizeof(double));
    if (output >= v->n_voters || all_ <= 0.0)
        return;
    voter = &v->voters[output];
    if (n)
        memset(parts, 0, (size_t)n * sizeof(double));
    for (int turn = voter->cut ? 0 : 1; turn < 2; turn++) {
        for (ptrdiff_t i = 0; i < n; i++)
            seen[i] = 0;
        double B = voter->B;
        for (ptrdiff_t p = voter->start, end = voter->end + 1; p < end; p++) {
            if (turn == 1) {
                double time =
                    p < voter->end
                        ? v->updates[v->start + (uint32_t)(voter->turns[p].update - v->number)].time
                        : v->now;
                if (time > since) {
                    sp_share_out((time - since) / all_, parts, B, shares, n);
                    since = time;
                }
            }
            if (p == voter->end)
                break;
            B = voter->turns[p].B;
            for (ptrdiff_t i = 0; i < n; i++) {
                m = sp_mentions_of(v, slots[i]);
                if (m == NULL)
                    continue;
                while (m->start + seen[i] < m->end
                       && m->mentions[m->start + seen[i]].update - v->number
                              < (uint32_t)(voter->turns[p].update - v->number))
                    seen[i] += 1;
                while (m->start + seen[i] < m->end
                       && m->mentions[m->start + seen[i]].update == voter->turns[p].update) {
                    parts[i] += voter->turns[p].a * (x[i] * m->mentions[m->start + seen[i]].x);
                    seen[i] += 1;
                }
            }
        }
        if (turn == 0) {
            for (ptrdiff_t i = 0; i < n; i++)
                parts[i] = current[i] - parts[i];
        }
    }
}
