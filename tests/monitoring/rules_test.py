#!/usr/bin/env python3
"""Has promtool check the alerts, run their tests, and read every expression of the board."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / "packaging/monitoring"


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], cwd=PLACE, capture_output=True, text=True,
                          timeout=100, check=False)
    return done.returncode, done.stdout + done.stderr


def filled_in(expression):
    """With values in the place of Grafana's variables."""
    return re.sub(r"\$\w+", ".*", re.sub(r"\$__\w+", "5m", expression))


class Rules(unittest.TestCase):
    def test_are_rules(self):
        code, said = promtool("check", "rules", "holdfast-alerts.yml")
        self.assertEqual(code, 0, said)

    def test_fire_and_end_as_their_tests_say(self):
        code, said = promtool("test", "rules", "holdfast-alerts.test.yml")
        self.assertEqual(code, 0, said)

    def test_have_tests_that_can_fail(self):
        with tempfile.TemporaryDirectory(prefix="holdfast-rules-") as made:
            for file in PLACE.glob("holdfast-alerts*.yml"):
                shutil.copy(file, made)
            rules = pathlib.Path(made, "holdfast-alerts.yml")
            rules.write_text(rules.read_text().replace("_leader) > 1", "_leader) > 2"))
            code, said = promtool("test", "rules", os.path.join(made, "holdfast-alerts.test.yml"))
            self.assertNotEqual(code, 0, said)
            self.assertIn("HoldfastTwoLeaders", said)

    def test_are_found_by_the_example_of_a_configuration(self):
        code, said = promtool("check", "config", "prometheus.yml")
        self.assertEqual(code, 0, said)
        self.assertIn("1 rule files found", said)

    def test_of_the_board_can_be_read(self):
        board = json.loads((PLACE / "holdfast-dashboard.json").read_text(encoding="utf-8"))
        expressions = [filled_in(target["expr"]) for panel in board["panels"]
                       for target in panel.get("targets", [])]
        # JSON is YAML, too.
        rules = [{"record": f"panel:{number}", "expr": one}
                 for number, one in enumerate(expressions)]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump({"groups": [{"name": "board", "rules": rules}]}, file)
            file.flush()
            code, said = promtool("check", "rules", file.name)
        self.assertEqual(code, 0, said)
        self.assertIn(f"{len(rules)} rules found", said)


if __name__ == "__main__":
    if shutil.which("promtool") is None:
        print("skipped: promtool is not installed (scripts/install-packages check)")
        sys.exit(77)
    unittest.main()
