"""Which modules pytest leaves out when it looks for examples in docstrings."""

from importlib.util import find_spec

# Importing them takes pyspark, which is large and not among the tools of every day; or what only
# the extra `serve` brings.
collect_ignore = [] if find_spec("pyspark") else ["streamptron/spark"]
collect_ignore += [] if find_spec("starlette") else ["streamptron/service"]

pytest_plugins = ["tests.support.river"]
