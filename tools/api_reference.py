"""Reads the public API with its comments from include/holdfast: for the site, and for tools/tidy.

Every public name has a comment: `///` before it, or `///<` behind it. Overloads that follow each
other share one, and members that are defaulted or deleted need none. Like api_snapshot, this
relies on the layout that clang-format gives. So it needs no Doxygen, which would want a comment for
each overload, and would write pages that look and search unlike the rest of the site.
"""

import dataclasses
import itertools
import re
import textwrap

from api_snapshot import DETAIL, without_bodies
from tidy_source import blank_comments

ABOUT = re.compile(r"\A/// \\file\n((?:///[^\n]*\n)+)")
NAMESPACE = re.compile(r"^namespace holdfast \{\n(.*)^\}  // namespace holdfast$", re.S | re.M)
FORWARD = re.compile(r"^namespace \w+ \{\n(?:(?:class|struct) \w+;\n)+\}\n", re.M)
BEHIND = re.compile(r"^( *)(\S.*?) *///< (.*)$", re.M)
NAME = re.compile(r"(?:enum class|enum|class|struct|using) ([\w<>]+)"
                  r"|(operator\W+?|operator \w+|~?\w+)\("
                  r"|(\w+)(?: = [^;]*|\{.*\})?[;,]", re.S)
NOT_SHOWN = re.compile(r"friend (class|struct)|(template <[^\n]*>\n)?(class|struct) \w+;")


@dataclasses.dataclass
class Entry:
    """A public name: how it is declared, what its comment says, and what it has inside."""

    name: str
    code: str
    comment: str
    members: list
    full_name: str = ""  # these two are for pages
    anchor: str = ""

    @property
    def is_enum(self):
        return self.code.startswith("enum")


def about(text):
    """What a header says of itself."""
    match = ABOUT.match(text)
    return re.sub(r"^/// ?", "", match.group(1), flags=re.M) if match else ""


def entries(text):
    """What a header declares, in its order."""
    inside = NAMESPACE.search(DETAIL.sub("", text))
    code = BEHIND.sub(r"\1/// \3\n\1\2", inside.group(1)) if inside else ""
    code = without_bodies(blank_comments(code, but="///"))
    return _parse(FORWARD.sub("", code).splitlines())


def _parse(lines):
    found, comment, rest = [], [], iter(lines)
    for line in rest:
        text = line.strip()
        if text.startswith("///"):
            comment.append(text[3:].removeprefix(" "))
            continue
        if text in {"", "public:"}:
            continue
        if text == "protected:":
            break
        code = [line, *_rest_of_declaration(line, rest)]
        indent = line[:len(line) - len(line.lstrip())]
        body = []
        if code[-1].endswith("{"):
            body = list(itertools.takewhile(lambda inner, end=indent + "};": inner != end, rest))
        _add(found, textwrap.dedent("\n".join(code)), "\n".join(comment), _parse(body))
        comment = []
    return found


def _rest_of_declaration(line, rest):
    """Lines up to one that ends a declaration, or begins the inside of a class."""
    whole = line
    while not (whole.endswith((";", "{", ",")) and whole.count("(") == whole.count(")")):
        line = next(rest)
        whole += line
        yield line


def _add(found, code, comment, members):
    if NOT_SHOWN.match(code):
        return
    match = NAME.search(re.sub(r"\[\[.*?\]\] ?|^template <.*?>\n", "", code))
    name = next(filter(None, match.groups()))
    if not comment and found and found[-1].name == name:
        found[-1].code += "\n" + code
    else:
        found.append(Entry(name, code, comment, members))


def undocumented(text):
    """The names in a header that have no comment, with the declaration of each."""
    if not about(text):
        yield "the header", ""

    def look(among, owner):
        for entry in among:
            special = entry.name in {"operator=", owner, "~" + owner}
            given = len(re.findall("= (?:default|delete);", entry.code)) == entry.code.count(";")
            if not entry.comment and not (special and given):
                yield f"{owner}::{entry.name}".removeprefix("::"), entry.code.split("\n")[0]
            yield from look(entry.members, entry.name.partition("<")[0])
    yield from look(entries(text), "")
