/* Parameters by name: a table lists them; they are checked, and stored where the table says.

   A file holds a learner's and a tokenizer's parameters as values (json/values.h); people write
   them as plain JSON. Those that are left out keep their defaults, which are stored first. */

#ifndef STREAMPTRON_JSON_SETTINGS_H
#define STREAMPTRON_JSON_SETTINGS_H

#include "json/bytes.h"
#include "json/json.h"
#include "json/words.h"

enum {
    SP_SETTING_REAL,  /* double */
    SP_SETTING_SPAN,  /* the same, a number of events: the default is an int */
    SP_SETTING_TRUTH, /* bool */
    SP_SETTING_WORD,  /* int: which of the words, or -1 for None if the table begins with it */
    SP_SETTING_WHOLE, /* uint64_t */
    SP_SETTING_MAYBE, /* the same; None is 0 */
    SP_SETTING_NODE,  /* uint32_t: the value's node, 0 for None; checked where it is used */
    SP_SETTING_VALUE, /* the same, but None is a value, too */
    SP_SETTING_RANGE, /* the same; two ints, both 1 by default */
};

/* Names are arrays, not pointers, which would have to be relocated when a library is loaded. */
typedef struct sp_setting {
    char name[20];
    char of[9]; /* a letter for each owner that has it */
    uint8_t type;
    uint8_t place;
    double low, high;
    const char *want; /* what it must be; for a word, the words between bars; for a truth, NULL */
    double start;     /* its default */
} sp_setting;

typedef struct sp_given {
    const sp_json *json;
    uint32_t object;
    bool plain; /* as people write them */
} sp_given;

/* Put the default of each parameter into its place in `to`, except of those that are nodes. */
SP_PRIVATE void sp_settings_start(const sp_setting *table, size_t n, char letter, void *to);

/* Put each given parameter into its place in `to`. 0, or a kind of fault.

   `owner`: what the parameters belong to, in words; `letter`: its letter in the table. */
SP_PRIVATE int sp_settings_read(const sp_setting *table, size_t n, const char *owner, char letter,
                                const sp_given *given, void *to, sp_fault *fault);

/* Write all parameters of an owner as they are in a file, in the order of the table. Some are given
   by a JSON object, as people write them; the others have their defaults. */
SP_PRIVATE void sp_settings_write(const sp_setting *table, size_t n, char letter,
                                  const sp_json *json, sp_bytes *to);

/* Report a conflict of parameters. In the sentence {name} stands for a parameter as it was given,
   and {name:value} for one with that value. NULL: no conflict. 0, or the kind of fault. */
SP_PRIVATE int sp_settings_conflict(const sp_setting *table, size_t n, char letter,
                                    const sp_given *given, const void *its, const char *sentence,
                                    sp_fault *fault);

/* The first parameter that differs between two owners of one kind, given what each was given and
   where it was stored. NULL: all are the same. */
SP_PRIVATE const sp_setting *sp_settings_differ(const sp_setting *table, size_t n, char letter,
                                                const sp_given *given, const void *its,
                                                const sp_given *others, const void *theirs);

/* Continue the sentence with a parameter and its value. */
SP_PRIVATE int sp_fault_add_setting(sp_fault *fault, const sp_setting *setting,
                                    const sp_given *given, const void *its);

/* Say what a parameter must be. Returns the kind of fault. */
SP_PRIVATE int sp_setting_fault(const char *name, const sp_given *given, uint32_t node,
                                const char *want, sp_fault *fault);

/* Continue it with a value as errors show it. */
SP_PRIVATE int sp_fault_add_value(sp_fault *fault, const sp_json *json, uint32_t node);

#endif
