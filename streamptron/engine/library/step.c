#include "library/step.h"

#include "memory/heap.h"

SPT_API void spt_step_free(spt_step *step)
{
    if (step == NULL)
        return;
    sp_bytes_free(&step->names);
    sp_bytes_free(&step->features);
    sp_free(step->parts);
    sp_free(step);
}
