"""A page in Chromium without a window that is typed into and looked at, over DevTools' pipe."""

import base64
import contextlib
import json
import os
import subprocess
import tempfile
import time

from tests.support.browser import CHROMIUM, OPTIONS

KEYS = {"Tab": (9, ""), "Enter": (13, "\r")}
PATIENCE = 60  # seconds until a page that must show something is taken to have failed


class Page:
    """A tab.

    `errors` has what the page could not do: exceptions, and what its policy forbids.
    """

    def __init__(self, reads, writes):
        self._reads, self._writes = reads, writes
        self._n, self._rest = 0, b""
        self._session, self.errors = None, []

    def open(self, url, width=1280, height=1000, dark=False):
        if self._session is None:
            target = self.send("Target.createTarget", url="about:blank")["targetId"]
            found = self.send("Target.attachToTarget", targetId=target, flatten=True)
            self._session = found["sessionId"]
            for part in ("Page", "Runtime", "Log"):
                self.send(f"{part}.enable")
        self.size(width, height)
        self.send("Emulation.setScrollbarsHidden", hidden=True)  # as of a phone, and of pictures
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def size(self, width, height):
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def send(self, method, **params):
        self._n += 1
        message = {"id": self._n, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            found = self._message()
            if found.get("id") == self._n:
                assert "error" not in found, found
                return found["result"]
            if found.get("method") == "Runtime.exceptionThrown":
                self.errors.append(found["params"]["exceptionDetails"])
            entry = found.get("params", {}).get("entry", {})
            if entry.get("level") == "error":
                self.errors.append(entry)

    def _message(self):
        while b"\0" not in self._rest:
            self._rest += os.read(self._reads, 1 << 16)
        whole, _, self._rest = self._rest.partition(b"\0")
        return json.loads(whole)

    def ask(self, script):
        """What an expression of JavaScript is in the page."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, script):
        """Wait until an expression is true."""
        ends = time.monotonic() + PATIENCE
        while not self.ask(script):
            assert time.monotonic() < ends, script
            time.sleep(0.05)

    def type(self, text):
        """Press keys, one after the other."""
        for key in text:
            self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def press(self, key):
        """Press a key that writes nothing, or Enter."""
        code, text = KEYS[key]
        given = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.send(
            "Input.dispatchKeyEvent", type="keyDown", **given, **({"text": text} if text else {})
        )
        self.send("Input.dispatchKeyEvent", type="keyUp", **given)

    def focused(self):
        """What has the focus: its name, as a screen reader says it."""
        return self.ask(
            "(() => { const at = document.activeElement; return at.labels?.length ? "
            "at.labels[0].textContent : at.textContent.trim(); })()"
        )

    def read_aloud(self):
        """What a screen reader finds: (role, name) of what is shown, in order."""
        found = self.send("Accessibility.getFullAXTree")["nodes"]
        return [
            (each["role"]["value"], each.get("name", {}).get("value", ""))
            for each in found
            if not each["ignored"]
        ]

    def picture(self, **given):
        """A PNG of the whole page, or of the part that `clip` says."""
        found = self.send("Page.captureScreenshot", captureBeyondViewport=True, **given)
        return base64.b64decode(found["data"])


@contextlib.contextmanager
def page():
    """A Chromium with one tab, which ends with the block."""
    to_it, writes = os.pipe()
    reads, from_it = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = f'exec "$0" "$@" 3<&{to_it} 4>&{from_it}'
        process = subprocess.Popen(
            [
                "bash",
                "-c",
                words,
                CHROMIUM,
                *OPTIONS,
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(to_it, from_it),
            env={**os.environ, "HOME": profile},
        )
        try:
            os.close(to_it)
            os.close(from_it)
            yield Page(reads, writes)
        finally:
            process.kill()
            process.communicate()
            os.close(reads)
            os.close(writes)
