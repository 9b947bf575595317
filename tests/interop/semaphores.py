"""Tests of semaphores of LIMIT permits. NAME/N are N of them."""

import statistics
import time

from checks import NOTICE, PATIENCE, WATCHDOG, Failed, expect

LIMIT = 3  # as the drivers say it
WORKERS, ROUNDS = 4, 125  # of each library
LEASE = 500  # ms
WAKE_UPS = 20


def acquire(driver, name, lease=0, wait=0):
    expect(driver.ask("acquire", name, lease, wait), "ok", f"{driver.name} takes {name}")


def release(driver, name):
    expect(driver.ask("release", name), "ok", f"{driver.name} gives {name} back")


def is_refused(driver, name, wait=100):
    expect(driver.ask("acquire", name, 0, wait), "busy", f"{driver.name} beside them")


def expect_free(pair, name, free):
    if pair.peer.in_use:
        expect(pair.server.ask("ZCARD", pair.key(name)), LIMIT - free, "permits in use")
    else:
        expect(pair.server.ask("GET", name), str(free), "free permits")


def limit(pair):
    """All permits can be in use at once, whoever has them, and not one more."""
    for first, second in pair.directions():
        acquire(first, "l/2")
        acquire(second, "l/1")
        for driver in pair.drivers:
            is_refused(driver, "l/1")
        release(first, "l/2")
        is_refused(second, "l/3")
        acquire(second, "l/2")
        for driver in pair.drivers:
            is_refused(driver, "l/1")
        release(second, "l/2")
        release(second, "l/1")
        expect_free(pair, "l", LIMIT)
        acquire(first, "l/3")
        is_refused(second, "l/1")
        release(first, "l/3")
        expect_free(pair, "l", LIMIT)
    return ""


def waiting(pair):
    """A waiter gets it when the other gives it back: how long both take together."""
    said = []
    for holder, other in pair.directions():
        times = []
        for _ in range(WAKE_UPS):
            acquire(holder, "w/3")
            other.begin("acquire", "w/1", 0, PATIENCE)
            time.sleep(0.15)  # it waits by then; if not, only the figure is worse
            began = time.monotonic()
            release(holder, "w/3")
            expect(other.end(), "ok", f"{other.name} gets it")
            times.append((time.monotonic() - began) * 1000)
            release(other, "w/1")
        said.append(f"{other.name} after {statistics.median(times):.1f} ms")
    return ", ".join(said)


def crowd(pair):
    """Four workers on either side: never are more of them inside than there are permits."""
    began = time.monotonic()
    for driver in (pair.theirs, pair.ours):
        driver.begin("crowd", "c/1", "inside", WORKERS, ROUNDS)
    most = [int(driver.end()) for driver in (pair.theirs, pair.ours)]
    if max(most) > LIMIT:
        raise Failed(f"{max(most)} were inside")
    expect(pair.server.ask("GET", "inside"), "0", "how many are inside afterwards")
    expect_free(pair, "c", LIMIT)
    rounds = 2 * WORKERS * ROUNDS
    return f"{rounds} times in {time.monotonic() - began:.1f} s, {max(most)} at once at most"


def expiry(pair):
    """Permits whose lease ends come back, and whoever had them cannot give them back."""
    said = []
    for holder, other in pair.directions():
        if holder is pair.theirs and not pair.peer.leases:
            continue  # they have none
        if holder is pair.ours and not pair.peer.leases:
            other = pair.our_others  # only we know of it
        lease = WATCHDOG if pair.peer.one_lease else LEASE
        began = time.monotonic()
        acquire(holder, "e/2", lease)
        acquire(other, "e/3", 0, NOTICE + lease)
        said.append(f"{other.name} after {(time.monotonic() - began) * 1000:.0f} ms")
        expect(holder.ask("release", "e/2"), "refused", f"{holder.name} releases what it has lost")
        expect_free(pair, "e", 0)
        release(other, "e/3")
        expect_free(pair, "e", LIMIT)
    return ", ".join(said)


def renewal(pair):
    """What is renewed stays its holder's for three times its lease."""
    acquire(pair.ours, "r/3")
    for other in (pair.theirs, pair.our_others):
        is_refused(other, "r/1", 3100)
    expect(pair.ours.ask("holds", "r/3"), "1", "we have it still")
    release(pair.ours, "r/3")
    expect_free(pair, "r", LIMIT)
    if pair.peer.renews:
        acquire(pair.theirs, "r/3")
        is_refused(pair.ours, "r/1", 3 * WATCHDOG + 100)
        expect(pair.theirs.ask("holds", "r/3"), "1", "they have it still")
        release(pair.theirs, "r/3")
    return "over 6 times 1000 ms"


def view(pair):
    """`holdfast status` shows whose leases there are."""
    if not pair.peer.leases:
        return None
    for driver in (pair.theirs, pair.ours):
        acquire(driver, "v/1", 0 if pair.peer.one_lease else 20000)
    shown = pair.status("v")
    expect(shown["state"], "held", "state")
    expect(shown["holding"], 2, "permits in use")
    for driver in (pair.theirs, pair.ours):
        release(driver, "v/1")
    expect(pair.status("v")["state"], "free", "state afterwards")
    return ""


TESTS = [limit, waiting, crowd, expiry, renewal, view]
