#!/usr/bin/env python3
"""What tools/topology_runs.py tells of test programs, and when it fails.

Programs of ours stand in for them: they write the report that GoogleTest would write.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60  # s
PASSED = ""
FAILED = '<failure message="no" type=""/>'


def skipped(reason):
    return f'<skipped message="/somewhere/a_test.cpp:54&#x0A;{reason}"/>'


def measured(name, value):
    return f'<properties><property name="{name}" value="{value}"/></properties>'


NO_ROOT = skipped("network namespaces need root")
NO_SERVER = skipped("valkey-server is not installed: install it.")


class TopologyRuns(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="a place ")
        self.addCleanup(made.cleanup)
        self.root = pathlib.Path(made.name)
        self.kept = self.root / "kept"

    def program(self, name, text):
        """Its first argument names the report."""
        path = self.root / name
        path.write_text(f'#!/usr/bin/env bash\nreport="${{1#--gtest_output=xml:}}"\n{text}\n')
        path.chmod(0o755)
        return path

    def reports(self, name, *results, then="true"):
        """A program with the tests A.0, A.1, ..., of these results."""
        cases = "".join(f'<testcase name="{i}" classname="A" status="run">{result}</testcase>'
                        for i, result in enumerate(results))
        report = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
        return self.program(name, f"echo said\ncat >\"$report\" <<'END'\n{report}\nEND\n{then}")

    def run_them(self, *programs, seconds="0", limit="60", code=0):
        """What it printed: of the tests, and what it complained of."""
        done = subprocess.run(
            [sys.executable, ROOT / "tools/topology_runs.py", "--limit", limit, seconds,
             self.kept, *programs], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def complaint_of(self, program, *more, **how):
        """What it says of the program, of which it keeps the output."""
        _, said = self.run_them(program, *more, code=1, **how)
        file, = self.kept.iterdir()
        self.assertTrue(said.startswith(f"{program} ") and said.endswith(f": {file}\n"), said)
        self.assertEqual(file.read_text(), "said\n")
        return said.removeprefix(f"{program} ").removesuffix(f": {file}\n")

    def test_each_passes_once_at_least(self):
        printed, said = self.run_them(self.reports("a", PASSED, measured("ms", 7)))
        self.assertEqual(printed, "A.0  1 passed\nA.1  1 passed  ms 7 / 7 / 7\n")
        self.assertEqual(said, "")
        self.assertFalse(self.kept.exists())

    def test_what_they_measure(self):
        values = self.root / "values"
        values.write_text("9\n4\n5\n")
        case = f'<testcase name="0" classname="A" status="run">{measured("ms", "%s")}</testcase>'
        one = self.program("a", f"""exec 9<"{self.root}"; flock 9
            printf '<testsuite>{case}</testsuite>' "$(head -1 "{values}")" >"$report"
            sed -i 1d "{values}" """)
        printed, _ = self.run_them(one, one, one)
        self.assertEqual(printed, "A.0  3 passed  ms 4 / 5 / 9\n")

    def test_they_take_turns_until_the_time_is_up(self):
        printed, _ = self.run_them(self.reports("a", PASSED), seconds="2")
        self.assertGreater(int(printed.split()[1]), 2)

    def test_one_that_fails(self):
        program = self.reports("a", PASSED, FAILED, then="exit 1")
        self.assertEqual(self.complaint_of(program), "failed (1)")
        printed, _ = self.run_them(program, code=1)
        self.assertEqual(printed, "A.0  1 passed\nA.1  1 failed\n")

    def test_one_that_crashes_before_it_reports(self):
        program = self.program("a", "echo said; kill -SEGV $$")
        self.assertEqual(self.complaint_of(program, self.reports("b", PASSED)), "died of SIGSEGV")

    def test_one_that_hangs(self):
        program = self.program("a", "echo said; exec sleep 1000")
        self.assertEqual(self.complaint_of(program, self.reports("b", PASSED), limit="0.5"),
                         "was killed after 0.5 s")

    def test_one_that_is_not_there(self):
        _, said = self.run_them(self.root / "a", self.reports("b", PASSED), code=1)
        self.assertIn("a cannot be started, No such file", said)

    def test_one_without_a_test(self):
        program = self.reports("a")
        self.assertEqual(self.complaint_of(program, self.reports("b", PASSED)), "has run no test")

    def test_why_tests_are_skipped_is_told_once(self):
        printed, said = self.run_them(self.reports("a", PASSED, NO_SERVER),
                                      self.reports("b", PASSED, NO_SERVER, NO_ROOT))
        self.assertEqual(printed, "A.0  2 passed\nA.1  2 skipped\nA.2  1 skipped\n"
                         "skipped 1 times: network namespaces need root\n"
                         "skipped 2 times: valkey-server is not installed: install it.\n")
        self.assertEqual(said, "")

    def test_one_that_skips_all_fails(self):
        program = self.reports("a", NO_SERVER, NO_ROOT)
        self.assertEqual(self.complaint_of(program, self.reports("b", PASSED)),
                         "has skipped all its tests")

    def test_one_that_skips_all_may_where_networks_cannot_be_divided(self):
        no_ip = skipped("there are no network namespaces here: ip: No such file")
        printed, said = self.run_them(self.reports("a", NO_ROOT, no_ip), self.reports("b", PASSED))
        self.assertIn("skipped 1 times: network namespaces need root\n", printed)
        self.assertEqual(said, "")

    def test_a_run_in_which_all_is_skipped_fails(self):
        printed, said = self.run_them(self.reports("a", NO_ROOT), code=1)
        self.assertEqual(printed, "A.0  1 skipped\n"
                         "skipped 1 times: network namespaces need root\n")
        self.assertEqual(said, "nothing was run\n")


if __name__ == "__main__":
    unittest.main()
