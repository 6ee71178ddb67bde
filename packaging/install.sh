#!/bin/sh
# Installs mainspring: fetches the archive of this computer's system, checks its sum, and puts the
# program into ~/.local/bin.
#
#   MAINSPRING_VERSION  the version [default: this one]
#   MAINSPRING_BIN      the folder for the program
#   MAINSPRING_FROM     the address of a folder with archives; file:///… works, too
set -eu

version=${MAINSPRING_VERSION:-@VERSION@}
from=${MAINSPRING_FROM:-@REPOSITORY@/releases/download/v$version}
bin=${MAINSPRING_BIN:-${HOME:?set HOME or MAINSPRING_BIN}/.local/bin}

fail() {
    echo "install: $*" >&2
    exit 1
}

case $(uname -s)-$(uname -m) in
Linux-x86_64 | Linux-amd64) target=x86_64-unknown-linux-gnu ;;
Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
Darwin-x86_64) target=x86_64-apple-darwin ;;
Darwin-arm64) target=aarch64-apple-darwin ;;
*) fail "there is no program for $(uname -s) on $(uname -m): cargo install mainspring" ;;
esac

if command -v curl >/dev/null 2>&1; then
    fetch() { curl --fail --silent --show-error --location --output "$2" "$1"; }
elif command -v wget >/dev/null 2>&1; then
    fetch() { wget --quiet --output-document="$2" "$1"; }
else
    fail "install curl or wget first"
fi
if command -v sha256sum >/dev/null 2>&1; then
    sum() { sha256sum "$1" | cut -d ' ' -f 1; }
elif command -v shasum >/dev/null 2>&1; then
    sum() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
else
    fail "neither sha256sum nor shasum is there to check what was fetched"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
name=mainspring-$version-$target
fetch "$from/$name.tar.gz" "$work/archive" || fail "cannot fetch $from/$name.tar.gz"
fetch "$from/SHA256SUMS" "$work/sums" || fail "cannot fetch $from/SHA256SUMS"
expected=$(sed -n "s/^\([0-9a-f]*\)  $name.tar.gz\$/\1/p" "$work/sums")
[ -n "$expected" ] || fail "SHA256SUMS does not name $name.tar.gz"
[ "$(sum "$work/archive")" = "$expected" ] || fail "$name.tar.gz is not what SHA256SUMS says; nothing was installed"
tar -xzf "$work/archive" -C "$work"
mkdir -p "$bin"
# In one step, so that a hook that starts now finds the old program or the new one. The second name
# is what plugins and settings call.
cp "$work/$name/mainspring" "$bin/.mainspring.$$"
chmod 755 "$bin/.mainspring.$$"
mv -f "$bin/.mainspring.$$" "$bin/mainspring"
ln -sf mainspring "$bin/mainspring-hook"
echo "installed $bin/mainspring $version"
case :$PATH: in
*:"$bin":*) echo "next: mainspring install" ;;
*) echo "next: add $bin to your PATH, then: mainspring install" ;;
esac
