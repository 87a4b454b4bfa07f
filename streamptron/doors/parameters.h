/* The table of parameters, as Python sees it. */

#ifndef STREAMPTRON_DOORS_PARAMETERS_H
#define STREAMPTRON_DOORS_PARAMETERS_H

#include "file/parameters.h"
#include "file/tokens.h"
#include "learner/serve.h"
#include "learner/shapes.h"
#include "voted/vote.h"

enum {
    IS_NUMBER,
    IS_SPAN,
    IS_TRUTH,
    IS_WORD,
    IS_WORD_OR_NONE,
    IS_COUNT,
    IS_COUNT_OR_NONE,
    IS_SEED,
    IS_BY_LABEL,
    IS_FIELDS,
    IS_NUMBER_OR_WORD,
    IS_RANGE,
    IS_TEXT,
    IS_NAMES,
};

typedef struct parameter {
    const char *name, *of, *called;
    int kind;
    size_t to;
    double low, high, start;
    const char *want, *needs, *about;
} parameter;

#define SP_PARAMETER(name, of, kind, to, low, high, start, want, needs, about) \
    {#name, of,    #kind, IS_##kind, offsetof(sp_parameters, to),                  \
     low,   high,  start, want,      needs,                       about},

static const parameter PARAMETERS[] = {
#include "file/parameters_table.h"
};
enum { N_PARAMETERS = sizeof(PARAMETERS) / sizeof(*PARAMETERS) };

#define SP_TOKEN(name, of, kind, low, high, start, want, about) \
    {#name, of, #kind, IS_##kind, 0, low, high, start, want, "", about},

static const parameter TOKENS[] = {
#include "file/parameters_table.h"
};
enum { N_TOKENS = sizeof(TOKENS) / sizeof(*TOKENS) };

#endif
