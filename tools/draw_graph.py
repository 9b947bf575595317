#!/usr/bin/env python3
"""Draws graphs by Graphviz's dot: docs/diagrams/NAME.dot becomes NAME.svg beside it.

    tools/draw_graph.py [--check] FILE...    --check writes nothing, and fails if a source changed

The first lines of a file are comments: `// title: ...` and `// desc: ...`, for screen readers. A
node or edge may have a class of tools/diagram.css. The check needs no dot, whose layout differs
from version to version: the SVG names the checksum of its source.
"""

import hashlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True

from diagram import run, svg  # noqa: E402


def words(source, which):
    return " ".join(re.findall(rf"^// {which}: (.*)$", source, re.M))


def draw(source):
    """The SVG of a graph, without the colours, sizes and titles that dot has put into it."""
    dot = subprocess.run(["dot", "-Tsvg"], input=source, capture_output=True, text=True, check=True)
    height, width = (float(re.search(rf'{side}="([\d.]+)pt"', dot.stdout)[1])
                     for side in ("height", "width"))
    graph = dot.stdout[dot.stdout.index("<g id"):dot.stdout.rindex("</svg>")].strip()
    graph = re.sub(r"<title>.*?</title>\n|<!--.*?-->\n", "", graph, flags=re.S)
    graph = re.sub(r' (fill|stroke|font-family|font-size|font-weight)="[^"]*"', "", graph)
    return svg(width, height, words(source, "title"), words(source, "desc"),
               f"<!-- of {checksum(source)} -->\n{graph}")


def checksum(source):
    return hashlib.sha256(source.encode()).hexdigest()


def draw_file(path, target, check):
    source = path.read_text(encoding="utf-8")
    if not check:
        target.write_text(draw(source), encoding="utf-8")
    elif not target.exists() or checksum(source) not in target.read_text(encoding="utf-8"):
        print(f"{target} is older than its source: tools/draw_graph.py {path}")
        return True
    return False


if __name__ == "__main__":
    sys.exit(run(__doc__, draw_file))
