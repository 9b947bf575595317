#!/usr/bin/env python3
"""Does what a page of docs/ tells its reader to do, in an empty directory, and compares.

    run_page.py PAGE        PATH has the program `holdfast`

- Each block ```sh is run by one and the same shell. A block ```text behind it is what it prints;
  without one it prints nothing.
- A comment `<!-- in tests: COMMAND -->` in front of a block: COMMAND is run in its place. Then what
  it prints counts only if the page says it.
- A file that the page shows (`<!-- snippet examples/... -->`) lies in the directory.
- `...` stands for any text. What differs from run to run is compared by its form: see VARIES.
- A block that only looks, behind one that has started something, is run until it prints what the
  page says.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60  # seconds, until a look must have shown what the page says

BLOCK = re.compile(r"(?:^<!-- (?P<note>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$",
                   re.S | re.M)
LOOK = re.compile(r"(holdfast (status|ls)|cat|ls|psql -c \"SELECT)\b")
# On every page the reader's machine is called alpha.
VARIES = (
    (re.compile(rf"\b{re.escape(socket.gethostname())}(?=[: ])"), "alpha"),
    (re.compile(r"(?<=alpha)[: ]+\d+\b"), " PID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"(?<=^holdfast )\d+\.\d+\.\d+$", re.M), "VERSION"),
    (re.compile(r"\b\d{15,}\b"), "TOKEN"),
    (re.compile(r"\b\d+(\.\d+)? ?(us|ms|s)\b"), "DURATION"),
    (re.compile(r"[ \t]+"), " "),
)
# What the shell itself says of its jobs.
OF_THE_SHELL = re.compile(r"^\S+: line \d+: +\d+ (Killed|Terminated)\b.*\n", re.M)


@dataclasses.dataclass
class Step:
    """A block of commands, and what the page says that they print (None: that does not count)."""

    line: int
    commands: str
    output: str | None = None

    @property
    def only_looks(self):
        return all(LOOK.match(line) for line in self.commands.splitlines())


def steps_of(page):
    """The steps of a page, and the files that it shows."""
    steps, files, end = [], [], None
    for match in BLOCK.finditer(page):
        note, body = match.group("note") or "", match.group("body")
        follows = end is not None and page[end:match.start()].strip() == ""
        end = None
        if note.startswith("snippet "):
            files.append(note.split()[1])
        elif match.group("language") == "sh":
            line = page.count("\n", 0, match.start("body"))
            instead = note.removeprefix("in tests: ") + "\n"
            steps.append(Step(line, instead) if note else Step(line, body, ""))
            end = match.end()
        elif match.group("language") == "text" and follows:
            steps[-1].output = body
    return steps, files


def form_of(text):
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def agrees(expected, printed):
    pattern = re.escape(form_of(expected)).replace(r"\.\.\.", "(?s:.*)")
    return re.fullmatch(pattern, form_of(printed)) is not None


def members_of(session):
    """The processes of a session that have not ended."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, its_session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and state not in "ZX":
                yield int(stat.parent.name)


class Shell:
    """A shell that reads one file of commands after the other."""

    def __init__(self, directory):
        self.directory = directory
        environment = {"HOME": str(directory), "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
        environment |= {name: value for name, value in os.environ.items() if name.startswith("PG")}
        environment["EXAMPLES"] = os.environ.get("EXAMPLES", "")
        self.process = subprocess.Popen(
            ["bash", "--norc", "-c", 'while read -r next; do . "$next" </dev/null; echo "$?$next";'
             " done"], cwd=directory, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def run(self, commands):
        """What the commands print."""
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
            file.write(commands)
            file.flush()
            self.process.stdin.write(file.name + "\n")
            self.process.stdin.flush()
            printed = ""
            for line in self.process.stdout:
                if line.endswith(file.name + "\n"):
                    return OF_THE_SHELL.sub("", printed + re.sub(r"\d+/.*\n", "", line))
                printed += line
        sys.exit(f"the shell has ended: {printed}")

    def close(self):
        self.process.stdin.close()
        while left := list(members_of(session=self.process.pid)):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        self.process.wait()


def run_step(shell, step):
    """Whether it printed what the page says, and what it printed."""
    until = time.monotonic() + PATIENCE
    while True:
        printed = shell.run(step.commands)
        right = step.output is None or agrees(step.output, printed)
        if right or not step.only_looks or time.monotonic() > until:
            return right, printed


def run_page(page):
    """The number of steps that printed something else than the page says."""
    steps, files = steps_of(page.read_text(encoding="utf-8"))
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="holdfast-page-") as directory:
        for file in files:
            shutil.copy(ROOT / file, directory)
        shell = Shell(directory)
        try:
            for step in steps:
                right, printed = run_step(shell, step)
                print(f"{page}:{step.line}: {'as written' if right else 'NOT AS WRITTEN'}\n"
                      f"{step.commands}{printed}", flush=True)
                wrong += not right
        finally:
            shell.close()
    print(f"{page}: {len(steps)} steps, {wrong} not as written")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if run_page(pathlib.Path(sys.argv[1]).resolve()) else 0)
