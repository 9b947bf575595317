# Shared by the scripts beside it: `source scripts/lib.sh`. Bash.

# What the scripts say, set apart from what the tools say.
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

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Whether apt knows a package that it could install.
is_available() {
  local candidate
  candidate=$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p')
  [ -n "$candidate" ] && [ "$candidate" != '(none)' ]
}

# Lets what is built from now on use the compiler cache, where there is one.
use_compiler_cache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$PWD
  export CCACHE_SLOPPINESS=pch_defines,time_macros  # what precompiled headers need
}

# configure PRESET DIRECTORY [OPTION...]: runs CMake; what is built afterwards uses the cache.
configure() {
  local preset=$1 directory=$2
  shift 2
  use_compiler_cache
  cmake --preset "$preset" -B "$directory" "$@" >/dev/null
}

# Tests that skip themselves pass in ctest's eyes: say which did, and why.
report_skipped() {
  awk '/: Skipped$/ { getline; reasons[$0]++ }
    END { for (reason in reasons) printf "skipped %d times: %s\n", reasons[reason], reason }' \
    "$1/Testing/Temporary/LastTest.log" | sort
}

# run_tests DIRECTORY [OPTIONS of ctest...]
run_tests() {
  local directory=$1 status=0
  shift
  # Most tests wait for most of their time; those that do not have PROCESSORS.
  ctest --test-dir "$directory" --output-on-failure -j "$((2 * $(nproc) + 1))" "$@" || status=$?
  report_skipped "$directory"
  return "$status"
}
