/* events/: an event in scratch, texts, lines, pairs, candidates, and matrices of any kind of
   number. */

#include "kit.h"

#include "events/candidates.h"
#include "events/lines.h"
#include "events/matrix.h"
#include "events/pairs.h"
#include "events/question.h"
#include "events/text.h"

/* An event that is the last one again is known to be, and keeps its slots and scores. */
static void test_same(void)
{
    sp_learner learner;
    sp_event event;
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, &kit_kinds[0]), 0);
    for (int turn = 0; turn < 300; turn++) {
        kit_sample sample = kit_random(0, 100, 2);
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
        ptrdiff_t n = event.n;
        CHECK_SAME(kit_write(&learner, &event, &sample), 0);
        CHECK(event.n == n);
        sp_learner_resolve(&learner, &event);
        for (ptrdiff_t i = 1; i < n; i++)
            CHECK_SAME(event.slots[i],
                       sp_index_find(&learner.index, &event.keys[i],
                                     sp_key_hash(&learner.index.seed, &event.keys[i])));
        sp_event_settle(&event, &learner.index);
        int changed = (int)check_below((uint32_t)sample.n);
        sample.values[changed] += 1.0;
        CHECK_SAME(kit_write(&learner, &event, &sample), 0);
        CHECK(sample.n == 0 || (!event.same && event.scored_version == 0));
        sp_event_settle(&event, &learner.index);
    }
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* Each token once, in the order in which it came first, with how often it came. */
static void test_text(void)
{
    static const char text[] =
        "Free spam, FREE wi-fi: a_b free 42 an-extraordinarily-long-wordwordword";
    static const char *words[] = {
        "free", "spam", "wi", "fi", "a_b", "42", "an", "extraordinarily", "long", "wordwordword"};
    enum { WORDS = sizeof(words) / sizeof(*words) };
    static uint8_t padded[16 + 32];
    sp_text_rule rule = {.analyzer = SP_TEXT_WORDS,
                         .low = 1,
                         .high = 1,
                         .characters = {.lowercase = true},
                         .shortest = 1,
                         .longest = SIZE_MAX,
                         .value = SP_VALUE_COUNT};
    sp_piece prefix = {.p = padded, .n = 0},
             piece = {.p = (const uint8_t *)text, .n = strlen(text)};
    sp_learner learner;
    sp_event event;
    sp_text scratch;
    memset(&scratch, 0, sizeof(scratch));
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, &kit_kinds[0]), 0);
    ptrdiff_t failed = -1;
    for (int64_t n = 1; failed; n++) {
        check_fail_at(n);
        failed = sp_text_write(&scratch, &event, &rule, &learner.index, true, &prefix, &piece, 1);
        CHECK(check_has_failed() || !failed);
    }
    CHECK_SAME(event.n, 1 + WORDS);
    for (int i = 0; i < WORDS; i++) {
        memcpy(padded + 16, words[i], strlen(words[i]));
        sp_key key = sp_key_text(SP_KEY_STR, padded + 16, strlen(words[i]));
        CHECK(sp_key_equal(&event.keys[1 + i], &key));
        CHECK_EQUAL(event.values[1 + i], i == 0 ? 3.0 : 1.0);
    }
    rule.high = 2;
    rule.analyzer = SP_TEXT_CHARACTERS;
    CHECK_SAME(sp_text_write(&scratch, &event, &rule, &learner.index, true, &prefix, &piece, 1), 0);
    CHECK(event.n > 60);
    sp_text_free(&scratch);
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* Lines end with LF or CR LF, the last one with the block; faults are named. */
static void test_lines(void)
{
    static const char block[] = "spam\tbuy now\r\n\nham\thi\tyou\nno tab\n\tnone";
    static const int faults[] = {SP_LINE_GOOD, SP_LINE_BLANK, SP_LINE_GOOD, SP_LINE_NO_TAB,
                                 SP_LINE_NO_LABEL};
    static const size_t labels[] = {4, 0, 3, 0, 0}, texts[] = {7, 0, 6, 6, 4};
    size_t n = strlen(block);
    uint8_t *p = (uint8_t *)malloc(n); /* no byte behind it */
    memcpy(p, block, n);
    sp_line line = {.p = p, .end = p + n};
    int i = 0;
    for (; sp_line_next(&line, SP_LINES_LABELLED); i++) {
        CHECK_SAME(line.fault, faults[i]);
        CHECK_SAME(line.n_label, labels[i]);
        CHECK_SAME(line.n_text, texts[i]);
    }
    CHECK_SAME(i, 5);
    CHECK_SAME(sp_line_ends(p, n), 4);
    for (int turn = 0; turn < 300; turn++) {
        for (size_t k = 0; k < n; k++)
            p[k] = (uint8_t) "\t\n\r _l"[check_below(6)];
        for (int kind = SP_LINES_LABELLED; kind <= SP_LINES_FASTTEXT; kind++) {
            line = (sp_line){.p = p, .end = p + n};
            while (sp_line_next(&line, kind))
                CHECK(line.text >= p && line.text + line.n_text <= p + n);
        }
    }
    free(p);
}

/* A line of JSON with a text, and an id, is read; whatever is in it, nothing beside it is. */
static void test_questions(void)
{
    static const char line[] =
        "{\"id\": \"a-1\", \"text\": \"\\u00c9cris \\ud83d\\ude00 \\\"x\\n\"}";
    size_t n = strlen(line);
    uint8_t *p = (uint8_t *)malloc(n), *room = (uint8_t *)malloc(n + SP_QUESTION_SPARE);
    uint8_t *to = room;
    sp_question found;
    memcpy(p, line, n);
    CHECK(sp_question_read(&found, p, p + n, &to));
    CHECK_SAME(found.n_id, 3);
    CHECK(memcmp(found.id, "a-1", 3) == 0);
    CHECK_SAME(found.n_text, 15);
    CHECK(memcmp(found.text, "\xC3\x89" "cris \xF0\x9F\x98\x80 \"x\n", 15) == 0);
    for (int turn = 0; turn < 3000; turn++) {
        memcpy(p, line, n);
        for (int k = 0; k < 3; k++)
            p[check_below((uint32_t)n)] = (uint8_t) "\"\\u{}:,d8 \xC3\xE0\n"[check_below(14)];
        to = room;
        if (sp_question_read(&found, p, p + check_below((uint32_t)n + 1), &to))
            CHECK(found.text + found.n_text <= to && to <= room + n);
    }
    free(p);
    free(room);
}

/* All pairs of a random event, each once: n (n - 1) / 2 of them, with the products as values. */
static void test_pairs(void)
{
    sp_learner learner;
    sp_event event;
    sp_pairs pairs = {.most = 100000, .n_fields = 0};
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, &kit_kinds[0]), 0);
    learner.pairs = &pairs;
    for (int turn = 0; turn < 100; turn++) {
        kit_sample sample = kit_random(0, 100, 2);
        int failed = -1;
        for (int64_t n = 1; failed; n++) {
            sp_event_free(&event);
            check_fail_at(n);
            failed = kit_learn(&learner, &event, &sample);
            CHECK(check_has_failed() || !failed);
        }
        CHECK_SAME(event.n, 1 + sample.n + sample.n * (sample.n - 1) / 2);
        ptrdiff_t at = 1 + sample.n;
        for (int i = 0; i < sample.n; i++)
            for (int k = i + 1; k < sample.n; k++)
                CHECK_EQUAL(event.values[at++], sample.values[i] * sample.values[k]);
        pairs.most = event.n_pairs - 1; /* one too many */
        event.n_known = 0;
        if (sample.n > 1) {
            CHECK_SAME(kit_learn(&learner, &event, &sample), -1);
            CHECK_SAME(event.unfit, SP_UNFIT_NUMBER);
        }
        pairs.most = 100000;
    }
    KIT_SOUND(&learner);
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* The difference of two candidates: what each has alone, and what they have with other values. */
static void test_difference(void)
{
    sp_learner learner;
    sp_event event;
    sp_rule rule = {.kind = SP_RULE_RANKING, .C = 1.0};
    sp_event_init(&event);
    CHECK_SAME(sp_learner_init(&learner, rule, &sp_current_alone, false, 0, 0, 1), 0);
    for (int turn = 0; turn < 200; turn++) {
        kit_sample two[2] = {kit_random(0, 60, 2), kit_random(0, 60, 2)};
        double expected[60] = {0.0};
        CHECK_SAME(sp_event_candidates(&event, 2), 0);
        CHECK_SAME(sp_event_begin(&event, &learner.index, two[0].n + two[1].n, false), 0);
        sp_writer writer = sp_event_writer(&event);
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < two[k].n; i++) {
                sp_writer_add(&writer, kit_key(two[k].names[i]), two[k].values[i]);
                expected[two[k].names[i]] += k ? two[k].values[i] : -two[k].values[i];
            }
            sp_event_candidate_end(&event, k, &writer);
        }
        sp_event_end(&event, &writer);
        CHECK_SAME(sp_learner_score(&learner, &event), 0);
        ptrdiff_t n = sp_event_difference(&event, 1, 0);
        for (uint32_t name = 0; name < 60; name++) {
            sp_key key = kit_key(name);
            double found = 0.0;
            for (ptrdiff_t i = event.n; i < event.n + n; i++)
                if (sp_key_equal(&event.keys[i], &key))
                    found += event.values[i];
            CHECK_EQUAL(found, expected[name]);
        }
        CHECK_SAME(sp_learner_learn(&learner, &event, 1, 1.0), 0);
        sp_event_settle(&event, &learner.index);
        KIT_SOUND(&learner);
    }
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* A dense matrix of each kind of number, read at any address, and the first number that is not
   a value. */
static void test_numbers(void)
{
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    enum { ROWS = 9, COLUMNS = 5 };
    for (int number = SP_NUMBER_U8; number <= SP_NUMBER_F64; number++) {
        size_t size = sizes[number];
        char *values = (char *)malloc(ROWS * COLUMNS * size);
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            union {
                uint8_t u8;
                uint16_t u16;
                uint32_t u32;
                uint64_t u64;
                float f32;
                double f64;
            } value = {.u64 = 0};
            if (number == SP_NUMBER_F32)
                value.f32 = (float)i;
            else if (number == SP_NUMBER_F64)
                value.f64 = i;
            else if (size == 1)
                value.u8 = (uint8_t)i;
            else if (size == 2)
                value.u16 = (uint16_t)i;
            else if (size == 4)
                value.u32 = (uint32_t)i;
            else
                value.u64 = (uint64_t)i;
            memcpy(values + (size_t)i * size, &value, size);
        }
        sp_matrix m = {.n_rows = ROWS,
                       .n_columns = COLUMNS,
                       .dense = true,
                       .number = number,
                       .values = values,
                       .n_values = ROWS * COLUMNS,
                       .row_stride = (ptrdiff_t)(COLUMNS * size),
                       .column_stride = (ptrdiff_t)size};
        CHECK(!(sp_matrix_check(&m, 0, ROWS) & SP_MATRIX_FAULTY));
        for (int r = 0; r < ROWS; r++)
            for (int k = 0; k < COLUMNS; k++)
                CHECK_EQUAL(sp_matrix_value(&m, r, k), r * COLUMNS + k);
        if (number >= SP_NUMBER_F32) {
            ptrdiff_t row, entry;
            uint64_t nan = UINT64_MAX;
            memcpy(values + 7 * size, &nan, size);
            CHECK(sp_matrix_check(&m, 0, ROWS) & SP_MATRIX_FAULTY);
            CHECK_SAME(sp_matrix_fault(&m, 0, ROWS, &row, &entry), SP_FAULT_VALUE);
            CHECK(row == 1 && entry == 2);
        }
        free(values);
    }
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    test_same();
    test_text();
    test_lines();
    test_questions();
    test_pairs();
    test_difference();
    test_numbers();
    return 0;
}
