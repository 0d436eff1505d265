# Installs /tern.deb on a bare Debian and asks the server; run by Tools/package inside of it.
set -o pipefail

fail() { echo "on a bare Debian: $*" >&2; exit 1; }
# Fails unless the output of a command holds a text.
expect() {
  local text=$1 found
  shift
  found=$("$@" 2>&1) || fail "$* ends with $?: $found"
  [[ $found == *"$text"* ]] || fail "$* says $found, not $text"
}
# Waits up to ten seconds for a line of the server's.
await() {
  for _ in $(seq 100); do grep -q "$1" "$2" && return; sleep 0.1; done
  cat "$2"
  fail "the server does not say: $1"
}
# The status line of a page.
page() {
  exec 3<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&3
  head -n 1 <&3
  exec 3<&-
}

mount -t proc proc /proc
! command -v swift >/dev/null || fail "there is a toolchain"
find / -xdev \( -name 'libswift*' -o -name 'libFoundation*' \) | grep . && fail "Swift's libraries are there"
apt-get install -y --no-install-recommends --reinstall /tern.deb >/install.log 2>&1 \
  || fail "$(tail /install.log)"
tern --version
expect "formats: ledger" tern --version
[ -s /usr/share/man/man1/tern.1.gz ] || [ -s /usr/share/doc/tern/CHANGELOG.md ] || fail "files are missing"
cd /tmp
rm -rf /tmp/data /tmp/service /tmp/one.ternbackup /tmp/restored

# The configuration of the package, as the unit starts it.
expect "ok" tern serve --check --config /etc/tern/tern.json --path /tmp/service
tern serve --config /etc/tern/tern.json --path /tmp/service >/tmp/service.log 2>&1 &
service=$!
await "listening on" /tmp/service.log
expect "200" page 9000 /-/readyz
expect "401" page 9000 /-/metrics
kill "$service"
wait "$service" || fail "the service ends with $?"

# A server for development, with both kinds of store.
for kind in sqlite lmdb; do
  tern serve --dev --port 9876 --storage "$kind" --path "/tmp/data/$kind" >/tmp/serve.log 2>&1 &
  server=$!
  await "listening on" /tmp/serve.log
  export TERN_SERVER=127.0.0.1:9876
  expect "" tern set rooms/42 '{"title": "Hi"}'
  expect "Hi" tern get rooms
  expect "" tern doc set cities/SF '{"name": "San Francisco", "at": 1.5}'
  expect "San Francisco" tern doc get cities/SF
  expect "serving" tern status
  expect "200" page 9876 /-/console
  rm -f /tmp/one.ternbackup
  expect "version" tern backup /tmp/one.ternbackup
  kill "$server"
  wait "$server" || fail "the server ends with $?"
  tail -n 1 /tmp/serve.log
  expect "" tern verify --storage "$kind" --path "/tmp/data/$kind"
  expect "restored" tern restore /tmp/one.ternbackup --path "/tmp/restored/$kind"
done
