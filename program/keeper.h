/* A model and its file: when what was learned is saved, and when a new file is taken. */

#ifndef SPT_PROGRAM_KEEPER_H
#define SPT_PROGRAM_KEEPER_H

#include "lock.h"
#include "model.h"

typedef struct keeper {
    const char *path;
    bool learns;           /* its file is locked and written */
    size_t save_every;     /* after so many lines; 0: not by this */
    double save_seconds;   /* after so many seconds; below 0: not by this */
    double reload_seconds; /* how often it looks for another model; below 0: on SIGHUP alone */
    double margin;         /* below which an event is learned though its answer is right; below 0:
                              all are */
    model model;
    bool is_open;
    lock lock;
    double wait;               /* so many seconds while another process writes the model */
    bool known_labels, new_label; /* which labels may be learned, see model_settle_labels */
    bool held;                 /* nothing is saved now */
    size_t unsaved, forgotten; /* lines learned and not saved; of these, too many to keep */
    size_t tried;              /* how many a save has tried to save that failed */
    double last_save, last_look;
    bool replaced;    /* another model has been taken, and the corrections do not know yet */
    identity known;   /* the file that was read or written last */
    identity refused; /* one that cannot be taken, as was said */
    bytes kept;       /* what was learned and not saved: sizes, label, text */
} keeper;

/* Whether a new model can answer in place of the old one; if not, it is said in `error`. */
typedef int (*keeper_check)(const model *now, const model *next, const char *path,
                            spt_error *error);

/* Take lock and model. `what` writes: "predict". `create` makes the model where there is no
   file; NULL: then that is an error. A code to exit with; DONE: go on. */
int keeper_begin(keeper *k, const char *what, int (*create)(void *owner, spt_model **made),
                 void *owner);

/* A text was learned with this label. */
void keeper_learned(keeper *k, const char *label, size_t n_label, const char *text, size_t n);

/* How many seconds there are until something is due; below 0: nothing is. */
double keeper_left(const keeper *k);

void keeper_save_if_due(keeper *k);

/* Save what is unsaved; false, after a message, if that has failed. At last: beside the model, if
   another program has replaced it. */
bool keeper_save(keeper *k, bool at_last);

/* Whether it is time to look for another model, and there is one. */
bool keeper_is_replaced(keeper *k);

/* Take the model that is in the file now, and teach it what was not saved. */
void keeper_reload(keeper *k, keeper_check check, bool asked);

void keeper_end(keeper *k);

/* Of two times the sooner one; below 0 is never. */
double sooner(double a, double b);

#endif
