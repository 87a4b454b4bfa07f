/* A machine, as data: what a kind of learner does, with a function for each verb.

   Each machine is a `const` struct of this type, in the verbs.c of its folder; a second struct has
   the verbs that are rarely called. A table in machine/machine.c says which rule has which machine.
   A learner points to its own (learner.machine). That may change when labels come: the linear
   machine becomes the wide one, and the adaptive machine the one of many labels. The machine sets
   the pointer when it gives the learner its new form.

   All learners have the verbs of an event. Other verbs may be NULL: machine/machine.h says what
   that means, and other rooms call its functions. -1 is returned if out of memory; then nothing has
   changed. */

#ifndef STREAMPTRON_LEARNER_MACHINE_H
#define STREAMPTRON_LEARNER_MACHINE_H

#include "learner/can.h"
#include "learner/learner.h"
#include "learner/model_numbers.h"
#include "table/arrays.h"

struct sp_forms;
struct sp_merge;
struct sp_shard;

enum {
    SP_LABEL_WIDTH = 6, /* numbers of a label that are not in slots, if any */
};

/* Which array of a model file holds the rows of labels. */
typedef enum sp_rows_array {
    SP_ROWS_NONE, /* there are no rows */
    SP_ROWS_MARKS,
    SP_ROWS_ENTRIES,
} sp_rows_array;

typedef struct sp_machine {
    /* --- What it is */

    int can;               /* bits of learner/can.h; a rule may add to them */
    double weight_limit;   /* the largest sample weight times class weight; 0: SP_VALUE_LIMIT */
    bool skips_weightless; /* a label that comes with weight 0 is ignored */
    uint32_t row_blocks;   /* which blocks of a slot have a row of labels, a bit each */
    sp_rows_array rows;    /* and which array that is */
    ptrdiff_t mix_blocks;  /* about how many blocks of a merge's new chunk have numbers; 0: all */

    /* --- Its life */

    /* Make an untrained learner of learner.rule. `scattered`: see sp_pool_init. */
    int (*init)(sp_learner *learner, const sp_vectors *vectors, bool scattered);
    /* Give an untrained learner its form with n labels. */
    int (*expect)(sp_learner *learner, ptrdiff_t n);
    void (*free)(sp_learner *learner);
    /* Copy what is not in index and table. Even if memory runs out, it then is the copy's own. */
    int (*copy)(sp_learner *to, const sp_learner *other);
    size_t (*bytes)(const sp_learner *learner);
    /* What is wrong outside index and table, or NULL. */
    const char *(*fault)(const sp_learner *learner);
    /* Whether a table of so many slots has numbers that learning cannot have written; for machines
       where sp_table_rows_fault cannot tell. */
    bool (*slots_fault)(const sp_learner *learner, sp_slot_type n_slots);
    /* Compute what is kept beside the slots, once they are there. */
    int (*ready)(sp_learner *learner);

    /* --- An event */

    /* Fill event.scores of an event whose slots are known. */
    int (*score)(sp_learner *learner, sp_event *event);
    /* Fill event.verdicts[kind] of a scored event that has not been judged. */
    void (*verdict)(const sp_learner *learner, sp_event *event, int kind);
    /* Compute the scores of all labels of an answered event, if the answer did not need them. */
    void (*decide)(const sp_learner *learner, sp_event *event);
    /* Write p[choice] of an answered event; with one output, p of each known label. */
    void (*probabilities)(const sp_learner *learner, const sp_event *event, sp_answer answer,
                          double *p);
    /* Choose the step for label y; nothing changes but the event. `row`: see sp_linear_plan. */
    int (*plan)(sp_learner *learner, sp_event *event, const sp_entries *row, bool intercept,
                ptrdiff_t y, double u);
    /* Do all that can fail: slots for new features, an output for a new label, chunks for the
       step. */
    int (*reserve)(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);
    /* Count the answer and take the step, for which there is room. Nothing can fail. */
    void (*apply)(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);
    /* Called when the event has been learned, or not; there were n_slots before. */
    void (*finish)(sp_learner *learner, sp_event *event, sp_slot_type n_slots);

    /* --- Moves, for machines with weights */

    /* Make room for the moves of the event's step, whose features have slots; and make these
       moves. */
    int (*reserve_moves)(sp_learner *learner, sp_event *event);
    void (*move)(sp_learner *learner, const sp_event *event);
    /* Let an output start from the values of an event's features, which have slots. */
    int (*begin_from)(sp_learner *learner, sp_event *event, ptrdiff_t output, double intercept);

    /* --- A third label */

    /* Give each of two labels an output. */
    int (*split)(sp_learner *learner);
    /* Keep the new form, as the label that caused it has been learned; or go back to the old
       one. */
    void (*commit_split)(sp_learner *learner);
    void (*revert_split)(sp_learner *learner);

    /* As apply, for an event that was scored in place, as a row of numbers (SP_CAN_ROWS). */
    void (*apply_row)(sp_learner *learner, const sp_event *event, const sp_entries *row,
                      ptrdiff_t y);

    /* --- What it has learned */

    double (*weight)(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output, int kind);
    /* How many parts an answered event's score has, beside the constant part; one of them; and its
       name (1; 0: it has none; -1: out of memory). */
    ptrdiff_t (*n_shares)(const sp_learner *learner, const sp_event *event);
    sp_share (*share_at)(const sp_learner *learner, const sp_event *event, ptrdiff_t i);
    int (*share_key)(const sp_learner *learner, const sp_event *event, ptrdiff_t i, sp_key *key);
    /* The share of each part in a score; behind them, that of the constant part. */
    int (*shares)(const sp_learner *learner, const sp_event *event, ptrdiff_t output, int kind,
                  double *shares);
    /* What it keeps once per model: how many numbers there are; write them; and read them into an
       untrained learner that has its labels (NULL, or what is wrong with them). */
    sp_model_numbers (*model_numbers)(const sp_learner *learner);
    void (*model_numbers_write)(const sp_learner *learner, double *numbers);
    const char *(*model_numbers_read)(sp_learner *learner, const double *numbers);

    /* --- Rows of labels in model files */

    /* Give an untrained learner rows, which are then read. 0, or SP_MARKS_. */
    int (*expect_rows)(sp_learner *learner);
    /* The size of the array in units of 16 bytes, for a learner whose slots have been written;
       write it, and note in the slots where each row is; and fill in the rows of a learner whose
       slots and labels have been read (0, or what is wrong, SP_MARKS_). NULL: rows/marks.h does
       it. */
    size_t (*rows_measure)(const sp_learner *learner, const sp_arrays *flat);
    void (*rows_write)(const sp_learner *learner, sp_arrays *flat, uint64_t *rows);
    int (*rows_read)(sp_learner *learner, const uint64_t *rows, size_t n);
    /* Whether rows that have been read do not fit their slots. */
    bool (*rows_fault)(const sp_learner *learner);
} sp_machine;

/* The verbs that neither an event nor a model file needs. They are in a table of their own, to
   which no other one points (machine/machine.h). So a program that neither undoes, sends nor merges
   is linked without them. */
typedef struct sp_seldom {
    /* --- Logging and undoing a step. AdaptiveClassifier keeps it as a snapshot (many/snapshot.h);
       a rule without numbers of its own keeps its moves */

    /* How many bytes a step that has been chosen may need. */
    size_t (*undo_log_most)(const sp_learner *learner, const sp_event *event);
    /* Write down what it is going to change; and what it has changed. */
    void (*undo_log_begin)(const sp_learner *learner, const sp_event *event, double u,
                           uint8_t *data);
    size_t (*undo_log_end)(const sp_learner *learner, const sp_event *event, uint8_t *data);
    bool (*undo_log_is_sound)(const sp_learner *learner, const sp_event *event,
                              const uint8_t *data, size_t bytes);
    int (*take_back)(sp_learner *learner, const sp_event *event, const uint8_t *data);

    /* --- Slots and rows in a delta */

    /* Whether a block of a slot is the same in a learner and in a base that it may come from: their
       first labels are the same. */
    bool (*same_row)(const sp_learner *learner, uint32_t block, const double *row,
                     const sp_learner *base, const double *its);
    /* See sp_machine_marks, sp_machine_clear_addresses. */
    size_t (*marks)(const sp_learner *learner, const double *slot, const uint32_t **marks);
    void (*clear_addresses)(double *slot, size_t at);
    /* The SP_LABEL_WIDTH numbers of a label that are not in slots; false: no such label. */
    bool (*label_numbers)(const sp_learner *learner, ptrdiff_t k, double *marked);
    /* Called before the slots of a learner are laid over a base's; see exchange/delta.h. 1: its
       table is the base's already. */
    int (*overlay_begin)(sp_learner *learner, const sp_learner *base);
    /* And after that, with the delta's slots, blocks[b] of each block, n in all. 0, or what is
       wrong. */
    int (*overlay_rows)(sp_learner *learner, const uint32_t *slots, const uint32_t *blocks,
                        size_t n, const uint32_t *marks, size_t n_marks, const double *marked);

    /* --- A merge (exchange/merge.h) */

    /* Bring all sides into one form; or a shard and its base, for a delta; or one learner alone (n
       = 0). Free the forms in either case. */
    int (*mix_form)(struct sp_merge *m);
    int (*one_form)(struct sp_forms *forms, struct sp_shard *shard, int n,
                    const struct sp_shard **base);
    /* Get memory for it; call mix_free in either case. */
    int (*mix_reserve)(struct sp_merge *m);
    void (*mix_free)(struct sp_merge *m);
    /* Merge what is kept once per model. */
    int (*mix_model)(struct sp_merge *m);
    /* Whether a shard's own slot is the same as a slot of the base. */
    bool (*mix_same)(const struct sp_merge *m, const struct sp_shard *shard, sp_slot_type own,
                     sp_slot_type base);
    /* Whether a block of a chunk may have numbers. */
    bool (*mix_writes)(const struct sp_merge *m, ptrdiff_t block, size_t chunk);
    /* Merge the row of a feature, whose chunks are there wherever a shard has written. */
    int (*mix_slot)(struct sp_merge *m, sp_slot_type slot);
    /* Merge what is neither kept once nor in slots, after these. */
    int (*mix_beside)(struct sp_merge *m);
    /* Keep only these slots' part of that; see exchange/mix_stay.h. */
    void (*mix_stay)(sp_learner *to, const sp_slot_type *stay, size_t n);
    /* Called when the merged learner is ready. */
    void (*mixed)(sp_learner *to);
} sp_seldom;

#endif
