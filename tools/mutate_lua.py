"""Mutants of the Lua scripts, and test programs that have them without being built again.

A script is a constant in a program: its text, and the SHA-1 of that. Both are replaced in a copy
of the program, where a text that became shorter is filled up with empty lines; comments give way
where it became longer. So a mutant costs a copy of a file.
"""

import collections
import ctypes
import functools
import hashlib
import re

from mutate_common import Edit, Mutant, Token, number_mutations

INCLUDE = re.compile(r"--@include ([a-z_]+)\n")
CONSTANT = re.compile(r'constexpr resp::script (\w+)\{\s*"([^"]*)",\s*R"lua\((.*?)\)lua",\s*'
                      r'"([0-9a-f]{40})"', re.DOTALL)
TOKEN = re.compile(r"""
    (?P<comment>--[^\n]*)
  | (?P<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")
  | (?P<number>\d+(?:\.\d+)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<operator>\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}\[\];:,.])
  | (?P<space>\s+)""", re.VERBOSE)

SWAPS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
         "==": ("~=",), "~=": ("==",), "+": ("-",), "*": ("/",), "/": ("*",),
         "and": ("or",), "or": ("and",), "true": ("false",), "false": ("true",)}
KEYWORDS = {"if", "then", "else", "elseif", "end", "for", "while", "do", "repeat", "until", "local",
            "function", "return", "break", "and", "or", "not", "in", "nil"}
# What a statement on several lines ends or begins a line with.
OPEN_ENDS = {"and", "or", "not", "..", "+", "-", "*", "/", "=", ",", "==", "~=", "<", ">", "<=",
             ">=", "then", "do"}


def tokens_of(text):
    found = []
    for match in TOKEN.finditer(text):
        if match.lastgroup not in ("comment", "space"):
            found.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
    return found


# `+ 0` makes a number of a string.
def is_conversion(tokens, at):
    return tokens[at].text == "+" and tokens[at + 1].text == "0"


def operator_edits(tokens):
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        if token.kind == "string" or is_conversion(tokens, at):
            continue
        for other in SWAPS.get(token.text, ()):
            yield Edit(token.start, token.end, other, f"{token.text} -> {other}")
        if token.text == "-" and before and (before.kind in ("number", "string") or
                                             before.text in (")", "]") or
                                             before.kind == "name" and
                                             before.text not in KEYWORDS):
            yield Edit(token.start, token.end, "+", "- -> +")
        if token.text == "not":
            yield Edit(token.start, token.end, "", "not -> nothing")
        if token.text in ("math.min", "min", "max") and before and before.text == ".":
            other = "max" if token.text == "min" else "min"
            yield Edit(token.start, token.end, other, f"{token.text} -> {other}")


def constant_edits(tokens):
    for at, token in enumerate(tokens):
        if token.kind == "number" and is_index(tokens, at):
            other = str(int(token.text) + 1)
            yield Edit(token.start, token.end, other, f"{token.text} -> {other}")
        elif token.kind == "number" and not is_conversion(tokens, at - 1):
            is_same = token.text == "1" and is_begin_of_sub(tokens, at)
            yield from (edit for edit in number_mutations(token)
                        if not (is_same and edit.text == "0"))
        elif token.kind == "string" and not is_name_of_command(tokens, at):
            inside = token.text[1:-1]
            if re.fullmatch(r"\d+", inside):
                yield from (Edit(edit.start, edit.end, f"'{edit.text}'", edit.operator)
                            for edit in number_mutations(token, inside))
            elif inside:
                yield Edit(token.start, token.end, "'mutant'", f"{token.text} -> 'mutant'")


# The first character of a text is at 1; string.sub begins there also when it is told 0.
def is_begin_of_sub(tokens, at):
    depth, commas = 0, 0
    for here in range(at - 1, 2, -1):
        word = tokens[here].text
        depth += (word in ")]") - (word in "([")
        commas += word == "," and depth == 0
        if depth < 0:
            is_begin = commas == (tokens[here - 2].text == ".")  # text.sub(s, 1) or s:sub(1)
            return tokens[here - 1].text == "sub" and is_begin
    return False


# In KEYS[1] and ARGV[1].
def is_index(tokens, at):
    return at >= 2 and tokens[at - 1].text == "[" and tokens[at - 2].text in ("KEYS", "ARGV")


# An unknown command fails in every test.
def is_name_of_command(tokens, at):
    return at >= 2 and tokens[at - 1].text == "(" and tokens[at - 2].text in ("call", "pcall")


def branch_edits(tokens):
    """Conditions that are always true or never."""
    for at, token in enumerate(tokens):
        if token.text not in ("if", "elseif", "while"):
            continue
        end = next(i for i in range(at, len(tokens)) if tokens[i].text in ("then", "do"))
        values = ("false",) if token.text == "while" else ("true", "false")
        for value in values:
            yield Edit(tokens[at + 1].start, tokens[end - 1].end, value,
                       f"{token.text} -> {token.text} {value}")


def statement_edits(text, tokens):
    """Statements that are gone: each begins its line and is no `local`."""
    for at, token in enumerate(tokens):
        line_start = text.rfind("\n", 0, token.start) + 1
        if text[line_start:token.start].strip() or token.kind != "name":
            continue
        if token.text in KEYWORDS and token.text not in ("return", "break"):
            continue
        end = statement_end(text, tokens, at)
        if end is not None:
            yield Edit(token.start, tokens[end].end, "", "removed")
    for match in INCLUDE.finditer(text):
        yield Edit(match.start(), match.end() - 1, "", "removed")


def statement_end(text, tokens, at):
    """The index of its last token; None where it goes on in a way that is not understood."""
    depth = 0
    for here in range(at, len(tokens)):
        word = tokens[here].text
        depth += (word in "({[") - (word in ")}]") if tokens[here].kind == "operator" else 0
        if depth < 0 or word == "function":
            return None
        following = tokens[here + 1] if here + 1 < len(tokens) else None
        if depth == 0 and (following is None or "\n" in text[tokens[here].end:following.start] or
                           following.text == "end"):
            if word in OPEN_ENDS or following is not None and following.text in OPEN_ENDS:
                continue
            return here
    return None


def edits_of(text):
    tokens = tokens_of(text)
    yield from operator_edits(tokens)
    yield from constant_edits(tokens)
    yield from branch_edits(tokens)
    yield from statement_edits(text, tokens)


class Scripts:
    """The scripts below src/redis/dialects, as cmake/HoldfastScripts.cmake puts them together."""

    def __init__(self, root):
        self.folder = root / "src/redis/dialects"
        self.tell_in_slot = self.read(self.folder / "holdfast/parts/tell_in_slot.lua")
        self.files = sorted(self.folder.rglob("*.lua"))
        self.users = collections.defaultdict(list)  # of each file: the scripts that have it
        for file in self.files:
            if file.parent.name != "parts":
                for part in self.parts_of(file):
                    self.users[part].append(file)

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def read(file):
        return file.read_text()

    def part(self, folder, name):
        for place in (folder, folder / "..", self.folder):
            file = place / "parts" / f"{name}.lua"
            if file.exists():
                return file.resolve()
        raise FileNotFoundError(f"{folder}: {name}")

    def expand(self, file, changed=None, text=None, seen=None):
        """The text of a script, where `changed` has another `text`."""
        body = text if file == changed else self.read(file)
        while match := INCLUDE.search(body):
            part = self.part(file.parent, match.group(1))
            if seen is not None:
                seen.add(part)
            body = body.replace(match.group(0), text if part == changed else self.read(part))
        return body

    def parts_of(self, file):
        seen = {file}
        self.expand(file, seen=seen)
        return seen

    def in_cluster(self, text):
        return self.tell_in_slot + text.replace("redis.pcall('PUBLISH', ", "publish(")

    def changed_texts(self, mutant):
        """The old and the new text of each constant that has this mutant."""
        for file in self.users[mutant.file]:
            old = self.expand(file)
            new = self.expand(file, mutant.file, mutant.mutated)
            if old != new:
                yield old, new
                yield self.in_cluster(old), self.in_cluster(new)

    def mutated_scripts(self, mutant):
        """{name: text} of each script that has this mutant, also of its form for clusters."""
        found = {}
        for file in self.users[mutant.file]:
            name = str(file.relative_to(self.folder).with_suffix(""))
            text = self.expand(file, mutant.file, mutant.mutated)
            if text != self.expand(file):
                found |= {name: text, f"{name}@cluster": self.in_cluster(text)}
        return found

    def mutants(self, wanted):
        for file in self.files:
            if wanted(file):
                yield from self.mutants_of(file)

    def mutants_of(self, file):
        text = self.read(file)
        found, seen = [], set()
        for edit in edits_of(text):
            mutant = Mutant(file, text, edit)
            user = self.users[file][0] if self.users[file] else None
            if user is None or mutant.mutated in seen:
                continue
            seen.add(mutant.mutated)
            if compiles(self.expand(user, file, mutant.mutated)):
                found.append(mutant)
        return sorted(found, key=lambda mutant: mutant.edit.start)


@functools.lru_cache(maxsize=1)
def lua():
    library = ctypes.CDLL("liblua5.1.so.0")
    library.luaL_newstate.restype = ctypes.c_void_p
    library.luaL_loadstring.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.lua_settop.argtypes = [ctypes.c_void_p, ctypes.c_int]
    return library, ctypes.c_void_p(library.luaL_newstate())


def compiles(text):
    library, state = lua()
    failed = library.luaL_loadstring(state, text.encode())
    library.lua_settop(state, 0)
    return failed == 0


def fit(text, size):
    """The same script in exactly so many bytes: without comments as far as needed."""
    lines = text.split("\n")
    while len(text.encode()) > size:
        at = next((i for i, line in enumerate(lines) if line.lstrip().startswith("--")), None)
        if at is not None:
            del lines[at]
        else:
            shorter = [line.lstrip() for line in lines]
            if shorter == lines:
                raise ValueError("no room for the mutant")
            lines = shorter
        text = "\n".join(lines)
    return text.encode() + b"\n" * (size - len(text.encode()))


class Program:
    """A test program; copies of it have mutants."""

    def __init__(self, path):
        self.path = path
        self.bytes = path.read_bytes()
        self.found = {}

    def places(self, part):
        """Where these bytes are in the program: many mutants change the same script."""
        if part not in self.found:
            self.found[part], at = [], self.bytes.find(part)
            while at >= 0:
                self.found[part].append(at)
                at = self.bytes.find(part, at + 1)
        return self.found[part]

    def with_mutant(self, scripts, mutant):
        """A copy of the program with the mutant; None when it has none of the scripts concerned."""
        changes = []
        for old, new in scripts.changed_texts(mutant):
            before = old.encode()
            places = self.places(b"\0" + before + b"\0")
            if places:
                after = fit(new, len(before))
                changes += [(at + 1, after) for at in places]
                changes += [(at, sha1(after)) for at in self.places(sha1(before))]
        if not changes:
            return None
        image = bytearray(self.bytes)
        for at, after in changes:
            image[at:at + len(after)] = after
        return image


def asked_of_player(scripts, mutants, transcripts_of):
    """What tests/scripts/transcript_mutants_test.cpp reads: first of no mutant at all."""
    every = sorted({name for mutant in mutants for name in transcripts_of(mutant)})
    parts = [f"mutant 0 {','.join(every)}\n".encode()]
    for mutant in mutants:
        parts.append(f"mutant {mutant.number} {','.join(transcripts_of(mutant))}\n".encode())
        for name, text in scripts.mutated_scripts(mutant).items():
            body = text.encode()
            parts += [f"script {name} {len(body)}\n".encode(), body, b"\n"]
    return b"".join(parts)


def sha1(text):
    return hashlib.sha1(text).hexdigest().encode()


def check_program(scripts, program):
    """Which scripts are not in the program: it was built from others."""
    missing = []
    for file in scripts.files:
        if file.parent.name != "parts":
            text = scripts.expand(file).encode()
            if b"\0" + text + b"\0" not in program.bytes:
                missing.append(file)
    return missing
