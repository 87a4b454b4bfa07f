#include "path/batch.h"

#include "events/candidates.h"
#include "events/pairs.h"
#include "memory/grow.h"
#include "memory/heap.h"
#include "names/hash.h"
#include "names/index.h"
#include "multilabel/targets.h"
#include "table/table.h"

#include <string.h>

SP_API void sp_batch_matrix(sp_batch *batch, sp_learner *learner, sp_event *event,
                            const sp_matrix *matrix)
{
    memset(batch, 0, sizeof(sp_batch));
    batch->learner = learner;
    batch->event = event;
    batch->matrix = matrix;
    batch->n_rows = matrix->n_rows;
    batch->block_rows =
        1 + matrix->n_rows * SP_BLOCK_VALUES / (matrix->n_values + matrix->n_rows + 1);
}

SP_API void sp_batch_texts(sp_batch *batch, sp_learner *learner, sp_event *event,
                           const sp_text_rule *rule, const sp_piece *prefixes, int n_pieces,
                           const sp_piece *pieces, ptrdiff_t n_rows)
{
    memset(batch, 0, sizeof(sp_batch));
    batch->learner = learner;
    batch->event = event;
    batch->rule = rule;
    batch->prefixes = prefixes;
    batch->n_pieces = n_pieces;
    batch->pieces = pieces;
    batch->n_rows = n_rows;
    batch->block_rows = SP_BLOCK_TEXTS;
}

SP_API void sp_batch_free(sp_batch *batch)
{
    sp_free(batch->places);
    sp_free(batch->lacking);
    sp_matrix_scratch_free(&batch->scratch);
    sp_text_free(&batch->text);
}

SP_API ptrdiff_t sp_batch_next(const sp_batch *batch, ptrdiff_t first)
{
    ptrdiff_t last = SP_MIN(batch->n_rows, first + batch->block_rows);
    if (batch->ends == NULL)
        return last;
    ptrdiff_t row = batch->order == NULL ? last - 1 : batch->order[last - 1];
    return SP_MIN(batch->n_rows, last + batch->ends[row] - 1 - row); /* the rest of its query */
}

/* Find the slot of each column, if it pays; not if features are paired. -1 if out of memory.

   `columns`: the keys of named columns. Ints are found without hashing if the index has a list of
   slots by column. Learning makes this list, unless the matrix is very wide and has few values.
   Learning with a ceiling or a budget leaves the slots unknown. A hashed index gives all columns
   slots before it learns, as two of them may share one; if the matrix is very wide, it leaves them
   unknown, too. */
static int sp_find_slots(sp_batch *batch, bool named, bool learning, sp_event *columns)
{
    sp_index *index = &batch->learner->index;
    const sp_matrix *m = batch->matrix;
    sp_writer writer;
    if (batch->ends != NULL || batch->learner->pairs != NULL
        || (learning && (sp_index_is_limited(index) || batch->learner->voters.budget))
        || (learning && index->bits && m->n_values / 2 < m->n_columns)) {
        batch->keys = named ? columns->keys : NULL;
        return 0;
    }
    if (!named) {
        if (learning && m->n_columns <= SP_COLUMNS_MOST
            && (m->n_columns <= SP_COLUMNS_FEW || m->n_values >= m->n_columns / 4)) {
            if (sp_index_open_columns(index, (size_t)m->n_columns) < 0)
                return -1;
        }
        if ((size_t)m->n_columns <= index->n_columns) {
            batch->slots = index->columns;
            return 0;
        }
        if (m->n_values / 2 < m->n_columns || m->n_columns > (ptrdiff_t)1 << 31)
            return 0;
        if (sp_event_begin(columns, index, m->n_columns, false) < 0)
            return -1;
        writer = sp_event_writer(columns);
        for (ptrdiff_t j = 0, end = m->n_columns; j < end; j++)
            sp_writer_add(&writer, sp_key_word(SP_KEY_INT, (uint64_t)j), 1.0);
        sp_event_end(columns, &writer);
    }
    sp_learner_resolve(batch->learner, columns);
    if (learning && index->bits && sp_learner_open(batch->learner, columns) < 0)
        return -1;
    batch->slots = columns->slots;
    batch->keys = columns->keys;
    return 0;
}

static int sp_forget_places(sp_batch *batch)
{
    sp_free(batch->places);
    batch->places = NULL;
    return 0;
}

/* Find the places of the columns' slots, once these are known, if it pays. -1 if out of memory.

   In hashed mode a step may make the chunk of any column's slot, so learning looks them up each
   time. */
static int sp_find_places(sp_batch *batch)
{
    const sp_matrix *m = batch->matrix;
    const sp_slot_type *slots = batch->slots;
    const sp_table *table = &batch->learner->table;
    if (slots == NULL || !sp_learner_can(batch->learner, SP_CAN_ROWS)
        || m->n_columns > SP_PLACE_MOST || m->n_values / SP_PLACE_LEAST < m->n_columns
        || !sp_table_has_places(table) || (batch->y != NULL && batch->learner->index.bits))
        return 0;
    batch->places = (int32_t *)sp_calloc((size_t)(m->n_columns + 1), sizeof(int32_t));
    if (batch->places == NULL)
        return -1;
    if (batch->learner->index.n_slots > SP_SLOTS_RESERVED) {
        if (!sp_table_can_write(table, SP_SLOT_INTERCEPT))
            return sp_forget_places(batch);
        for (ptrdiff_t j = 0, end = m->n_columns; j < end; j++) {
            if (!sp_table_place(table, slots[j], &batch->places[j]))
                return sp_forget_places(batch);
        }
    }
    return 0;
}

SP_API int sp_batch_columns(sp_batch *batch, bool named, bool learning, sp_event *columns)
{
    if (sp_find_slots(batch, named, learning, columns) < 0)
        return -1;
    return sp_find_places(batch);
}

/* Write a row as entries with keys. */
static void sp_add_keys(const sp_batch *batch, ptrdiff_t r, sp_writer *writer)
{
    const sp_matrix *m = batch->matrix;
    ptrdiff_t first, last;
    sp_matrix_span(m, r, &first, &last);
    for (ptrdiff_t k = first; k < last; k++) {
        double value = sp_matrix_value(m, r, k);
        if (value != 0.0) {
            uint64_t column = m->dense ? (uint64_t)k : (uint64_t)sp_matrix_column(m, k);
            sp_writer_add(
                writer, batch->keys == NULL ? sp_key_word(SP_KEY_INT, column) : batch->keys[column],
                value);
        }
    }
}

/* Write a row as an event with keys. */
static int sp_write_keys(sp_batch *batch, ptrdiff_t r)
{
    ptrdiff_t first, last;
    sp_matrix_span(batch->matrix, r, &first, &last);
    if (sp_event_begin(batch->event, &batch->learner->index, last - first,
                       batch->learner->intercept)
        < 0)
        return -1;
    sp_writer writer = sp_event_writer(batch->event);
    sp_add_keys(batch, r, &writer);
    sp_event_end(batch->event, &writer);
    return 0;
}

/* Write the query that starts at a row, as candidates. -1 if out of memory. */
static int sp_write_query(sp_batch *batch, ptrdiff_t r)
{
    sp_event *query = batch->query;
    ptrdiff_t first, last;
    ptrdiff_t n = 0;
    ptrdiff_t end = batch->ends[r];
    batch->first = r;
    for (ptrdiff_t i = r; i < end; i++) {
        sp_matrix_span(batch->matrix, i, &first, &last);
        n += last - first;
    }
    if (sp_event_candidates(query, end - r) < 0
        || sp_event_begin(query, &batch->learner->index, n, false) < 0)
        return -1;
    sp_writer writer = sp_event_writer(query);
    for (ptrdiff_t i = r; i < end; i++) {
        sp_add_keys(batch, i, &writer);
        sp_event_candidate_end(query, i - r, &writer);
    }
    sp_event_end(query, &writer);
    return 0;
}

/* Write a row and the rows of higher grade in its query as an event. Returns how many; *y: which of
   them is the row.

   -1 if out of memory. */
static ptrdiff_t sp_take_betters(sp_batch *batch, ptrdiff_t r, ptrdiff_t *y)
{
    sp_event *event = batch->event;
    sp_event *query = batch->query;
    ptrdiff_t n = 0;
    sp_learner_resolve(batch->learner, query);
    if (sp_event_candidates(event, query->n_candidates) < 0
        || sp_event_begin(event, &batch->learner->index, query->n, false) < 0)
        return -1;
    for (ptrdiff_t i = 0, end = query->n_candidates; i < end; i++) {
        if (batch->first + i == r)
            *y = n;
        else if (batch->y[batch->first + i] <= batch->y[r])
            continue;
        sp_event_take_reversed(event, n, query, i);
        n++;
    }
    event->paired = query->paired; /* its entries include its pairs */
    event->n_given = 0;
    return n;
}

/* Judge each vector by the scores that it gave before the query was learned. */
static void sp_judge_first_answers(sp_batch *batch, ptrdiff_t r)
{
    sp_event *event = batch->event;
    const sp_event *query = batch->query;
    ptrdiff_t n = 0;
    for (ptrdiff_t i = 0, end = query->n_candidates; i < end; i++) {
        if (batch->first + i == r || batch->y[batch->first + i] > batch->y[r]) {
            for (ptrdiff_t kind = 0; kind < SP_KEPT_KINDS; kind++)
                event->scores[kind * event->n_scores + n] =
                    -query->scores[kind * query->n_scores + i];
            n++;
        }
    }
    event->judged = 0;
    sp_learner_judge(batch->learner, event);
}

/* The same as sp_row, for rows that are candidates; a query is predicted at its first row. */
static int sp_candidate(sp_batch *batch, ptrdiff_t r)
{
    sp_learner *learner = batch->learner;
    sp_event *event = batch->event;
    sp_event *query = batch->query;
    ptrdiff_t y = 0;
    const double *scores;
    if (r == 0 || batch->ends[r - 1] == r) {
        if (sp_write_query(batch, r) < 0 || sp_learner_score(learner, query) < 0) {
            event->unfit = query->unfit;
            event->unfit_candidate = query->unfit_candidate;
            event->n_pairs = query->n_pairs;
            event->most_pairs = query->most_pairs;
            return -1;
        }
    }
    if (batch->y == NULL) {
        if (batch->first == r) {
            scores = sp_learner_decision(query, sp_learner_answer(learner, query).kind);
            for (ptrdiff_t i = 0; i < query->n_candidates; i++)
                batch->decisions[r + i] = scores[i];
        }
        return 0;
    }
    ptrdiff_t n = sp_take_betters(batch, r, &y);
    if (n < 2)
        return n < 0 ? -1 : 0;
    if (sp_learner_score(learner, event) < 0
        || sp_learner_plan(learner, event, NULL, false, y,
                           batch->steps == NULL ? 1.0 : batch->steps[r])
               < 0)
        return -1;
    sp_judge_first_answers(batch, r);
    if (sp_learner_commit(learner, event, y, batch->steps == NULL ? 1.0 : batch->steps[r]) < 0)
        return -1;
    if (event->step.n)
        query->n_found = 0; /* features may have got slots */
    return 0;
}

/* Write the name of an entry that will get a slot. */
static void sp_write_name(sp_batch *batch, uint32_t column, ptrdiff_t at)
{
    sp_event *event = batch->event;
    const sp_index *index = &batch->learner->index;
    event->keys[at] = batch->keys == NULL ? sp_key_word(SP_KEY_INT, column) : batch->keys[column];
    event->hashes[at] = sp_index_is_column(index, &event->keys[at])
                            ? 0
                            : sp_key_hash(&index->seed, &event->keys[at]);
}

/* Write the current row as an event of known slots, with names for features without weights. */
static int sp_write_row(sp_batch *batch, const sp_entries *entries)
{
    sp_event *event = batch->event;
    /* copies, as the compiler has to assume that a store to slots changes the batch */
    const uint32_t *columns = entries->columns;
    const double *from_ = entries->x;
    const sp_slot_type *slot_of = batch->slots;
    ptrdiff_t n = entries->n;
    sp_slot_type *slots;
    double *values;
    bool missing = false;
    if (sp_event_begin(event, &batch->learner->index, n, batch->learner->intercept) < 0)
        return -1;
    ptrdiff_t at = event->n;
    slots = event->slots + at;
    values = event->values + at;
    for (ptrdiff_t i = 0; i < n; i++) {
        values[i] = from_[i];
        slots[i] = slot_of[columns[i]];
    }
    for (ptrdiff_t i = 0; i < n; i++)
        missing |= slots[i] == SP_SLOT_NULL;
    event->n = event->n_found = at + n;
    if (missing) {
        for (ptrdiff_t i = 0; i < n; i++) {
            if (slots[i] == SP_SLOT_NULL)
                sp_write_name(batch, columns[i], at + i);
        }
    }
    return 0;
}

static int sp_lacking_reserve(sp_batch *batch, ptrdiff_t n)
{
    if (n <= batch->lacking_capacity)
        return 0;
    if (SP_GROW(batch->lacking, n + n / 2) < 0)
        return -1;
    batch->lacking_capacity = n + n / 2;
    return 0;
}

/* List the columns of the current row that have no weights to write to.

   Returns how many; -1 if out of memory. There is no branch, as which columns are new is
   unpredictable. */
static ptrdiff_t sp_find_lacking(sp_batch *batch, const sp_entries *entries)
{
    const sp_table *table = &batch->learner->table;
    const uint32_t *columns = entries->columns;
    const sp_slot_type *slots = batch->slots;
    const int32_t *places = batch->places;
    uint32_t *lacking;
    ptrdiff_t n = 0;
    if (sp_lacking_reserve(batch, entries->n) < 0)
        return -1;
    lacking = batch->lacking;
    if (places != NULL) {
        for (ptrdiff_t i = 0; i < entries->n; i++) {
            lacking[n] = columns[i];
            n += places[columns[i]] == 0;
        }
    } else if (batch->learner->index.bits) {
        for (ptrdiff_t i = 0, end = entries->n; i < end; i++) {
            lacking[n] = columns[i];
            n += !sp_table_can_write(table, slots[columns[i]]);
        }
    } else {
        for (ptrdiff_t i = 0; i < entries->n; i++) {
            lacking[n] = columns[i];
            n += slots[columns[i]] == SP_SLOT_NULL;
        }
    }
    return n;
}

/* Make sure that the current row can be written: its new features get slots, as an event.

   -1 if out of memory. */
static int sp_admit(sp_batch *batch, const sp_entries *entries)
{
    sp_event *event = batch->event;
    sp_learner *learner = batch->learner;
    const uint32_t *lacking;
    ptrdiff_t at = learner->intercept;
    ptrdiff_t n = sp_find_lacking(batch, entries);
    if (n < 0)
        return -1;
    if (n == 0 && sp_table_can_write(&learner->table, SP_SLOT_INTERCEPT))
        return 0;
    lacking = batch->lacking;
    if (sp_event_begin(event, &learner->index, n, learner->intercept) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < n; i++) {
        event->slots[at + i] = batch->slots[lacking[i]];
        sp_write_name(batch, lacking[i], at + i);
    }
    event->n = event->n_found = at + n;
    if (sp_learner_admit(learner, event) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < n; i++) {
        batch->slots[lacking[i]] = event->slots[at + i];
        if (batch->places != NULL
            && !sp_table_place(&learner->table, event->slots[at + i], &batch->places[lacking[i]]))
            sp_forget_places(batch);
    }
    return 0;
}

/* Write a row as an event. -1 if the batch has to stop. */
static int sp_write(sp_batch *batch, ptrdiff_t r, const sp_entries *entries)
{
    if (batch->ahead != NULL && sp_ahead_has(batch->ahead, &batch->learner->index, r))
        return sp_ahead_take(batch->ahead, r, batch->event, &batch->learner->index,
                             batch->learner->intercept,
                             batch->y != NULL && batch->learner->pairs == NULL);
    if (batch->matrix == NULL)
        return sp_text_write(&batch->text, batch->event, batch->rule, &batch->learner->index,
                             batch->learner->intercept, batch->prefixes,
                             batch->pieces + r * batch->n_pieces, batch->n_pieces);
    if (batch->slots == NULL)
        return sp_write_keys(batch, r);
    return sp_write_row(batch, entries);
}

/* Store what is wanted of a scored row. */
static void sp_batch_answer(sp_batch *batch, ptrdiff_t r)
{
    sp_learner *learner = batch->learner;
    sp_event *event = batch->event;
    const double *scores;
    if (batch->predictions == NULL && batch->confidences == NULL && batch->decisions == NULL
        && batch->probabilities == NULL)
        return;
    sp_answer answer = sp_learner_answer(learner, event);
    ptrdiff_t prediction = answer.verdict->best;
    if (batch->predictions != NULL)
        batch->predictions[r] = prediction;
    if (batch->confidences != NULL) {
        batch->confidences[r] = 0.0;
        if (prediction >= 0)
            batch->confidences[r] = sp_event_probabilities(learner, event)[prediction];
    }
    if (batch->decisions != NULL) {
        sp_learner_decide(learner, event);
        scores = sp_learner_decision(event, answer.kind);
        for (ptrdiff_t i = 0; i < batch->n_decisions; i++)
            batch->decisions[r * batch->n_decisions + i] = scores[i];
    }
    if (batch->probabilities != NULL && batch->n_probabilities)
        sp_learner_probabilities(learner, event, answer,
                                 batch->probabilities + r * batch->n_probabilities);
}

/* Predict a checked row, then learn it, if these are wanted.

   `later`: a row to prefetch, if rows are taken in another order; otherwise below 0.

   Returns -1 if out of memory; then the row has not been learned. */
static int sp_row(sp_batch *batch, ptrdiff_t r, ptrdiff_t later, bool zeros)
{
    sp_learner *learner = batch->learner;
    sp_event *event = batch->event;
    sp_entries entries;
    sp_slot_type n_slots = learner->index.n_slots;
    if (batch->ends != NULL)
        return sp_candidate(batch, r);
    /* with one output, the row is scored in place, unless a third label comes */
    bool in_place = batch->slots != NULL && learner->table.lanes == 1
                    && sp_learner_can(learner, SP_CAN_ROWS)
                    && (batch->y == NULL || batch->y[r] <= 1);
    if (batch->slots != NULL) {
        if (later < 0)
            sp_matrix_prefetch(batch->matrix, r, SP_BLOCK_VALUES);
        else {
            sp_matrix_prefetch_half(batch->matrix, later, false);
            if (batch->y != NULL)
                sp_prefetch(&batch->y[later]);
        }
        entries.n = sp_matrix_row(batch->matrix, r, zeros, &batch->scratch, &entries.columns,
                                  &entries.x);
        if (entries.n < 0)
            return -1;
    }
    if (in_place) {
        entries.slots = batch->slots;
        entries.places = batch->places;
        if (sp_learner_score_row(learner, event, &entries) < 0)
            return -1;
    } else {
        event->scored_version = 0;
        if (sp_write(batch, r, &entries) < 0 || sp_learner_score(learner, event) < 0)
            return -1;
    }
    if (batch->slots != NULL && later >= 0)
        sp_matrix_prefetch_half(batch->matrix, later, true);
    sp_batch_answer(batch, r);
    if (batch->y != NULL && batch->y[r] >= 0) {
        double u = batch->steps == NULL ? 1.0 : batch->steps[r];
        const sp_targets *targets = batch->targets == NULL ? NULL : &batch->targets[r];
        if (targets != NULL
            && sp_multilabel_set_targets(event, targets->labels, targets->n, targets->n_there,
                                         targets->open, learner->multilabel.n_labels)
                   < 0)
            return -1;
        if (in_place) {
            if (sp_learner_plan(learner, event, &entries, learner->intercept, batch->y[r], u) < 0)
                return -1;
            if (event->step.n) {
                if (sp_admit(batch, &entries) < 0)
                    return -1;
                entries.places = batch->places;
            }
            sp_learner_commit_row(learner, event, &entries, batch->y[r]);
            return 0;
        }
        if (sp_learner_plan(learner, event, NULL, false, batch->y[r], u) < 0)
            return -1;
        if (sp_learner_commit(learner, event, batch->y[r], u) < 0)
            return -1;
        if (batch->slots != NULL && learner->index.n_slots != n_slots) {
            for (ptrdiff_t i = 0; i < entries.n; i++)
                batch->slots[entries.columns[i]] = event->slots[learner->intercept + i];
        }
    }
    if (batch->slots == NULL)
        sp_event_settle(event, &learner->index);
    return 0;
}

/* Whether a text cannot have too many pairs, whatever its tokens are. */
static bool sp_is_short(const sp_batch *batch, ptrdiff_t r)
{
    uint64_t most = 1;
    for (int i = 0; i < batch->n_pieces; i++)
        most += batch->pieces[r * batch->n_pieces + i].n;
    most *= (size_t)(batch->rule->high - batch->rule->low + 1);
    return most < (uint64_t)1 << 31 && most * most / 2 <= batch->learner->pairs->most;
}

SP_API ptrdiff_t sp_batch_unfit(sp_batch *batch, ptrdiff_t first)
{
    ptrdiff_t r = first;
    while (r < batch->n_rows) {
        ptrdiff_t row = batch->order == NULL ? r : batch->order[r];
        if (!(batch->matrix == NULL && sp_is_short(batch, row))
            && (sp_write(batch, row, NULL) < 0
                || sp_pairs_measure(batch->learner->pairs, batch->event) != 0))
            break;
        r++;
    }
    return r;
}

SP_API ptrdiff_t sp_batch_rows(sp_batch *batch, ptrdiff_t first, ptrdiff_t last, bool zeros)
{
    ptrdiff_t r = first;
    if (batch->order == NULL) {
        while (r < last && sp_row(batch, r, -1, zeros) == 0)
            r++;
        return r;
    }
    ptrdiff_t ahead = batch->block_rows / SP_ORDER_AHEAD + 1;
    while (r < last) {
        if (sp_row(batch, batch->order[r], batch->order[SP_MIN(r + ahead, batch->n_rows - 1)],
                   zeros)
            < 0)
            break;
        r++;
    }
    return r;
}
