#!/bin/sh
# The program's first steps, on a shared private server. Also a test: it fails when a step does.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export HOLDFAST_URL="${1:-embedded:$directory/locks}"

holdfast run nightly -- sh -c 'echo "running under token $HOLDFAST_TOKEN"'

holdfast run nightly --lease 10s -- sh -c '
  holdfast status nightly
  holdfast ls "night*" --json
  holdfast run nightly --nonblock -- echo "never printed" || echo "somebody has it: $?"
  holdfast run nightly --wait 200ms -- echo "never printed" || echo "not in time: $?"
'
holdfast run nightly -- sh -c 'exit 7' || echo "the exit code is the command's: $?"
holdfast doctor
