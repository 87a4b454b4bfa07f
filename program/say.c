#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096 }; /* bytes of a message; the rest is cut off */

const char *program = "spt";
const char *misuse_ends = NULL;

void name_program(const char *path)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    if (name != NULL && name[0] != 0)
        program = name;
}

void hold_streams(void)
{
    static const int how[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    struct stat status;
    signal(SIGXFSZ, SIG_IGN); /* exceeding a limit on file sizes is an error, like a full disk */
    for (int number = 0; number < 3; number++) {
        /* open it so that reading, or writing, fails */
        if (fstat(number, &status) < 0 && open("/dev/null", how[number]) < 0)
            return;
    }
}

static bool dated; /* whether messages begin with the time */

void date_messages(void)
{
    struct stat status;
    char journal[64] = "";
    const char *stream = getenv("JOURNAL_STREAM"); /* journald adds its own time */
    if (fstat(2, &status) == 0)
        snprintf(journal, sizeof(journal), "%llu:%llu", (unsigned long long)status.st_dev,
                 (unsigned long long)status.st_ino);
    dated = !isatty(2) && !(stream != NULL && strcmp(stream, journal) == 0);
}

/* Use one write, so that lines of several processes are not mixed. */
static void put(const char *kind, const char *format, va_list given, const char *end)
{
    char text[MOST], when[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (dated && gmtime_r(&now, &parts) != NULL)
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ ", &parts);
    int n = snprintf(text, sizeof(text), "%s%.64s: %s", when, program, kind);
    int more = vsnprintf(text + n, sizeof(text) - (size_t)n - 1, format, given);
    size_t at = strlen(text);
    if (more < 0)
        return;
    at += (size_t)snprintf(text + at, sizeof(text) - at - 1, "%s", end);
    if (at > sizeof(text) - 2)
        at = sizeof(text) - 2;
    text[at++] = '\n';
    for (size_t done = 0; done < at;) {
        ssize_t written = write(2, text + done, at - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        done += (size_t)written;
    }
}

void say(const char *format, ...)
{
    va_list given;
    va_start(given, format);
    put("", format, given, "");
    va_end(given);
}

int fail(const char *format, ...)
{
    va_list given;
    va_start(given, format);
    put("error: ", format, given, "");
    va_end(given);
    return FAILED;
}

int misuse(const char *command, const char *format, ...)
{
    char end[128];
    va_list given;
    if (misuse_ends != NULL)
        snprintf(end, sizeof(end), "%s", misuse_ends);
    else
        snprintf(end, sizeof(end), "; see %.64s%s%s --help", program, command == NULL ? "" : " ",
             command == NULL ? "" : command);
    va_start(given, format);
    put("error: ", format, given, end);
    va_end(given);
    return MISUSED;
}

int fail_memory(void)
{
    return fail("no memory");
}

const char *words_of_system(const char *path, int system)
{
    static char words[MOST / 2];
    snprintf(words, sizeof(words), "[Errno %d] %s: '%s'", system, strerror(system), path);
    return words;
}

const char *words_of(const char *path, const spt_error *error)
{
    if (error->code == SPT_SYSTEM && error->system)
        return words_of_system(path, error->system);
    return error->words;
}

int fail_of(const char *path, const spt_error *error)
{
    struct stat status;
    int system = error->code == SPT_SYSTEM ? error->system : 0;
    if (error->code == SPT_SYSTEM && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        system = EISDIR;
    return system ? fail("%s: %s", path, strerror(system)) : fail("%s", error->words);
}
