#!/bin/sh
# A master dies while a job holds a lock: sentinels promote its replica, and the job goes on. All
# servers run here, at an address of their own. It takes some ten seconds. Also a test.
# [snippet all]
set -eu
directory=$(mktemp -d)
address=127.1.$(($$ / 250 % 250 + 1)).$(($$ % 250 + 1))
trap 'kill -KILL $(cat "$directory"/*.pid) 2>/dev/null || true; rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
if command -v redis-server >/dev/null; then family=redis; else family=valkey; fi
ask() { "$family-cli" -h "$address" -p "$@"; }

start() { # start PORT [OPTION...]; standard input has what is special in its configuration
  port=$1
  shift
  cat >"$directory/$port.conf"
  "$family-server" "$directory/$port.conf" "$@" --port "$port" --bind "$address" \
    --dir "$directory" --logfile "$port.log" --pidfile "$directory/$port.pid" --daemonize yes
}
echo 'save ""' | start 7001
printf '%s\n' 'save ""' "replicaof $address 7001" "replica-announce-ip $address" | start 7002
for port in 7011 7012 7013; do # two of them must agree that a server has been dead for a second
  printf '%s\n' "sentinel monitor locks $address 7001 2" "sentinel announce-ip $address" \
    'sentinel down-after-milliseconds locks 1000' | start "$port" --sentinel
done
until ask 7002 info replication | grep -q link_status:up &&
  ask 7011 sentinel ckquorum locks 2>/dev/null | grep -q '^OK 3'; do sleep 0.1; done

export HOLDFAST_URL="redis+sentinel://$address:7011,$address:7012,$address:7013/locks"
holdfast run nightly -- sh -c 'until [ -e "$0" ]; do sleep 0.1; done; echo "the job is complete"' \
  "$directory/enough" &
until holdfast status nightly | grep -q held; do sleep 0.1; done
holdfast status nightly

echo "the master dies"
kill -KILL "$(cat "$directory/7001.pid")"
until holdfast status nightly 2>/dev/null; do sleep 0.1; done
touch "$directory/enough"
wait $!
# [snippet end]
