#include "exchange/sound.h"

#include "machine/machine.h"

#include <math.h>

#define SP_CLOCK_MOST 0x1p65 /* one more than events can be counted */

/* Whether a scale is one that learning keeps: with any other, the next event might make a number
   infinite or NaN. */
static bool sp_scale_is_sound(const sp_scale *scale)
{
    return isfinite(scale->m) && isfinite(scale->n) && scale->n >= 0.0;
}

static bool sp_fit_is_sound(const sp_calibrator *fit)
{
    return 0.0 <= fit->A && fit->A <= 65.0 && fabs(fit->B) <= 17.0 && fit->GA > 0.0
           && fit->GB > 0.0 && isfinite(fit->GA) && isfinite(fit->GB) && isfinite(fit->RA)
           && isfinite(fit->RB);
}

SP_API const char *sp_counts_fault(const sp_learner *learner)
{
    const sp_table *table = &learner->table;
    const sp_serve *serve = &learner->serve;
    bool good = true;
    if (table->fold > 0 && table->average != SP_AVERAGE_EXPONENTIAL)
        return "the averages' clock is invalid";
    if (!(table->c >= 1.0 && table->s > 0.0 && table->epoch >= 1.0 && table->c <= SP_CLOCK_MOST
          && table->s <= 1.0 && table->epoch <= SP_CLOCK_MOST))
        return "the averages' clock is invalid";
    for (int k = 0; k < SP_KEPT_KINDS; k++)
        good &= sp_scale_is_sound(&serve->scale[k]) && sp_fit_is_sound(&learner->fits[k]);
    for (int k = 0; k < 2; k++)
        good &= isfinite(serve->T[k][0]) && isfinite(serve->T[k][1]) && isfinite(serve->G[k])
                && 0 <= serve->lead[k] && serve->lead[k] <= 1;
    return good ? NULL : "the record of which vector answers is invalid";
}

SP_PRIVATE const char *sp_learner_unsound(const sp_learner *learner, bool sound)
{
    const char *wrong = sp_counts_fault(learner);
    if (wrong != NULL)
        return wrong;
    if (!sound
        && (!sp_table_is_sound(&learner->table)
            || sp_machine_slots_fault(learner, learner->index.n_slots)))
        return "a feature has a number that learning cannot have made";
    return sp_machine_fault(learner);
}
