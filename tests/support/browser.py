"""Pages in Chromium without a window: what a reader of them sees, asked by a script in the page."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
PATIENCE = 300  # seconds until a page that must answer is taken to have failed

# Each page is opened in a frame of the width, one after the other, and asked.
ASKING = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const ask = async (page, view) => {%(script)s};
(async () => {
  const found = {};
  for (const url of %(pages)s) {
    const frame = document.createElement("iframe");
    frame.width = %(width)d;
    frame.height = 800;
    document.body.append(frame);
    await new Promise((loaded) => { frame.onload = loaded; frame.src = url; });
    try { found[url] = await ask(frame.contentDocument, frame.contentWindow); }
    catch (error) { found[url] = {error: String(error)}; }
    frame.remove();
  }
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script>"""


class Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/ask":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        return self.wfile.write(self.server.asking.encode())

    def do_POST(self):
        self.server.found = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.server.done.set()

    def log_message(self, *_):
        pass


@contextmanager
def chromium(*words):
    """A Chromium with a profile of its own, which ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ, "HOME": profile},
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def ask(folder, pages, script, width):
    """What the script returns of each page in the folder, in a frame of so many pixels: {page: it}.

    The script is the body of a function of the page's document and window.
    """
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        server.asking = ASKING % {"script": script, "pages": json.dumps(pages), "width": width}
        server.done = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with chromium(f"http://127.0.0.1:{server.server_port}/ask"):
                assert server.done.wait(PATIENCE), "the browser gave no answer"
        finally:
            server.shutdown()
        return server.found


def opened_as_a_file(path, query=""):
    """The HTML of a page in the file system, after its scripts have run."""
    with chromium(
        "--dump-dom", "--virtual-time-budget=10000", f"{path.as_uri()}{query}"
    ) as process:
        return process.communicate(timeout=PATIENCE)[0]
