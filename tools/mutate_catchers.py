"""Which tests are asked about the mutants of a file: the cheapest first, the whole of the script
tests, then simulations and, last, the conformance tests on a real server. Before all of them the
transcripts of scripts."""

SECONDS = 60  # what runs longer has caught it

# A part of the path: suites of scripts_test, of simulation_test, and conformance programs.
AREAS = (
    ("dialects/holdfast/shared/", "*Shared*:*Kinds*",
     "Each/SimulationOf.*/readwrite:Each/SimulationOf.*/semaphore:Each/SimulationOf.*/modelock",
     "kinds shared_locks joining_readers waiting"),
    ("dialects/holdfast/quorum/", "*Quorum*", "SimulationOfAQuorum.*", "quorum"),
    ("dialects/holdfast/latch/", "*LatchScript*:*Kinds*", "SimulationOfALatch.*", "latch"),
    ("dialects/holdfast/barrier/", "*Barrier*:*Kinds*", "SimulationOfABarrier.*", "barrier"),
    ("dialects/holdfast/deadlock/", "*Deadlock*", "", "deadlock"),
    ("dialects/holdfast/rate", "*Rate*", "SimulationOfValues.*:*/ratelimiter", "rate_limiter"),
    ("dialects/holdfast/counter", "*Counter*", "SimulationOfValues.*:*/counter", "counter"),
    ("dialects/holdfast/update_counter", "*Counter*", "SimulationOfValues.*:*/counter", "counter"),
    ("dialects/holdfast/fenced", "*Fenced*", "SimulationOfValues.*:*/fencedwrite", "fenced"),
    ("dialects/holdfast/value_block", "*Counter*:*Value*:*Shared*",
     "SimulationOfValues.*:*/valueblock", "id_generator"),
    ("dialects/holdfast/acquire_all", "*Several*", "SimulationOfSeveral.*", "all_of"),
    ("dialects/holdfast/release_all", "*Several*", "SimulationOfSeveral.*", "all_of"),
    ("dialects/holdfast/", "*AcquireScript*:*QueueScript*:*OwnerScripts*:*OperatorScripts*:"
     "*TokenScript*:*Kinds*",
     "Each/SimulationOf.*/mutex:SimulationOfSeveral.*:Simulation.*",
     "mutex queue_messages waiting"),
    ("dialects/parts/", "*",
     "Each/SimulationOf.*/mutex:SimulationOfValues.*:SimulationOfAQuorum.*", "mutex counter"),
    ("dialects/redisson/", "*Redisson*:*Layout*",
     "", "redisson_fair redisson_latch redisson_read_write redisson_semaphore dialects"),
    ("dialects/redlock/", "*Redlock*:*Redsync*:*NodeRedlock*", "", "redlock"),
    ("dialects/rueidislock/", "*Rueidislock*", "", "rueidislock"),
    ("dialects/shedlock/", "*ShedLock*", "", "dialects"),
    ("dialects/symfony/", "*Symfony*", "", "sorted_sets"),
    ("dialects/redis_semaphore/", "*RedisSemaphore*", "", "sorted_sets"),
    ("dialects/token/", "*Token*:*GoZero*", "", "dialects"),
    ("dialects/", "*Python*:*Spring*:*Layout*:*OwnerScripts*", "", "dialects"),
)

# A part of the path: transcripts, of tests/scripts/transcripts.
TRANSCRIPTS = (
    ("holdfast/shared/", "shared"), ("holdfast/quorum/", "quorum"), ("holdfast/latch/", "latch"),
    ("holdfast/barrier/", "barrier"), ("holdfast/deadlock/", "deadlock"),
    ("holdfast/value_block", "shared values"), ("holdfast/counter", "values"),
    ("holdfast/update_counter", "values"), ("holdfast/rate", "values"),
    ("holdfast/fenced", "values"), ("held_counter", "values"), ("_all.lua", "several"),
    ("holdfast/parts/", "mutex several shared cluster"), ("holdfast/", "mutex"),
    ("dialects/parts/", "mutex values several quorum redisson libraries cluster"),
    ("redisson/", "redisson"), ("dialects/", "libraries"),
)

# Tests of lease_test that take seconds.
LONG = "*.KeepsItsPromisesInAnyWorld:*.KeepsItsPromisesUnderAnyEvents"

# A part of the name of a file of src/lease: suites of simulation_test.
MACHINES = (
    ("quorum", "SimulationOfAQuorum.*"),
    ("once_machine", "SimulationOfValues.*:Each/SimulationOfAValue.*"),
    ("", "Each/SimulationOf.*/mutex:SimulationOfSeveral.*:SimulationOfALatch.*:Simulation.*"),
)


def catchers_of(root, file):
    """[(program, filter)]."""
    name = str(file.relative_to(root / "src"))
    if name.startswith("lease/"):
        simulated = next(suites for part, suites in MACHINES if part in name)
        return [("lease_test", f"*-{LONG}"), ("lease_test", LONG), ("simulation_test", simulated)]
    suites, simulated, programs = next(area[1:] for area in AREAS if area[0] in name)
    found = [("scripts_test", suites), ("scripts_test", "*-*Transcript*")]
    if simulated:
        found.append(("simulation_test", simulated))
    return found + [(f"conformance_{program}_test", "*") for program in programs.split()]


def transcripts_of(root, file):
    """Names of those in which a script is played that has this file."""
    name = str(file.relative_to(root / "src"))
    return next(names for part, names in TRANSCRIPTS if part in name).split()
