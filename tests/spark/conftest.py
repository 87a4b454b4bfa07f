"""One session for all tests: real Spark, two executors in processes of their own."""

import contextlib
import os
import shutil
import signal
import sys
from importlib.util import find_spec

import pytest

from tests.support.project import ROOT

# What they import; the tests say that they are skipped.
collect_ignore = [] if find_spec("pyspark") else ["query.py", "sabotage.py"]

LIMIT = 120  # seconds that a test may take


@contextlib.contextmanager
def limited():
    """Nothing waits for ever."""

    def late(signum, frame):
        raise TimeoutError(f"this has taken more than {LIMIT} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def limit():
    with limited():
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session on two executors with a core each."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("java is not installed, which Spark needs")
    from pyspark.sql import SparkSession

    from tests.spark.support import FRUGAL, JAVA

    folder = tmp_path_factory.mktemp("spark")
    os.environ.update(
        SPARK_HOME=os.path.dirname(pyspark.__file__),
        SPARK_LOCAL_IP="127.0.0.1",
        SPARK_LOCAL_DIRS=str(folder / "local"),
        SPARK_WORKER_DIR=str(folder / "work"),
        PYSPARK_PYTHON=sys.executable,
    )
    with limited():
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.ui.enabled", "false")
            .config("spark.executorEnv.PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.extraJavaOptions", JAVA)
            .config("spark.executor.extraJavaOptions", JAVA)
            .config(map=FRUGAL)
            .getOrCreate()
        )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
