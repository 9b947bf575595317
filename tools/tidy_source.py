"""Reads the project for tools/tidy: its files, C++ without comments, functions, snippets."""

import dataclasses
import functools
import pathlib
import re

IGNORED_FOLDERS = {".git", "build"}
CODE_SUFFIXES = {".cpp", ".hpp", ".lua", ".py", ".cmake", ".sh"}


@dataclasses.dataclass(frozen=True)
class Violation:
    """What a rule found, and where. Sorts by place."""

    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Source:
    """One text file of the project."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8", errors="replace")
        self.lines = self.text.splitlines()

    @property
    def suffix(self):
        return pathlib.PurePosixPath(self.path).suffix

    @property
    def is_cpp(self):
        return self.suffix in {".cpp", ".hpp"}

    @property
    def is_header(self):
        return self.suffix == ".hpp"

    @property
    def is_code(self):
        script = self.suffix == "" and self.text.startswith("#!")
        return self.suffix in CODE_SUFFIXES or script or self.path.endswith("CMakeLists.txt")

    @property
    def is_test(self):
        return self.path.startswith("tests/") or re.search(r"_test\.\w+$", self.path) is not None

    def is_under(self, *folders):
        return any(self.path.startswith(folder + "/") for folder in folders)

    @functools.cached_property
    def code(self):
        """The text with comments and literals blanked out, line for line (C++ only)."""
        return blank_literals(blank_comments(self.text)) if self.is_cpp else self.text

    def violation(self, line, message):
        return Violation(self.path, line, message)


class Project:
    """All text files below a root, but for what is built."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.sources = [Source(self.root, path) for path in sorted(self._files())]
        self.by_path = {source.path: source for source in self.sources}

    def _files(self):
        for path in self.root.rglob("*"):
            inside = path.relative_to(self.root).parts
            if IGNORED_FOLDERS.isdisjoint(inside) and "corpus" not in inside and path.is_file():
                if path.suffix not in {".pyc", ".png"}:
                    yield path

    def text(self, path):
        source = self.by_path.get(path)
        return source.text if source else ""

    def cpp(self, *folders):
        return [s for s in self.sources if s.is_cpp and (not folders or s.is_under(*folders))]


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group())


RAW_STRING = r'R"(?P<tag>[^()\s\\]*)\(.*?\)(?P=tag)"'
STRING = r'"(?:[^"\\\n]|\\.)*"'
CHARACTER = r"(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)+'"
COMMENT = r"//[^\n]*|/\*.*?\*/"
TOKENS = re.compile("|".join([RAW_STRING, STRING, CHARACTER, f"(?P<comment>{COMMENT})"]), re.S)


def blank_comments(text, but="\0"):
    """C++ text with its comments replaced by spaces, except those that begin with `but`."""
    def replaced(match):
        comment = match.group("comment")
        return _blank(match) if comment and not comment.startswith(but) else match.group()
    return TOKENS.sub(replaced, text)


def blank_literals(text):
    """C++ text without comments, its string and character literals replaced by spaces."""
    return TOKENS.sub(lambda m: m.group() if m.group().startswith("//") else _blank(m), text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


@dataclasses.dataclass(frozen=True)
class Include:
    line: int
    name: str
    quoted: bool


def includes(source):
    for number, line in enumerate(blank_comments(source.text).splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', line):
            yield Include(number, match.group(1) or match.group(2), match.group(1) is None)


SCOPE = re.compile(
    r"^\s*(template\s*<.*>\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern)\b", re.S)


def functions(source):
    """(first line, last line) of each outermost function body, signature included."""
    code = re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", _blank, source.code)
    scopes, start, opened = [], 0, None
    for match in re.finditer(r"[{};]", code):
        mark = match.group()
        if mark == "{":
            head = code[start:match.start()]
            is_function = not SCOPE.match(head) and ")" in head and not head.rstrip().endswith("=")
            if is_function and opened is None:
                first = start + len(head) - len(head.lstrip())
                opened = (len(scopes), line_of(code, first))
            scopes.append(mark)
        elif mark == "}" and scopes:
            scopes.pop()
            if opened and opened[0] == len(scopes):
                yield opened[1], line_of(code, match.start())
                opened = None
        start = match.end()


SNIPPET_BEGIN = re.compile(r"^\s*(?://|#) \[snippet (?P<name>[\w-]+)\]\s*$")


def snippets(source):
    """Marked pieces of an example: name -> lines, without the indentation they share."""
    found, name, piece = {}, None, []
    for line in source.lines:
        match = SNIPPET_BEGIN.match(line)
        if match and match.group("name") != "end":
            name, piece = match.group("name"), []
        elif match and name:
            indents = [len(row) - len(row.lstrip()) for row in piece if row.strip()]
            found[name] = [row[min(indents, default=0):] for row in piece]
            name = None
        elif name:
            piece.append(line)
    return found
