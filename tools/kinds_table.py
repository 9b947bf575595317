#!/usr/bin/env python3
"""Prints the table of kinds in docs/evidence.md: commands from docs/kinds.md, the p50 of a pair or
call from what `scripts/bench --json FILE kinds` wrote, and the mutants that break the kind.

    tools/kinds_table.py FILE
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Kind in docs/kinds.md -> its figure, and what names it in a mutant's own name, its patched file or
# the test that catches it.
KINDS = {
    "mutex": ("mutex", r"holdfast/(acquire|release|withdraw|renew)\.lua|/parts/(pass_on|hand_over|"
              r"draw_major)|src/lease/(acquire|hold|deadline)|waiting|lock_driver|local_lock\.cpp"),
    "mutex without tokens": ("mutex_without_tokens", None),
    "fair mutex": ("fair_mutex", r"QueueScript|queue_messages|AcquireWaiting|next-"),
    "recursive mutex": ("recursive_mutex", r"recursive"),
    "several mutexes": ("two_mutexes", r"all_of|several|SimulationOfSeveral"),
    "election": ("election", r"election"),
    "reader": ("reader", r"readwrite|shared_locks|joining_readers|/shared/"),
    "upgradeable reader": ("upgradeable_reader", r"change-"),
    "writer": ("writer", r"readwrite|shared_locks|/shared/"),
    "semaphore": ("permit", r"permit|semaphore|set-limit"),
    "mode lock, NL to PW": ("mode_lock", r"modelock|value-|protected-read"),
    "mode lock, EX": ("mode_lock_ex", r"modelock|value-|protected-read"),
    "latch": ("latch", r"latch"),
    "barrier": ("barrier", r"barrier"),
    "counter": ("counter", r"counter-|CounterScripts|once-"),
    "fenced write": ("fenced_write", r"fence-|once-"),
    "rate limiter": ("rate_limiter", r"rate-|once-"),
    "once per interval": (None, r"run_record|run-"),
    "block of ids": (None, r"id_generator|snowflake"),
}


def commands_of_kinds():
    """Kind -> "1 + 1", from the table of docs/kinds.md."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in (ROOT / "docs/kinds.md").read_text().splitlines() if line.startswith("| ")]
    column = rows[0].index("commands")
    return {row[0]: row[column] for row in rows if row[0] in KINDS}


def mutants():
    """What can be said of each mutant, in one text: name, patched files, what catches it."""
    for patch in sorted((ROOT / "tests/mutants").glob("*.patch")):
        lines = patch.read_text().splitlines()
        files = [line[6:] for line in lines if line.startswith("+++ b/")]
        yield " ".join([patch.stem, lines[0].rpartition("caught by:")[2], *files])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        figures = {one["name"]: one["value"] for one in json.load(file)["figures"]}
    broken = list(mutants())
    print("| kind | commands | p50 | mutants |\n| --- | --- | --- | --- |")
    for kind, commands in commands_of_kinds().items():
        figure, names = KINDS[kind]
        p50 = figures.get(f"kinds.{figure}_p50")
        time = f"{p50:.1f} us" if p50 is not None else "-"
        count = sum(1 for one in broken if names and re.search(names, one))
        print(f"| {kind} | {commands} | {time} | {count or 'as the mutex'} |")
    print(f"\n{len(broken)} mutants in all; some break several kinds.")


if __name__ == "__main__":
    main()
