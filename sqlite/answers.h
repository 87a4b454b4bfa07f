/* Answers as SQL values: a label and its probability, and lists of them as JSON. */

#ifndef STREAMPTRON_SQLITE_ANSWERS_H
#define STREAMPTRON_SQLITE_ANSWERS_H

#include "extension.h"

/* The bytes of a text or a blob; never NULL. */
const void *answers_bytes(sqlite3_value *value, int *n);

/* Make the event this value: a text, or for a model of mails the bytes of one. SPT_OK or a code. */
int answers_read(spt_event *event, sqlite3_value *value, spt_error *error);

/* Check that a model answers with one label per event. SPT_OK or a code. */
int answers_check(const spt_model *model, spt_error *error);

/* A label; NULL for number -1. */
void answers_label(sqlite3_context *context, const spt_model *model, ptrdiff_t label);

/* [{"label": "spam", "probability": 0.9}, ...]: the most probable ones. SPT_OK or a code. */
int answers_top(sqlite3_context *context, const spt_model *model, spt_event *event, size_t most,
                spt_error *error);

/* [{"feature": "prize", "contribution": 0.35}, ...], towards that label, the largest first. The
   constant part has the name null. SPT_OK or a code. */
int answers_explain(sqlite3_context *context, const spt_model *model, spt_event *event,
                    size_t label, spt_error *error);

#endif
