/* Making a new model, as the options say, where there is none yet. */

#ifndef SPT_PROGRAM_CREATE_H
#define SPT_PROGRAM_CREATE_H

#include "options.h"
#include "streamptron.h"

typedef struct creation {
    const char *learner, *positive;
    const char *hash_seed, *hash_bits, *max_features, *max_labels;
    const char *analyzer, *ngrams, *separators, *min_length, *max_length, *value;
    bool no_lowercase, fold_numbers, l2;
    const char *form, *text, *label; /* of the lines, with the names in their `reading` */
} creation;

/* Add the options of a creation, CREATE_OPTIONS of them, to a table. */
enum { CREATE_OPTIONS = 15 };
void create_options(creation *c, option *options);

/* The first of them that was given; NULL: none. */
const char *create_given(const creation *c);

/* Make the model. DONE, or the exit code. */
int create_model(void *creation, spt_model **made);

#endif
