/* A model to begin with where there is none, as options ask for it. */

#ifndef SPT_PROGRAM_CREATE_H
#define SPT_PROGRAM_CREATE_H

#include "options.h"
#include "streamptron.h"

typedef struct creation {
    const char *learner, *positive;
    const char *hash_seed, *hash_bits, *max_features, *max_labels;
    const char *analyzer, *ngrams, *separators, *min_length, *max_length, *value;
    bool no_lowercase, fold_numbers, l2;
    const char *form, *text, *label; /* of the lines, as their `reading` names them */
} creation;

/* The options of a creation: so many of them are put into a table. */
enum { CREATE_OPTIONS = 15 };
void create_options(creation *c, option *options);

/* The first of them that was given; NULL: none was. */
const char *create_given(const creation *c);

/* Make it. DONE, or the code to exit with. */
int create_model(void *creation, spt_model **made);

#endif
