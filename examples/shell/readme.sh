#!/bin/sh
# The lines of README.md, on a shared private server. Also a test: it fails when a line does.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
server="${1:-embedded:$directory/locks}"
program=$(command -v holdfast)

for job in backup report transfer job; do
  printf '#!/bin/sh\necho "%s with token $HOLDFAST_TOKEN"\n' "$job" >"$job.sh"
  chmod +x "$job.sh"
done

# The lines take these for granted: the server, an end of commands that run for ever or for long,
# and a holder of the lock that is broken.
holdfast() {
  HOLDFAST_URL=$server
  case $1 in
    watch) timeout 2 "$program" "$@" || [ $? -eq 124 ] ;;
    serve) timeout 2 "$program" "$@" --listen 127.0.0.1:0 2>/dev/null || [ $? -eq 124 ] ;;
    demo) "$program" "$@" --processes 2 --threads 5 --units 100 --no-svg ;;
    bench) "$program" "$@" --seconds 1 ;;
    release)
      "$program" run nightly --lease 1s -- sleep 30 &
      until "$program" status nightly | grep -q held; do sleep 0.1; done
      "$program" "$@"
      wait || true # it was told, and has ended
      ;;
    *) "$program" "$@" ;;
  esac
}

# [snippet locks]
export HOLDFAST_URL=redis://localhost:6379             # or, to try it, embedded:$HOME/locks
holdfast run nightly -- ./backup.sh                    # one at a time on all machines
holdfast run nightly --nonblock -- ./backup.sh         # 75 when somebody else has the lock
holdfast run --once-per 24h@14h nightly -- ./backup.sh # once a day (UTC), on one machine
holdfast run deploy --wait 10s --lease 30s -- sh -c 'echo "my token is $HOLDFAST_TOKEN"'
holdfast run --shared prices -- ./report.sh            # also --exclusive, --permits 1/4, --fair
holdfast run --all-of account:1,account:2 -- ./transfer.sh
holdfast run lock1 --dialect redisson -- ./job.sh      # a lock that a Java service uses, too
holdfast run --tenant blue nightly -- ./backup.sh      # another lock than everyone else's `nightly`
# [snippet end]
# [snippet others]
holdfast semaphore set licences 6                  # how many may hold it at once, from now on
holdfast status nightly                            # who has it, who waits, since when
holdfast ls 'night*' --json                        # all that are held
holdfast counter sold add 3                        # counted once, also when the answer is lost
holdfast watch nightly                             # a line for each change that it sees
holdfast run --note "job 17" nightly -- ./backup.sh  # status shows what it is held for
holdfast audit 'night*' --since 24h                # who had it, and how that ended (run --audit)
holdfast release nightly --force --reason "its machine is gone"
holdfast acl 'night*' --user jobs                  # the smallest access list of such a user
holdfast doctor                                    # is this server fit for locks?
holdfast capabilities                              # what each kind of lock can do and costs
holdfast serve                                     # all locks in a page, as JSON and as metrics
holdfast demo                                      # why a lock, and why this one
holdfast bench --threads 16                        # pairs a second, and the server's own limit
# [snippet end]
