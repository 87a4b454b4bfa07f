"""Run all benchmarks one after the other, each in a process of its own; `make bench` calls this."""

import subprocess
import sys

SCRIPTS = (
    "bench_events",
    "bench_names",
    "bench_matrix",
    "bench_passes",
    "bench_text",
    "bench_best",
    "bench_errors",
    "bench_comparison",
    "bench_drift",
    "bench_ranking",
    "bench_memory",
    "bench_ceiling",
    "bench_latency",
    "bench_threads",
    "bench_jobs",
    "bench_collisions",
    "bench_import",
    "bench_files",
    "bench_library",
    "bench_program",
    "bench_serve",
    "figures",
)


def main():
    failed = []
    for name in SCRIPTS:
        print(f"\n##### {name}\n", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *sys.argv[1:]]).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
