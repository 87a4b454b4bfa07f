"""Calls in threads of their own, and an interpreter that is eager to change between them."""

import faulthandler
import sys
import threading
import time
from contextlib import contextmanager
from inspect import signature


def finished(*calls, seconds=100):
    """Run calls in threads of their own, all at once; what they return, or the first error."""
    results, errors = [None] * len(calls), []
    stop = threading.Event()
    endless = [bool(signature(call).parameters) for call in calls]

    def run(i):
        try:
            results[i] = calls[i](stop) if endless[i] else calls[i]()
        except BaseException as error:
            errors.append(error)
        finally:
            # calls that take an argument go on until one that does not has come to its end
            if not endless[i] or errors:
                stop.set()

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        faulthandler.dump_traceback()
        raise AssertionError("threads wait for each other")
    if errors:
        raise errors[0]
    return results


@contextmanager
def _eager():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def eager(test):
    """For the test the interpreter changes from one thread to another as often as it can."""
    return _eager()(test)
