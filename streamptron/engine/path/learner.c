#include "path/learner.h"

static void sp_resolve(sp_learner *learner, sp_event *event, ptrdiff_t n, bool hashed)
{
    ptrdiff_t k = event->n_found;
    sp_index_find_all(&learner->index, event->keys + k, n - k, event->hashes + k, event->starts + k,
                      event->slots + k, hashed);
    event->n_found = n;
}

SP_API void sp_learner_resolve(sp_learner *learner, sp_event *event)
{
    if (event->n_found < event->n_hashed)
        sp_resolve(learner, event, event->n_hashed, true);
    if (event->n_found < event->n)
        sp_resolve(learner, event, event->n, false);
}

SP_PRIVATE int sp_learner_insert(sp_learner *learner, sp_event *event, ptrdiff_t first,
                                 ptrdiff_t last, bool *ticked)
{
    if (sp_index_is_limited(&learner->index))
        return sp_ceiling_insert(&learner->ceiling, &learner->index, &learner->table, event, first,
                                 last, ticked);
    for (ptrdiff_t i = first; i < last; i++) {
        if (event->slots[i] == SP_SLOT_NULL) {
            /* or the slot that it got before, for the event may name a feature twice */
            event->slots[i] = sp_index_insert(&learner->index, &event->keys[i], event->hashes[i]);
            if (event->slots[i] == SP_SLOT_NULL)
                return -1;
        }
    }
    return 0;
}

SP_API int sp_learner_open(sp_learner *learner, sp_event *event)
{
    const sp_wanted nothing = {NULL, 0, NULL, 0};
    sp_index_point mark = sp_index_mark(&learner->index);
    bool ticked = false;
    if (sp_learner_insert(learner, event, 0, event->n, &ticked) == 0
        && sp_table_reserve_all(&learner->table, learner->index.n_slots, &nothing, 1) == 0)
        return 0;
    sp_index_rewind(&learner->index, &mark);
    event->n_found = 0;
    return -1;
}
