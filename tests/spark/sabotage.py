"""What kills a process in the midst of a round, once; Spark's workers import it."""

import os
import signal
from pathlib import Path

from streamptron.spark import rounds

TASK = rounds.shard_task


def executor():
    """The process of the executor whose Python worker this is: it has a daemon, which has us."""
    stat = Path(f"/proc/{os.getppid()}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def killing(victim, mark):
    """Instead of ``rounds.shard_task``: after the first batch of shard 0 the victim dies.

    `mark`: a file that is made before, so that it happens once.
    """

    def shard_task(base):
        task = TASK(base)

        def sabotaged(batches):
            from pyspark import TaskContext

            def some():
                for n, batch in enumerate(batches):
                    if n == 1 and TaskContext.get().partitionId() == 0 and not mark.exists():
                        mark.touch()
                        os.kill(os.getpid() if victim == "worker" else executor(), signal.SIGKILL)
                    yield batch

            return task(some())

        return sabotaged

    return shard_task
