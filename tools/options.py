"""How each tool reads its arguments: `--help` prints the words at the head of its file."""

import argparse


def options(doc):
    """A parser whose help is these words as they are written."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
