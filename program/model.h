/* A model for lines or mails: the library's model, how its labels are written, and what its file
   says about the lines (docs/format.md: "lines"). */

#ifndef SPT_PROGRAM_MODEL_H
#define SPT_PROGRAM_MODEL_H

#include "bytes.h"
#include "json.h"
#include "streamptron.h"

typedef enum form {
    FORM_PLAIN, /* a text, or label<TAB>text */
    FORM_JSONL,
    FORM_MAIL,
    FORM_OTHER, /* a format that only the Python program has */
    FORMS,
} form;

extern const char *const form_names[FORMS];

typedef struct choice {
    ptrdiff_t label; /* its number; -1: no label known */
    double probability;
} choice;

typedef struct model {
    spt_model *spt;
    spt_event *event;
    json lines;       /* what the file says about them, */
    bytes lines_text; /* which was read from here */
    form form;
    const char *text, *label; /* of JSON lines: the field names */
    const char *positive;     /* of a Perceptron: the true label; NULL: labels are truth values */
    const char *names[2];     /* how false and true are written; NULL: not known yet */
    bytes own[2];             /* names found in lines */
    bool binary;
    double *probabilities;
    size_t n_probabilities;
    size_t first;   /* labels that may come without an option; 0: all */
    bool guarded;   /* no label may come beyond these */
    bytes spool; /* files of corrections that were learned, each zero-terminated */
    bytes known;  /* the mails that it has learned, in base64, */
    bool has_known; /* if these are not those of the file */
    bool changed; /* what the file says about the lines must be saved */
} model;

/* How a model is opened. */
enum {
    OPEN_ANSWERS, /* in place, if possible */
    OPEN_WHOLE,   /* in memory, fully checked; it can learn */
};

/* Open a model whose events are lines or mails. SPT_OK or a code; `error` says what is wrong. */
int model_open(model *m, const char *path, int how, spt_error *error);

/* Take over a newly made model, for lines of plain text. */
int model_of(model *m, spt_model *spt, const char *path, spt_error *error);

void model_close(model *m);

/* The name of the line format that it was trained on. */
const char *model_format(const model *m);

size_t model_labels(const model *m);

/* How a label is written, before it is put on one line. */
const char *model_name(const model *m, size_t label, size_t *n);

/* The number of the label that is written like this; -1: none. */
ptrdiff_t model_find(const model *m, const char *label, size_t n);

/* Whether one of the labels is written like this. */
bool model_has_name(const model *m, const char *name);

/* The names, as a Python list of texts, shortened. */
void add_names(const model *m, bytes *to);

/* Answer a text or mail. If `top` is not 0, `likeliest` gets up to `top` labels, the answer first,
   and `n_likeliest` their number. SPT_OK or a code; SPT_ARGUMENT: this model cannot take the
   text. */
int model_answer(model *m, const char *text, size_t n, choice *answer, size_t top,
                 choice *likeliest, size_t *n_likeliest, spt_error *error);

/* Decide which labels may be learned, as the Python program does. A filter of mails may learn the
   first two. With `known`, or if the model was trained with it, only the existing ones; with `new`,
   all. false: a message has said why not. */
bool model_settle_labels(model *m, bool known, bool new);

/* Whether the label of an event can be learned at all. false: `why` says why not. */
bool model_may_learn(model *m, const char *label, size_t n, bytes *why);

/* Learn the label of a text, which has just been answered; any other text is read first. SPT_OK or
   a code. SPT_ARGUMENT and SPT_FULL: not learned, and `why` says why. */
int model_learn(model *m, const char *text, size_t n, const char *label, size_t n_label,
                bytes *why, spt_error *error);

/* Whether the answer to the last text was wrong, or by less than a margin. SPT_OK or a code. */
int model_is_unsure(model *m, const choice *answer, const char *label, size_t n, double margin,
                    bool *unsure, spt_error *error);

/* Save it, with all that its file should say. */
int model_save(model *m, const char *path, spt_error *error);

/* The library's reason about an event, reworded for "it". */
void add_reason(bytes *why, const char *words);

#endif
