/* Parameters by name, as a table lists them: checked, and put where the table says.

   A file holds a learner's and a tokenizer's parameters as values (json/values.h); people write
   them as plain JSON. What is left out has its default, which is there before. */

#ifndef STREAMPTRON_JSON_SETTINGS_H
#define STREAMPTRON_JSON_SETTINGS_H

#include "json/bytes.h"
#include "json/json.h"
#include "json/words.h"

enum {
    SP_SETTING_REAL,  /* double */
    SP_SETTING_SPAN,  /* the same, of events: the default is an int */
    SP_SETTING_TRUTH, /* bool */
    SP_SETTING_WORD,  /* int: which of the words, or -1 for None where the table begins with it */
    SP_SETTING_WHOLE, /* uint64_t */
    SP_SETTING_MAYBE, /* the same; None is 0 */
    SP_SETTING_NODE,  /* uint32_t: the value's node, 0 for None; whoever needs it checks it */
    SP_SETTING_VALUE, /* the same, where None is a value, too */
    SP_SETTING_RANGE, /* the same; two ints, which are one by default */
};

/* Texts in it need no address, which a library would have to work out when it is loaded. */
typedef struct sp_setting {
    char name[20];
    char of[9]; /* a letter for each owner that has it */
    uint8_t type;
    uint8_t place;
    double low, high;
    const char *want; /* what it must be; of a word the words, between bars. Of a truth NULL */
    double start;     /* what it is if it is not given */
} sp_setting;

typedef struct sp_given {
    const sp_json *json;
    uint32_t object;
    bool plain; /* as people write them */
} sp_given;

/* Put the default of each parameter into its place in `to`; of one that is a node nothing. */
SP_PRIVATE void sp_settings_start(const sp_setting *table, size_t n, char letter, void *to);

/* Put each parameter that is given into its place in `to`. 0, or a kind of fault.

   `owner`: what has them, in words, and its letter. */
SP_PRIVATE int sp_settings_read(const sp_setting *table, size_t n, const char *owner, char letter,
                                const sp_given *given, void *to, sp_fault *fault);

/* Write all parameters of an owner as a file has them, in the order of the table: those that a JSON
   object gives as people write them, and the defaults of the others. */
SP_PRIVATE void sp_settings_write(const sp_setting *table, size_t n, char letter,
                                  const sp_json *json, sp_bytes *to);

/* Say a sentence in which {name} is a parameter as it was given and {name:value} one with that
   value. NULL: there is nothing to say. 0, or the kind of fault. */
SP_PRIVATE int sp_settings_conflict(const sp_setting *table, size_t n, char letter,
                                    const sp_given *given, const void *its, const char *sentence,
                                    sp_fault *fault);

/* The first parameter in which two of one owner differ, of what was given and where it was put.
   NULL: they are the same. */
SP_PRIVATE const sp_setting *sp_settings_differ(const sp_setting *table, size_t n, char letter,
                                                const sp_given *given, const void *its,
                                                const sp_given *others, const void *theirs);

/* Go on with a parameter and its value. */
SP_PRIVATE int sp_fault_add_setting(sp_fault *fault, const sp_setting *setting,
                                    const sp_given *given, const void *its);

/* Say what a parameter must be. Returns the kind of fault. */
SP_PRIVATE int sp_setting_fault(const char *name, const sp_given *given, uint32_t node,
                                const char *want, sp_fault *fault);

/* Go on with a value as an error shows it. */
SP_PRIVATE int sp_fault_add_value(sp_fault *fault, const sp_json *json, uint32_t node);

#endif
