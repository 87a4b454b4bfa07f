"""Run all benchmarks one after the other, each in a process of its own; `make bench` calls this."""

import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "bench_events",
    "bench_names",
    "bench_matrix",
    "bench_text",
    "bench_best",
    "bench_errors",
    "bench_memory",
    "bench_ceiling",
    "bench_latency",
    "bench_threads",
    "bench_collisions",
    "bench_import",
    "bench_files",
    "figures",
)


def main():
    folder = Path(__file__).resolve().parent
    failed = []
    for name in SCRIPTS:
        print(f"\n##### {name}\n", flush=True)
        script = folder / f"{name}.py"
        if subprocess.run([sys.executable, str(script), *sys.argv[1:]]).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
