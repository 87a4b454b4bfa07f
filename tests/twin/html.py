"""The twin of what is seen of HTML: tags, names of characters, text that is not shown."""

import html.entities
import re

NOTHING = {
    "b",
    "i",
    "u",
    "a",
    "em",
    "strong",
    "font",
    "span",
    "big",
    "small",
    "tt",
    "s",
    "strike",
    "o:p",
    "sub",
    "sup",
    "ins",
    "del",
    "acronym",
    "abbr",
    "bdi",
    "bdo",
    "wbr",
    "nobr",
    "mark",
    "code",
    "cite",
    "dfn",
    "kbd",
    "samp",
    "var",
    "label",
}
VOID = {
    "area",
    "base",
    "basefont",
    "bgsound",
    "br",
    "col",
    "embed",
    "frame",
    "hr",
    "img",
    "input",
    "keygen",
    "link",
    "meta",
    "param",
    "source",
    "track",
    "wbr",
}
RAW = {"script", "style", "title", "iframe", "noembed", "noframes"}
# What ends a paragraph; a heading ends another one, too.
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
BLOCKS = HEADINGS | {
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "dd",
    "details",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
}
TABLE = {"table", "tbody", "tfoot", "thead", "tr"}
CELLS = {"td", "th"}
ROWS = {"tbody", "tfoot", "thead"}
# Of a tag's start: which open elements it ends, and which of them stand in its way.
ENDS = {
    **{name: ({"p"}, CELLS | {"table", "button", "object"}) for name in BLOCKS},
    **{name: (HEADINGS | {"p"}, CELLS | {"table", "button", "object"}) for name in HEADINGS},
    "li": ({"li", "p"}, CELLS | {"table", "ul", "ol"}),
    **{name: ({"dd", "dt", "p"}, CELLS | {"table", "dl"}) for name in ("dd", "dt")},
    **{name: (CELLS, {"table"}) for name in CELLS},
    "tr": ({"tr"}, {"table"}),
    **{name: (ROWS, {"table"}) for name in ROWS},
    "option": ({"option"}, {"select"}),
    **{name: ({name}, CELLS | {"table"}) for name in ("a", "nobr", "button", "select")},
}
KNOWN = (
    NOTHING
    | VOID
    | RAW
    | BLOCKS
    | TABLE
    | CELLS
    | set(ENDS)
    | {"html", "body", "head", "map", "object", "optgroup"}
)
DEPTH_MOST = 64
GONE, UNSEEN, TINY = 1, 2, 4  # no way back for what is in it; visibility; font-size

SPACE = " \t\r\n\f"
TAG_NAME = re.compile(r"[^ \t\r\n\f/>]*")


class Page:
    """A reader of HTML; `seen` is its text."""

    def __init__(self, html):
        self.html = html
        self.out = []
        self.open = []  # (name, what hides it)
        self.lost = False  # too deep: all is seen from then on

    def seen(self):
        html, at = self.html, 0
        while at < len(html):
            two = html[at : at + 2]
            if html.startswith("<!--", at):
                end = re.compile("(?<=..)-->|(?<=....)--!>", re.S).search(html[at:])
                at += end.end() if end else len(html)
            elif re.match("<[!?/]", two) and not re.match("</[A-Za-z]", html[at : at + 3]):
                at = html.find(">", at) + 1 or len(html)
            elif re.match("<[A-Za-z/]", two):
                at = self.tag(at)
            else:
                text, at = self.character(at) if html[at] == "&" else (html[at], at + 1)
                self.write(text)
        return "".join(self.out)

    def hides(self, of_text=False):
        """What hides the innermost element."""
        if self.lost:
            return 0
        names = [name for name, _ in self.open]
        n = len(names)
        while of_text and n and self.open[-1][1] and names[n - 1] in TABLE:
            n -= 1  # text between cells is shown before the table
            if names[n] == "table":
                break
        return self.open[n - 1][1] if n else 0

    def write(self, text):
        if not self.hides(of_text=True):
            self.out.append(text)

    def space(self, name):
        if name not in NOTHING and not self.hides():
            self.out.append(" ")

    def tag(self, at):
        closes = self.html[at + 1] == "/"
        found = TAG_NAME.match(self.html, at + 1 + closes)
        name = low(found[0])
        name = name if name in KNOWN else ""
        given, end = attributes(self.html, found.end())
        if closes:
            self.space(name)
            self.pop(name)
        else:
            self.push(name, given)
            self.space(name)
            if name in VOID:
                self.open.pop()
            elif name in RAW:
                self.open.pop()
                close = re.compile(rf"</{name}[ \t\r\n\f/>]", re.I | re.A).search(self.html, end)
                return close.start() if close else len(self.html)
        if name not in VOID | RAW and len(self.open) > DEPTH_MOST:
            self.lost = True
        return end

    def push(self, name, given):
        ends, walls = ENDS.get(name, ((), ()))
        for i in range(len(self.open) - 1, -1, -1):
            if self.open[i][0] in ends:
                del self.open[i:]
            elif self.open[i][0] in walls:
                break
        self.open.append((name, hidden(name, given, self.hides())))

    def pop(self, name):
        for i in range(len(self.open) - 1, -1, -1):
            if self.open[i][0] == name:
                del self.open[i:]
                break

    def character(self, at):
        """The character that is named at a place, or `&`; and where it ends."""
        html = self.html
        if number := re.compile("&#(?:[xX]([0-9A-Fa-f]+)|([0-9]+));?").match(html, at):
            code = int(number[1], 16) if number[1] else int(number[2])
            if 0x80 <= code < 0xA0:
                return bytes([code]).decode("cp1252", "replace"), number.end()
            if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
                code = 0xFFFD
            return chr(code), number.end()
        run = re.compile("&([A-Za-z0-9]{0,30})").match(html, at)[1]
        if html[at + 1 + len(run) : at + 2 + len(run)] == ";" and run in NAMES:
            return NAMES[run], at + len(run) + 2
        for n in range(len(run), 1, -1):
            if run[:n] in WITHOUT_SEMICOLON:
                return NAMES[run[:n]], at + 1 + n
        return "&", at + 1


def low(text):
    return re.sub("[A-Z]", lambda c: c[0].lower(), text)


def attributes(html, at):
    """{name: value} of a tag, and where it ends."""
    given = {}
    while at < len(html):
        while at < len(html) and html[at] in SPACE + "/":
            at += 1
        if html[at : at + 1] == ">":
            return given, at + 1
        found = re.compile(r"=?[^ \t\r\n\f/>=]*").match(html, at)
        name, at = found[0], found.end()
        while at < len(html) and html[at] in SPACE:
            at += 1
        value = ""
        if html[at : at + 1] == "=":
            at += 1
            while at < len(html) and html[at] in SPACE:
                at += 1
            quote = html[at : at + 1]
            if quote in ("'", '"'):
                end = html.find(quote, at + 1)
                if end < 0:
                    break
                value, at = html[at + 1 : end], end + 1
            else:
                found = re.compile(r"[^ \t\r\n\f>]*").match(html, at)
                value, at = found[0], found.end()
        given.setdefault(low(name), value)
    return given, len(html)


# --- Text that is not shown


def hidden(name, given, hides):
    """What hides an element in one that is hidden by this."""
    style = declared(given.get("style", ""))
    if name == "table" or (name == "font" and "size" in given):
        hides &= ~TINY
    for what, bit in (("visibility", UNSEEN), ("font-size", TINY)):
        if what in style:
            hides = hides | bit if style[what] else hides & ~bit
    if style.get("display", "hidden" in given) or style.get("opacity", False):
        hides |= GONE
    return hides


HIDING = {
    "display": "none",
    "visibility": "hidden|collapse",
    "opacity": r"[+-]?0*(?:0|\.0+)%?",
    "font-size": r"[+-]?0*(?:0|\.0+)(?:px|pt|em|rem|ex|%|pc|in|cm|mm)?",
}


def declared(style):
    """{property: whether it hides} of a style; {} if it is not plain to see."""
    if re.search(r"[&\\{}\[\]]|/\*", style) or (re.search("['\"]", style) and "(" in style):
        return {}
    parts = re.findall(r"""(?:[^;'"()]|'[^'\n]*'|"[^"\n]*"|\([^()]*\))+|(.)""", style, re.S)
    if any(part not in ("", ";") for part in parts):
        return {}
    found, sure = {}, set()
    for part in re.findall(r"""(?:[^;'"()]|'[^'\n]*'|"[^"\n]*"|\([^()]*\))+""", style):
        what, _, value = low(part).partition(":")
        what, value = what.strip(SPACE), value.strip(SPACE)
        important = re.search(f"![{SPACE}]*important$", value)
        if important:
            value = value[: important.start()].strip(SPACE)
        names = list(HIDING) if what == "all" else ["font-size"] if what == "font" else [what]
        for each in names:
            if each in HIDING and (important or each not in sure):
                found[each] = each == what and bool(re.fullmatch(HIDING[each], value))
                if important:
                    sure.add(each)
    return found


# --- Names of characters

WITHOUT_SEMICOLON = {name for name in html.entities.html5 if not name.endswith(";")}
USUAL = WITHOUT_SEMICOLON | set(html.entities.name2codepoint) | {"apos"}
NAMES = {name: html.entities.html5[name + ";"] for name in USUAL}
