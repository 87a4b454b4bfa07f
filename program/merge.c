/* Merges models that learned separately. */

#include "commands.h"

#include "lock.h"
#include "options.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

/* Open a model in place, if possible, as it is only read. */
static int open_one(const char *path, spt_model **made)
{
    spt_error error = SPT_ERROR;
    int failed = spt_open(path, SPT_MAPPED, made, &error);
    if (failed == SPT_FOREIGN)
        failed = spt_open(path, 0, made, &error);
    return failed ? fail_of(path, &error) : DONE;
}

static int merge(char **paths, size_t n, const char *since, const char *to)
{
    spt_error error = SPT_ERROR;
    spt_model **models = calloc(n + 1, sizeof(spt_model *)), *merged = NULL;
    int code = models == NULL ? fail_memory() : DONE;
    for (size_t i = 0; i < n && code == DONE; i++)
        code = open_one(paths[i], &models[i]);
    if (code == DONE && since != NULL)
        code = open_one(since, &models[n]);
    if (code == DONE && spt_merge((const spt_model *const *)models, n, models[n], &merged, &error))
        code = fail("%s", error.words);
    lock held;
    if (code == DONE && !lock_take(&held, to, "merge", 0.0))
        code = FAILED;
    else if (code == DONE) {
        if (spt_save(merged, to, &error))
            code = fail_of(to, &error);
        lock_leave(&held);
    }
    spt_close(merged);
    for (size_t i = 0; models != NULL && i <= n; i++)
        spt_close(models[i]);
    free(models);
    return code;
}

int command_merge(int n, char **words)
{
    const char *to = NULL, *since = NULL;
    const option options[] = {
        {"--model", "-m", OPTION_TEXT, &to, 0, 0, false},
        {"--since", NULL, OPTION_TEXT, &since, 0, 0, false},
    };
    command_line line = {.command = "merge",
                         .options = options,
                         .n_options = sizeof(options) / sizeof(options[0]),
                         .usage = usage_merge};
    int code = options_read(&line, n, words);
    if (code >= 0)
        return code;
    if (line.n_words == 0)
        return misuse("merge", "Missing argument 'FILES...'");
    if (to == NULL)
        return misuse("merge", "Missing option '--model' / '-m'");
    return merge(line.words, line.n_words, since, to);
}
