#!/usr/bin/env python3
"""Draws time lines: docs/diagrams/NAME.timeline becomes NAME.svg beside it. Time runs downwards.

    tools/draw_timeline.py [--check] FILE...    --check writes nothing, and fails if an SVG differs

The lines of a file:

    title: ...                            what the picture shows, for screen readers as well
    desc: ...                             the same in full sentences; further desc lines continue it
    lanes: A client A, S server           from left to right: a key and a name
    at 10 s                               the time, at the left margin, beside the next line
    A -> S: asks                          a message; A -x S: is one that is lost or refused
    S: text                               a note on a lane; A..S: text is one over several lanes
    A (good): text                        the same in a colour: good, bad
    A = first                             from here on the lane is held by the first client; also
                                          second, doubt (nobody knows), frozen, none
"""

import html
import re
import sys

sys.dont_write_bytecode = True

from diagram import run, svg  # noqa: E402

WIDTH, MARGIN, LINE, LETTER, INSET = 480, 50, 17, 7.9, 6


def wrapped(text, width):
    """The text in lines of about this many pixels; a | breaks a line where the writer wants it."""
    lines = []
    for part in text.split("|"):
        lines.append("")
        for word in part.split():
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and len(longer) * LETTER > width:
                lines.append(word)
            else:
                lines[-1] = longer
    return lines


class Picture:
    def __init__(self, lanes):
        self.step = (WIDTH - MARGIN) / len(lanes)
        self.x = {key: MARGIN + self.step * (i + 0.5) for i, (key, _) in enumerate(lanes)}
        self.bars, self.marks, self.running = [], [], {}
        heads = [(self.x[key], wrapped(name, self.step - 4)) for key, name in lanes]
        self.y = 8 + LINE * max(len(lines) for _, lines in heads)
        for x, lines in heads:
            self.text(lines, x, self.y - LINE * (len(lines) - 1) - 4, "head middle")
        self.top = self.y + 4
        self.y += 14

    def text(self, lines, x, y, look):
        for i, line in enumerate(lines):
            self.marks.append(f'<text class="{look}" x="{x:g}" y="{y + LINE * i:g}">'
                              f'{html.escape(line)}</text>')

    def time(self, text):
        self.text(wrapped(text, MARGIN), MARGIN - 8, self.y + 14, "time end")

    def message(self, source, arrow, target, text):
        a, b = self.x[source], self.x[target]
        right = 1 if b > a else -1
        lines = wrapped(text, abs(b - a) - 14)
        width = max(len(line) for line in lines) * LETTER
        middle = a + right * self.step / 2 if width < self.step - 14 else (a + b) / 2
        self.marks.append(f'<rect class="paper" x="{middle - width / 2:g}" y="{self.y:g}" '
                          f'width="{width:g}" height="{LINE * len(lines):g}"/>')
        self.text(lines, middle, self.y + LINE - 4, "middle")
        self.y += LINE * len(lines) + 4
        lost = arrow == "-x"
        end = a + (b - a) * 0.85 if lost else b - 7 * right
        self.marks.append(f'<path class="edge{" lost" if lost else ""}" '
                          f'd="M{a + 6 * right:g} {self.y:g}H{end:g}"/>')
        if lost:
            self.marks.append(f'<path class="cross" '
                              f'd="M{end - 6:g} {self.y - 6:g}l12 12m0-12l-12 12"/>')
        else:
            self.marks.append(f'<path class="tip" d="M{b - 5 * right:g} {self.y:g}'
                              f'l{-9 * right} -5v10z"/>')
        self.y += 13

    def note(self, first, last, look, text):
        middle = (self.x[first] + self.x[last]) / 2
        room = abs(self.x[last] - self.x[first]) + self.step - 8
        lines = wrapped(text, room - 2 * INSET)
        width = min(room, max(len(line) for line in lines) * LETTER + 2 * INSET)
        height = LINE * len(lines) + 8
        self.marks.append(f'<rect class="{look}" x="{middle - width / 2:g}" y="{self.y:g}" rx="4" '
                          f'width="{width:g}" height="{height:g}"/>')
        self.text(lines, middle, self.y + LINE, "middle")
        self.y += height + 10

    def hold(self, lane, state):
        """The lane's bar changes here."""
        look, since = self.running.pop(lane, (None, 0))
        if look:
            self.bars.append(f'<rect class="{look}" x="{self.x[lane] - 5:g}" y="{since:g}" '
                             f'width="10" height="{self.y - since:g}"/>')
        if state != "none":
            self.running[lane] = (state, self.y)

    def finish(self, title, desc):
        for lane in list(self.running):
            self.hold(lane, "none")
        lanes = [f'<path class="lane" d="M{x:g} {self.top:g}V{self.y + 4:g}"/>'
                 for x in self.x.values()]
        return svg(WIDTH, self.y + 12, title, desc, "\n".join(lanes + self.bars + self.marks))


def draw(source):
    """The SVG of the text of a time line."""
    head, picture = {"title": [], "desc": []}, None
    for number, line in enumerate(source.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if match := re.fullmatch(r"(title|desc): (.*)", line):
            head[match[1]].append(match[2])
        elif match := re.fullmatch(r"lanes: (.*)", line):
            picture = Picture([lane.split(maxsplit=1) for lane in match[1].split(", ")])
        elif match := re.fullmatch(r"at (.*)", line):
            picture.time(match[1])
        elif match := re.fullmatch(r"(\w+) (->|-x) (\w+): (.*)", line):
            picture.message(*match.groups())
        elif match := re.fullmatch(r"(\w+) = (\w+)", line):
            picture.hold(*match.groups())
        elif match := re.fullmatch(r"(\w+)(?:\.\.(\w+))?(?: \((good|bad)\))?: (.*)", line):
            picture.note(match[1], match[2] or match[1], match[3] or "box", match[4])
        else:
            raise SystemExit(f"line {number} is no line of a time line: {line}")
    return picture.finish(" ".join(head["title"]), " ".join(head["desc"]))


def draw_file(source, target, check):
    drawn = draw(source.read_text(encoding="utf-8"))
    if not check:
        target.write_text(drawn, encoding="utf-8")
    elif not target.exists() or target.read_text(encoding="utf-8") != drawn:
        print(f"{target} differs: tools/draw_timeline.py {source}")
        return True
    return False


if __name__ == "__main__":
    sys.exit(run(__doc__, draw_file))
