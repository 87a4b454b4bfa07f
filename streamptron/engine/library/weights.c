#include "library/answer.h"
#include "library/shown.h"

#include "memory/heap.h"
#include "names/rising.h"
#include "path/path.h"
#include "table/arrays.h"

#include <math.h>
#include <string.h>

/* A feature that may have one of the largest weights. */
typedef struct sp_heavy {
    double weight;
    sp_slot_type slot;
} sp_heavy;

/* Put a feature among the `most` largest so far, in falling order; of equal ones the last comes
   first. Returns how many there are. */
static size_t sp_heavy_put(sp_heavy *heavy, size_t n, size_t most, double weight,
                           sp_slot_type slot)
{
    size_t first = 0, last = n;
    if (n == most && weight < heavy[n - 1].weight)
        return n;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (heavy[middle].weight > weight)
            first = middle + 1;
        else
            last = middle;
    }
    n += n < most;
    memmove(heavy + first + 1, heavy + first, (n - 1 - first) * sizeof(sp_heavy));
    heavy[first].weight = weight;
    heavy[first].slot = slot;
    return n;
}

/* The kept weights that are best overall. */
static int sp_kind_overall(const sp_learner *learner)
{
    return sp_learner_can(learner, SP_CAN_VOTE) ? SP_KEPT_CURRENT
                                                : sp_serve_overall(&learner->serve);
}

/* Go through all weights of an output. Of equal ones the last feature comes first, or the first one
   (`backwards`). Returns how many were found; -1: a weight is not finite. */
static ptrdiff_t sp_heavy_find(const sp_learner *learner, const sp_slot_type *rising,
                               ptrdiff_t output, double sign, bool backwards, size_t most,
                               sp_heavy *heavy)
{
    int kind = sp_kind_overall(learner);
    size_t n = 0;
    ptrdiff_t first = SP_SLOTS_RESERVED, last = (ptrdiff_t)learner->index.n_slots - 1;
    for (ptrdiff_t i = 0; i <= last - first && most > 0; i++) {
        sp_slot_type slot = rising[backwards ? last - i : first + i];
        double weight = sign * sp_learner_weight(learner, sp_index_place(&learner->index, slot),
                                                 output, kind);
        if (!isfinite(weight))
            return -1;
        if (weight > 0.0)
            n = sp_heavy_put(heavy, n, most, weight, slot);
    }
    return (ptrdiff_t)n;
}

/* List them with their names. False: a name is invalid. */
static bool sp_heavy_list(const spt_model *model, spt_event *event, const sp_heavy *heavy,
                          size_t n, double sign, spt_part *parts)
{
    const sp_index *index = &model->contents.learner.index;
    for (size_t i = 0; i < n; i++) {
        sp_key key = index->bits
                         ? sp_key_word(SP_KEY_INT, sp_index_number(index, heavy[i].slot)
                                                   - SP_SLOTS_RESERVED)
                         : sp_index_stored(index, heavy[i].slot);
        size_t at = event->shown.n;
        /* names in a file have not been checked */
        if (index->lookup != NULL && !sp_is_stored_key(&key, model->contents.n_objects))
            return false;
        sp_key_show(&key, &model->contents, &event->shown);
        parts[i].name = (const char *)(uintptr_t)(at + 1);
        parts[i].n = event->shown.n - at;
        parts[i].share = sign * heavy[i].weight;
    }
    return true;
}

SPT_API int spt_top_features(const spt_model *model, spt_event *event, size_t label,
                             spt_part *parts, size_t most, size_t *n, spt_error *error)
{
    const sp_learner *learner = &model->contents.learner;
    double sign;
    n[0] = n[1] = 0;
    if (!sp_ranks(model) && label >= spt_labels(model))
        return sp_say(error, SPT_ARGUMENT, "label is not the number of one of the labels");
    if (sp_learner_can(learner, SP_CAN_VOTE) && learner->voters.degree > 1)
        return sp_say(error, SPT_ARGUMENT,
                      "a kernel has no weights; its vectors are sums over events. Use "
                      "predictions only, or take degree=1");
    ptrdiff_t output = sp_ranks(model) ? 0 : sp_output_of(learner, label, &sign);
    sign = sp_ranks(model) ? 1.0 : sign;
    sp_slot_type *rising = sp_index_rising(&learner->index);
    sp_heavy *heavy = (sp_heavy *)sp_calloc(most + 1, sizeof(sp_heavy));
    int failed = rising == NULL || heavy == NULL ? sp_say_memory(error) : SPT_OK;
    event->shown.n = 0;
    for (int side = 0; side < 2 && !failed; side++) {
        double its = side ? -1.0 : 1.0;
        ptrdiff_t found = sp_heavy_find(learner, rising, output, its * sign, side, most,
                                        heavy);
        if (found < 0)
            failed = sp_say_damaged(error, model, "a weight is not finite");
        else if (!sp_heavy_list(model, event, heavy, (size_t)found, its, parts + n[0]))
            failed = sp_say_damaged(error, model, "a feature name is invalid");
        else
            n[side] = (size_t)found;
    }
    sp_free(rising);
    sp_free(heavy);
    return failed ? failed : sp_parts_named(event, parts, n[0] + n[1], error);
}

SPT_API const char *spt_serving(const spt_model *model, const spt_event *event)
{
    static const char *const names[] = {"current", "average", "pocket"};
    const sp_learner *learner = &model->contents.learner;
    if (sp_learner_can(learner, SP_CAN_VOTE))
        return "vote";
    return names[event == NULL ? sp_kind_overall(learner) : event->kind];
}
