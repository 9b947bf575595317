"""Tests of latches."""

import random
import socket
import statistics
import time

from checks import PATIENCE, Failed, expect

WAKE_UPS = 20
WORKERS, ROUNDS = 4, 125  # of each library
AGAIN = 20  # how often a latch is set again
SEEDS, LENGTH = range(1, 4), 60
LARGE, LARGEST_HERE = 5_000_000_000, 4_294_967_295
CHANNEL = "redisson_countdownlatch__channel__{{{}}}"


def set_to(driver, name, count):
    expect(driver.ask("set", name, count), "ok", f"{driver.name} sets {name}")


def down(driver, name):
    expect(driver.ask("down", name, 1, 1), "ok", f"{driver.name} counts {name} down")


def passes(driver, name):
    expect(driver.end(), "ok", f"{driver.name} passes {name}")


def expect_count(pair, name, count):
    for driver in pair.drivers:
        expect(driver.ask("count", name), str(count), f"the count of {driver.name}")


def until_listened_to(pair, name, clients):
    """Until so many listen; which connections of Redisson do, is its own affair."""
    ends = time.monotonic() + PATIENCE / 1000
    count = "SHARDNUMSUB" if pair.server.cluster else "NUMSUB"
    while pair.server.ask("PUBSUB", count, CHANNEL.format(name))[1] < clients:
        if time.monotonic() > ends:
            raise Failed("nobody listens")
        time.sleep(0.005)


def number(pair):
    """It is one number to all, and who finds it open goes on."""
    for first, second in pair.directions():
        expect_count(pair, "n", 0)
        set_to(first, "n", 4)
        expect(second.ask("set", "n", 7), "refused", f"{second.name} sets it again")
        for left in (3, 2, 1, 0):
            for driver in pair.drivers:
                expect(driver.ask("await", "n", 0), "busy", f"{driver.name} at {left + 1}")
            down((first, second)[left % 2], "n")
            expect_count(pair, "n", left)
        for driver in pair.drivers:
            expect(driver.ask("await", "n", 0), "ok", f"{driver.name} finds it open")
        expect(pair.server.ask("EXISTS", "n"), 0, "its key, when it is open")
        down(second, "n")
        expect_count(pair, "n", 0)
    return ""


def library_numbers(pair):
    """Zero, which is open and set; and more than 32 bits."""
    set_to(pair.theirs, "z", 0)
    for driver in pair.drivers:
        expect(driver.ask("set", "z", 3), "refused", f"{driver.name} sets what is set to 0")
        expect(driver.ask("await", "z", 0), "ok", f"{driver.name} finds it open")
    down(pair.ours, "z")
    expect(pair.server.ask("EXISTS", "z"), 0, "its key, counted down once more")
    set_to(pair.theirs, "z", LARGE)
    expect(pair.ours.ask("count", "z"), str(LARGEST_HERE), "what we can say of it")
    down(pair.ours, "z")
    expect(pair.theirs.ask("count", "z"), str(LARGE - 1), "what it is")
    return ""


def waiting(pair):
    """A waiter goes on when the other has counted down: how long both take together."""
    said = []
    for opener, other in pair.directions():
        times = []
        for _ in range(WAKE_UPS):
            set_to(opener, "w", 1)
            other.begin("await", "w", PATIENCE)
            until_listened_to(pair, "w", 1)
            time.sleep(0.05)  # it has asked again by then; if not, only the figure is better
            began = time.monotonic()
            down(opener, "w")
            passes(other, "w")
            times.append((time.monotonic() - began) * 1000)
        said.append(f"{other.name} after {statistics.median(times):.1f} ms")
    return ", ".join(said)


def again(pair):
    """Those of both libraries wait together, again and again, and all go on."""
    for opener, other in AGAIN // 2 * ((pair.ours, pair.others), (pair.theirs, pair.our_others)):
        waiters = [one for one in pair.drivers if one not in (opener, other)]
        set_to(opener, "g", 2)
        for one in waiters:
            one.begin("await", "g", PATIENCE)
        until_listened_to(pair, "g", len(waiters))
        down(other, "g")
        down(opener, "g")
        for one in waiters:
            passes(one, "g")
    return f"{AGAIN} times"


def crowd(pair):
    """Four workers on either side count down, and each count counts."""
    began = time.monotonic()
    counts = 2 * WORKERS * ROUNDS
    set_to(pair.theirs, "c", counts + 1)
    for driver in (pair.others, pair.our_others):
        driver.begin("await", "c", PATIENCE)
    for driver in (pair.theirs, pair.ours):
        driver.begin("down", "c", WORKERS, ROUNDS)
    for driver in (pair.theirs, pair.ours):
        expect(driver.end(), "ok", f"{driver.name} counts down")
    expect(pair.server.ask("GET", "c"), "1", "what is left")
    down(pair.ours, "c")
    for driver in (pair.others, pair.our_others):
        passes(driver, "c")
    return f"{counts} counts in {time.monotonic() - began:.1f} s"


def silence(pair):
    """Ours goes on also when nobody says anything: Redisson's waits until its time is over."""
    said = []
    for driver in (pair.ours, pair.theirs):
        set_to(driver, "s", 1)
        driver.begin("await", "s", 4000)
        until_listened_to(pair, "s", 1)
        began = time.monotonic()
        pair.server.ask("DEL", "s")
        passes(driver, "s")
        took = (time.monotonic() - began) * 1000
        if driver is pair.ours and took > 3000:
            raise Failed(f"{driver.name} goes on after {took:.0f} ms")
        said.append(f"{driver.name} after {took:.0f} ms")
    return ", ".join(said)


class Ear:
    """Hears what is said on a channel."""

    def __init__(self, server, channel):
        self.server, self.channel = server, channel
        self.connection = socket.create_connection(("127.0.0.1", int(server.port)), 5)
        self.lines = self.connection.makefile("rb")
        self.connection.sendall(b"SUBSCRIBE %s\r\n" % channel.encode())
        self.lines_of_one(6)

    def lines_of_one(self, count):
        return [self.lines.readline().strip() for _ in range(count)]

    def said(self):
        """The messages since it was asked last."""
        self.server.ask("PUBLISH", self.channel, "all")
        found = []
        while (word := self.lines_of_one(7)[-1]) != b"all":
            found.append(word.decode())
        return found


def history(pair, drivers, seed):
    """What random operations answer, leave and say."""
    pair.server.ask("FLUSHALL")
    dice, name = random.Random(seed), "h"
    ear = Ear(pair.server, CHANNEL.format(name))
    done = []
    for _ in range(LENGTH):
        driver = drivers[dice.randrange(2)]
        words = dice.choice((("set", name, 1 + dice.randrange(4)), ("down", name, 1, 1),
                             ("down", name, 1, 1), ("count", name), ("await", name, 0)))
        answer = driver.ask(*words)
        left = [(pair.server.ask("TYPE", key), pair.server.ask("GET", key),
                 pair.server.ask("PTTL", key))
                for key in pair.server.ask("KEYS", name)]
        done.append((words, answer, left, ear.said()))
    ear.connection.close()
    return done


def equal(pair):
    """After the same random operations the same answers, keys and messages."""
    for seed in SEEDS:
        theirs = history(pair, (pair.theirs, pair.others), seed)
        ours = history(pair, (pair.ours, pair.our_others), seed)
        for step, (wanted, got) in enumerate(zip(theirs, ours)):
            expect(got, wanted, f"seed {seed}, step {step + 1}")
    return f"{len(SEEDS) * LENGTH} steps of {len(SEEDS)} seeds"


TESTS = [number, library_numbers, waiting, again, crowd, silence, equal]
