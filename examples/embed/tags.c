/* Tags of lines, learned from corrections: tags MODEL [SAVED] < lines > tags.

   cc tags.c -lstreamptron -o tags. MODEL is a Tokenizer and a MultiLabelClassifier. For each line
   the tags that it has are printed, between commas. With SAVED the filter learns, and saves that:

       a text                  it is answered
       oil,ship TAB a text     it is answered, then learned: it has these tags, and no others
       !oil                    the last line that was learned had this tag: what it has taught is
                               taken back, and the right tags are learned of it

   Exit code 0: the lines have ended; 1: the standard error says why not; 2: called wrongly. */

#include "streamptron.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

static spt_error error = SPT_ERROR;

static int fail(void)
{
    fprintf(stderr, "tags: %s\n", error.words);
    return 1;
}

static int answer(const spt_model *model, spt_event *event)
{
    spt_choice tags[MOST];
    size_t n;
    int failed = spt_predict_set(model, event, tags, MOST, &n, &error);
    for (size_t i = 0; i < n && i < MOST; i++)
        printf("%s%s", i ? "," : "", spt_label(model, tags[i].label, NULL));
    puts("");
    fflush(stdout); /* who has written the line waits for it */
    return failed;
}

/* Learn an event's tags, between commas: n characters of them. */
static int learn(spt_model *model, spt_event *event, const char *tags, size_t n)
{
    const char *names[MOST];
    size_t lengths[MOST], n_tags = 0;
    for (const char *end = tags + n; tags < end && n_tags < MOST; n_tags++) {
        const char *comma = memchr(tags, ',', (size_t)(end - tags));
        names[n_tags] = tags;
        lengths[n_tags] = (size_t)((comma ? comma : end) - tags);
        tags = comma ? comma + 1 : end;
    }
    return spt_learn_set_as(model, event, names, lengths, NULL, n_tags, 1.0, &error);
}

int main(int argc, char **argv)
{
    static char line[1 << 20];
    spt_model *model;
    spt_event *event;
    spt_step *step = NULL;
    int learns = argc == 3;
    if (argc != 2 && argc != 3) {
        fputs("usage: tags MODEL [SAVED] < texts\n", stderr);
        return 2;
    }
    if (spt_open(argv[1], learns ? 0 : SPT_MAPPED, &model, &error)
        || spt_event_new(model, &event, &error) || (learns && spt_event_keep(event, 1, &error)))
        return fail();
    while (fgets(line, sizeof(line), stdin) != NULL) {
        size_t n = strcspn(line, "\n");
        char *tab = memchr(line, '\t', n), *text = tab ? tab + 1 : line;
        if (learns && *line == '!' && step != NULL) {
            if (spt_undo(model, event, step, &error) || learn(model, event, line + 1, n - 1))
                return fail();
        } else if (spt_event_text(event, text, n - (size_t)(text - line), &error)
                   || answer(model, event)
                   || (learns && tab && learn(model, event, line, (size_t)(tab - line))))
            return fail();
        spt_step *kept = spt_event_step(event); /* NULL: nothing was learned */
        if (kept != NULL) {
            spt_step_free(step);
            step = kept;
        }
    }
    if (learns && spt_save(model, argv[2], &error))
        return fail();
    spt_step_free(step);
    spt_event_free(event);
    spt_close(model);
    return 0;
}
