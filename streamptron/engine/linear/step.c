#include "linear/step.h"

SP_API int sp_step_reserve(sp_step *step, ptrdiff_t n)
{
    ptrdiff_t room = n + n / 2 + 2;
    void *p;
    if (n <= step->room)
        return 0;
    p = sp_realloc(step->moves, (size_t)room * sizeof(sp_move));
    if (p == NULL)
        return -1;
    step->moves = (sp_move *)p;
    step->room = (int)room;
    return 0;
}
