#include "many/report.h"

#include "adaptive/report.h"
#include "many/many.h"

enum { SP_MANY_NUMBERS = 3, SP_MANY_WIDTH = 3, SP_MANY_BEHIND = 5 };
/* T, m, nm; D, w0, G0 of each label, and with false_positive_rate q; tau and its sum of squares,
   wn, Gn, b */

SP_PRIVATE sp_model_numbers sp_many_model_numbers(const sp_learner *learner)
{
    const sp_adaptive *a = &learner->adaptive;
    sp_model_numbers once = {"many",
                         SP_MANY_NUMBERS,
                         a->n_labels,
                         SP_MANY_WIDTH + sp_alarms_width(&a->alarms),
                         SP_MANY_BEHIND,
                         a->watches ? SP_DRIFT_NUMBERS : 0,
                         a->watches};
    return once;
}

SP_PRIVATE void sp_many_model_numbers_write(const sp_learner *learner, double *numbers)
{
    const sp_adaptive *a = &learner->adaptive;
    *numbers++ = a->T;
    *numbers++ = a->m;
    *numbers++ = a->nm;
    for (ptrdiff_t k = 0; k < a->n_labels; k++) {
        *numbers++ = a->D[k];
        *numbers++ = a->w0[k];
        *numbers++ = a->G0[k];
        numbers += sp_alarms_read(&a->alarms, k, numbers);
    }
    *numbers++ = a->tau;
    *numbers++ = a->Gtau;
    *numbers++ = a->wn;
    *numbers++ = a->Gn;
    *numbers++ = a->many.b;
    if (a->watches)
        sp_drift_read(&a->drift, numbers);
}

SP_PRIVATE const char *sp_many_model_numbers_read(sp_learner *learner, const double *numbers)
{
    sp_adaptive *a = &learner->adaptive;
    a->T = *numbers++;
    a->m = *numbers++;
    a->nm = *numbers++;
    for (ptrdiff_t k = 0; k < a->n_labels; k++) {
        if (!(sp_is_within(numbers[0], 0.0) && sp_is_within(numbers[1], -SP_VALUE_LIMIT)
              && sp_is_within(numbers[2], 0.0)
              && sp_alarms_write(&a->alarms, k, numbers + SP_MANY_WIDTH)))
            return "what is kept for a label is invalid";
        sp_adaptive_set_count(a, k, numbers[0]);
        a->w0[k] = numbers[1];
        a->G0[k] = numbers[2];
        numbers += SP_MANY_WIDTH + sp_alarms_width(&a->alarms);
    }
    a->tau = *numbers++;
    a->Gtau = *numbers++;
    a->wn = *numbers++;
    a->Gn = *numbers++;
    a->many.b = *numbers++;
    if (!sp_once_is_sound(a) || !sp_is_within(a->many.b, -SP_VALUE_LIMIT)
        || (a->watches && !sp_drift_is_sound(numbers)))
        return "what is kept of all events is invalid";
    if (a->watches)
        sp_drift_write(&a->drift, numbers);
    sp_tree_fill(&learner->adaptive.many, a->w0, a->n_labels);
    return NULL;
}

SP_PRIVATE void sp_many_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t k,
                               double *shares)
{
    const sp_many_scratch *w = sp_many_scratch_of(event);
    const sp_adaptive_scratch *weighed = &w->weighed;
    for (ptrdiff_t i = 0; i < weighed->n_shown; i++)
        shares[i] = sp_many_share(learner, w, k, i, event);
    for (ptrdiff_t i = weighed->n_shown; i < weighed->n; i++)
        shares[weighed->n_plain + weighed->entries[i]] += sp_many_share(learner, w, k, i, event);
    sp_adaptive_shape_shares(learner, event, k, sp_tempering(&learner->adaptive), shares);
    shares[sp_adaptive_n_shares(event)] = sp_many_share(learner, w, k, -1, event);
}
