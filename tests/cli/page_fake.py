"""Stands in for `holdfast serve` where a test wants more locks than it can take, or trouble."""

import http.server
import json
import pathlib
import threading
import time
import urllib.parse

PAGE = pathlib.Path(__file__).resolve().parents[2] / "cli" / "page"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
          "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
CLOCK_AHEAD_MS = 5 * 3600 * 1000  # of the Redis server, before that of the browser


def client(i):
    return {"id": f"c-{i}", "host": "<b>host</b>", "pid": 1000 + i, "program": f"program-{i}",
            "version": "1.0"}


def now_ms():
    return int(time.time() * 1000) + CLOCK_AHEAD_MS


def lock(i):
    return {"name": f"lock:{i:06}", "name_url": f"lock%3A{i:06}", "state": "held", "kind": "mutex",
            "dialect": "holdfast", "holding": 1, "waiting": 0, "permits": None, "count": 0,
            "owner": client(i % 50), "token": f"{i}.0", "since_ms": now_ms() - 3_600_000,
            "remaining_ms": 25_500, "oldest_wait_ms": None, "detail": ""}


class Fake:
    """`servers` and `waits` are what is answered; `asked` counts requests by their path."""

    def __init__(self, locks):
        self.locks = locks
        self.server = {"name": "default", "address": "redis://a", "up": True, "error": None,
                       "locks_complete": True, "clients_complete": True, "unseen": []}
        self.waits = {"nodes": [], "edges": [], "cycles": [], "complete": True}
        self.asked = []
        self.wants_log_in = False  # as a proxy before it may
        self.port = 0
        self.begin()

    def begin(self):
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                fake.answer(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.http.handle_error = lambda *_: None  # the page takes back what it needs no more
        self.port = self.http.server_port
        self.url = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def end(self):
        self.http.shutdown()
        self.http.server_close()

    def answer(self, request):
        url = urllib.parse.urlsplit(request.path)
        self.asked.append(url.path)
        status, kind, body = self.content(url.path, dict(urllib.parse.parse_qsl(url.query)))
        if self.wants_log_in:
            status = 302
        request.send_response(status)
        if status == 302:
            request.send_header("Location", "/log-in")
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))),
                            ("Content-Security-Policy", POLICY), ("Cache-Control", "no-store"),
                            ("X-Content-Type-Options", "nosniff")):
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def content(self, path, query):
        file = PAGE / (path[1:] or "index.html")
        if file.parent == PAGE and file.suffix in TYPES and file.is_file():
            return 200, TYPES[file.suffix], file.read_bytes()
        found = self.api(path.removeprefix("/api/v1/"), query)
        status = 200 if found is not None else 404
        body = found if found is not None else {"title": "Not Found", "status": 404}
        return status, "application/json", json.dumps(body).encode()

    def api(self, path, query):
        about = {"server": "default", "now_ms": now_ms(), "age_ms": 0}
        if path == "servers":
            return {"servers": [{**self.server, "looked_ms": now_ms(), "age_ms": 0,
                                 "now_ms": now_ms(), "locks": self.locks}]}
        if path == "locks":
            size, page = int(query["per_page"]), int(query["page"])
            some = range(self.locks)[(page - 1) * size:page * size]
            return {**about, "complete": True, "total": self.locks, "page": page,
                    "per_page": size, "locks": [lock(i) for i in some]}
        if path == "waits":
            return {**about, **self.waits}
        return None
