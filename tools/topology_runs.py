#!/usr/bin/env python3
"""Runs test programs again and again and tells what came of each test.

    tools/topology_runs.py SECONDS KEEP PROGRAM...

The programs take turns until the time is up; each runs once at least. They wait most of the time,
so one for each processor runs at once. One line for each test: how often it passed, failed and was
skipped, and the least, the median and the most of what it measured.
The output of a program that failed is kept in the directory KEEP. Exit code 1: one did.
"""

import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# Beside what the test itself recorded.
FIELDS = {"name", "file", "line", "status", "result", "timestamp", "time", "classname",
          "value_param", "type_param", "failures", "skipped"}


class Told:
    """What a test told in all its runs."""

    def __init__(self):
        self.results = collections.Counter()
        self.measured = collections.defaultdict(list)

    def add(self, test):
        result = "failed" if "failures" in test else test["result"].lower()
        self.results["passed" if result == "completed" else result] += 1
        for name in test.keys() - FIELDS:
            self.measured[name].append(float(test[name]))

    def line(self):
        counts = [f"{n} {result}" for result, n in sorted(self.results.items(), reverse=True)]
        return "  ".join(counts + [
            f"{name} {min(all_of):g} / {statistics.median(all_of):g} / {max(all_of):g}"
            for name, all_of in sorted(self.measured.items())])


def run(program, keep):
    """What its tests told, and whether it succeeded."""
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory, "report.json")
        done = subprocess.run([program, f"--gtest_output=json:{report}"],
                              capture_output=True, text=True)
        suites = json.loads(report.read_text())["testsuites"] if report.exists() else []
    if done.returncode != 0:
        keep.mkdir(parents=True, exist_ok=True)
        output = keep / f"{pathlib.Path(program).name}-{time.time_ns()}.txt"
        output.write_text(done.stdout + done.stderr)
        print(f"{program} failed ({done.returncode}): {output}", file=sys.stderr)
    return suites, done.returncode == 0


def turns(programs, end):
    """The programs by turns: all of them once, then until the time is up."""
    yield from programs
    for program in itertools.cycle(programs):
        if time.monotonic() >= end:
            return
        yield program


def main(seconds, keep, *programs):
    told = collections.defaultdict(Told)
    fine = True
    at_once = len(os.sched_getaffinity(0))
    left = turns(programs, time.monotonic() + float(seconds))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        def start():
            return {pool.submit(run, program, pathlib.Path(keep))
                    for program in itertools.islice(left, at_once - len(running))}

        running = set()
        while running := running | start():
            ended, running = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in ended:
                suites, passed = one.result()
                fine = passed and fine
                for suite in suites:
                    for test in suite["testsuite"]:
                        told[f"{suite['name']}.{test['name']}"].add(test)
    width = max(map(len, told), default=0)
    for name, all_of_it in told.items():
        print(f"{name:<{width}}  {all_of_it.line()}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
