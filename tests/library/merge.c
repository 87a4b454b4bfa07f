/* Models in one: merge m SAVED SINCE MODEL..., merge d SAVED SINCE MODEL SHARD, merge a SAVED MODEL
   DELTA...

   The first merges models that went on from SINCE (-: from none), the second writes a delta, the
   third applies deltas. A model that begins with + is opened where it lies. It prints the code of
   the call and its words; what it made is in SAVED. A model that refuses must be as it was. */

#include "streamptron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static void *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        exit(2);
    fseek(file, 0, SEEK_END);
    *n = (size_t)ftell(file);
    rewind(file);
    char *p = malloc(*n + 1);
    if (p == NULL || fread(p, 1, *n, file) != *n)
        exit(2);
    fclose(file);
    return p;
}

static void write_file(const char *path, const void *p, size_t n)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(p, 1, n, file) != n || fclose(file) != 0)
        exit(2);
}

static spt_model *opened(const char *path)
{
    spt_error error = SPT_ERROR;
    spt_model *model = NULL;
    if (strcmp(path, "-") == 0)
        return NULL;
    if (spt_open(path + (*path == '+'), *path == '+' ? SPT_MAPPED : 0, &model, &error)) {
        printf("%s: %s\n", path, error.words);
        exit(2);
    }
    return model;
}

static int merge(const char *saved, spt_model *since, int n, char **paths, spt_error *error)
{
    spt_model *models[MOST], *merged = NULL;
    for (int i = 0; i < n; i++)
        models[i] = opened(paths[i]);
    int code = spt_merge((const spt_model *const *)models, (size_t)n, since, &merged, error);
    if (code == SPT_OK && spt_save(merged, saved, NULL))
        exit(3);
    spt_close(merged);
    for (int i = 0; i < n; i++)
        spt_close(models[i]);
    return code;
}

static int make_delta(const char *saved, spt_model *since, char **paths, spt_error *error)
{
    spt_model *model = opened(paths[0]);
    void *p;
    size_t n;
    int code = spt_delta(model, since, strtoull(paths[1], NULL, 10), &p, &n, error);
    if (code == SPT_OK) {
        write_file(saved, p, n);
        spt_free(p);
    }
    spt_close(model);
    return code;
}

/* Deltas at addresses of any kind. */
static int apply(const char *saved, spt_model *model, int n, char **paths, spt_error *error)
{
    void *deltas[MOST], *held[MOST], *before, *after;
    size_t lengths[MOST], n_before, n_after;
    for (int i = 0; i < n; i++) {
        void *p = read_file(paths[i], &lengths[i]);
        held[i] = malloc(lengths[i] + 8);
        if (held[i] == NULL)
            exit(2);
        deltas[i] = memcpy((char *)held[i] + i % 3, p, lengths[i]);
        free(p);
    }
    if (spt_save_memory(model, &before, &n_before, NULL))
        exit(3);
    int code = spt_apply(model, (const void *const *)deltas, lengths, (size_t)n, error);
    for (int i = 0; i < n; i++) /* the model has what it needs of them */
        free(held[i]);
    if (spt_save_memory(model, &after, &n_after, NULL))
        exit(3);
    if (code == SPT_OK)
        write_file(saved, after, n_after);
    else if (n_before != n_after || memcmp(before, after, n_after) != 0)
        exit(4);
    spt_free(before);
    spt_free(after);
    return code;
}

int main(int argc, char **argv)
{
    spt_error error = SPT_ERROR;
    if (argc < 4)
        return 2;
    spt_model *model = opened(argv[3]);
    int code = *argv[1] == 'm'   ? merge(argv[2], model, argc - 4, argv + 4, &error)
               : *argv[1] == 'd' ? make_delta(argv[2], model, argv + 4, &error)
                                 : apply(argv[2], model, argc - 4, argv + 4, &error);
    printf("%d %s\n", code, error.words);
    spt_close(model);
    return 0;
}
