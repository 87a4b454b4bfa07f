"""How many lines there are, by wing: of code, of comments and docstrings, of the wing's tests.

`lines.py` prints the table; the sum of what is shipped is held against BUDGET, which a commit
changes on purpose, saying what the lines are for.
"""

import re
from collections import Counter
from pathlib import Path

BUDGET = 104_500  # of streamptron/, program/ and sqlite/: code, comments and empty lines

ROOT = Path(__file__).parents[1]
PRODUCT = ("streamptron", "program", "sqlite")
IN_C = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
IN_PYTHON = re.compile(r'^[ \t]*[rb]?"""(?:[^\\]|\\.)*?"""|#[^\n]*', re.DOTALL | re.MULTILINE)
KINDS = {".c": IN_C, ".h": IN_C, ".js": IN_C, ".css": IN_C}
KINDS |= dict.fromkeys((".py", ".pyi", ".pyx", ".pxd"), IN_PYTHON)


def counted(text, comments):
    """Lines of code, and of comments alone."""
    bare = comments.sub(lambda found: "\n" * found[0].count("\n"), text)
    code = sum(bool(line.strip()) for line in bare.splitlines())
    return code, sum(bool(line.strip()) for line in text.splitlines()) - code


def wing(path):
    """The folder in which a file is reckoned: of the engine and of the package each by itself."""
    parts = path.parts[:-1]
    deep = 3 if parts[:2] == ("streamptron", "engine") else 2
    return "/".join(parts[:deep])


def table():
    """Of each wing, and of the tests: lines of code, of comments, of all."""
    lines = {}
    for folder in (*PRODUCT, "tests"):
        for file in sorted(ROOT.joinpath(folder).rglob("*")):
            if file.suffix in KINDS:
                text = file.read_text("utf-8")
                code, comment = counted(text, KINDS[file.suffix])
                of = lines.setdefault(wing(file.relative_to(ROOT)), Counter())
                of.update(code=code, comment=comment, all=text.count("\n"))
    return lines


def product(lines):
    """The sum of what is shipped."""
    return sum((of for name, of in lines.items() if not name.startswith("tests")), Counter())


def main():
    lines = table()
    print(f"{'wing':32} {'code':>7} {'comment':>7} {'all':>7} {'tests':>7}")
    for name, of in sorted(lines.items()):
        if name.startswith("tests"):
            continue
        tests = lines.get(f"tests/{name.split('/')[-1]}", Counter())
        print(f"{name:32} {of['code']:7} {of['comment']:7} {of['all']:7} {tests['all']:7}")
    tests = sum((of for name, of in lines.items() if name.startswith("tests")), Counter())
    of = product(lines)
    print(f"{'sum':32} {of['code']:7} {of['comment']:7} {of['all']:7} {tests['all']:7}")
    print(f"{'budget':32} {'':7} {'':7} {BUDGET:7}")


if __name__ == "__main__":
    from options import options  # not where tests import this file: then it is in no one's path

    options(__doc__).parse_args()
    main()
