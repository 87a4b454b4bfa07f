/* The path of every event: index, score, judge, rule, update.

       event (keys, values)
         | sp_pairs_write        with degree=2 or interactions: the pairs of its features
         | sp_learner_resolve    keys -> slots; an unknown feature is the null slot
         | sp_learner_score      W.x for every kept vector, in one pass
         | sp_learner_plan       the rule: a mistake? how big a step?
         | insert, reserve       the only part that can fail; then all of it is undone
         | watch                 which vectors would be right? (serving, probabilities, pocket)
         | sp_table_add          only the slots of this event
         v sp_table_tick         the averages' clock

   A feature gets its slot at the first update that touches it, not when it is first seen: a learner
   that makes few mistakes stores few features. An answer is made once per event
   (sp_learner_answer), and so is each kept vector's verdict (events/verdict.h).

   With one output a row of a matrix is scored and learned in place (sp_learner_score_row,
   sp_learner_commit_row). Its new features are written as an event, and get slots, only if the rule
   takes a step (sp_learner_admit).

   Choices are what is scored, judged and moved (events/step.h): the outputs of one event, or
   candidates, which are events. Two labels may share one output until a third one comes
   (events/two_labels.h). Then the learner changes its form and scores the event again, and changes
   back if memory runs out (sp_learner_plan).

   Other people's C code may call this, without Python; see docs/threads.md. Labels are numbers
   here: 1 and 0 for a rule whose answer is a sign, and 0, 1, 2.. in order of appearance for the
   others. */

#ifndef STREAMPTRON_PATH_PATH_H
#define STREAMPTRON_PATH_PATH_H

#include "learner/can.h"
#include "learner/learner.h"
#include "learner/model_numbers.h"

/* An untrained learner; max_features = 0: no ceiling.

   Returns -1 if out of memory. Call sp_learner_free in either case. */
SP_API int sp_learner_init(sp_learner *learner, sp_rule rule, const sp_vectors *vectors,
                           bool intercept, sp_slot_type max_features, int hash_bits,
                           uint64_t hash_seed);

SP_API void sp_learner_free(sp_learner *learner);

/* Fill event.scores[kind * n_scores + choice], with room for one more kind. -1 if out of memory, or
   if its features cannot be paired: event.unfit says why. */
SP_API int sp_learner_score(sp_learner *learner, sp_event *event);

/* The same for one output and a matrix's row, read in place: entries of columns, without the
   intercept. Only the scores of the event are written. */
SP_HOT int sp_learner_score_row(sp_learner *learner, sp_event *event, const sp_entries *entries);

/* Make each kept vector's verdict on it. */
SP_HOT void sp_learner_judge(const sp_learner *learner, sp_event *event);

/* The answer to a scored event, and which vector gives it. */
SP_API sp_answer sp_learner_answer(const sp_learner *learner, sp_event *event);

/* Make sure that all scores of a scored event are there: with many labels, answers do not need
   them. */
SP_API void sp_learner_decide(const sp_learner *learner, sp_event *event);

/* The share of each part of an answered event in an output's score, by the vector `kind`; behind
   them, that of the constant part. -1 if out of memory. */
SP_API int sp_learner_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t output,
                             int kind, double *shares);

/* How many parts there are; and the name of one: 1; 0: it has none; -1: out of memory. */
SP_API ptrdiff_t sp_learner_n_shares(const sp_learner *learner, const sp_event *event);
SP_API int sp_learner_share_key(const sp_learner *learner, const sp_event *event, ptrdiff_t i,
                                sp_key *key);

/* Write p[choice] of an answered event; with one output, p of each known label. */
SP_API void sp_learner_probabilities(const sp_learner *learner, const sp_event *event,
                                     sp_answer answer, double *p);

/* The same, into the event's own scratch, which has room for them behind its scores. */
SP_API const double *sp_event_probabilities(const sp_learner *learner, sp_event *event);

/* Judge a scored event, and let the rule fill event.step. Returns -1 if out of memory.

   `row`: a row scored in place (sp_learner_score_row), but not with a third label; NULL: the
   event's own entries. `intercept`: as in sp_table_add. */
SP_PRIVATE int sp_learner_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                               bool intercept, ptrdiff_t y, double u);

/* Learn the label y of a scored event by the step that the rule has chosen.

   Returns -1 if out of memory; nothing has changed then. */
SP_API int sp_learner_commit(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

/* Reserve what writing an event's features needs, for one output and without a ceiling.

   Returns -1 if out of memory; nothing has changed then. */
SP_HOT int sp_learner_admit(sp_learner *learner, sp_event *event);

/* As sp_learner_commit, for one output and a row scored in place whose features all have
   weights. */
SP_HOT void sp_learner_commit_row(sp_learner *learner, const sp_event *event,
                                  const sp_entries *entries, ptrdiff_t y);

/* Score an event, and let the rule choose its step for label y, which sp_learner_commit takes. If y
   is the third label, the other two have got an output each by then, and the event has been
   answered again.

   Returns -1 if out of memory; nothing has changed then. */
SP_API int sp_learner_prepare(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

/* Do not learn it after all: undo what sp_learner_prepare did. */
SP_API void sp_learner_abandon(sp_learner *learner, sp_event *event);

/* Learn the label y, with sample weight times class weight u. Returns -1 if out of memory. */
SP_API int sp_learner_learn(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

/* One weight of one kept vector. */
SP_API double sp_learner_weight(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output,
                                int kind);

/* The memory that a learner takes. */
SP_API size_t sp_learner_bytes(const sp_learner *learner);

/* A second learner in the same state. -1 if out of memory. Call learner_free in either case. */
SP_API int sp_learner_copy(sp_learner *to, const sp_learner *other);

/* Give an untrained learner of kind SP_ANSWER_TWO its form with n labels. -1 if out of memory. */
SP_API int sp_learner_expect(sp_learner *learner, ptrdiff_t n, int positive);

/* Give a learner so many outputs in all; new ones are zeros. -1 if out of memory; then it keeps its
   old ones. */
SP_API int sp_learner_expect_outputs(sp_learner *learner, ptrdiff_t n);

/* Let an output start from the values of an event's features, which have slots, and from an
   intercept. -1 if out of memory; then some values may have been set. */
SP_API int sp_learner_begin_from(sp_learner *learner, sp_event *event, ptrdiff_t output,
                                 double intercept);

/* Give the two labels of a learner of kind SP_ANSWER_SIGN an output each.

   Returns -1 if out of memory; nothing has changed then.

   From now on it learns by `rule`, which has an output per label. Its weights are those that this
   rule would have learned by the same steps: w for True, -w for False. */
SP_API int sp_learner_split(sp_learner *learner, const sp_rule *rule);

/* Whether slots that were read have numbers that this machine cannot have written. That weights are
   finite was checked when they were read. */
SP_PRIVATE bool sp_learner_slots_fault(const sp_learner *learner);

/* Give an untrained learner rows of labels, which are then read. 0, or what is wrong
   (SP_MARKS_). */
SP_API int sp_learner_expect_rows(sp_learner *learner);

/* Compute what a learner keeps beside its slots, once these have been read. -1 if out of memory. */
SP_API int sp_learner_ready(sp_learner *learner);

/* What a learner keeps once per model, beside its slots: how many numbers there are; write them;
   and read them into an untrained learner that has its labels (NULL, or what is wrong with
   them). */
SP_API sp_model_numbers sp_learner_model_numbers(const sp_learner *learner);
SP_API void sp_learner_model_numbers_write(const sp_learner *learner, double *numbers);
SP_API const char *sp_learner_model_numbers_read(sp_learner *learner, const double *numbers);

/* What is wrong with a learner, or NULL. It checks everything. */
SP_API const char *sp_learner_fault(const sp_learner *learner);

#endif
