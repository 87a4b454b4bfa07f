/* Which features of a text led to its answer. */

#include "commands.h"

#include "header.h"
#include "input.h"
#include "mails.h"
#include "model.h"
#include "options.h"
#include "output.h"
#include "parts.h"
#include "say.h"
#include "table.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Whether a score is a sum of weights times values, so that a weight can be shown. */
static bool has_weights(const model *m)
{
    const char *name = spt_learner(m->spt);
    return strcmp(name, "AdaptiveClassifier") != 0 && strcmp(name, "VotedPerceptron") != 0;
}

static void add_row(const model *m, table *t, const part *its)
{
    if (its->name == NULL)
        table_add(t, "(intercept)", 11);
    else if (spt_input(m->spt) == SPT_MAIL) {
        bytes name = {0};
        add_described(&name, its->name, its->n, false);
        table_add(t, name.p, name.n);
        bytes_free(&name);
    } else
        table_add(t, its->name, its->n);
    if (has_weights(m))
        table_print(t, "%.5f", its->share / its->value);
    table_print(t, "%.5f", its->value);
    table_print(t, "%.5f", its->share);
}

/* Whether the learner has an intercept, which is then always shown. */
static bool has_intercept(const char *path)
{
    header h;
    json j = {0};
    bool has = true;
    if (header_read(&h, path) != 0)
        return true;
    if (header_part(&h, "parameters", &j)) {
        size_t node = json_path(&j, "intercept");
        has = node == 0 || j.nodes[node].type != JSON_FALSE;
    }
    json_free(&j);
    header_free(&h);
    return has;
}

/* List the parts of a label's score. */
static int add_parts(model *m, const char *path, size_t label, size_t most, bytes *to,
                     spt_error *error)
{
    table t = {.n_columns = has_weights(m) ? 4 : 3};
    parts found;
    int failed = parts_find(m, label, &found, error);
    bool intercept = failed || has_intercept(path);
    table_add(&t, "feature", 7);
    if (has_weights(m))
        table_add(&t, "weight", 6);
    table_add(&t, "value", 5);
    table_add(&t, "contribution", 12);
    size_t shown = 0, others = 0;
    double rest = 0.0;
    for (size_t i = 0; i < found.n; i++) {
        if (found.p[i].name == NULL && !intercept && found.p[i].share == 0.0)
            continue;
        if (shown < most) {
            add_row(m, &t, &found.p[i]);
            shown++;
        } else {
            rest += found.p[i].share;
            others++;
        }
    }
    if (others > 0) {
        table_print(&t, "(%zu others)", others);
        for (size_t i = 2; i < t.n_columns; i++)
            table_add(&t, "", 0);
        table_print(&t, "%.5f", rest);
    }
    table_end(&t, 1, to);
    parts_free(&found);
    return failed;
}

static int explain_text(model *m, const char *path, const char *text, size_t n, size_t most,
                        bytes *to, spt_error *error)
{
    choice answer;
    size_t length;
    int failed = model_answer(m, text, n, &answer, 0, NULL, NULL, error);
    if (failed)
        return failed;
    if (answer.label < 0) {
        bytes_word(to, "the model has seen no label yet");
        return SPT_OK;
    }
    failed = add_parts(m, path, m->binary ? 1 : (size_t)answer.label, most, to, error);
    const char *towards = model_name(m, m->binary ? 1 : (size_t)answer.label, &length);
    bytes_word(to, "\n\ncontributions towards ");
    bytes_add(to, towards, length);
    const char *name = model_name(m, (size_t)answer.label, &length);
    bytes_word(to, "\nanswer: ");
    bytes_add(to, name, length);
    bytes_print(to, ", probability %.4f", answer.probability);
    if (has_weights(m))
        bytes_print(to, ", by the %s weights", spt_serving(m->spt, m->event));
    return failed;
}

/* Find the mail in a file, or take the text itself. -1: found; otherwise the exit code. */
static int find_text(const model *m, const char *given, bytes *file, mail_box *box,
                     const char **text, size_t *n)
{
    input in = {.number = -1, .max_line = MAX_LINE};
    const char *data, *more;
    size_t count = 0, length;
    if (spt_input(m->spt) != SPT_MAIL) {
        *text = given;
        *n = strlen(given);
        return -1;
    }
    input_begin(&in, &given, 1);
    found how = input_whole(&in, &data, &length);
    if (how == FOUND_LINE)
        bytes_add(file, data, length);
    input_free(&in);
    if (how != FOUND_LINE)
        return FAILED;
    if (file->failed)
        return fail_memory();
    box_begin(box, file->p, file->n);
    while (box_next(box, &more, &length))
        count++;
    if (count != 1)
        return fail("%s has %zu mails; give a file with one", given, count);
    *text = more;
    *n = length;
    return -1;
}

static int explain(const char *path, const char *given, size_t most)
{
    spt_error error = SPT_ERROR;
    model m;
    bytes shown = {0}, file = {0};
    mail_box box = {.mail = {0}};
    const char *text = "";
    size_t n = 0;
    if (model_open(&m, path, OPEN_WHOLE, &error))
        return fail_of(path, &error);
    int code = find_text(&m, given, &file, &box, &text, &n);
    if (code < 0)
        code = explain_text(&m, path, text, n, most, &shown, &error) ? fail("%s", error.words)
                                                         : output_shown(&shown);
    bytes_free(&shown);
    bytes_free(&file);
    box_end(&box);
    model_close(&m);
    return code;
}

int command_explain(int n, char **words)
{
    const char *path = NULL;
    size_t most = SIZE_MAX;
    const option options[] = {{"--model", "-m", OPTION_TEXT, &path, 0, 0, false},
                              {"-n", "-n", OPTION_WHOLE, &most, 1, INFINITY, false}};
    command_line line = {.command = "explain",
                         .options = options,
                         .n_options = 2,
                         .others = " --config ",
                         .usage = usage_explain};
    int code = options_read(&line, n, words);
    if (code >= 0)
        return code;
    if (line.n_words == 0)
        return misuse("explain", "Missing argument 'TEXT'");
    if (line.n_words > 1)
        return misuse("explain", "Got unexpected extra argument (%s)", line.words[1]);
    if (path == NULL)
        return misuse("explain", "Missing option '--model' / '-m'");
    return explain(path, line.words[0], most);
}
