#include "voted/report.h"

#include "memory/heap.h"
#include "voted/vote.h"

#include <math.h>

SP_PRIVATE sp_model_numbers sp_voted_model_numbers(const sp_learner *learner)
{
    (void)learner; /* the same for all */
    sp_model_numbers once = {.name = "voted", .n = 2}; /* now, since */
    return once;
}

SP_PRIVATE void sp_voted_model_numbers_write(const sp_learner *learner, double *numbers)
{
    numbers[0] = learner->voters.now;
    numbers[1] = learner->voters.since;
}

SP_PRIVATE const char *sp_voted_model_numbers_read(sp_learner *learner, const double *numbers)
{
    sp_voters *v = &learner->voters;
    v->now = numbers[0];
    v->since = numbers[1];
    if (!(isfinite(v->now) && 0.0 <= v->since && v->since <= v->now
          && (v->budget || v->since == 0.0)))
        return "the votes' clock is invalid";
    return NULL;
}

SP_PRIVATE int sp_voted_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t output,
                               int kind, double *shares)
{
    (void)kind; /* all vectors vote */
    ptrdiff_t first = learner->intercept, n = event->n - first;
    double *scratch = (double *)sp_calloc((size_t)(3 * n + 3), sizeof(double));
    if (scratch == NULL)
        return -1;
    double *parts = scratch + n + 1;
    for (ptrdiff_t i = 0; i < n; i++)
        scratch[i] = event->values[first + i]
                     * sp_table_read(&learner->table, event->slots[first + i], output,
                                     SP_KEPT_CURRENT);
    sp_voters_shares(&learner->voters, output, event->slots + first, event->values + first, n,
                     scratch, parts, (uint32_t *)(void *)(parts + n + 1), shares + first);
    if (first)
        shares[0] = 0.0; /* the intercept's share is behind the others */
    sp_free(scratch);
    return 0;
}
