"""Write the C library as two files, streamptron.c and streamptron.h: amalgamate.py FOLDER.

They are the engine's own files and the library's, one after the other, each header once; the table
of parameters wherever it is included. So `cc -c streamptron.c` needs nothing else. The version is
the package's.
"""

import re
from pathlib import Path

from options import options

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "streamptron" / "engine"
FIRST = "library/library.c"
PUBLIC = "library/streamptron.h"
TABLE = "file/parameters_table.h"
INCLUDE = re.compile(r'^#include "([\w/]+\.[ch])"\n', re.M)


def version():
    text = (ROOT / "streamptron" / "common" / "version.py").read_text("utf-8")
    return re.search(r'^RELEASE = "([^"]+)"', text, re.M)[1]


def expanded(name, seen):
    """A file with the files that it includes in their place, if they have not come yet."""
    if name in seen:
        return ""
    if name != TABLE:
        seen.add(name)
    if name == PUBLIC:
        return '#include "streamptron.h"\n'
    text = (ENGINE / name).read_text("utf-8")
    return f"/* {name} */\n" + INCLUDE.sub(lambda found: expanded(found[1], seen), text)


def licence():
    text = (ROOT / "LICENSE").read_text("utf-8").strip()
    return "/* " + "\n   ".join(text.splitlines()).replace("\n   \n", "\n\n") + " */\n\n"


def public():
    """The header, which says its version."""
    text = (ENGINE / PUBLIC).read_text("utf-8")
    define = f'#define STREAMPTRON_VERSION "{version()}"\n'
    return licence() + text.replace("#define STREAMPTRON_H\n", f"#define STREAMPTRON_H\n\n{define}")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "streamptron.h").write_text(public(), "utf-8")
    (folder / "streamptron.c").write_text(licence() + expanded(FIRST, set()), "utf-8")


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    main(parser.parse_args().folder)
