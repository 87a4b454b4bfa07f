"""Corrections: files with labelled lines that are put into a folder, and each learned once.

    FOLDER/x.tsv            was renamed into the folder; files whose names begin with a dot are
                            still being written
    FOLDER/taken/ID.x.tsv   is being learned, under a name that no other file ever gets
    FOLDER/done/ID.x.tsv    was learned, and the model was saved since
    FOLDER/bad/ID.x.tsv     is cut off or has a bad line: nothing of it was learned

The model's file lists the files in taken/ that the model has learned. So if the process is killed
and started again, each file is still learned once: if the saved model has learned it, it is only
moved. Renames are synced to disk before anything that relies on them is written.
"""

from __future__ import annotations

import os
import time

from streamptron.command.blocks import Block
from streamptron.command.filter import Filter
from streamptron.common.disk import lock
from streamptron.common.process import counted, say
from streamptron.files.decode import SUFFIXES

SECONDS = 1.0  # how often to look into the folder
AGAIN = 30.0  # seconds before a failed save is tried again
TAKEN, DONE, BAD = "taken", "done", "bad"


class Spool:
    """The corrections of one learner.

    Parameters
    ----------
    folder
        The folder, which must exist.

    Attributes
    ----------
    n_done, n_bad
        How many files this process has learned, and set aside.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.n_done = 0
        self.n_bad = 0
        self._lines: Filter
        self._number = -1  # the descriptor of the folder, which is locked
        self._last_look = 0.0
        self._last_save = 0.0
        self._tried: list[str] = []  # the files that the last save was for
        self._is_gone = False

    # --- A chore of the filter

    def begin(self, lines: Filter) -> None:
        self._lines = lines
        try:
            self._number = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            if not lock(self._number):
                raise ValueError(
                    f"{self.folder}: another process learns the corrections that come there; give "
                    "each learner a folder of its own"
                )
            for name in (TAKEN, DONE, BAD):
                os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        except FileNotFoundError:
            raise ValueError(
                f"{self.folder}: there is no such folder; make it, and put files into it by "
                "renaming them"
            ) from None
        left = self._names(TAKEN)
        known = self._learned = [name for name in self._learned if name in left]
        self._settle()
        for name in left:
            if name not in known:
                self._learn(name)
        self._save()

    def seconds_left(self) -> float:
        return max(0.0, self._last_look + SECONDS - time.monotonic())

    def look(self) -> None:
        if self.seconds_left():
            return
        self._last_look = time.monotonic()
        try:
            self._learn_all()
            self._is_gone = False
        except OSError as error:
            if not self._is_gone:
                say(f"streamptron: no corrections, will look again: {error}")
            self._is_gone = True

    def end(self) -> None:
        try:
            self._settle()
        except OSError as error:
            say(f"streamptron: corrections stay in {TAKEN}, and are learned: {error}")
        os.close(self._number)

    def replaced(self) -> None:
        """Report which corrections a new model may not have learned."""
        if n := len(self._names(DONE)):
            done = os.path.join(self.folder, DONE)
            say(
                f"streamptron: the model has not learned the corrections in {done} "
                f"({counted(n, 'file')}), unless it was trained from them; to learn them again, "
                f"move them to {self.folder}"
            )

    # --- A file

    @property
    def _learned(self) -> list[str]:
        """Files in taken/ that the model has learned."""
        kept = self._lines.on_disk.model.spool or {}
        return list(kept.get("learned", ()))

    @_learned.setter
    def _learned(self, names: list[str]) -> None:
        self._lines.on_disk.model.spool = {"learned": names} if names else None

    def _learn_all(self) -> None:
        """Learn the files that have come, and save the model once."""
        self._settle()
        try:
            for name in self._names(""):
                self._learn(self._take(name))
                if self._lines.signals.came:  # the others can wait
                    break
        finally:
            self._save()

    def _learn(self, name: str) -> None:
        """Learn a file in taken/, or set it aside."""
        path = os.path.join(self.folder, TAKEN, name)
        try:
            blocks = self._read(path)
        except (ValueError, OSError) as error:
            self._move(TAKEN, BAD, name)
            self.n_bad += 1
            reason = str(error).replace(path, name)
            say(
                f"streamptron: corrections set aside, nothing of them is learned: {reason}; mend "
                f"{os.path.join(self.folder, BAD, name)} and rename it into {self.folder}"
            )
            return
        self._learned = [*self._learned, name]
        for block in blocks:
            block.learn(confidences=True)
        for block in blocks:
            for place, reason in block.faults:
                say(f"streamptron: {name}:{block.line(place)}: not learned: {reason}")
        self.n_done += 1
        self._lines.learned(blocks)

    def _read(self, path: str) -> list[Block]:
        """The blocks of a file; an error if it is cut off or has a line without a label."""
        with open(path, "rb") as file:
            if not os.path.getsize(path):
                raise ValueError(f"{path}: it is empty; it may have been cut off")
            file.seek(-min(4, os.path.getsize(path)), os.SEEK_END)
            end = file.read().rstrip(b"\0")  # of a line end in UTF-16
        if not end.endswith(b"\n") and os.path.splitext(path)[1] not in SUFFIXES:
            raise ValueError(f"{path}: its last line has no end; it may have been cut off")
        blocks: list[Block] = []
        self._lines.corrected(path, blocks.append).run()
        for block in blocks:
            block.label()
            for error in block.errors():
                raise error
        if not any(block.n for block in blocks):
            raise ValueError(f"{path}: it has no labelled line")
        return blocks

    def _save(self) -> None:
        """Save the model if it has learned a file; a failed save is tried again after a while."""
        learned = self._learned
        if learned != self._tried or time.monotonic() >= self._last_save + AGAIN:
            self._tried, self._last_save = learned, time.monotonic()
            if learned and self._lines.on_disk.save():
                self._settle()

    def _settle(self) -> None:
        """Move files that were learned and saved from taken/ to done/."""
        learned = self._learned
        while learned and self._lines.on_disk.unsaved == 0:
            if os.path.exists(os.path.join(self.folder, TAKEN, learned[0])):
                self._move(TAKEN, DONE, learned[0])
            learned = self._learned = self._tried = learned[1:]

    # --- The folder

    def _names(self, folder: str) -> list[str]:
        """The files in one of the folders, sorted by name."""
        with os.scandir(os.path.join(self.folder, folder)) as files:
            found = [file.name for file in files if file.is_file(follow_symlinks=False)]
        return sorted(name for name in found if not name.startswith("."))

    def _take(self, name: str) -> str:
        """Move a new file to taken/, under a unique name."""
        short = os.fsdecode(os.fsencode(name)[-200:])  # leaves room for the id before it
        taken = f"{time.time_ns():019d}-{os.urandom(4).hex()}.{short}"
        self._move("", TAKEN, name, taken)
        return taken

    def _move(self, there: str, here: str, name: str, new: str = "") -> None:
        folders = [os.path.join(self.folder, each) for each in (there, here)]
        os.rename(os.path.join(folders[0], name), os.path.join(folders[1], new or name))
        for folder in folders:
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(number)
            finally:
                os.close(number)
