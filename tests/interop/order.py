"""Tests of locks whose waiters come in in the order of arrival."""

import time

from checks import PATIENCE, Failed, expect

JOINS = 0.3  # s until who waits stands in the queue
DEAD = 2000  # ms


def queue_of(pair, name):
    return pair.server.ask("LRANGE", f"redisson_lock_queue:{{{name}}}", 0, -1)


def await_queue(pair, name, size):
    for _ in range(200):
        if len(queue_of(pair, name)) == size:
            return
        time.sleep(0.02)
    raise Failed(f"{queue_of(pair, name)} wait, and {size} should")


def order_of_arrival(pair):
    """The longest waiter is next, of whichever library."""
    if not pair.peer.fair:
        return None
    said = []
    for line in ([pair.theirs, pair.ours, pair.others, pair.our_others],
                 [pair.ours, pair.theirs, pair.our_others, pair.others],
                 [pair.our_others, pair.ours, pair.theirs, pair.others]):
        holder, *waiting = line
        expect(holder.ask("acquire", "o", 0, 0), "ok", f"{holder.name} takes it")
        for place, driver in enumerate(waiting, 1):
            driver.begin("acquire", "o", 0, PATIENCE)
            await_queue(pair, "o", place)
        for before, driver in zip(line, waiting):
            time.sleep(JOINS)
            began = time.monotonic()
            expect(before.ask("release", "o"), "ok", f"{before.name} gives it back")
            expect(driver.end(), "ok", f"{driver.name} is next")
            said.append((time.monotonic() - began) * 1000)
        expect(line[-1].ask("release", "o"), "ok", "the last gives it back")
        expect(pair.server.ask("KEYS", "*{o}"), [], "keys left")
    return f"{len(said)} in turn, each after {max(said):.1f} ms at most"


def leavers(pair):
    """Nobody waits for a waiter that has given up."""
    if not pair.peer.fair:
        return None
    for first, second in pair.directions():
        holder = pair.others
        expect(holder.ask("acquire", "g", 0, 0), "ok", f"{holder.name} takes it")
        first.begin("acquire", "g", 0, 1000)
        await_queue(pair, "g", 1)
        second.begin("acquire", "g", 0, PATIENCE)
        await_queue(pair, "g", 2)
        expect(first.end(), "busy", f"{first.name} gives up")
        await_queue(pair, "g", 1)
        expect(holder.ask("release", "g"), "ok", f"{holder.name} gives it back")
        expect(second.end(), "ok", f"{second.name} gets it")
        expect(second.ask("release", "g"), "ok", f"{second.name} gives it back")
    return ""


def the_dead(pair):
    """A waiter that died is dropped when its time is over, and the next gets the lock."""
    if not pair.peer.fair:
        return None
    said = []
    for driver in (pair.theirs, pair.ours):
        now, micros = pair.server.ask("TIME")
        dead_at = int(now) * 1000 + int(micros) // 1000 + DEAD
        pair.server.ask("RPUSH", "redisson_lock_queue:{x}", "dead:1")
        pair.server.ask("ZADD", "redisson_lock_timeout:{x}", dead_at, "dead:1")
        began = time.monotonic()
        expect(driver.ask("acquire", "x", 0, 0), "busy", f"{driver.name} asks once")
        expect(driver.ask("acquire", "x", 0, PATIENCE), "ok", f"{driver.name} gets it")
        said.append(f"{driver.name} after {(time.monotonic() - began) * 1000:.0f} ms")
        expect(driver.ask("release", "x"), "ok", f"{driver.name} gives it back")
    return f"{', '.join(said)} of {DEAD} ms"


TESTS = [order_of_arrival, leavers, the_dead]
