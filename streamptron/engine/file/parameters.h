/* A learner's class and parameters, from a file or a caller.

   Classes have the numbers of their rules (learner/rule.h); in the table of parameters each has a
   letter. */

#ifndef STREAMPTRON_FILE_PARAMETERS_H
#define STREAMPTRON_FILE_PARAMETERS_H

#include "events/pairs.h"
#include "json/settings.h"
#include "learner/learner.h"
#include "learner/rule.h"
#include "memory/arena.h"

enum {
    SP_MISSING_SKIP_NAN = 1, /* one of the words for `missing` */
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
    double above;       /* MultiLabelClassifier's threshold for labels without their own */
    bool best;          /* the threshold with the best F1 is used */
    uint32_t threshold; /* nodes of given values; 0: none */
    uint32_t forget;
    uint32_t class_weight;
    uint32_t false_positive_rate;
    uint32_t interactions;
    uint32_t seed;
} sp_parameters;

/* Which features are paired, in the engine's form. */
typedef struct sp_pairing {
    sp_pairs rule;
    sp_field *fields;
    sp_arena names;
    bool on;
} sp_pairing;

/* The class with this name, in Python or on the command line; -1: none. */
SP_PRIVATE int sp_class_of(const sp_json *json, uint32_t node);
SP_PRIVATE int sp_class_named(const char *name);
SP_PRIVATE const char *sp_class_name(int kind);

SP_PRIVATE char sp_class_letter(int kind);

/* Set all parameters to the defaults of the constructor. */
SP_PRIVATE void sp_parameters_default(sp_parameters *parameters, int kind);

/* Write all parameters of a class as in a file. Some are given by a JSON object as people write it,
   which has been checked; the others have their defaults. */
SP_PRIVATE void sp_parameters_write(int kind, const sp_json *json, sp_bytes *to);

/* A sentence about parameters that contradict each other; NULL: none do. In it {name} stands for a
   parameter as it was given, {name:value} for one with that value, which each language writes in
   its own way. */
SP_PRIVATE const char *sp_parameters_conflict(const sp_parameters *parameters);

/* Check all parameters of a class. 0, or a kind of fault. */
SP_PRIVATE int sp_parameters_read(sp_parameters *parameters, int kind, const sp_given *given,
                                  sp_fault *fault);

/* Whether two models of a class have the same parameters: 0, or a fault that names one that
   differs. `name`, `other`: the models' names. */
SP_PRIVATE int sp_parameters_alike(int kind, const sp_given *given, const sp_parameters *its,
                                   const char *name, const sp_given *others,
                                   const sp_parameters *theirs, const char *other,
                                   sp_fault *fault);

/* 0, or a kind of fault. Call sp_pairing_free in either case. */
SP_PRIVATE int sp_pairing_read(sp_pairing *pairing, const sp_parameters *parameters,
                               const sp_given *given, sp_fault *fault);
SP_PRIVATE void sp_pairing_free(sp_pairing *pairing);

/* The class_weight of a label, a node of this document; 1 if none is given. */
SP_PRIVATE double sp_class_weight(const sp_parameters *parameters, const sp_given *given,
                                  const sp_json *json, uint32_t label);

/* Label k of the learner is this node of this document: bind its alarm to it, if it has one. */
SP_PRIVATE void sp_alarms_name(const sp_parameters *parameters, const sp_given *given,
                               const sp_json *json, uint32_t label, ptrdiff_t k,
                               sp_learner *learner);

/* The probability above which a label, a node of this document, is answered, unless the threshold
   with the best F1 is used. */
SP_PRIVATE double sp_threshold_of(const sp_parameters *parameters, const sp_given *given,
                                  const sp_json *json, uint32_t label);

/* Make an untrained learner with these parameters. 0, or a kind of fault. Call sp_learner_free in
   either case. */
SP_PRIVATE int sp_parameters_apply(const sp_parameters *parameters, const sp_given *given,
                                   const sp_pairing *pairing, uint64_t seed, sp_learner *learner,
                                   sp_fault *fault);

#endif
