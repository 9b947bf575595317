#!/bin/sh
# A shop to look at: programs that take locks on a private server, and the page that shows them.
#   watched_shop.sh [ADDRESS]   until Ctrl-C; the page is at 127.0.0.1:9870, or at ADDRESS
#   watched_shop.sh             also a test: without a terminal it ends when all of them are there
# `scripts/demo --serve` builds the program and runs this.
set -eu
directory=$(mktemp -d)
export HOLDFAST_URL="embedded:$directory/locks" HOLDFAST_AUDIT='*'
all=
end() {
  trap - EXIT INT TERM
  kill $all 2>/dev/null || true
  wait
  rm -rf "$directory"
}
trap end EXIT
trap 'exit 0' INT TERM

# Runs a command again and again, until it is told to end.
again() {
  trap 'kill "$child" 2>/dev/null; wait; exit 0' INT TERM
  while :; do
    "$@" 2>/dev/null & # at a terminal it says for whom it waits
    child=$!
    wait "$child" || sleep 1
  done
}

# Buys one of five articles, which others want as well.
buy() {
  article=$(($(od -An -N1 -tu1 /dev/urandom) % 5))
  exec holdfast run --wait 30s --note "sale of $1" "stock:$article" -- sleep 0.7
}

for buyer in ann bob cleo dan eve fay; do
  again buy "$buyer" &
  all="$all $!"
done
# Three of four may print at once. One job hangs, and another waits for it.
for printer in 1 2 3 4 5; do
  again holdfast run --permits 1/3 --wait 30s --note "label $printer" printers -- sleep 2 &
  all="$all $!"
done
again holdfast run --shared --note "report" prices -- sleep 3 &
all="$all $!"
holdfast run --note "job 17, which hangs" nightly -- sleep 86400 &
all="$all $!"
until holdfast status nightly | grep -q held; do sleep 0.1; done
holdfast run --wait 24h --note "job 18" nightly -- true &
all="$all $!"

if [ ! -t 1 ]; then
  holdfast serve --listen 0 &
  all="$all $!"
  until holdfast ls '*' | grep -q stock && holdfast ls '*' | grep -q printers &&
    holdfast status nightly | grep -q '1 waiting'; do sleep 0.1; done
  holdfast status nightly
  until holdfast audit 'stock:*' | grep -q released; do sleep 0.2; done
  exit
fi
echo 'A lock hangs: find it in the page, see who waits for it, and break it in another terminal:'
echo "  holdfast release --url $HOLDFAST_URL nightly --force --reason 'it hangs'"
holdfast serve --listen "${1:-127.0.0.1:9870}" --doctor &
all="$all $!"
wait "$!"
