"""A Chromium of one test's own, without a window, driven by WebDriver's plain HTTP."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")

HURRY = 10  # see hurry()

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Down": "\ue015", "Up": "\ue013",
        "Home": "\ue011", "End": "\ue010"}

# It speaks to nobody but the page: no updates, no tips, no look at what there is to fill in.
ARGUMENTS = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update",
             "--disable-default-apps", "--disable-dev-shm-usage", "--no-proxy-server"]


def missing():
    """What a test lacks to run, or an empty text."""
    lacking = [name for name, found in (("chromium", CHROMIUM), ("chromium-driver", DRIVER))
               if not found]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


def until(condition, what, seconds=20):
    """Asks for what is true again and again; the test fails when it does not become so."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds}s: {what}")
        time.sleep(0.02)


class Browser:
    """Use it with `with`. It ends its driver, with which Chromium ends."""

    def __init__(self, width=1200, height=800):
        self.folder = tempfile.mkdtemp(prefix="holdfast-browser-")
        self.driver = None
        self.session = None
        try:
            self._start(width, height)
        except BaseException:
            self.close()
            raise

    def _start(self, width, height):
        self.driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True, env={**os.environ, "HOME": self.folder})
        port = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.rstrip(".\n").split()[-1]
                break
        if port is None:
            raise RuntimeError("chromedriver did not start")
        self.base = f"http://127.0.0.1:{port}"
        arguments = [*ARGUMENTS, f"--user-data-dir={self.folder}/profile",
                     f"--window-size={width},{height}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        wanted = {"browserName": "chrome",
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                  "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments}}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{answer['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self._call("DELETE", self.session)
        finally:
            if self.driver:
                os.killpg(self.driver.pid, signal.SIGTERM)
                self.driver.wait()
                self.driver.stdout.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def open(self, url):
        self._call("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        """What the script returns; it may return a promise."""
        return self._call("POST", self.session + "/execute/sync",
                          {"script": script, "args": list(arguments)})

    def type(self, *keys):
        """Types texts and the keys of KEYS, wherever the focus is."""
        typed = "".join(KEYS.get(key, key) for key in keys)
        actions = [{"type": kind, "value": one} for one in typed for kind in ("keyDown", "keyUp")]
        self._call("POST", self.session + "/actions",
                   {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def developer(self, command, **parameters):
        """A command of Chromium's own protocol."""
        return self._call("POST", self.session + "/goog/cdp/execute",
                          {"cmd": command, "params": parameters})

    def hurry(self):
        """Lets a page wait a tenth of the time it means to, from the next page on: its next look at
        the server comes after a fifth of a second instead of two seconds."""
        self.developer("Page.addScriptToEvaluateOnNewDocument", source=f"""
            const real = setTimeout;
            window.setTimeout = (what, ms) => real(what, ms / {HURRY});""")

    def prefers(self, scheme):
        self.developer("Emulation.setEmulatedMedia",
                       features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width, height):
        self.developer("Emulation.setDeviceMetricsOverride", width=width, height=height,
                       deviceScaleFactor=1, mobile=width < 600)

    def log(self, kind):
        return self._call("POST", self.session + "/se/log", {"type": kind})

    def complaints(self):
        """Errors and warnings of the console, with what the policy for content has refused."""
        return [one["message"] for one in self.log("browser") if one["level"] != "INFO"]

    def requested(self):
        """The addresses of all requests since the last call."""
        events = [json.loads(one["message"])["message"] for one in self.log("performance")]
        return [event["params"]["request"]["url"] for event in events
                if event["method"] == "Network.requestWillBeSent"]

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", self.session + "/screenshot")))
