#!/usr/bin/env python3
"""The page of `holdfast serve` in a browser, with real locks on a real server.

serve_page_test.py PROGRAM: skipped without chromium.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.dont_write_bytecode = True

import browser  # noqa: E402

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
TURNED = "pay\u202eroll\n\x1b[31m"
NO_TEXT = b"bytes \xff"
NAMES = ["orders:1", "orders:2", "nightly", HOSTILE, TURNED, NO_TEXT, "a/b?c=d#e%41"]

HASHES = ["#/lock/", "#/lock/%", "#/lock/../../x", "#/lock/..%2F..", "#/lock/%2e%2e",
          "#/lock/<script>", "#/lock/__proto__", "#/constructor", "#/client/%FF",
          "#/locks?contains=%FF%00&sort=<b>&order=up&page=-1", "#/locks?server=<img src=x>",
          "#javascript:alert(1)"]


class Servers:
    """A private server, clients that hold and want locks on it, and `holdfast serve`."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="holdfast-page-")
        self.url = f"unix://{self.folder}/socket"
        self.started = []

    def begin(self):
        self._start("redis-server", "--port", "0", "--unixsocket", f"{self.folder}/socket",
                    "--save", "", "--dir", self.folder)
        browser.until(lambda: os.path.exists(f"{self.folder}/socket"), "a server")
        self.holders = [self._holdfast("run", "--", name, "--", "sh", "-c", "echo held; exec cat")
                        for name in NAMES]
        for one in self.holders:
            assert one.stdout.readline() == b"held\n", "a holder does not hold"
        self._holdfast("run", "--", "orders:1", "--", "true")
        self.serve = self._holdfast("serve", "--listen", "0", "--refresh", "200ms")
        for line in self.serve.stderr:
            before, found, address = line.decode().partition("listens at ")
            if found:
                return address.strip().rstrip("/") + "/"
        raise AssertionError("`holdfast serve` did not say where it listens")

    def _start(self, *words):
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.started.append(process)
        return process

    def _holdfast(self, *words):
        return self._start(self.program, "--url", self.url, *words)

    def end(self):
        for one in reversed(self.started):
            one.terminate()
        for one in reversed(self.started):
            one.wait()
            for pipe in (one.stdin, one.stdout, one.stderr):
                pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = Servers(cls.program)
        cls.addClassCleanup(cls.servers.end)
        cls.url = cls.servers.begin()
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.browser.hurry()

    def setUp(self):
        self.open("")
        self.see("nightly")

    def open(self, route):
        self.browser.open("about:blank")
        self.browser.complaints()
        self.browser.requested()
        self.browser.open(self.url + route)

    def go(self, route):
        """To another view of the page that is open."""
        self.browser.run("location.hash = arguments[0]", route)

    def tearDown(self):
        self.assertEqual([], self.browser.complaints())
        self.assertEqual([], [url for url in self.browser.requested() if url.startswith("http")
                              and not url.startswith(self.url)])
        self.assertEqual(0, self.browser.run("return document.querySelectorAll('main img').length"))

    def see(self, text, where="main"):
        """Waits for an element whose text has this in it."""
        has = f"""return [...document.querySelectorAll({where!r})].some(
            (one) => one.textContent.includes(arguments[0]))"""
        browser.until(lambda: self.browser.run(has, text), f"{text!r} in {where}")

    def names(self):
        return self.browser.run(
            "return [...document.querySelectorAll('td.is-lock')].map((one) => one.textContent)")

    def focused(self):
        return self.browser.run("return document.activeElement.textContent")

    def background(self):
        return self.browser.run("return getComputedStyle(document.body).backgroundColor")

    def test_lists_what_is_held_and_nothing_in_a_name_is_markup(self):
        self.assertEqual(len(NAMES), len(self.names()))
        self.assertIn(HOSTILE, self.names())
        self.assertIn("pay\\u{202e}roll\\n\\x1b[31m", self.names())
        self.see("\\u{202e}", ".odd")
        self.see("Locks · Holdfast", "title")
        row = self.browser.run("return [...document.querySelectorAll('tbody tr')].find((one) =>"
                               " one.textContent.includes('orders:1')).textContent")
        self.assertRegex(row, r"held.*mutex.*holdfast on .*\d+s")

    def test_searches(self):
        self.browser.type("/", "orders")
        browser.until(lambda: self.names() == ["orders:1", "orders:2"], "two locks")
        self.see("2 locks found", ".summary")
        found = self.browser.run("return location.hash")
        self.open(found)
        browser.until(lambda: self.names() == ["orders:1", "orders:2"], "the same by a link")
        self.browser.run("document.querySelector('input[type=checkbox]').click()")
        browser.until(lambda: self.names() == ["orders:1"], "the one that is waited for")

    def test_shows_one_lock_by_a_link(self):
        self.browser.run("[...document.querySelectorAll('td a')].find((one) =>"
                         " one.textContent === 'orders:1').click()")
        self.see("orders:1", "h1")
        self.see(str(self.servers.holders[0].pid), ".facts")
        self.see("Queue", "caption")
        for name in NAMES:
            bytes_of = name if isinstance(name, bytes) else name.encode()
            self.go("#/lock/" + urllib.parse.quote(bytes_of, safe=""))
            self.see("held", ".facts .state")
        self.open("#/lock/nobody")
        self.see("free", ".facts .state")
        self.browser.type("Escape")
        self.see("nightly", "td")

    def test_keys_lead_through_the_list_and_to_a_lock(self):
        names = self.names()
        for key, expected in (("j", 0), ("j", 1), ("Down", 2), ("k", 1), ("End", -1), ("Up", -2),
                              ("Home", 0)):
            self.browser.type(key)
            self.assertEqual(names[expected], self.focused(), key)
        self.browser.type("Enter")
        self.see(names[0], "h1")
        self.browser.type("Escape")
        self.see("nightly", "td")
        self.browser.type("?")
        self.assertTrue(self.browser.run("return document.querySelector('#help').open"))
        self.browser.type("Escape")
        self.browser.type("2")
        self.see("Process", "th")
        self.see(str(self.servers.holders[0].pid), "td")
        self.browser.type("3")
        self.see("Which client waits for which", "h1")

    def test_is_light_or_dark_as_the_system_until_it_is_chosen(self):
        self.browser.prefers("light")
        light = self.background()
        self.browser.prefers("dark")
        dark = self.background()
        self.assertNotEqual(light, dark)
        self.browser.type("t")
        self.assertEqual(light, self.background())
        self.open("")
        self.assertEqual(light, self.background())
        self.browser.type("tt")
        self.assertEqual(dark, self.background())

    def test_fits_a_telephone(self):
        self.browser.size(390, 844)
        self.see("nightly", "td")
        for route in ("#/locks", "#/lock/nightly", "#/clients", "#/waits"):
            self.go(route)
            self.see("nightly" if route != "#/waits" else "", "main > section")
            self.assertEqual([], self.browser.run("""
                return [...document.querySelectorAll('html, section, .scroller')].filter(
                  (one) => one.scrollWidth > one.clientWidth).map((one) => one.className)"""),
                             route)
        self.browser.size(1200, 800)

    def test_an_address_from_strangers_does_nothing(self):
        for route in HASHES:
            self.go(route)
            self.see("", "main > section")
        self.go("#/locks")
        self.see("nightly", "td")
        asked = [urllib.parse.urlsplit(url).path for url in self.browser.requested()]
        self.assertEqual([], [path for path in asked if path.startswith("/api")
                              and not path.startswith("/api/v1/")])
        # Of what was refused, the browser tells its console.
        self.assertFalse([one for one in self.browser.complaints() if "status of 4" not in one])

    def test_a_lock_that_is_released_leaves_the_list(self):
        nightly = NAMES.index("nightly")
        self.servers.holders[nightly].stdin.close()
        browser.until(lambda: "nightly" not in self.names(), "a list without it")
        self.servers.holders[nightly] = self.servers._holdfast(
            "run", "--", "nightly", "--", "sh", "-c", "echo held; exec cat")
        self.see("nightly", "td")


if __name__ == "__main__":
    missing = browser.missing()
    if missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    Page.program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
