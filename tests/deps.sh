#!/bin/sh
# Install what is missing of the packages named, with apt; through sudo when not root.
set -eu
missing=
for p in "$@"; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
run=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || {
		echo "deps: missing:$missing; install them as root: apt-get install$missing" >&2
		exit 2
	}
	run=sudo
fi
echo "deps: installing$missing with apt-get" >&2
$run apt-get update -qq
$run env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends $missing >/dev/null
