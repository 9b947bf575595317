#!/usr/bin/env python3
"""Breaks the Lua scripts and src/lease in every small way, and tells which no test notices.

    tools/mutate.py [--sample N] [--jobs N] [--list] [--transcripts | --quick] [--survivors]
                    [--least PERCENT] [FILE...]

Each mutant is one edit: an operator, a constant, a condition that is always true or never, a
statement that is gone. For each file the nearest tests run first; the first that fails, crashes or
does not end has caught the mutant. FILE: only the mutants of these files and folders. --sample: so
many of them, always the same until their lines change. --transcripts: of the scripts, and only
what their transcripts notice; --quick: only the nearest tests. --survivors: those that survived
last time. First the one, then the other: most are caught by the cheapest test.
The outcome of each is in build/mutate/results.txt. Mutants that no test could notice are explained
in tests/mutants/equivalent.txt and do not run.
Exit code 1: fewer than 95 of 100 (--least) were caught, of those that do not stand there.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import mutate_cpp  # noqa: E402
import mutate_lua  # noqa: E402
from mutate_catchers import SECONDS, catchers_of, transcripts_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build/mutate"
# A program that is being written while another one starts would be open in that one, and could not
# be executed.
starting_or_writing = threading.Lock()


def run_test(program, wanted, environment, seconds=SECONDS):
    """What failed: the name of a test, `crash` or `time-out`; None when all passed."""
    environment = {**os.environ, "HOLDFAST_TEST_SERVERS": "redis-server", **environment}
    with starting_or_writing:
        process = subprocess.Popen(
            [program, "--gtest_fail_fast", "--gtest_brief=1", f"--gtest_filter={wanted}"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        said = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        said = "time-out"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    if said == "time-out":
        return "time-out"
    if process.returncode == 0:
        return None
    failed = [line.split("]", 1)[1].split(",")[0].split(" (")[0].strip()
              for line in said.splitlines() if line.startswith("[  FAILED  ]") and "." in line]
    return failed[0] if failed else "crash"


class Language:
    """Mutants of one language, and how a test program gets one."""

    def __init__(self, programs):
        self.programs = programs
        self.killers = collections.defaultdict(collections.deque)  # (file, program): names of tests
        self.unbroken = set()
        self.lock = threading.Lock()
        self.is_quick = False

    def check_unbroken(self, program, wanted):
        with self.lock:
            if (program, wanted) not in self.unbroken:
                failed = run_test(self.programs[program], wanted, {}, 5 * SECONDS)
                if failed:
                    sys.exit(f"error: {program} {wanted}: {failed}, although nothing is broken")
                self.unbroken.add((program, wanted))

    def outcome(self, mutant):
        catchers = [(program, wanted) for program, wanted in catchers_of(ROOT, mutant.file)
                    if program in self.programs][:1 if self.is_quick else None]
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            for program in dict.fromkeys(program for program, _ in catchers):
                known = list(self.killers[mutant.file, program])
                if known and (caught := self.run(mutant, program, ":".join(known), folder)):
                    return caught
            for program, wanted in catchers:
                self.check_unbroken(program, wanted)
                if caught := self.run(mutant, program, wanted, folder):
                    return caught
        return None

    def run(self, mutant, program, wanted, folder):
        path, environment = self.prepare(mutant, program, pathlib.Path(folder))
        failed = path and run_test(path, wanted, environment)
        if failed and "." in failed:
            known = self.killers[mutant.file, program]
            if failed not in known:
                known.appendleft(failed)
                while len(known) > 6:
                    known.pop()
        return failed and f"{program} {failed}"


class Lua(Language):
    def __init__(self, build, wanted):
        super().__init__(programs_in(build))
        self.scripts = mutate_lua.Scripts(ROOT)
        self.mutants = list(self.scripts.mutants(wanted))
        self.images = {}
        self.noticed = {}  # by the transcripts: number of the mutant -> transcript and line
        self.only_plays = False

    def build(self, mutants):
        # Debug information is most of a program.
        if self.is_quick:
            self.programs = {"scripts_test": self.programs["scripts_test"]}
        for name, path in list(self.programs.items()):
            small = WORK / name
            subprocess.run(["objcopy", "--strip-debug", path, small], check=True)
            self.images[name] = mutate_lua.Program(small)
            self.programs[name] = small
        missing = mutate_lua.check_program(self.scripts, self.images["scripts_test"])
        if missing:
            sys.exit(f"error: scripts_test was built from other scripts: {missing[0]}")
        for number, mutant in enumerate(mutants):
            mutant.number = number + 1
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            # Those of a file together: what has noticed one is played first with the next.
            size = -(-len(mutants) // os.cpu_count())
            shares = [mutants[first:first + size] for first in range(0, len(mutants), size)]
            for noticed in pool.map(self.play, filter(None, shares)):
                self.noticed |= noticed
        return mutants

    def play(self, mutants):
        """What the transcripts notice: one server plays them with many mutants."""
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            asked = pathlib.Path(folder) / "mutants"
            asked.write_bytes(mutate_lua.asked_of_player(
                self.scripts, mutants, lambda mutant: transcripts_of(ROOT, mutant.file)))
            environment = {**os.environ, "HOLDFAST_MUTANTS": str(asked)}
            subprocess.run(
                [self.programs["scripts_test"], "--gtest_filter=TranscriptsOfMutants.*"],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
            lines = (line.partition(" ") for line in
                     asked.with_suffix(".out").read_text(errors="replace").splitlines())
            told = {int(number): line for number, _, line in lines}
        if told.pop(0, "it does not run"):
            sys.exit("error: the transcripts are not played as they stand, although nothing is "
                     "broken")
        return told

    def outcome(self, mutant):
        noticed = self.noticed.get(mutant.number)
        if noticed:
            return f"transcript {noticed}"
        return None if self.only_plays else super().outcome(mutant)

    def prepare(self, mutant, program, folder):
        target = folder / program
        if target.exists():
            return target, {}
        image = self.images[program].with_mutant(self.scripts, mutant)
        if image is None:
            return None, {}
        with starting_or_writing:
            target.write_bytes(image)
        target.chmod(0o755)
        return target, {}


class Cpp(Language):
    def __init__(self, wanted, suffixes):
        super().__init__({})
        self.copy = WORK / "copy"
        files = sorted((ROOT / "src/lease").iterdir())
        self.mutants = [mutant for file in files
                        if file.suffix in suffixes and wanted(file) and
                        not file.stem.endswith(("_test", "_for_tests"))
                        for mutant in mutate_cpp.mutants_of(file)]

    def build(self, mutants):
        """Builds one program with all of them; those that do not compile are left out."""
        for number, mutant in enumerate(mutants):
            mutant.number = number + 1
        self.mirror(keep={mutant.file for mutant in mutants})
        build = self.copy / "build"
        # A read behind the end of a vector is caught, as by the sanitizers.
        configure = (f"source scripts/lib.sh && configure test {build} "
                     "-DHOLDFAST_WARNINGS_AS_ERRORS=OFF -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS")
        subprocess.run(["bash", "-c", configure], cwd=self.copy, check=True)
        commands = json.loads((build / "compile_commands.json").read_text())
        command = next(entry["command"] for entry in commands
                       if "holdfast_lease.dir" in entry["command"])
        left = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            by_file = collections.defaultdict(list)
            for mutant in mutants:
                by_file[mutant.file].append(mutant)
            for some in pool.map(lambda pair: self.write(*pair, command), by_file.items()):
                left += some
        log = WORK / "build.log"
        wanted = ["lease_test"] if self.is_quick else ["lease_test", "simulation_test"]
        make = (f"{configure} && nice cmake --build {build} --target {' '.join(wanted)} "
                f">{log} 2>&1")
        if subprocess.run(["bash", "-c", make], cwd=self.copy, check=False).returncode:
            sys.exit(f"error: the mutants cannot be built: see {log}")
        self.programs = {name: path for name, path in programs_in(build).items()
                         if name in wanted}
        return sorted(left, key=lambda mutant: mutant.number)

    def write(self, file, mutants, command):
        checked = WORK / "checked" / file.name
        checked.parent.mkdir(exist_ok=True)
        left = mutate_cpp.write_compiling(file, mutants, checked, command)
        put(checked, self.copy / file.relative_to(ROOT))
        return left

    def mirror(self, keep):
        """Makes the copy like the project, but for files that will be written anyway."""
        said = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                              capture_output=True, check=True)
        names = {name for name in said.stdout.splitlines() if (ROOT / name).is_file()}
        for file in [file for folder in ("src", "tests", "include") for file in
                     (self.copy / folder).rglob("*") if file.is_file()]:
            if str(file.relative_to(self.copy)) not in names:
                file.unlink()
        for name in names:
            if ROOT / name not in keep or not (self.copy / name).exists():
                put(ROOT / name, self.copy / name)

    def prepare(self, mutant, program, folder):
        return self.programs[program], {"HOLDFAST_MUTANT": str(mutant.number)}


def put(source, target):
    if not target.exists() or source.read_bytes() != target.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def programs_in(build):
    return {path.name: path for path in build.rglob("*_test")
            if path.is_file() and os.access(path, os.X_OK)}


def equivalents():
    """{(file, old line, new line)} of tests/mutants/equivalent.txt."""
    found, file, old = set(), None, None
    for line in (ROOT / "tests/mutants/equivalent.txt").read_text().splitlines():
        if line.startswith("src/"):
            file = line.strip()
        elif line.startswith("- "):
            old = line[2:].strip()
        elif line == "+" or line.startswith("+ "):
            found.add((file, old, line[2:].strip()))
    return found


def key_of(mutant):
    return str(mutant.file.relative_to(ROOT)), mutant.old, mutant.new


def survived_last_time(results):
    lines = results.read_text().splitlines()
    return {line.split(" ", 1)[1] for line in lines if line.startswith("SURVIVED ")}


def chosen(mutants, arguments):
    known = equivalents()
    # Somebody has changed the line: the reason may hold no longer.
    tried = {key_of(mutant)[0] for mutant in mutants}
    for file, old, new in sorted(known - {key_of(mutant) for mutant in mutants}):
        if file in tried:
            print(f"equivalent.txt says nothing any more of {file}: {old} => {new}")
    equivalent = [mutant for mutant in mutants if key_of(mutant) in known]
    mutants = [mutant for mutant in mutants if key_of(mutant) not in known]
    if arguments.survivors:
        last = survived_last_time(arguments.results)
        mutants = [mutant for mutant in mutants if mutant.name(ROOT) in last]
    if arguments.sample:
        mutants = sorted(mutants, key=lambda mutant: mutant.order(ROOT))[:arguments.sample]
    return mutants, equivalent


def try_all(language, mutants, jobs, results):
    """[(mutant, what caught it or None)]"""
    def attempt(mutant):
        caught = language.outcome(mutant)
        with language.lock:
            if caught:
                print(f"caught {mutant.name(ROOT)} ## {caught}", file=results, flush=True)
            else:
                print(f"SURVIVED {mutant.name(ROOT)}", file=results, flush=True)
                print(f"SURVIVED {mutant.name(ROOT)} [line {mutant.line}]", flush=True)
        return mutant, caught

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(attempt, mutants))


def report(outcomes, equivalent, seconds, least):
    by_file = collections.defaultdict(lambda: [0, 0, 0])
    for mutant, caught in outcomes:
        by_file[str(mutant.file.relative_to(ROOT))][0 if caught else 1] += 1
    for mutant in equivalent:
        by_file[str(mutant.file.relative_to(ROOT))][2] += 1
    for file, (caught, survived, same) in sorted(by_file.items()):
        if caught + survived:
            print(f"{file}: {caught} of {caught + survived} caught, {same} equivalent")
    caught = sum(1 for _, caught in outcomes if caught)
    score = caught / len(outcomes) if outcomes else 1
    print(f"{caught} of {len(outcomes)} caught ({100 * score:.1f} %), {len(equivalent)} equivalent,"
          f" in {seconds:.0f} s")
    return 100 * score >= least


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--transcripts", action="store_true")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/test",
                        help="where the test programs were built")
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--results", type=pathlib.Path, default=WORK / "results.txt")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    return parser.parse_args()


def main():
    arguments = parse()
    paths = [path.resolve() for path in arguments.files]

    def wanted(file):
        return not paths or any(path == file or path in file.parents for path in paths)

    # The files that include a header would be compiled again: too much for a sample.
    suffixes = (".cpp",) if arguments.sample else (".cpp", ".hpp")
    languages = [Lua(arguments.build, wanted), Cpp(wanted, suffixes)]
    if arguments.transcripts:
        arguments.quick = languages[0].only_plays = True
        languages = languages[:1]
    mutants, equivalent = chosen([mutant for each in languages for mutant in each.mutants],
                                 arguments)
    if arguments.list:
        print("\n".join(mutant.name(ROOT) for mutant in mutants))
        return
    if not mutants:
        sys.exit("error: there is no such mutant")
    WORK.mkdir(parents=True, exist_ok=True)
    begin, outcomes = time.monotonic(), []
    with open(arguments.results, "w", encoding="utf-8") as results:
        for each in languages:
            each.is_quick = arguments.quick
            mine = [mutant for mutant in mutants if mutant in set(each.mutants)]
            if mine:
                outcomes += try_all(each, each.build(mine), arguments.jobs, results)
    enough = report(outcomes, equivalent, time.monotonic() - begin, arguments.least)
    sys.exit(0 if enough else 1)


if __name__ == "__main__":
    main()
