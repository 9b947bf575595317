#!/usr/bin/env python3
"""What the Lua scripts cost the server.

Usage: bench/script_cost.py [--instructions] [--rounds N] [--server PROGRAM] [CASE[=FILE.lua] ...]
       bench/script_cost.py --bounds [--server PROGRAM]

Starts a private server on core 0 and loads it from core 1 with 64 connections that pipeline 16
commands each. Cases: fresh, busy, mine and wait (acquire.lua), release, pass-on (release.lua, to
one who polls), hand-over (the same to one who listens, before another one), renew (of 100 locks),
and of a reader (shared/acquire.lua, shared/release.lua) alone and among others: fresh-reader,
release-reader, join-readers and leave-readers. All of them, or
those that are named; CASE=FILE adds a variant of that case's script.

Figures are microseconds a call (INFO commandstats), the median of N rounds in which cases and
variants take turns, so that what else the machine does concerns all alike. With --instructions:
processor instructions a call, network included (callgrind, so it needs valgrind); slow, but the
same to 0.5 % on every run, also on a busy machine.

With --bounds: how long one script keeps the server busy that finds 1, 100 and 10,000 holders,
waiters or waits (script_bounds.py). Exit code 1: one takes more than a millisecond.
"""
import argparse
import hashlib
import os
import pathlib
import re
import selectors
import socket
import statistics
import subprocess
import tempfile
import threading
import time

import script_bounds

CONNECTIONS, PIPELINE, BATCHES = 64, 16, 10
ROOT = pathlib.Path(__file__).resolve().parent.parent
DIALECTS = ROOT / "src/redis/dialects"
SCRIPT_OF = {"fresh": "acquire", "busy": "acquire", "mine": "acquire", "wait": "acquire",
             "release": "release", "pass-on": "release", "hand-over": "release",
             "renew": "renew",
             "fresh-reader": "shared/acquire", "join-readers": "shared/acquire",
             "release-reader": "shared/release", "leave-readers": "shared/release"}
FENCE, LEASE, NEVER, MAJOR = "hf:fence:{0}", 30000, 2**53, 1780000000000000
OTHERS = 10**6
CALLGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]


def command(*words):
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def key(i):
    return f"hf:{{orders:{i}}}"


def keys(i):
    """The lock's value, its queue, who asked when, and the fence counter."""
    return key(i), key(i) + ":w", key(i) + ":i", FENCE


CLIENT = "0123456789abcdef0123456789abcdef"


def owner(i):
    return f"{CLIENT}-{i:x}"


def value(i):
    return f"1:{MAJOR}:{owner(i)}"


def readers(i, until_ms, *who):
    """A lock that these hold as readers."""
    summary = f"1m:{until_ms}:{until_ms}:0:0:0:{len(who)}:0:0:0:0"
    entries = [word for one in who for word in (owner(one), f"r1:{MAJOR}:{until_ms}")]
    return command("HSET", key(i), "=", summary, *entries)


def measured(case, sha, i):
    """The call that is measured, for one lock."""
    def acquire(asks, *waits):
        return command("EVALSHA", sha, 4, *keys(i), owner(asks), LEASE, NEVER, 0, *waits)

    shared = ("EVALSHA", sha, 5, *keys(i), key(i) + ":n", owner(i))
    if case in ("fresh", "mine"):
        return acquire(i)
    if case == "busy":
        return acquire(i + OTHERS)
    if case == "wait":
        return acquire(i + OTHERS, ":o1000:-0123456789abcdef", 0, 1000)
    if case in ("release", "pass-on", "hand-over"):
        return command("EVALSHA", sha, 4, *keys(i), value(i))
    if case in ("fresh-reader", "join-readers"):
        return command(*shared, LEASE, NEVER, 0, "r", 1, 0, "")
    return command(*shared, MAJOR)


def prepared(case, i):
    """How the lock stands before."""
    until_ms = int(time.time() * 1000) + 10 * LEASE
    held = command("SET", key(i), value(i), "PX", LEASE // 2)
    others = [i + OTHERS, i + 2 * OTHERS]
    if case in ("fresh", "fresh-reader"):
        return b""
    if case in ("pass-on", "hand-over"):
        ways = "p" if case == "pass-on" else "--"
        waiting = [f"{owner(one)}:o1000:{way}0123456789abcdef" for one, way in zip(others, ways)]
        queue, asked, now = key(i) + ":w", key(i) + ":i", int(time.time() * 1000000)
        return held + b"".join(
            command("ZADD", queue, MAJOR + place, one) + command("HSET", asked, one, now)
            for place, one in enumerate(waiting))
    if case == "join-readers":
        return readers(i, until_ms, *others)
    if case == "release-reader":
        return readers(i, until_ms, i)
    if case == "leave-readers":
        return readers(i, until_ms, i, *others)
    return held


def batches(case, sha, locks):
    """What one connection does with some locks: prepare them, the measured calls, wipe them."""
    if case == "renew":
        hundred = [locks[0] + i for i in range(100)]
        each = [word for i in hundred for word in (value(i), LEASE)]
        return ([prepared(case, i) for i in hundred],
                [command("EVALSHA", sha, 100, *map(key, hundred), NEVER, *each)], [])
    return ([prepared(case, i) for i in locks], [measured(case, sha, i) for i in locks],
            [command("DEL", *keys(i)[:3]) for i in locks])


class Server:
    def __init__(self, program, connections=CONNECTIONS, under=()):
        self.folder = tempfile.TemporaryDirectory()
        path = self.folder.name + "/socket"
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", *under, program, "--port", "0", "--unixsocket", path, "--save",
             "", "--dir", self.folder.name, "--hz", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.connections = [socket.socket(socket.AF_UNIX) for _ in range(connections)]
        for connection in self.connections:
            while connection.connect_ex(path) != 0:
                assert self.process.poll() is None, f"{program} does not start"
                time.sleep(0.01)
        self.listens = socket.socket(socket.AF_UNIX)
        self.listens.connect(path)
        self.listens.sendall(command("SUBSCRIBE", "hf:c:" + CLIENT))
        threading.Thread(target=self.hear).start()

    def hear(self):
        """Takes the messages for who waits, until the server ends."""
        while self.listens.recv(1 << 16):
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.last_words = self.process.communicate()[1]

    def ask(self, *words):
        connection = self.connections[0]
        connection.sendall(command(*words))
        answer = connection.recv(1 << 20)
        assert not answer.startswith(b"-"), answer
        if answer.startswith(b"$"):
            header, _, rest = answer.partition(b"\r\n")
            while len(rest) < int(header[1:]) + 2:
                rest += connection.recv(1 << 20)
            return rest.decode()
        return answer.decode()

    def run(self, work):
        """Sends each connection's batches, the next one when the last was answered."""
        left = {c: [b"".join(batch) + command("PING") for batch in reversed(todo)]
                for c, todo in zip(self.connections, work)}
        answered = dict.fromkeys(left, b"")
        with selectors.DefaultSelector() as selector:
            for connection, todo in left.items():
                selector.register(connection, selectors.EVENT_READ)
                connection.sendall(todo.pop())
            while selector.get_map():
                for ready, _ in selector.select():
                    connection = ready.fileobj
                    answered[connection] = (answered[connection] + connection.recv(1 << 16))[-16:]
                    if not answered[connection].endswith(b"+PONG\r\n"):
                        continue
                    answered[connection] = b""
                    if left[connection]:
                        connection.sendall(left[connection].pop())
                    else:
                        selector.unregister(connection)

    def microseconds_a_call(self):
        for line in self.ask("INFO", "commandstats").splitlines():
            if line.startswith("cmdstat_evalsha:"):
                assert "failed_calls=0" in line, line
                return float(line.split("usec_per_call=")[1].split(",")[0])
        raise AssertionError("no script was called")


def with_parts(file):
    """The script as the server gets it: cmake/HoldfastScripts.cmake says where parts are."""
    def part(line):
        for folder in (file.parent, file.parent.parent, DIALECTS, DIALECTS / "holdfast"):
            found = folder / "parts" / f"{line[1]}.lua"
            if found.exists():
                return found.read_text()
        raise SystemExit(f"{file}: no part {line[1]}")

    text = file.read_text()
    while "--@include " in text:
        text = re.sub(r"--@include ([a-z_]+)\n", part, text)
    return text


def load(server, script):
    sha = hashlib.sha1(script.encode()).hexdigest()
    assert sha in server.ask("SCRIPT", "LOAD", script)
    return sha


def work_of(case, sha, connections):
    for connection in range(connections):
        start = connection * PIPELINE * BATCHES
        yield [batch for first in range(start, start + PIPELINE * BATCHES, PIPELINE)
               for batch in batches(case, sha, range(first, first + PIPELINE))]


def microseconds(server, case, script):
    server.ask("FLUSHALL")
    server.ask("SET", FENCE, MAJOR - 10**12)  # of a slot in use for long: majors are the time
    sha = load(server, script)
    server.ask("CONFIG", "RESETSTAT")
    server.run(work_of(case, sha, CONNECTIONS))
    return server.microseconds_a_call()


def instructions(program, case, script):
    """The difference between two runs that differ in nothing but the measured calls."""
    totals = []
    for measured in (False, True):
        with Server(program, connections=8, under=CALLGRIND) as server:
            server.ask("SET", FENCE, MAJOR - 10**12)
            work = list(work_of(case, load(server, script), 8))
            if not measured:
                work = [[[] if i % 3 == 1 else batch for i, batch in enumerate(todo)]
                        for todo in work]
            server.run(work)
        totals.append(int(re.search(r"Collected : (\d+)", server.last_words)[1]))
    calls = 8 * BATCHES * (1 if case == "renew" else PIPELINE)
    return (totals[1] - totals[0]) / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--bounds", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--server", default="redis-server")
    parser.add_argument("cases", nargs="*", metavar="CASE[=FILE.lua]")
    options = parser.parse_args()
    if options.bounds:
        os.sched_setaffinity(0, {1})
        with Server(options.server) as server:
            raise SystemExit(not script_bounds.bounds(server, command, with_parts,
                                                      DIALECTS / "holdfast"))

    wanted = [case.partition("=") for case in options.cases]
    for case, _, _ in wanted:
        if case not in SCRIPT_OF:
            parser.error(f"unknown case {case}; there are {', '.join(SCRIPT_OF)}")
    named = {case for case, _, _ in wanted} or SCRIPT_OF
    ours = [(case, DIALECTS / "holdfast" / f"{name}.lua")
            for case, name in SCRIPT_OF.items() if case in named]
    runs = ours + [(case, pathlib.Path(file)) for case, _, file in wanted if file]
    figures = {run: [] for run in runs}
    os.sched_setaffinity(0, {1})
    if options.instructions:
        for case, file in runs:
            figures[case, file].append(instructions(options.server, case, with_parts(file)))
    else:
        with Server(options.server) as server:
            for _ in range(options.rounds):
                for case, file in runs:
                    figures[case, file].append(microseconds(server, case, with_parts(file)))

    unit = "instructions" if options.instructions else "us"
    base = {case: statistics.median(figures[case, file]) for case, file in ours}
    for case, file in runs:
        median = statistics.median(figures[case, file])
        print(f"{case:14} {file.name:24} {median:10.2f} {unit}  {median / base[case]:5.2f} x")


if __name__ == "__main__":
    main()
