#!/usr/bin/env python3
"""Shows run_page.py pages that are right and pages that are not."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import run_page  # noqa: E402


def block(commands, output=None, note=None):
    said = f"\n```text\n{output}\n```\n" if output is not None else ""
    return (f"<!-- {note} -->\n" if note else "") + f"```sh\n{commands}\n```\n{said}"


def wrong_in(*blocks):
    """The number of steps of a page of these blocks that do not print what it says."""
    with tempfile.NamedTemporaryFile("w", suffix=".md") as page:
        page.write("\n".join(blocks))
        page.flush()
        with contextlib.redirect_stdout(io.StringIO()):
            return run_page.run_page(pathlib.Path(page.name))


class Pages(unittest.TestCase):
    def setUp(self):
        run_page.PATIENCE = 0.2

    def test_prints_what_it_says(self):
        self.assertEqual(0, wrong_in(block("echo one", "one"), block("printf two", "two")))

    def test_prints_something_else(self):
        self.assertEqual(1, wrong_in(block("echo one", "two"), block("true")))

    def test_prints_what_it_does_not_say(self):
        self.assertEqual(1, wrong_in(block("echo one"), block("true")))

    def test_numbers_count_unless_they_differ_from_run_to_run(self):
        self.assertEqual(1, wrong_in(block("echo exit code 75", "exit code 76")))
        self.assertEqual(0, wrong_in(block("echo token 3678013383830384640 for 2.9s",
                                           "token 3678013383830384641 for 3.1s")))

    def test_dots_stand_for_any_text(self):
        self.assertEqual(0, wrong_in(block("seq 9", "1\n...\n9")))
        self.assertEqual(1, wrong_in(block("seq 9", "1\n...\n8")))

    def test_one_shell_runs_all(self):
        self.assertEqual(0, wrong_in(block("cd /; x=1"), block('echo "$x $PWD"', "1 /")))

    def test_what_tests_run_instead(self):
        self.assertEqual(0, wrong_in(block("exit 1", note="in tests: echo here"),
                                     block("echo on", "on")))

    def test_an_output_belongs_to_the_block_right_before_it(self):
        self.assertEqual(0, wrong_in(block("echo one", "one"), "Of another machine:", block("true"),
                                     "It says:\n\n```text\ntwo\n```\n"))

    def test_a_look_is_repeated_until_it_shows_what_the_page_says(self):
        run_page.PATIENCE = 20
        later = "mkfifo gate; { read -r _ <gate; echo done >log; } &\n"
        opened = "echo >gate &"
        self.assertEqual(0, wrong_in(block(later), block(opened), block("cat log", "done")))

    def test_what_it_shows_lies_there(self):
        shown = ("<!-- snippet tests/documents/run_page_test.py none -->\n"
                 "```python\nas in the file\n```\n")
        self.assertEqual(0, wrong_in(shown, block("ls", "run_page_test.py")))

    def test_what_it_leaves_running_is_ended(self):
        with tempfile.NamedTemporaryFile("r") as file:
            self.assertEqual(0, wrong_in(block(f"sleep 1000 & echo $! >{file.name}")))
            status = pathlib.Path("/proc", file.read().strip(), "status")
        with contextlib.suppress(OSError):  # it is gone, or nobody has waited for it yet
            self.assertIn("State:\tZ", status.read_text())


if __name__ == "__main__":
    unittest.main()
