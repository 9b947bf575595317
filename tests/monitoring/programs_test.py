#!/usr/bin/env python3
"""Compares what `holdfast serve` and `elect --listen` print with the tables of docs/metrics.md.

    programs_test.py PROGRAM
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import check_names  # noqa: E402
import documented  # noqa: E402

PROGRAM = sys.argv[1]
PAGE = (check_names.ROOT / "docs/metrics.md").read_text(encoding="utf-8")
SERVER = shutil.which("redis-server") or shutil.which("valkey-server")
PATIENCE = 30  # s


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def help_of(command):
    """What the program says of a command, and of itself where it does not know it."""
    return subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False).stdout


class Programs(unittest.TestCase):
    """A private lock server, and programs that end with the test."""

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="holdfast-monitoring-")
        self.addCleanup(made.cleanup)
        self.socket = os.path.join(made.name, "socket")
        self.start(SERVER, "--port", "0", "--unixsocket", self.socket, "--save", "",
                   "--dir", made.name)
        self.until(lambda: os.path.exists(self.socket))

    def start(self, *command):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("HOLDFAST_")}
        environment["HOLDFAST_URL"] = f"unix://{self.socket}"
        one = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL)
        self.addCleanup(self.end, one)
        return one

    def end(self, one):
        one.stdin.close()
        one.terminate()
        try:
            one.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()

    def until(self, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not come about in time")
            time.sleep(0.02)

    def page_with(self, shower, address, *lines):
        """What this process shows at this address, once lines begin with each of these."""
        page = ""

        def has_them():
            nonlocal page
            self.assertIsNone(shower.poll(), "the program has ended")
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
                    page = answer.read().decode()
            return all(any(line.startswith(begin) for line in page.splitlines())
                       for begin in lines)

        try:
            self.until(has_them)
        except AssertionError as wrong:
            self.fail(f"{wrong}; {lines} are not all on the page:\n{page}")
        return page

    def compare(self, sections, page, **options):
        self.assertEqual(list(check_names.differences(PAGE, sections, page, **options)), [])


class Serve(Programs):
    def setUp(self):
        if "--refresh" not in help_of("serve"):
            self.skipTest("this program has no `serve`")
        super().setUp()

    def test_prints_what_is_listed(self):
        address = f"127.0.0.1:{free_port()}"
        for _ in range(2):  # a holder and a waiter
            self.start(PROGRAM, "run", "nightly", "--", "cat")
        shower = self.start(PROGRAM, "serve", "--listen", address, "--refresh", "200ms", "--doctor",
                            "--also", f"second=unix://{self.socket}")
        page = self.page_with(shower, address, 'holdfast_server_up{server="default"} 1',
                              'holdfast_server_up{server="second"} 1',
                              'holdfast_server_locks{server="default",state="held"} 1',
                              'holdfast_server_waiters{server="default"} 1',
                              'holdfast_server_doctor_findings{server="default"')
        self.compare([documented.SERVE], page)


class Elect(Programs):
    def setUp(self):
        if "--listen" not in help_of("elect"):
            self.skipTest("this program has no `elect --listen`")
        super().setUp()

    def test_prints_what_is_listed(self):
        address = f"127.0.0.1:{free_port()}"
        shower = self.start(PROGRAM, "elect", "--listen", address, "scheduler", "--", "cat")
        page = self.page_with(shower, address,
                              'holdfast_election_leader{election="scheduler"} 1')
        self.compare([documented.ELECT, documented.LIBRARY], page, all_have_samples=False)


if __name__ == "__main__":
    if SERVER is None:
        print("skipped: neither redis-server nor valkey-server is installed")
        sys.exit(77)
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in done.skipped:
        print(f"skipped: {reason}")
    skipped_all = done.wasSuccessful() and len(done.skipped) == done.testsRun
    sys.exit(77 if skipped_all else not done.wasSuccessful())
