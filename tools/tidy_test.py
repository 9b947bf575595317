#!/usr/bin/env python3
"""Shows each rule of tools/tidy a sample that breaks it, and one that does not."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tidy_rules  # noqa: E402
from api_snapshot import normalised  # noqa: E402
from draw_graph import checksum  # noqa: E402
from draw_rooms import graph  # noqa: E402
from tidy_headers import compile_alone, is_first_elsewhere  # noqa: E402
from tidy_source import Project, functions  # noqa: E402

CLIENT = """/// \\file
/// A client.
#pragma once

#include <string>

#include <holdfast/errc.hpp>

namespace holdfast {

/// Thread safety: a value type.
class client {
 public:
  int one() const { return 1; }  ///< Always.
 private:
  int secret_;
};

}  // namespace holdfast
"""

EXAMPLE = """#include <holdfast/client.hpp>

int main() {
  // [snippet first]
  if (true) {
    work();
  }
  // [snippet end]
}
"""

README = """<!-- snippet examples/first.cpp first -->
```cpp
if (true) {
  work();
}
```
"""

PATCH = """# Nobody holds anything; caught by: net_test *Locks.AreHeld*
--- a/docs/errors.md
+++ b/docs/errors.md
@@ -1,1 +1,1 @@
-`busy`: held.
+`busy`: free.
"""

ABOUT = "/// \\file\n/// A header.\n#pragma once\n"

ROOMS = """holdfast_room(base)
holdfast_room(net USES base)
holdfast_room(runtime USES net LINKS x)
holdfast_room(redis/resp USES base)
"""

# A project in which every rule is kept.
CLEAN = {
    "CMakeLists.txt": "project(holdfast VERSION 1.2.3 LANGUAGES CXX)\n",
    "src/CMakeLists.txt": ROOMS,
    "src/base/name.cpp": '#include "base/name.hpp"\n\n#include <sys/socket.h>\n',
    "src/base/name.hpp": "// A name.\n#pragma once\n",
    "src/runtime/run.cpp": '#include "base/name.hpp"\n#include "net/clock.hpp"\n',
    "src/redis/resp/writer.hpp": '#pragma once\n#include "base/name.hpp"\n',
    "src/net/clock.hpp": "#pragma once\n",
    "src/net/clock_test.cpp":
        '#include "net/clock.hpp"\n#include "net/times_for_tests.hpp"\nTEST_F(Locks, AreHeld) {}\n',
    "src/net/times_for_tests.hpp": "#pragma once\n",
    "src/net/clock.cpp": "int f() { return clock_gettime(0, nullptr); }  // steady_clock::now\n",
    "docs/rooms.svg": checksum(graph(ROOMS)),
    "include/holdfast/client.hpp": CLIENT,
    "include/holdfast/errc.hpp": ABOUT + "enum class errc {\n  busy = 1,  ///< Held.\n};\n",
    "include/holdfast/version.hpp": ABOUT + 'constexpr const char* version = "1.2.3";\n',
    "include/holdfast/asio.hpp": ABOUT + "#include <boost/asio/post.hpp>\n",
    "cli/main.cpp": '#include "cli/run.hpp"\n#include <CLI/CLI.hpp>\n',
    "cli/run.hpp": "#pragma once\n#include <holdfast/client.hpp>\n",
    "examples/first.cpp": EXAMPLE,
    "README.md": README,
    "CHANGELOG.md": "# Changes\n\n## [Unreleased]\n\n## 1.2.3\n",
    "docs/errors.md": "`busy`: held.\n",
    "tests/mutants/held.patch": PATCH,
}
LONG_FUNCTION = "void f(int a) {\n" + "  g();\n" * 69 + "}\n"

# Rule -> what breaks it: (path, its text, what the complaint must contain).
BROKEN = {
    "room_direction": [
        ("src/base/name.cpp", '#include "net/clock.hpp"\n', "base may not include net"),
        ("src/redis/resp/writer.hpp", '#include "net/clock.hpp"\n',
         "redis/resp may not include net"),
        ("src/base/name.cpp", '#include "redis/resp/writer.hpp"\n',
         "base may not include redis/resp"),
        ("src/base/name.cpp", '#include "clock.hpp"\n', "in no room"),
        ("src/base/name.cpp", '#include "holdfast_scripts.hpp"\n', "in no room")],
    "for_tests": [
        ("src/runtime/run.cpp", '#include "base/name.hpp"\n', "only tests include it"),
        ("src/net/clock.cpp", '#include "net/times_for_tests.hpp"\n', "other code includes it")],
    "rooms_drawn": [
        ("src/CMakeLists.txt", "holdfast_room(net)\nholdfast_room(api USES net)\n", "USES"),
        ("docs/rooms.svg", "<svg/>", "USES")],
    "outside_headers": [
        ("src/base/name.cpp", "#include <boost/asio.hpp>\n", "<boost/asio.hpp>"),
        ("src/base/name.cpp", "#include <gtest/gtest.h>\n", "<gtest/gtest.h>"),
        ("cli/main.cpp", '#include "net/clock.hpp"\n', "net/clock.hpp"),
        ("cli/main.cpp", '#include "../src/net/clock.hpp"\n', "clock.hpp"),
        ("examples/first.cpp", '#include "base/name.hpp"\n', "base/name.hpp")],
    "public_includes": [
        ("include/holdfast/client.hpp", "#include <sys/types.h>\n", "sys/types.h"),
        ("include/holdfast/client.hpp", '#include "base/name.hpp"\n', "base/name.hpp"),
        ("include/holdfast/client.hpp", "#include <boost/asio.hpp>\n", "boost")],
    "file_length": [
        ("src/net/a.cpp", "\n" * 401, "401 lines, at most 400"),
        ("src/net/a_test.cpp", "\n" * 601, "at most 600")],
    "function_length": [
        ("src/net/a.cpp", LONG_FUNCTION, "71 lines"),
        ("src/net/a.cpp", "namespace x {\nstruct s {\n" + LONG_FUNCTION + "};\n}\n", "71 lines"),
        ("tools/a.py", "def f():\n" + "    g()\n" * 70, "71 lines")],
    "line_length": [
        ("src/net/a.cpp", "//" + "x" * 99, "101 columns"),
        ("scripts/a", "#!/bin/sh\n#" + "x" * 100, "101 columns")],
    "banned_words": [
        ("src/runtime/a.cpp", "auto t = std::chrono::steady_clock::now();\n", "steady_clock"),
        ("src/net/a.cpp", "auto t = std::rand();\n", "random source"),
        ("src/net/a.cpp", "int t = rand();\n", "random source"),
        ("src/base/a.cpp", "clock_gettime(0, &t);\n", "net::now()"),
        ("src/net/a.cpp", "clock_gettime(CLOCK_MONOTONIC, &t);\n", "BOOTTIME"),
        ("src/base/a.cpp", "std::this_thread::sleep_for(t);\n", "wait for an event"),
        ("src/base/a.cpp", "usleep(1);\n", "wait for an event"),
        ("src/base/a.cpp", "// FIX" "ME: later\n", "an issue"),
        ("docs/a.md", "TO" "DO\n", "an issue"),
        ("docs/a.md", "see /wo" "rk/x\n", "relative"),
        ("scripts/a", "cd /ro" "ot/x\n", "relative")],
    "host_names": [("scripts/a", "curl https://example.org/x\n", "example.org")],
    "header_hygiene": [
        ("src/base/name.hpp", "int x;\n", "#pragma once"),
        ("src/base/name.hpp", "#pragma once\nusing namespace std;\n", "using namespace")],
    "thread_safety": [
        ("include/holdfast/client.hpp", "/// A client.\nclass client {\n};\n", "class client")],
    "documented_names": [
        ("include/holdfast/client.hpp", "#pragma once\n", "the header has no comment"),
        ("include/holdfast/client.hpp", CLIENT.replace("///<", "//"), "client::one has no comment"),
        ("include/holdfast/client.hpp", CLIENT.replace(" private:", "  client(int);\n private:"),
         "client::client has no comment"),
        ("include/holdfast/client.hpp",
         CLIENT.replace(" private:", "  /// One.\n  enum x {\n    a,\n  };\n private:"),
         "x::a has no comment")],
    "documented_snippets": [
        ("README.md", README.replace("work", "rest"), "differs"),
        ("README.md", README.replace("cpp first", "cpp second"), "no snippet second"),
        ("README.md", "```cpp\nint x;\n```\n", "C++ that is not cut"),
        ("README.md", "```yaml\nkind: Job\n```\n", "a manifest that is not cut")],
    "changelog": [("CHANGELOG.md", "# Changes\n\n## 1.2.3\n", "Unreleased")],
    "api_diff": [("docs/api.txt", "other\n", "differs")],
    "errors_documented": [("docs/errors.md", "nothing\n", "`busy`")],
    "mutants_fit": [
        ("docs/errors.md", "`busy`: taken.\n", "not there any more"),
        ("tests/mutants/held.patch", PATCH.replace("errors", "error"), "not there any more")],
    "mutants_name_tests": [
        ("tests/mutants/held.patch", PATCH.replace("Locks.AreHeld", "Locks.WereHeld"),
         "no test *Locks.WereHeld*")],
    "named_by_key_space": [
        ("src/net/a.cpp", 'auto key = "hf:{" + name + "}";\n', "for no tenant"),
        ("src/net/a.cpp", "const lock_key key{name};\n", "for no tenant"),
        ("src/redis/dialects/a.lua", "redis.call('GET', 'hf:waits')\n", "for no tenant")],
    "version": [("include/holdfast/version.hpp", 'version = "1.2.4";\n', "differs")],
}


def project_with(*changes):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**CLEAN, **dict(changes)}.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return Project(folder)


class Rules(unittest.TestCase):
    def test_every_rule_has_a_sample_that_breaks_it(self):
        self.assertEqual({rule.__name__ for rule in tidy_rules.RULES}, set(BROKEN))

    def test_each_sample_breaks_its_rule(self):
        for rule in tidy_rules.RULES:
            for path, text, complaint in BROKEN[rule.__name__]:
                with self.subTest(rule=rule.__name__, path=path, text=text[:60]):
                    found = [str(v) for v in rule(project_with((path, text)))]
                    self.assertTrue(any(complaint in one for one in found), found)

    def test_the_clean_sample_breaks_none(self):
        clean = project_with()
        api = tidy_rules.snapshot(clean)
        clean = project_with(("docs/api.txt", api))
        for rule in tidy_rules.RULES:
            with self.subTest(rule=rule.__name__):
                self.assertEqual([], [str(v) for v in rule(clean)])


class Reading(unittest.TestCase):
    def test_functions_are_measured_with_their_signature(self):
        text = ("int table[] = {\n1,\n2};\n"
                "void f(int a,\n       int b) {\n  auto g = [&] {\n    h(\"}\");\n  };\n}\n"
                "// void k() {\n")
        source = project_with(("src/net/a.cpp", text)).by_path["src/net/a.cpp"]
        self.assertEqual([(4, 9)], list(functions(source)))

    def test_the_snapshot_shows_declarations_only(self):
        shown = normalised(CLIENT)
        self.assertIn("  int one() const;\n", shown)
        self.assertNotIn("secret_", shown)
        self.assertNotIn("//", shown)


class Headers(unittest.TestCase):
    def test_a_header_that_needs_another_first_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {"src/base/good.hpp": "#pragma once\n#include <string>\n",
                               "src/base/bad.hpp": "#pragma once\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text + "inline std::string f();\n", encoding="utf-8")
            project = Project(root)
            said = {path: compile_alone(project.root, root, source)
                    for path, source in project.by_path.items()}
        self.assertEqual("", said["src/base/good.hpp"])
        self.assertIn("std", said["src/base/bad.hpp"])

    def test_one_with_which_its_own_source_begins_is_compiled_there(self):
        project = project_with(("src/net/a.hpp", ""), ("src/net/a.cpp", '#include "net/a.hpp"\n'),
                               ("src/net/b.hpp", ""), ("src/net/b.cpp", "#include <string>\n"
                                                                        '#include "net/b.hpp"\n'),
                               ("src/net/c.hpp", ""))
        compiled = {path for path, source in project.by_path.items()
                    if source.is_header and is_first_elsewhere(project, source)}
        self.assertEqual({"src/net/a.hpp"}, {path for path in compiled if "/net/" in path})


if __name__ == "__main__":
    unittest.main()
