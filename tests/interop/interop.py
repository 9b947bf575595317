#!/usr/bin/env python3
"""Holdfast's dialects against the real libraries; see README.md beside this file.

interop.py DRIVER... : each is DIALECT=COMMAND, and holdfast=COMMAND and status=COMMAND besides.
"""

import concurrent.futures
import contextlib
import dataclasses
import json
import os
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import differential
import latches
import order
import semaphores
import sharing
import snapshots
import votes
from checks import NOTICE, PATIENCE, WATCHDOG, Failed, expect

TOTAL, WORKERS = 2000, 4
ROUNDS = 20  # of measured wake-ups
CROSSINGS = 5  # of each worker
LEAST = 1500  # ms: lockAtLeastFor
AT_ONCE = 3  # pairs; most of the time they wait for leases to end


@dataclasses.dataclass
class Peer:
    """What the tests must know of a library. Words go to its drivers after host and port."""

    key: str = "{}"
    words: tuple = ()  # WATCHDOG stands for the lease of what is renewed
    status: str = ""  # how `holdfast status` names it, where that is not the dialect
    renews: bool = False
    reentrant: bool = False
    counts: bool = False  # its holds, in Redis
    fenced: bool = False  # its locks have tokens
    rests: bool = False  # stays locked for a while after its release
    several: bool = False  # two locks together, NAME.1 and NAME.2
    permits: bool = False  # a semaphore: NAME/N are N permits
    leases: bool = False  # of which each has a lease
    latch: bool = False  # nobody has it
    fair: bool = False  # who waits comes in in the order of arrival
    servers: int = 1  # that vote
    topology: str = ""  # cluster: the server is all of one; sentinel: one knows it
    binary: bool = False  # what its owners write are any bytes
    resources: bool = False  # may lock several at once, called NAME+OTHER
    modes: bool = False  # has readers, called NAME/read, and a writer, who enters only once here
    changes: bool = False  # a reader of theirs may become the writer, and back
    one_lease: bool = False  # all leases are WATCHDOG, and our driver is told so
    in_use: bool = False  # what stands there are the permits in use, not how many are free


def registry(status, mode):
    words = (WATCHDOG, mode)
    return Peer(key="interop:{}", words=words, status=status, renews=True, reentrant=True)


def node_redlock(servers, version):
    words = (WATCHDOG, version)
    renews = version == 5
    return Peer(words=words, status="redlock_node", renews=renews, servers=servers, resources=True)


PEERS = {
    "redis_py": Peer(),
    "python_redis_lock": Peer(key="lock:{}", words=(WATCHDOG,), renews=True),
    "go_zero": Peer(),
    "redisson": Peer(words=(WATCHDOG, "plain"), renews=True, reentrant=True, counts=True),
    "redisson_fair": Peer(
        words=(WATCHDOG, "fair"), status="redisson", renews=True, reentrant=True, counts=True,
        fair=True,
    ),
    "redisson_sentinel": Peer(
        words=(WATCHDOG, "plain", "sentinel"), status="redisson", renews=True, reentrant=True,
        counts=True, topology="sentinel",
    ),
    "redisson_cluster": Peer(
        words=(WATCHDOG, "plain", "cluster"), status="redisson", renews=True, reentrant=True,
        counts=True, topology="cluster",
    ),
    "redisson_fair_cluster": Peer(
        words=(WATCHDOG, "fair", "cluster"), status="redisson", renews=True, reentrant=True,
        counts=True, fair=True, topology="cluster",
    ),
    "redisson_rw_cluster": Peer(
        words=(WATCHDOG, "rw", "cluster"), status="redisson", renews=True, reentrant=True,
        counts=True, modes=True, topology="cluster",
    ),
    "redisson_spin": Peer(words=(WATCHDOG, "spin"), renews=True, reentrant=True, counts=True),
    "redisson_fenced": Peer(
        words=(WATCHDOG, "fenced"), renews=True, reentrant=True, counts=True, fenced=True
    ),
    "redisson_rw": Peer(
        words=(WATCHDOG, "rw"), status="redisson", renews=True, reentrant=True, counts=True,
        modes=True,
    ),
    "redisson_multi": Peer(
        key="{}.1", words=(WATCHDOG, "multi"), status="redisson", renews=True, reentrant=True,
        several=True,
    ),
    "redisson_semaphore": Peer(words=("semaphore",), permits=True),
    "redisson_expirable": Peer(words=("expirable",), permits=True, leases=True),
    "redisson_latch": Peer(latch=True),
    "redisson_semaphore_cluster": Peer(
        words=("semaphore", "cluster"), permits=True, topology="cluster"
    ),
    "redisson_expirable_cluster": Peer(
        words=("expirable", "cluster"), status="redisson_expirable", permits=True, leases=True,
        topology="cluster",
    ),
    "redisson_latch_cluster": Peer(words=("cluster",), latch=True, topology="cluster"),
    "spring_integration": registry("spring_integration:interop", "SPIN_LOCK"),
    "spring_integration_pub_sub": registry("spring_integration_pub_sub:interop", "PUB_SUB_LOCK"),
    "shedlock": Peer(key="job-lock:default:{}", rests=True),
    "symfony": Peer(modes=True, changes=True),
    "redis_semaphore": Peer(
        key="semaphore:{}", words=(WATCHDOG,), renews=True, permits=True, leases=True,
        one_lease=True, in_use=True, status=f"redis_semaphore:{WATCHDOG}ms",
    ),
    "rueidislock": Peer(key="rueidislock:0:{}", words=(WATCHDOG,), renews=True, binary=True),
    "redsync": Peer(status="redlock", servers=3),
    "redsync_of_5": Peer(status="redlock", servers=5),
    "redsync_alone": Peer(status="redlock"),
    "node_redlock": node_redlock(servers=3, version=5),
    "node_redlock_alone": node_redlock(servers=1, version=5),
    "node_redlock_4": node_redlock(servers=3, version=4),
}


taken_ports = set()


def free_port():
    """One that no other pair is about to use."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
            if port not in taken_ports:
                taken_ports.add(port)
                return port


class Server:
    """A server of its own on a free port of the loopback, without persistence."""

    def __init__(self, topology="", settings=("--save", "")):
        self.cluster = topology == "cluster"
        self.settings = settings
        self.port = free_port()
        self.start()
        self.sentinel = Sentinel(self.port) if topology == "sentinel" else None
        self.ports = f"{self.port},{self.sentinel.port}" if self.sentinel else self.port
        self.url = f"redis://127.0.0.1:{self.port}"
        if self.cluster:
            self.url = f"redis+cluster://127.0.0.1:{self.port}"
        if self.sentinel:
            self.url = f"redis+sentinel://127.0.0.1:{self.sentinel.port}/main"

    def start(self):
        self.directory = tempfile.TemporaryDirectory()
        words = ["redis-server", *self.settings, "--port", self.port, "--bind", "127.0.0.1"]
        words += ["--dir", self.directory.name]
        if self.cluster:
            words += ["--cluster-enabled", "yes"]
            words += ["--cluster-port", free_port(), "--cluster-announce-ip", "127.0.0.1"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        for _ in range(1000):
            with contextlib.suppress(OSError):
                self.connection = socket.create_connection(("127.0.0.1", int(self.port)), 5)
                break
            time.sleep(0.01)
        self.answers = self.connection.makefile("rb")
        if self.cluster:
            self.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
            while "cluster_state:ok" not in self.ask("CLUSTER", "INFO"):
                time.sleep(0.05)

    def ask(self, *words):
        parts = [str(word).encode() for word in words]
        text = b"*%d\r\n" % len(parts)
        self.connection.sendall(text + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        return self.read()

    def read(self):
        line = self.answers.readline().rstrip()
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise Failed(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.text(int(rest))
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        return rest.decode()

    def text(self, size):  # some are no text
        return self.answers.read(size + 2)[:-2].decode(errors="surrogateescape")

    def stop(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()
        if self.sentinel:
            self.sentinel.stop()


class Sentinel(Server):
    """Alone, it knows the master of the service `main`. It writes into its file of settings."""

    def __init__(self, master_port):
        self.settings_file = tempfile.NamedTemporaryFile("w", suffix=".conf")
        self.settings_file.write(f"sentinel monitor main 127.0.0.1 {master_port} 1\n")
        self.settings_file.flush()
        super().__init__(settings=(self.settings_file.name, "--sentinel"))

    def stop(self):
        super().stop()
        self.settings_file.close()


class Driver:
    """One program that takes locks; its answers come in the order of the questions."""

    def __init__(self, name, command, words):
        self.name = name
        self.process = subprocess.Popen(
            shlex.split(command) + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def begin(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()

    def end(self):
        answer = self.process.stdout.readline().strip()
        if answer.startswith("error") or not answer:
            raise Failed(f"{self.name}: {answer or 'the driver has died'}")
        return answer

    def ask(self, *words):
        self.begin(*words)
        return self.end()

    def stop(self):
        with contextlib.suppress(OSError):
            self.begin("quit")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Pair:
    def __init__(self, dialect, commands, watchdog=WATCHDOG):
        self.dialect = dialect
        self.peer = PEERS[dialect]
        self.servers = [Server(self.peer.topology) for _ in range(self.peer.servers)]
        self.server = self.servers[0]
        self.commands = commands
        address = ["127.0.0.1", ",".join(server.ports for server in self.servers)]
        extra = [str(watchdog if word == WATCHDOG else word) for word in self.peer.words]
        ours = [dialect, *address, *(extra if self.peer.one_lease else [])]
        self.drivers = [
            Driver(dialect, commands[dialect], address + extra),
            Driver(dialect + " again", commands[dialect], address + extra),
            Driver("holdfast", commands["holdfast"], ours),
            Driver("holdfast again", commands["holdfast"], ours),
        ]
        self.theirs, self.others, self.ours, self.our_others = self.drivers

    def stop(self):
        for driver in self.drivers:
            driver.stop()
        for server in self.servers:
            server.stop()

    def status(self, name, server=None):
        words = shlex.split(self.commands["status"]) + [
            "--json",
            "--url",
            (server or self.server).url,
            "status",
            "--dialect",
            self.peer.status or self.dialect,
            self.key(name) if self.peer.several else name,
        ]
        shown = subprocess.run(words, capture_output=True, text=True)
        expect(shown.returncode, 0, f"holdfast status ({shown.stderr.strip()})")
        return json.loads(shown.stdout)["locks"][0]

    def key(self, name):
        return self.peer.key.format(name)

    def directions(self):
        return [(self.theirs, self.ours), (self.ours, self.theirs)]


def exclusion(pair):
    """Each keeps the other out, and lets it in afterwards."""
    for holder, other in pair.directions():
        expect(holder.ask("acquire", "a", 0, 0), "ok", f"{holder.name} takes a free lock")
        expect(other.ask("acquire", "a", 0, 100), "busy", f"{other.name} beside {holder.name}")
        expect(other.ask("release", "a"), "refused", f"{other.name} releases what is not its own")
        expect(holder.ask("holds", "a"), "1", f"{holder.name} holds it still")
        if (said := other.ask("locked", "a")) != "unknown":
            expect(said, "yes", f"{other.name} sees that it is locked")
        expect(holder.ask("release", "a"), "ok", f"{holder.name} gives it back")
        votes.expect_keys(pair.servers, pair.key("a"), 0, 0)
        if (said := other.ask("locked", "a")) != "unknown":
            expect(said, "no", f"{other.name} sees that it is free")
    return ""


def waiting(pair):
    """A waiter gets it when the other gives it back: how long both take together."""
    said = []
    for holder, other in pair.directions():
        times = []
        for _ in range(ROUNDS):
            expect(holder.ask("acquire", "w", 0, PATIENCE), "ok", f"{holder.name} takes it")
            other.begin("acquire", "w", 0, PATIENCE)
            time.sleep(0.15)  # it waits by then; if not, only the figure is worse
            began = time.monotonic()
            expect(holder.ask("release", "w"), "ok", f"{holder.name} gives it back")
            expect(other.end(), "ok", f"{other.name} gets it")
            times.append((time.monotonic() - began) * 1000)
            expect(other.ask("release", "w"), "ok", f"{other.name} gives it back")
        said.append(f"{other.name} after {statistics.median(times):.1f} ms")
    return ", ".join(said)


def contention(pair):
    """Four workers on either side, and no increment is lost."""
    rounds = TOTAL // (2 * WORKERS)
    began = time.monotonic()
    for driver in (pair.theirs, pair.ours):
        driver.begin("increment", "c", "number", WORKERS, rounds)
    for driver in (pair.theirs, pair.ours):
        expect(driver.end(), "ok", f"{driver.name} counts")
    expect(pair.server.ask("GET", "number"), str(2 * WORKERS * rounds), "increments")
    return f"{TOTAL} increments in {time.monotonic() - began:.1f} s"


def crossed(pair):
    """Two locks that the library takes in the other order: who has one gives it up in the end."""
    if not pair.peer.several:
        return None
    began = time.monotonic()
    for driver in (pair.theirs, pair.ours):
        driver.begin("increment", "crossed", "crossings", 2, CROSSINGS)
    for driver in (pair.theirs, pair.ours):
        expect(driver.end(), "ok", f"{driver.name} counts")
    expect(pair.server.ask("GET", "crossings"), str(4 * CROSSINGS), "increments")
    return f"{4 * CROSSINGS} increments in {time.monotonic() - began:.1f} s"


def expiry(pair):
    """A lease that ends passes the lock on, and its holder cannot release what another has now."""
    said = []
    for holder, other in pair.directions():
        began = time.monotonic()
        expect(holder.ask("acquire", "e", 500, 0), "ok", f"{holder.name} takes it for 500 ms")
        expect(other.ask("acquire", "e", 0, NOTICE), "ok", f"{other.name} gets it after that")
        said.append(f"{other.name} after {(time.monotonic() - began) * 1000:.0f} ms")
        expect(holder.ask("release", "e"), "refused", f"{holder.name} releases what it has lost")
        expect(other.ask("holds", "e"), "1", f"{other.name} has it")
        expect(other.ask("release", "e"), "ok", f"{other.name} gives it back")
    return ", ".join(said)


def renewal(pair):
    """A holder that renews keeps the other out for three times its lease."""
    renews = [(pair.ours, pair.theirs, 1000)]
    if pair.peer.renews:
        renews.append((pair.theirs, pair.ours, WATCHDOG))
    for holder, other, lease in renews:
        expect(holder.ask("acquire", "r", 0, 0), "ok", f"{holder.name} takes it")
        wait = 3 * lease + 100
        expect(other.ask("acquire", "r", 0, wait), "busy", f"{other.name} waits for {wait} ms")
        expect(holder.ask("holds", "r"), "1", f"{holder.name} has it still")
        expect(holder.ask("release", "r"), "ok", f"{holder.name} gives it back")
    return ", ".join(f"{holder.name} over {3 * lease} ms" for holder, _, lease in renews)


def reentry(pair):
    """Holds are counted by their holder, and the lock is free after the last."""
    enters_once = pair.peer.modes or pair.peer.several or len(pair.servers) > 1
    reentrant = [] if enters_once else [(pair.ours, pair.theirs)]
    if pair.peer.reentrant:
        reentrant.append((pair.theirs, pair.ours))
    for holder, other in reentrant:
        for count in (1, 2):
            expect(holder.ask("acquire", "n", 0, 0), "ok", f"{holder.name} takes it")
            expect(holder.ask("holds", "n"), str(count), f"holds of {holder.name}")
        expect(holder.ask("release", "n"), "ok", f"{holder.name} leaves once")
        expect(other.ask("acquire", "n", 0, 100), "busy", f"{other.name} beside one hold")
        expect(holder.ask("release", "n"), "ok", f"{holder.name} leaves twice")
        expect(other.ask("acquire", "n", 0, 0), "ok", f"{other.name} afterwards")
        expect(other.ask("release", "n"), "ok", f"{other.name} gives it back")
    return ""


def view(pair):
    """`holdfast status` shows the other's holder."""
    expect(pair.status("v")["state"], "free", "state of a free lock")
    expect(pair.theirs.ask("acquire", "v", 0, 0), "ok", "they take it")
    votes.expect_keys(pair.servers, pair.key("v"), len(pair.servers), len(pair.servers))
    for server in reversed(pair.servers):
        shown = pair.status("v", server)
        expect(shown["state"], "held", "state of their lock")
    if shown.get("remaining_ms", 0) <= 0 or not shown["owner"]["id"]:
        raise Failed(f"their lock is shown as {shown}")
    if pair.peer.counts:
        expect(pair.theirs.ask("acquire", "v", 0, 0), "ok", "they take it again")
        expect(pair.status("v").get("detail"), "its owner holds it 2 times", "holds shown")
        expect(pair.theirs.ask("release", "v"), "ok", "they leave once")
    expect(pair.theirs.ask("release", "v"), "ok", "they give it back")
    return f"owner {shown['owner']['id']}"


def keys(pair):
    """The keys of a holder are the same, whichever side wrote them."""
    if pair.peer.modes:  # see equal_keys
        return None
    key = pair.key("kept")

    def shape(driver):
        expect(driver.ask("acquire", "kept", 3000, 0), "ok", f"{driver.name} takes it")
        votes.expect_keys(pair.servers, key, len(pair.servers), len(pair.servers))
        kind = pair.server.ask("TYPE", key)
        is_text = kind == "string"
        values = [pair.server.ask("GET", key)] if is_text else pair.server.ask("HGETALL", key)
        left = pair.server.ask("PTTL", key)
        expect(driver.ask("release", "kept"), "ok", f"{driver.name} gives it back")
        votes.expect_keys(pair.servers, key, 0, 0)
        form = [snapshots.form_of(v, pair.peer.binary) for v in values]
        if kind == "hash":
            form = [form[0].split(":")[0] + ":x", values[1]]
        # Redisson takes its latch away a moment after it has answered.
        others = [k for k in sorted(pair.server.ask("KEYS", "*kept*")) if "_latch:" not in k]
        beside = [(other, pair.server.ask("TYPE", other)) for other in others]
        for other, _ in beside:
            pair.server.ask("DEL", other)
        return kind, form, round(left / 250), beside

    expect(shape(pair.ours), shape(pair.theirs), "what stands in Redis")
    return ""


def rest(pair):
    """Given back early, a job stays locked until lockAtLeastFor has passed."""
    if not pair.peer.rests:
        return None
    for holder, other in pair.directions():
        expect(holder.ask("acquire", "l", 10000, 0, LEAST), "ok", f"{holder.name} takes it")
        began = time.monotonic()
        expect(holder.ask("release", "l"), "ok", f"{holder.name} gives it back")
        expect(other.ask("acquire", "l", 0, 0), "busy", f"{other.name} at once")
        expect(other.ask("acquire", "l", 0, PATIENCE), "ok", f"{other.name} later")
        took = (time.monotonic() - began) * 1000
        if not LEAST - 100 <= took <= LEAST + 1000:
            raise Failed(f"{other.name} got it after {took:.0f} ms")
        expect(other.ask("release", "l"), "ok", f"{other.name} gives it back")
    return f"{LEAST} ms"


def tokens(pair):
    """Each grant has a larger token than all before, of either side."""
    if not pair.peer.fenced:
        return None
    last = 0
    for driver in 5 * (pair.theirs, pair.ours, pair.our_others, pair.others):
        expect(driver.ask("acquire", "t", 0, 0), "ok", f"{driver.name} takes it")
        token = int(driver.ask("token", "t"))
        expect(token, int(pair.server.ask("GET", "redisson_lock_token:{t}")), "the token")
        if token <= last:
            raise Failed(f"{driver.name} has the token {token} after {last}")
        last = token
        expect(driver.ask("release", "t"), "ok", f"{driver.name} gives it back")
    return f"{last} grants"


def equal_keys(pair):
    """After the same random operations the same keys are there; see differential.py. Of several
    servers some write a moment after the answer: one alone is compared."""
    if len(pair.servers) > 1:
        return None
    alone = Pair(pair.dialect, pair.commands, watchdog=differential.LONG)
    try:
        found = differential.compare(alone)
    finally:
        alone.stop()
    if isinstance(found, str):
        raise Failed(found)
    return f"{found} steps of {len(differential.SEEDS)} seeds"


TESTS = [
    exclusion,
    keys,
    waiting,
    contention,
    crossed,
    expiry,
    renewal,
    reentry,
    view,
    rest,
    tokens,
    *sharing.TESTS,
    *order.TESTS,
    *votes.TESTS,
    equal_keys,
]
PERMIT_TESTS = [*semaphores.TESTS, equal_keys]


def tests_of(peer):
    if peer.latch:
        return latches.TESTS
    return PERMIT_TESTS if peer.permits else TESTS


def failures_of(dialect, commands):
    """Runs all tests of a pair, says how each ended, and returns how many failed."""
    failures = 0
    pair = Pair(dialect, commands)
    try:
        for test in tests_of(pair.peer):
            try:
                detail = test(pair)
                if detail is None:  # the library has nothing of the kind
                    continue
                ended = f"passed {detail}".rstrip()
            except Failed as why:
                failures += 1
                ended = f"FAILED: {why}"
                pair.stop()
                pair = Pair(dialect, commands)  # nobody knows what they hold
            print(f"{dialect} and holdfast: {test.__name__}: {ended}\n", end="", flush=True)
    finally:
        pair.stop()
    return failures


def main():
    commands = dict(word.split("=", 1) for word in sys.argv[1:])
    dialects = [name for name in commands if name not in ("holdfast", "status")]
    at_once = int(os.environ.get("HOLDFAST_INTEROP_AT_ONCE", AT_ONCE))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pairs:
        failures = pairs.map(lambda dialect: failures_of(dialect, commands), dialects)
        return 1 if sum(failures) else 0


sys.exit(main())
