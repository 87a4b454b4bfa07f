/* What a model and an event of the library are inside, and how an error is said. */

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
    sp_disk_file file; /* that is used where it lies */
    char *path;        /* NULL: it came from memory, or is new */
    sp_disk_identity mark; /* of the file that was opened */
    const uint8_t *at; /* its bytes, if they are used where they lie */
    size_t n_at;
    uint64_t life; /* how often it was replaced: earlier steps are no longer its own */
    bool read_only;
};

/* A feature: its name lies in the event's bytes, or is a word. */
typedef struct sp_named {
    uint64_t kind; /* of its key: SP_KEY_STR and so on */
    size_t at, n;
    uint64_t word; /* of a number's key */
    double value;
} sp_named;

struct spt_event {
    const spt_model *model;
    bool is_text;   /* it has been written, as a text */
    bool closed;    /* all its features are there, or its last candidate's: none can be added */
    sp_event event; /* the engine's */
    sp_text text;
    sp_bytes names; /* from SP_NAME_BEFORE on, which may be read before a name */
    sp_bytes features;
    sp_bytes starts; /* how many features come before each candidate */
    sp_bytes table;  /* numbers of features by their names' hash, from 1: of the last candidate */
    sp_bytes shares, shown;
    sp_bytes values;  /* of the parts that spt_explain has listed */
    sp_bytes numbers; /* of labels */
    sp_bytes turns;   /* by label: in which call it was last named */
    uint32_t turn;
    int kind; /* of the kept weights that have answered */
    /* NULL: what it teaches is not kept. A pointer, so that a program that keeps nothing is linked
       without all that */
    int (*keep)(spt_step *step, spt_event *event, ptrdiff_t y, double u, spt_error *error);
    spt_step *step; /* what it has taught last */
};

/* Say what is wrong. Returns the code. */
SP_PRIVATE int sp_say(spt_error *error, int code, const char *words);

/* Go on saying it. Returns its code, which is `code`. */
SP_PRIVATE int sp_say_more(spt_error *error, int code, const void *p, size_t n);

SP_PRIVATE int sp_say_memory(spt_error *error);

/* What the engine found wrong, or the system. `path`: of which file; NULL: of none. */
SP_PRIVATE int sp_say_fault(spt_error *error, const sp_fault *fault, const char *path);
SP_PRIVATE int sp_say_system(spt_error *error, int system, const char *what, const char *path);

/* Whether the bytes are UTF-8. */
SP_PRIVATE bool sp_is_text(const char *p, size_t n);

/* The learner of a model that is only read. The engine asks for one that it may change, which it
   does not while it answers. */
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
