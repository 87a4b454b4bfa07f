/* Files that are opened where they lie, shared by processes, replaced and gone: files MODEL.

   MODEL splits texts, and learns. A file beside it, shared.model, is made, and removed in the end.
   It starts itself as the other process. Windows may refuse to replace a file that is in use: then
   all is as it was. It says what came of that; and what does not hold, with the line. */

#include "streamptron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char shared[] = "shared.model";
static spt_error error = SPT_ERROR;
static int n_failed;

static void expect(int line, int holds)
{
    if (!holds) {
        printf("line %d does not hold: %s\n", line, error.words);
        n_failed++;
    }
}
#define HOLDS(what) expect(__LINE__, (what))

static spt_model *opened(const char *path, unsigned flags)
{
    spt_model *model;
    if (spt_open(path, flags, &model, &error) != SPT_OK) {
        printf("%s\n", error.words);
        exit(1);
    }
    return model;
}

/* The probability of an answer; `label`: what is learned then, of a model that learns. */
static double asked(spt_model *model, const char *label)
{
    static const char text[] = "the cat";
    spt_event *event;
    spt_answer answer = SPT_ANSWER;
    HOLDS(spt_event_new(model, &event, &error) == SPT_OK);
    HOLDS(spt_event_text(event, text, strlen(text), &error) == SPT_OK);
    HOLDS(spt_predict(model, event, &answer, &error) == SPT_OK);
    if (label != NULL)
        HOLDS(spt_learn_as(model, event, label, strlen(label), 1.0, &error)
              == (spt_is_read_only(model) ? SPT_READ_ONLY : SPT_OK));
    spt_event_free(event);
    return answer.probability;
}

/* Whether another process that opens the file where it lies has this answer. */
static int is_answered_elsewhere(const char *program, double wanted)
{
    char command[4096];
    snprintf(command, sizeof(command), "%s %s %a", program, shared, wanted);
    return system(command) == 0;
}

/* Replace the file, which `reader` uses, by what `teacher` has learned. */
static void replace(spt_model *teacher, spt_model *reader)
{
    double before = asked(reader, NULL);
    int code = spt_save(teacher, shared, &error);
    HOLDS(asked(reader, NULL) == before);
    HOLDS(spt_is_stale(reader) == (code == SPT_OK));
    spt_close(reader);
    if (code != SPT_OK) {
        HOLDS(code == SPT_SYSTEM && error.system != 0);
        HOLDS(spt_save(teacher, shared, &error) == SPT_OK);
    }
    printf("a file in use %s", code == SPT_OK ? "is replaced" : "is not replaced, which is said");
}

int main(int argc, char **argv)
{
    spt_model *none;
    if (argc == 3) {
        spt_model *model = opened(argv[1], SPT_MAPPED);
        HOLDS(asked(model, NULL) == strtod(argv[2], NULL));
        spt_close(model);
        return n_failed != 0;
    }
    spt_model *teacher = opened(argv[1], 0);
    HOLDS(spt_save(teacher, shared, &error) == SPT_OK);
    spt_model *reader = opened(shared, SPT_MAPPED), *other = opened(shared, SPT_MAPPED);
    HOLDS(spt_is_read_only(reader) && !spt_is_stale(reader));
    HOLDS(spt_save(reader, shared, &error) == SPT_READ_ONLY);
    double before = asked(reader, "refused");
    HOLDS(asked(other, NULL) == before);
    HOLDS(is_answered_elsewhere(argv[0], before));
    spt_close(other);
    HOLDS(asked(teacher, "new") == before);
    replace(teacher, reader);

    reader = opened(shared, SPT_MAPPED);
    double after = asked(reader, NULL);
    HOLDS(after != before && after == asked(teacher, NULL));
    HOLDS(!spt_is_stale(reader) && is_answered_elsewhere(argv[0], after));
    spt_close(reader);
    reader = opened(shared, 0);
    HOLDS(!spt_is_stale(reader) && remove(shared) == 0 && spt_is_stale(reader));
    spt_close(reader);
    HOLDS(spt_open(shared, SPT_MAPPED, &none, &error) == SPT_SYSTEM && error.system != 0);
    fclose(fopen(shared, "wb"));
    HOLDS(spt_open(shared, SPT_MAPPED, &none, &error) == SPT_FOREIGN);
    HOLDS(remove(shared) == 0);
    spt_close(teacher);
    return n_failed != 0;
}
