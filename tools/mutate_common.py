"""What the mutants of Lua and of C++ have in common."""

import collections
import hashlib
import re

Token = collections.namedtuple("Token", "kind text start end")
Edit = collections.namedtuple("Edit", "start end text operator")


def normal(line):
    return re.sub(r"\s+", " ", line).strip()


class Mutant:
    """One edit of one file. Its name says which by meaning: no line number is in it."""

    def __init__(self, file, text, edit):
        self.file, self.edit = file, edit
        self.mutated = text[:edit.start] + edit.text + text[edit.end:]
        first = text.rfind("\n", 0, edit.start) + 1
        last = text.find("\n", max(edit.end - 1, edit.start))
        last = len(text) if last < 0 else last
        self.line = text.count("\n", 0, edit.start) + 1
        self.old = normal(text[first:last])
        self.new = normal(text[first:edit.start] + edit.text + text[edit.end:last])
        # Where a file has the same line twice: which one.
        lines = text[:first].split("\n")
        self.nth = sum(normal(line) == self.old for line in lines) + 1
        self.number = 0  # of those in one program, which chooses one when it runs

    def name(self, root):
        which = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.file.relative_to(root)}: {self.old}{which} => {self.new or 'nothing'}"

    def order(self, root):
        """For samples: a place in an order that has nothing to do with that in the file."""
        return hashlib.sha1(self.name(root).encode()).hexdigest()


def number_mutations(token, digits=None):
    """Small numbers are one more; others are nothing, or many more: half a minute or a whole one
    makes a difference to nobody."""
    digits = token.text if digits is None else digits
    value = float(digits)
    if value <= 3:
        others = [f"{int(value) + 1}"] if value == int(value) else ["1"]
        if value == 1:
            others.append("0")
    else:
        others = ["0", digits + "0" if "." not in digits else "1000"]
    for other in others:
        yield Edit(token.start, token.end, other, f"{digits} -> {other}")
