"""The rules of tools/tidy. Each takes a Project and yields Violations; its docstring says why."""

import ast
import collections
import fnmatch
import itertools
import pathlib
import re

from api_reference import undocumented
from api_snapshot import snapshot
from draw_graph import checksum
from draw_rooms import graph, rooms
from tidy_source import (blank_comments, functions, includes, line_of, snippets, Violation)

# The banned words stand in these files as patterns and samples.
OWN_FILES = {"tools/tidy_rules.py", "tools/tidy_test.py"}
GENERATED_FOR = {"holdfast_scripts.hpp": "src/redis/dialects/", "completion_scripts.hpp": "cli/",
                 "bench_scripts.hpp": "cli/", "page_files.hpp": "cli/"}


def room_of(path, allowed):
    """The room that a file lies in, or an empty string: redis/resp of redis/resp/value.hpp."""
    folder = pathlib.PurePath(path).parent
    while folder.name and str(folder) not in allowed:
        folder = folder.parent
    return str(folder) if folder.name else ""


def room_direction(project):
    """Includes between rooms point only where src/CMakeLists.txt says."""
    allowed = rooms(project.text("src/CMakeLists.txt"))
    for source in project.cpp("src"):
        room = room_of(source.path.removeprefix("src/"), allowed)
        for include in includes(source):
            target = room_of(include.name, allowed)
            if include.quoted and target in allowed and target not in allowed.get(room, set()):
                yield source.violation(
                    include.line,
                    f"room {room} may not include {target}: see src/CMakeLists.txt")
            elif include.quoted and target not in allowed and not is_generated(source, include):
                yield source.violation(
                    include.line, f'"{include.name}" is in no room: name it "ROOM/FILE"')


def is_of_tests(path):
    return path.endswith(("_test.cpp", "_for_tests.hpp")) or path.startswith(("tests/", "bench/"))


def for_tests(project):
    """A header under src/ that only tests include is named *_for_tests.hpp, and no other is."""
    users = collections.defaultdict(set)
    for source in project.cpp("src", "tests", "bench", "cli"):
        for include in includes(source):
            users["src/" + include.name].add(source.path)
    for source in project.cpp("src"):
        own = source.path.removesuffix(".hpp") + ".cpp"
        others = users[source.path] - {own}
        is_marked = source.path.endswith("_for_tests.hpp")
        if source.is_header and others and is_marked != all(map(is_of_tests, others)):
            yield source.violation(1, "other code includes it" if is_marked else
                                   "only tests include it: name it *_for_tests.hpp")


def rooms_drawn(project):
    """docs/rooms.svg shows the arrows of src/CMakeLists.txt."""
    if checksum(graph(project.text("src/CMakeLists.txt"))) not in project.text("docs/rooms.svg"):
        yield Violation("docs/rooms.svg", 1, "differs from USES: tools/draw_rooms.py")


def is_generated(source, include):
    return source.path.startswith(GENERATED_FOR.get(include.name, "\0"))


THIRD_PARTY = ("boost/", "fmt/", "nlohmann/", "CLI/", "hiredis/", "asio/", "asio.hpp",
               "microhttpd.h")
TESTING = ("gtest/", "gmock/")


def outside_headers(project):
    """The library needs no other library; the program and the examples only its public headers."""
    for source in project.cpp("src"):
        banned = THIRD_PARTY + (() if source.is_test else TESTING)
        banned += () if source.is_under("src/net") else ("openssl/",)
        for include in includes(source):
            if not include.quoted and include.name.startswith(banned):
                yield source.violation(include.line, f"src/ does not use <{include.name}>")
    for source in project.cpp("cli", "examples"):
        for include in includes(source):
            beside = pathlib.PurePosixPath(source.path).parent / include.name
            inside = {str(beside), include.name} & project.by_path.keys()
            if include.quoted and not any(
                    path.startswith(("cli/", "examples/")) for path in inside):
                if not is_generated(source, include):
                    yield source.violation(
                        include.line, f'"{include.name}": only <holdfast/...> and its own headers')


def public_includes(project):
    """Public headers include the standard library and each other; asio.hpp also Boost.Asio."""
    for source in project.cpp("include"):
        for include in includes(source):
            bridge = source.path.endswith("/asio.hpp") and re.match(r"boost/|asio", include.name)
            standard = re.fullmatch(r"[a-z_]+", include.name) and not include.quoted
            own = include.name.startswith("holdfast/") and not include.quoted
            if not (standard or own or bridge):
                yield source.violation(include.line, f"public headers do not use {include.name}")


def file_length(project):
    """At most 400 lines a file, 600 a test."""
    for source in project.sources:
        limit = 600 if source.is_test else 400
        if source.is_code and len(source.lines) > limit:
            yield source.violation(
                limit + 1, f"{len(source.lines)} lines, at most {limit}: split it")


def function_length(project):
    """At most 70 lines a function."""
    for source in project.sources:
        for first, last in function_ranges(source):
            if last - first + 1 > 70:
                yield source.violation(first, f"a function of {last - first + 1} lines, at most 70")


def function_ranges(source):
    if source.is_cpp:
        yield from functions(source)
    elif source.suffix == ".py":
        for node in ast.walk(ast.parse(source.text)):
            if isinstance(node, ast.FunctionDef):
                yield node.lineno, node.end_lineno


def line_length(project):
    """At most 100 columns in code."""
    for source in project.sources:
        if not source.is_code:
            continue
        for number, line in enumerate(source.lines, 1):
            if len(line) > 100:
                yield source.violation(number, f"{len(line)} columns, at most 100")


# (pattern, what to use instead, where it is allowed), looked for in C++ without comments.
BANNED_CODE = (
    (r"\b(system|steady|high_resolution)_clock::now\b", "net::now(), or `now` as an argument",
     ("src/net/",)),
    # The program and the benchmarks may not look into src/: they read the clock themselves.
    (r"\bclock_gettime\b", "net::now()", ("src/net/", "cli/", "bench/")),
    (r"\bCLOCK_MONOTONIC\b", "CLOCK_BOOTTIME, which a suspended machine does not stop",
     ("cli/", "bench/")),
    (r"\bstd::rand\b|(?<![\w:.])s?rand\(", "a random source that is passed in", ()),
    (r"\bsleep_(for|until)\(|\b(u|nano)sleep\(", "wait for an event, with a bound",
     ("bench/",)),
)

# Such patterns, looked for in all text.
BANNED_TEXT = (
    (r"\b(FIXME|TODO|XXX)\b", "an issue, or the work itself", ()),
    (r"(?<![\w.~$}])/(work|root)/", "a path relative to the project", ()),
    (r"\.\./shared\b", "our own words", ()),
)

BUILD_FILES = ("scripts/", ".ci/", "cmake/", "tests/install/", "CMakeLists.txt",
               "CMakePresets.json")


def banned_words(project):
    """What has a better replacement here."""
    for source in project.sources:
        rules = [(source.text, BANNED_TEXT)]
        if source.is_cpp:
            rules.append((source.code, BANNED_CODE))
        for text, table in rules:
            for pattern, instead, allowed in table:
                if source.path in OWN_FILES or source.path.startswith(allowed or ("\0",)):
                    continue
                for match in re.finditer(pattern, text):
                    yield source.violation(
                        line_of(text, match.start()), f"`{match.group()}`: use {instead}")


def host_names(project):
    """What is built and fetched comes from where the machine's own configuration says."""
    for source in project.sources:
        if source.path.startswith(BUILD_FILES) or source.path.endswith("CMakeLists.txt"):
            for match in re.finditer(r"https?://[\w.-]+", source.text):
                yield source.violation(
                    line_of(source.text, match.start()), f"`{match.group()}`: no host names here")


def header_hygiene(project):
    """Headers open with `#pragma once` and leave names in their namespaces."""
    for source in project.cpp():
        if not source.is_header or source.is_under("tests"):
            continue
        code = blank_comments(source.text).split("\n")
        first = next((line.strip() for line in code if line.strip()), "")
        if first != "#pragma once":
            yield source.violation(1, "a header opens with `#pragma once`")
        for number, line in enumerate(source.code.splitlines(), 1):
            if re.match(r"using\s+namespace\b", line):
                yield source.violation(number, "`using namespace` in a header")


PUBLIC_CLASS = re.compile(
    r"(?P<comment>(?:^///[^\n]*\n)*)(?:^template[^\n]*\n)?^class (?P<head>[^;{]*)\{", re.M)


def thread_safety(project):
    """Every public class says `Thread safety:`."""
    for source in project.cpp("include/holdfast"):
        if source.is_under("include/holdfast/detail"):
            continue
        public = re.sub(r"(?ms)^namespace detail \{$.*?^\}  // namespace detail$",
                        lambda match: "\n" * match.group().count("\n"), source.text)
        for match in PUBLIC_CLASS.finditer(public):
            if "Thread safety:" not in match.group("comment"):
                head = match.group("head").split(":")[0].strip()
                yield source.violation(
                    line_of(public, match.start("head")), f"class {head}: no `Thread safety:`")


def documented_names(project):
    """Every public name has a comment: the site's API reference is made of them."""
    for source in project.cpp("include/holdfast"):
        if not source.is_under("include/holdfast/detail"):
            for name, declaration in undocumented(source.text):
                yield source.violation(line_of(source.text, source.text.find(declaration)),
                                       f"{name} has no comment")


SNIPPET = re.compile(r"<!-- snippet (?P<path>\S+) (?P<name>[\w-]+) -->\n```\w*\n(?P<code>.*?)^```",
                     re.S | re.M)


CUT = {"```cpp": "C++", "```ini": "a unit", "```yaml": "a manifest", "```dockerfile": "an image"}


def documented_snippets(project):
    """C++ in documents is a marked piece of a compiled example, word for word. So are units,
    manifests and images: tests give them to what reads them."""
    for source in project.sources:
        if source.suffix != ".md":
            continue
        quoted = set()
        for match in SNIPPET.finditer(source.text):
            line = line_of(source.text, match.start())
            quoted.add(line + 1)
            example = project.by_path.get(match.group("path"))
            piece = snippets(example).get(match.group("name")) if example else None
            if piece is None:
                yield source.violation(
                    line, f"no snippet {match.group('name')} in {match.group('path')}")
            elif piece != match.group("code").splitlines():
                yield source.violation(line, f"differs from {match.group('path')}")
        for number, text in enumerate(source.lines, 1):
            if text.strip() in CUT and number not in quoted:
                yield source.violation(number,
                                       f"{CUT[text.strip()]} that is not cut from examples/")


def changelog(project):
    """CHANGELOG.md opens with what is not released yet."""
    sections = re.findall(r"^## .*$", project.text("CHANGELOG.md"), re.M)
    if not sections or sections[0].strip("# []") != "Unreleased":
        yield Violation("CHANGELOG.md", 1, "its first section is not `## Unreleased`")


def api_diff(project):
    """docs/api.txt is the public API, so that each change of it is seen."""
    if project.text("docs/api.txt") != snapshot(project):
        yield Violation("docs/api.txt", 1, "differs: tools/api_snapshot.py > docs/api.txt")


def errors_documented(project):
    """Every value of `errc` is explained in docs/."""
    documents = "".join(s.text for s in project.sources
                        if s.is_under("docs") and s.suffix == ".md")
    header = "include/holdfast/errc.hpp"
    enumeration = re.search(r"enum class errc \{(.*?)\};", project.text(header), re.S)
    for value in re.findall(r"^\s*(\w+)", enumeration.group(1) if enumeration else "", re.M):
        if f"`{value}`" not in documents:
            yield Violation(header, 1, f"`{value}` is not explained in docs/")


def version(project):
    """CMake and the public header name the same version."""
    cmake = re.search(r"^project\(holdfast VERSION (\S+)", project.text("CMakeLists.txt"), re.M)
    header = re.search(r'version = "(.*)";', project.text("include/holdfast/version.hpp"))
    if not cmake or not header or cmake.group(1) != header.group(1):
        yield Violation("include/holdfast/version.hpp", 1, "differs from project(VERSION) in CMake")


def mutants_fit(project):
    """Each patch of tests/mutants/ changes lines that are there: `patch` would find others."""
    for source in project.sources:
        if not source.is_under("tests/mutants") or source.suffix != ".patch":
            continue
        broken = None
        for number, line in enumerate(source.lines, 1):
            if line.startswith("--- a/"):
                broken = project.by_path.get(line.removeprefix("--- a/"))
            if not line.startswith("@@"):
                continue
            hunk = itertools.takewhile(lambda one: one[:1] in {" ", "-", "+", ""},
                                       source.lines[number:])
            before = [one[1:] for one in hunk if not one.startswith(("+", "--- a/"))]
            if broken is None or "\n".join([*before, ""]) not in broken.text:
                yield source.violation(number, "what it changes is not there any more")


def mutants_name_tests(project):
    """Each filter in the first line of a patch of tests/mutants/ is that of a test."""
    tests = [f"{suite}.{test}" for source in project.sources if source.is_test
             for suite, test in re.findall(r"\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)", source.text)]
    for source in project.sources:
        if not source.is_under("tests/mutants") or source.suffix != ".patch":
            continue
        caught_by = source.lines[0].partition("caught by: ")[2]
        for wanted in re.findall(r"[^\s;:]*\w[^\s;:]*", re.sub(r"(^|;) *\S+", ";", caught_by)):
            # `Each/Suite.Test/kind` of a test with parameters
            plain = re.sub(r"^[^./]*/", "", re.sub(r"/[^./]*$", "", wanted.lstrip("-")))
            if not fnmatch.filter(tests, plain):
                yield source.violation(1, f"there is no test {wanted}")


def named_by_key_space(project):
    """Keys and channels are named through a key_space, so that none is the same for all tenants."""
    where = re.compile(r"src/(base/(key_space|lock_key)\.[ch]pp|"
                       r"redis/resp/sample_replies_for_tests\.hpp|"
                       r"redis/dialects/holdfast/parts/channels\.lua)")
    for source in project.sources:
        if not source.is_under("src") or source.is_test or where.fullmatch(source.path):
            continue
        if source.suffix == ".lua":
            pattern, text = r"'hf:", source.text
        elif source.suffix in {".cpp", ".hpp"}:
            pattern, text = r'"hf:|\block_key(\s+\w+)?[({][^,(){}]+[)}]', source.text
        else:
            continue
        for match in re.finditer(pattern, text):
            yield source.violation(line_of(text, match.start()),
                                   "is named for no tenant: use the key_space of the client")


RULES = (room_direction, for_tests, rooms_drawn, outside_headers, public_includes, file_length,
         function_length, line_length, banned_words, host_names, header_hygiene, thread_safety,
         documented_names, documented_snippets, changelog, api_diff, errors_documented, version,
         mutants_fit, mutants_name_tests, named_by_key_space)
