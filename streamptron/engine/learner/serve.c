#include "learner/serve.h"

#include "table/layout.h"

#include <string.h>

SP_RARE SP_PRIVATE void sp_serve_init(sp_serve *serve, const sp_vectors *vectors)
{
    memset(serve, 0, sizeof(sp_serve));
    serve->mode = vectors->serve;
    serve->rival = SP_KEPT_CURRENT;
    if (serve->mode == SP_SERVE_BEST && vectors->average != SP_AVERAGE_NONE)
        serve->rival = SP_KEPT_AVERAGE;
    else if (serve->mode == SP_SERVE_BEST && vectors->pocket)
        serve->rival = SP_KEPT_POCKET;
    serve->G[0] = 0.25;
    serve->stale[0] = serve->stale[1] = true;
}

SP_PRIVATE int sp_leader(const sp_serve *serve, int context)
{
    int lead = serve->lead[context];
    double least = serve->T[lead][context] + 0.25 * serve->G[lead] - 0.5;
    for (int k = 0; k < 2; k++) {
        double tally = serve->T[k][context] + 0.25 * serve->G[k];
        if (tally < least) {
            least = tally;
            lead = k;
        }
    }
    return lead;
}

SP_PRIVATE void sp_serve_count(sp_serve *serve, int context, bool current_wrong, bool rival_wrong)
{
    bool wrongs[2];
    serve->stale[0] = serve->stale[1] = true;
    wrongs[0] = current_wrong;
    wrongs[1] = rival_wrong;
    for (int k = 0; k < 2; k++) {
        for (int q = 0; q < 2; q++)
            serve->T[k][q] *= 0.96875;
        serve->T[k][context] += wrongs[k] ? 1.0 : 0.0;
        serve->G[k] = 0.9990234375 * serve->G[k] + (wrongs[k] ? 1.0 : 0.0);
    }
}

SP_HOT bool sp_serve_challenge(sp_serve *serve, bool current_wrong, bool pocket_wrong)
{
    if (!current_wrong)
        serve->run += 1;
    serve->duel += pocket_wrong - current_wrong;
    if (serve->duel < -2)
        serve->duel = -2;
    bool won = (serve->run > serve->record && serve->duel >= 0)
               || (serve->duel >= 1 && !current_wrong);
    if (won) {
        serve->record = serve->run;
        serve->duel = 0;
    }
    if (current_wrong)
        serve->run = 0;
    return won;
}
