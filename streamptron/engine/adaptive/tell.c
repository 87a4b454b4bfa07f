#include "adaptive/tell.h"

#include "adaptive/adaptive.h"
#include "memory/compiler.h"

#include <math.h>

enum { SP_ONCE_NUMBERS = 3, SP_ONCE_WIDTH = 5, SP_ONCE_BEHIND = 2 };
/* T, m, nm; D, w0, G0, wn, Gn, and with false_positive_rate q; tau and its sum of squares */

SP_PRIVATE sp_kept_once sp_adaptive_once(const sp_learner *learner)
{
    const sp_adaptive *a = &learner->adaptive;
    sp_kept_once once = {"adaptive",
                         SP_ONCE_NUMBERS,
                         sp_adaptive_places(a),
                         SP_ONCE_WIDTH + sp_alarms_width(&a->alarms),
                         SP_ONCE_BEHIND,
                         a->watches ? SP_DRIFT_NUMBERS : 0,
                         a->watches};
    return once;
}

SP_PRIVATE void sp_adaptive_once_write(const sp_learner *learner, double *numbers)
{
    const sp_adaptive *a = &learner->adaptive;
    *numbers++ = a->T;
    *numbers++ = a->m;
    *numbers++ = a->nm;
    for (ptrdiff_t k = 0, end = sp_adaptive_places(a); k < end; k++) {
        *numbers++ = a->D[k];
        *numbers++ = a->w0[k];
        *numbers++ = a->G0[k];
        *numbers++ = k == 0 ? a->wn : 0.0;
        *numbers++ = k == 0 ? a->Gn : 0.0;
        numbers += sp_alarms_read(&a->alarms, k, numbers);
    }
    *numbers++ = a->tau;
    *numbers++ = a->Gtau;
    if (a->watches)
        sp_drift_read(&a->drift, numbers);
}

SP_PRIVATE const char *sp_adaptive_once_read(sp_learner *learner, const double *numbers)
{
    sp_adaptive *a = &learner->adaptive;
    a->T = numbers[0];
    a->m = numbers[1];
    a->nm = numbers[2];
    numbers += SP_ONCE_NUMBERS;
    for (ptrdiff_t k = 0, end = sp_adaptive_places(a); k < end; k++) {
        if (!(sp_is_within(numbers[0], 0.0) && sp_is_within(numbers[1], -SP_VALUE_LIMIT)
              && sp_is_within(numbers[2], 0.0) && sp_is_within(numbers[3], -SP_VALUE_LIMIT)
              && sp_is_within(numbers[4], 0.0)
              && sp_alarms_write(&a->alarms, k, numbers + SP_ONCE_WIDTH)))
            return "what is kept for a label is invalid";
        sp_adaptive_set_count(a, k, numbers[0]);
        a->w0[k] = numbers[1];
        a->G0[k] = numbers[2];
        if (k == 0) {
            a->wn = numbers[3];
            a->Gn = numbers[4];
        }
        numbers += SP_ONCE_WIDTH + sp_alarms_width(&a->alarms);
    }
    a->tau = *numbers++;
    a->Gtau = *numbers++;
    if (!sp_once_is_sound(a))
        return "what is kept of all events is invalid";
    if (a->watches && !sp_drift_is_sound(numbers))
        return "what is kept of recent answers is invalid";
    if (a->watches)
        sp_drift_write(&a->drift, numbers);
    return NULL;
}

SP_PRIVATE void sp_adaptive_shares(const sp_learner *learner, const sp_event *event, double *shares)
{
    const sp_adaptive *a = &learner->adaptive;
    const sp_weighed *w = sp_weighed_of(event);
    for (ptrdiff_t i = 0; i < w->n_unbent; i++)
        shares[i] = sp_adaptive_share(a, &learner->table, w, i, event);
    for (ptrdiff_t i = w->n_unbent; i < w->n; i++)
        shares[w->n_plain + w->entries[i]] +=
            sp_adaptive_share(a, &learner->table, w, i, event);
    shares[w->n_unbent] = sp_adaptive_share(a, &learner->table, w, -1, event);
}

SP_PRIVATE sp_told_part sp_adaptive_part(const sp_event *event, ptrdiff_t i)
{
    const sp_weighed *w = sp_weighed_of(event);
    sp_told_part part = {sp_weighed_entry(w, i), sp_weighed_slots(w, event)[i]};
    return part;
}

SP_API void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                               double *variance, double *size)
{
    sp_blocks blocks = sp_table_blocks(table);
    *size = sp_head_of(sp_chunks(blocks, 0), slot)->s;
    const sp_column *column = sp_column_of(&blocks, slot);
    const double share = sp_column_is_far(column) ? 1.0 : column->n / column->since;
    sp_column_spread(column->a, column->b, share, mean, variance);
}
