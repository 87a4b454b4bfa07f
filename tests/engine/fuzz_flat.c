/* Opening what a file says: bytes as a model's flat arrays. They are refused, or make a learner
   that is sound and answers; used in place they are refused, or answer something. */

#include "fuzz.h"

enum { NAMES = 60 };

/* The arrays of a small model, in memory of their own, so that an overrun is seen. */
typedef struct part {
    void *start;
    size_t size;
} part;

enum { PARTS = 8, MARKS = 7 };

static void *part_new(part *parts, int i, size_t n, size_t size)
{
    parts[i].size = n * size;
    parts[i].start = malloc(n * size + (n == 0));
    return parts[i].start;
}

static void write_parts(const sp_learner *learner, sp_arrays *flat, part *parts)
{
    CHECK_SAME(sp_arrays_measure(flat, &learner->index, &learner->table), 0);
    flat->weights = (double *)part_new(parts, 0, flat->n_weights * (size_t)learner->table.width, 8);
    flat->chunks = (uint32_t *)part_new(parts, 1, 3 * flat->n_chunks, 4);
    flat->keys = (sp_key *)part_new(parts, 2, flat->n_keys, sizeof(sp_key));
    flat->texts = (uint8_t *)part_new(parts, 3, flat->n_texts, 1);
    flat->words = (uint32_t *)part_new(parts, 4, flat->n_words, 4);
    flat->slots = (uint32_t *)part_new(parts, 5, flat->n_stored, 4);
    part_new(parts, 6, sp_index_is_limited(&learner->index) ? flat->n_keys : 0, 4);
    if (sp_index_is_limited(&learner->index))
        flat->stamps = (uint32_t *)parts[6].start;
    sp_arrays_write(flat, &learner->index, &learner->table);
    bool rows = learner->machine->rows != SP_ROWS_NONE;
    uint32_t *marks = (uint32_t *)part_new(parts, MARKS,
                                           rows ? sp_machine_rows_measure(learner, flat) : 0, 16);
    if (rows)
        sp_machine_rows_write(learner, flat, marks);
    if (learner->index.bits == 0)
        sp_arrays_lookup(flat);
    sp_arrays_free(flat);
}

/* Change bytes as the input says: in which part, where, and to what. */
static void damage(part *parts, fuzz_input *input)
{
    while (input->n > 0) {
        const part *p = &parts[fuzz_byte(input) % PARTS];
        size_t at = fuzz_byte(input) << 8;
        at |= fuzz_byte(input);
        uint32_t value = fuzz_byte(input);
        if (p->size)
            ((uint8_t *)p->start)[at % p->size] = (uint8_t)value;
    }
}

static void try_to_read(const kit_kind *kind, const sp_learner *like, sp_arrays *flat,
                        const part *marks, bool in_place)
{
    sp_learner learner;
    sp_event event;
    double score;
    CHECK_SAME(kit_learner_like(&learner, kind, like), 0);
    if (kit_read_flat(&learner, flat, (const uint32_t *)marks->start, marks->size / 16,
                      like->table.n_outputs, in_place)
        == 0) {
        if (!in_place)
            KIT_SOUND(&learner);
        sp_event_init(&event);
        for (int i = 0; i < 4; i++) {
            kit_sample sample = kit_random_column(0, NAMES, 2);
            kit_predict(&learner, &event, &sample, &score);
        }
        sp_event_free(&event);
    }
    sp_learner_free(&learner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_input input = {data, n};
    const kit_kind *kind = &kit_kinds[fuzz_byte(&input) % KIT_KINDS];
    uint64_t state = check_state;
    sp_learner learner;
    sp_event event;
    sp_arrays flat;
    part parts[PARTS];
    if (kind->rule.kind == SP_RULE_VOTED)
        return 0;
    if (kit_texts[0][KIT_BEFORE] == 0)
        kit_begin(0, NULL);
    check_about = kind->name;
    check_state = 1; /* the same model for the same input */
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, kind), 0);
    for (uint32_t i = fuzz_byte(&input) % 16; i > 0; i--) {
        kit_sample sample = kit_random_column(0, NAMES, kind->labels);
        CHECK_SAME(kit_learn(&learner, &event, &sample), 0);
    }
    write_parts(&learner, &flat, parts);
    damage(parts, &input);
    try_to_read(kind, &learner, &flat, &parts[MARKS], false);
    try_to_read(kind, &learner, &flat, &parts[MARKS], true);
    for (int i = 0; i < PARTS; i++)
        free(parts[i].start);
    sp_event_free(&event);
    sp_learner_free(&learner);
    check_state = state;
    return 0;
}
