/* The features with the largest weights. */

#include "commands.h"

#include "mails.h"
#include "model.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "table.h"
#include "texts.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct topping {
    const char *model, *label;
    size_t most;
    bool json, hashed;
    spt_part *parts;
} topping;

static void add_name(const topping *t, const model *m, const spt_part *its, bytes *to)
{
    if (t->hashed)
        bytes_word(to, "slot ");
    if (spt_input(m->spt) == SPT_MAIL && !t->hashed)
        add_described(to, its->name, its->n, false);
    else
        bytes_add(to, its->name, its->n);
}

static void add_table(const topping *t, const model *m, const size_t *n, bytes *to)
{
    table rows = {.n_columns = 2};
    bytes name = {0};
    table_add(&rows, "feature", 7);
    table_add(&rows, "weight", 6);
    for (size_t i = 0; i < n[0] + n[1]; i++) {
        /* the smallest weight comes last */
        const spt_part *its = &t->parts[i < n[0] ? i : n[0] + n[1] - 1 - (i - n[0])];
        name.n = 0;
        add_name(t, m, its, &name);
        table_add(&rows, name.p, name.n);
        table_print(&rows, "%.5f", its->share);
    }
    to->failed = to->failed || name.failed;
    bytes_free(&name);
    table_end(&rows, 1, to);
}

static void add_json_lists(const topping *t, const model *m, const size_t *n, bytes *to)
{
    static const char *const names[] = {"{\"positive\": [", "], \"negative\": ["};
    size_t at = 0;
    for (int side = 0; side < 2; side++) {
        bytes_word(to, names[side]);
        for (size_t i = 0; i < n[side]; i++, at++) {
            bytes name = {0};
            add_name(t, m, &t->parts[at], &name);
            bytes_word(to, i ? ", [" : "[");
            add_json(to, name.p, name.n);
            bytes_word(to, ", ");
            add_number(to, t->parts[at].share);
            bytes_word(to, "]");
            bytes_free(&name);
        }
    }
    bytes_word(to, "]}");
}

static int add_label(topping *t, model *m, size_t label, bool first, bytes *to, spt_error *error)
{
    size_t n[2], length;
    const char *name = model_name(m, label, &length);
    int failed = spt_top_features(m->spt, m->event, label, t->parts, t->most, n, error);
    if (failed)
        return failed;
    if (t->json) {
        bytes_word(to, first ? "" : ", ");
        add_json(to, name, length);
        bytes_word(to, ": ");
        add_json_lists(t, m, n, to);
    } else {
        bytes_word(to, first ? "towards " : "\n\ntowards ");
        bytes_add(to, name, length);
        bytes_word(to, "\n");
        add_table(t, m, n, to);
    }
    return SPT_OK;
}

static int top_of(topping *t, model *m, bytes *to)
{
    spt_error error = SPT_ERROR;
    size_t n = model_labels(m), first = m->binary ? 1 : 0;
    t->hashed = spt_is_hashed(m->spt);
    spt_counts counts = SPT_COUNTS;
    spt_count(m->spt, &counts);
    /* make room for no more than there are */
    t->most = t->most < counts.features ? t->most : (size_t)counts.features;
    t->parts = calloc(2 * t->most + 1, sizeof(spt_part));
    if (t->parts == NULL)
        return fail_memory();
    if (t->label != NULL) {
        ptrdiff_t found = model_find(m, t->label, strlen(t->label));
        if (found < 0)
            return fail("label='%s' is not one of the model's labels", t->label);
        first = (size_t)found;
        n = first + 1;
    }
    bytes_word(to, t->json ? "{" : "");
    for (size_t label = first; label < n; label++) {
        if (add_label(t, m, label, label == first, to, &error))
            return fail("%s", error.words);
    }
    bytes_word(to, t->json ? "}" : to->n == 0 ? "the model has seen no label yet" : "");
    return -1;
}

int command_top(int n, char **words)
{
    topping t = {.most = 20};
    model m;
    bytes shown = {0};
    spt_error error = SPT_ERROR;
    const option options[] = {
        {"--model", "-m", OPTION_TEXT, &t.model, 0, 0, false},
        {"-n", "-n", OPTION_WHOLE, &t.most, 1, INFINITY, false},
        {"--label", NULL, OPTION_TEXT, &t.label, 0, 0, false},
        {"--json", NULL, OPTION_FLAG, &t.json, 0, 0, false},
    };
    command_line line = {.command = "top",
                         .options = options,
                         .n_options = sizeof(options) / sizeof(options[0]),
                         .others = " --config ",
                         .usage = usage_top};
    int code = options_read(&line, n, words);
    if (code >= 0)
        return code;
    if (line.n_words > 0)
        return misuse("top", "Got unexpected extra argument (%s)", line.words[0]);
    if (t.model == NULL)
        return misuse("top", "Missing option '--model' / '-m'");
    if (model_open(&m, t.model, OPEN_WHOLE, &error))
        return fail_of(t.model, &error);
    code = top_of(&t, &m, &shown);
    if (code < 0)
        code = output_shown(&shown);
    free(t.parts);
    bytes_free(&shown);
    model_close(&m);
    return code;
}
