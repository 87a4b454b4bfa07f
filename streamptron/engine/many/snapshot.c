#include "many/snapshot.h"

#include "adaptive/adaptive.h"
#include "features/undo.h"
#include "many/undo.h"
#include "memory/types.h"
#include "names/hash.h"
#include "names/index.h"
#include "shapes/undo.h"

#include <math.h>
#include <string.h>

SP_PRIVATE ptrdiff_t sp_snapshot_width(ptrdiff_t m)
{
    return SP_SNAPSHOT_FIRST + 2 * m;
}

SP_PRIVATE size_t sp_snapshot_column_bytes(ptrdiff_t places)
{
    return sizeof(sp_snapshot_column) + (size_t)(2 * places) * sizeof(float);
}

SP_PRIVATE ptrdiff_t sp_snapshot_columns_most(const sp_event *event)
{
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    return w->n_shown - w->n_plain + (w->sums.begins ? w->n_plain : 0);
}

SP_PRIVATE ptrdiff_t sp_snapshot_slots(const sp_event *event, uint32_t *slots)
{
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    ptrdiff_t n = event->n;
    if (slots != NULL)
        memcpy(slots, event->slots, (size_t)n * sizeof(uint32_t));
    for (ptrdiff_t i = w->n_plain; i < w->n_shown; i++) {
        if (sp_adaptive_scratch_entry(w, i) < 0) {
            if (slots != NULL)
                slots[n] = w->slots[i];
            n++;
        }
    }
    return n;
}

SP_PRIVATE void sp_snapshot_numbers(const sp_learner *learner, uint32_t *slots, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        slots[i] = sp_index_number(&learner->index, slots[i]);
}

SP_PRIVATE void sp_snapshot_find(const sp_learner *learner, uint32_t *slots, ptrdiff_t n)
{
    const sp_index *index = &learner->index;
    for (ptrdiff_t i = 0; index->bits && i < n; i++) {
        const sp_key key = sp_key_word(SP_KEY_INT, slots[i]);
        if (slots[i] >= sp_index_numbers(index))
            slots[i] = SP_SLOT_NULL;
        else if (slots[i] >= SP_SLOTS_RESERVED)
            slots[i] = sp_index_find(index, &key, sp_index_hash(index, &key));
    }
}

SP_PRIVATE ptrdiff_t sp_snapshot_outputs(const sp_event *event, ptrdiff_t *k)
{
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    for (ptrdiff_t i = 0; i < w->n_strides && k != NULL; i++) { /* there are few */
        ptrdiff_t j = i;
        for (; j > 0 && k[j - 1] > w->strides[i].k; j--)
            k[j] = k[j - 1];
        k[j] = w->strides[i].k;
    }
    return w->n_strides;
}

SP_PRIVATE void sp_snapshot_fill(const sp_learner *learner, const uint32_t *slots, ptrdiff_t n,
                                 ptrdiff_t y, const ptrdiff_t *k, ptrdiff_t m, float *kept,
                                 double *means)
{
    const sp_table *table = &learner->table;
    for (ptrdiff_t i = 0; i < n; i++, kept += sp_snapshot_width(m))
        means[i] = learner->adaptive.rows
                       ? sp_many_snapshot_read(table, slots[i], y, k, m, kept)
                       : sp_snapshot_read(sp_table_head(table, slots[i]), y, m, kept);
}

SP_PRIVATE void sp_snapshot_once_each(const sp_learner *learner, uint32_t *slots, ptrdiff_t n)
{
    double *const *heads = learner->table.blocks->chunks;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (slots[i] != SP_SLOT_NULL && sp_slot_visit(sp_head_of(heads, slots[i])))
            slots[i] = SP_SLOT_NULL;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        if (slots[i] != SP_SLOT_NULL)
            sp_slot_leave(sp_head_of(heads, slots[i]));
    }
}

/* --- Columns */

/* A hash of the name that a slot has now, since another name may get the slot; 0: hashed. */
static uint64_t sp_snapshot_name(const sp_learner *learner, sp_slot_type slot)
{
    if (learner->index.bits)
        return 0;
    sp_key key = sp_index_stored(&learner->index, slot);
    return sp_key_hash(&learner->index.seed, &key);
}

/* The first entry before `at` with the same slot, as several names may share it; otherwise `at`. */
static ptrdiff_t sp_first_of_slot(const sp_learner *learner, const sp_event *event, ptrdiff_t at,
                                  sp_slot_type slot)
{
    for (ptrdiff_t i = 0; learner->index.bits && i < SP_MIN(at, event->n); i++) {
        if (event->slots[i] == slot)
            return i;
    }
    return at;
}

/* Read a column, and the e that are kept. */
static void sp_snapshot_column_fill(const sp_learner *learner, sp_slot_type slot, ptrdiff_t y,
                                    sp_column *column, float *e)
{
    sp_blocks blocks = sp_table_blocks(&learner->table);
    if (learner->adaptive.rows)
        sp_many_column_read(&learner->table, slot, y, column, e);
    else
        sp_snapshot_column_read(&blocks, slot, column, e);
}

SP_PRIVATE ptrdiff_t sp_snapshot_places(const sp_learner *learner)
{
    return learner->adaptive.rows ? 1 : 2;
}

SP_PRIVATE size_t sp_snapshot_columns_before(const sp_learner *learner, const sp_event *event,
                                             ptrdiff_t y, uint8_t *columns)
{
    const ptrdiff_t places = sp_snapshot_places(learner);
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    size_t bytes = 0;
    ptrdiff_t absent = event->n;
    for (ptrdiff_t i = w->n_plain; i < w->n_shown; i++) {
        sp_snapshot_column *kept = (sp_snapshot_column *)(void *)(columns + bytes);
        float *e = (float *)(void *)(kept + 1);
        ptrdiff_t at = sp_adaptive_scratch_entry(w, i);
        if (at < 0) /* though a gap may share its place */
            at = absent++;
        memset(kept, 0, sp_snapshot_column_bytes(places));
        kept->at = (uint32_t)sp_first_of_slot(learner, event, at, w->slots[i]);
        kept->places = (uint32_t)places;
        kept->name = sp_snapshot_name(learner, w->slots[i]);
        sp_snapshot_column_fill(learner, w->slots[i], y, &kept->before, e);
        bytes += sp_snapshot_column_bytes(places);
    }
    return bytes;
}

/* Keep each column once, as several names of an event may share its slot. Returns how many bytes
   stay. */
static size_t sp_snapshot_columns_once_each(const sp_learner *learner, const uint32_t *slots,
                                            uint8_t *columns, size_t bytes, size_t one)
{
    double *const *heads = learner->table.blocks->chunks;
    size_t stay = 0;
    for (size_t at = 0; at < bytes; at += one) {
        const sp_snapshot_column *kept = (const sp_snapshot_column *)(const void *)(columns + at);
        if (sp_slot_visit(sp_head_of(heads, slots[kept->at])))
            continue;
        memmove(columns + stay, columns + at, one);
        stay += one;
    }
    for (size_t at = 0; at < stay; at += one) {
        const sp_snapshot_column *kept = (const sp_snapshot_column *)(const void *)(columns + at);
        sp_slot_leave(sp_head_of(heads, slots[kept->at]));
    }
    return stay;
}

SP_PRIVATE size_t sp_snapshot_columns_after(const sp_learner *learner, const sp_event *event,
                                            const uint32_t *slots, ptrdiff_t n, ptrdiff_t y,
                                            uint8_t *columns, size_t bytes)
{
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    const ptrdiff_t places = sp_snapshot_places(learner);
    size_t one = sp_snapshot_column_bytes(places);
    for (ptrdiff_t i = 0; i < w->n_begun; i++) {
        sp_snapshot_column *kept = (sp_snapshot_column *)(void *)(columns + bytes);
        ptrdiff_t at = sp_adaptive_scratch_entry(w, w->begun[i]);
        ptrdiff_t first = sp_first_of_slot(learner, event, at, event->slots[at]);
        memset(kept, 0, one);
        kept->at = (uint32_t)first;
        kept->places = (uint32_t)places;
        kept->name = sp_snapshot_name(learner, slots[kept->at]);
        bytes += one;
    }
    if (learner->index.bits)
        bytes = sp_snapshot_columns_once_each(learner, slots, columns, bytes, one);
    for (size_t at = 0; at < bytes; at += one) {
        sp_snapshot_column *kept = (sp_snapshot_column *)(void *)(columns + at);
        if ((ptrdiff_t)kept->at < n)
            sp_snapshot_column_fill(learner, slots[kept->at], y, &kept->after,
                                    (float *)(void *)(kept + 1) + places);
    }
    return bytes;
}

SP_PRIVATE void sp_snapshot_shaped_columns(const sp_learner *learner, const sp_event *event,
                                           uint32_t *columns)
{
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    const sp_heard *curves = &w->shaped.of[0];
    ptrdiff_t n = 0;
    ptrdiff_t absent = event->n;
    for (ptrdiff_t i = w->n_plain; i < w->n_shown && n < curves->n; i++) {
        ptrdiff_t at = sp_adaptive_scratch_entry(w, i);
        if (at < 0)
            at = absent++;
        if (w->slots[i] == curves->patches[n].a)
            columns[n++] = (uint32_t)sp_first_of_slot(learner, event, at, w->slots[i]);
    }
}

static bool sp_is_sound_column(const sp_column *column)
{
    return fabs(column->a) <= SP_MEAN_LIMIT && column->b >= 0.0 && column->b <= SP_COLUMN_B_MOST
           && column->n >= 0.0 && column->n <= SP_COUNT_MOST && column->since >= 0.0
           && column->since <= SP_COUNT_MOST && (column->n == 0.0 || column->since > 0.0);
}

SP_PRIVATE bool sp_snapshot_columns_are_sound(const uint8_t *columns, size_t bytes, ptrdiff_t n,
                                              bool one)
{
    size_t at = 0;
    while (at < bytes) {
        const sp_snapshot_column *kept = (const sp_snapshot_column *)(const void *)(columns + at);
        if (bytes - at < sizeof(sp_snapshot_column) || kept->places != (one ? 2u : 1u)
            || bytes - at < sp_snapshot_column_bytes(kept->places) || (ptrdiff_t)kept->at >= n
            || !sp_is_sound_column(&kept->before) || !sp_is_sound_column(&kept->after))
            return false;
        const float *e = (const float *)(const void *)(kept + 1);
        for (size_t k = 0; k < 2 * (size_t)kept->places; k++) {
            if (!(fabsf(e[k]) <= 1e36f))
                return false;
        }
        at += sp_snapshot_column_bytes(kept->places);
    }
    return true;
}

SP_PRIVATE void sp_snapshot_gaps(const sp_learner *learner, const sp_event *event, uint8_t *gaps)
{
    for (ptrdiff_t i = event->n - sp_event_gaps(event); i < event->n; i++, gaps += 8) {
        const sp_slot_type slot = event->slots[i];
        const uint64_t name = slot == SP_SLOT_NULL ? 0 : sp_snapshot_name(learner, slot);
        memcpy(gaps, &name, 8);
    }
}

SP_PRIVATE void sp_snapshot_leave(const sp_learner *learner, uint32_t *slots, ptrdiff_t first,
                                  ptrdiff_t n, const uint8_t *gaps, ptrdiff_t n_gaps,
                                  const uint8_t *columns, size_t bytes)
{
    size_t one;
    for (ptrdiff_t i = first; i < n; i++) {
        if (slots[i] >= learner->index.n_slots || slots[i] < SP_SLOTS_RESERVED)
            slots[i] = SP_SLOT_NULL;
    }
    for (ptrdiff_t i = 0; i < n_gaps; i++) {
        uint32_t *slot = &slots[first + i];
        if (*slot != SP_SLOT_NULL && sp_load8(gaps + 8 * i) != sp_snapshot_name(learner, *slot))
            *slot = SP_SLOT_NULL;
    }
    for (size_t at = 0; at < bytes; at += one) {
        const sp_snapshot_column *kept = (const sp_snapshot_column *)(const void *)(columns + at);
        one = sp_snapshot_column_bytes(kept->places);
        if ((ptrdiff_t)kept->at >= first && slots[kept->at] != SP_SLOT_NULL
            && kept->name != sp_snapshot_name(learner, slots[kept->at]))
            slots[kept->at] = SP_SLOT_NULL;
    }
}

SP_PRIVATE ptrdiff_t sp_once_b(ptrdiff_t m)
{
    return SP_ONCE_MODEL + (m ? SP_ONCE_OUTPUT * m + SP_ONCE_BAYES : 0);
}

SP_PRIVATE ptrdiff_t sp_once_width(const sp_learner *learner, ptrdiff_t m, bool many)
{
    return sp_once_b(m) + (many ? SP_ONCE_MANY : 0) + learner->adaptive.alarms.n;
}

SP_PRIVATE void sp_once_read(const sp_adaptive *a, ptrdiff_t y, const ptrdiff_t *k, ptrdiff_t m,
                             double *once)
{
    const ptrdiff_t outputs = sp_adaptive_outputs(a);
    once[0] = a->T;
    once[1] = y < sp_adaptive_places(a) ? a->D[y] : 0.0;
    once[2] = a->m;
    once[3] = a->nm;
    once[4] = a->tau;
    once[5] = a->Gtau;
    sp_drift_read(&a->drift, once + 6);
    once += SP_ONCE_MODEL;
    for (ptrdiff_t j = 0; j < m; j++, once += SP_ONCE_OUTPUT) {
        once[0] = k[j] < outputs ? a->w0[k[j]] : sp_many_begins(a);
        once[1] = k[j] < outputs ? a->G0[k[j]] : SP_MANY_G0;
    }
    if (m) {
        once[0] = a->wn;
        once[1] = a->Gn;
        once += SP_ONCE_BAYES;
    }
    if (a->rows)
        *once++ = a->many.b;
    for (ptrdiff_t i = 0; i < a->alarms.n; i++)
        once[i] = a->alarms.of[i].q;
}

/* Restore the intercept of output k. */
static void sp_undo_back_output(sp_learner *learner, ptrdiff_t k, double share,
                                const double *before, const double *after)
{
    sp_adaptive *a = &learner->adaptive;
    a->w0[k] = sp_back_number(a->w0[k], share * before[0], share * after[0]);
    a->G0[k] = sp_back_sum(a->G0[k], before[1], after[1]);
    if (a->rows)
        sp_tree_set(&learner->adaptive.many, k, a->w0[k]);
}

SP_PRIVATE void sp_once_take_back(sp_learner *learner, const sp_undo_snapshot *kept,
                                  const double *before, const double *after)
{
    sp_adaptive *a = &learner->adaptive;
    const ptrdiff_t y = kept->y;
    const bool split = kept->one && a->rows;
    const ptrdiff_t b = sp_once_b(kept->m);
    const ptrdiff_t alarms = b + (kept->one ? 0 : SP_ONCE_MANY);
    double drift[SP_DRIFT_NUMBERS];
    a->T = sp_back_sum(a->T, before[0], after[0]);
    sp_adaptive_set_count(a, y, sp_back_sum(a->D[y], before[1], after[1]));
    if (a->m == after[2] && a->nm == after[3] && (kept->one || a->many.b == after[b])) {
        a->m = before[2];
        a->nm = before[3];
        if (!kept->one)
            a->many.b = before[b];
    }
    a->tau = sp_back_number(a->tau, before[4], after[4]);
    a->tau = SP_MIN(SP_MAX(a->tau, SP_TAU_LEAST), SP_TAU_MOST);
    a->Gtau = SP_MAX(1.0, sp_back_number(a->Gtau, before[5], after[5]));
    sp_drift_read(&a->drift, drift);
    if (memcmp(drift, after + 6, sizeof drift) == 0)
        sp_drift_write(&a->drift, before + 6);
    for (ptrdiff_t i = 0; i < a->alarms.n; i++) {
        double *q = &a->alarms.of[i].q;
        *q = sp_back_number(*q, before[alarms + i], after[alarms + i]);
    }
    before += SP_ONCE_MODEL;
    after += SP_ONCE_MODEL;
    for (ptrdiff_t j = 0; j < kept->m; j++, before += SP_ONCE_OUTPUT, after += SP_ONCE_OUTPUT) {
        if (!split)
            sp_undo_back_output(learner, kept->k[j], 1.0, before, after);
        else {
            sp_undo_back_output(learner, a->positive, 0.5, before, after);
            sp_undo_back_output(learner, 1 - a->positive, -0.5, before, after);
        }
    }
    if (kept->m) {
        a->wn = sp_back_number(a->wn, before[0], after[0]);
        a->Gn = sp_back_sum(a->Gn, before[1], after[1]);
    }
}

/* What a step has changed in the slot of the i-th entry. */
static sp_change sp_snapshot_change(const sp_undo_snapshot *kept, ptrdiff_t i)
{
    const ptrdiff_t width = sp_snapshot_width(kept->m);
    sp_change change = {kept->one, kept->y, kept->m, kept->k, NULL, NULL, 0.0, 0.0};
    change.before = kept->before + i * width;
    change.after = kept->after + i * width;
    change.s_before = kept->s_before[i];
    change.s_after = kept->s_after[i];
    return change;
}

/* Room for entries in rows, if there are rows. The slots exist. */
static int sp_snapshot_reserve_rows(const sp_learner *learner, const sp_undo_snapshot *kept)
{
    size_t size;
    for (ptrdiff_t i = 0; i < kept->n; i++) {
        const sp_change change = sp_snapshot_change(kept, i);
        if (kept->slots[i] >= SP_SLOTS_RESERVED
            && sp_many_back_room(learner, kept->slots[i], &change) < 0)
            return -1;
    }
    for (size_t at = 0; at < kept->n_bytes; at += size) {
        const sp_snapshot_column *column
            = (const sp_snapshot_column *)(const void *)(kept->columns + at);
        const sp_change change = sp_snapshot_change(kept, column->at);
        size = sp_snapshot_column_bytes(column->places);
        if (kept->slots[column->at] >= SP_SLOTS_RESERVED
            && sp_many_column_room(learner, kept->slots[column->at], column, &change) < 0)
            return -1;
    }
    return 0;
}

SP_PRIVATE int sp_snapshot_reserve(sp_learner *learner, const sp_undo_snapshot *kept)
{
    const uint32_t of_heads = 0;
    const uint32_t of_columns[2] = {SP_BLOCK_COLUMNS, SP_BLOCK_E};
    sp_slot_type n_slots = learner->index.n_slots;
    size_t one;
    ptrdiff_t n = 0;
    for (size_t at = 0; at < kept->n_bytes; at += one, n++) {
        const sp_snapshot_column *column
            = (const sp_snapshot_column *)(const void *)(kept->columns + at);
        one = sp_snapshot_column_bytes(column->places);
        if (sp_table_reserve_blocks(&learner->table, kept->slots + column->at, 1, n_slots,
                                    of_columns, 2)
            < 0)
            return -1;
    }
    n += learner->adaptive.columns.n;
    if (sp_columns_room(&learner->adaptive.columns, n) < 0
        || (learner->adaptive.shapes.n_layers
            && sp_shapes_room(&learner->adaptive.shapes, n) < 0)
        || sp_table_reserve_blocks(&learner->table, kept->slots, kept->n, n_slots, &of_heads, 1)
               < 0)
        return -1;
    sp_snapshot_once_each(learner, kept->slots, kept->n);
    return learner->adaptive.rows ? sp_snapshot_reserve_rows(learner, kept) : 0;
}

SP_PRIVATE void sp_snapshot_take_back(sp_learner *learner, const sp_undo_snapshot *kept)
{
    sp_adaptive *a = &learner->adaptive;
    sp_blocks blocks = sp_table_blocks(&learner->table);
    double all = a->T + (double)sp_adaptive_places(a);
    size_t size;
    for (ptrdiff_t i = 0; i < kept->n; i++) {
        const sp_change change = sp_snapshot_change(kept, i);
        if (kept->slots[i] < SP_SLOTS_RESERVED)
            continue;
        if (a->rows)
            sp_many_take_back(learner, kept->slots[i], &change);
        else
            sp_take_back(&blocks, kept->slots[i], kept->y, kept->m, change.before, change.after,
                         change.s_before, change.s_after, all, a->rD);
    }
    for (size_t at = 0; at < kept->n_bytes; at += size) {
        const sp_snapshot_column *column
            = (const sp_snapshot_column *)(const void *)(kept->columns + at);
        const sp_change change = sp_snapshot_change(kept, column->at);
        sp_slot_type slot = kept->slots[column->at];
        size = sp_snapshot_column_bytes(column->places);
        kept->slots[column->at] = SP_SLOT_NULL;
        if (slot < SP_SLOTS_RESERVED)
            continue;
        float om = change.before[SP_SNAPSHOT_OM];
        if (a->rows)
            sp_many_take_back_column(learner, slot, column, &change, om);
        else
            sp_take_back_column(&blocks, slot, column, om, all, a->rD);
        if (sp_column_of(&blocks, slot)->n > 0.0)
            sp_columns_add(&a->columns, slot);
    }
    sp_columns_sift(&a->columns, &blocks);
    sp_adaptive_settle(a, &learner->index, NULL, sp_index_ceiling(&learner->index));
}

SP_PRIVATE int sp_snapshot_reserve_shapes(sp_learner *learner, sp_event *event)
{
    sp_adaptive *a = &learner->adaptive;
    if (a->rows && sp_shapes_lanes(&a->shapes, a->n_labels) < 0)
        return -1;
    return sp_shaped_lanes(&a->shapes, &sp_adaptive_scratch_of(event)->shaped);
}

SP_PRIVATE void sp_snapshot_take_back_shapes(sp_learner *learner, const sp_undo_snapshot *kept,
                                             sp_event *event, uint8_t *shapes)
{
    sp_adaptive *a = &learner->adaptive;
    const sp_unshaping of = {
        .one = kept->one,
        .positive = a->positive,
        .y = kept->y,
        .n_labels = sp_adaptive_places(a),
        .T = a->T,
        .D = a->D,
        .slots = kept->slots,
    };
    sp_shapes_take_back(&a->shapes, &of, &sp_adaptive_scratch_of(event)->shaped, shapes);
}

SP_PRIVATE bool sp_snapshot_is_sound(const float *numbers, ptrdiff_t n, ptrdiff_t m)
{
    ptrdiff_t width = sp_snapshot_width(m);
    const float *row;
    for (ptrdiff_t i = 0; i < n; i++) {
        row = numbers + i * width;
        for (ptrdiff_t j = 0; j < width; j++) {
            if (!(fabs(row[j]) <= 1e36))
                return false;
        }
        if (!(0.0 <= row[0] && row[0] <= 2097152.0 && (row[1] == 0.0 || row[1] >= 0.125)))
            return false;
        for (ptrdiff_t j = SP_SNAPSHOT_FIRST + 1; j < width; j += 2) {
            if (row[j] < 0.0)
                return false;
        }
    }
    return true;
}
