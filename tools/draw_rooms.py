#!/usr/bin/env python3
"""Draws the rooms of src/ and their arrows (USES in src/CMakeLists.txt) into docs/rooms.svg.

    tools/draw_rooms.py         needs graphviz

Leaves out an arrow that others imply. tools/tidy compares the arrows in the drawing, which are
titles there, with those of src/CMakeLists.txt, and needs no graphviz.
"""

import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent

# Colours that can be read on white and on black: the page does not say which it is.
LOOK = """
  bgcolor=transparent; ranksep=0.35; nodesep=0.25;
  node [shape=box style="filled,rounded" color="#5c6bc0" fillcolor="#e8eaf6" fontcolor="#1a237e"
        fontname="Helvetica,Arial,sans-serif" fontsize=15 height=0.4];
  edge [color="#7986cb" arrowsize=0.7];
  cli; headers [label="include/holdfast"]; node [fillcolor="#c5cae9"];
"""


def rooms(cmake):
    """Room -> the rooms it may include, itself too: the closure of USES in src/CMakeLists.txt."""
    closure = {}
    for room, rest in re.findall(r"^holdfast_room\((\w+)([^)]*)\)", cmake, re.M):
        uses = re.search(r"USES ([a-z_ ]+)", rest)
        closure[room] = {room}.union(*(closure.get(used, {used})
                                       for used in (uses.group(1).split() if uses else [])))
    return closure


def arrows(cmake):
    """The fewest (room, used room) that say the same, and what is around the rooms."""
    closure = rooms(cmake)
    return {(room, used) for room, all_used in closure.items() for used in all_used - {room}
            if not any(used in closure[between] for between in all_used - {room, used})
            } | {("cli", "headers"), ("api", "headers")}


def arrows_in(drawing):
    return set(re.findall(r"<title>(\w+)&#45;&gt;(\w+)</title>", drawing))


def main():
    lines = [f"{room} -> {used};" for room, used in
             sorted(arrows((ROOT / "src/CMakeLists.txt").read_text()))]
    graph = "digraph rooms {" + LOOK + "\n".join(lines) + "}"
    svg = subprocess.run(["dot", "-Tsvg"], input=graph, capture_output=True, text=True, check=True)
    (ROOT / "docs/rooms.svg").write_text(svg.stdout[svg.stdout.index("<svg"):])


if __name__ == "__main__":
    main()
