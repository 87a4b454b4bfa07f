"""The log's files."""

import asyncio
import os
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from streamptron.service.lessons import SYNC, Log

FILES = Path("/proc/self/fd")


async def saves(log, n):
    """Lessons, and saves that hold them."""
    for number in range(n):
        log.append({"n": number})
        await log.durable()
        if log.sync == "1s":
            await log.flush()
        log.begin()
        log.saved(log.old())


@pytest.mark.skipif(not FILES.exists(), reason="there is no /proc")
@pytest.mark.parametrize("sync", SYNC)
def test_a_file_that_a_save_holds_stays_open_no_longer_than_a_sync_needs_it(tmp_path, sync):
    log = Log(str(tmp_path / "a.lessons"), sync)
    asyncio.run(saves(log, 2))
    before = len(os.listdir(FILES))
    asyncio.run(saves(log, 20))
    assert len(os.listdir(FILES)) == before
    log.close()
    assert os.listdir(tmp_path) == []
