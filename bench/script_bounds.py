"""How long one script keeps the server busy, by how many entries it finds: for script_cost.py.

Each case prepares a lock with so many holders, waiters or waits, and runs one script once. The
figure is the least of some rounds, since other work on the machine only adds to it.
"""
import hashlib
import time

COUNTS, ROUNDS, LIMIT = (1, 100, 10000), 5, 1000.0
FAR = 2**53
MOST_PARTIES, LONGEST_CYCLE = 1000, 100  # src/api/barrier.cpp, src/lease/cycle.hpp
FENCE, LOCK = "hf:fence:{0}", "hf:{lock}"
KEYS = (LOCK, LOCK + ":w", LOCK + ":i", FENCE)
SHARED_KEYS = (*KEYS, LOCK + ":n")
MAJOR = 1780000000000000
MINE = "f" * 32 + "-1"


def client(i):
    return f"{i:032x}"


def micros():
    return int(time.time() * 1000000)


def queued(n, suffix):
    """A queue of n waiters, each of a client that is gone, and when they asked."""
    members = [f"{client(i)}-1:{suffix}" for i in range(n)]
    now = micros()
    yield from ((("ZADD", KEYS[1]), [x for i, m in enumerate(members) for x in (MAJOR + i, m)]),
                (("HSET", KEYS[2]), [x for m in members for x in (m, now)]))


def holders(n, mode, until_ms):
    counts = {"r": [0] * 8, "s": [0] * 8}[mode]
    counts["ncdrpxus".index(mode)] = n
    summary = ":".join(map(str, (f"1{'s' if mode == 's' else 'm'}", until_ms, until_ms, *counts)))
    yield ("HSET", LOCK), [x for i in range(n)
                           for x in (f"{client(i)}-1", f"{mode}1:{MAJOR + i}:{until_ms}")]
    yield ("HSET", LOCK), ["=", summary]


def held(by=MINE):
    yield ("SET", LOCK), [f"1:{MAJOR}:{by}", "PX", 600000]


def in_an_hour():
    return micros() // 1000 + 3600000


def ended():
    return micros() // 1000 - 1


def waits(n):
    until = micros() + 3600000000
    yield ("HSET", "hf:waits"), [x for i in range(n) for x in (
        f"{client(i)}-1", f"{until}\n{record(i)}")]


def record(i):
    return f"host:1\nx hf:{{a{i}}}\n{client(i)}-2 x hf:{{b{i}}}\n"


def cycle(n):
    """So many waits, each for a lock that the next one has."""
    yield from waits(links(n))
    yield ("MSET",), [x for i in range(links(n)) for x in (
        f"hf:{{a{i}}}", f"1:{MAJOR}:{client(i + 1)}-2")]


def links(n):
    return min(n, LONGEST_CYCLE)


def behind_the_ended(n, mode="r"):
    """Holders of whom n have ended and one lives, and as many waiters that are gone."""
    past, far = ended(), in_an_hour()
    counts = [n + 1 if one == mode else 0 for one in "ncdrpxus"]
    kind = "s" if mode == "s" else "m"
    summary = ":".join(map(str, (f"1{kind}", past, far, *counts)))
    yield ("HSET", LOCK), [x for i in range(n)
                           for x in (f"{client(i)}-1", f"{mode}1:{MAJOR + i}:{past}")]
    yield ("HSET", LOCK), ["=", summary, f"{client(n)}-1", f"{mode}1:{MAJOR + n}:{far}"]
    yield ("PEXPIREAT", LOCK), [far]
    yield from queued(n, "s5/9::1000:-5" if mode == "s" else "x1/0::1000:-5")


def parties(n):
    return max(2, min(n, MOST_PARTIES))


def soon():
    return micros() + 5000000


# name: script, what stands at the server, KEYS, ARGV
CASES = {
    "release to the dead": ("release", lambda n: (*held(), *queued(n, "o1000:-5")), lambda n: KEYS,
                            lambda n: (f"1:{MAJOR}:{MINE}",)),
    "acquire past the dead": ("acquire", lambda n: queued(n, "o1000:-5"), lambda n: KEYS,
                              lambda n: (MINE, 30000, FAR, 0, ":o1000:p5", 0, 100000)),
    "withdraw before the dead": ("withdraw", lambda n: (*held("somebody"), *queued(n, "o1000:-5")),
                                 lambda n: KEYS, lambda n: (client(0) + "-1", ":o1000:-5")),
    "break before the dead": ("break_lock", lambda n: (*held(), *queued(n, "o1000:-5")),
                              lambda n: KEYS, lambda n: (soon(),)),
    "inspect a queue": ("inspect", lambda n: (*held(), *queued(n, "o1000:-5")),
                        lambda n: (LOCK, KEYS[1], LOCK + ":n"), lambda n: ()),
    "join readers": ("shared/acquire", lambda n: holders(n, "r", in_an_hour()),
                     lambda n: SHARED_KEYS, lambda n: (MINE, 30000, FAR, 0, "r", 1, 0, "")),
    "join after the ended": ("shared/acquire", lambda n: holders(n, "r", ended()),
                             lambda n: SHARED_KEYS, lambda n: (MINE, 30000, FAR, 0, "r", 1, 0, "")),
    "reader to the dead": ("shared/release", lambda n: (*holders(1, "r", in_an_hour()),
                                                        *queued(n, "x1/0::1000:-5")),
                           lambda n: SHARED_KEYS, lambda n: (client(0) + "-1", MAJOR)),
    "release behind the ended": ("shared/release", behind_the_ended, lambda n: SHARED_KEYS,
                                 lambda n: (client(n) + "-1", MAJOR + n)),
    "acquire behind the ended": ("shared/acquire", behind_the_ended, lambda n: SHARED_KEYS,
                                 lambda n: (MINE, 30000, FAR, 0, "r", 1, 0, "", ":r1/0::1000:-5",
                                            0, 100000)),
    "withdraw behind the ended": ("shared/withdraw", behind_the_ended, lambda n: SHARED_KEYS,
                                  lambda n: (client(n + 1) + "-1", ":x1/0::1000:-5", "")),
    "change the permits": ("shared/set_permits", lambda n: behind_the_ended(n, "s"),
                           lambda n: SHARED_KEYS, lambda n: (2, soon())),
    "break many holders": ("shared/break_lock",
                           lambda n: (*holders(n, "r", in_an_hour()), *queued(n, "x1/0::1000:-5")),
                           lambda n: SHARED_KEYS, lambda n: (soon(),)),
    "inspect holders": ("inspect", lambda n: holders(n, "r", in_an_hour()),
                        lambda n: (LOCK, KEYS[1], LOCK + ":n"), lambda n: ()),
    "open a latch": ("latch/change", lambda n: ((("SET", LOCK), ["1l:1"]), *queued(n, "l1000:-5")),
                     lambda n: (f"hf:once:{{0}}:{MINE}", *KEYS[:3], LOCK + ":o"),
                     lambda n: (soon(), "down", 1)),
    "pass a barrier": ("barrier/arrive", lambda n: (
        (("SET", LOCK), [f"1b:{parties(n)}:0"]), *queued(parties(n) - 1, "b1000:-5")),
        lambda n: (*KEYS, LOCK + ":g"), lambda n: (MINE, FAR, 0, parties(n), ":b1000:-5", 0)),
    "note a wait": ("deadlock/note", waits, lambda n: ("hf:waits",), lambda n: (
        soon(), 6000, 0, 0, client(n + 1) + "-1", "host:1\nx hf:{a}\n")),
    "note many waits": ("deadlock/note", waits, lambda n: ("hf:waits",), lambda n: (
        soon(), 6000, 0, 50, *(x for i in range(50) for x in (f"{client(i)}-9", soon())),
        *(x for i in range(50) for x in (f"{client(i)}-1", "host:1\nx hf:{a}\n")))),
    "confirm a cycle": (
        "deadlock/confirm", cycle,
        lambda n: ("hf:waits", *(f"hf:{{a{i}}}" for i in range(links(n)))),
        lambda n: (0, *(x for i in range(links(n))
                        for x in (f"{client(i)}-1", record(i), f"{client(i + 1)}-2")))),
}
# A barrier lets all of its parties go on in one step: 1,000 at most.
BEYOND = {("pass a barrier", 10000)}
# In these each client listens to its channel.
LISTENED = {"pass a barrier", "confirm a cycle"}


def sent(server, command):
    connection = server.connections[0]
    connection.sendall(command)
    assert not connection.recv(1 << 20).startswith(b"-"), command[:200]


def once(server, command, case, sha, n):
    _, stands, keys, args = case
    server.ask("FLUSHALL", "SYNC")
    server.ask("SET", FENCE, MAJOR - 10**12)
    for head, rest in stands(n):
        size = 2000 if len(rest) > 2000 else len(rest)
        for at in range(0, len(rest), size):
            sent(server, command(*head, *rest[at:at + size]))
    server.ask("CONFIG", "RESETSTAT")
    sent(server, command("EVALSHA", sha, len(keys(n)), *keys(n), *args(n)))
    return server.microseconds_a_call()


def listen(server, command, verb):
    """Has a connection subscribe to the channels of the first clients, or leave them."""
    ear, heard = server.connections[1], b""
    ear.sendall(command(verb, *(f"hf:c:{client(i)}" for i in range(MOST_PARTIES))))
    while heard.count(b"hf:c:") < MOST_PARTIES:
        heard += ear.recv(1 << 20)


def bounds(server, command, with_parts, scripts):
    """Prints a line for each case; whether all scripts stay below the limit."""
    good = True
    for name, case in CASES.items():
        script = with_parts(scripts / f"{case[0]}.lua")
        sha = hashlib.sha1(script.encode()).hexdigest()
        assert sha in server.ask("SCRIPT", "LOAD", script)
        if name in LISTENED:
            listen(server, command, "SUBSCRIBE")
        took = {n: min(once(server, command, case, sha, n) for _ in range(ROUNDS)) for n in COUNTS}
        if name in LISTENED:
            listen(server, command, "UNSUBSCRIBE")
        short = [n for n, us in took.items() if us > LIMIT and (name, n) not in BEYOND]
        good = good and not short
        print(f"{name:26} {case[0]:16}" + "".join(f"{took[n]:10.0f}" for n in COUNTS) + " us  " +
              ("short" if short else "beyond" if (name, COUNTS[-1]) in BEYOND else "holds"))
    return good
