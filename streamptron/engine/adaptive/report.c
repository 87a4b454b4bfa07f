#include "adaptive/report.h"

#include "adaptive/adaptive.h"
#include "events/pairs.h"
#include "memory/compiler.h"

#include <math.h>

/* T, m, nm; for each label D, w0, G0, with two labels also wn, Gn, and with false_positive_rate q;
   then tau and its sum of squares, with more labels also wn, Gn, b. */
enum {
    SP_ONCE_NUMBERS = 3,
    SP_ONCE_OF_LABEL = 3,
    SP_ONCE_OF_TWO = 5,
    SP_ONCE_BEHIND = 2,
    SP_ONCE_BEHIND_MORE = 5,
};

SP_PRIVATE sp_model_numbers sp_adaptive_model_numbers(const sp_learner *learner)
{
    const sp_adaptive *a = &learner->adaptive;
    const ptrdiff_t width = a->rows ? SP_ONCE_OF_LABEL : SP_ONCE_OF_TWO;
    return (sp_model_numbers){
        .name = a->rows ? "many" : "adaptive",
        .n = SP_ONCE_NUMBERS,
        .n_rows = sp_adaptive_places(a),
        .width = width + sp_alarms_width(&a->alarms),
        .n_behind = a->rows ? SP_ONCE_BEHIND_MORE : SP_ONCE_BEHIND,
        .n_more = a->watches ? SP_DRIFT_NUMBERS : 0,
        .n_lists = a->watches,
    };
}

SP_PRIVATE void sp_adaptive_model_numbers_write(const sp_learner *learner, double *numbers)
{
    const sp_adaptive *a = &learner->adaptive;
    *numbers++ = a->T;
    *numbers++ = a->m;
    *numbers++ = a->nm;
    for (ptrdiff_t k = 0, end = sp_adaptive_places(a); k < end; k++) {
        *numbers++ = a->D[k];
        *numbers++ = a->w0[k];
        *numbers++ = a->G0[k];
        if (!a->rows) {
            *numbers++ = k == 0 ? a->wn : 0.0;
            *numbers++ = k == 0 ? a->Gn : 0.0;
        }
        numbers += sp_alarms_read(&a->alarms, k, numbers);
    }
    *numbers++ = a->tau;
    *numbers++ = a->Gtau;
    if (a->rows) {
        *numbers++ = a->wn;
        *numbers++ = a->Gn;
        *numbers++ = a->many.b;
    }
    if (a->watches)
        sp_drift_read(&a->drift, numbers);
}

/* Read what is kept for a label; false: it is invalid. */
static bool sp_adaptive_label_read(sp_adaptive *a, ptrdiff_t k, const double *numbers)
{
    const ptrdiff_t width = a->rows ? SP_ONCE_OF_LABEL : SP_ONCE_OF_TWO;
    if (!(sp_is_within(numbers[0], 0.0) && sp_is_within(numbers[1], -SP_VALUE_LIMIT)
          && sp_is_within(numbers[2], 0.0)
          && (a->rows
              || (sp_is_within(numbers[3], -SP_VALUE_LIMIT) && sp_is_within(numbers[4], 0.0)))
          && sp_alarms_write(&a->alarms, k, numbers + width)))
        return false;
    sp_adaptive_set_count(a, k, numbers[0]);
    a->w0[k] = numbers[1];
    a->G0[k] = numbers[2];
    if (!a->rows && k == 0) {
        a->wn = numbers[3];
        a->Gn = numbers[4];
    }
    return true;
}

SP_PRIVATE const char *sp_adaptive_model_numbers_read(sp_learner *learner, const double *numbers)
{
    const sp_model_numbers once = sp_adaptive_model_numbers(learner);
    sp_adaptive *a = &learner->adaptive;
    a->T = *numbers++;
    a->m = *numbers++;
    a->nm = *numbers++;
    for (ptrdiff_t k = 0; k < once.n_rows; k++, numbers += once.width) {
        if (!sp_adaptive_label_read(a, k, numbers))
            return "what is kept for a label is invalid";
    }
    a->tau = *numbers++;
    a->Gtau = *numbers++;
    if (a->rows) {
        a->wn = *numbers++;
        a->Gn = *numbers++;
        a->many.b = *numbers++;
    }
    if (!sp_once_is_sound(a) || (a->rows && !sp_is_within(a->many.b, -SP_VALUE_LIMIT)))
        return "what is kept of all events is invalid";
    if (a->watches && !sp_drift_is_sound(numbers))
        return "what is kept of recent answers is invalid";
    if (a->watches)
        sp_drift_write(&a->drift, numbers);
    return NULL;
}

/* The place of a column among the parts; it is at `from` or behind it. */
static ptrdiff_t sp_column_stands(const sp_adaptive_scratch *w, sp_slot_type slot, ptrdiff_t from)
{
    while (w->slots[from] != slot)
        from++;
    return from;
}

SP_PRIVATE void sp_adaptive_shape_shares(const sp_learner *learner, const sp_event *event,
                                         ptrdiff_t output, double scale, double *shares)
{
    const sp_shapes *shapes = &learner->adaptive.shapes;
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    const sp_shaping of = sp_adaptive_shaping(&learner->adaptive);
    ptrdiff_t at = w->n_plain;
    if (!w->shaped.has)
        return;
    for (ptrdiff_t i = 0; i < w->shaped.of[0].n; i++) {
        at = sp_column_stands(w, w->shaped.of[0].patches[i].a, at);
        shares[at] += sp_patch_share(shapes, &of, &w->shaped, 0, i, output) * scale;
    }
    for (ptrdiff_t i = 0; i < w->shaped.of[1].n; i++)
        shares[w->n_shown + i] = sp_patch_share(shapes, &of, &w->shaped, 1, i, output) * scale;
}

SP_PRIVATE int sp_adaptive_shares(const sp_learner *learner, const sp_event *event,
                                  ptrdiff_t output, int kind, double *shares)
{
    (void)output; /* there is one output, */
    (void)kind;   /* and one vector */
    const sp_adaptive *a = &learner->adaptive;
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    for (ptrdiff_t i = 0; i < w->n_shown; i++)
        shares[i] = sp_adaptive_share(a, &learner->table, w, i, event);
    for (ptrdiff_t i = w->n_shown; i < w->n; i++)
        shares[w->n_plain + w->entries[i]] +=
            sp_adaptive_share(a, &learner->table, w, i, event);
    sp_adaptive_shape_shares(learner, event, 0, sp_tempering(a) / (1.0 + 2.0 * w->unknown),
                             shares);
    shares[sp_adaptive_n_shares(learner, event)]
        = sp_adaptive_share(a, &learner->table, w, -1, event);
    return 0;
}

SP_PRIVATE sp_share sp_adaptive_share_at(const sp_learner *learner, const sp_event *event,
                                         ptrdiff_t i)
{
    (void)learner;
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    sp_share part = {.entry = -1, .other_entry = -1, .other = SP_SLOT_NULL};
    if (i < w->n_shown) {
        part.entry = sp_adaptive_scratch_entry(w, i);
        part.slot = sp_adaptive_scratch_slots(w, event)[i];
        return part;
    }
    const sp_patch *patch = &w->shaped.of[1].patches[i - w->n_shown];
    const ptrdiff_t a = sp_column_stands(w, patch->a, w->n_plain);
    const ptrdiff_t b = sp_column_stands(w, patch->b, a);
    part.slot = patch->a;
    part.other = patch->b;
    part.entry = sp_adaptive_scratch_entry(w, a);
    part.other_entry = sp_adaptive_scratch_entry(w, b);
    return part;
}

/* Find the name of an entry, or of a column that the event lacks. False: it is not known. */
static bool sp_share_name_key(const sp_learner *learner, const sp_event *event, ptrdiff_t entry,
                              sp_slot_type slot, sp_key *key)
{
    if (entry < 0 && learner->index.bits)
        return false;
    *key = entry < 0 ? sp_index_stored(&learner->index, slot) : event->keys[entry];
    return true;
}

SP_PRIVATE int sp_adaptive_share_key(const sp_learner *learner, const sp_event *event, ptrdiff_t i,
                                     sp_key *key)
{
    const sp_share part = sp_adaptive_share_at(learner, event, i);
    sp_key both[2];
    if (!sp_share_name_key(learner, event, part.entry, part.slot, key))
        return 0;
    if (part.other == SP_SLOT_NULL)
        return 1;
    both[0] = *key;
    if (!sp_share_name_key(learner, event, part.other_entry, part.other, &both[1])
        || sp_key_kind(&both[0]) == SP_KEY_OBJECT || sp_key_kind(&both[1]) == SP_KEY_OBJECT)
        return 0;
    return sp_pair_named(&sp_adaptive_scratch_of(event)->names, both, key) < 0 ? -1 : 1;
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
