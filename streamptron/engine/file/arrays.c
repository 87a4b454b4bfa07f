#include "file/arrays.h"

#include "exchange/label_rows.h"
#include "exchange/shaped.h"
#include "file/counts.h"
#include "memory/heap.h"
#include "path/path.h"
#include "sets/arrays.h"
#include "table/arrays.h"
#include "voted/arrays.h"
#include "wide/arrays.h"

#include <string.h>

SP_API const char *sp_arrays_words(int fault)
{
    switch (fault) {
    case SP_ARRAYS_KEY:
        return "a feature name is invalid";
    case SP_ARRAYS_TWICE:
        return "a feature name occurs twice";
    case SP_ARRAYS_TEXTS:
        return "the long names do not fill their place";
    case SP_ARRAYS_SLOT:
        return "the numbers of the stored slots are invalid";
    case SP_ARRAYS_CHUNK:
        return "the list of chunks does not fit the weights";
    case SP_ARRAYS_WEIGHT:
        return "a number of a feature is none that learning can have made";
    default:
        return "there are weights of no feature or no label";
    }
}

static const char *sp_shapes_words(void)
{
    return "what is kept of curves and surfaces contradicts itself";
}

/* --- Reading */

/* A bit for each array that such a model has. */
static uint32_t sp_arrays_expected(const sp_learner *learner)
{
    uint32_t all = 1U << SP_ARRAY_WEIGHTS | 1U << SP_ARRAY_CHUNKS;
    if (learner->index.bits)
        all |= 1U << SP_ARRAY_ROWS;
    else
        all |= 1U << SP_ARRAY_KEYS | 1U << SP_ARRAY_TEXTS | 1U << SP_ARRAY_LOOKUP;
    if (sp_index_is_limited(&learner->index))
        all |= 1U << SP_ARRAY_STAMPS;
    if (learner->adaptive.rows)
        all |= 1U << SP_ARRAY_MARKS;
    if (sp_learner_is_shaped(learner))
        all |= 1U << SP_ARRAY_SHAPES;
    if (sp_learner_is_wide(learner))
        all |= 1U << SP_ARRAY_ENTRIES;
    if (sp_learner_can(learner, SP_CAN_VOTE)) {
        for (int i = SP_ARRAY_VOTED_VALUES; i <= SP_ARRAY_VOTED_STARTS; i++)
            all |= 1U << i;
        for (int i = SP_ARRAY_VOTED_SLOTS; i <= SP_ARRAY_VOTED_TURNS; i++)
            all |= 1U << i;
    }
    if (sp_learner_can(learner, SP_CAN_SET))
        all |= 1U << SP_ARRAY_MARKED | 1U << SP_ARRAY_MARKS;
    return all;
}

static bool sp_arrays_are_its(const sp_header *header, const sp_learner *learner)
{
    uint32_t found = 0;
    for (int i = 0; i < SP_ARRAY_JOURNAL; i++)
        found |= header->arrays[i].there ? 1U << i : 0;
    return found == sp_arrays_expected(learner);
}

/* Where an array starts, and how many rows it has. */
static void *sp_array_at(const sp_header *header, const uint8_t *arrays, int array, size_t *n)
{
    *n = header->arrays[array].n;
    /* no one writes through it: the learner is read-only, or copies what it takes */
    return (void *)(uintptr_t)(arrays + header->arrays[array].start);
}

/* Point at the arrays of names and weights. NULL, or what is wrong. */
static const char *sp_arrays_find(const sp_header *header, const uint8_t *arrays,
                                  const sp_learner *learner, sp_arrays *flat)
{
    size_t n_stamps;
    memset(flat, 0, sizeof(*flat));
    if (header->arrays[SP_ARRAY_WEIGHTS].width != (size_t)learner->table.width)
        return "a row of weights has another length than the model's";
    flat->weights = (double *)sp_array_at(header, arrays, SP_ARRAY_WEIGHTS, &flat->n_weights);
    flat->chunks = (uint32_t *)sp_array_at(header, arrays, SP_ARRAY_CHUNKS, &flat->n_chunks);
    if (learner->index.bits) {
        flat->slots = (uint32_t *)sp_array_at(header, arrays, SP_ARRAY_ROWS, &flat->n_stored);
        return NULL;
    }
    flat->keys = (sp_key *)sp_array_at(header, arrays, SP_ARRAY_KEYS, &flat->n_keys);
    flat->texts = (uint8_t *)sp_array_at(header, arrays, SP_ARRAY_TEXTS, &flat->n_texts);
    flat->words = (uint32_t *)sp_array_at(header, arrays, SP_ARRAY_LOOKUP, &flat->n_words);
    if (flat->n_keys < SP_SLOTS_RESERVED || flat->n_keys >= SP_SLOT_MAX || flat->n_words == 0
        || flat->n_words >= SP_SLOT_MAX)
        return "the number of names is invalid";
    if (!sp_index_is_limited(&learner->index))
        return NULL;
    flat->stamps = (uint32_t *)sp_array_at(header, arrays, SP_ARRAY_STAMPS, &n_stamps);
    size_t last = SP_MAX(flat->n_keys, (size_t)SP_SLOTS_RESERVED + 1);
    if (n_stamps != flat->n_keys || flat->n_keys > learner->index.max_slots
        || learner->ceiling.hand < SP_SLOTS_RESERVED || learner->ceiling.hand >= last)
        return "what is kept for max_features does not fit it";
    return NULL;
}

static int sp_voted_open(const sp_header *header, const uint8_t *arrays, sp_learner *learner,
                         ptrdiff_t n_outputs, sp_fault *fault)
{
    sp_voted flat;
    size_t slots, sizes, updates, starts, turns;
    flat.values = (double *)sp_array_at(header, arrays, SP_ARRAY_VOTED_VALUES, &flat.n_mentions);
    flat.slots = (uint32_t *)sp_array_at(header, arrays, SP_ARRAY_VOTED_SLOTS, &slots);
    flat.times = (double *)sp_array_at(header, arrays, SP_ARRAY_VOTED_TIMES, &flat.n_updates);
    flat.sizes = (uint32_t *)sp_array_at(header, arrays, SP_ARRAY_VOTED_SIZES, &sizes);
    flat.steps = (double *)sp_array_at(header, arrays, SP_ARRAY_VOTED_STEPS, &flat.n_turns);
    flat.updates = (uint32_t *)sp_array_at(header, arrays, SP_ARRAY_VOTED_UPDATES, &updates);
    flat.starts = (double *)sp_array_at(header, arrays, SP_ARRAY_VOTED_STARTS, &starts);
    flat.turns = (uint32_t *)sp_array_at(header, arrays, SP_ARRAY_VOTED_TURNS, &turns);
    if (slots != flat.n_mentions)
        return sp_fault_say(fault, SP_WHY_DAMAGED, "the updates' slots and values are not as many");
    if (sizes != flat.n_updates || updates != flat.n_turns || starts != (size_t)n_outputs
        || turns != (size_t)n_outputs)
        return sp_fault_say(fault, SP_WHY_DAMAGED,
                            "the arrays of the updates are not as long as each other");
    int wrong = sp_voters_read(&learner->voters, &flat, n_outputs, &learner->index,
                               &learner->table);
    if (wrong == SP_VOTED_MEMORY)
        return sp_fault_memory(fault);
    return wrong ? sp_fault_say(fault, SP_WHY_DAMAGED, "the updates contradict themselves") : 0;
}

static int sp_marks_fault(int wrong, sp_fault *fault)
{
    if (wrong == SP_MARKS_MEMORY)
        return sp_fault_memory(fault);
    return wrong ? sp_fault_say(fault, SP_WHY_DAMAGED,
                                "what is kept for features and labels contradicts itself")
                 : 0;
}

/* Curves and surfaces, behind names and slots. They are copied, also in place. */
static int sp_shapes_open(const sp_header *header, const uint8_t *arrays, sp_learner *learner,
                          sp_fault *fault)
{
    size_t n;
    const uint32_t *words = (const uint32_t *)sp_array_at(header, arrays, SP_ARRAY_SHAPES, &n);
    const int wrong = sp_shaped_read(learner, words, n);
    if (wrong == SP_SHAPES_MEMORY)
        return sp_fault_memory(fault);
    return wrong ? sp_fault_say(fault, SP_WHY_DAMAGED, sp_shapes_words()) : 0;
}

/* --- More than two labels */

/* The rows, behind names and slots. */
static int sp_marks_open(const sp_header *header, const uint8_t *arrays, sp_learner *learner,
                         bool in_place, sp_fault *fault)
{
    size_t n;
    const uint32_t *marks = (const uint32_t *)sp_array_at(header, arrays, SP_ARRAY_MARKS, &n);
    return sp_marks_fault(in_place ? sp_label_rows_map(learner, marks, n)
                                   : sp_label_rows_read(learner, marks, n),
                          fault);
}

/* The same of a learner of several labels an event, and what is kept for each label. */
static int sp_sets_arrays_open(const sp_header *header, const uint8_t *arrays, sp_learner *learner,
                               bool in_place, sp_fault *fault)
{
    size_t n_labels;
    const double *marked
        = (const double *)sp_array_at(header, arrays, SP_ARRAY_MARKED, &n_labels);
    if (n_labels != (size_t)learner->sets.n_labels)
        return sp_fault_say(fault, SP_WHY_DAMAGED,
                            "what is kept for each label does not fit the labels");
    int failed = sp_marks_fault(sp_sets_labels_read(learner, marked), fault);
    if (in_place) /* an event's entries are looked at when it is scored */
        learner->sets.unverified = header->arrays[SP_ARRAY_MARKS].n;
    return failed ? failed : sp_marks_open(header, arrays, learner, in_place, fault);
}

/* The rows of a linear learner with many labels, behind names and slots. */
static int sp_entries_open(const sp_header *header, const uint8_t *arrays, sp_learner *learner,
                           bool in_place, sp_fault *fault)
{
    size_t n;
    const uint64_t *entries
        = (const uint64_t *)sp_array_at(header, arrays, SP_ARRAY_ENTRIES, &n);
    return sp_marks_fault(in_place ? sp_entries_map(learner, entries, n)
                                   : sp_entries_read(learner, entries, n),
                          fault);
}

/* Names and slots. */
static int sp_arrays_open(sp_arrays *flat, sp_learner *learner, ptrdiff_t n_outputs,
                          size_t n_objects, bool in_place, sp_fault *fault)
{
    int wrong = in_place ? sp_arrays_map(flat, &learner->index, &learner->table, n_outputs)
                         : sp_arrays_read(flat, &learner->index, &learner->table, n_outputs,
                                          n_objects, SP_ARRAYS_DEPTH);
    sp_arrays_free(flat);
    if (!wrong && sp_learner_ready(learner) < 0)
        wrong = SP_ARRAYS_MEMORY;
    if (!wrong && !in_place && sp_learner_slots_fault(learner))
        wrong = SP_ARRAYS_WEIGHT;
    if (wrong == SP_ARRAYS_MEMORY)
        return sp_fault_memory(fault);
    return wrong ? sp_fault_say(fault, SP_WHY_DAMAGED, sp_arrays_words(wrong)) : 0;
}

SP_PRIVATE int sp_file_arrays_open(const sp_header *header, const uint8_t *arrays,
                                   sp_learner *learner,
                                   ptrdiff_t n_outputs, size_t n_objects, bool in_place,
                                   sp_fault *fault)
{
    sp_arrays flat;
    bool votes = sp_learner_can(learner, SP_CAN_VOTE);
    if (votes && in_place)
        return sp_fault_say(fault, SP_WHY_FOREIGN,
                            "holds a VotedPerceptron, which cannot be used in place");
    if (header->arrays[SP_ARRAY_ENTRIES].there
        && sp_learner_widen(learner) == SP_MARKS_MEMORY)
        return sp_fault_memory(fault);
    if (!sp_arrays_are_its(header, learner))
        return sp_fault_say(fault, SP_WHY_DAMAGED, "the arrays are not those of such a model");
    const char *words = sp_arrays_find(header, arrays, learner, &flat);
    if (words != NULL)
        return sp_fault_say(fault, SP_WHY_DAMAGED, words);
    int failed = sp_arrays_open(&flat, learner, n_outputs, n_objects, in_place, fault);
    if (failed)
        return failed;
    if (sp_learner_is_shaped(learner))
        failed = sp_shapes_open(header, arrays, learner, fault);
    if (failed)
        return failed;
    if (learner->adaptive.rows)
        return sp_marks_open(header, arrays, learner, in_place, fault);
    if (header->arrays[SP_ARRAY_ENTRIES].there)
        return sp_entries_open(header, arrays, learner, in_place, fault);
    if (sp_learner_can(learner, SP_CAN_SET))
        return sp_sets_arrays_open(header, arrays, learner, in_place, fault);
    return votes ? sp_voted_open(header, arrays, learner, n_outputs, fault) : 0;
}

/* --- Writing */

SP_PRIVATE void sp_laid_out_free(sp_laid_out *arrays)
{
    for (int i = 0; i < SP_ARRAYS; i++)
        sp_free(arrays->start[i]);
    memset(arrays, 0, sizeof(*arrays));
}

/* Room for an array of n rows. */
static void *sp_array_room(sp_laid_out *arrays, int array, size_t n, size_t width)
{
    const sp_array_kind *kind = sp_array_kind_of(array);
    sp_array *shape = &arrays->shapes[array];
    shape->there = true;
    shape->n = n;
    shape->width = width;
    shape->end = n * (width ? width : 1) * kind->size; /* from its own start */
    arrays->start[array] = sp_malloc(shape->end + 8);
    return arrays->start[array];
}

static bool sp_arrays_room(const sp_learner *learner, sp_arrays *flat, sp_laid_out *to)
{
    flat->weights = (double *)sp_array_room(to, SP_ARRAY_WEIGHTS, flat->n_weights,
                                            (size_t)learner->table.width);
    flat->chunks = (uint32_t *)sp_array_room(to, SP_ARRAY_CHUNKS, flat->n_chunks, 3);
    if (flat->weights == NULL || flat->chunks == NULL)
        return false;
    if (learner->index.bits) {
        flat->slots = (uint32_t *)sp_array_room(to, SP_ARRAY_ROWS, flat->n_stored, 0);
        return flat->slots != NULL;
    }
    flat->keys = (sp_key *)sp_array_room(to, SP_ARRAY_KEYS, flat->n_keys, 2);
    flat->texts = (uint8_t *)sp_array_room(to, SP_ARRAY_TEXTS, flat->n_texts, 0);
    flat->words = (uint32_t *)sp_array_room(to, SP_ARRAY_LOOKUP, flat->n_words, 0);
    if (flat->keys == NULL || flat->texts == NULL || flat->words == NULL)
        return false;
    if (!sp_index_is_limited(&learner->index))
        return true;
    flat->stamps = (uint32_t *)sp_array_room(to, SP_ARRAY_STAMPS, flat->n_keys, 0);
    return flat->stamps != NULL;
}

/* -1 without memory. */
static int sp_shapes_lay_out(const sp_learner *learner, sp_laid_out *to)
{
    uint32_t *words
        = (uint32_t *)sp_array_room(to, SP_ARRAY_SHAPES, sp_shaped_measure(learner), 0);
    if (words == NULL)
        return -1;
    sp_shaped_write(learner, words);
    return 0;
}

/* -1 without memory. */
static int sp_voted_lay_out(const sp_learner *learner, sp_laid_out *to)
{
    sp_voted flat;
    ptrdiff_t n = learner->table.n_outputs;
    sp_voters_measure(&flat, &learner->voters, n);
    flat.values = (double *)sp_array_room(to, SP_ARRAY_VOTED_VALUES, flat.n_mentions, 0);
    flat.times = (double *)sp_array_room(to, SP_ARRAY_VOTED_TIMES, flat.n_updates, 0);
    flat.steps = (double *)sp_array_room(to, SP_ARRAY_VOTED_STEPS, flat.n_turns, 0);
    flat.starts = (double *)sp_array_room(to, SP_ARRAY_VOTED_STARTS, (size_t)n, 0);
    flat.slots = (uint32_t *)sp_array_room(to, SP_ARRAY_VOTED_SLOTS, flat.n_mentions, 0);
    flat.sizes = (uint32_t *)sp_array_room(to, SP_ARRAY_VOTED_SIZES, flat.n_updates, 0);
    flat.updates = (uint32_t *)sp_array_room(to, SP_ARRAY_VOTED_UPDATES, flat.n_turns, 0);
    flat.turns = (uint32_t *)sp_array_room(to, SP_ARRAY_VOTED_TURNS, (size_t)n, 2);
    if (flat.values == NULL || flat.times == NULL || flat.steps == NULL || flat.starts == NULL
        || flat.slots == NULL || flat.sizes == NULL || flat.updates == NULL || flat.turns == NULL)
        return -1;
    return sp_voters_flatten(&flat, &learner->voters, &learner->index, n);
}

/* The rows of slots that have been written. -1 without memory. */
static int sp_marks_lay_out(const sp_learner *learner, sp_arrays *flat, sp_laid_out *to)
{
    uint32_t *marks = (uint32_t *)sp_array_room(to, SP_ARRAY_MARKS,
                                                sp_label_rows_measure(learner, flat),
                                                SP_MARKS_WIDTH);
    if (marks == NULL)
        return -1;
    sp_label_rows_write(learner, flat, marks);
    return 0;
}

/* The same of a linear learner with many labels. */
static int sp_entries_lay_out(const sp_learner *learner, sp_arrays *flat, sp_laid_out *to)
{
    uint64_t *entries = (uint64_t *)sp_array_room(
        to, SP_ARRAY_ENTRIES, sp_entries_measure(learner, flat), SP_ENTRIES_WIDTH);
    if (entries == NULL)
        return -1;
    sp_entries_write(learner, flat, entries);
    return 0;
}

/* The same of several labels an event, and what is kept for each label. */
static int sp_sets_lay_out(const sp_learner *learner, sp_arrays *flat, sp_laid_out *to)
{
    double *marked = (double *)sp_array_room(to, SP_ARRAY_MARKED, (size_t)learner->sets.n_labels,
                                             SP_LABEL_WIDTH);
    if (marked == NULL)
        return -1;
    sp_sets_labels_write(learner, marked);
    return sp_marks_lay_out(learner, flat, to);
}

/* -1 without memory. */
static int sp_journal_lay_out(const sp_bytes *journal, sp_laid_out *to)
{
    void *p = sp_array_room(to, SP_ARRAY_JOURNAL, journal->n, 0);
    if (p != NULL && journal->n > 0)
        memcpy(p, journal->p, journal->n);
    return p == NULL ? -1 : 0;
}

SP_PRIVATE int sp_file_arrays_lay_out(const sp_learner *learner, const sp_bytes *journal,
                                      sp_laid_out *arrays, sp_fault *fault)
{
    sp_arrays flat;
    size_t at = 0;
    bool deep = false;
    memset(arrays, 0, sizeof(*arrays));
    bool good = sp_arrays_measure(&flat, &learner->index, &learner->table) == 0
                && sp_arrays_room(learner, &flat, arrays);
    if (good) {
        sp_arrays_write(&flat, &learner->index, &learner->table);
        if (flat.words != NULL) {
            sp_arrays_lookup(&flat);
            deep = sp_arrays_too_deep(&flat, SP_ARRAYS_DEPTH);
        }
    }
    if (good && sp_learner_is_shaped(learner))
        good = sp_shapes_lay_out(learner, arrays) == 0;
    if (good && learner->adaptive.rows)
        good = sp_marks_lay_out(learner, &flat, arrays) == 0;
    if (good && sp_learner_is_wide(learner))
        good = sp_entries_lay_out(learner, &flat, arrays) == 0;
    sp_arrays_free(&flat);
    if (good && sp_learner_can(learner, SP_CAN_SET))
        good = sp_sets_lay_out(learner, &flat, arrays) == 0;
    if (good && sp_learner_can(learner, SP_CAN_VOTE))
        good = sp_voted_lay_out(learner, arrays) == 0;
    if (good && journal != NULL)
        good = sp_journal_lay_out(journal, arrays) == 0;
    if (!good)
        return sp_fault_memory(fault);
    if (deep)
        return sp_fault_say(fault, SP_WHY_PARAMETER,
                            "the model has a feature name that is a tuple nested more than 100 "
                            "deep, which a model file cannot hold");
    for (int i = 0; i < SP_ARRAYS; i++) {
        sp_array *shape = &arrays->shapes[i];
        shape->start = at;
        shape->end += at;
        at = shape->end;
    }
    return 0;
}
