"""The models that are served: one, or those of a folder, opened on demand.

    FOLDER/news.model            the model `news`, at /m/news/
    FOLDER/news.model.lessons    its log
    SHADOWS/news.model           its shadow, if there is one

When the open models take too much memory, the least recently used ones are saved and closed; they
are opened again on the next request. A model in use is not closed.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import re
import time
import typing
from functools import partial
from typing import Any

from streamptron.common.names import short_repr
from streamptron.common.process import say
from streamptron.keeping.lock import ModelLock
from streamptron.keeping.read import read
from streamptron.keeping.write import write
from streamptron.service.bad import Bad
from streamptron.service.service import OURS, Service
from streamptron.service.shadow import KEY as SHADOWS

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from streamptron.service.service import Settings

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
NAMED = "1 to 64 of a-z, 0-9, '.', '_' and '-', the first of them a letter or a digit"
SUFFIX = ".model"
LOOK = 1.0  # seconds
FILES = 5  # open files of a model and its shadow


class One:
    """The only model."""

    many = False
    n_files = 0  # files that it may open, in addition to those of any process

    def __init__(self, service: Service) -> None:
        self.service = service

    async def find(self, name: str | None, creates: bool = False) -> Service:
        """The service of a model, which counts as in use until `let_go`; None: the only one's."""
        if name not in (None, self.service.name):
            raise Bad(404, f"there is no model {name}; this is {self.service.name}", "name", name)
        return self.service

    def let_go(self, service: Service) -> None:
        """Do nothing: the only model stays open."""

    def opened(self) -> Iterable[Service]:
        """The services that are open."""
        return [self.service]

    def start(self) -> None:
        """Open the model."""
        self.service.open()

    async def do(self, what: str) -> bool:
        """Save, reload or do what is due. Returns whether that succeeded."""
        return bool(await getattr(self.service, what)())

    async def stop(self) -> bool:
        """Save and close the model. Returns whether everything is saved."""
        saved = await self.service.save()
        self.service.close()
        return saved


class Folder:
    """The models of a folder.

    Parameters
    ----------
    path
        The folder.
    settings
        How each model is served; `shadow` is the folder of shadows.
    create
        Writes a new model to a path; None: new models are not made.
    like
        The model that new ones are copies of; None: new models start empty.
    most
        The largest number of models in the folder.
    most_bytes
        The most memory that open models may take.
    """

    many = True

    def __init__(
        self,
        path: str,
        settings: Settings,
        *,
        create: Callable[[str], Any] | None = None,
        like: str | None = None,
        most: int = 1000,
        most_bytes: int = 1 << 30,
    ) -> None:
        self.path, self.settings = path, settings
        self.most, self.most_bytes = most, most_bytes
        self.n_files = FILES * most
        self._create = create if like is None else partial(copy, self.file(like))
        self._like = like
        self._open: dict[str, Service] = {}  # the least recently used first
        self._used: dict[Service, int] = {}  # the number of requests that use it
        self._lock = asyncio.Lock()  # models are opened and closed one at a time
        self._next_look = 0.0  # when to check the memory that they take

    async def find(self, name: str | None, creates: bool = False) -> Service:
        """The service of a model, which counts as in use until `let_go`."""
        if name is None or not NAME.fullmatch(name):
            raise Bad(400, f"name={short_repr(name)}: give {NAMED}", "name", name)
        if name not in self._open:
            async with self._lock:
                if name not in self._open:
                    self._open[name] = await self._opened(name, creates)
                    self._next_look = 0.0
        service = self._open[name] = self._open.pop(name)
        self._use(service)
        return service

    def _use(self, service: Service) -> None:
        self._used[service] = self._used.get(service, 0) + 1

    def let_go(self, service: Service) -> None:
        """Note that a request has finished with a service."""
        self._used[service] -= 1
        if not self._used[service]:
            del self._used[service]

    async def _opened(self, name: str, creates: bool) -> Service:
        path = self.file(name)
        if not os.path.isfile(path):
            if self._create is None or not creates:
                how = "teach it something" if self._create else "start with --create"
                raise Bad(404, f"there is no model {name}; to have it made, {how}", "name", name)
            if len(self.names()) >= self.most:
                raise Bad(
                    507,
                    f"there are --max-models {self.most} models, and {name} would be one more",
                    "name",
                    name,
                )
            if self._like in self._open:
                await self._open[self._like].save()
        loop = asyncio.get_running_loop()
        service = Service(path, self._settings_of(name))
        try:
            await loop.run_in_executor(None, self._prepare, path)
            await loop.run_in_executor(None, service.open)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            say(f"streamptron: {path}: {error}")
            raise Bad(503, f"the model {name} cannot be opened: {reason}", "name", name) from None
        return service

    def _settings_of(self, name: str) -> Settings:
        """The settings of a model, with its shadow if it has one."""
        if self.settings.shadow is None:
            return self.settings
        shadow = os.path.join(self.settings.shadow, f"{name}{SUFFIX}")
        return dataclasses.replace(self.settings, shadow=shadow if os.path.exists(shadow) else None)

    def _prepare(self, path: str) -> None:
        """Write a new model, if it does not exist yet."""
        if self._create is not None and not os.path.exists(path):
            lock = ModelLock(path)
            with lock:
                if not os.path.exists(path):
                    self._create(path)

    def file(self, name: str) -> str:
        """The file of a model."""
        return os.path.join(self.path, f"{name}{SUFFIX}")

    def names(self) -> list[str]:
        """The names of all models in the folder."""
        with os.scandir(self.path) as found:
            names = [each.name.removesuffix(SUFFIX) for each in found if _is_model(each)]
        return sorted(names)

    def listed(self) -> list[dict[str, Any]]:
        """All models, as JSON."""
        rows = []
        for name in self.names():
            row: dict[str, Any] = {"name": name, "open": name in self._open}
            if name in self._open:
                service = self._open[name]
                tally, learner = service.tally, service.model.learner
                row |= {
                    "class": type(learner).__name__,
                    "asked": tally.asked,
                    "version": service.n,
                    "labels": len(service.model.labels.names),
                    "error_lately": tally.error_lately if tally.lately else None,
                    "bytes": learner.memory_usage,
                }
            rows.append(row)
        return rows

    def opened(self) -> Iterable[Service]:
        """The services that are open, the last used first."""
        return list(self._open.values())[::-1]

    def start(self) -> None:
        """Check the folders; models are opened on demand."""
        if not os.path.isdir(self.path):
            raise NotADirectoryError(f"--models {self.path} is not a folder; make it first")
        shadows = self.settings.shadow
        if shadows is not None and not os.path.isdir(shadows):
            raise NotADirectoryError(
                f"--shadow {shadows} is not a folder; with --models give one, which has the "
                f"shadow of NAME{SUFFIX} under the same name"
            )
        if shadows is not None and os.path.samefile(shadows, self.path):
            raise ValueError(
                f"--shadow {shadows} is the folder of --models; give another one, since a shadow "
                "has the name of its model"
            )

    async def do(self, what: str) -> bool:
        """Save, reload or do what is due. Returns whether that succeeded for all open models."""
        well = True
        for name in list(self._open):
            if service := self._open.get(name):
                self._use(service)  # so that it is not closed meanwhile
                try:
                    well = bool(await getattr(service, what)()) and well
                finally:
                    self.let_go(service)
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + LOOK
            async with self._lock:
                await self._close_some()
        return well

    async def _close_some(self) -> None:
        sizes = {name: service.size for name, service in self._open.items()}
        total = sum(sizes.values())
        for name in list(sizes)[:-1]:  # the last used stays, even if it alone exceeds the limit
            if total <= self.most_bytes:
                return
            if self._open[name] in self._used:
                continue
            service = self._open.pop(name)
            if await service.save():
                service.close()
                total -= sizes[name]
            else:  # a message has said so; it stays open, and its lessons are in its log
                self._open = {name: service, **self._open}

    async def stop(self) -> bool:
        """Save and close all models. Returns whether everything is saved."""
        saved = True
        for service in self.opened():
            saved &= await service.save()
            service.close()
        return saved


def copy(path: str, new: str) -> None:
    """Copy a model to a new file, without the data of its service."""
    contents = read(path)
    if isinstance(contents.metadata, dict):
        kept = {k: v for k, v in contents.metadata.items() if k not in (OURS, SHADOWS)}
        contents = contents._replace(metadata=kept)
    write(new, contents)


def _is_model(found: os.DirEntry[str]) -> bool:
    name = found.name.removesuffix(SUFFIX)
    return name != found.name and NAME.fullmatch(name) is not None and found.is_file()
