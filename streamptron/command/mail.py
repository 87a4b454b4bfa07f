"""``streamptron filter``, ``learn`` and ``forget``: one mail in a pipe, and what it teaches.

The first duty of the filter is that the mail goes on: whatever is wrong, with the model, the disk
or the mail itself, what came in goes out.
"""

from __future__ import annotations

import typing
from typing import Any

import click

from streamptron.command.options import (
    FILE,
    CommandOfOptions,
    config_option,
    learn_unsure_option,
    min_probability_option,
    model_option,
    new_label_option,
)
from streamptron.command.passing import (
    ERROR,
    HAM,
    NOT_WRITTEN,
    SPAM,
    UNSURE,
    not_read,
    passed_on,
    reason_of,
    standard_input,
    with_field,
    without_ours,
    written,
)
from streamptron.command.process import say
from streamptron.estimator.names import shown

if typing.TYPE_CHECKING:
    from collections.abc import Iterator

    from streamptron.command.lines import LineModel

WORDS = 5  # that counted most, in the header
WORD_MOST = 40  # characters of one


class Passing(CommandOfOptions):
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
                reason = reason_of(error)
            code = passed_on(reason)
            raise click.exceptions.Exit(
                0 if code == ERROR and "--pass" in words else code
            ) from None


@click.command("filter", cls=Passing)
@model_option
@config_option
@click.option("--positive", metavar="LABEL", default="spam", help="The label of exit code 0.")
@min_probability_option
@click.option(
    "--pass", "passes", is_flag=True, help="The exit code is 0 whenever the mail is written."
)
def filter_mail(model: str, positive: str, min_probability: float, passes: bool) -> int:
    """Classify a mail, and pass it on.

    The mail on the standard input is written with one more field:

    \b
      X-Streamptron: spam 0.9987 (subject: free, text: prize, ...)

    It has the label, its probability, and the features that counted most. Fields of this name that
    are already there are removed, since the sender may have forged them. Nothing else changes.

    The exit code is 0 for spam, 1 for another label, 2 for unsure and 3 for an error. After an
    error, even a wrong option, the mail is written without the field, and the error to standard
    error. If the mail itself cannot be read or written, the exit code is 75, so that the mail
    server tries again.

    \b
    Examples:
      streamptron filter --model mail.model < mail.eml
      streamptron filter --model mail.model --pass < mail.eml
    """
    try:
        mail = standard_input()
    except OSError as error:
        return not_read(error)
    code = ERROR
    plain = without_ours(mail)
    try:
        from streamptron.command.lines import LineModel

        try:
            lines = LineModel.load(model, mmap=True)  # a mail asks for little of what it has
        except ValueError:  # not every learner can be used in place
            lines = LineModel.load(model)
        verdict = judged(lines, plain, positive, min_probability)
        plain, code = with_field(plain, verdict.field), verdict.code
    except Exception as error:  # the mail goes on
        reason = f"{model}: {error.strerror}" if isinstance(error, OSError) else reason_of(error)
        say(f"streamptron: error: {reason}; the mail is passed on unjudged")
    code = written(plain, code)
    return 0 if passes and code != NOT_WRITTEN else code


class Verdict(typing.NamedTuple):
    """What is said of a mail.

    Attributes
    ----------
    said
        The label, or `unsure`.
    label
        What the model answers; None: it knows no label yet.
    probability
        Of the label; None: the model knows no label yet.
    words
        Those that counted most.
    code
        SPAM, HAM or UNSURE.
    score, threshold
        The probability of spam, and that from which on a mail is spam, in percent.
    """

    said: str
    label: str | None
    probability: float | None
    words: list[str]
    code: int
    score: str
    threshold: str

    @property
    def is_spam(self) -> bool:
        return self.code == SPAM

    @property
    def field(self) -> str:
        """What the field of the mail says."""
        words = f" ({', '.join(self.words)})" if self.words else ""
        number = "" if self.probability is None else f" {self.probability:.4f}"
        return f"{self.said}{number}{words}"


def judged(
    model: LineModel, mail: bytes, positive: str, least: float, explain: bool = True
) -> Verdict:
    """What a model says of a mail; without words, if it is not to explain itself."""
    event = model.event(mail)
    label, probability = model.answer(event)
    threshold = max(0.5, least)
    if label is None or probability is None:
        return Verdict("unsure", None, None, [], UNSURE, "0.00", f"{100 * threshold:.2f}")
    if positive not in model.names:
        raise ValueError(f"--positive {positive} is not a label of the model: {model.names}")
    unsure = probability < least
    score = probability if label == positive else 1 - probability
    if getattr(model.learner, "false_positive_rate", None):
        # whose bar is another than a probability: what is said of a mail must agree with its score
        threshold = min(threshold, score) if label == positive else max(threshold, score)
    return Verdict(
        "unsure" if unsure else label,
        label,
        probability,
        _spoke_most(model, event) if explain else [],
        UNSURE if unsure else SPAM if label == positive else HAM,
        f"{100 * score:.2f}",
        f"{100 * threshold:.2f}",
    )


def _spoke_most(model: LineModel, event: Any) -> list[str]:
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


# --- What mails teach

wait_option = click.option(
    "--wait",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait so long while another process writes the model.",
)
files_of_mails = click.argument("files", nargs=-1, type=FILE)


@click.command("learn", cls=CommandOfOptions)
@files_of_mails
@model_option
@config_option
@click.option("--as", "label", metavar="LABEL", required=True, help="What the mails are.")
@new_label_option
@learn_unsure_option
@wait_option
def learn(files: tuple[str, ...], model: str, label: str, wait: float, **given: Any) -> None:
    """Learn what mails are, and remember it.

    Without FILES it reads one mail from standard input. A mail that was learned with the same label
    is skipped, so a folder may be given again. One that was learned with another label is learned
    again, and what it taught before is taken back, if it is one of the last 500. The model file
    remembers the mails: two are the same if Message-ID, From, Subject and text are. A label that
    the model does not have is an error, once it knows two.

    \b
    Examples:
      streamptron learn --as spam --model mail.model < mail.eml
      streamptron learn --as ham --model mail.model Maildir/cur/1190000000.M1:2,S
    """
    from streamptron.command.keeper import Keeper
    from streamptron.command.teach import teach

    learn_unsure = given["learn_unsure"]
    done = dict.fromkeys(("learned", "corrected", "known", "sure"), 0)
    with Keeper(model, wait=wait, **given) as keeper:
        keeper.load()
        for mail in _mails(files):
            done[teach(keeper.model, mail, label)] += 1
        if done["learned"] or done["corrected"]:
            keeper.lock.save(keeper.model)
    said = (
        f"{done['learned']} learned, {done['corrected']} corrected, {done['known']} known already"
    )
    if learn_unsure is not None:
        said += f", {done['sure']} left out"
    say(f"streamptron: {said}")


@click.command("forget", cls=CommandOfOptions)
@files_of_mails
@model_option
@config_option
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
    from streamptron.command.keeper import Keeper
    from streamptron.command.teach import called, journal_in, unteach
    from streamptron.files.mail import identity

    if ids and files:
        raise click.UsageError("--id and FILES are two ways to name mails; give one")
    with Keeper(model, wait=wait) as keeper:
        keeper.load()
        journal = journal_in(keeper.model)
        wanted: dict[Any, None] = {}
        for each in ids:
            found = called(keeper.model, each.strip().removeprefix("<").removesuffix(">"))
            wanted |= dict.fromkeys(found or [(each, "")])
        wanted |= {} if ids else dict.fromkeys(map(identity, _mails(files)))
        for id in wanted:
            if id not in journal:
                which = f"with the Message-ID {shown(id[0])}" if id[0] else "without a Message-ID"
                raise ValueError(
                    f"the mail {which} cannot be taken back, and nothing was: it was not learned "
                    f"by learn or serve, or {journal.most} others have been since"
                )
        for id in wanted:
            unteach(keeper.model, id)
        keeper.lock.save(keeper.model)
    say(f"streamptron: {len(wanted)} forgotten")


def _mails(files: tuple[str, ...]) -> Iterator[bytes]:
    from streamptron.files import read

    for mail, _ in read(list(files) or "-", "mail"):
        yield mail
