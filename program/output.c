#include "output.h"

#include "say.h"
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

put output_flush(bytes *out)
{
    size_t done = 0;
    put how = PUT_DONE;
    while (done < out->n && how == PUT_DONE) {
        ssize_t n = write(1, out->p + done, out->n - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno == EAGAIN)
            signals_wait(1, true, 1.0);
        else if (errno != EINTR)
            how = errno == EPIPE ? PUT_GONE : PUT_FAILED;
    }
    out->n = how == PUT_DONE ? 0 : out->n;
    return how;
}

int output_failed(int system)
{
    if (system == EBADF)
        return fail("the standard output is closed; to discard what is written use >/dev/null");
    return fail("the standard output cannot be written: %s", strerror(system));
}

int output_shown(bytes *shown)
{
    bytes_word(shown, "\n");
    if (shown->failed)
        return fail_memory();
    put how = output_flush(shown);
    int system = errno;
    return how == PUT_FAILED ? output_failed(system) : DONE;
}
