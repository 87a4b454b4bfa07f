"""``streamptron filter``, ``learn`` and ``forget``: one mail in a pipe, and what it teaches.

The first duty of the filter is that the mail goes on: whatever is wrong, with the model, the disk
or the mail itself, what came in goes out.
"""

from __future__ import annotations

import contextlib
import os
import re
import typing
from typing import Any

import click

from streamptron.command.options import FILE, CommandOfOptions, config_option, model_option
from streamptron.command.process import say

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

SPAM, HAM, UNSURE, ERROR = range(4)
NOT_WRITTEN = 75  # EX_TEMPFAIL of sysexits.h: the mail is to be delivered again
NAME = "X-Streamptron"
OURS = re.compile(rb"^x-streamptron:[^\n]*\n?(?:[ \t][^\n]*\n?)*", re.MULTILINE | re.IGNORECASE)
HEADER_END = re.compile(rb"^\r?\n", re.MULTILINE)
WORDS = 5  # that spoke most, in the header
WORD_MOST = 40  # characters of one


@click.command("filter", cls=CommandOfOptions)
@model_option
@config_option
@click.option("--positive", metavar="LABEL", default="spam", help="The label of exit code 0.")
@click.option(
    "--min-probability",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Below this probability the mail is `unsure`.",
)
@click.option(
    "--pass", "passes", is_flag=True, help="The exit code is 0 whenever the mail is written."
)
def filter_mail(model: str, positive: str, min_probability: float, passes: bool) -> int:
    """Say of a mail what it is, and pass it on.

    The mail on the standard input is written with a field that says what it is:

    \b
      X-Streamptron: spam 0.9987 (subject: free, text: prize, ...)

    The label, its probability, and the features that spoke most for it. Such fields that the mail
    has already are removed, for a sender may have written them. Nothing else of it changes.

    The exit code is 0 for spam, 1 for another label, 2 for unsure and 3 for an error. After an
    error the mail is written without the field, and the error on the standard error. If the mail
    itself cannot be written, the exit code is 75, and the mail is to be delivered again.

    \b
    Examples:
      streamptron filter --model mail.model < mail.eml
      streamptron filter --model mail.model --pass < mail.eml
    """
    mail = _standard_input()
    code = ERROR
    plain = without_ours(mail)
    try:
        said, code = _judged(model, plain, positive, min_probability)
        plain = with_field(plain, said)
    except Exception as error:  # the mail goes on
        reason = f"{model}: {error.strerror}" if isinstance(error, OSError) else str(error)
        say(f"streamptron: error: {reason or type(error).__name__}; the mail is passed on unjudged")
    try:
        _write(plain)
    except OSError as error:
        say(f"streamptron: error: the mail cannot be written: {error.strerror}")
        return NOT_WRITTEN
    return 0 if passes else code


def _standard_input() -> bytes:
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def _write(mail: bytes) -> None:
    left = memoryview(mail)
    while left:
        left = left[os.write(1, left) :]


def _judged(path: str, mail: bytes, positive: str, least: float) -> tuple[str, int]:
    """What the field says, and the exit code."""
    from streamptron.command.lines import LineModel

    model = LineModel.load(path)
    event = model.event(mail)
    label, probability = model.answer(event)
    if label is None or probability is None:
        return "unsure", UNSURE
    if model.names and positive not in model.names:
        raise ValueError(f"--positive {positive} is not a label of the model: {model.names}")
    unsure = probability < least
    said = f"{'unsure' if unsure else label} {probability:.4f}"
    if words := _spoke_most(model, event):
        said += f" ({', '.join(words)})"
    return said, UNSURE if unsure else SPAM if label == positive else HAM


def _spoke_most(model: Any, event: Any) -> list[str]:
    """The words that contributed most to the answer, as a header can hold them."""
    from streamptron.mail import described

    learner = model.learner
    if learner.hash_bits is not None:  # it has no names
        return []
    parts, _, _ = learner._explanation(event, learner.predict_one(event))
    parts = [(name, part) for name, part in parts if isinstance(name, str) and part > 0]
    parts.sort(key=lambda item: -item[1])
    words = [described(name).encode("ascii", "backslashreplace") for name, _ in parts[:WORDS]]
    return [word[:WORD_MOST].decode() for word in words]


def without_ours(mail: bytes) -> bytes:
    """The mail without fields of our name.

    Examples
    --------
    >>> without_ours(b"To: a\\nX-Streamptron: ham\\n  1.0\\nCc: b\\n\\nX-Streamptron: stays")
    b'To: a\\nCc: b\\n\\nX-Streamptron: stays'
    """
    end = HEADER_END.search(mail)
    at = end.start() if end else len(mail)
    return OURS.sub(b"", mail[:at]) + mail[at:]


def with_field(mail: bytes, said: str) -> bytes:
    """The mail with a field in front of its others, behind the `From ` line of an mbox.

    Examples
    --------
    >>> with_field(b"From a 12:30\\nTo: b\\n\\n", "ham 0.9")
    b'From a 12:30\\nX-Streamptron: ham 0.9\\nTo: b\\n\\n'
    """
    at = mail.find(b"\n") + 1 if mail.startswith(b"From ") else 0
    first = mail[at : mail.find(b"\n", at) + 1]
    end = "\r\n" if first.endswith(b"\r\n") else "\n"
    return mail[:at] + f"{NAME}: {said}{end}".encode() + mail[at:]


# --- What mails teach

MOST = 500  # mails that a journal remembers, each about 100 kB

files_of_mails = click.argument("files", nargs=-1, type=FILE)


@click.command("learn", cls=CommandOfOptions)
@files_of_mails
@model_option
@config_option
@click.option("--as", "label", metavar="LABEL", required=True, help="What the mails are.")
def learn(files: tuple[str, ...], model: str, label: str) -> None:
    """Learn what mails are, and remember it.

    Without FILES it is the mail on the standard input. The last 500 mails are remembered by their
    Message-IDs, in the model's file. A mail that has been learned with another label is learned
    anew, and what it has taught is taken back. One that has been learned with this label is left as
    it is. So a folder may be given again.

    \b
    Examples:
      streamptron learn --as spam --model mail.model < mail.eml
      streamptron learn --as ham --model mail.model Maildir/cur/1190000000.M1:2,S
    """
    with _journal(model) as journal:
        learned = corrected = known = 0
        for mail, id in _mails(files):
            if id not in journal:
                journal.learn_one(id, mail, label)
                learned += 1
            elif journal.label_of(id) != label:
                journal.correct(id, label)
                corrected += 1
            else:
                known += 1
        say(f"streamptron: {learned} learned, {corrected} corrected, {known} known already")


@click.command("forget", cls=CommandOfOptions)
@files_of_mails
@model_option
@config_option
@click.option("--id", "ids", multiple=True, help="A Message-ID, without angle brackets.")
def forget(files: tuple[str, ...], model: str, ids: tuple[str, ...]) -> None:
    """Take back what mails have taught.

    Without FILES and --id it is the mail on the standard input.

    \b
    Examples:
      streamptron forget --model mail.model < mail.eml
      streamptron forget --model mail.model --id 17@example.org
    """
    with _journal(model) as journal:
        wanted = list(ids) or [id for _, id in _mails(files)]
        for id in wanted:
            if id not in journal:
                raise ValueError(f"no mail {id} is remembered; nothing was taken back")
        for id in dict.fromkeys(wanted):
            journal.undo(id)
        say(f"streamptron: {len(dict.fromkeys(wanted))} forgotten")


def _mails(files: tuple[str, ...]) -> Iterator[tuple[bytes, str]]:
    from streamptron.files import read

    for record in read(list(files) or "-", "mail").records():
        assert record.tag is not None
        yield record.x, record.tag


@contextlib.contextmanager
def _journal(path: str) -> Iterator[Any]:
    """The journal of a model's file, which is saved at the end if nothing went wrong."""
    from streamptron.doors.mails import MailDoor
    from streamptron.journal import Journal, journal_of
    from streamptron.modelfile.lock import ModelLock
    from streamptron.modelfile.read import model_of, read
    from streamptron.modelfile.write import contents_of

    with ModelLock(path) as lock:
        contents = read(path)
        if not isinstance(contents.tokenizer, MailDoor):
            raise ValueError(f"{path}: the model learns no mails; train one with --format mail")
        model = model_of(contents)
        if contents.journal is None:
            journal = Journal(model, MOST)
        else:
            journal = journal_of(model, contents.journal)
        yield journal
        saved = contents_of(journal, contents.metadata)
        lock.save(_Saved(saved._replace(position=contents.position)))


class _Saved:
    """Contents of a file, as a lock saves them."""

    def __init__(self, contents: Any) -> None:
        self.contents = contents

    def save(self, path: str) -> None:
        from streamptron.modelfile.write import write

        write(path, self.contents)
