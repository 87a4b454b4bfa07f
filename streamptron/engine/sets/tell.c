#include "sets/tell.h"

#include "sets/sets.h"

enum { SP_SETS_ONCE = 4, SP_SETS_LISTS = 2 }; /* T, m, nm, positives; there, said */

SP_PRIVATE sp_kept_once sp_sets_once(void)
{
    sp_kept_once once = {
        .name = "sets", .n = SP_SETS_ONCE, .n_more = SP_SETS_STEPS, .n_lists = SP_SETS_LISTS};
    return once;
}

SP_PRIVATE void sp_sets_once_write(const sp_learner *learner, double *numbers)
{
    const sp_sets *s = &learner->sets;
    *numbers++ = s->T;
    *numbers++ = s->m;
    *numbers++ = s->nm;
    *numbers++ = s->positives;
    memcpy(numbers, s->there, SP_SETS_STEPS * sizeof(double));
    memcpy(numbers + SP_SETS_STEPS, s->said, SP_SETS_STEPS * sizeof(double));
}

static bool sp_is_sum(double number, double least)
{
    return least <= number && number <= SP_VALUE_LIMIT;
}

SP_PRIVATE const char *sp_sets_once_read(sp_learner *learner, const double *numbers)
{
    sp_sets *s = &learner->sets;
    s->T = *numbers++;
    s->m = *numbers++;
    s->nm = *numbers++;
    s->positives = *numbers++;
    bool good = sp_is_sum(s->T, 0.0) && sp_is_sum(s->m, 0.0) && 0.0 <= s->nm && s->nm <= 1024.0
                && sp_is_sum(s->positives, 0.0);
    for (int t = 0; t < SP_SETS_STEPS; t++) {
        s->there[t] = numbers[t];
        s->said[t] = numbers[SP_SETS_STEPS + t];
        good = good && sp_is_sum(s->there[t], 0.0) && sp_is_sum(s->said[t], s->there[t]);
    }
    return good ? NULL : "what is kept of all events is invalid";
}

SP_PRIVATE void sp_sets_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t label,
                               double *shares)
{
    for (ptrdiff_t i = 0; i < event->n; i++)
        shares[i] = sp_sets_share(&learner->sets, &learner->table, event, label, i);
    shares[event->n] = sp_sets_share(&learner->sets, &learner->table, event, label, -1);
}
