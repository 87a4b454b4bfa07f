/* A step of MultiLabelClassifier written down as bytes, and taken back.

   What lies in the bytes, one after the other, in the machine's own byte order:

       head       how many there are of each; what is kept once, before and after; u
       labels     those that step or are counted, and if the event leaves labels open all that it
                  names: D, w0, G0, wn, Gn before and after
       tallies    what F1 is counted of, where it has changed
       slots      s, cnt and N of the event's features, before and after
       entries    of the slots, one after the other (multilabel/snapshot.h)

   All of it comes back by the formula of features/undo.h: the very bits if it is untouched since,
   else what the step added is taken away. By how much events have left a label open comes back as
   the sum that it is. The usual |d| comes back only if nothing was learned since. Counts that the
   step itself has halved stay as they are. A new label stays known, as it was when it came. */

#ifndef STREAMPTRON_MULTILABEL_UNDO_H
#define STREAMPTRON_MULTILABEL_UNDO_H

#include "learner/learner.h"
#include "multilabel/multilabel.h"
#include "multilabel/snapshot.h"

/* How many bytes a step may need whose strides have been chosen. */
SP_PRIVATE size_t sp_multilabel_undo_log_most(const sp_learner *learner, const sp_event *event);

/* Write down what it is going to change. */
SP_PRIVATE void sp_multilabel_undo_log_begin(const sp_learner *learner, const sp_event *event,
                                             double u, uint8_t *data);

/* And what it is now. How many bytes there are. */
SP_PRIVATE size_t sp_multilabel_undo_log_end(const sp_learner *learner, const sp_event *event,
                                             uint8_t *data);

/* Whether bytes are those of a step of such an event, whose slots are known. */
SP_PRIVATE bool sp_multilabel_undo_log_is_sound(const sp_learner *learner, const sp_event *event,
                                                const uint8_t *data, size_t bytes);

/* Take it back. -1 if out of memory; then nothing has changed. */
SP_PRIVATE int sp_multilabel_take_back(sp_learner *learner, const sp_event *event,
                                       const uint8_t *data);

#endif
