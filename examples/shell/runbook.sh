#!/bin/sh
# Brings about what docs/runbook.md describes, on a private server. Also a test: it fails when the
# program says something else than that page.
set -eu
umask 077
here=$(cd "$(dirname "$0")" && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export HOLDFAST_URL="embedded:$directory/locks"
if command -v redis-cli >/dev/null; then server_cli=redis-cli; else server_cli=valkey-cli; fi
as_admin() { "$server_cli" -s "$directory/locks/server.sock" "$@"; }

# Hosts, process ids, tokens and times differ from run to run.
plain() { sed -E 's/[A-Za-z0-9.-]+:[0-9]+ holdfast/HOST/g; s/[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g'; }
plain <"$here/../../docs/runbook.md" >"$directory/page"
# shows COMMAND...: the page has each line that the command writes. begins N COMMAND...: at least
# the first N characters of it, where the page cuts a line short.
shows() { begins 1000 "$@"; }
begins() {
  length=$1
  shift
  "$@" >"$directory/said" 2>&1 || true
  plain <"$directory/said" | cut -c "1-$length" | while read -r line; do
    grep -qF -- "$line" "$directory/page" || { echo "not on the page: $line" >&2 && return 1; }
  done
}
until_is() { until holdfast status "$2" | grep -q "$1"; do sleep 0.1; done; }

# The server lives as long as somebody uses it under this address.
holdfast run keeper -- sleep 60 &
keeper=$!
until_is held keeper
server=$(as_admin INFO server | sed -n 's/process_id:\([0-9]*\).*/\1/p')
trap 'kill -CONT "$server" && kill "$keeper" && wait "$keeper" || true; rm -rf "$directory"' EXIT
export HOLDFAST_URL="unix://$directory/locks/server.sock"

holdfast run nightly --lease 2s -- sleep 30 2>"$directory/lost" &
until_is held nightly
shows holdfast run nightly --wait 100ms -- true
shows holdfast release nightly --force --reason "its machine is gone"
wait $! || true
shows cat "$directory/lost"
as_admin XRANGE hf:audit - + | grep -q "its machine is gone"

holdfast run nightly --lease 2s --response-timeout 300ms -- sleep 30 2>"$directory/lost" &
until_is held nightly
kill -STOP "$server"
begins 80 holdfast run nightly --nonblock --response-timeout 200ms --connect-timeout 200ms -- true
wait $! || true
kill -CONT "$server"
shows cat "$directory/lost"
shows env HOLDFAST_URL=redis://127.0.0.1:1 holdfast run x -- true

until_is free nightly
as_admin CONFIG SET maxmemory 1 >/dev/null
shows holdfast run nightly --nonblock -- true
as_admin CONFIG SET maxmemory 0 >/dev/null

for counter in $(as_admin --scan --pattern 'hf:fence:*'); do
  as_admin SET "$counter" 4503599627370497 >/dev/null
done
shows holdfast run nightly -- true
as_admin DEL $(as_admin --scan --pattern 'hf:fence:*') >/dev/null

as_admin ACL SETUSER shop reset on ">right" resetchannels "~hf:{night*" "+@all" >/dev/null
echo wrong >"$directory/password"
begins 120 holdfast run nightly --user shop --password-file "$directory/password" -- true
echo right >"$directory/password"
begins 50 holdfast run other --user shop --password-file "$directory/password" -- true

as_admin SET report deadbeefdeadbeefdeadbeefdeadbeef >/dev/null
shows holdfast status report
shows holdfast ls --all-dialects 'rep*'
shows holdfast release report --force --reason "left by a crash" --dialect token
as_admin SET 'hf:{taken}' something >/dev/null
code=0 && holdfast run taken -- true 2>/dev/null || code=$?
[ "$code" -eq 65 ]
code=0 && holdfast run deploy -- holdfast run deploy -- true 2>"$directory/said" || code=$?
[ "$code" -eq 70 ] && grep -q "each would wait for the other" "$directory/said"

as_admin CONFIG SET maxmemory 100mb maxmemory-policy allkeys-lru >/dev/null 2>&1 ||
  { as_admin CONFIG SET maxmemory 100mb && as_admin CONFIG SET maxmemory-policy allkeys-lru; }
holdfast doctor >"$directory/findings" || code=$?
[ "$code" -eq 1 ]
shows grep -A1 '^eviction' "$directory/findings"
shows grep -A1 '^persistence' "$directory/findings"
echo "the page is as the program"
