"""That every link within a site leads to a file, and to a place in it: check_links.py FOLDER."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places that it has."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken(folder):
    pages = {path: Page(path) for path in folder.resolve().rglob("*.html")}
    if not pages:
        yield f"{folder}: no page"
    for path, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if not target.exists():
                yield f"{path}: {link}: no such file"
            elif target in pages and unquote(url.fragment) not in pages[target].places:
                yield f"{path}: {link}: no such place"


found = sorted(set(broken(Path(sys.argv[1]))))
sys.exit("\n".join(found) or None)
