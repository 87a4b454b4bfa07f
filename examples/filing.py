"""Documents that file themselves, and learn from where you put them.

A folder has documents in folders of their own, one for each label, and new ones in `inbox`:

    documents/inbox/letter.txt  documents/invoices/march.txt  documents/school/report.txt

What lies in a label's folder is a lesson; what lies in the inbox is asked, and moved if the answer
is sure enough. Move a document elsewhere by hand and the lesson is corrected. Nothing is kept here:
a document's id is a hash of its text, and the service knows which ids it has learned, as what.

    streamptron serve --model documents.model --learn &
    python examples/filing.py documents --sure .9 --every 60

The first model may be made of the folders that there are:
`streamptron train documents --label-by folder ...`, or of two lines (docs/serving.md).
"""

import argparse
import hashlib
import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

INBOX = "inbox"


class Service:
    """A service at an address: what it answers, and what it says of bad requests."""

    def __init__(self, address, token=None):
        self.address = address.rstrip("/")
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    def post(self, path, **body):
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, self.headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            sys.exit(f"{path}: {json.load(error)['error']['message']}")
        except urllib.error.URLError as error:
            sys.exit(f"{self.address}: {error.reason}")


def read(path):
    """A document's text, and its id."""
    text = path.read_text("utf-8", errors="replace")
    return text, hashlib.sha256(text.encode()).hexdigest()[:32]


def learn(service, folder):
    """Each document in a label's folder is a lesson; those that are known cost a look."""
    for path in sorted(folder.glob("*/*.txt")):
        label = path.parent.name
        if label == INBOX:
            continue
        text, name = read(path)
        lesson = service.post("/learn", id=name, text=text, label=label)
        if lesson["done"] != "known":
            print(f"{lesson['done']:10} {label:12} {path.name}", flush=True)


def file(service, folder, sure):
    """Ask for each document in the inbox, and move it if the answer is sure."""
    for path in sorted((folder / INBOX).glob("*.txt")):
        text, name = read(path)
        answer = service.post("/predict", id=name, text=text)
        label, probability = answer["label"], answer["probability"]
        place = folder / str(label) / path.name
        if probability is None or probability < sure or place.exists():
            print(f"{'unsure':10} {label!s:12} {path.name}  {probability}", flush=True)
            continue
        place.parent.mkdir(exist_ok=True)
        path.rename(place)
        print(f"{'filed':10} {label:12} {path.name}  {probability:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--service", default="http://127.0.0.1:8080", metavar="ADDRESS")
    parser.add_argument("--token", help="if the service has tokens: the one that may teach")
    parser.add_argument("--sure", type=float, default=0.9, metavar="PROBABILITY")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="go on; else look once")
    given = parser.parse_args()
    if not (given.folder / INBOX).is_dir():
        parser.error(f"{given.folder} has no folder {INBOX}")
    service = Service(given.service, given.token)
    while True:
        learn(service, given.folder)
        file(service, given.folder, given.sure)
        if given.every is None:
            break
        time.sleep(given.every)


if __name__ == "__main__":
    main()
