#include "learner/alarms.h"

#include "memory/heap.h"

#include <math.h>
#include <string.h>

SP_RARE SP_API int sp_alarms_begin(sp_alarms *alarms, ptrdiff_t n)
{
    alarms->n = 0;
    alarms->of = n ? (sp_alarm *)sp_calloc((size_t)n, sizeof(sp_alarm)) : NULL;
    if (n && alarms->of == NULL)
        return -1;
    alarms->n = n;
    for (ptrdiff_t i = 0; i < n; i++)
        alarms->of[i].label = -1;
    return 0;
}

SP_PRIVATE void sp_alarms_free(sp_alarms *alarms)
{
    sp_free(alarms->of);
    alarms->of = NULL;
    alarms->n = 0;
}

SP_PRIVATE int sp_alarms_copy(sp_alarms *to, const sp_alarms *other)
{
    if (sp_alarms_begin(to, other->n) < 0)
        return -1;
    if (other->n)
        memcpy(to->of, other->of, (size_t)other->n * sizeof(sp_alarm));
    return 0;
}

SP_RARE SP_API void sp_alarms_bind(sp_alarms *alarms, ptrdiff_t i, ptrdiff_t k)
{
    sp_alarm *former = sp_alarms_find(alarms, k);
    if (former != NULL)
        former->label = -1;
    if (i >= 0)
        alarms->of[i].label = k;
}

SP_PRIVATE double sp_alarms_of_two(const sp_alarms *alarms, int positive, uint64_t n_seen)
{
    const sp_alarm *yes = sp_alarms_find(alarms, positive);
    const sp_alarm *no = sp_alarms_find(alarms, 1 - positive);
    return (yes == NULL ? 0.0 : sp_alarm_bar(yes, n_seen))
           - (no == NULL ? 0.0 : sp_alarm_bar(no, n_seen));
}

SP_PRIVATE void sp_alarms_learn(sp_alarms *alarms, ptrdiff_t n_labels, ptrdiff_t best, ptrdiff_t y)
{
    for (ptrdiff_t i = 0; i < alarms->n && n_labels > 1; i++) {
        sp_alarm *alarm = &alarms->of[i];
        if (0 <= alarm->label && alarm->label < n_labels && alarm->label != y)
            alarm->q += 0.5 * ((alarm->label == best ? 1.0 : 0.0) - alarm->rate);
    }
}

SP_RARE SP_PRIVATE ptrdiff_t sp_alarms_read(const sp_alarms *alarms, ptrdiff_t k, double *q)
{
    const sp_alarm *alarm = sp_alarms_find(alarms, k);
    if (alarms->n)
        *q = alarm == NULL ? 0.0 : alarm->q;
    return sp_alarms_width(alarms);
}

SP_RARE SP_PRIVATE bool sp_alarms_write(sp_alarms *alarms, ptrdiff_t k, const double *q)
{
    sp_alarm *alarm = sp_alarms_find(alarms, k);
    if (alarm != NULL)
        alarm->q = *q;
    return alarms->n == 0 || fabs(*q) <= (alarm == NULL ? 0.0 : SP_VALUE_LIMIT);
}
