"""Tests of locks with readers, called NAME/read, and a writer."""

import time

from checks import NOTICE, PATIENCE, WATCHDOG, Failed, expect

LEASE = 500  # ms


def acquire(driver, name, lease=0, wait=0):
    expect(driver.ask("acquire", name, lease, wait), "ok", f"{driver.name} takes {name}")


def release(driver, name):
    expect(driver.ask("release", name), "ok", f"{driver.name} gives {name} back")


def together(pair):
    """Readers of both sides hold it at once, and no writer beside them, whoever leaves first."""
    if not pair.peer.modes:
        return None
    for first, second in pair.directions():
        for driver in (first, second, first):
            acquire(driver, "s/read")
        for leaver, leaves in ((first, 2), (second, 1)):
            for _ in range(leaves):
                for writer in (pair.others, pair.our_others):
                    expect(writer.ask("acquire", "s", 0, 100), "busy", f"{writer.name} writes")
                release(leaver, "s/read")
        expect(pair.server.ask("EXISTS", "s"), 0, "keys left")
        for writer in (pair.others, pair.our_others):
            acquire(writer, "s")
            for reader in (first, second):
                expect(reader.ask("acquire", "s/read", 0, 100), "busy", f"{reader.name} reads")
            expect(first.ask("release", "s/read"), "refused", f"{first.name} leaves twice")
            release(writer, "s")
    return ""


def turns(pair):
    """Who waits is told: the writer by the last reader, and all readers by the writer."""
    if not pair.peer.modes:
        return None
    said = []
    for here, there in pair.directions():
        acquire(here, "t/read")
        there.begin("acquire", "t", 0, PATIENCE)
        time.sleep(0.3)  # it waits by then
        began = time.monotonic()
        release(here, "t/read")
        expect(there.end(), "ok", f"{there.name} writes")
        said.append(f"writer of {there.name} after {(time.monotonic() - began) * 1000:.1f} ms")
        readers = [driver for driver in pair.drivers if driver is not there]
        for reader in readers:
            reader.begin("acquire", "t/read", 0, PATIENCE)
        time.sleep(0.3)
        began = time.monotonic()
        release(there, "t")
        for reader in readers:
            expect(reader.end(), "ok", f"{reader.name} reads")
        said.append(f"three readers after {(time.monotonic() - began) * 1000:.1f} ms")
        for reader in readers:
            release(reader, "t/read")
    return ", ".join(said)


def lapse(pair):
    """A reader's lease that ends lets a writer in, but not while another reads."""
    if not pair.peer.modes:
        return None
    said = []
    for dead, other in pair.directions():
        began = time.monotonic()
        acquire(dead, "l/read", LEASE)
        acquire(other, "l", 0, NOTICE)
        said.append(f"{other.name} after {(time.monotonic() - began) * 1000:.0f} ms")
        expect(dead.ask("release", "l/read"), "refused", f"{dead.name} leaves too late")
        release(other, "l")
        acquire(dead, "l/read", LEASE)
        acquire(other, "l/read")
        time.sleep(2 * LEASE / 1000)
        for writer in (pair.others, pair.our_others):
            expect(writer.ask("acquire", "l", 0, 0), "busy", f"{writer.name} beside {other.name}")
        release(other, "l/read")
        for writer in (pair.others, pair.our_others):
            acquire(writer, "l")
            release(writer, "l")
        dead.ask("release", "l/read")
    return ", ".join(said)


def renewal_of_readers(pair):
    """A reader that is renewed keeps writers out, also when another reader has left."""
    if not pair.peer.modes:
        return None
    renews = [(pair.ours, pair.others, 1000)]
    if pair.peer.renews:
        renews.append((pair.theirs, pair.our_others, WATCHDOG))
    for reader, writer, lease in renews:
        other = pair.theirs if reader is pair.ours else pair.ours
        acquire(reader, "r/read")
        acquire(other, "r/read", LEASE)
        release(other, "r/read")
        wait = 3 * lease + 100
        expect(writer.ask("acquire", "r", 0, wait), "busy", f"{writer.name} waits for {wait} ms")
        expect(reader.ask("holds", "r/read"), "1", f"{reader.name} has it still")
        release(reader, "r/read")
    return ", ".join(f"{reader.name} over {3 * lease} ms" for reader, _, lease in renews)


def view_of_readers(pair):
    """`holdfast status` shows the readers of both."""
    if not pair.peer.modes:
        return None
    for driver in (pair.theirs, pair.ours):
        acquire(driver, "v/read")
    shown = pair.status("v")
    expect(shown["holding"], 2, "readers")
    for reader in shown["holders"]:
        expect(reader["mode"], "PR", "mode of a reader")
        if reader["remaining_ms"] <= 0:
            raise Failed(f"a reader is shown as {reader}")
    for driver in (pair.theirs, pair.ours):
        release(driver, "v/read")
    expect(pair.status("v")["state"], "free", "state afterwards")
    return ""


def changes(pair):
    """A reader of theirs becomes the writer only alone, and lets others in as a reader again."""
    if not pair.peer.changes:
        return None
    acquire(pair.ours, "h/read")
    acquire(pair.theirs, "h/read")
    expect(pair.theirs.ask("promote", "h/read"), "busy", "they become the writer beside a reader")
    expect(pair.ours.ask("holds", "h/read"), "1", "we read still")
    release(pair.ours, "h/read")
    expect(pair.theirs.ask("promote", "h/read"), "ok", "they become the writer")
    for name in ("h", "h/read"):
        expect(pair.ours.ask("acquire", name, 0, 100), "busy", f"we take {name} beside a writer")
    expect(pair.theirs.ask("demote", "h/read"), "ok", "they read again")
    acquire(pair.ours, "h/read")
    expect(pair.our_others.ask("acquire", "h", 0, 100), "busy", "we write beside readers")
    release(pair.theirs, "h/read")
    release(pair.ours, "h/read")
    expect(pair.server.ask("EXISTS", "h"), 0, "keys left")
    return ""


TESTS = [together, turns, lapse, renewal_of_readers, view_of_readers, changes]
