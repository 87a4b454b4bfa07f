/* A model and its file: decides when to save what was learned, and when to load a new file. */

#ifndef SPT_PROGRAM_KEEPER_H
#define SPT_PROGRAM_KEEPER_H

#include "lock.h"
#include "model.h"

typedef struct keeper {
    const char *path;
    bool learns;           /* its file is locked and gets written */
    size_t save_every;     /* after so many lines; 0: not by lines */
    double save_seconds;   /* after so many seconds; below 0: not by time */
    double reload_seconds; /* how often to look for another model; below 0: only on SIGHUP */
    double margin;         /* below which even a right answer is learned; below 0: all are */
    model model;
    bool is_open;
    lock lock;
    double wait;               /* seconds to wait while another process writes the model */
    bool known_labels, new_label; /* which labels may be learned, see model_settle_labels */
    bool held;                 /* do not save now */
    size_t unsaved, forgotten; /* lines learned but not saved; those of them not kept */
    size_t tried;              /* how many lines the last save had that failed */
    double last_save, last_look;
    bool replaced;    /* another model was loaded, and the corrections have not noticed yet */
    identity known;   /* the file last read or written */
    identity refused; /* a file that cannot be loaded, which was reported */
    bytes kept;       /* what was learned but not saved: sizes, label, text */
} keeper;

/* Whether a new model can answer in place of the old one; if not, `error` says why. */
typedef int (*keeper_check)(const model *now, const model *next, const char *path,
                            spt_error *error);

/* Take the lock and load the model. `what` is the command that writes, such as "predict". `create`
   makes the model if there is no file; NULL: then that is an error. Returns an exit code, or DONE
   to go on. */
int keeper_begin(keeper *k, const char *what, int (*create)(void *owner, spt_model **made),
                 void *owner);

/* A text was learned with this label. */
void keeper_learned(keeper *k, const char *label, size_t n_label, const char *text, size_t n);

/* Seconds until something is due; below 0: nothing is. */
double keeper_left(const keeper *k);

void keeper_save_if_due(keeper *k);

/* Save what is unsaved; false, after a message, if that failed. `at_last`: save beside the model if
   another program has replaced it. */
bool keeper_save(keeper *k, bool at_last);

/* Whether it is time to look for another model, and there is one. */
bool keeper_is_replaced(keeper *k);

/* Load the model that is now in the file, and let it learn what was not saved. */
void keeper_reload(keeper *k, keeper_check check, bool asked);

void keeper_end(keeper *k);

/* The sooner of two times; below 0 means never. */
double sooner(double a, double b);

#endif
