/* A step of MultiLabelClassifier, written down as bytes, and undone.

   The bytes contain, one after the other, in the machine's own byte order:

       head       how many there are of each; what is kept once per model, before and after; u
       labels     those that step or are counted; if the event leaves labels open, all that it
                  names: D, w0, G0, wn, Gn before and after
       tallies    the counts for F1 that have changed
       slots      s, cnt and N of the event's features, before and after
       entries    of the slots, one after the other (multilabel/snapshot.h)

   All of it is restored by the formula of features/undo.h: exactly if it is untouched since,
   otherwise the step's share is subtracted. `left` of a label is restored as a sum. The usual |d|
   is restored only if nothing was learned since. Counts that the step itself halved stay as they
   are. A new label stays known, as it was when it came. */

#ifndef STREAMPTRON_MULTILABEL_UNDO_H
#define STREAMPTRON_MULTILABEL_UNDO_H

#include "learner/learner.h"
#include "multilabel/multilabel.h"
#include "multilabel/snapshot.h"

/* How many bytes a step may need, once its strides have been chosen. */
SP_PRIVATE size_t sp_multilabel_undo_log_most(const sp_learner *learner, const sp_event *event);

/* Write down what it is going to change. */
SP_PRIVATE void sp_multilabel_undo_log_begin(const sp_learner *learner, const sp_event *event,
                                             double u, uint8_t *data);

/* And what it has changed. Returns the number of bytes. */
SP_PRIVATE size_t sp_multilabel_undo_log_end(const sp_learner *learner, const sp_event *event,
                                             uint8_t *data);

/* Whether these bytes can be a step of this event, whose slots are known. */
SP_PRIVATE bool sp_multilabel_undo_log_is_sound(const sp_learner *learner, const sp_event *event,
                                                const uint8_t *data, size_t bytes);

/* Undo it. -1 if out of memory; then nothing has changed. */
SP_PRIVATE int sp_multilabel_take_back(sp_learner *learner, const sp_event *event,
                                       const uint8_t *data);

#endif
