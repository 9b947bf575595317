"""Random operations, done once by a library and once by Holdfast on an empty server, leave equal
keys after each step.

A sequence is a generator: it yields steps, is sent what the library answered, and so knows who has
the lock; then Holdfast does the same steps. Two actors, A and B, are two programs. What is known to
differ is not done, or said in the step.
"""

import dataclasses
import os
import random
import time

import snapshots

LONG, LONGER, SHORT = 20000, 40000, 1000  # ms; some libraries count in seconds
PAST = 2000  # ms: after it SHORT is over, go-zero's surplus too
SEEDS = range(1, 1 + int(os.environ.get("HOLDFAST_INTEROP_SEEDS", "3")))
LENGTH, LAPSES = 60, 2
SHOWN = 12  # steps of a failure
WISHES = ["read", "write", "leave"] * 2 + ["leave", "lapse", "give back"]
END, JOINS = ("end",), 300  # ms until who waits stands in the queue
PATIENT, IMPATIENT = 8000, 900  # ms
LOCK, READ = "d", "d/read"  # as drivers are told: the lock, or its writer, and its reader


@dataclasses.dataclass
class Step:
    actor: str
    words: tuple
    sleeps: int = 0  # ms, before the picture
    answers_may_differ: bool = False
    leases_may_differ: bool = False
    is_seen: bool = True  # otherwise no picture is taken
    waits: bool = False  # begins only: a step END ends it

    def __str__(self):
        return f"{self.actor}: {' '.join(str(word) for word in self.words)}"


def acquire(actor, lease, name=LOCK):
    return Step(actor, ("acquire", name, lease, 0), PAST if lease == SHORT else 0)


def release(actor, name=LOCK, answers_may_differ=False):
    return Step(actor, ("release", name), 0, answers_may_differ)


def of_mutex(dice, again):
    """Whether a holder may take it again, is `again`: libraries then begin a new lease, ours is as
    long as before. A party that has lost it leaves before it comes again."""
    holder, holds, lapses, has_entered_again = None, 0, 0, False
    for _ in range(LENGTH):
        actor, other = dice.sample("AB", 2)
        what = dice.choice(("acquire", "release", "lapse"))
        has_entered_again = holder is not None and has_entered_again
        if what == "release":
            step = release(actor)
            step.leases_may_differ = has_entered_again
            if (yield step) == "ok":
                holds -= 1
                holder = holder if holds else None
        elif what == "lapse" and holder is None and lapses < LAPSES:
            lapses += 1
            yield acquire(actor, SHORT)
            if dice.random() < 0.5 and (yield acquire(other, LONG)) == "ok":
                holder, holds = other, 1
            yield release(actor)
        elif actor != holder or again:
            has_entered_again = has_entered_again or actor == holder
            step = acquire(actor, LONG)
            step.leases_may_differ = has_entered_again
            if (yield step) == "ok":
                holder, holds = actor, holds + 1


def of_fair(dice):
    """As a mutex, and one who waits while the other has it. Redisson lets anybody unlock what is
    free; for how long one who waits counts as alive, differs."""
    holder, holds, entered_again = None, 0, False
    for _ in range(LENGTH // 2):
        actor, other = dice.sample("AB", 2)
        what = dice.choice(("acquire", "release", "wait", "give up"))
        entered_again = holder is not None and entered_again
        if what == "acquire":
            entered_again = entered_again or actor == holder
            step = acquire(actor, LONG)
            step.leases_may_differ = entered_again
            if (yield step) == "ok":
                holder, holds = actor, holds + 1
        elif what == "release":
            step = release(actor, answers_may_differ=holder is None)
            step.leases_may_differ = entered_again
            if (yield step) == "ok" and holder is not None:
                holds -= 1
                holder = holder if holds else None
        elif actor == holder:
            patience = PATIENT if what == "wait" else IMPATIENT
            waits = Step(other, ("acquire", LOCK, LONG, patience), waits=True)
            waits.leases_may_differ = entered_again
            yield waits
            for left in range(holds if what == "wait" else 0, 0, -1):
                step = release(holder)
                step.leases_may_differ = entered_again
                step.is_seen = left > 1
                yield step
            ends = Step(other, END)
            ends.leases_may_differ = entered_again and what == "give up"
            if (yield ends) == "ok":
                holder, holds, entered_again = other, 1, False


def of_permits(dice, leases):
    """Two permits whose leases have ended are left where they are by Redisson when they are given
    back, until somebody asks: so it is one at a time that lapses here."""
    lapses = 0
    for _ in range(LENGTH):
        actor = dice.choice("AB")
        what = dice.choice(("acquire", "release", "lapse"))
        name = f"{LOCK}/{dice.choice('12')}"
        if what == "acquire":
            yield acquire(actor, LONG, name)
        elif what == "release":
            yield release(actor, name)
        elif leases and lapses < LAPSES:
            lapses += 1
            one = f"{LOCK}/1"
            if (yield acquire(actor, SHORT, one)) == "ok":
                yield release(actor, one)


def of_read_write(dice):
    """No writer becomes a reader: in Redisson it may, ours are owners of their own. A reader that
    is in the hash without a lease may leave in Redisson; ours is told that it had lost it."""
    writer, lapses = None, 0
    lapsed = {"A": False, "B": False}
    for _ in range(LENGTH):
        actor = dice.choice("AB")
        what = dice.choice(WISHES)
        if writer and dice.random() < 0.3:
            actor, what = writer, "give back"
        if what == "leave":
            yield release(actor, READ, lapsed[actor])
        elif what == "give back":
            if (yield release(actor)) == "ok":
                writer = None
        elif actor == writer:
            continue
        elif what == "read":
            yield acquire(actor, dice.choice((LONG, LONGER)), READ)
        elif what == "write":
            writer = actor if (yield acquire(actor, LONG)) == "ok" else writer
        elif lapses < LAPSES:
            lapses += 1
            name = dice.choice((LOCK, READ))
            if (yield acquire(actor, SHORT, name)) == "ok":
                lapsed[actor] = lapsed[actor] or name == READ


class Run:
    """One side of it: two drivers, and the pictures that their steps leave."""

    def __init__(self, pair, drivers, names, holds_here=False):
        server = self.server = pair.server
        self.drivers = dict(zip("AB", drivers))
        self.names = names  # of what they may have
        self.holds_here = holds_here  # its owners hold once in Redis, and count in the process
        self.camera = snapshots.Camera(server, pair.peer.binary)
        for driver in drivers:  # the first time takes long
            driver.ask("acquire", names[0], LONG, 0)
            driver.ask("release", names[0])
        server.ask("FLUSHALL")
        self.began = time.monotonic()

    def at(self):
        """ms since it began."""
        return (time.monotonic() - self.began) * 1000

    def do(self, step):
        driver = self.drivers[step.actor]
        if step.waits:
            driver.begin(*step.words)
            time.sleep(JOINS / 1000)
            return "waits"
        answer = driver.end() if step.words == END else driver.ask(*step.words)
        if answer == "ok":
            time.sleep(step.sleeps / 1000)
        return answer

    def picture(self, step):
        if not step.is_seen:
            return {}
        found = self.camera.take(step.actor)
        for kind, content, _ in found.values():
            if kind == "hash" and self.holds_here:
                for name in content:
                    content[name] *= int(self.drivers[name].ask("holds", LOCK))
        return found

    def end(self):
        for driver in self.drivers.values():
            for name in self.names:
                for _ in range(LENGTH):
                    driver.ask("release", name)


def sequence_of(peer, seed):
    dice = random.Random(seed)
    if peer.permits:
        return of_permits(dice, peer.leases and not peer.one_lease)
    if peer.fair:
        return of_fair(dice)
    again = peer.reentrant and not (peer.fenced or peer.several)
    return of_read_write(dice) if peer.modes else of_mutex(dice, again)


def theirs(run, sequence):
    """The steps, each with the library's answer, when it was done, and what it left."""
    done, answer = [], None
    try:
        while True:
            step = sequence.send(answer)
            answer = run.do(step)
            done.append((step, answer, run.at(), run.picture(step)))
    except StopIteration:
        run.end()
        return done


def ours(run, done):
    """The number of the first step that differs, and how; None when none does."""
    slack = snapshots.TOLERANCE
    for i, (step, wanted, at, left) in enumerate(done):
        answer = run.do(step)
        slack = max(slack, snapshots.TOLERANCE + abs(run.at() - at))  # one of the two was slower
        if answer != wanted and not step.answers_may_differ:
            return i, f"{answer} here, {wanted} there"
        # Some things are done a moment after the answer.
        for _ in range(20):
            looks_at_leases = not step.leases_may_differ
            wrong = snapshots.difference(run.picture(step), left, slack, looks_at_leases)
            if wrong is None:
                break
            time.sleep(0.02)
        if wrong is not None:
            return i, wrong
    run.end()
    return None


def compare(pair):
    """How many steps were equal; a text says what was not."""
    steps = 0
    for seed in SEEDS:
        names = (f"{LOCK}/1", f"{LOCK}/2") if pair.peer.permits else (LOCK, READ)
        run = Run(pair, (pair.theirs, pair.others), names)
        done = theirs(run, sequence_of(pair.peer, seed))
        counts = pair.peer.counts and not pair.peer.modes
        run = Run(pair, (pair.ours, pair.our_others), names, holds_here=counts)
        if (differs := ours(run, done)) is not None:
            last = differs[0] + 1
            before = "; ".join(str(step) for step, *_ in done[max(0, last - SHOWN) : last])
            return f"seed {seed}, step {last}, after ... {before}: {differs[1]}"
        steps += len(done)
    return steps
