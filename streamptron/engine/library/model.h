/* The inside of the library's models and events, and its error messages. */

#ifndef STREAMPTRON_LIBRARY_MODEL_H
#define STREAMPTRON_LIBRARY_MODEL_H

#include "events/event.h"
#include "events/text.h"
#include "file/open.h"
#include "json/bytes.h"
#include "library/disk.h"
#include "library/labels.h"
#include "library/streamptron.h"

struct spt_model {
    sp_contents contents;
    sp_label_list labels;
    sp_disk_file file; /* if it is used in place */
    char *path;        /* NULL: it came from memory, or is new */
    sp_disk_identity mark; /* of the file that was opened */
    const uint8_t *at; /* its bytes, if they are used in place */
    size_t n_at;
    uint64_t life; /* how often its contents were replaced: earlier steps are then invalid */
    bool read_only;
};

/* A feature: its name is in the event's bytes, or is a word. */
typedef struct sp_named {
    uint64_t kind; /* of its key: SP_KEY_STR and so on */
    size_t at, n;
    uint64_t word; /* of a number's key */
    double value;
} sp_named;

struct spt_event {
    const spt_model *model;
    bool is_text;   /* the event has been written as a text */
    bool closed;    /* no feature can be added to it, or to its last candidate */
    sp_event event; /* the engine's */
    sp_text text;
    sp_bytes names; /* from SP_NAME_BEFORE on, as bytes before a name may be read */
    sp_bytes features;
    sp_bytes starts; /* how many features come before each candidate */
    sp_bytes table;  /* of the last candidate: numbers of features, from 1, by their names' hash */
    sp_bytes shares, shown;
    sp_bytes values;  /* of the parts that spt_explain has listed */
    sp_bytes numbers; /* of labels */
    sp_bytes turns;   /* by label: the call in which it was last named */
    uint32_t turn;
    int kind; /* the kept weights that have answered */
    /* NULL: steps are not kept. A pointer, so that a program that keeps no steps is linked without
       that code */
    int (*keep)(spt_step *step, spt_event *event, ptrdiff_t y, double u, spt_error *error);
    spt_step *step; /* the last step that it was learned by */
};

/* Set the error's message. Returns the code. */
SP_PRIVATE int sp_say(spt_error *error, int code, const char *words);

/* Continue the message. Returns `code`. */
SP_PRIVATE int sp_say_more(spt_error *error, int code, const void *p, size_t n);

SP_PRIVATE int sp_say_memory(spt_error *error);

/* Report a fault that the engine found, or an error of the system. `path`: the file; NULL: none. */
SP_PRIVATE int sp_say_fault(spt_error *error, const sp_fault *fault, const char *path);
SP_PRIVATE int sp_say_system(spt_error *error, int system, const char *what, const char *path);

/* Whether the bytes are UTF-8. */
SP_PRIVATE bool sp_is_text(const char *p, size_t n);

/* The learner of a model that is only read. The engine's type allows changes, but answers make
   none. */
static inline sp_learner *sp_learner_of(const spt_model *model)
{
    return (sp_learner *)(uintptr_t)&model->contents.learner;
}

/* Whether a model chooses among candidates. */
static inline bool sp_ranks(const spt_model *model)
{
    return model->contents.learner.answer == SP_ANSWER_CANDIDATES;
}

#endif
