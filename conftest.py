"""Which modules pytest leaves out when it looks for examples in docstrings."""

from importlib.util import find_spec

# Importing them takes pyspark, which is large and not among the tools of every day.
collect_ignore = [] if find_spec("pyspark") else ["streamptron/spark"]

pytest_plugins = ["tests.support.river"]
