"""Pictures of what stands in Redis, so that what two clients have left there can be compared."""

import re

TOLERANCE = 1000  # ms between a step and its picture, on a busy machine
OWNER = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+")  # of Redisson
NUMBER = re.compile(r"\d{1,15}")
WRITER = "__write__"  # of Symfony, beside a token
AGE = 1000000  # ms: of redis-semaphore the times are those of a refresh, just now
HOLD_OF_READER = re.compile(r"(?<=:rwlock_timeout):\d+$")


def is_lock(key):
    """Not what Holdfast knows of its clients, nor what Redisson takes away a moment later."""
    return not key.startswith("hf:") and "_latch:" not in key


def form_of(value, is_binary=False):
    """What all such values have in common."""
    if is_binary:
        return f"{len(value.encode(errors='surrogateescape'))} bytes"
    return "".join("x" if c.isalnum() or c in "+/" else c for c in value)


class Camera:
    """Names each owner after the party that acted when the owner was first seen."""

    def __init__(self, server, is_binary=False):
        self.server = server
        self.is_binary = is_binary
        self.names = {}

    def owner(self, text, actor):
        return self.names.setdefault(text, actor)

    def place(self, key, actor):
        """Where owners have keys of their own, all holds of one have the same place."""
        named = OWNER.sub(lambda found: self.owner(found[0], actor), key)
        return HOLD_OF_READER.sub("", named)

    def text(self, value, actor):
        if NUMBER.fullmatch(value):
            return value
        form = form_of(value, self.is_binary)
        return f"{form} of {self.owner(value, actor)}"

    def fields(self, words, actor):
        """How often each owner holds it: some are one owner each time."""
        found = {}
        for field, value in zip(words[::2], words[1::2]):
            if not OWNER.search(field):
                found[field] = value
                continue
            name = OWNER.sub(lambda owner: self.owner(owner[0], actor), field)
            found[name] = found.get(name, 0) + int(value)
        return found

    def line(self, names, actor):
        """Owners who wait; of permits, which nobody knows again, how many."""
        return [
            OWNER.sub(lambda owner: self.owner(owner[0], actor), name)
            if OWNER.search(name)
            else "permit"
            for name in names
        ]

    def ends(self, key):
        """ms left of each permit, as its time says."""
        now, micros = self.server.ask("TIME")
        now_ms = int(now) * 1000 + int(micros) // 1000
        words = self.server.ask("ZRANGE", key, 0, -1, "WITHSCORES")
        shift = AGE if key.startswith("semaphore:") else 0
        return [
            int(float(time)) - now_ms + shift
            for member, time in zip(words[::2], words[1::2])
            if not OWNER.search(member)
        ]

    def content(self, key, kind, actor):
        if kind == "string":
            return self.text(self.server.ask("GET", key) or "", actor)
        if kind == "hash":
            return self.fields(self.server.ask("HGETALL", key), actor)
        if kind == "list":
            return self.line(self.server.ask("LRANGE", key, 0, -1), actor)
        if kind == "zset":  # in order, but without their times
            names = self.server.ask("ZRANGE", key, 0, -1)
            return self.line(names, actor) + [name for name in names if name == WRITER]
        return None

    def take(self, actor):
        """Place -> (type, content, ms left of each key there)."""
        found = {}
        for key in sorted(filter(is_lock, self.server.ask("KEYS", "*"))):
            place = self.place(key, actor)
            kind = self.server.ask("TYPE", key)
            what = self.content(key, kind, actor)
            left = found[place][2] if place in found else []
            left.append(self.server.ask("PTTL", key))
            if kind == "zset":
                left += self.ends(key)
            if left[-1] != -2:  # it ended while we looked
                found[place] = (kind, what, sorted(left))
        return found


def is_ending(picture, place, slack):
    return 0 <= max(picture[place][2]) < slack


def are_near(here, there, slack):
    return len(here) == len(there) and all(
        (a < 0) == (b < 0) and abs(a - b) <= slack for a, b in zip(here, there)
    )


def difference(here, there, slack, looks_at_leases):
    """What differs but for `slack` ms; None: nothing."""
    for place in sorted(here.keys() | there.keys()):
        if place not in here or place not in there:
            near = is_ending(here if place in here else there, place, slack)
        else:
            (*what, left), (*wanted, left_there) = here[place], there[place]
            near = not looks_at_leases or are_near(left, left_there, slack)
            near = near and what == wanted
        if not near:
            return f"{place}: {here.get(place)} here, {there.get(place)} there"
    return None
