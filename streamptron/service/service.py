"""One model that is asked and taught: its answers, what it remembers, and how it loses nothing.

    lesson -> checked -> a line of the log -> learned -> acknowledged, once it is on disk

All of this happens in one thread, so that lessons are learned in the order of the log. Slow work
goes to other threads: writing a save (of a copy of the model, which is made at once), waiting for
the disk, and blocks of lines if the model only answers.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import json
import os
import secrets
import time
import typing
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from streamptron.common.names import short_repr
from streamptron.common.process import say
from streamptron.keeping.lock import ModelLock, identity
from streamptron.keeping.read import read as read_model
from streamptron.keeping.tickets import Step, ticket_event
from streamptron.service import lessons
from streamptron.service.bad import OF_THE_LIBRARY, Bad, refused
from streamptron.service.block import Block, heads_of
from streamptron.service.learning import goes_back, is_sure, learn
from streamptron.service.ledger import ID_MOST, Asked, Ledger, Taught, id_of, of_a_server
from streamptron.service.mails import Mails
from streamptron.service.served import INTERCEPT, Answer, Bounds, Event, Served
from streamptron.service.shadow import KEY as SHADOWS
from streamptron.service.shadow import Shadow
from streamptron.service.snapshot import Snapshot
from streamptron.service.tally import Tally, is_wrong

OURS = "serve"  # the key of our part in a file's metadata
LOOKS = 0.05  # seconds between mistakes that are explained, so that learning is not slowed down
RECENT = 1000  # the most lessons that are kept for watchers
MAPPED = 1 << 26  # bytes; if it only answers, a server maps files of this size, not smaller ones
TRIES = 5.0  # seconds until a save that has failed is tried again


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a model is served; the options of `streamptron serve` describe the settings."""

    learns: bool = False
    sync: str = "always"
    save_seconds: float = 30.0
    save_every: int | None = None
    reload_seconds: float | None = None
    remember: int = 100_000
    remember_bytes: int = 256_000_000
    journal: int | None = None
    keep_texts: int = 0
    keep_lessons: bool = False
    bounds: Bounds = dataclasses.field(default_factory=Bounds)
    new_label: bool = False
    known_labels: bool = False
    learn_unsure: float | None = None
    shadow: str | None = None


class Service:
    """A model, its file and its log.

    Parameters
    ----------
    path
        The model's file.
    settings
        How it is served.
    """

    model: Served
    mails: Mails | None = None
    shadow: Shadow | None = None

    def __init__(self, path: str, settings: Settings) -> None:
        self.path, self.settings = path, settings
        self.name = Path(path).stem  # the model's name
        self.checks: list[Callable[[Served], Any]] = []  # raise if a model does not fit a door
        self.learns = settings.learns
        self.n = self.saved_n = 0  # lessons
        self.lineage = secrets.token_hex(4)
        self.ledger = Ledger(settings.remember, settings.remember_bytes)
        self.tally = Tally()
        self.texts: dict[str, tuple[dict[str, Any], Any, float]] = {}  # for the queue
        self.seen: dict[str, Any] = {}  # what doors have computed from it
        self.watchers = 0  # clients to which lessons are sent
        self.recent: deque[dict[str, Any]] = deque(maxlen=RECENT)  # the last ones, if watched
        self.n_recent = 0  # lessons that have ever been put there
        self.log: Any = None
        self.file = identity(path)
        self.saved_at: float | None = None
        self.loaded_at = time.time()
        self.skipped = 0  # lessons that the model now in the file could not learn
        self._lock = ModelLock(path)
        self._saving = asyncio.Lock()
        self._last_save = self._last_look = self._last_flush = time.monotonic()
        self._tried = 0.0  # when a save last failed
        self._next_look = 0.0
        self._said: set[str] = set()

    # --- The file and the log

    def open(self) -> None:
        """Take the lock, load the file, and learn what the log has in addition."""
        if self.learns:
            self._lock.__enter__()
        try:
            self._take(self._loaded())
            if self.settings.shadow is not None:
                self._open_shadow(self.settings.shadow)
            if self.learns:
                self.log = lessons.Log(
                    self.log_path, self.settings.sync, self.settings.keep_lessons
                )
        except BaseException:
            self._unlock()
            raise

    @property
    def log_path(self) -> str:
        return f"{self.path}.lessons"

    def close(self) -> None:
        """Close the log, and release the lock of the file."""
        if self.log is not None:
            self.log.close()
        self._unlock()

    def _open_shadow(self, path: str) -> None:
        settings, bounds = self.settings, self.settings.bounds
        shadow = Shadow(path, settings.remember, journal=settings.journal, bounds=bounds)
        shadow.open(self.model.kind, self.model.several)
        self.shadow = shadow
        if shadow.lineage != self.lineage:  # it has not followed this model yet
            shadow.follow(self.lineage, self.n)
            shadow.lock.save(self._snapshot_of(shadow))  # so that its file says since when it does
        shadow.catch_up(lessons.read(self.log_path), self.lineage, self.n)
        if shadow.lacks:
            say(
                f"streamptron: the shadow {path} lacks {shadow.lacks} lessons of {self.path}, "
                "and the log no longer has them"
            )

    def _unlock(self) -> None:
        if self.shadow is not None:
            self.shadow.close()
            self.shadow = None
        if self.learns:
            self._lock.__exit__(None, None, None)

    def _loaded(self) -> tuple[Served, dict[str, Any]]:
        """The model of the file, and our part of its metadata."""
        settings, file = self.settings, identity(self.path)
        try:
            in_place = not self.learns and os.path.getsize(self.path) >= MAPPED
            contents = read_model(self.path, mmap=in_place)
        except ValueError:  # not every learner can be used in place
            contents = read_model(self.path)
        metadata = contents.metadata if isinstance(contents.metadata, dict) else {}
        try:
            model = Served(
                contents,
                learns=self.learns,
                journal=settings.journal,
                bounds=settings.bounds,
                new_label=settings.new_label,
                known_labels=settings.known_labels,
            )
            for check in (self._check, *self.checks):
                check(model)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None
        self.file = file
        return model, metadata.get(OURS) or {}

    def _check(self, model: Served) -> None:
        if self.settings.learn_unsure is not None and model.several:
            raise ValueError(
                "--learn-unsure is for models that answer one label, and the model answers "
                "several; leave it out"
            )

    def _take(self, loaded: tuple[Served, dict[str, Any]]) -> None:
        """Serve a loaded model, after it has learned what the log has since its save."""
        model, ours = loaded
        before = vars(self).copy()
        asked, settings = self.ledger, self.settings
        with of_a_server(self.path, OURS):
            n, lineage = int(ours.get("n", 0)), str(ours.get("of", self.lineage))
            tally = Tally(ours.get("tally"))
            ledger = Ledger(settings.remember, settings.remember_bytes, ours.get("known", ""))
        self.model, self.skipped, self.n, self.saved_n = model, 0, n, n
        self.lineage, self.tally, self.ledger = lineage, tally, ledger
        self.ledger.asked, self.ledger.asked_bytes = asked.asked, asked.asked_bytes
        self.mails = None
        if self.learns and model.kind == "mail" and model.contents.lines is not None:
            self.mails = Mails(model, self.ledger, self.n)
        try:
            for lesson in lessons.read(self.log_path) if self.learns else ():
                if lesson["of"] == lineage and lesson["n"] <= self.saved_n:
                    continue
                self.lineage, self.n = lesson["of"], lesson["n"]
                self._again(lesson)
        except BaseException:
            vars(self).update(before)
            raise
        self.loaded_at = time.time()
        if self.skipped:
            say(
                f"streamptron: {self.skipped} lessons of {self.log_path} do not fit the model in "
                f"{self.path}, and were left out"
            )

    def _again(self, lesson: dict[str, Any]) -> None:
        """Learn a lesson of the log again."""
        try:
            event = self.model.event(lesson)
            learn(self.model, lesson, event)
        except (Bad, *OF_THE_LIBRARY):  # refused then, too, or the model is another one
            self.skipped += 1
        else:
            self._count(lesson)

    async def save(self) -> bool:
        """Save what is unsaved. If that fails, say so and return False."""
        async with self._saving:
            self._last_save = time.monotonic()
            if not self.learns or self.n == self.saved_n:
                return True
            loop = asyncio.get_running_loop()
            if self.model.journal is not None:  # packed in advance, so that the snapshot is quick
                steps: list[Step] = list(self.model.journal._steps.values())
                await loop.run_in_executor(None, lambda: [bytes(step) for step in steps])
            try:
                snapshot, n = self._snapshot(), self.n
                shadow = None if self.shadow is None else self._snapshot_of(self.shadow)
                self.log.begin()
                files = self.log.old()
                if shadow is not None and not await self._saved_shadow(shadow):
                    files = []  # keep them: they have what the shadow's file lacks
                await loop.run_in_executor(None, self._lock.save, snapshot)
            except OSError as error:
                self._tried = time.monotonic()
                self._say_once(
                    f"not saved, will try again: {error}; the lessons are in {self.log_path}"
                )
                return False
            if files or self.shadow is None:
                self._said.clear()
            self.saved_n, self.saved_at, self._tried = n, time.time(), 0.0
            self.file = identity(self.path)
            self.log.saved(files)
            return True

    def _snapshot(self) -> Snapshot:
        ours = {"of": self.lineage, "n": self.n, "tally": self.tally.kept()}
        lines = self.model.contents.lines if self.mails is None else self.mails.lines()
        return Snapshot(self.model, OURS, ours, self.ledger.taught, lines)

    @staticmethod
    def _snapshot_of(shadow: Shadow) -> Snapshot:
        lines = shadow.model.contents.lines
        return Snapshot(shadow.model, SHADOWS, shadow.kept(), shadow.known, lines)

    async def _saved_shadow(self, snapshot: Snapshot) -> bool:
        lock, loop = typing.cast("Shadow", self.shadow).lock, asyncio.get_running_loop()
        try:
            await loop.run_in_executor(None, lock.save, snapshot)
        except OSError as error:
            self._say_once(f"the shadow is not saved: {error}; its lessons stay in the log")
            return False
        return True

    async def reload(self, asked: bool = True) -> bool:
        """Load the model that is in the file now, and learn again what was not saved."""
        async with self._saving:
            self._last_look = time.monotonic()
            try:
                with self._lock.reloading() if self.learns else contextlib.nullcontext():
                    loop = asyncio.get_running_loop()
                    self._take(await loop.run_in_executor(None, self._loaded))
                if self.shadow is not None:
                    self.shadow.follow(self.lineage, self.n)
            except (OSError, ValueError) as error:
                message = f"not reloaded, the model stays as it was: {error}"
                say(f"streamptron: {message}") if asked else self._say_once(message)
                return False
        say(f"streamptron: reloaded {self.path}")
        return True

    async def tick(self) -> bool:
        """Do what is due. This is called several times a second."""
        now, settings = time.monotonic(), self.settings
        if self.learns:
            unsaved = self.n - self.saved_n
            due = now - self._last_save >= settings.save_seconds or (
                settings.save_every is not None and unsaved >= settings.save_every
            )
            if unsaved and due and now - self._tried >= TRIES:
                await self.save()
            if settings.sync == "1s" and now - self._last_flush >= 1.0:
                self._last_flush = now
                try:
                    await self.log.flush()
                except OSError as error:
                    self._say_once(f"the log did not reach the disk: {error}")
        if settings.reload_seconds and now - self._last_look >= settings.reload_seconds:
            self._last_look = now
            if identity(self.path) not in (self.file, None):
                await self.reload(asked=False)
        return True

    def _say_once(self, message: str) -> None:
        if message not in self._said and len(self._said) < 100:
            self._said.add(message)
            say(f"streamptron: {message}")

    # --- Asked

    def predict(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Answer an event."""
        event = self._event(said)
        if event is None:
            raise Bad(400, f"give an event: {self.model.wanted}", self.model.kind)
        top, explain = _number(said, "top", 1000), _number(said, "explain", 1000)
        remember = said.get("remember", True)
        if not isinstance(remember, bool):
            raise Bad(
                400, f"remember={short_repr(remember)}: give true or false", "remember", remember
            )
        id = id_of(said)
        if id is None and remember and self.learns:
            id = self.model.own_id(event.mark) or self.ledger.new_id()
        if id is not None:
            self.ledger.check(id, event.mark)
        with refused(self.model.kind):
            answer = self.model.answer(event.seen, top)
            parts = self.model.parts(event.seen, answer.label, explain) if explain else []
        done = self._answered(id, answer)
        if top:
            done["top"] = self.model.likeliest(answer, top)
        if explain:
            done["explain"] = [{"feature": name, "part": part} for name, part in parts]
        if remember:
            self._remember(id, event, done)
        return done

    def _event(self, said: Mapping[str, Any]) -> Event | None:
        """A client's event; None if the request has none."""
        if self.model.fields:
            self.model.check_fields(said)
        return self.model.event(said)

    def _answered(self, id: str | None, answer: Answer) -> dict[str, Any]:
        done: dict[str, Any] = {} if id is None else {"id": id}
        name = self.model.name(answer.label)
        if self.model.several:
            done["labels"] = name or []
            done["probabilities"] = [answer.probabilities[each] for each in answer.label or ()]
        else:
            done["label"], done["probability"] = name, answer.probability
        done["version"] = self.n
        return done

    def _remember(self, id: str | None, event: Event, done: dict[str, Any]) -> None:
        label = done["labels"] if self.model.several else done["label"]
        self.tally.ask(label)
        if not self.learns or id is None or id in self.ledger.taught:
            return
        p = done.get("probability")
        ticket = bytes(self.model.learner.predict_ticket(event.seen))
        shadow = None if self.shadow is None else self.shadow.ask(event.said)
        for gone in self.ledger.ask(id, Asked(event.mark, ticket, label, p, shadow)):
            self.texts.pop(gone, None)
        if self.settings.keep_texts:
            self.texts.pop(id, None)
            self.texts[id] = event.said, label, 0.0 if p is None else p
            while len(self.texts) > self.settings.keep_texts:
                del self.texts[next(iter(self.texts))]

    def judged(self, mail: bytes, label: Any, probability: float | None) -> None:
        """Count another door's answer to a mail, and keep it for the queue."""
        if self.learns and self.settings.keep_texts:
            event = typing.cast("Event", self.model.event({"mail": mail}))
            id = self.model.own_id(event.mark)
            self._remember(id, event, {"label": label, "probability": probability})
        else:
            self.tally.ask(label)

    def predict_many(self, events: list[Any]) -> list[Any]:
        """Answer events, each an object or a Bad; an error of one does not affect the others.

        If the model does not learn, texts are answered together, as lines of JSON.
        """
        model = self.model
        if model.kind != "text" or model.several or self.learns:
            return [self._safely(self.predict, said) for said in events]
        known = self.ledger.taught
        plain = [
            at
            for at, said in enumerate(events)
            if _is_plain(said) and said.get("id", "") not in known
        ]
        answers: list[Any] = [None] * len(events)
        try:
            rows = model.before.transform_many([events[at]["text"] for at in plain])
            labels, outputs, p = model.answers(rows)
        except OF_THE_LIBRARY:  # an event is wrong; answering them one by one shows which
            plain = []
        else:
            heads, tail = heads_of(labels), f',"version":{self.n}}}'
            asked = [0] * len(heads)
            for at, k, probability in zip(plain, outputs, p, strict=True):
                id = events[at].get("id")
                begin = "{" if id is None else f'{{"id":{json.dumps(id)},'
                said = repr(probability) if k >= 0 else ""
                answers[at] = f"{begin}{heads[k]}{said}{tail}"
                asked[k] += 1
            for label, n in zip([*labels, None], asked, strict=True):
                self.tally.ask(label, n)
        for at, said in enumerate(events):
            if answers[at] is None:
                answers[at] = self._safely(self.predict, said)
        return answers

    def reader(self) -> Callable[[bytes, int], Block]:
        """A function that answers blocks of lines on any thread, with the current model."""
        return partial(Block, self.model, self.n, self.ledger.taught)

    def _safely(self, call: Any, said: Any) -> dict[str, Any] | Bad:
        """The result of a call, or its error, for one of many lines."""
        try:
            if isinstance(said, Bad):
                return said
            if not isinstance(said, dict):
                raise Bad(400, f"{short_repr(said)}: give an object")
            done: dict[str, Any] = call(said)
            return done
        except Bad as error:
            return error

    # --- Taught

    def learn_many(self, events: list[Any]) -> list[Any]:
        """Learn lessons, one after the other."""
        return [self._safely(self.learn, said) for said in events]

    def undo_many(self, events: list[Any]) -> list[Any]:
        """Take lessons back, one after the other."""
        return [self._safely(self.undo, said) for said in events]

    def learn(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Learn or correct a lesson, after writing it to the log; do nothing if it is known."""
        self._may_learn()
        model, id = self.model, id_of(said)
        key = "labels" if model.several else "label"
        if key not in said:
            raise Bad(400, f"{key} is missing; give what the event is", key)
        label = model.labels.label(said[key])
        weight = _weight(said)
        event = self._event(said)
        if id is None:
            if event is None:
                raise Bad(400, "give an event, or the id of one that was answered", "id")
            id = model.own_id(event.mark) or self.ledger.new_id()
        if event is not None:
            self.ledger.check(id, event.mark)
        taught = self.ledger.taught.get(id)
        if taught is None and event is not None and self.mails is not None:
            name = model.name(label)
            if self.mails.has(id, event.mark, name):  # learned long ago, or by a command
                return {"id": id, key: name, "done": "known", "version": self.n}
        if taught is not None and taught.label is not None:
            same = taught.label == model.name(label) and weight in (None, taught.weight)
            if same:
                return {"id": id, key: taught.label, "done": "known", "version": self.n}
            return self._correct(id, taught, event, label, weight)
        return self._learn_new(id, event, label, 1.0 if weight is None else weight)

    def _may_learn(self) -> None:
        if not self.learns:
            raise Bad(403, "this server does not learn; start it with --learn")

    def _learn_new(
        self, id: str, event: Event | None, label: Hashable, weight: float
    ) -> dict[str, Any]:
        model, asked = self.model, self.ledger.waiting(id)
        model.labels.check(label, weight)
        lesson = self._lesson("learn", id, label, weight)
        if event is None:
            if asked is None:
                raise self._too_old(id)
            seen = self._packed(asked.ticket)
            lesson |= {"mark": asked.mark, "ticket": base64.b64encode(asked.ticket).decode()}
        else:
            seen = event.seen
            lesson |= {"mark": event.mark, **event.said}
        if is_sure(model, seen, label, self.settings.learn_unsure):
            return {"id": id, "label": model.name(label), "done": "sure", "version": self.n}
        if asked is not None:
            answered, p = asked.label, asked.probability
            if asked.shadow:
                names = ("answered", "p") if event else ("ticket", "answered", "p")
                lesson["shadow"] = {name: asked.shadow[name] for name in names}
        else:
            with refused(model.kind):
                answer = model.answer(seen)
            answered, p = model.name(answer.label), answer.probability
        if model.several:
            answered = answered or []
        lesson |= {"answered": answered, "p": p}
        look = self._look(event, seen, lesson, label)
        self._commit(lesson, event)
        if look is not None and not model.several:
            words = dict(model.parts(seen, label))
            words.pop(INTERCEPT, None)
            self.tally.move(model.name(label), look, words)
        return self._done("learned", lesson)

    def _look(
        self, event: Event | None, seen: Any, lesson: dict[str, Any], label: Any
    ) -> dict[str, float] | None:
        """What the words of a mistake contribute before it is learned; None if not computed.

        The answer, and the words behind it, are kept for the page.
        """
        model, now = self.model, time.monotonic()
        answered = lesson["answered"]
        wrong = answered != lesson["label"] and answered is not None
        if not wrong or model.several or not model.explains or now < self._next_look:
            return None
        self._next_look = now + LOOKS
        names = {model.name(each): each for each in self.model.labels.known}
        if answered not in names:
            return None
        parts = model.parts(seen, names[answered])
        spoke = [(name, part) for name, part in parts if part > 0 and name != INTERCEPT]
        text = ""
        if self.settings.keep_texts and event is not None:
            text = text_of(event.said)
        self.tally.wrong.append(
            {
                "id": lesson["id"],
                "at": lesson["at"],
                "label": lesson["label"],
                "answered": answered,
                "probability": lesson["p"],
                "words": [{"word": name, "part": part} for name, part in spoke[:6]],
                "text": text,
            }
        )
        return dict(model.parts(seen, label)) if label in names.values() else {}

    def _correct(
        self, id: str, taught: Taught, event: Event | None, label: Hashable, weight: float | None
    ) -> dict[str, Any]:
        model, journal = self.model, self.model.journal
        weight = taught.weight if weight is None else weight
        model.labels.check(label, weight)
        lesson = self._lesson("correct", id, label, weight) | {"mark": taught.mark}
        key = model.key(id, taught.mark)
        if journal is not None and key in journal:
            ticket = bytes(journal._steps[key].ticket)
            lesson["ticket"] = base64.b64encode(ticket).decode()
            lesson["back"] = goes_back(model, lesson["n"] - taught.n)
        elif event is not None:
            lesson |= event.said
        else:
            raise self._too_old(id)
        self._commit(lesson, event)
        return self._done("corrected", lesson)

    def undo(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Take a lesson back."""
        self._may_learn()
        id = id_of(said)
        if id is None:
            raise Bad(400, "id is missing; give the id of the lesson", "id")
        taught, journal = self.ledger.taught.get(id), self.model.journal
        if taught is not None and taught.label is None:
            return {"id": id, "done": "known", "version": self.n}
        if journal is None:
            name = type(self.model.learner).__name__
            raise Bad(400, f"{name} cannot take a step back; see docs/late-labels.md", "id", id)
        key = "" if taught is None else self.model.key(id, taught.mark)
        if taught is None or key not in journal:
            raise self._too_old(id, f"--journal {journal.most}")
        lesson = self._lesson("undo", id, None, 1.0) | {"mark": taught.mark}
        step = journal._steps[key]
        self._commit(lesson, None)
        answered = self.model.name(step.ticket.prediction)  # so that it can be taught again
        self.ledger.ask(id, Asked(taught.mark, bytes(step.ticket), answered, None))
        return self._done("undone", lesson)

    def _too_old(self, id: str, most: str = "") -> Bad:
        most = most or f"--remember {self.ledger.most}"
        return Bad(
            410,
            f"id={short_repr(id)} is not known: nothing was asked or taught under it here, or "
            f"{most} others have come since; give the event too",
            "id",
            id,
        )

    def _lesson(self, do: str, id: str, label: Any, weight: float) -> dict[str, Any]:
        """The beginning of a line of the log."""
        return {
            "n": self.n + 1,
            "of": self.lineage,
            "at": round(time.time(), 3),
            "do": do,
            "id": id,
            "label": self.model.name(label),
            "weight": weight,
        }

    def _commit(self, lesson: dict[str, Any], event: Event | None) -> None:
        """Write a lesson and learn it; after an error, neither has happened."""
        try:
            self.log.append(lesson)
        except OSError as error:
            reason = error.strerror or str(error)
            self._say_once(f"{self.log_path}: {reason}; lessons are refused until there is room")
            raise Bad(
                507, f"the lesson could not be written: {reason}; nothing was learned"
            ) from None
        try:
            with refused(self.model.kind):
                learn(self.model, lesson, event)
        except BaseException:
            self.log.take_back(lesson)
            raise
        self.n = lesson["n"]
        self._count(lesson)
        if self.shadow is not None:
            self.shadow.learn(lesson)

    def _count(self, lesson: dict[str, Any]) -> None:
        """Record a lesson, and count it."""
        do, id, tally = lesson["do"], lesson["id"], self.tally
        label, before = lesson["label"], self.ledger.taught.get(id)
        wrong = judged = None
        if do == "learn":
            judged = tally.judge(lesson["answered"], lesson["p"], label)
            wrong = is_wrong(judged.answered, label) and judged.answered is not None
        else:
            tally.corrected += do == "correct"
            tally.undone += do == "undo"
            if before is not None:
                judged = before.judged
                tally.correct(judged, before.label, label)
                tally.amend(id, label)
        taught = Taught(lesson["mark"], label, lesson["weight"], lesson["n"], judged)
        self.ledger.teach(id, taught)
        self.texts.pop(id, None)
        if self.mails is not None:
            self.mails.count(lesson)
        if self.watchers:
            self.recent.append({"done": do, "id": id, "label": label, "wrong": wrong})
            self.n_recent += 1

    def _done(self, done: str, lesson: dict[str, Any]) -> dict[str, Any]:
        key = "labels" if self.model.several else "label"
        answer = {"id": lesson["id"], "done": done, "version": self.n}
        if done != "undone":
            answer[key] = lesson["label"]
        if done == "learned":
            answered, label = lesson["answered"], lesson["label"]
            right = set(answered) == set(label) if self.model.several else answered == label
            answer |= {"answered": answered, "probability": lesson["p"], "right": right}
        return answer

    def _packed(self, ticket: bytes) -> Any:
        """The event of a ticket, as the learner takes it."""
        with refused("id"):
            return ticket_event(self.model.learner, ticket)

    # --- Looked at

    @property
    def size(self) -> int:
        """About how many bytes of memory closing it would free."""
        models = [self.model] if self.shadow is None else [self.model, self.shadow.model]
        used = sum(each.learner.memory_usage for each in models)
        return int(used) + self.ledger.asked_bytes

    def about(self) -> dict[str, Any]:
        """The model, as JSON."""
        learner = self.model.learner
        params = {name: _plain(value) for name, value in learner._get_params().items()}
        return {
            "class": type(learner).__name__,
            "parameters": params,
            "events": self.model.kind,
            "fields": self.model.fields,
            "learns": self.learns,
            "labels": len(self.model.labels.names),
            "features": learner.n_features,
            "evicted": learner.n_evicted,
            "seen": learner.n_seen,
            "updates": learner.n_updates,
            "bytes": learner.memory_usage,
            "version": self.n,
            "unsaved": self.n - self.saved_n,
            "saved_at": self.saved_at,
            "loaded_at": self.loaded_at,
            "remembered": {"answers": len(self.ledger.asked), "lessons": len(self.ledger.taught)},
            "sync": self.settings.sync if self.learns else None,
        }

    def labels(self) -> list[dict[str, Any]]:
        """The model's labels, with their counts."""
        counted = {each["label"]: each for each in self.tally.stats()["labels"]}
        none = {"asked": 0, "learned": 0, "precision": None, "recall": None}
        return [
            {"label": name, **{**none, **counted.get(str(name), {}), "label": name}}
            for name in self.model.labels.names
        ]

    def top(self, label: str | None, n: int) -> list[dict[str, Any]]:
        """The features that count most towards a label."""
        names = {str(self.model.name(each)): each for each in self.model.labels.known}
        if label is None and names:
            label = next(reversed(names))
        if label not in names:
            known = ", ".join(map(short_repr, list(names)[:10]))
            raise Bad(
                404, f"label={short_repr(label)} is not one of the model's, {known}", "label", label
            )
        with refused("label", label):
            if self.model.labels.known == [False, True] and not hasattr(
                self.model.learner, "labels"
            ):
                found = self.model.learner.top_features(n)
                both = found.positive if names[label] else found.negative
            else:
                both = self.model.learner.top_features(n, names[label]).positive
        return [{"feature": self.model.feature(name), "weight": weight} for name, weight in both]

    def queue(self, n: int) -> list[dict[str, Any]]:
        """What a person should label next: kept texts without a label, the least sure first."""
        least = sorted(self.texts.items(), key=lambda item: item[1][2])[:n]
        found = []
        for id, (said, label, p) in least:
            words: list[dict[str, Any]] = []
            asked = self.ledger.waiting(id) if self.model.explains else None
            if asked is not None and not self.model.several:
                with contextlib.suppress(*OF_THE_LIBRARY):
                    seen = self._packed(asked.ticket)
                    inner = next(k for k in self.model.labels.known if self.model.name(k) == label)
                    words = [
                        {"word": name, "part": part}
                        for name, part in self.model.parts(seen, inner, 7)
                        if name != INTERCEPT
                    ]
            found.append(
                {"id": id, "text": text_of(said), "label": label, "probability": p, "words": words}
            )
        return found

    def stats(self) -> dict[str, Any]:
        """All numbers on the page, as JSON."""
        return {
            **self.tally.stats(),
            "model": self.about(),
            "names": self.model.labels.names[:100],
            "queued": len(self.texts),
            "shadow": None if self.shadow is None else self.shadow.stats(),
            "keeps_texts": bool(self.settings.keep_texts),
            "at": time.time(),
        }


def _is_plain(said: Any) -> bool:
    """Whether an event is just a text, with or without an id that is a text."""
    if type(said) is not dict or type(said.get("text")) is not str:
        return False
    id = said.get("id", "")
    return len(said) == 1 or (
        len(said) == 2 and "id" in said and type(id) is str and 0 < len(id) <= ID_MOST
    )


def text_of(said: Mapping[str, Any]) -> str:
    """The beginning of an event as a person reads it."""
    (value,) = said.values()
    if "mail" in said:
        text = base64.b64decode(value)[:4000].decode("utf-8", "replace")
        return text[:1000]
    if isinstance(value, str):
        return value[:1000]
    return "\n".join(f"{name}: {_written(each)}" for name, each in value.items())[:1000]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _number(said: Mapping[str, Any], name: str, most: int) -> int:
    """The number given as `top` or `explain`; 0 if it is not given."""
    value = said.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise Bad(
            400, f"{name}={short_repr(value)}: give a whole number of at most {most}", name, value
        )
    return value


def _weight(said: Mapping[str, Any]) -> float | None:
    value = said.get("weight")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Bad(400, f"weight={short_repr(value)}: give a number", "weight", value)
    with refused("weight", value):
        return float(value)


def _plain(value: Any) -> Any:
    """A parameter as JSON."""
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
