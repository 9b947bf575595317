"""Locks that several servers vote on, and locks of several resources."""

import time

from checks import PATIENCE, expect


def left_on(servers, key):
    """How many have the key; a vote may come, or go, a moment after the answer."""
    return sum(server.ask("EXISTS", key) for server in servers)


def expect_keys(servers, key, least, most):
    for _ in range(100):
        if least <= (found := left_on(servers, key)) <= most:
            return
        time.sleep(0.01)
    expect(found, f"{least} to {most}", f"servers that have {key}")


def minority(pair):
    """One server less does not matter, and is of use again when it has come back empty."""
    if len(pair.servers) < 3:
        return None
    dead = pair.servers[-1]
    dead.stop()
    for holder, other in pair.directions():
        expect(holder.ask("acquire", "m", 0, PATIENCE), "ok", f"{holder.name} takes it")
        expect(other.ask("acquire", "m", 0, 100), "busy", f"{other.name} beside {holder.name}")
        expect(holder.ask("release", "m"), "ok", f"{holder.name} gives it back")
    dead.start()
    for holder, other in pair.directions():
        expect(holder.ask("acquire", "m", 0, PATIENCE), "ok", f"{holder.name} takes it again")
        expect(other.ask("acquire", "m", 0, 100), "busy", f"{other.name} beside {holder.name}")
        expect(holder.ask("release", "m"), "ok", f"{holder.name} gives it back")
    return f"{len(pair.servers) - 1} of {len(pair.servers)} servers"


def resources(pair):
    """Several at once exclude who wants one of them, and leave nothing behind when they fail."""
    if not pair.peer.resources:
        return None
    most = len(pair.servers)
    for holder, other in pair.directions():
        expect(holder.ask("acquire", "x+y", 0, 0), "ok", f"{holder.name} takes two")
        for key in ("x", "y"):
            expect_keys(pair.servers, key, most, most)
        for name in ("x", "y", "y+z", "z+x"):
            expect(other.ask("acquire", name, 0, 100), "busy", f"{other.name} wants {name}")
        expect_keys(pair.servers, "z", 0, 0)
        expect(holder.ask("release", "x+y"), "ok", f"{holder.name} gives them back")
        for key in ("x", "y"):
            expect_keys(pair.servers, key, 0, 0)
        expect(other.ask("acquire", "y", 0, PATIENCE), "ok", f"{other.name} takes one")
        expect(holder.ask("acquire", "x+y", 0, 100), "busy", f"{holder.name} wants two")
        expect_keys(pair.servers, "x", 0, 0)
        expect(other.ask("release", "y"), "ok", f"{other.name} gives it back")
    return ""


TESTS = [minority, resources]
