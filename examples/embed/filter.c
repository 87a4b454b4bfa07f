/* A line filter: filter MODEL < texts > labels, TABs and probabilities.

   cc filter.c -lstreamptron -o filter. Each line is answered before the next one is waited for. A
   file that takes MODEL's place is opened within a second. With a second file, filter MODEL SAVED,
   a line that begins with a label and a TAB is learned, too, and what was learned is saved there:
   with every 1000th such line, and at the end.

   Exit code 0: the lines have ended; 1: the standard error says why not; 2: called wrongly. */

#include "streamptron.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static spt_error error = SPT_ERROR;
static spt_model *model;
static spt_event *event;

static int fail(void)
{
    fprintf(stderr, "filter: %s\n", error.words);
    return 1;
}

/* Take a model for that which is in use. If there is an error nothing changes. */
static int take(const char *path, unsigned flags)
{
    spt_model *opened;
    spt_event *made;
    if (spt_open(path, flags, &opened, &error))
        return 1;
    if (spt_event_new(opened, &made, &error)) {
        spt_close(opened);
        return 1;
    }
    spt_event_free(event);
    spt_close(model);
    model = opened;
    event = made;
    return 0;
}

/* Once a second: is there a newer file? */
static void look(const char *path)
{
    static time_t looked;
    time_t now = time(NULL);
    if (now != looked && spt_is_stale(model) && take(path, SPT_MAPPED))
        fail(); /* it goes on with the old model */
    looked = now;
}

int main(int argc, char **argv)
{
    static char line[1 << 20];
    unsigned n_learned = 0;
    int learns = argc == 3;
    if (argc != 2 && argc != 3) {
        fputs("usage: filter MODEL [SAVED] < texts\n", stderr);
        return 2;
    }
    if (take(argv[1], learns ? 0 : SPT_MAPPED))
        return fail();
    while (fgets(line, sizeof(line), stdin) != NULL) {
        spt_answer answer = SPT_ANSWER;
        char *text = learns ? strchr(line, '\t') : NULL;
        size_t n = text ? (size_t)(text - line) : 0;
        text = text ? text + 1 : line;
        if (!learns)
            look(argv[1]);
        if (spt_event_text(event, text, strcspn(text, "\n"), &error)
            || spt_predict(model, event, &answer, &error))
            return fail();
        const char *label = answer.label < 0 ? "" : spt_label(model, (size_t)answer.label, NULL);
        printf("%s\t%.4f\n", label, answer.probability);
        fflush(stdout);
        if (n > 0 && spt_learn_as(model, event, line, n, 1.0, &error))
            return fail();
        if (n > 0 && ++n_learned % 1000 == 0 && spt_save(model, argv[2], &error))
            return fail();
    }
    if (learns && spt_save(model, argv[2], &error))
        return fail();
    spt_event_free(event);
    spt_close(model);
    return 0;
}
