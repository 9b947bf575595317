#!/bin/sh
# The lines of docs/choosing.md, on shared private servers. Also a test: it fails when a line does.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
export HOLDFAST_URL="${1:-embedded:$directory/locks}"
program=$(command -v holdfast)

for job in backup report new_prices render transfer scheduler migrate job; do
  printf '#!/bin/sh\necho "%s with token $HOLDFAST_TOKEN"\n' "$job" >"$job.sh"
  chmod +x "$job.sh"
done
"$program" counter tickets set 5 >tickets

# The members of a quorum are private servers as well: the page writes redis://a and so on.
holdfast() {
  if [ "$2" = --member ]; then
    shift 7
    set -- run --member "embedded:$directory/a" --member "embedded:$directory/b" \
      --member "embedded:$directory/c" "$@"
  fi
  "$program" "$@"
}

# [snippet mutex]
holdfast run nightly -- ./backup.sh
# [snippet end]

# [snippet readers]
holdfast run --shared prices -- ./report.sh    # writers: --exclusive
# [snippet end]
holdfast run --exclusive prices -- ./new_prices.sh

# [snippet permits]
holdfast run --permits 1/4 licences -- ./render.sh
# [snippet end]

# [snippet several]
holdfast run --all-of account:1,account:2 -- ./transfer.sh
# [snippet end]

# [snippet leader]
holdfast elect scheduler -- ./scheduler.sh
# [snippet end]

# [snippet interval]
holdfast run --once-per 24h@14h nightly -- ./backup.sh    # a day ends at 14:00 UTC
# [snippet end]

# [snippet release]
holdfast run migrate -- sh -c '[ $(holdfast counter schema) -ge 42 ] || ./migrate.sh'
# [snippet end]

# [snippet values]
holdfast counter tickets sub 1    # 1 is the exit code when none is left
# [snippet end]

# [snippet quorum]
holdfast run --member redis://a --member redis://b --member redis://c nightly -- ./backup.sh
# [snippet end]

# [snippet dialect]
holdfast run --dialect redisson java-orders -- ./job.sh
# [snippet end]
