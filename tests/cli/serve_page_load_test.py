#!/usr/bin/env python3
"""The page of `holdfast serve` with 100,000 locks, with deadlocks, and when nobody answers.

A program that stands in for `serve` answers (page_fake.py). Skipped without chromium.
"""

import sys
import unittest

sys.dont_write_bytecode = True

import browser  # noqa: E402
import page_fake  # noqa: E402

LOCKS = 100_000
FRAMES = 30

# Scrolls so far in each of so many frames.
SCROLL = """return new Promise((done) => {
  const scroller = document.querySelector('.scroller');
  let left = arguments[1];
  const step = () => {
    scroller.scrollTop += arguments[0];
    if (--left) requestAnimationFrame(step);
    else done();
  };
  requestAnimationFrame(step);
});"""


class Load(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fake = page_fake.Fake(LOCKS)
        cls.addClassCleanup(lambda: cls.fake.end())
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.browser.hurry()

    def setUp(self):
        self.open("")

    def open(self, route):
        self.browser.open("about:blank")
        self.browser.open(self.fake.url + route)
        self.until("document.querySelector('main > section') !== null")

    def until(self, condition):
        return browser.until(lambda: self.browser.run(f"return {condition}"), condition)

    def see(self, text, where="main"):
        self.until(f"document.querySelector('{where}')?.textContent.includes({text!r})")

    def test_has_rows_for_what_is_in_sight_only(self):
        self.see("lock:000010")
        self.assertEqual("100001", self.browser.run(
            "return document.querySelector('table').getAttribute('aria-rowcount')"))
        self.browser.run("document.querySelector('.scroller').scrollTop = 1e9")
        self.see("lock:099999")
        self.assertLess(
            self.browser.run("return document.querySelectorAll('tbody tr').length"), 80)
        self.browser.type("Home")
        self.see("lock:000000")
        self.browser.type("End")
        self.see("lock:099999", ":focus")

    def work_ms(self):
        """Processor time of the page's thread: how long a frame takes also depends on others."""
        metrics = self.browser.developer("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration") * 1000

    def test_scrolls_without_stutter(self):
        self.see("lock:000010")
        self.browser.developer("Performance.enable", timeDomain="threadTicks")
        self.fake.asked.clear()
        for step in (20, 3000):
            before = self.work_ms()
            self.browser.run(SCROLL, step, FRAMES)
            self.assertLess((self.work_ms() - before) / FRAMES, 1000 / 60, f"{step} pixels each")
        pages = sum(path == "/api/v1/locks" for path in self.fake.asked)
        self.assertLess(pages, 120, "pages that were scrolled past are not all fetched")

    def test_counts_down_by_the_clock_of_the_redis_server(self):
        self.see("1h 0m")
        self.see("25s")

    def test_names_a_deadlock_in_words_and_draws_it(self):
        ids = ["c-1", "c-2", "c-3"]
        names = {"nodes": [page_fake.client(i) for i in (1, 2, 3)], "complete": True}
        edges = [{"from": ids[i], "to": ids[(i + 1) % 3], "lock": f"<i>{i}"} for i in range(3)]
        self.fake.waits = {**names, "edges": edges, "cycles": [ids]}
        self.open("#/waits")
        self.see("Deadlock 1 of 1: a cycle of 3 clients")
        self.see("program-3 on <b>host</b> 1003 waits for <i>2, held by program-1", "main ol")
        self.assertEqual(3, self.browser.run(
            "return document.querySelectorAll('svg .box.is-cycle').length"))
        self.assertEqual(0, self.browser.run("return document.querySelectorAll('main i').length"))

    def test_draws_any_waits(self):
        edges = [(a, b) for a in range(12) for b in range(12) if (a * 7 + b * 5) % 11 < 2]
        edges += [(a, 40) for a in range(50, 90)] + [(40, 41)]
        known = {i for edge in edges for i in edge}
        self.fake.waits = {"nodes": [page_fake.client(i) for i in known if i != 5],
                           "edges": [{"from": f"c-{a}", "to": f"c-{b}", "lock": "x"}
                                     for a, b in edges], "cycles": [], "complete": False}
        self.open("#/waits")
        self.see("40 clients", "svg")
        self.see("There are more waits than are shown here.")
        outside = """const all = document.querySelector('svg').getBoundingClientRect();
            return [...document.querySelectorAll('svg rect')].filter((box) => {
              const one = box.getBoundingClientRect();
              return one.left < all.left || one.right > all.right || one.bottom > all.bottom;
            }).length"""
        self.assertEqual(0, self.browser.run(outside))

    def test_draws_the_longest_chain_without_room_for_each_line(self):
        edges = [(i, i + 1) for i in range(499)] + [(i, 499) for i in range(498)]
        self.fake.waits = {"nodes": [page_fake.client(i) for i in range(500)],
                           "edges": [{"from": f"c-{a}", "to": f"c-{b}", "lock": "x"}
                                     for a, b in edges], "cycles": [], "complete": True}
        self.open("#/waits")
        self.see("program-499", "svg")
        # The last client has a place for each of its 498 lines.
        self.assertLess(self.browser.run("return document.querySelector('svg').clientHeight"),
                        500 * 20)

    def test_says_that_a_server_is_down_and_what_is_missing(self):
        normal = dict(self.fake.server)
        self.fake.server.update(up=False, error="connection <refused>")
        self.see("Server default is down: connection <refused>.", "#banner")
        self.fake.server.update(up=True, locks_complete=False,
                                unseen=[{"name": "a", "server": "node-2", "why": "no answer"}])
        self.see("The list of locks of server default is not complete.", "#banner")
        self.see("a on node-2: no answer", "#banner")
        self.fake.server.update(normal)
        self.until("document.querySelector('#banner').textContent === ''")

    def test_says_that_a_proxy_wants_a_log_in(self):
        self.see("lock:000010")
        self.fake.wants_log_in = True
        self.see("If a proxy wants a log-in, load this page again.", "#banner")
        self.fake.wants_log_in = False
        self.until("document.querySelector('#banner').textContent === ''")

    def test_goes_on_by_itself_when_serve_is_back(self):
        self.see("lock:000010")
        self.fake.end()
        self.see("holdfast serve cannot be reached.", "#banner")
        self.see("lock:000010")
        self.fake.begin()
        self.until("document.querySelector('#banner').textContent === ''")
        # The browser itself tells its console of requests that failed.
        self.assertFalse([one for one in self.browser.complaints() if "net::ERR" not in one])

    def looks_within(self, ms):
        before = len(self.fake.asked)
        self.browser.run("return new Promise((done) => setTimeout(done, arguments[0]))",
                         ms * browser.HURRY)
        return len(self.fake.asked) - before

    def test_asks_for_nothing_while_paused_or_hidden(self):
        self.see("lock:000010")
        self.browser.type("p")
        self.until("document.querySelector('#freshness').textContent.startsWith('paused')")
        self.assertLess(self.looks_within(300), 2, "one may have been under way")
        self.browser.type("p")
        self.assertGreater(self.looks_within(300), 1)
        hide = """Object.defineProperty(document, 'hidden', {value: arguments[0],
            configurable: true}); document.dispatchEvent(new Event('visibilitychange'))"""
        self.browser.run(hide, True)
        self.assertLess(self.looks_within(300), 2, "one may have been under way")
        self.browser.run(hide, False)
        self.assertGreater(self.looks_within(300), 1)


if __name__ == "__main__":
    missing = browser.missing()
    if missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    unittest.main()
