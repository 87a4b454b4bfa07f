#include "events/step.h"

#include "memory/grow.h"

SP_API int sp_step_reserve(sp_step *step, ptrdiff_t n)
{
    ptrdiff_t room = n + n / 2 + 2;
    if (n <= step->room)
        return 0;
    if (SP_GROW(step->moves, room) < 0)
        return -1;
    step->room = (int)room;
    return 0;
}
