#!/usr/bin/env python3
"""Prints the public API: the declarations in include/holdfast without comments and bodies.

    tools/api_snapshot.py > docs/api.txt

docs/api.txt is kept in the repository, so that a change of the API is a visible diff; tools/tidy
compares the two. Relies on the layout that clang-format gives.
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from tidy_source import Project, blank_comments  # noqa: E402

DETAIL = re.compile(r"^namespace detail \{$.*?^\}  // namespace detail$", re.S | re.M)
PRIVATE = re.compile(r"^( *) private:\n.*?(?=^\1\})", re.S | re.M)
# A body behind a parameter list or what may follow one; its initialisers go with it.
LONG_BODY = re.compile(
    r"^( *)((?!class |struct )\S[^\n]*(?:\n\1    [^\n]*)*\)[^\n;{}]*) \{\n.*?^\1\}$", re.S | re.M)
SHORT_BODY = re.compile(r"(\)[^\n;{}]*) \{[^\n]*\}$", re.M)
INITIALISERS = re.compile(r"(\)[\w ]*)\s: \w+\([^\n]*;$", re.M)


def normalised(text):
    return without_bodies(blank_comments(DETAIL.sub("", text)))


def without_bodies(code):
    """Without what a declaration does not need: bodies, private members, empty lines."""
    code = re.sub(r"^ *#.*|\bHOLDFAST_EXPORT ", "", code, flags=re.M)
    code = re.sub(r"[ \t]+$", "", code, flags=re.M)
    code = re.sub(r"\n{2,}", "\n", code).strip("\n") + "\n"
    code = LONG_BODY.sub(r"\1\2;", PRIVATE.sub("", code))
    return INITIALISERS.sub(r"\1;", SHORT_BODY.sub(r"\1;", code))


def snapshot(project):
    return "\n".join(
        f"== {source.path}\n{normalised(source.text)}"
        for source in project.cpp("include/holdfast")
        if not source.is_under("include/holdfast/detail"))


if __name__ == "__main__":
    sys.stdout.write(snapshot(Project(pathlib.Path(__file__).parent.parent)))
