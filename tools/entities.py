"""Write the engine's table of HTML's named characters, from the list of the Python that runs this.

    python3.13 tools/entities.py             # into this checkout
    python3.13 tools/entities.py FOLDER      # into another folder

It writes `streamptron/engine/mail/entities.c`: the names of HTML 4, and of HTML 5's those that need
no semicolon and that of the apostrophe.
"""

import html.entities
from pathlib import Path

from charsets import NO_LETTER, ROOT, counts
from folding import LOOKALIKES, lookalikes_of
from letters import array
from options import options

TABLE = Path("streamptron", "engine", "mail", "entities.c")
NAME_MOST = 8
FIRST = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def names():
    """{name: code point}, in the order of bytes; signs are all alike."""
    lookalikes = lookalikes_of(ROOT / LOOKALIKES)
    found = {}
    for name, character in html.entities.html5.items():
        name = name.rstrip(";")
        if name in html.entities.name2codepoint or name in html.entities.html5 or name == "apos":
            known = character.isascii() or counts(character, lookalikes)
            found[name] = ord(character) if known else NO_LETTER
    assert all(len(name) <= NAME_MOST for name in found)
    return dict(sorted(found.items()))


def packed():
    """The table, and where in it the names of each first letter begin.

    A name is a byte, how many characters it shares with the one before (3 bits), how many are its
    own (3 bits), whether it needs no semicolon; then these characters, and two bytes of its code
    point.
    """
    starts, data, before = [0] * (len(FIRST) + 1), [], " "
    for name, code in names().items():
        if name[0] != before[0]:
            starts[FIRST.index(name[0])] = len(data)
            before = name[0]
        shared = next(i for i in range(9) if name[: i + 1] != before[: i + 1] or i == len(before))
        shared = min(shared, 7)
        own = name[shared:]
        assert len(own) < 8
        bare = name in html.entities.html5
        data += [shared << 5 | len(own) << 2 | bare, *own.encode(), code & 255, code >> 8]
        before = name
    starts[-1] = len(data)
    for i in reversed(range(len(FIRST))):
        starts[i] = starts[i] or (starts[i + 1] if i else 0)
    return starts, data


def table():
    starts, data = packed()
    return "\n".join(
        [
            "/* Written by tools/entities.py: mail/entities.h says what it is. */\n",
            '#include "mail/entities.h"\n',
            "/* clang-format off */\n",
            array(f"const uint16_t sp_entity_starts[{len(starts)}]", starts),
            array(f"const uint8_t sp_entity_names[{len(data)}]", data),
        ]
    )


def main(folder):
    path = Path(folder) / TABLE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table(), encoding="utf-8", newline="\n")
    print(path)


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("folder", nargs="?", default=ROOT, help="this checkout, or another folder")
    main(parser.parse_args().folder)
