/* libstreamptron: online linear learners for unbounded sparse event streams, in C.

   A model is trained in Python, on the command line or here. It lies in one file. Opened where it
   lies it is shared by all who open it, and answers; opened in memory it goes on learning. Both
   give the same bits as Python, on every machine. docs/c.md has examples.

   Threads. A model that no one teaches may be read by any number of threads at once, each with an
   event of its own. Who teaches, names a label or saves keeps all others out meanwhile, with a lock
   of his own. An event belongs to one thread at a time.

   Errors. Every call that can fail returns SPT_OK or a code, and changes nothing if it fails; the
   words are in the last argument, which may be NULL. Nothing is printed, and nothing ends the
   process. Names and labels are UTF-8 with a length; they need no zero at their end. */

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

/* What this header promises: it rises when something is added. What was there stays. */
#define SPT_INTERFACE 6

typedef struct spt_model spt_model;
typedef struct spt_event spt_event;
typedef struct spt_step spt_step;

enum {
    SPT_OK = 0,
    SPT_MEMORY = 1,    /* there is no memory */
    SPT_SYSTEM = 2,    /* the system cannot open, read or write the file: see spt_error.system */
    SPT_FOREIGN = 3,   /* not a model file, or one that this version cannot use */
    SPT_DAMAGED = 4,   /* a damaged one: take another copy */
    SPT_ARGUMENT = 5,  /* an invalid argument; the words name it */
    SPT_READ_ONLY = 6, /* the model was opened in place */
    SPT_FULL = 7       /* a new label, and the model has max_labels */
};

/* What was wrong, in words. Begin with `spt_error error = SPT_ERROR;`. */
typedef struct spt_error {
    size_t size; /* of this struct, as it was compiled */
    int code;
    int system;      /* errno, or Windows's last error; 0: it was not the system */
    char words[512]; /* one sentence with a zero at its end */
} spt_error;
#define SPT_ERROR {sizeof(spt_error), 0, 0, {0}}

/* An answer. Begin with `spt_answer answer = SPT_ANSWER;`. */
typedef struct spt_answer {
    size_t size;        /* of this struct, as it was compiled */
    ptrdiff_t label;    /* its number; -1: no label has been learned, or there is none to answer */
    double score;       /* of that label; of two labels, that of the positive one */
    double probability; /* of that label */
} spt_answer;
#define SPT_ANSWER {sizeof(spt_answer), -1, 0.0, 0.0}

/* A label and its probability: one of several that an event may have. Or a candidate. */
typedef struct spt_choice {
    size_t label; /* its number */
    double probability;
} spt_choice;

/* What one feature has of a score. */
typedef struct spt_part {
    const char *name; /* as Python shows it; NULL: what is always there */
    size_t n;
    double share;
} spt_part;

/* What a model has counted. Begin with `spt_counts counts = SPT_COUNTS;`. */
typedef struct spt_counts {
    size_t size; /* of this struct, as it was compiled */
    uint64_t seen, updates, mistakes;
    uint64_t features; /* that have a slot; of a hashed model, slots */
    uint64_t bytes;    /* of memory */
} spt_counts;
#define SPT_COUNTS {sizeof(spt_counts), 0, 0, 0, 0, 0}

/* --- Models */

enum {
    SPT_MAPPED = 1 /* use the file where it lies: read only, at once, one copy for all processes */
};

/* Open a file. In memory everything in it is checked; mapped, what answers depend on is checked
   when it is used, and the file must not be written in place (spt_save never does). */
SPT_API int spt_open(const char *path, unsigned flags, spt_model **model, spt_error *error);

/* The same of n bytes, as they came over a network. SPT_MAPPED: they stay where they are, at a
   multiple of eight, as long as the model; else they may go at once. */
SPT_API int spt_open_memory(const void *p, size_t n, unsigned flags, spt_model **model,
                            spt_error *error);

/* An untrained model: "perceptron", "multiclass", "mira", "arow", "adaptive", "voted", "multilabel"
   or "ranking", and its parameters as a JSON object, such as {"max_features": 100000}; what is left
   out, or NULL, has the default that it has in Python. `tokenizer`: those of the Tokenizer before
   it, {} for all defaults; NULL: its events have names and numbers. */
SPT_API int spt_new(const char *learner, const char *parameters, const char *tokenizer,
                    spt_model **model, spt_error *error);

/* The same with a Mail before it, whose parameters are a JSON object; NULL: all defaults. Its
   events are mails. */
SPT_API int spt_new_mail(const char *learner, const char *parameters, const char *mail,
                         spt_model **model, spt_error *error);

/* Write it: the file is there whole, or as it was. The bytes are Python's; what the file that was
   opened holds besides, such as a journal or a position in a stream, is written as it was. */
SPT_API int spt_save(const spt_model *model, const char *path, spt_error *error);

/* The same into memory, which spt_free gives back. */
SPT_API int spt_save_memory(const spt_model *model, void **p, size_t *n, spt_error *error);
SPT_API void spt_free(void *p);

/* Whether the file that was opened has been replaced, or is gone: open it again. */
SPT_API int spt_is_stale(const spt_model *model);

/* Events of the model must be freed before it. NULL does nothing. */
SPT_API void spt_close(spt_model *model);

SPT_API int spt_is_read_only(const spt_model *model);
SPT_API int spt_count(const spt_model *model, spt_counts *counts);

/* "AdaptiveClassifier" and so on. */
SPT_API const char *spt_learner(const spt_model *model);

/* Whether an event has a set of labels, as a MultiLabelClassifier's has; else it has one. */
SPT_API int spt_is_multilabel(const spt_model *model);

/* Whether an event is candidates, of which one is right, as a RankingPerceptron's is. */
SPT_API int spt_is_ranking(const spt_model *model);

/* Whether it keeps no names of features (hash_bits). */
SPT_API int spt_is_hashed(const spt_model *model);

/* What spt_event_text takes: nothing, for events have names and numbers; a text, or several (see
   spt_fields); or a mail. */
enum { SPT_FEATURES = 0, SPT_TEXT = 1, SPT_MAIL = 2 };
SPT_API int spt_input(const spt_model *model);

/* How the lines are read and written that the model learns from: a JSON object, which
   docs/format.md describes ("lines"); NULL: the file has none. */
SPT_API const char *spt_lines(const spt_model *model, size_t *n);

/* From now on they are these, and are saved with the model. */
SPT_API int spt_put_lines(spt_model *model, const char *json, size_t n, spt_error *error);

/* --- Labels: numbers from 0 on, in the order in which they came */

SPT_API size_t spt_labels(const spt_model *model);

/* A label as Python writes it, with a zero at its end; NULL: there is none of this number. A
   Perceptron's two are those of the file's lines, or False and True. It stays until the model is
   closed. */
SPT_API const char *spt_label(const spt_model *model, size_t label, size_t *n);

/* The number of a label; -1: there is none. */
SPT_API ptrdiff_t spt_label_find(const spt_model *model, const char *text, size_t n);

/* --- Events */

SPT_API int spt_event_new(const spt_model *model, spt_event **event, spt_error *error);
SPT_API void spt_event_free(spt_event *event);

/* Begin another event. */
SPT_API void spt_event_clear(spt_event *event);

/* The event is this text, split by the model's tokenizer: UTF-8, of which each bad sequence is read
   as one U+FFFD. Of a model with a Mail it is a mail, as it lies in a file: any bytes. */
SPT_API int spt_event_text(spt_event *event, const char *text, size_t n, spt_error *error);

/* The same for a tokenizer with fields: a text for each of them, in the order of spt_field. */
SPT_API int spt_event_texts(spt_event *event, const char *const *texts, const size_t *lengths,
                            size_t n_texts, spt_error *error);
SPT_API size_t spt_fields(const spt_model *model);
SPT_API const char *spt_field(const spt_model *model, size_t field, size_t *n);

/* Add a feature: a name that the event does not have yet, and a finite number of at most 1e50 in
   size. An int is another name than the text of its digits. A NaN is left out if the model has
   missing="skip_nan". */
SPT_API int spt_event_add(spt_event *event, const char *name, size_t n, double value,
                          spt_error *error);
SPT_API int spt_event_add_int(spt_event *event, int64_t name, double value, spt_error *error);

/* Begin another candidate, of a model that chooses among them: a RankingPerceptron. What is added
   from now on is its, until the next one begins; a text or a mail is all that it has. Candidates
   have numbers from 0 on, which stand where others have labels': in spt_answer and spt_choice, and
   for spt_probabilities, spt_scores, spt_explain and spt_learn. */
SPT_API int spt_event_candidate(spt_event *event, spt_error *error);

/* --- Answers. The event stays as it is, to be learned or asked again */

/* The one label of an event. Of a model that has sets of them call spt_predict_set. */
SPT_API int spt_predict(const spt_model *model, spt_event *event, spt_answer *answer,
                        spt_error *error);

/* p[label] of all labels. `room`: how many fit. */
SPT_API int spt_probabilities(const spt_model *model, spt_event *event, double *p, size_t room,
                              spt_error *error);

/* The labels that a MultiLabelClassifier answers, in the order of their numbers: those whose
   probability is above their threshold. `n`: how many they are; those beyond `room` are left
   out. */
SPT_API int spt_predict_set(const spt_model *model, spt_event *event, spt_choice *choices,
                            size_t room, size_t *n, spt_error *error);

/* The most probable labels of any model, in falling order, as many as there is room for; of equal
   ones the first comes first. Candidates: the best ones, in the order of their scores. `n`: how
   many they are. */
SPT_API int spt_top(const spt_model *model, spt_event *event, spt_choice *choices, size_t room,
                    size_t *n, spt_error *error);

/* The probability above which a MultiLabelClassifier answers a label; with threshold="f1" the one
   that would have been best so far. -1: the model has none, or not this label. */
SPT_API double spt_threshold(const spt_model *model, size_t label);

/* The scores, as Python's decision_function_one gives them: of up to two labels one, of more one a
   label, and always so of a MultiLabelClassifier; of candidates one each. `n`: how many. */
SPT_API int spt_scores(const spt_model *model, spt_event *event, double *scores, size_t room,
                       size_t *n, spt_error *error);

/* What each feature of the event has of a label's score; `n`: how many parts, which stay until the
   event is used again. Those beyond `room` are left out. Of a candidate: of its lead over the best
   other one. */
SPT_API int spt_explain(const spt_model *model, spt_event *event, size_t label, spt_part *parts,
                        size_t room, size_t *n, spt_error *error);

/* What the event has of a part that spt_explain has just listed, by the part's place; of what is
   always there, and of what the event lacks, it is 1. */
SPT_API double spt_part_value(const spt_event *event, size_t part);

/* The features with the largest weights for a label: `n[0]` positive ones, the largest first, and
   behind them `n[1]` negative ones, likewise; at most `most` of each, so there is room for
   2 `most` parts. A feature's share is its weight. Without names (hash_bits) they are numbers. The
   names stay until the event is used again. */
SPT_API int spt_top_features(const spt_model *model, spt_event *event, size_t label,
                             spt_part *parts, size_t most, size_t *n, spt_error *error);

/* Which of the weights that a model keeps are the best overall: "current", "average", "pocket";
   "vote" of a VotedPerceptron. With an event: which have answered it. */
SPT_API const char *spt_serving(const spt_model *model, const spt_event *event);

/* --- Learning: no one else uses the model meanwhile */

/* Learn that this label is right; weight 1 is the usual one. */
SPT_API int spt_learn(spt_model *model, spt_event *event, size_t label, double weight,
                      spt_error *error);

/* The same by a label's text; a new one gets the next number. */
SPT_API int spt_learn_as(spt_model *model, spt_event *event, const char *label, size_t n,
                         double weight, spt_error *error);

/* Learn the set of an event's labels, for a MultiLabelClassifier. Without `there` (NULL) the event
   has these n labels and no others of those that are known; n = 0: it has none. With it there[i]
   says whether the event has labels[i], and nothing is learned of labels that are not named. No
   label comes twice. */
SPT_API int spt_learn_set(spt_model *model, spt_event *event, const size_t *labels,
                          const int *there, size_t n, double weight, spt_error *error);

/* The same by the labels' texts; new ones get the next numbers, in this order. */
SPT_API int spt_learn_set_as(spt_model *model, spt_event *event, const char *const *labels,
                             const size_t *lengths, const int *there, size_t n, double weight,
                             spt_error *error);

/* --- Taking back. A step costs memory for its event, and for what it has changed */

/* Keep what the event teaches from now on, so that it can be taken back; 0: no more. Not all models
   can: a Perceptron, MulticlassPerceptron, MIRA, AdaptiveClassifier and MultiLabelClassifier. */
SPT_API int spt_event_keep(spt_event *event, int keep, spt_error *error);

/* The step that the event has taught last, which is the caller's from now on; NULL: there is none,
   or it was fetched already. */
SPT_API spt_step *spt_event_step(spt_event *event);

/* Take a step back, once. What was learned since stays. `event` becomes the step's event, so that
   the right label can be learned of it next. */
SPT_API int spt_undo(spt_model *model, spt_event *event, spt_step *step, spt_error *error);

/* A step as bytes, which spt_free gives back, for machines of the same kind; and a step of such
   bytes, to be taken back from the model that took it, or from one that was saved and opened since.
   Nothing in them is believed, but nothing in them says which model's they are. */
SPT_API int spt_step_save_memory(const spt_step *step, void **p, size_t *n, spt_error *error);
SPT_API int spt_step_open_memory(const spt_model *model, const void *p, size_t n, spt_step **step,
                                 spt_error *error);

/* Steps outlive events, but not their model. NULL does nothing. */
SPT_API void spt_step_free(spt_step *step);

/* --- Several models in one: docs/merging.md says what that means. They have the same class,
   parameters and tokenizer */

/* One model of n that learned apart, each on its share of the events. They may be opened where they
   lie. `since`: the model that all of them went on from, as it was then; NULL: they have no past in
   common. It is in memory and learns on; what files have besides models is not in it. */
SPT_API int spt_merge(const spt_model *const *models, size_t n, const spt_model *since,
                      spt_model **merged, spt_error *error);

/* A delta: what a model has learned since another one, as bytes that travel; spt_free takes them
   back. `shard`: its number among others of the same base, below 2^53. */
SPT_API int spt_delta(const spt_model *model, const spt_model *since, uint64_t shard, void **p,
                      size_t *n, spt_error *error);

/* Learn what n deltas hold, in whatever order they came: the model becomes what spt_merge makes of
   those who sent them. All go on from this very model, each with another shard's number. Nothing in
   them is believed. Earlier steps can no longer be taken back. */
SPT_API int spt_apply(spt_model *model, const void *const *deltas, const size_t *lengths, size_t n,
                      spt_error *error);

/* --- About the library */

SPT_API const char *spt_version(void);
SPT_API unsigned spt_interface(void); /* SPT_INTERFACE of the library */
SPT_API const char *spt_message(int code);

#ifdef __cplusplus
}
#endif

#endif
