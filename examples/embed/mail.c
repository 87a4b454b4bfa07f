/* A mail filter's exit code: mail MODEL LABEL < mail. 0: it is LABEL; 1: it is not; 75: ask again
   later, as sendmail understands it, for the model cannot be used, or the call is wrong: which of
   them the standard error says. */

#include "streamptron.h"

#include <stdio.h>
#include <string.h>

enum { LATER = 75, MOST = 1 << 20 };

int main(int argc, char **argv)
{
    static char mail[MOST];
    spt_error error = SPT_ERROR;
    spt_answer answer = SPT_ANSWER;
    spt_model *model;
    spt_event *event;
    if (argc != 3) {
        fputs("usage: mail MODEL LABEL < mail\n", stderr);
        return LATER;
    }
    size_t n = fread(mail, 1, MOST, stdin);
    if (spt_open(argv[1], SPT_MAPPED, &model, &error) || spt_event_new(model, &event, &error)
        || spt_event_text(event, mail, n, &error)
        || spt_predict(model, event, &answer, &error)) {
        fprintf(stderr, "mail: %s\n", error.words);
        return LATER;
    }
    int is = answer.label >= 0 && answer.label == spt_label_find(model, argv[2], strlen(argv[2]));
    spt_event_free(event);
    spt_close(model);
    return !is;
}
