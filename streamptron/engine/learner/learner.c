#include "learner/learner.h"

enum {
    SP_NEW_AT_ONCE = 64, /* entries that are examined together */
};

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

/* Find which of some entries have no slot, and how many. Without a branch, so that several are
   examined at once. */
static int sp_new_entries(const sp_slot_type *slots, ptrdiff_t n, uint8_t *which)
{
    int n_new = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        which[n_new] = (uint8_t)i;
        n_new += slots[i] == SP_SLOT_NULL;
    }
    return n_new;
}

SP_PRIVATE int sp_learner_insert(sp_learner *learner, sp_event *event, ptrdiff_t first,
                                 ptrdiff_t last, bool *ticked)
{
    if (sp_index_is_limited(&learner->index))
        return sp_ceiling_insert(&learner->ceiling, &learner->index, &learner->table, event, first,
                                 last, ticked);
    for (; first < last; first += SP_NEW_AT_ONCE) {
        uint8_t which[SP_NEW_AT_ONCE];
        const ptrdiff_t some = SP_MIN(last - first, (ptrdiff_t)SP_NEW_AT_ONCE);
        const int n = sp_new_entries(event->slots + first, some, which);
        for (int k = 0; k < n; k++) {
            const ptrdiff_t i = first + which[k];
            /* or the slot that it got a moment ago, as the event may name a feature twice */
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
    sp_index_point mark = sp_index_savepoint(&learner->index);
    bool ticked = false;
    if (sp_learner_insert(learner, event, 0, event->n, &ticked) == 0
        && sp_table_reserve_all(&learner->table, learner->index.n_slots, &nothing, 1) == 0)
        return 0;
    sp_index_rewind(&learner->index, &mark);
    event->n_found = 0;
    return -1;
}
