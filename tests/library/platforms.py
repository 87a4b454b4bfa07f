"""Compile and run tests/library/conformance.c for other machines: platforms FOLDER.

Where processes share files in a way of their own, files.c too. The folder holds streamptron.c and
streamptron.h. `.ci/platforms` calls this.
"""

import hashlib
import random
import shutil
import subprocess
import sys
from pathlib import Path

from streamptron import (
    MIRA,
    AdaptiveClassifier,
    MultiLabelClassifier,
    RankingPerceptron,
    Tokenizer,
    VotedPerceptron,
)
from tests.support.library import event_line
from tests.support.project import TESTS

FLAGS = ["-std=gnu11", "-O2"]  # contraction is the compiler's to choose, and ours to forbid

# Name: compiler, more flags, what runs the program, the ending of its name.
MACHINES = {
    "x86-64, gcc, glibc": (["gcc"], [], [], ""),
    "x86-64, clang, glibc": (["clang"], [], [], ""),
    "x86-64, gcc, musl, static": (["musl-gcc"], ["-static"], [], ""),
    "arm64, gcc, glibc": (["aarch64-linux-gnu-gcc"], ["-static"], ["qemu-aarch64"], ""),
    "riscv64, gcc, glibc": (["riscv64-linux-gnu-gcc"], ["-static"], ["qemu-riscv64"], ""),
    "s390x, gcc, glibc": (["s390x-linux-gnu-gcc"], ["-static"], ["qemu-s390x"], ""),
    "x86-64, mingw-w64": (["x86_64-w64-mingw32-gcc"], ["-static"], ["wine"], ".exe"),
    "wasm32, clang, wasi": (
        ["clang"],
        ["--target=wasm32-wasi", "--sysroot=/usr", "-Wl,-z,stack-size=1048576"],
        ["node", "--no-warnings", str(TESTS / "library" / "wasi.mjs")],
        ".wasm",
    ),
}
SHARING = ("x86-64, gcc, musl, static", "x86-64, mingw-w64")  # start processes without qemu
WORDS = ("the", "CAT", "10.0.0.1", "Écris", "日本語", "a-b", "deadbeef", "naïve", "long" * 9)


def stream(n=400):
    """(text, label), of words whose labels mostly follow from them."""
    rng = random.Random(1)
    for _ in range(n):
        words = rng.choices(WORDS, k=rng.randint(1, 9))
        yield " ".join(words), ("a", "b", "c")[WORDS.index(words[0]) % 3]


def many(n=400):
    """(text, label), of 40 labels that follow from the first two words."""
    for text, label in stream(n):
        first, second = (text.split() * 2)[:2]
        yield text, f"{label}{(WORDS.index(first) * 5 + WORDS.index(second)) % 40}"


def tagged(n=400):
    """(text, labels), sets of them and {label: bool} in turn."""
    for i, (text, label) in enumerate(stream(n)):
        there = [*label, *(str(len(word)) for word in {*text.split()} & {"CAT", "naïve"})]
        yield text, dict.fromkeys(there, True) | {"d": False} if i % 3 == 0 else there


def ranked(n=400):
    """(texts, the right one of them)."""
    for text, label in stream(n):
        yield [text, *text.split()[:3], "the CAT"], "abc".index(label) % (1 + len(text.split()[:3]))


def models(folder):
    """Files of learners of all machines, each with the events that it is asked and taught."""
    tokens = Tokenizer(ngram_range=(1, 2), value="log", normalize="l2", fold_numbers=True)
    learners = {
        "weighed": (AdaptiveClassifier(hash_seed=1), stream),
        "many labels": (AdaptiveClassifier(hash_seed=1), many),
        "many labels, hashed": (AdaptiveClassifier(hash_seed=1, hash_bits=9), many),
        "exponential": (MIRA(hash_seed=1, average="exponential", half_life=20.5), stream),
        "votes": (VotedPerceptron(hash_seed=1), stream),
        "candidates": (RankingPerceptron(hash_seed=1), ranked),
        "sets": (MultiLabelClassifier(hash_seed=1, threshold="f1"), tagged),
        "sets, ceiling": (MultiLabelClassifier(hash_seed=1, max_features=30), tagged),
    }
    for name, (learner, events) in learners.items():
        model = tokens | learner
        for text, label in events(60):
            model.learn_one(text, label)
        path = folder / f"{name}.model"
        model.save(path)
        (folder / name).write_text("".join(event_line(*each) for each in events()))
        yield path, name


def result(run, program, folder, files):
    """What is printed for each file, and all that is saved; or in words why there is none.

    Each is opened in memory, and learns; takes steps back, if it can; and where it lies, but for
    votes.
    """
    printed, kept = [], b""
    for path, events in files:
        (folder / "saved").unlink(missing_ok=True)
        can_undo = path.stem not in ("votes", "candidates")
        modes = [["saved", "undo"]] * can_undo + [["saved"]] + [["mapped"]] * (path.stem != "votes")
        for how in modes:
            command = [*run, str(program), path.name, events, *how]
            done = subprocess.run(command, capture_output=True, cwd=folder)
            if done.returncode:
                return (done.stdout or done.stderr)[-160:].decode(errors="replace").strip()
            printed += done.stdout.replace(b"\r", b"").decode().split()
        kept += (folder / "saved").read_bytes()
    return printed, kept


def compared(found, first):
    """In words, how one machine's result compares with the first one's; and whether it is good."""
    if isinstance(found, str):
        return f"refused: {found}" if "not little-endian" in found else found, "endian" in found
    digest = hashlib.sha256(found[1] + " ".join(found[0]).encode()).hexdigest()[:16]
    if found == first:
        return f"{digest}  the same bits", True
    if found[1] != first[1] or len(found[0]) != len(first[0]):
        return f"{digest}  ANOTHER MODEL", False
    n = sum(a != b for a, b in zip(found[0], first[0], strict=True))
    return f"{digest}  the same model; {n} of {len(first[0])} numbers DIFFER", False


def compiled(name, source, folder):
    """A program for a machine, and what the compiler says if it fails."""
    compiler, flags, _, ending = MACHINES[name]
    program = folder / f"{source}{ending}"
    command = [*compiler, *FLAGS, *flags, f"-I{folder}", str(TESTS / "library" / f"{source}.c")]
    command += [str(folder / "streamptron.c"), "-lm", "-o", str(program)]
    command += ["-ladvapi32"] if ending == ".exe" else []
    done = subprocess.run(command, capture_output=True, text=True)
    return program, done.stderr[-600:] if done.returncode else ""


def shared(name, folder, files):
    """What came of files that two processes use, and whether it is good."""
    program, wrong = compiled(name, "files", folder)
    if wrong:
        return f"does not compile: {wrong}", False
    before = set(folder.iterdir())
    command = [*MACHINES[name][2], str(program), files[0][0].name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if set(folder.iterdir()) != before:
        return "a file is left that should have gone", False
    return done.stdout.strip(), done.returncode == 0


def main(folder):
    folder = Path(folder).resolve()
    files = list(models(folder))
    first, failed = None, False
    for name, (compiler, _, run, _) in MACHINES.items():
        missing = [tool for tool in (compiler[0], *run[:1]) if shutil.which(tool) is None]
        if compiler[0] in missing:
            print(f"{name:32} not run: there is no {compiler[0]}")
            continue
        program, wrong = compiled(name, "conformance", folder)
        if wrong:
            print(f"{name:32} does not compile: {wrong}")
            failed = True
            continue
        if missing:
            print(f"{name:32} compiles; not run: there is no {missing[0]}")
            continue
        found = result(run, program, folder, files)
        first = first or found
        said, good = compared(found, first)
        failed |= not good
        print(f"{name:32} {said}", flush=True)
        if name in SHARING:
            said, good = shared(name, folder, files)
            failed |= not good
            print(f"{'':32} {said}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1])
