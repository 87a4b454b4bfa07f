/* The voted machine: the linear machine's weights, and a vote of all past vectors.

   Its verbs are those of learner/machine.h. */

#ifndef STREAMPTRON_VOTED_VOTED_H
#define STREAMPTRON_VOTED_VOTED_H

#include "learner/machine.h"

enum {
    SP_KEPT_VOTE = SP_KEPT_AVERAGE, /* the vote takes the place of the average */
};

SP_DATA const sp_machine sp_voted_machine;

#endif
