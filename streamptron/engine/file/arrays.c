#include "file/arrays.h"

#include "exchange/shaped.h"
#include "file/counts.h"
#include "machine/arrays.h"
#include "memory/heap.h"
#include "path/path.h"
#include "multilabel/arrays.h"
#include "table/arrays.h"
#include "voted/arrays.h"

#include <string.h>

static const char *sp_arrays_words(int fault)
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
        return "a feature has a number that learning cannot have made";
    default:
        return "some weights belong to no feature or no label";
    }
}

static const char *sp_shapes_words(void)
{
    return "what is kept of curves and surfaces contradicts itself";
}

/* --- Reading */

/* The array that has the rows of labels, if there are rows. */
static int sp_array_of_rows(const sp_learner *learner)
{
    return learner->machine->rows == SP_ROWS_ENTRIES ? SP_ARRAY_ENTRIES : SP_ARRAY_MARKS;
}

/* The arrays of such a model, a bit each. */
static uint32_t sp_arrays_expected(const sp_learner *learner)
{
    uint32_t all = 1U << SP_ARRAY_WEIGHTS | 1U << SP_ARRAY_CHUNKS;
    if (learner->index.bits)
        all |= 1U << SP_ARRAY_ROWS;
    else
        all |= 1U << SP_ARRAY_KEYS | 1U << SP_ARRAY_TEXTS | 1U << SP_ARRAY_LOOKUP;
    if (sp_index_is_limited(&learner->index))
        all |= 1U << SP_ARRAY_STAMPS;
    if (sp_learner_is_shaped(learner))
        all |= 1U << SP_ARRAY_SHAPES;
    if (learner->machine->rows != SP_ROWS_NONE)
        all |= 1U << sp_array_of_rows(learner);
    if (sp_learner_can(learner, SP_CAN_VOTE)) {
        for (int i = SP_ARRAY_VOTED_VALUES; i <= SP_ARRAY_VOTED_STARTS; i++)
            all |= 1U << i;
        for (int i = SP_ARRAY_VOTED_SLOTS; i <= SP_ARRAY_VOTED_TURNS; i++)
            all |= 1U << i;
    }
    if (sp_learner_can(learner, SP_CAN_SET))
        all |= 1U << SP_ARRAY_MARKED;
    return all;
}

static bool sp_arrays_are_its(const sp_file_arrays *arrays, const sp_learner *learner, int from)
{
    const uint32_t lookup = 1U << SP_ARRAY_LOOKUP;
    const uint32_t expected = sp_arrays_expected(learner);
    uint32_t found = from == SP_FROM_PICKLE ? expected & lookup : 0;
    for (int i = 0; i < SP_ARRAY_JOURNAL; i++)
        found |= arrays->shapes[i].there ? 1U << i : 0;
    return found == expected;
}

/* The start of an array, and how many rows it has. */
static void *sp_array_at(const sp_file_arrays *arrays, int array, size_t *n)
{
    *n = arrays->shapes[array].n;
    return arrays->start[array];
}

/* Point at the arrays of names and weights. NULL, or what is wrong. */
static const char *sp_arrays_find(const sp_file_arrays *arrays, const sp_learner *learner,
                                  sp_arrays *flat)
{
    size_t n_stamps;
    memset(flat, 0, sizeof(*flat));
    if (arrays->shapes[SP_ARRAY_WEIGHTS].width != (size_t)learner->table.width)
        return "a row of weights has another length than the model's";
    flat->weights = (double *)sp_array_at(arrays, SP_ARRAY_WEIGHTS, &flat->n_weights);
    flat->chunks = (uint32_t *)sp_array_at(arrays, SP_ARRAY_CHUNKS, &flat->n_chunks);
    if (learner->index.bits) {
        flat->slots = (uint32_t *)sp_array_at(arrays, SP_ARRAY_ROWS, &flat->n_stored);
        return NULL;
    }
    flat->keys = (sp_key *)sp_array_at(arrays, SP_ARRAY_KEYS, &flat->n_keys);
    flat->texts = (uint8_t *)sp_array_at(arrays, SP_ARRAY_TEXTS, &flat->n_texts);
    flat->words = (uint32_t *)sp_array_at(arrays, SP_ARRAY_LOOKUP, &flat->n_words);
    if (flat->n_keys < SP_SLOTS_RESERVED || flat->n_keys >= SP_SLOT_MAX
        || (flat->words != NULL && (flat->n_words == 0 || flat->n_words >= SP_SLOT_MAX)))
        return "the number of names is invalid";
    if (!sp_index_is_limited(&learner->index))
        return NULL;
    flat->stamps = (uint32_t *)sp_array_at(arrays, SP_ARRAY_STAMPS, &n_stamps);
    size_t last = SP_MAX(flat->n_keys, (size_t)SP_SLOTS_RESERVED + 1);
    if (n_stamps != flat->n_keys || flat->n_keys > learner->index.max_slots
        || learner->ceiling.hand < SP_SLOTS_RESERVED || learner->ceiling.hand >= last)
        return "what is kept for max_features does not fit it";
    return NULL;
}

static int sp_voted_open(const sp_file_arrays *arrays, sp_learner *learner, ptrdiff_t n_outputs,
                         sp_fault *fault)
{
    sp_voted flat;
    size_t slots, sizes, updates, starts, turns;
    flat.values = (double *)sp_array_at(arrays, SP_ARRAY_VOTED_VALUES, &flat.n_mentions);
    flat.slots = (uint32_t *)sp_array_at(arrays, SP_ARRAY_VOTED_SLOTS, &slots);
    flat.times = (double *)sp_array_at(arrays, SP_ARRAY_VOTED_TIMES, &flat.n_updates);
    flat.sizes = (uint32_t *)sp_array_at(arrays, SP_ARRAY_VOTED_SIZES, &sizes);
    flat.steps = (double *)sp_array_at(arrays, SP_ARRAY_VOTED_STEPS, &flat.n_turns);
    flat.updates = (uint32_t *)sp_array_at(arrays, SP_ARRAY_VOTED_UPDATES, &updates);
    flat.starts = (double *)sp_array_at(arrays, SP_ARRAY_VOTED_STARTS, &starts);
    flat.turns = (uint32_t *)sp_array_at(arrays, SP_ARRAY_VOTED_TURNS, &turns);
    if (slots != flat.n_mentions)
        return sp_fault_say(fault, SP_WHY_DAMAGED,
                            "the updates do not have as many slots as values");
    if (sizes != flat.n_updates || updates != flat.n_turns || starts != (size_t)n_outputs
        || turns != (size_t)n_outputs)
        return sp_fault_say(fault, SP_WHY_DAMAGED, "the arrays of the updates differ in length");
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

/* Curves and surfaces, after names and slots have been read. They are copied, even in place. */
static int sp_shapes_open(const sp_file_arrays *arrays, sp_learner *learner, sp_fault *fault)
{
    size_t n;
    const uint32_t *words = (const uint32_t *)sp_array_at(arrays, SP_ARRAY_SHAPES, &n);
    const int wrong = sp_shaped_read(learner, words, n);
    if (wrong == SP_SHAPES_MEMORY)
        return sp_fault_memory(fault);
    return wrong ? sp_fault_say(fault, SP_WHY_DAMAGED, sp_shapes_words()) : 0;
}

/* The rows of labels, after names and slots have been read. */
static int sp_array_rows_open(const sp_file_arrays *arrays, sp_learner *learner, bool in_place,
                              sp_fault *fault)
{
    size_t n;
    const void *rows = sp_array_at(arrays, sp_array_of_rows(learner), &n);
    return sp_marks_fault(sp_machine_rows_read(learner, rows, n, in_place), fault);
}

/* What a model of several labels keeps for each label. */
static int sp_marked_open(const sp_file_arrays *arrays, sp_learner *learner, bool in_place,
                          sp_fault *fault)
{
    size_t n_labels;
    const double *marked
        = (const double *)sp_array_at(arrays, SP_ARRAY_MARKED, &n_labels);
    if (n_labels != (size_t)learner->multilabel.n_labels)
        return sp_fault_say(fault, SP_WHY_DAMAGED,
                            "what is kept for each label does not fit the labels");
    if (in_place) /* an event's entries are checked when it is scored */
        learner->multilabel.unverified = arrays->shapes[SP_ARRAY_MARKS].n;
    return sp_marks_fault(sp_multilabel_labels_read(learner, marked), fault);
}

/* Names and slots. */
static int sp_arrays_open(sp_arrays *flat, sp_learner *learner, ptrdiff_t n_outputs,
                          size_t n_objects, int from, sp_fault *fault)
{
    const int depth = from == SP_FROM_PICKLE ? SP_PICKLE_DEPTH : SP_ARRAYS_DEPTH;
    int wrong = from == SP_FROM_MAPPED
                    ? sp_arrays_map(flat, &learner->index, &learner->table, n_outputs)
                    : sp_arrays_read(flat, &learner->index, &learner->table, n_outputs, n_objects,
                                   depth);
    sp_arrays_free(flat);
    if (!wrong && sp_learner_ready(learner) < 0)
        wrong = SP_ARRAYS_MEMORY;
    if (!wrong && from != SP_FROM_MAPPED && sp_learner_slots_fault(learner))
        wrong = SP_ARRAYS_WEIGHT;
    if (wrong == SP_ARRAYS_MEMORY)
        return sp_fault_memory(fault);
    return wrong ? sp_fault_say(fault, SP_WHY_DAMAGED, sp_arrays_words(wrong)) : 0;
}

SP_API int sp_file_arrays_open(const sp_file_arrays *arrays, sp_learner *learner,
                               ptrdiff_t n_outputs, size_t n_objects, int from, sp_fault *fault)
{
    sp_arrays flat;
    const bool votes = sp_learner_can(learner, SP_CAN_VOTE);
    const bool in_place = from == SP_FROM_MAPPED;
    if (votes && in_place)
        return sp_fault_say(fault, SP_WHY_FOREIGN,
                            "holds a VotedPerceptron, which cannot be used in place");
    if (arrays->shapes[SP_ARRAY_ENTRIES].there
        && sp_learner_expect_rows(learner) == SP_MARKS_MEMORY)
        return sp_fault_memory(fault);
    if (!sp_arrays_are_its(arrays, learner, from))
        return sp_fault_say(fault, SP_WHY_DAMAGED, "the arrays are not those of such a model");
    const char *words = sp_arrays_find(arrays, learner, &flat);
    if (words != NULL)
        return sp_fault_say(fault, SP_WHY_DAMAGED, words);
    int failed = sp_arrays_open(&flat, learner, n_outputs, n_objects, from, fault);
    if (failed)
        return failed;
    if (sp_learner_is_shaped(learner))
        failed = sp_shapes_open(arrays, learner, fault);
    if (!failed && sp_learner_can(learner, SP_CAN_SET))
        failed = sp_marked_open(arrays, learner, in_place, fault);
    if (!failed && arrays->shapes[sp_array_of_rows(learner)].there)
        failed = sp_array_rows_open(arrays, learner, in_place, fault);
    return !failed && votes ? sp_voted_open(arrays, learner, n_outputs, fault) : failed;
}

SP_API int sp_file_arrays_look_through(const sp_file_arrays *arrays, sp_learner *learner,
                                       sp_fault *fault)
{
    size_t n, n_slots;
    const double *slots = (const double *)sp_array_at(arrays, SP_ARRAY_WEIGHTS, &n_slots);
    const uint32_t *marks = (const uint32_t *)sp_array_at(arrays, SP_ARRAY_MARKS, &n);
    if (!learner->multilabel.unverified)
        return 0;
    learner->multilabel.unverified = 0;
    return sp_marks_fault(sp_multilabel_marks_check(learner, slots, n_slots, marks, n), fault);
}

SP_PRIVATE void sp_file_arrays_behind(const sp_header *header, const uint8_t *first,
                                      sp_file_arrays *arrays)
{
    memset(arrays, 0, sizeof(*arrays));
    memcpy(arrays->shapes, header->arrays, sizeof(arrays->shapes));
    for (int i = 0; i < SP_ARRAYS; i++) {
        /* never written through: the learner is read-only, or copies what it takes */
        if (arrays->shapes[i].there)
            arrays->start[i] = (void *)(uintptr_t)(first + arrays->shapes[i].start);
    }
}

/* --- Writing */

/* The arrays to write, and the function that provides memory for them. */
typedef struct sp_laying {
    const sp_learner *learner;
    sp_file_arrays *to;
    sp_file_arrays_room *room;
    void *whose;
    bool failed; /* out of memory */
} sp_laying;

/* Room for an array of n rows; NULL if out of memory. */
static void *sp_array_room(sp_laying *laying, int array, size_t n)
{
    const sp_array_kind *kind = sp_array_kind_of(array);
    sp_array *shape = &laying->to->shapes[array];
    shape->there = true;
    shape->n = n;
    shape->width = array == SP_ARRAY_WEIGHTS ? (size_t)laying->learner->table.width : kind->width;
    shape->end = n * (shape->width ? shape->width : 1) * kind->size; /* relative to its own start */
    if (laying->failed)
        return NULL;
    laying->to->start[array] = laying->room(laying->whose, array, shape);
    laying->failed = laying->to->start[array] == NULL;
    return laying->to->start[array];
}

/* Names and slots. */
static void sp_arrays_lay_out(sp_laying *laying, bool lookup)
{
    const sp_learner *learner = laying->learner;
    sp_arrays *flat = &laying->to->flat;
    laying->failed = sp_arrays_measure(flat, &learner->index, &learner->table) < 0;
    flat->weights = (double *)sp_array_room(laying, SP_ARRAY_WEIGHTS, flat->n_weights);
    flat->chunks = (uint32_t *)sp_array_room(laying, SP_ARRAY_CHUNKS, flat->n_chunks);
    if (learner->index.bits)
        flat->slots = (uint32_t *)sp_array_room(laying, SP_ARRAY_ROWS, flat->n_stored);
    else {
        flat->keys = (sp_key *)sp_array_room(laying, SP_ARRAY_KEYS, flat->n_keys);
        flat->texts = (uint8_t *)sp_array_room(laying, SP_ARRAY_TEXTS, flat->n_texts);
        if (lookup)
            flat->words = (uint32_t *)sp_array_room(laying, SP_ARRAY_LOOKUP, flat->n_words);
    }
    if (sp_index_is_limited(&learner->index))
        flat->stamps = (uint32_t *)sp_array_room(laying, SP_ARRAY_STAMPS, flat->n_keys);
    if (!laying->failed)
        sp_arrays_write(flat, &learner->index, &learner->table);
}

static void sp_voted_lay_out(sp_laying *laying)
{
    const sp_learner *learner = laying->learner;
    const ptrdiff_t n = learner->table.n_outputs;
    sp_voted flat;
    sp_voters_measure(&flat, &learner->voters, n);
    flat.values = (double *)sp_array_room(laying, SP_ARRAY_VOTED_VALUES, flat.n_mentions);
    flat.times = (double *)sp_array_room(laying, SP_ARRAY_VOTED_TIMES, flat.n_updates);
    flat.steps = (double *)sp_array_room(laying, SP_ARRAY_VOTED_STEPS, flat.n_turns);
    flat.starts = (double *)sp_array_room(laying, SP_ARRAY_VOTED_STARTS, (size_t)n);
    flat.slots = (uint32_t *)sp_array_room(laying, SP_ARRAY_VOTED_SLOTS, flat.n_mentions);
    flat.sizes = (uint32_t *)sp_array_room(laying, SP_ARRAY_VOTED_SIZES, flat.n_updates);
    flat.updates = (uint32_t *)sp_array_room(laying, SP_ARRAY_VOTED_UPDATES, flat.n_turns);
    flat.turns = (uint32_t *)sp_array_room(laying, SP_ARRAY_VOTED_TURNS, (size_t)n);
    if (!laying->failed)
        laying->failed = sp_voters_flatten(&flat, &learner->voters, &learner->index, n) < 0;
}

/* Curves and surfaces, what is kept for each label, and rows. Slots have been written. */
static void sp_rows_lay_out(sp_laying *laying)
{
    const sp_learner *learner = laying->learner;
    sp_arrays *flat = &laying->to->flat;
    void *p;
    if (sp_learner_is_shaped(learner)) {
        p = sp_array_room(laying, SP_ARRAY_SHAPES, sp_shaped_measure(learner));
        if (p != NULL)
            sp_shaped_write(learner, (uint32_t *)p);
    }
    if (sp_learner_can(learner, SP_CAN_SET)) {
        p = sp_array_room(laying, SP_ARRAY_MARKED, (size_t)learner->multilabel.n_labels);
        if (p != NULL)
            sp_multilabel_labels_write(learner, (double *)p);
    }
    if (learner->machine->rows != SP_ROWS_NONE) {
        p = sp_array_room(laying, sp_array_of_rows(learner),
                          sp_machine_rows_measure(learner, flat));
        if (p != NULL)
            sp_machine_rows_write(learner, flat, p);
    }
}

SP_API int sp_file_arrays_lay_out(const sp_learner *learner, bool lookup, sp_file_arrays_room *room,
                                  void *whose, sp_file_arrays *arrays)
{
    sp_laying laying = {learner, arrays, room, whose, false};
    memset(arrays, 0, sizeof(*arrays));
    sp_arrays_lay_out(&laying, lookup);
    if (!laying.failed)
        sp_rows_lay_out(&laying);
    if (!laying.failed && sp_learner_can(learner, SP_CAN_VOTE))
        sp_voted_lay_out(&laying);
    sp_arrays_free(&arrays->flat);
    return laying.failed ? -1 : 0;
}

SP_API bool sp_file_arrays_look_up(sp_file_arrays *arrays, int from)
{
    if (arrays->flat.words != NULL)
        sp_arrays_lookup(&arrays->flat);
    return arrays->flat.keys != NULL
           && sp_arrays_too_deep(&arrays->flat,
                               from == SP_FROM_PICKLE ? SP_PICKLE_DEPTH : SP_ARRAYS_DEPTH);
}

/* --- For a file */

static void *sp_array_alone(void *whose, int array, const sp_array *shape)
{
    (void)whose, (void)array;
    return sp_malloc(shape->end + 8);
}

SP_PRIVATE void sp_file_arrays_free(sp_file_arrays *arrays)
{
    for (int i = 0; i < SP_ARRAYS; i++)
        sp_free(arrays->start[i]);
    memset(arrays, 0, sizeof(*arrays));
}

SP_PRIVATE int sp_file_arrays_write(const sp_learner *learner, const sp_bytes *journal,
                                    sp_file_arrays *arrays, sp_fault *fault)
{
    size_t at = 0;
    int failed = sp_file_arrays_lay_out(learner, true, sp_array_alone, NULL, arrays);
    if (!failed && journal != NULL) {
        sp_laying laying = {learner, arrays, sp_array_alone, NULL, false};
        void *p = sp_array_room(&laying, SP_ARRAY_JOURNAL, journal->n);
        failed = laying.failed;
        if (p != NULL && journal->n > 0)
            memcpy(p, journal->p, journal->n);
    }
    if (failed)
        return sp_fault_memory(fault);
    if (sp_file_arrays_look_up(arrays, SP_FROM_FILE))
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
