/* For bench_library.py: library open MODEL N | library hold MODEL | library learn LINES MODEL. */

#define _DEFAULT_SOURCE

#include "streamptron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* kB of memory that the process has. */
static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1)
        exit(1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static spt_model *opened(const char *path)
{
    spt_error error = SPT_ERROR;
    spt_model *model;
    if (spt_open(path, SPT_MAPPED, &model, &error) != SPT_OK) {
        fprintf(stderr, "%s\n", error.words);
        exit(1);
    }
    return model;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds of an opening, median and longest; kB after the first ten, and after all. */
static void open_often(const char *path, size_t n)
{
    double *seconds = calloc(n, sizeof(double));
    long before = 0;
    for (size_t i = 0; i < n; i++) {
        double start = now();
        spt_model *model = opened(path);
        seconds[i] = now() - start;
        spt_close(model);
        if (i == 9)
            before = resident();
    }
    qsort(seconds, n, sizeof(double), by_size);
    printf("%.0f %.0f %ld %ld\n", 1e6 * seconds[n / 2], 1e6 * seconds[n - 1], before, resident());
    free(seconds);
}

/* Answer a few events, then wait until standard input ends. */
static void hold(const char *path)
{
    spt_model *model = opened(path);
    spt_event *event;
    spt_answer answer = SPT_ANSWER;
    if (spt_event_new(model, &event, NULL) != SPT_OK)
        exit(1);
    for (int i = 0; i < 1000; i++) {
        char name[16];
        size_t n = (size_t)snprintf(name, sizeof(name), "w%d", i * 997);
        spt_event_clear(event);
        spt_event_add(event, name, n, 1.0, NULL);
        spt_predict(model, event, &answer, NULL);
    }
    printf("ready\n");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    spt_event_free(event);
    spt_close(model);
}

static void check(int failed, const spt_error *error)
{
    if (failed) {
        fprintf(stderr, "%s\n", error->words);
        exit(1);
    }
}

/* Learn lines of a label, a TAB and a text. */
static void learn(const char *lines, const char *path)
{
    static char line[1 << 20];
    spt_error error = SPT_ERROR;
    spt_model *model;
    spt_event *event;
    FILE *file = fopen(lines, "rb");
    if (file == NULL)
        exit(1);
    check(spt_new("adaptive", NULL, "{}", &model, &error), &error);
    check(spt_event_new(model, &event, &error), &error);
    while (fgets(line, sizeof(line), file) != NULL) {
        size_t n = strcspn(line, "\t");
        char *text = line + n + 1;
        check(spt_event_text(event, text, strcspn(text, "\n"), &error), &error);
        check(spt_learn_as(model, event, line, n, 1.0, &error), &error);
    }
    fclose(file);
    check(spt_save(model, path, &error), &error);
    spt_event_free(event);
    spt_close(model);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "open") == 0)
        open_often(argv[2], (size_t)atol(argv[3]));
    else if (argc == 3 && strcmp(argv[1], "hold") == 0)
        hold(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "learn") == 0)
        learn(argv[2], argv[3]);
    else
        return 2;
    return 0;
}
