"""Two real streams, learned event by event: predict, then learn, in one pass, storing no event.

1. The docstrings of the standard library on this machine: which package is each one from? An event
   is a docstring's words, its label the package. New words turn up all the time, and so do new
   labels: neither is announced. Afterwards the model tells which words count towards which package,
   and why it decides on a new text as it does.
2. Phishing web sites, a data set that comes with River, through River pipelines: AdaptiveClassifier
   and Perceptron beside River's Perceptron.

Run `make demo`, or `python examples/demo.py "a text of your own to be explained"`. Nothing is
downloaded; it takes a few seconds.
"""

import ast
import re
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from river import datasets, linear_model, preprocessing

from streamptron import AdaptiveClassifier, Perceptron

NOT_READ = {"test", "tests", "idlelib", "idle_test", "lib2to3", "site-packages", "dist-packages"}
TEXT = "Parse the headers of a mail message and decode its body."
COMMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(package: Path) -> Iterator[str]:
    """The docstrings of a package, file by file. The sources are parsed, never imported."""
    for path in sorted(package.rglob("*.py")):
        if NOT_READ.intersection(path.relative_to(package).parts):
            continue
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):  # not a source of this Python
            continue
        nodes = (node for node in ast.walk(tree) if isinstance(node, COMMENTED))
        yield from filter(None, map(ast.get_docstring, nodes))


def docstring_stream(library: Path) -> Iterator[tuple[str, str]]:
    """Docstrings with their packages, which take turns. Every five rounds one more joins in."""
    folders = sorted(init.parent for init in library.glob("[!_]*/__init__.py"))
    waiting = [(p.name, docstrings(p)) for p in folders if p.name not in NOT_READ]
    active: list[tuple[str, Iterator[str]]] = []
    turn = 0
    while waiting or len(active) >= 5:  # fewer are too easy to tell apart
        if waiting and turn % 5 == 0:
            active.append(waiting.pop(0))
        turn += 1
        for package in list(active):
            name, texts = package
            if text := next(texts, None):
                yield text, name
            else:
                active.remove(package)


def words(text: str) -> dict[str, int]:
    """An event as the learners take it, {feature: value}: a word is there or is not."""
    return dict.fromkeys(re.findall(r"\w+", text.lower()), 1)


def learn_docstrings(library: Path) -> AdaptiveClassifier:
    model = AdaptiveClassifier()  # nothing to declare, to scale or to tune
    seen: Counter[str] = Counter()
    n = shown = wrong = wrong_then = 0
    seconds = 0.0
    print("         labels    error    error  true             predicted")
    print("  events   seen   so far   lately  package          package          docstring")
    for n, (text, label) in enumerate(docstring_stream(library), 1):
        x = words(text)
        start = perf_counter()
        predicted = model.test_then_train_one(x, label)  # None before the first label
        seconds += perf_counter() - start
        seen[label] += 1
        wrong += predicted != label
        if n == 1 or n == 2 * shown or n % 500 == 0:
            lately = (wrong - wrong_then) / (n - shown)  # since the line above
            print(f"{n:8,}{len(model.labels):7}{wrong / n:9.1%}{lately:9.1%}", end="  ")
            print(f"{label:17.16}{predicted or '-':17.16}{' '.join(text.split()):.30}".rstrip())
            shown, wrong_then = n, wrong
    if not n:
        print(f"\nNo .py file with a docstring is under {library}. This Python keeps its")
        print("standard library in a zip file, or without sources; so this part is left out.")
        return model

    constant = 1 - max(seen.values()) / n
    print(f"\n{n:,} events: {wrong / n:.1%} wrong (to give always the same answer: {constant:.1%})")
    print(f"{n / seconds:,.0f} events a second, not counting the reading of the files")
    print(f"{len(seen)} labels, {model.n_features:,} features, {model.memory_usage / 1e6:.1f} MB")
    print("\nThe words that count most towards the most frequent packages")
    for label, _ in seen.most_common(6):
        top = model.top_features(7, label)  # .positive and .negative: lists of (word, weight)
        print(f"  {label:17}{', '.join(str(word) for word, _ in top.positive):.80}")
    return model


def explain(model: AdaptiveClassifier, text: str) -> None:
    """What each word adds to the score of the likeliest label, beside the next one's."""
    x = words(text)
    p = model.predict_proba_one(x)
    first, second = sorted(p, key=p.__getitem__, reverse=True)[:2]
    print(f'\nFrom which package would this be? "{text}"')
    print(f"  {'':17}{first:>16}{second:>16}")
    other = dict(model.explain_one(x, second))
    for word, part in model.explain_one(x, first):
        print(f"  {word!s:17.16}{part:+16.3f}{other.get(word, 0.0):+16.3f}")
    score = model.decision_function_one(x)
    print(f"  {'score: their sum':17}{score[first]:+16.3f}{score[second]:+16.3f}")
    print(f"  {'probability':17}{p[first]:16.1%}{p[second]:16.1%}")


def learn_phishing() -> None:
    models = {
        "Adaptive": preprocessing.StandardScaler() | AdaptiveClassifier(),
        "Perceptron": preprocessing.StandardScaler() | Perceptron(),
        "River's": preprocessing.StandardScaler() | linear_model.Perceptron(),
    }
    wrong = dict.fromkeys(models, 0)
    seconds = dict.fromkeys(models, 0.0)
    print("  events" + "".join(f"{name + ' error':>20}{'time':>10}" for name in models))
    for n, (x, y) in enumerate(datasets.Phishing(), 1):
        for name, model in models.items():
            start = perf_counter()
            wrong[name] += model.predict_one(x) != y
            model.learn_one(x, y)
            seconds[name] += perf_counter() - start
        if n % 250 == 0:
            cells = (f"{wrong[name] / n:20.1%}{1e3 * seconds[name]:7.1f} ms" for name in models)
            print(f"{n:8,}" + "".join(cells))
    print("\nThe time is the whole pipeline's, scaler included. The Perceptron's weights:")
    top = models["Perceptron"]["Perceptron"].top_features(2)
    for feature, weight in top.positive + top.negative:
        print(f"  {feature:30}{weight:+6.2f}")


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):  # show progress in a pipe too, and any character
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    version = sys.version.split()[0]
    print(f"1. Docstrings of Python {version}: which package is each from?\n")
    learned = learn_docstrings(Path(sysconfig.get_path("stdlib")))
    if len(learned.labels) > 1:
        explain(learned, " ".join(sys.argv[1:]) or TEXT)
    print("\n2. Phishing web sites: StandardScaler, then ours or River's Perceptron\n")
    learn_phishing()
