/* The start of every answer, and the checks before anything is learned. */

#ifndef STREAMPTRON_LIBRARY_ANSWER_H
#define STREAMPTRON_LIBRARY_ANSWER_H

#include "learner/can.h"
#include "library/model.h"

/* Score an event, and find the answer. SPT_OK or a code. */
SP_PRIVATE int sp_answer_of(const spt_model *model, spt_event *event, sp_answer *answer,
                            spt_error *error);

/* How many choices an event has: labels, or its candidates. */
SP_PRIVATE size_t sp_choices(const spt_model *model, const spt_event *event);

/* Whether the event may be learned, with one label or (`sets`) a set of labels. SPT_OK or a
   code. */
SP_PRIVATE int sp_may_learn(const spt_model *model, const spt_event *event, bool sets,
                            spt_error *error);

/* Whether `weight`, and `u`, its product with the class weight, can be learned. SPT_OK or a
   code. */
SP_PRIVATE int sp_check_weight(const spt_model *model, double weight, double u, spt_error *error);

/* The number of a label given by its text; a new one is added. SPT_OK or a code. If learning fails,
   the caller removes it with sp_labels_rewind. */
SP_PRIVATE int sp_label_number(spt_model *model, const char *p, size_t n, size_t *label,
                               spt_error *error);

/* The output whose score is for or against a label; `sign` says which. */
SP_PRIVATE ptrdiff_t sp_output_of(const sp_learner *learner, size_t label, double *sign);

/* Report damage in a file that is used in place. Returns the code. */
SP_PRIVATE int sp_say_damaged(spt_error *error, const spt_model *model, const char *why);

/* Set the names of parts, which were written while their bytes might still move: parts[i].name is 1
   plus its offset in event->shown. SPT_OK or a code. */
SP_PRIVATE int sp_parts_named(spt_event *event, spt_part *parts, size_t n, spt_error *error);

/* Whether a model has sets of labels. */
static inline bool sp_has_sets(const spt_model *model)
{
    return sp_learner_can(&model->contents.learner, SP_CAN_SET);
}

#endif
