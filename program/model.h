/* A model on lines or mails: the library's, how its labels are written, and what its file says of
   the lines (docs/format.md: "lines"). */

#ifndef SPT_PROGRAM_MODEL_H
#define SPT_PROGRAM_MODEL_H

#include "bytes.h"
#include "json.h"
#include "streamptron.h"

typedef enum form {
    FORM_PLAIN, /* a text, or label<TAB>text */
    FORM_JSONL,
    FORM_MAIL,
    FORM_OTHER, /* one that is the Python program's */
    FORMS,
} form;

extern const char *const form_names[FORMS];

typedef struct choice {
    ptrdiff_t label; /* its number; -1: none is known */
    double probability;
} choice;

typedef struct model {
    spt_model *spt;
    spt_event *event;
    json lines;       /* what the file says of them */
    bytes lines_text; /* which is read from there */
    form form;
    const char *text, *label; /* of JSON lines: the fields */
    const char *positive;     /* of a Perceptron: the label that is true; NULL: truth values are */
    const char *names[2];     /* and how false and true are written; NULL: not known yet */
    bytes own[2];             /* names that lines have shown */
    bool binary;
    double *probabilities;
    size_t n_probabilities;
    size_t first;   /* labels that may come by themselves; 0: all */
    bool guarded;   /* no more labels may come than these */
    bytes spool; /* files of corrections that are learned, each with a zero behind it */
    bytes known;  /* the mails that it has learned, in base64, */
    bool has_known; /* if these are others than in the file */
    bool changed; /* what the file is to say of the lines */
} model;

/* How it is opened. */
enum {
    OPEN_ANSWERS, /* where it lies, if it can be */
    OPEN_WHOLE,   /* in memory, checked whole, and it can learn */
};

/* Open one whose events are lines or mails. SPT_OK or a code; what is wrong is in `error`. */
int model_open(model *m, const char *path, int how, spt_error *error);

/* What stands in a new model's place: made, and with lines of plain texts. */
int model_of(model *m, spt_model *spt, const char *path, spt_error *error);

void model_close(model *m);

/* The name of the format of the lines that it was trained on. */
const char *model_format(const model *m);

size_t model_labels(const model *m);

/* How a label is written, before it is made one line. */
const char *model_name(const model *m, size_t label, size_t *n);

/* The number of a label that is written like this; -1: there is none. */
ptrdiff_t model_find(const model *m, const char *label, size_t n);

/* Whether one of the labels is written like this. */
bool model_has_name(const model *m, const char *name);

/* As a Python list of texts, cut. */
void add_names(const model *m, bytes *to);

/* Answer a text or mail; `likeliest` of `top` labels in all, if that is not 0, the answer first.
   `n_likeliest`: how many there are. SPT_OK or a code: SPT_ARGUMENT says that this model
   cannot take the text. */
int model_answer(model *m, const char *text, size_t n, choice *answer, size_t top,
                 choice *likeliest, size_t *n_likeliest, spt_error *error);

/* Say which labels may be learned, as the Python program does: of a filter of mails the first two,
   with `known`, or of a model that was trained so, those that it has; with `new` all. false: it has
   been said why not. */
bool model_settle_labels(model *m, bool known, bool new);

/* Whether the label of an event can be learned at all. false: `why` says why not. */
bool model_may_learn(model *m, const char *label, size_t n, bytes *why);

/* Learn the label of a text, which has just been answered, or is read anew. SPT_OK or a code;
   SPT_ARGUMENT and SPT_FULL: it is not learned, and `why` says why. */
int model_learn(model *m, const char *text, size_t n, const char *label, size_t n_label,
                bytes *why, spt_error *error);

/* Whether the answer to the last text was wrong, or by less than a margin. SPT_OK or a code. */
int model_is_unsure(model *m, const choice *answer, const char *label, size_t n, double margin,
                    bool *unsure, spt_error *error);

/* Save it as its file is to be. */
int model_save(model *m, const char *path, spt_error *error);

/* Such a reason as the library gives for an event, said of "it". */
void add_reason(bytes *why, const char *words);

#endif
