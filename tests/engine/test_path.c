/* path/: whole learners of every kind, the same events through several doors, and memory that runs
   out anywhere. */

#include "kit.h"

#include "path/record.h"

enum { EVENTS = 150, NAMES = 160 };

/* A learner is sound after each event, and its copy goes on as it does. */
static void test_copy(const kit_kind *kind)
{
    sp_learner learner, copy;
    sp_event event, other;
    double score, its;
    sp_event_init(&event);
    sp_event_init(&other);
    CHECK_SAME(kit_learner(&learner, kind), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, kind->labels);
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        if (i % 16 == 0)
            KIT_SOUND(&learner);
    }
    CHECK_SAME(sp_learner_copy(&copy, &learner), 0);
    KIT_SOUND(&copy);
    CHECK(kit_digest(&copy) == kit_digest(&learner));
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, 2 * NAMES, kind->labels);
        CHECK_SAME(kit_predict(&learner, &event, &sample, &score),
                   kit_predict(&copy, &other, &sample, &its));
        CHECK_EQUAL(score, its);
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        CHECK_SAME(kit_learn(&copy, &other, &sample), 0);
    }
    KIT_SOUND(&learner);
    CHECK(kit_digest(&copy) == kit_digest(&learner));
    if (kind->most)
        CHECK(learner.index.n_slots <= kind->most + SP_SLOTS_RESERVED && learner.ceiling.n_evicted);
    sp_learner_free(&learner);
    sp_learner_free(&copy);
    sp_event_free(&event);
    sp_event_free(&other);
}

/* Predicting changes nothing, nor does a prediction between learning and learning. */
static void test_predict_first(const kit_kind *kind)
{
    sp_learner one, two;
    sp_event event, other;
    double score;
    sp_event_init(&event);
    sp_event_init(&other);
    CHECK(kit_learner(&one, kind) == 0 && kit_learner(&two, kind) == 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, kind->labels);
        kit_predict(&one, &event, &sample, &score);
        CHECK_SAME(kit_learn(&one, &event, &sample), 0);
        CHECK_SAME(kit_learn(&two, &other, &sample), 0);
        CHECK_SAME(event.n, other.n);
    }
    CHECK(kit_digest(&one) == kit_digest(&two));
    sp_learner_free(&one);
    sp_learner_free(&two);
    sp_event_free(&event);
    sp_event_free(&other);
}

/* Whatever allocation fails: the event is not learned, nothing has changed, and the next one is. */
static void test_no_memory(const kit_kind *kind)
{
    sp_learner learner;
    sp_event event;
    for (int64_t n = 1, made = false; !made; n++) {
        check_fail_at(n);
        made = kit_learner(&learner, kind) == 0;
        CHECK(check_has_failed() || made);
        if (!made)
            sp_learner_free(&learner);
    }
    for (int i = 0; i < EVENTS / 4; i++) {
        kit_sample sample = kit_random((uint32_t)i * 40, NAMES, kind->labels);
        uint64_t digest = kit_digest(&learner);
        int failed = -1;
        for (int64_t n = 1; failed; n++) {
            sp_event_init(&event); /* its own memory may be missing, too */
            check_fail_at(n);
            failed = kit_learn(&learner, &event, &sample);
            bool lacked = check_has_failed();
            CHECK(lacked || !failed);
            if (failed) {
                CHECK(kit_digest(&learner) == digest);
                KIT_SOUND(&learner);
            }
            sp_event_free(&event);
        }
    }
    sp_learner copy;
    uint64_t digest = kit_digest(&learner);
    int failed = -1;
    for (int64_t n = 1; failed; n++) {
        check_fail_at(n);
        failed = sp_learner_copy(&copy, &learner);
        CHECK(check_has_failed() || !failed);
        if (!failed)
            CHECK(kit_digest(&copy) == digest);
        sp_learner_free(&copy);
        CHECK(kit_digest(&learner) == digest);
    }
    KIT_SOUND(&learner);
    sp_learner_free(&learner);
}

enum { ROWS = 60, COLUMNS = 30 };

/* Rows of ints, sparse or dense, learned in a batch: the same as the same events one by one. */
static void test_rows(const kit_kind *kind, bool dense)
{
    static double values[ROWS * COLUMNS];
    static int32_t columns[ROWS * COLUMNS], starts[ROWS + 1];
    static ptrdiff_t y[ROWS], predictions[ROWS], expected[ROWS];
    sp_learner one, many;
    sp_event event, other, by_column;
    sp_batch batch;
    int32_t n = 0;
    sp_matrix matrix = {.n_rows = ROWS,
                        .n_columns = COLUMNS,
                        .dense = dense,
                        .number = SP_NUMBER_F64,
                        .values = (const char *)values,
                        .starts = (const char *)starts,
                        .columns = (const char *)columns,
                        .row_stride = COLUMNS * 8,
                        .column_stride = 8};
    sp_event_init(&event);
    sp_event_init(&other);
    sp_event_init(&by_column);
    CHECK(kit_learner(&one, kind) == 0 && kit_learner(&many, kind) == 0);
    memset(values, 0, sizeof(values));
    for (int r = 0; r < ROWS; r++) {
        kit_sample sample = {.n = 0, .u = 1.0};
        starts[r] = n;
        for (uint32_t j = 0; j < COLUMNS && sample.n < KIT_MOST; j++) {
            if (check_below(3) == 0) {
                sample.names[sample.n] = 4 * j; /* whose key is an int */
                sample.values[sample.n] = 1.0 + check_below(5);
                columns[n] = (int32_t)j;
                values[dense ? r * COLUMNS + (int)j : n] = sample.values[sample.n];
                sample.n++;
                n++;
            }
        }
        sample.y = check_below(kind->labels);
        y[r] = kit_label(&one, &sample);
        CHECK_SAME(kit_write(&one, &event, &sample), 0);
        for (int i = 0; i < sample.n; i++) /* column j is the int j */
            event.keys[one.intercept + i].lo /= 4;
        CHECK_SAME(sp_learner_score(&one, &event), 0);
        ptrdiff_t best = sp_learner_answer(&one, &event).verdict->best;
        CHECK_SAME(sp_learner_learn(&one, &event, y[r], 1.0), 0);
        sp_event_free(&event);
        expected[r] = best;
    }
    starts[ROWS] = n;
    matrix.n_values = dense ? ROWS * COLUMNS : n;
    int found = sp_matrix_check(&matrix, 0, ROWS);
    CHECK(!(found & (SP_MATRIX_FAULTY | SP_MATRIX_UNSORTED)));
    sp_batch_matrix(&batch, &many, &other, &matrix);
    batch.y = y;
    batch.predictions = predictions;
    CHECK_SAME(sp_batch_columns(&batch, false, true, &by_column), 0);
    for (ptrdiff_t r = 0; r < ROWS;) {
        ptrdiff_t last = sp_batch_next(&batch, r);
        CHECK_SAME(sp_batch_rows(&batch, r, last, dense), last);
        r = last;
    }
    sp_batch_free(&batch);
    for (int r = 0; r < ROWS; r++)
        CHECK_SAME(predictions[r], expected[r]);
    KIT_SOUND(&many);
    CHECK_SAME(many.n_mistakes, one.n_mistakes);
    CHECK(kit_digest(&many) == kit_digest(&one));
    sp_learner_free(&one);
    sp_learner_free(&many);
    sp_event_free(&event);
    sp_event_free(&other);
    sp_event_free(&by_column);
}

/* Learn a batch, with an allocation that fails now and then; what could not be learned is
   learned in the next attempt. */
static void run_batch(sp_batch *batch, bool zeros, bool fails)
{
    for (ptrdiff_t r = 0; r < batch->n_rows;) {
        ptrdiff_t last = sp_batch_next(batch, r);
        check_fail_at(fails ? 1 + check_below(40) : 0);
        r = sp_batch_rows(batch, r, last, zeros);
        bool lacked = check_has_failed();
        CHECK(r == last || (fails && lacked));
    }
}

/* Queries of documents with grades, and texts: learned in a batch, with memory running out or
   not. */
static void test_queries(const kit_kind *kind, bool ranking)
{
    static double values[ROWS * COLUMNS];
    static ptrdiff_t y[ROWS], ends[ROWS];
    static char texts[ROWS][60];
    sp_piece pieces[ROWS], prefix = {.p = (const uint8_t *)texts, .n = 0};
    sp_text_rule words = {.analyzer = SP_TEXT_WORDS,
                          .low = 1,
                          .high = 2,
                          .characters = {.lowercase = true},
                          .shortest = 1,
                          .longest = SIZE_MAX,
                          .value = SP_VALUE_COUNT};
    sp_rule rule = {.kind = SP_RULE_RANKING, .C = 1.0};
    sp_matrix matrix = {.n_rows = ROWS,
                        .n_columns = COLUMNS,
                        .dense = true,
                        .number = SP_NUMBER_F64,
                        .values = (const char *)values,
                        .n_values = ROWS * COLUMNS,
                        .row_stride = COLUMNS * 8,
                        .column_stride = 8};
    uint64_t digests[2];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = check_below(4) ? 0.0 : 1.0 + check_below(3);
    for (int r = 0; r < ROWS; r++) {
        ends[r] = r / 6 * 6 + 6;
        y[r] = check_below(2);
        snprintf(texts[r], sizeof(texts[r]), "Word%u other%u and one that is rather long: %u",
                 check_below(30), check_below(9), check_below(12));
        pieces[r] = (sp_piece){.p = (const uint8_t *)texts[r], .n = strlen(texts[r])};
    }
    sp_vectors averaged = {SP_AVERAGE_UNIFORM, 1.0, false, SP_SERVE_BEST};
    for (int fails = 0; fails < 2; fails++) {
        sp_learner learner;
        sp_event event, query, columns;
        sp_batch batch;
        sp_event_init(&event);
        sp_event_init(&query);
        sp_event_init(&columns);
        CHECK_SAME(ranking ? sp_learner_init(&learner, rule, &averaged, false, kind->most, 0, 7)
                           : kit_learner(&learner, kind),
                   0);
        if (ranking) {
            sp_batch_matrix(&batch, &learner, &event, &matrix);
            batch.ends = ends;
            batch.query = &query;
            CHECK_SAME(sp_batch_columns(&batch, false, true, &columns), 0);
        } else
            sp_batch_texts(&batch, &learner, &event, &words, &prefix, 1, pieces, ROWS);
        batch.y = y;
        for (int turn = 0; turn < 3; turn++)
            run_batch(&batch, true, fails);
        sp_batch_free(&batch);
        KIT_SOUND(&learner);
        digests[fails] = kit_digest(&learner);
        sp_event_free(&event);
        sp_event_free(&query);
        sp_event_free(&columns);
        sp_learner_free(&learner);
    }
    CHECK(digests[0] == digests[1]);
}

/* A step taken back at once leaves every weight as it was, where all numbers are whole. */
static void test_undo(const kit_kind *kind)
{
    sp_learner learner;
    sp_event event;
    double before[NAMES];
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, kind), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, kind->labels);
        for (int k = 0; k < sample.n; k++)
            sample.values[k] = 1.0 + check_below(3);
        sp_slot_type n_slots = learner.index.n_slots;
        ptrdiff_t n_outputs = learner.table.n_outputs;
        for (sp_slot_type slot = 1; slot < n_slots && slot < NAMES && n_outputs; slot++)
            before[slot] = sp_table_read(&learner.table, slot, 0, SP_KEPT_CURRENT);
        sp_moment moment = sp_undo_moment(&learner);
        CHECK_SAME(kit_write(&learner, &event, &sample), 0);
        CHECK_SAME(sp_learner_learn(&learner, &event, kit_label(&learner, &sample), 1.0), 0);
        if (i % 3 == 0) {
            for (int k = 0; k < event.step.n; k++)
                event.step.moves[k].a = -event.step.moves[k].a;
            sp_undo_moves(&learner, &event, moment);
            learner.version += 1;
            for (sp_slot_type slot = 1; slot < n_slots && slot < NAMES && n_outputs; slot++)
                CHECK_EQUAL(sp_table_read(&learner.table, slot, 0, SP_KEPT_CURRENT), before[slot]);
        }
        sp_event_settle(&event, &learner.index);
    }
    KIT_SOUND(&learner);
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* Two labels of one output get an output each, by another rule: no score changes but its sign. And
   without memory nothing does. */
static void test_split(const kit_kind *kind)
{
    const sp_rule rule = {.kind = SP_RULE_MULTICLASS, .margin = kind->rule.margin};
    sp_learner one, two;
    sp_event event, other;
    sp_event_init(&event);
    sp_event_init(&other);
    CHECK_SAME(kit_learner(&one, kind), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, 2);
        CHECK_SAME(kit_learn(&one, &event, &sample), 0);
    }
    CHECK_SAME(sp_learner_copy(&two, &one), 0);
    uint64_t digest = kit_digest(&two);
    int failed = -1;
    for (int64_t n = 1; failed; n++) {
        check_fail_at(n);
        failed = sp_learner_split(&two, &rule);
        CHECK(check_has_failed() || !failed);
        KIT_SOUND(&two);
        CHECK(!failed || kit_digest(&two) == digest);
    }
    CHECK(two.answer == SP_ANSWER_LABELS && two.rule.kind == SP_RULE_MULTICLASS);
    CHECK_SAME(two.table.n_outputs, 2);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, 2);
        CHECK(kit_write(&one, &event, &sample) == 0 && sp_learner_score(&one, &event) == 0);
        CHECK(kit_write(&two, &other, &sample) == 0 && sp_learner_score(&two, &other) == 0);
        for (int kept = 0; kept < SP_KEPT_KINDS; kept++) {
            if (!sp_table_keeps(&one.table, kept))
                continue;
            CHECK_EQUAL(sp_learner_decision(&other, kept)[1], *sp_learner_decision(&event, kept));
            CHECK_EQUAL(sp_learner_decision(&other, kept)[0], -*sp_learner_decision(&event, kept));
        }
        sp_event_settle(&event, &one.index);
        sp_event_settle(&other, &two.index);
    }
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, NAMES, 3);
        CHECK_SAME(kit_learn(&two, &other, &sample), 0);
    }
    CHECK_SAME(two.table.n_outputs, 3);
    KIT_SOUND(&two);
    sp_learner_free(&one);
    sp_learner_free(&two);
    sp_event_free(&event);
    sp_event_free(&other);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    for (int k = 0; k < KIT_KINDS; k++) {
        const kit_kind *kind = &kit_kinds[k];
        check_about = kind->name;
        test_copy(kind);
        test_predict_first(kind);
        test_no_memory(kind);
        test_rows(kind, false);
        test_rows(kind, true);
        test_queries(kind, false);
        test_queries(kind, true);
        if ((kind->rule.kind == SP_RULE_PERCEPTRON || kind->rule.kind == SP_RULE_MULTICLASS)
            && !kind->most)
            test_undo(kind);
        if (kind->rule.kind == SP_RULE_PERCEPTRON)
            test_split(kind);
    }
    return 0;
}
