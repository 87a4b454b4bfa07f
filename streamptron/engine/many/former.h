/* Models of more than two labels as files of before format 5 have them: every feature had numbers
   of every label, in blocks of four and eight, and every label a weight of naive Bayes of its own.

       block 0        the head               [    s    | cnt | om |  w  |  G  | c_0 | c_1 ]
                      once it is dealt out   [    s    | cnt | om |  0  | -1  |     N     ]
       block 1        of a column            [    a    |    b    |    n    |  since  ]
       block 2 + 4 g  of a column            [ e   e   e   e   e   e   e   e ]  of places 8 g ..
       block 3 + 4 g  places 8 g ..          [ w   w   w   w | c   c   c   c ]
       block 4 + 4 g                         [ G   G   G   G   G   G   G   G ]
       block 5 + 4 g  places 8 g + 4 ..      [ w   w   w   w | c   c   c   c ]

   A head that is not dealt out is that of two labels. Here these arrays become those of today:
   blocks 0 to 2 and marks (many/many.h, rows/marks.h). What is usual (m, nm and b) begins anew. So
   it does in files of the formats 5 to 7, which have rows, another m, and no b. */

#ifndef STREAMPTRON_MANY_FORMER_H
#define STREAMPTRON_MANY_FORMER_H

#include "memory/compiler.h"

typedef struct sp_former {
    const double *weights; /* as the file has them, checked in no way */
    size_t n_weights;
    const uint32_t *chunks; /* in the numbering of format 3 */
    size_t n_chunks;
    const uint32_t *rows; /* of a hashed model, else NULL */
    size_t n_rows;
    size_t n_slots; /* of an exact model */
    size_t n_labels;
    int positive;
    size_t *places; /* where each chunk begins; of its own memory */
    size_t new_weights; /* how large today's arrays are */
    size_t new_chunks;
    size_t new_marks;
} sp_former;

enum {
    SP_FORMER_MEMORY = 1,
    SP_FORMER_WRONG = 2,
};

/* How large the arrays will be. 0, or what is wrong. Call sp_former_free in either case. */
SP_API int sp_former_measure(sp_former *former);

SP_API void sp_former_free(sp_former *former);

/* Fill the arrays, which have the sizes that have been found. */
SP_API void sp_former_write(const sp_former *former, double *weights, uint32_t *chunks,
                            uint32_t *marks);

/* And what is kept once: of T, m, nm, rows of D, w0, G0, wn, Gn, and so many numbers behind, the
   same as today: rows of D, w0, G0; and wn, Gn, b behind tau and its sum of squares. */
SP_API void sp_former_once(const double *numbers, size_t n_labels, size_t n_more, double *to);

/* Of formats 5 to 7, where b is missing: there is room for it. */
SP_API void sp_former_usual(double *numbers, size_t n_labels, size_t n_more);

#endif
