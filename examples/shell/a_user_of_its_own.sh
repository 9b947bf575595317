#!/bin/sh
# A program gets a user that may do nothing but use its locks; the password stands in a file, which
# is changed while the program runs.
set -eu
umask 077 # a password file that others can read is refused
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export HOLDFAST_URL="embedded:$directory/locks"
if command -v redis-cli >/dev/null; then server_cli=redis-cli; else server_cli=valkey-cli; fi
as_admin() { "$server_cli" -s "$directory/locks/server.sock" "$@"; }
hash_of() { printf %s "$1" | sha256sum | cut -d' ' -f1; }

holdfast run first -- true # starts the server
holdfast acl 'orders:*' --user shop | sed "s/#SHA256-OF-PASSWORD/#$(hash_of old)/" | as_admin
echo old > "$directory/password"
export HOLDFAST_USER=shop
holdfast run orders:1 --password-file "$directory/password" -- echo "it may lock orders"
holdfast run other --password-file "$directory/password" -- true || echo "and no other: $?"

as_admin ACL SETUSER shop "#$(hash_of new)" # both are good
echo new > "$directory/password.new"
mv "$directory/password.new" "$directory/password"
as_admin ACL SETUSER shop "!$(hash_of old)"
holdfast run orders:1 --password-file "$directory/password" -- echo "under the new password too"
