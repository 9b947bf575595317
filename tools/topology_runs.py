#!/usr/bin/env python3
"""Runs test programs again and again and tells what came of each test.

    tools/topology_runs.py [--limit SECONDS] SECONDS KEEP PROGRAM...

The programs take turns until the time is up; each runs once at least. They wait most of the time,
so one for each processor runs at once; one that takes longer than the limit (300 s) is killed.
One line for each test: how often it passed, failed and was skipped, and the least, the median and
the most of what it measured. Then why tests were skipped, and how often.
Exit code 1: a program failed, and what it said is kept in the directory KEEP; or nothing of one was
run. A program that needs a network of its own may be skipped, but not all of them.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

# Why a whole program may be skipped (tests/support/private_network.cpp): not everybody can divide
# networks, and what that is needed for is documented.
MACHINE_LACKS = ("network namespaces need root", "there are no network namespaces here")

RESULTS = ("passed", "failed", "skipped")


@dataclasses.dataclass(frozen=True)
class Test:
    """What one run of a test told."""

    name: str
    result: str  # one of RESULTS
    reason: str  # why it was skipped
    measured: dict


def tests_of(report):
    """The tests in a report of GoogleTest; none of a program that died before it wrote it."""
    try:
        suites = ElementTree.parse(report).getroot()
    except (FileNotFoundError, ElementTree.ParseError):
        return []
    return [test_of(case) for case in suites.iter("testcase") if case.get("status") == "run"]


def test_of(case):
    skipped = case.find("skipped")
    result = "passed" if skipped is None else "skipped"
    if case.find("failure") is not None:
        result = "failed"
    said = skipped.get("message", "") if result == "skipped" else ""
    return Test(name=f"{case.get('classname')}.{case.get('name')}", result=result,
                reason=said.partition("\n")[2],  # behind the file and the line
                measured={one.get("name"): float(one.get("value"))
                          for one in case.iter("property")})


@dataclasses.dataclass(frozen=True)
class Run:
    """What one run of a program told, and what is wrong with it, if anything is."""

    program: pathlib.Path
    tests: list
    wrong: str


def run(program, keep, limit):
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory, "report.xml")
        # Into a file: what a program leaves behind may hold a pipe open for ever.
        with tempfile.TemporaryFile() as output:
            ended = how_it_ends([program.resolve(), f"--gtest_output=xml:{report}"], output, limit)
            tests = tests_of(report)
            if not ended and all(test.result == "skipped" for test in tests):
                ended = why_nothing_ran(tests)
            if ended:
                output.seek(0)
                ended += f": {kept(output.read(), program, keep)}"
    return Run(program, tests, ended)


def how_it_ends(command, output, limit):
    """Empty when it succeeds."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                              timeout=limit)
    except subprocess.TimeoutExpired:
        return f"was killed after {limit:g} s"
    except OSError as error:
        return f"cannot be started, {error.strerror}"
    if done.returncode < 0:
        return f"died of {signal.Signals(-done.returncode).name}"
    return f"failed ({done.returncode})" if done.returncode else ""


def why_nothing_ran(tests):
    """Empty when it may be so."""
    if not tests:
        return "has run no test"
    if all(test.reason.startswith(MACHINE_LACKS) for test in tests):
        return ""
    return "has skipped all its tests"


def kept(output, program, keep):
    keep.mkdir(parents=True, exist_ok=True)
    file = keep / f"{program.name}-{time.time_ns()}.txt"
    file.write_bytes(output)
    return file


class Told:
    """What all runs told."""

    def __init__(self):
        self.results = collections.defaultdict(collections.Counter)
        self.measured = collections.defaultdict(lambda: collections.defaultdict(list))
        self.reasons = collections.Counter()
        self.wrong = False

    def add(self, one):
        if one.wrong:
            self.wrong = True
            print(f"{one.program} {one.wrong}", file=sys.stderr)
        for test in one.tests:
            self.results[test.name][test.result] += 1
            for name, value in test.measured.items():
                self.measured[test.name][name].append(value)
            if test.result == "skipped":
                self.reasons[test.reason] += 1

    def nothing_ran(self):
        return not any(counts.keys() - {"skipped"} for counts in self.results.values())

    def line(self, name):
        results = self.results[name]
        counts = [f"{results[one]} {one}" for one in RESULTS if results[one]]
        return "  ".join(counts + [
            f"{what} {min(all_of):g} / {statistics.median(all_of):g} / {max(all_of):g}"
            for what, all_of in sorted(self.measured[name].items())])

    def show(self):
        width = max(map(len, self.results), default=0)
        for name in self.results:
            print(f"{name:<{width}}  {self.line(name)}")
        for reason, n in sorted(self.reasons.items()):
            print(f"skipped {n} times: {reason}")


def turns(programs, end):
    """The programs by turns: all of them once, then until the time is up."""
    yield from programs
    for program in itertools.cycle(programs):
        if time.monotonic() >= end:
            return
        yield program


def run_by_turns(told, programs, seconds, keep, limit):
    at_once = len(os.sched_getaffinity(0))
    left = turns(programs, time.monotonic() + seconds)
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        def start():
            return {pool.submit(run, program, keep, limit)
                    for program in itertools.islice(left, at_once - len(running))}

        running = set()
        while running := running | start():
            ended, running = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in ended:
                told.add(one.result())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("seconds", type=float)
    parser.add_argument("keep", type=pathlib.Path)
    parser.add_argument("programs", type=pathlib.Path, nargs="+")
    given = parser.parse_args()
    told = Told()
    run_by_turns(told, given.programs, given.seconds, given.keep, given.limit)
    told.show()
    if told.nothing_ran():
        print("nothing was run", file=sys.stderr)
    return 1 if told.wrong or told.nothing_ran() else 0


if __name__ == "__main__":
    sys.exit(main())
