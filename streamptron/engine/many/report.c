#include "many/report.h"

#include "adaptive/report.h"
#include "many/many.h"

SP_PRIVATE const char *sp_many_model_numbers_read(sp_learner *learner, const double *numbers)
{
    sp_adaptive *a = &learner->adaptive;
    const char *wrong = sp_adaptive_model_numbers_read(learner, numbers);
    if (wrong == NULL)
        sp_tree_fill(&a->many, a->w0, a->n_labels);
    return wrong;
}

SP_PRIVATE int sp_many_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t k,
                              int kind, double *shares)
{
    (void)kind; /* there is one vector */
    const sp_many_scratch *w = sp_many_scratch_of(event);
    const sp_adaptive_scratch *weighed = &w->weighed;
    for (ptrdiff_t i = 0; i < weighed->n_shown; i++)
        shares[i] = sp_many_share(learner, w, k, i, event);
    for (ptrdiff_t i = weighed->n_shown; i < weighed->n; i++)
        shares[weighed->n_plain + weighed->entries[i]] += sp_many_share(learner, w, k, i, event);
    sp_adaptive_shape_shares(learner, event, k, sp_tempering(&learner->adaptive), shares);
    shares[sp_adaptive_n_shares(learner, event)] = sp_many_share(learner, w, k, -1, event);
    return 0;
}
