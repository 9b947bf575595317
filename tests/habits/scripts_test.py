#!/usr/bin/env python3
"""The scripts beside themselves, in odd places, and where something is missing.

Copies of them run in a directory whose name has a space; programs of ours stand in for those that
they call.
"""

import fcntl
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60  # s


def eventually(holds):
    """Whether it does within that time."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Place(unittest.TestCase):
    """A copy of the scripts, and a directory of programs that come first."""

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="a place ")
        self.addCleanup(made.cleanup)
        self.root = pathlib.Path(made.name, "project")
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        self.elsewhere = self.root.parent / "elsewhere"
        self.elsewhere.mkdir()
        self.programs = self.root.parent / "programs"
        for name in ("cmake", "ninja", "git"):
            self.program(self.programs / name, "true")
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for one in self.started:
            one.kill()
            one.wait()
            one.stdout.close()
            one.stderr.close()

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{text}\n")
        path.chmod(0o755)

    def start(self, *words, **more):
        variables = {**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", **more}
        one = subprocess.Popen(words, cwd=self.elsewhere, env=variables, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(one)
        return one

    def run_it(self, *words, **more):
        """What it printed: its output and what it complained of."""
        one = self.start(*words, **more)
        printed, complaints = one.communicate(timeout=PATIENCE)
        self.assertEqual(one.returncode, 0, complaints)
        return printed, complaints

    def has_packages_installed(self):
        self.program(self.root / "scripts/install-packages", "true")


class UseAlone(Place):
    def bash(self, text):
        return self.start("bash", "-c", f"""set -euo pipefail
            source '{self.root}/scripts/lib.sh'
            {text}""")

    def test_a_second_run_waits_and_says_so(self):
        first = self.bash("use_alone build; touch first; until [ -e end ]; do sleep 0.02; done")
        self.assertTrue(eventually((self.elsewhere / "first").exists))
        second = self.bash("use_alone build; touch second")
        said = second.stderr.readline()
        self.assertEqual(said, f"==> waiting for process {first.pid}, which uses build\n")
        self.assertFalse((self.elsewhere / "second").exists())
        (self.elsewhere / "end").touch()
        self.assertEqual(second.wait(PATIENCE), 0)

    def test_a_run_and_what_it_starts_may_use_it_again(self):
        one = self.bash(f"""use_alone build; use_alone build
            (use_alone build)
            bash -c "source '{self.root}/scripts/lib.sh'; use_alone build" """)
        self.assertEqual(one.wait(PATIENCE), 0)

    def test_a_server_that_outlives_its_script_does_not_keep_it(self):
        one = self.bash("use_alone build; sleep 1000 >&- 2>&- & use_alone build; echo $! >server")
        self.assertEqual(one.wait(PATIENCE), 0)
        try:
            self.assertEqual(self.bash("use_alone build").wait(PATIENCE), 0)
        finally:
            os.kill(int((self.elsewhere / "server").read_text()), signal.SIGKILL)

    def test_a_killed_run_does_not_keep_it(self):
        one = self.bash("use_alone build; touch first; kill -9 $$")
        one.wait(PATIENCE)
        self.assertEqual(self.bash("use_alone build").wait(PATIENCE), 0)

    def test_where_nothing_can_be_written_it_says_so(self):
        (self.elsewhere / "build/.used-by").mkdir(parents=True)
        one = self.bash("use_alone build")
        self.assertEqual(one.wait(PATIENCE), 1)
        self.assertIn("cannot be written", one.stderr.read())


class WithoutServices(Place):
    def setUp(self):
        super().setUp()
        self.policy = self.elsewhere / "policy-rc.d"

    def install(self, text):
        return self.start(str(self.root / "scripts/without-services"), "bash", "-c", text,
                          HOLDFAST_POLICY=str(self.policy))

    def test_services_are_forbidden_meanwhile_only(self):
        one = self.install(f"'{self.policy}' redis-server start; echo $?")
        self.assertEqual(one.communicate(timeout=PATIENCE)[0], "101\n")
        self.assertEqual(list(self.elsewhere.iterdir()), [])

    def test_two_at_once_leave_the_policy_of_the_machine(self):
        self.policy.write_text("its own")
        wait = "touch $0.there; until [ -e end ]; do sleep 0.02; done"
        first, second = self.install(wait), self.install(wait)
        self.assertTrue(eventually(lambda: list(self.elsewhere.glob("*.there"))))
        time.sleep(0.3)  # so that the other one is about to begin
        (self.elsewhere / "end").touch()
        self.assertEqual([first.wait(PATIENCE), second.wait(PATIENCE)], [0, 0])
        self.assertEqual(self.policy.read_text(), "its own")

    def test_nobody_else_can_keep_its_lock(self):
        """A user who may open a file for reading may lock it."""
        held = os.open(self.policy.parent, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        self.addCleanup(os.close, held)
        lock = pathlib.Path(str(self.policy) + ".lock")
        one = self.install(f"stat -c %a '{lock}'")
        self.assertEqual(one.communicate(timeout=PATIENCE)[0], "600\n")
        self.assertFalse(lock.exists())

    def test_what_a_killed_run_has_left_is_put_right(self):
        self.policy.write_text("its own")
        one = self.install("kill -9 $PPID")
        one.wait(PATIENCE)
        self.assertNotEqual(self.policy.read_text(), "its own")
        self.assertEqual(self.install("true").wait(PATIENCE), 0)
        self.assertEqual(self.policy.read_text(), "its own")


class InstallPackages(Place):
    def test_valkey_is_skipped_where_nobody_may_install_it(self):
        self.program(self.programs / "apt-get", "exit 100")
        self.program(self.programs / "apt-cache", "echo '  Candidate: 8.0'")
        self.program(self.programs / "id", "echo 1000")
        self.program(self.programs / "sudo", "echo 'a password is required' >&2; exit 1")
        self.program(self.programs / "dpkg-query",
                     '[ "${!#}" = valkey-server ] || printf installed')
        _, said = self.run_it(str(self.root / "scripts/install-packages"), "test")
        self.assertIn("the tests on it will be skipped", said)

    def test_who_holds_the_package_lists_is_waited_for(self):
        self.program(self.programs / "apt-get", """
            case "$*" in
              *update*)
                echo "$*" >>asked
                [ "$(wc -l <asked)" -gt 1 ] && exit
                echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1' >&2
                exit 100 ;;
              *install*) touch installed ;;
            esac""")
        self.program(self.programs / "apt-cache", "echo '  Candidate: 8.0'")
        self.program(self.programs / "id", "echo 0")
        self.program(self.programs / "dpkg-query", "[ -e installed ] && printf installed")
        _, said = self.run_it(str(self.root / "scripts/install-packages"), "build",
                              HOLDFAST_POLICY=str(self.elsewhere / "policy-rc.d"))
        self.assertNotIn("going on with", said)
        self.assertEqual(len((self.elsewhere / "asked").read_text().splitlines()), 2)


class WhereFilesGo(Place):
    """A relative name begins where the caller is."""

    def test_what_faults_keeps(self):
        self.has_packages_installed()
        self.program(self.root / "build/test/tests/faults/runs/holdfast_faults", "pwd; echo $*")
        printed, _ = self.run_it(str(self.root / "scripts/faults"), "--keep", "kept")
        where, words = printed.splitlines()
        self.assertEqual(where, str(self.elsewhere))
        self.assertTrue(words.endswith("--keep kept"), words)

    def test_the_history_of_a_simulation(self):
        self.has_packages_installed()
        self.program(self.root / "build/simulate/tests/simulation/simulation_test",
                     "echo told >$HOLDFAST_HISTORY")
        self.run_it(str(self.root / "scripts/simulate"), "--kind", "mutex", "--seed", "1",
                    HOLDFAST_HISTORY="history")
        self.assertEqual((self.elsewhere / "history").read_text(), "told\n")


class Topologies(Place):
    """Which programs scripts/faults runs."""

    def setUp(self):
        super().setUp()
        self.has_packages_installed()
        self.program(self.root / "tools/topology_runs.py", 'printf "%s\\n" "$1" "${@:3}"')
        tests = self.root / "tests/faults"
        tests.mkdir(parents=True)
        for name in ("cluster_new", "tls_cluster", "cluster_deployment", "new_sentinel", "replicas",
                     "quorum_new", "once"):
            (tests / f"{name}_test.cpp").touch()

    def topology(self, *words):
        return str(self.root / "scripts/faults"), "--topology", *words

    def test_those_that_are_named_after_it(self):
        printed, _ = self.run_it(*self.topology("cluster", "--seconds", "7"))
        seconds, *programs = printed.splitlines()
        self.assertEqual(seconds, "7")
        self.assertEqual([pathlib.Path(path).name for path in programs],
                         ["faults_cluster_new_test", "faults_tls_cluster_test",
                          "faults_proxied_partition_test"])

    def test_each_once_of_all(self):
        printed, _ = self.run_it(*self.topology("all"))
        seconds, *programs = printed.splitlines()
        self.assertEqual(seconds, "60")
        self.assertEqual(len(programs), len(set(programs)))
        for path in ("faults/faults_new_sentinel_test", "faults/faults_tls_cluster_test",
                     "conformance/conformance_quorum_test"):
            self.assertIn(f"{self.root}/build/test/tests/{path}", programs)

    def test_only_those_that_are_asked_for(self):
        printed, _ = self.run_it(*self.topology("cluster", "faults_tls_cluster_test"))
        self.assertEqual(printed.splitlines(),
                         ["60", f"{self.root}/build/test/tests/faults/faults_tls_cluster_test"])

    def test_those_of_another_are_refused(self):
        one = self.start(*self.topology("cluster", "faults_new_sentinel_test"))
        self.assertEqual(one.wait(PATIENCE), 1)
        self.assertIn("faults_new_sentinel_test is no test of cluster", one.stderr.read())


class Interop(Place):
    def test_its_commands_are_whole_where_a_path_has_a_space(self):
        shutil.copytree(ROOT / "tests/interop/drivers", self.root / "tests/interop/drivers")
        for tool in ("go", "javac", "java", "mvn", "node", "npm", "redis-server"):
            self.program(self.programs / tool, "mkdir -p lib; true")
        self.program(self.programs / "python3",
                     'case "$*" in *interop.py*) shift; printf "%s\\n" "$@" ;; esac')
        for dialect in ("redis_py", "python_redis_lock"):
            built = self.root / "build/interop" / dialect
            built.mkdir(parents=True)
            shutil.copy(self.root / "tests/interop/drivers" / dialect / "requirements.txt", built)
        printed, _ = self.run_it(str(self.root / "scripts/interop"),
                                 HOLDFAST_BUILD=str(self.root / "build/other"))
        commands = dict(line.split("=", 1) for line in printed.splitlines())
        self.assertGreater(len(commands), 20)
        for dialect, command in commands.items():
            paths = [word for word in shlex.split(command) if "place" in word]
            whole = [path for path in paths if f"{self.root}/build/" in path]
            self.assertEqual(paths, whole, dialect)
            # What is written in PHP is run where it is, from the project's directory.
            self.assertEqual(len(paths), 0 if dialect == "symfony" else 1, dialect)


if __name__ == "__main__":
    unittest.main()
