"""``streamptron filter``, ``learn`` and ``forget``: mails classified, learned and forgotten.

The filter must never lose a mail: whatever is wrong with the model, the disk or the mail itself, it
writes the mail that it has read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from streamptron.command import options, passing
from streamptron.common.header import ERROR, with_field, without_ours
from streamptron.common.names import short_repr
from streamptron.common.process import say


class Passing(options.CommandOfOptions):
    """A command that passes the mail on even if its options are wrong."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        words = [*args]
        try:
            return super().parse_args(context, args)
        except click.exceptions.Exit:  # --help
            raise
        except Exception as error:
            if context.resilient_parsing:
                raise
            if isinstance(error, click.ClickException):
                reason = error.format_message().rstrip(".")
            else:
                reason = passing.reason_of(error)
            code = passing.passed_on(reason)
            raise click.exceptions.Exit(
                0 if code == ERROR and "--pass" in words else code
            ) from None


@click.command("filter", cls=Passing)
@options.model_option
@options.config_option
@click.option("--positive", metavar="LABEL", default="spam", help="The label of exit code 0.")
@options.min_probability_option
@click.option(
    "--pass", "passes", is_flag=True, help="The exit code is 0 whenever the mail is written."
)
def filter_mail(model: str, positive: str, min_probability: float, passes: bool) -> int:
    """Classify a mail, and pass it on.

    Reads a mail from standard input and writes it with one more header field:

    \b
      X-Streamptron: spam 0.9987 (subject: free, text: prize, ...)

    It has the label, its probability, and the features that counted most. If the mail already has
    fields of this name they are removed, since the sender may have forged them. Nothing else
    changes.

    The exit code is 0 for spam, 1 for another label, 2 for unsure and 3 for an error. After an
    error, even a wrong option, the mail is written without the field, and the error goes to
    standard error. If the mail itself cannot be read or written, the exit code is 75, so that the
    mail server tries again.

    \b
    Examples:
      streamptron filter --model mail.model < mail.eml
      streamptron filter --model mail.model --pass < mail.eml
    """
    try:
        mail = passing.standard_input()
    except OSError as error:
        return passing.not_read(error)
    code = ERROR
    plain = without_ours(mail)
    try:
        from streamptron.files.lines import LineModel
        from streamptron.files.verdict import judged

        try:
            lines = LineModel.load(model, mmap=True)  # one mail needs only a small part of it
        except ValueError:  # not every learner can be opened in place
            lines = LineModel.load(model)
        verdict = judged(lines, plain, positive, min_probability)
        plain, code = with_field(plain, verdict.field), verdict.code
    except Exception as error:  # the mail must be passed on
        reason = (
            f"{model}: {error.strerror}" if isinstance(error, OSError) else passing.reason_of(error)
        )
        say(f"streamptron: error: {reason}; the mail is passed on unclassified")
    code = passing.written(plain, code)
    return 0 if passes and code != passing.NOT_WRITTEN else code


# --- Learning and forgetting

wait_option = click.option(
    "--wait",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait up to this long while another process writes the model.",
)
files_of_mails = click.argument("files", nargs=-1, type=options.FILE)


@click.command("learn", cls=options.CommandOfOptions)
@files_of_mails
@options.model_option
@options.config_option
@click.option("--as", "label", metavar="LABEL", required=True, help="The right label of the mails.")
@options.new_label_option
@options.learn_unsure_option
@wait_option
def learn(files: tuple[str, ...], model: str, label: str, wait: float, **given: Any) -> None:
    """Learn mails with their right label, and remember them.

    Without FILES it reads one mail from standard input. A mail that was already learned with the
    same label is skipped, so you can learn a folder again. A mail that was learned with another
    label is learned again; if it is one of the last 500, what it taught before is taken back. The
    model file remembers the mails; two mails are the same if their Message-ID, From, Subject and
    text are equal. Once the model knows two labels, any other label is an error.

    \b
    Examples:
      streamptron learn --as spam --model mail.model < mail.eml
      streamptron learn --as ham --model mail.model Maildir/cur/1190000000.M1:2,S
    """
    from streamptron.command.model_on_disk import ModelOnDisk
    from streamptron.command.teach import teach

    learn_unsure = given["learn_unsure"]
    done = dict.fromkeys(("learned", "corrected", "known", "sure"), 0)
    with ModelOnDisk(model, wait=wait, **given) as on_disk:
        on_disk.load()
        for mail in _mails(files):
            done[teach(on_disk.model, mail, label)] += 1
        if done["learned"] or done["corrected"]:
            on_disk.lock.save(on_disk.model)
    said = (
        f"{done['learned']} learned, {done['corrected']} corrected, {done['known']} known already"
    )
    if learn_unsure is not None:
        said += f", {done['sure']} left out"
    say(f"streamptron: {said}")


@click.command("forget", cls=options.CommandOfOptions)
@files_of_mails
@options.model_option
@options.config_option
@click.option("--id", "ids", multiple=True, help="A Message-ID.")
@wait_option
def forget(files: tuple[str, ...], model: str, ids: tuple[str, ...], wait: float) -> None:
    """Take back what mails have taught.

    Without FILES and --id it reads one mail from standard input.

    \b
    Examples:
      streamptron forget --model mail.model < mail.eml
      streamptron forget --model mail.model --id 17@example.org
    """
    from streamptron.command.model_on_disk import ModelOnDisk
    from streamptron.command.teach import ids_of, journal_in, unteach
    from streamptron.files.mail import identity

    if ids and files:
        raise click.UsageError("--id and FILES are two ways to name mails; give one")
    with ModelOnDisk(model, wait=wait) as on_disk:
        on_disk.load()
        journal = journal_in(on_disk.model)
        wanted: dict[Any, None] = {}
        for each in ids:
            found = ids_of(on_disk.model, each.strip().removeprefix("<").removesuffix(">"))
            wanted |= dict.fromkeys(found or [(each, "")])
        wanted |= {} if ids else dict.fromkeys(map(identity, _mails(files)))
        for id in wanted:
            if id not in journal:
                which = (
                    f"with the Message-ID {short_repr(id[0])}" if id[0] else "without a Message-ID"
                )
                raise ValueError(
                    f"the mail {which} cannot be taken back, and nothing was: it was not learned "
                    f"by learn or serve, or {journal.most} others have been since"
                )
        for id in wanted:
            unteach(on_disk.model, id)
        on_disk.lock.save(on_disk.model)
    say(f"streamptron: {len(wanted)} forgotten")


def _mails(files: tuple[str, ...]) -> Iterator[bytes]:
    from streamptron.files import read

    for mail, _ in read(list(files) or "-", "mail"):
        yield mail
