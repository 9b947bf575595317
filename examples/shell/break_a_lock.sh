#!/bin/sh
# An operator takes a lock away: the command under it is terminated, and its token never returns.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export HOLDFAST_URL="${1:-embedded:$directory/locks}"

code=0
holdfast run deploy --lease 1s -- sh -c '
  holdfast release deploy --force --reason "to show what happens"
  sleep 30
' || code=$?
echo "the command lost its lock: $code"
[ "$code" -eq 76 ]
