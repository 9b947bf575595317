#!/usr/bin/env python3
"""Shows check_names.py alerts, boards and pages that are wrong: it must find each fault.

    check_names_test.py EXPOSITION     the program that prints all metrics of the library
"""

import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import alerts  # noqa: E402
import board  # noqa: E402
import check_names  # noqa: E402
import documented  # noqa: E402
import expressions  # noqa: E402
import promql  # noqa: E402

PAGE = (check_names.ROOT / "docs/metrics.md").read_text(encoding="utf-8")
METRICS = expressions.Metrics(PAGE)
BOARD = json.loads((check_names.PLACE / "holdfast-dashboard.json").read_text(encoding="utf-8"))


class Expressions(unittest.TestCase):
    def wrong(self, expression, *texts):
        return list(expressions.complaints(METRICS, expression, texts))

    def test_are_right(self):
        for one in ('sum by (kind) (rate(holdfast_losses_total{job=~"$job"}[5m])) > 0',
                    "holdfast_server_up offset 5m unless on (server) holdfast_server_waiters == 0",
                    'histogram_quantile(0.9, sum by (le) (rate(holdfast_hold_seconds_bucket[5m])))',
                    'holdfast_server_locks{state=~"held|shut"} or vector(0)',
                    '{__name__=~"holdfast_server_.+",server!="a}b"}',
                    'sum(ALERTS{alertstate="firing"}) * 2e3 or vector(0)'):
            self.assertEqual(self.wrong(one), [], one)

    def test_with_a_name_that_nobody_prints(self):
        for one in ("holdfast_lost_total", "sum(rate(holdfast_loses_total[5m])) > 1",
                    "holdfast_hold_seconds > 1",  # a histogram has no such sample
                    'holdfast_server_up and {__name__=~"holdfast_servers_.+"}'):
            self.assertEqual(len(self.wrong(one)), 1, one)

    def test_with_a_label_that_the_metric_has_not(self):
        for one in ('holdfast_server_up{name="a"}', "sum by (server) (holdfast_held)",
                    "max without (host) (holdfast_held)", 'holdfast_hold_seconds_sum{le="1"}',
                    "holdfast_held and on (election) holdfast_waiters"):
            self.assertEqual(len(self.wrong(one)), 1, one)

    def test_with_a_value_that_the_label_never_has(self):
        for one in ('holdfast_server_locks{state="open"}',
                    'holdfast_acquire_seconds_count{outcome=~"grant|deny"}'):
            self.assertEqual(len(self.wrong(one)), 1, one)

    def test_whose_text_shows_a_label_that_is_gone(self):
        self.assertEqual(self.wrong("sum by (kind) (holdfast_held)", "{{kind}}"), [])
        self.assertEqual(len(self.wrong("sum by (kind) (holdfast_held)", "{{job}}")), 1)
        self.assertEqual(len(self.wrong("sum without (job) (holdfast_held)", "{{ $labels.job }}")),
                         1)

    def test_are_taken_apart(self):
        found = promql.used('a{b="}",c=~"d"} / on (e, f) group_left (g) h[5m:1m] offset 3m')
        self.assertEqual([one.name for one in found.selectors], ["a", "h"])
        self.assertEqual(found.selectors[0].matchers, (("b", "=", "}"), ("c", "=~", "d")))
        self.assertEqual((found.labels["on"], found.labels["group_left"]), ({"e", "f"}, {"g"}))


class Board(unittest.TestCase):
    def setUp(self):
        self.board = copy.deepcopy(BOARD)
        self.panels = [panel for panel in self.board["panels"] if panel["type"] != "row"]

    def wrong(self):
        return list(board.complaints(METRICS, json.dumps(self.board)))

    def test_is_right(self):
        self.assertEqual(self.wrong(), [])

    def test_with_a_broken_name_in_any_panel(self):
        for panel in self.panels:
            for target in panel["targets"]:
                right = target["expr"]
                target["expr"] = right.replace("holdfast_", "holdfest_").replace("ALERTS", "ALARMS")
                self.assertTrue(any("no program prints" in one for one in self.wrong()), right)
                target["expr"] = right

    def test_that_does_not_show_a_metric(self):
        self.board["panels"] = [panel for panel in self.board["panels"]
                                if "holdfast_hold_seconds" not in json.dumps(panel)]
        self.assertEqual(self.wrong(), ["holdfast_hold_seconds is shown nowhere"])

    def test_with_a_variable_that_is_none(self):
        self.panels[0]["targets"][0]["expr"] = 'max(holdfast_server_up{server=~"$servers"})'
        self.assertIn("`$servers` is no variable", self.wrong())

    def test_with_what_needs_a_plugin_or_its_own_data_source(self):
        self.panels[1]["type"] = "flow-panel"
        self.panels[2]["targets"][0]["datasource"] = {"type": "prometheus", "uid": "P1"}
        self.assertEqual(len(self.wrong()), 2)

    def test_whose_panels_overlap(self):
        self.panels[1]["gridPos"] = self.panels[0]["gridPos"]
        self.panels[1]["id"] = self.panels[0]["id"]
        self.assertEqual(len(self.wrong()), 2)


class Pages(unittest.TestCase):
    def setUp(self):
        self.exposition = subprocess.run([sys.argv[1]], check=True, capture_output=True,
                                         text=True).stdout

    def wrong(self, page, exposition=None):
        return list(check_names.differences(page, [documented.LIBRARY],
                                            exposition or self.exposition))

    def test_are_right(self):
        self.assertEqual(self.wrong(PAGE), [])

    def test_that_list_too_little_or_too_much(self):
        for right, broken in (("`holdfast_held` | gauge", "`holdfast_holds` | gauge"),
                              ("`holdfast_held` | gauge", "`holdfast_held` | counter"),
                              ("`errc`, `kind` |", "`kind` |"),
                              ("`kind`, `outcome` |", "`kind`, `outcome`, `host` |"),
                              ("`granted`, `busy`", "`busy`")):
            self.assertIn(right, PAGE)
            self.assertTrue(self.wrong(PAGE.replace(right, broken)), broken)

    def test_when_a_program_prints_more(self):
        more = "# TYPE holdfast_new gauge\nholdfast_new 1\n"
        self.assertEqual(self.wrong(PAGE, self.exposition + more),
                         ["holdfast_new is printed alone"])


@unittest.skipUnless(alerts.can_read(), "python3-yaml is not installed")
class Alerts(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="holdfast-alerts-")
        self.addCleanup(made.cleanup)
        self.place = pathlib.Path(made.name)
        for name in ("holdfast-alerts.yml", "holdfast-alerts.test.yml"):
            shutil.copy(check_names.PLACE / name, self.place)

    def wrong(self):
        return list(alerts.complaints(METRICS, self.place, check_names.ROOT / "docs"))

    def replaced(self, file, right, broken):
        text = (self.place / file).read_text(encoding="utf-8")
        self.assertIn(right, text)
        (self.place / file).write_text(text.replace(right, broken, 1), encoding="utf-8")
        found = self.wrong()
        (self.place / file).write_text(text, encoding="utf-8")
        return found

    def test_are_right(self):
        self.assertEqual(self.wrong(), [])

    def test_with_faults_in_their_rules(self):
        for right, broken in (("(holdfast_server_wait_cycles)", "(holdfast_wait_cycles)"),
                              ("$labels.election", "$labels.name"),
                              ("#a-lease-was-lost", "#a-lease-is-lost"),
                              ("severity: warning", "severity: bad"),
                              ("summary:", "summery:"),
                              ("alert: HoldfastServerDown", "alert: HoldfastServerAway")):
            self.assertTrue(self.replaced("holdfast-alerts.yml", right, broken), broken)

    def test_that_are_not_tested(self):
        found = self.replaced("holdfast-alerts.test.yml",
                              "- {alertname: HoldfastTwoLeaders, eval_time: 21m}", "")
        self.assertEqual(found,
                         ["HoldfastTwoLeaders: no test in which it is silent, fires and ends"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
