"""Write the page of all parameters, from their table in the engine.

    python docs/parameters.py > docs/parameters.md

tests/doors/test_table.py says when that is to be done again.
"""

from streamptron.learners.registry import BY_CLASS_NAME, PARAMETERS, TOKENS, Parameter

HEAD = """\
# Parameters

All parameters of the learners, then those of the tokenizers. Each constructor takes some of them,
with these defaults and in this order; its docstring says more. Any value that the column *value*
does not allow is refused, with an error that names the parameter, the value and what it must be.
`docs/parameters.py` writes this page from the table by which Python, the command line, Spark and
the C library check values (`engine/file/parameters_table.h`).

| parameter | learners | value | default | what it does |
|---|---|---|---|---|
"""
TOKENIZERS = """
## Tokenizer and Mail

| parameter | of | value | default | what it does |
|---|---|---|---|---|
"""
TAIL = """
## How each tool writes them

| in | `half_life` is | `pocket` is | `naive_bayes` is |
|---|---|---|---|
| Python, scikit-learn | `half_life=500` | `pocket=True` | `naive_bayes=False` |
| the command line | `--half-life 500` | `--pocket` | `--no-naive-bayes` |
| Spark | `halfLife=500` | `pocket=True` | `naiveBayes=False` |
| JSON, for the C library | `"half_life": 500` | `"pocket": true` | `"naive_bayes": false` |

scikit-learn's classifiers call the intercept `fit_intercept`, and their `serve` is "average" by
default. They have no `hash_bits`, `hash_seed`, `max_features`, `max_labels` or `interactions`:
their features are columns. The command line has no `missing`, as a line has no None; `streamptron
train --help` lists its options.

## Errors

A refused value raises a [`ParameterError`](reference/models.md), a kind of ValueError; if its type
is wrong, it is a TypeError as well. It has a `name`, a `value` and what is `wanted`, and `words`
writes it with parameters named in another way:

```python
>>> from streamptron import ParameterError, Perceptron

>>> try:
...     Perceptron(margin=-1)
... except ParameterError as error:
...     print(error)
...     print(error.words(lambda name, value, label: f"the setting {name}, {value}"))
margin=-1; it must be a number of at least 0 and at most 1e+50
the setting margin, -1; it must be a number of at least 0 and at most 1e+50

```
"""


def learners(parameter: Parameter) -> str:
    """Who has it; those who have not, if they are fewer."""
    if parameter in TOKENS:
        return parameter.learners[0]
    others = [name for name in BY_CLASS_NAME if name not in parameter.learners]
    if not others:
        return "all"
    if len(others) <= 2:
        return f"all but {', '.join(others)}"
    return ", ".join(parameter.learners)


def line(parameter: Parameter) -> str:
    needs = "" if parameter.needs is None else " Only with `{}={!r}`.".format(*parameter.needs)
    wanted = parameter.wanted.removeprefix("one of ").replace("<", "&lt;")
    about = parameter.about.replace("<", "&lt;")  # no tag of HTML
    return (
        f"| `{parameter.name}` | {learners(parameter)} | {wanted} | "
        f"`{parameter.default!r}` | {about}{needs} |"
    )


def page() -> str:
    lines, tokens = ("".join(f"{line(each)}\n" for each in table) for table in (PARAMETERS, TOKENS))
    return f"{HEAD}{lines}{TOKENIZERS}{tokens}{TAIL}"


if __name__ == "__main__":
    print(page(), end="")
