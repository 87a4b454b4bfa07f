/* A line filter: filter MODEL < texts > labels, TABs and probabilities.

   cc filter.c -lstreamptron -o filter. A line that begins with a label and a TAB is learned, too,
   if the filter was started with a second file, where it saves what it has learned. */

#include "streamptron.h"

#include <stdio.h>
#include <string.h>

static int fail(const spt_error *error)
{
    fprintf(stderr, "filter: %s\n", error->words);
    return 1;
}

int main(int argc, char **argv)
{
    static char line[1 << 20];
    spt_error error = SPT_ERROR;
    spt_model *model;
    spt_event *event;
    int learns = argc > 2;
    if (argc < 2) {
        fputs("usage: filter MODEL [SAVED]\n", stderr);
        return 2;
    }
    if (spt_open(argv[1], learns ? 0 : SPT_MAPPED, &model, &error)
        || spt_event_new(model, &event, &error))
        return fail(&error);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        spt_answer answer = SPT_ANSWER;
        char *text = learns ? strchr(line, '\t') : NULL;
        size_t n = text ? (size_t)(text - line) : 0;
        text = text ? text + 1 : line;
        if (spt_event_text(event, text, strcspn(text, "\n"), &error)
            || spt_predict(model, event, &answer, &error))
            return fail(&error);
        const char *label = answer.label < 0 ? "" : spt_label(model, (size_t)answer.label, NULL);
        printf("%s\t%.4f\n", label, answer.probability);
        if (n > 0 && spt_learn_as(model, event, line, n, 1.0, &error))
            return fail(&error);
    }
    if (learns && spt_save(model, argv[2], &error))
        return fail(&error);
    spt_event_free(event);
    spt_close(model);
    return 0;
}
