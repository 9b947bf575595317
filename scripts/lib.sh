# Shared by the scripts beside it: `source scripts/lib.sh`. Bash.

# Lines of the scripts, set apart from those of the tools.
say() { printf '==> %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Runs a command as root.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root or sudo: $*"
  fi
}

# Whether there is a way to run something as root without asking anybody.
may_be_root() { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Whether apt knows a package that it could install.
is_available() {
  local candidate
  candidate=$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p')
  [ -n "$candidate" ] && [ "$candidate" != '(none)' ]
}

# start_of PID: when this process began, in ticks; nothing when it has ended. (Its name, which is in
# brackets, may have spaces.)
start_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $20 }'; }

# Whether this shell is the process PID, or was started by it, or by one that was.
descends_from() {
  local pid=$BASHPID
  while [ "${pid:-0}" -gt 0 ]; do
    if [ "$pid" = "$1" ]; then return 0; fi
    pid=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d' ' -f2)
  done
  return 1
}

# enter FILE PID: writes PID into FILE, unless a process is there that still runs and did not start
# this one: says which, and fails.
enter() {
  local pid start
  (
    flock 9
    read -r pid start <"$1" || true
    if [ -n "$pid" ] && [ "$(start_of "$pid")" = "$start" ]; then
      if descends_from "$pid"; then return 0; fi
      echo "$pid"
      return 1
    fi
    echo "$2 $(start_of "$2")" >"$1"
  ) 9>>"$1"
}

# use_alone DIRECTORY: waits until no other run uses the directory. From then on this shell has it,
# and what it starts, until the shell ends. A file names the owner: a lock on an open file
# would be inherited, and kept by a server that outlives the script.
use_alone() {
  local self=$BASHPID file=$1/.used-by holder told=
  mkdir -p "$1"
  until holder=$(enter "$file" "$self"); do
    [ -n "$holder" ] || die "$file cannot be written"
    if [ "$holder" != "$told" ]; then say "waiting for process $holder, which uses $1"; fi
    told=$holder
    sleep 0.2
  done
}

# Lets what is built from now on use the compiler cache, where there is one.
use_compiler_cache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$PWD
  export CCACHE_SLOPPINESS=pch_defines,time_macros  # what precompiled headers need
}

# configure PRESET DIRECTORY [OPTION...]: runs CMake when nobody else uses the directory; what is
# built afterwards uses the cache.
configure() {
  local preset=$1 directory=$2
  shift 2
  use_alone "$directory"
  use_compiler_cache
  cmake --preset "$preset" -B "$directory" "$@" >/dev/null
}

# Tests that skip themselves pass in ctest's eyes: say which did, and why.
report_skipped() {
  awk '/: Skipped$/ { getline; reasons[$0]++ }
    END { for (reason in reasons) printf "skipped %d times: %s\n", reasons[reason], reason }' \
    "$1/Testing/Temporary/LastTest.log" | sort
}

# The first seed of what is played anew for each change: each has its own, and always the same, so
# that it passes again what it has passed. Without git it is 1.
seed_of_tree() {
  local tree
  tree=$(git rev-parse --short=12 'HEAD^{tree}' 2>/dev/null) || { echo 1 && return; }
  echo $((16#${tree:0:12}))
}

# run_tests DIRECTORY [OPTIONS of ctest...]
run_tests() {
  local directory=$1 status=0
  shift
  export HOLDFAST_REFERENCE_SEED=${HOLDFAST_REFERENCE_SEED:-$(seed_of_tree)}
  # Most tests wait for most of their time; those that do not have PROCESSORS.
  ctest --test-dir "$directory" --output-on-failure -j "$((2 * $(nproc) + 1))" "$@" || status=$?
  report_skipped "$directory"
  return "$status"
}
