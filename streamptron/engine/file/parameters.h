/* A learner's class and its parameters, from what a file or a caller says.

   The classes are numbered as the rules are (learner/rule.h); in the table of parameters each is a
   letter. */

#ifndef STREAMPTRON_FILE_PARAMETERS_H
#define STREAMPTRON_FILE_PARAMETERS_H

#include "events/pairs.h"
#include "json/settings.h"
#include "learner/learner.h"
#include "learner/rule.h"
#include "memory/arena.h"

enum {
    SP_MISSING_SKIP_NAN = 1, /* of the words that `missing` may be */
};

typedef struct sp_parameters {
    sp_rule rule;
    sp_vectors vectors;
    uint64_t max_features; /* 0: no ceiling */
    uint64_t hash_bits;    /* 0: exact */
    bool seeded;
    uint64_t hash_seed;
    uint64_t max_labels; /* 0: any number */
    uint64_t degree;
    uint64_t max_pairs;
    uint64_t budget;
    int missing;
    double above;       /* of MultiLabelClassifier: the threshold of labels that have no other */
    bool best;          /* it is what gives the best F1 */
    uint32_t threshold; /* nodes of what was given; 0: none */
    uint32_t forget;
    uint32_t class_weight;
    uint32_t false_positive_rate;
    uint32_t interactions;
    uint32_t seed;
} sp_parameters;

/* Which features are paired, as the engine takes it. */
typedef struct sp_pairing {
    sp_pairs rule;
    sp_field *fields;
    sp_arena names;
    bool on;
} sp_pairing;

/* The class of this name, of Python's or of the command line's; -1: there is none. */
SP_PRIVATE int sp_class_of(const sp_json *json, uint32_t node);
SP_PRIVATE int sp_class_named(const char *name);
SP_PRIVATE const char *sp_class_name(int kind);

SP_PRIVATE char sp_class_letter(int kind);

/* What a constructor has where nothing is given. */
SP_PRIVATE void sp_parameters_default(sp_parameters *parameters, int kind);

/* Write all of a class's as a file has them: those that an object gives as people write them, which
   have been checked, and the defaults of the others. */
SP_PRIVATE void sp_parameters_write(int kind, const sp_json *json, sp_bytes *to);

/* Which of them contradict each other; NULL: none. In the sentence {name} stands for a parameter as
   it was given, {name:value} for one with that value: each language writes them in its own way. */
SP_PRIVATE const char *sp_parameters_conflict(const sp_parameters *parameters);

/* Check all parameters of a class. 0, or a kind of fault. */
SP_PRIVATE int sp_parameters_read(sp_parameters *parameters, int kind, const sp_given *given,
                                  sp_fault *fault);

/* Whether the parameters of two of a class are the same: 0, or a fault that names one in which they
   are not. `name`, `other`: whose they are. */
SP_PRIVATE int sp_parameters_alike(int kind, const sp_given *given, const sp_parameters *its,
                                   const char *name, const sp_given *others,
                                   const sp_parameters *theirs, const char *other,
                                   sp_fault *fault);

/* 0, or a kind of fault. Call sp_pairing_free in either case. */
SP_PRIVATE int sp_pairing_read(sp_pairing *pairing, const sp_parameters *parameters,
                               const sp_given *given, sp_fault *fault);
SP_PRIVATE void sp_pairing_free(sp_pairing *pairing);

/* What class_weight says of a label, of this document; 1: nothing. */
SP_PRIVATE double sp_class_weight(const sp_parameters *parameters, const sp_given *given,
                                  const sp_json *json, uint32_t label);

/* Label k of the learner is this one of this document: tell its alarm, if it has one. */
SP_PRIVATE void sp_alarms_name(const sp_parameters *parameters, const sp_given *given,
                               const sp_json *json, uint32_t label, ptrdiff_t k,
                               sp_learner *learner);

/* The probability above which a label of this document is answered, if that is not what gives the
   best F1. */
SP_PRIVATE double sp_threshold_of(const sp_parameters *parameters, const sp_given *given,
                                  const sp_json *json, uint32_t label);

/* An untrained learner with these parameters. 0, or a kind of fault; sp_learner_free is due in
   either case. */
SP_PRIVATE int sp_parameters_apply(const sp_parameters *parameters, const sp_given *given,
                                   const sp_pairing *pairing, uint64_t seed, sp_learner *learner,
                                   sp_fault *fault);

#endif
