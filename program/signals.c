#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* A signal writes to a pipe, and a wait polls a file and that pipe. So no signal is lost between a
   check for signals and the wait. */
static int woken = -1, wakes = -1;
static volatile sig_atomic_t stop, hangup;

static void come(int number)
{
    int before = errno;
    if (number == SIGHUP)
        hangup = 1;
    else if (!stop)
        stop = number;
    if (write(wakes, "", 1) < 0) {
        /* a full pipe wakes the wait, too */
    }
    errno = before;
}

bool signals_listen(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    int ends[2];
    struct sigaction action = {.sa_handler = come}, quiet = {.sa_handler = SIG_IGN};
    if (woken < 0) {
        if (pipe(ends) < 0)
            return false;
        for (int i = 0; i < 2; i++) {
            fcntl(ends[i], F_SETFD, FD_CLOEXEC);
            fcntl(ends[i], F_SETFL, O_NONBLOCK);
        }
        woken = ends[0];
        wakes = ends[1];
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL); /* without SA_RESTART: a waiting open() ends */
    sigaction(SIGPIPE, &quiet, NULL);
    return true;
}

int signals_stop(void)
{
    return stop;
}

bool signals_hangup(void)
{
    bool came = hangup;
    char pieces[64];
    hangup = 0;
    if (came && !stop) {
        while (read(woken, pieces, sizeof(pieces)) > 0)
            continue;
    }
    return came;
}

bool signals_came(void)
{
    return stop || hangup;
}

bool signals_wait(int number, bool to_write, double seconds)
{
    struct pollfd files[2] = {{number, to_write ? POLLOUT : POLLIN, 0}, {woken, POLLIN, 0}};
    int left = -1;
    if (signals_came())
        return false;
    if (seconds >= 0.0) /* rounded up, so that the wait does not end too early */
        left = seconds > 1e6 ? 1000000000 : (int)(seconds * 1000.0) + 1;
    int ready = poll(files, woken < 0 ? 1 : 2, left);
    return ready > 0 && files[0].revents != 0 && !signals_came();
}

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
