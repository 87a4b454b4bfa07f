#include "linear/report.h"

SP_PRIVATE int sp_linear_shares(const sp_learner *learner, const sp_event *event,
                                ptrdiff_t output, int kind, double *shares)
{
    double always = 0.0;
    for (ptrdiff_t i = 0; i < event->n; i++) {
        double share = event->values[i]
                       * sp_table_read(&learner->table, event->slots[i], output, kind);
        shares[i] = event->slots[i] == SP_SLOT_INTERCEPT ? 0.0 : share;
        always = event->slots[i] == SP_SLOT_INTERCEPT ? share : always;
    }
    shares[event->n] = always;
    return 0;
}
