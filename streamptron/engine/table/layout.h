/* Where the numbers of a slot are, and the arguments of the loops over slots. */

#ifndef STREAMPTRON_TABLE_LAYOUT_H
#define STREAMPTRON_TABLE_LAYOUT_H

#include "memory/types.h"

#include <math.h>
#include "table/keep.h"

enum {
    SP_LANES = 4,                   /* outputs in a block where there are several */
    SP_AHEAD = 12,                  /* how many entries ahead far slots are prefetched */
    SP_FOLD_BITS = 256
};

enum {
    SP_AVERAGE_NONE,
    SP_AVERAGE_UNIFORM,
    SP_AVERAGE_EXPONENTIAL
};

/* Where each number of an output is; no other place knows. The weight is at 0. */
typedef struct {
    int v, p, e, k;                 /* -1: not kept */
    int fields;                     /* how many there are */
    int keep;                       /* which numbers begin at k */
} sp_layout;

enum {
    /* the weight, and all that may be kept */
    SP_FIELDS_MOST = offsetof(sp_layout, fields) / sizeof(int) + SP_KEEP_MOST,
    SP_SLOT_MOST = SP_LANES * SP_FIELDS_MOST    /* doubles */
};

/* The members that may be kept come before `fields`, so that all are counted; k counts as the
   weight. */
typedef char sp_layout_counts_all[offsetof(sp_layout, keep) == 5 * sizeof(int) ? 1 : -1];

SP_TEMPLATE sp_layout sp_layout_of(const int average, const int pocket, const int keep)
{
    sp_layout layout = {-1, -1, -1, -1, 1, keep};
    if (average != SP_AVERAGE_NONE) layout.v = layout.fields++;
    if (pocket) {
        layout.p = layout.fields++;
        layout.e = layout.fields++;
    }
    if (keep != SP_KEEP_NONE) {
        layout.k = layout.fields;
        layout.fields += sp_keep_count(keep);
    }
    return layout;
}

/* Whether learning can have made the fields of n outputs, which are side by side. */
static inline bool sp_fields_are_sound(const sp_layout *layout, const double *fields, size_t n)
{
    const size_t end = n * (size_t)layout->fields;
    for (size_t i = 0; i < end; i++) {
        if (!(fabs(fields[i]) < SP_WEIGHT_LIMIT))
            return false;
    }
    for (int j = 0; j < sp_keep_count(layout->keep); j++) {
        for (size_t i = (size_t)(layout->k + j); i < end; i += (size_t)layout->fields) {
            if (fields[i] < 0.0)
                return false;
        }
    }
    return true;
}

/* Two labels get an output each. The positive label's fields are those of the one output, the other
   label's have negated weights. */
static inline void sp_layout_split(const sp_layout *layout, const double *field, int positive,
                                   double *two)
{
    for (int f = 0; f < layout->fields; f++) {
        bool turns = f != layout->e;
        if (layout->k >= 0 && f >= layout->k)
            turns = sp_keep_flips(layout->keep, f - layout->k);
        two[positive * layout->fields + f] = field[f];
        /* 0 stays +0.0 */
        two[(1 - positive) * layout->fields + f] = turns ? 0.0 - field[f] : field[f];
    }
}

typedef struct {
    double **chunks;                /* slots of a block of outputs */
    uint32_t *folds;                /* of each chunk (exponential average only) */
} sp_slots;

typedef struct {                    /* what changes with time, for a whole table */
    int average;
    double c;                       /* uniform: 1 + events seen */
    double s;                       /* exponential: w - average = s v */
    uint32_t fold;                  /* how often s was multiplied by 2^256 */
    double epoch;                   /* snapshots of the pocket so far, plus one */
} sp_clock;

typedef struct {
    const uint32_t *slots;
    const uint32_t *columns;        /* entry i is in slot slots[columns[i]]; NULL: in slots[i] */
    const int32_t *places;          /* with one output, by column: the slot's distance from the null
                                       slot, in doubles; NULL: not known */
    const double *x;
    ptrdiff_t n;
} sp_entries;

/* Whether `columns` or `places` of a matrix are there; in the library they never are. */
#define SP_OF_MATRIX(numbers) (!SP_SMALL && (numbers) != NULL)

#endif
