#!/usr/bin/env python3
"""Draws the rooms of src/ and their arrows (USES in src/CMakeLists.txt) into docs/rooms.svg.

    tools/draw_rooms.py         needs Graphviz's dot; tools/tidy, which looks whether the drawing is
                                that of src/CMakeLists.txt, does not
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True

from draw_graph import draw  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent


def rooms(cmake):
    """Room -> the rooms it may include, itself too: the closure of USES in src/CMakeLists.txt."""
    closure = {}
    for room, rest in re.findall(r"^holdfast_room\(([\w/]+)([^)]*)\)", cmake, re.M):
        uses = re.search(r"USES ([a-z_/ ]+)", rest)
        closure[room] = {room}.union(*(closure.get(used, {used})
                                       for used in (uses.group(1).split() if uses else [])))
    return closure


def arrows(cmake):
    """The fewest (room, used room) that say the same, and what is around the rooms."""
    closure = rooms(cmake)
    return {(room, used) for room, all_used in closure.items() for used in all_used - {room}
            if not any(used in closure[between] for between in all_used - {room, used})
            } | {("cli", "headers"), ("api", "headers")}


def graph(cmake):
    among = sorted(arrows(cmake))
    lines = "".join(f'  "{room}" -> "{used}";\n' for room, used in among)
    within = "".join(f' "{room}" [label="{room.partition("/")[2]}"];' for room in rooms(cmake)
                     if room.startswith("redis/"))
    spoken = ", ".join(f"{room} to {used}" for room, used in among)
    return f"""// title: The rooms of src/
// desc: Each arrow leads from a room to one that it may include, as does each way along arrows:
// desc: {spoken}.
digraph rooms {{
  ranksep=0.35; nodesep=0.25; margin=0.05; pad=0.05;
  node [shape=box, style=rounded, fontname="DejaVu Sans", fontsize=14, margin="0.12,0.07"];
  edge [arrowsize=0.8];
  cli; headers [label="include/holdfast"];
  subgraph cluster_redis {{
    style=rounded; labeljust=l; labelloc=b; label="redis"; fontname="DejaVu Sans";{within}
  }}
{lines}}}
"""


def main():
    (ROOT / "docs/rooms.svg").write_text(draw(graph((ROOT / "src/CMakeLists.txt").read_text())))


if __name__ == "__main__":
    main()
