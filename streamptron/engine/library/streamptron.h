/* libstreamptron: online linear learners for unbounded sparse event streams, in C.

   A model is trained in Python, on the command line or here, and is kept in one file. It can be
   opened in two ways. In memory, it can go on learning. In place (SPT_MAPPED), it is read-only, and
   all processes that open it share one copy. Both give the same bits as Python, on every machine.
   docs/c.md has examples.

   Threads. Any number of threads may use a model at once to answer, each with an event of its own,
   while no thread changes the model. A thread that changes it (spt_learn and the like) must be the
   only one that uses it; the caller provides the lock. While a model is saved, other threads may
   read it. An event belongs to one thread at a time.

   Errors. Every call that can fail returns SPT_OK or a code, and changes nothing if it fails. The
   message is written to the last argument, which may be NULL. The library never prints, and never
   ends the process. Names and labels are UTF-8 with a length; they need no zero at their end. */

#ifndef STREAMPTRON_H
#define STREAMPTRON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(STREAMPTRON_SHARED)
    #define SPT_API __declspec(dllexport)
#elif defined(_WIN32) && defined(STREAMPTRON_IMPORT)
    #define SPT_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
    #define SPT_API __attribute__((visibility("default")))
#else
    #define SPT_API
#endif

/* The version of this interface. It rises when something is added; nothing is removed. */
#define SPT_INTERFACE 6

typedef struct spt_model spt_model;
typedef struct spt_event spt_event;
typedef struct spt_step spt_step;

enum {
    SPT_OK = 0,
    SPT_MEMORY = 1,    /* out of memory */
    SPT_SYSTEM = 2,    /* the file cannot be opened, read or written: see spt_error.system */
    SPT_FOREIGN = 3,   /* not a model file, or one that this version cannot use */
    SPT_DAMAGED = 4,   /* a damaged model file: use another copy */
    SPT_ARGUMENT = 5,  /* an invalid argument; the message names it */
    SPT_READ_ONLY = 6, /* the model was opened in place */
    SPT_FULL = 7       /* a new label, but the model already has max_labels */
};

/* What went wrong. Begin with `spt_error error = SPT_ERROR;`. */
typedef struct spt_error {
    size_t size; /* of this struct, as it was compiled */
    int code;
    int system;      /* errno, or Windows's last error; 0: not a system error */
    char words[512]; /* one sentence, zero-terminated */
} spt_error;
#define SPT_ERROR {sizeof(spt_error), 0, 0, {0}}

/* An answer. Begin with `spt_answer answer = SPT_ANSWER;`. */
typedef struct spt_answer {
    size_t size;        /* of this struct, as it was compiled */
    ptrdiff_t label;    /* its number; -1: no label has been learned, or there are no candidates */
    double score;       /* of that label; with two labels, that of the positive one */
    double probability; /* of that label */
} spt_answer;
#define SPT_ANSWER {sizeof(spt_answer), -1, 0.0, 0.0}

/* A label and its probability, or a candidate and its probability. */
typedef struct spt_choice {
    size_t label; /* its number */
    double probability;
} spt_choice;

/* The share that one feature has in a score. */
typedef struct spt_part {
    const char *name; /* as Python shows it; NULL: the constant part */
    size_t n;
    double share;
} spt_part;

/* What a model has counted. Begin with `spt_counts counts = SPT_COUNTS;`. */
typedef struct spt_counts {
    size_t size; /* of this struct, as it was compiled */
    uint64_t seen, updates, mistakes;
    uint64_t features; /* that have a slot; in a hashed model, all slots */
    uint64_t bytes;    /* of memory */
} spt_counts;
#define SPT_COUNTS {sizeof(spt_counts), 0, 0, 0, 0, 0}

/* --- Models */

enum {
    SPT_MAPPED = 1 /* use the file in place: read-only, opens at once, one copy for all processes */
};

/* Open a file. Opened in memory, all of it is checked first. Mapped, what an answer depends on is
   checked when it is used, and the file must not be overwritten in place (spt_save never does
   that). */
SPT_API int spt_open(const char *path, unsigned flags, spt_model **model, spt_error *error);

/* The same for n bytes in memory, such as those received over a network. With SPT_MAPPED their
   address must be a multiple of eight, and they must stay there as long as the model is open.
   Otherwise they may be freed at once. */
SPT_API int spt_open_memory(const void *p, size_t n, unsigned flags, spt_model **model,
                            spt_error *error);

/* Make an untrained model: "perceptron", "multiclass", "mira", "arow", "adaptive", "voted",
   "multilabel" or "ranking". `parameters` is a JSON object, such as {"max_features": 100000};
   parameters that are left out have Python's defaults, and NULL means all defaults. `tokenizer`:
   the parameters of a Tokenizer that splits texts for the model, {} for all defaults. NULL: no
   tokenizer; events have names and numbers. */
SPT_API int spt_new(const char *learner, const char *parameters, const char *tokenizer,
                    spt_model **model, spt_error *error);

/* The same for a model whose events are mails. `mail`: the parameters of a Mail as a JSON object;
   NULL: all defaults. */
SPT_API int spt_new_mail(const char *learner, const char *parameters, const char *mail,
                         spt_model **model, spt_error *error);

/* Save the model to a file, which is replaced as a whole or stays as it was. The bytes are those
   that Python writes. Whatever else the opened file holds, such as a journal or a position in a
   stream, is written unchanged. */
SPT_API int spt_save(const spt_model *model, const char *path, spt_error *error);

/* Save it into memory, to be freed with spt_free. */
SPT_API int spt_save_memory(const spt_model *model, void **p, size_t *n, spt_error *error);
SPT_API void spt_free(void *p);

/* Whether the opened file has been replaced since, or is gone. If so, open it again. */
SPT_API int spt_is_stale(const spt_model *model);

/* Events of the model must be freed before it. NULL does nothing. */
SPT_API void spt_close(spt_model *model);

SPT_API int spt_is_read_only(const spt_model *model);
SPT_API int spt_count(const spt_model *model, spt_counts *counts);

/* "AdaptiveClassifier" and so on. */
SPT_API const char *spt_learner(const spt_model *model);

/* Whether an event has a set of labels (a MultiLabelClassifier) rather than one. */
SPT_API int spt_is_multilabel(const spt_model *model);

/* Whether an event is a list of candidates, one of which is right (a RankingPerceptron). */
SPT_API int spt_is_ranking(const spt_model *model);

/* Whether the model stores no names of features (hash_bits). */
SPT_API int spt_is_hashed(const spt_model *model);

/* What spt_event_text takes: nothing, as events have names and numbers; a text, or several (see
   spt_fields); or a mail. */
enum { SPT_FEATURES = 0, SPT_TEXT = 1, SPT_MAIL = 2 };
SPT_API int spt_input(const spt_model *model);

/* The format of the lines that the model learns from, as a JSON object, which docs/format.md
   describes ("lines"). NULL: the file does not say. */
SPT_API const char *spt_lines(const spt_model *model, size_t *n);

/* Set that format. It is saved with the model. */
SPT_API int spt_put_lines(spt_model *model, const char *json, size_t n, spt_error *error);

/* --- Labels: numbered from 0, in the order in which they were first seen */

SPT_API size_t spt_labels(const spt_model *model);

/* A label as Python writes it, zero-terminated; NULL: there is no label with this number. The two
   labels of a Perceptron are those that the file's line format names, or False and True. The text
   stays until the model is closed. */
SPT_API const char *spt_label(const spt_model *model, size_t label, size_t *n);

/* The number of a label; -1: there is none. */
SPT_API ptrdiff_t spt_label_find(const spt_model *model, const char *text, size_t n);

/* --- Events */

SPT_API int spt_event_new(const spt_model *model, spt_event **event, spt_error *error);
SPT_API void spt_event_free(spt_event *event);

/* Begin another event. */
SPT_API void spt_event_clear(spt_event *event);

/* Make the event this text, split by the model's tokenizer. It is UTF-8; each bad sequence is read
   as one U+FFFD. If the model's events are mails, it is a whole mail as stored in a file, of any
   bytes. */
SPT_API int spt_event_text(spt_event *event, const char *text, size_t n, spt_error *error);

/* The same for a tokenizer with fields: one text for each field, in the order of spt_field. */
SPT_API int spt_event_texts(spt_event *event, const char *const *texts, const size_t *lengths,
                            size_t n_texts, spt_error *error);
SPT_API size_t spt_fields(const spt_model *model);
SPT_API const char *spt_field(const spt_model *model, size_t field, size_t *n);

/* Add a feature: a name that the event does not have yet, and a finite number of at most 1e50 in
   absolute value. The int 7 and the text "7" are different names. A NaN is left out if the model
   has missing="skip_nan". */
SPT_API int spt_event_add(spt_event *event, const char *name, size_t n, double value,
                          spt_error *error);
SPT_API int spt_event_add_int(spt_event *event, int64_t name, double value, spt_error *error);

/* Begin another candidate (only for a RankingPerceptron). Features added from now on are this
   candidate's, until the next one begins; a candidate made of a text or a mail takes no other
   features. Candidates are numbered from 0. Their numbers take the place of labels: in spt_answer
   and spt_choice, and for spt_probabilities, spt_scores, spt_explain and spt_learn. */
SPT_API int spt_event_candidate(spt_event *event, spt_error *error);

/* --- Answers. They leave the event unchanged, so that it can be learned or answered again */

/* Predict the label of an event. If events have sets of labels, call spt_predict_set. */
SPT_API int spt_predict(const spt_model *model, spt_event *event, spt_answer *answer,
                        spt_error *error);

/* Write p[label] for all labels. `room`: how many fit. */
SPT_API int spt_probabilities(const spt_model *model, spt_event *event, double *p, size_t room,
                              spt_error *error);

/* The labels that a MultiLabelClassifier answers, in the order of their numbers: those whose
   probability is above their threshold. `n`: how many there are; those beyond `room` are left
   out. */
SPT_API int spt_predict_set(const spt_model *model, spt_event *event, spt_choice *choices,
                            size_t room, size_t *n, spt_error *error);

/* The most probable labels of any model, most probable first, at most `room`; ties keep the order
   of their numbers. Candidates are in the order of their scores. `n`: how many were written. */
SPT_API int spt_top(const spt_model *model, spt_event *event, spt_choice *choices, size_t room,
                    size_t *n, spt_error *error);

/* The probability above which a MultiLabelClassifier answers a label. With threshold="f1" it is the
   one that would have been best so far. -1: the model has no thresholds, or no such label. */
SPT_API double spt_threshold(const spt_model *model, size_t label);

/* The scores, as from Python's decision_function_one: one score for up to two labels, one per label
   for more. A MultiLabelClassifier always has one per label, a RankingPerceptron one per candidate.
   `n`: how many. */
SPT_API int spt_scores(const spt_model *model, spt_event *event, double *scores, size_t room,
                       size_t *n, spt_error *error);

/* The share that each feature of the event has in a label's score; for a candidate, in its lead
   over the best other one. `n`: how many parts there are; those beyond `room` are left out. Their
   names stay until the event is used again. */
SPT_API int spt_explain(const spt_model *model, spt_event *event, size_t label, spt_part *parts,
                        size_t room, size_t *n, spt_error *error);

/* The event's value of a part that spt_explain has just listed, by the part's position. It is 1 for
   the constant part, and for features that the event lacks. */
SPT_API double spt_part_value(const spt_event *event, size_t part);

/* The features with the largest weights for a label: first `n[0]` positive ones, then `n[1]`
   negative ones, each with the largest first. There are at most `most` of each, so `parts` must
   have room for 2 `most`. A feature's share is its weight. A hashed model (hash_bits) has numbers
   as names. The names stay until the event is used again. */
SPT_API int spt_top_features(const spt_model *model, spt_event *event, size_t label,
                             spt_part *parts, size_t most, size_t *n, spt_error *error);

/* Which of the model's weights are the best overall: "current", "average" or "pocket"; for a
   VotedPerceptron, "vote". With an event: which of them have answered it. */
SPT_API const char *spt_serving(const spt_model *model, const spt_event *event);

/* --- Learning: no other thread may use the model meanwhile */

/* Learn that this label is right; weight 1 is the usual one. */
SPT_API int spt_learn(spt_model *model, spt_event *event, size_t label, double weight,
                      spt_error *error);

/* The same with the label's text; a new label gets the next number. */
SPT_API int spt_learn_as(spt_model *model, spt_event *event, const char *label, size_t n,
                         double weight, spt_error *error);

/* Learn the set of an event's labels, for a MultiLabelClassifier. If `there` is NULL, the event has
   these n labels and no other known label; n = 0: it has none. Otherwise there[i] says whether the
   event has labels[i], and nothing is learned about labels that are not listed. No label may be
   listed twice. */
SPT_API int spt_learn_set(spt_model *model, spt_event *event, const size_t *labels,
                          const int *there, size_t n, double weight, spt_error *error);

/* The same with the labels' texts; new labels get the next numbers, in this order. */
SPT_API int spt_learn_set_as(spt_model *model, spt_event *event, const char *const *labels,
                             const size_t *lengths, const int *there, size_t n, double weight,
                             spt_error *error);

/* --- Undoing. A step takes memory for its event, and for what it has changed */

/* Whether to keep the steps that this event is learned by from now on, so that they can be undone.
   Only a Perceptron, MulticlassPerceptron, MIRA, AdaptiveClassifier or MultiLabelClassifier can. */
SPT_API int spt_event_keep(spt_event *event, int keep, spt_error *error);

/* The last step that the event was learned by, which the caller now owns; NULL: there is none, or
   it was fetched already. */
SPT_API spt_step *spt_event_step(spt_event *event);

/* Undo a step, once. What was learned since stays. `event` becomes the step's event, so that the
   right label can be learned from it next. */
SPT_API int spt_undo(spt_model *model, spt_event *event, spt_step *step, spt_error *error);

/* A step as bytes, to be freed with spt_free; and a step from such bytes. They are for machines of
   the same kind, and for the model that took the step, or for one that was saved and opened since.
   The bytes are checked, but do not say which model they belong to. */
SPT_API int spt_step_save_memory(const spt_step *step, void **p, size_t *n, spt_error *error);
SPT_API int spt_step_open_memory(const spt_model *model, const void *p, size_t n, spt_step **step,
                                 spt_error *error);

/* Steps outlive events, but not their model. NULL does nothing. */
SPT_API void spt_step_free(spt_step *step);

/* --- Merging models: see docs/merging.md. They must have the same class, parameters and
   tokenizer */

/* Merge n models that have learned separately, each from its share of the events. They may be
   mapped. `since`: the model that all of them started from, as it was then; NULL: they have no
   common start. The merged model is in memory and can go on learning. Whatever files hold besides
   their models is not in it. */
SPT_API int spt_merge(const spt_model *const *models, size_t n, const spt_model *since,
                      spt_model **merged, spt_error *error);

/* A delta: what a model has learned since another one, as bytes that can be sent; free them with
   spt_free. `shard`: a number, below 2^53, that no other delta from the same base has. */
SPT_API int spt_delta(const spt_model *model, const spt_model *since, uint64_t shard, void **p,
                      size_t *n, spt_error *error);

/* Learn what n deltas hold, whatever their order: the model becomes what spt_merge makes of the
   models that sent them. All must start from this very model, each with its own shard number. They
   are checked before they are used. Earlier steps can no longer be undone. */
SPT_API int spt_apply(spt_model *model, const void *const *deltas, const size_t *lengths, size_t n,
                      spt_error *error);

/* --- About the library */

SPT_API const char *spt_version(void);
SPT_API unsigned spt_interface(void); /* the library's SPT_INTERFACE */
SPT_API const char *spt_message(int code);

#ifdef __cplusplus
}
#endif

#endif
