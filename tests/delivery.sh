#!/bin/bash
# make check-delivery: Heddle as others get it, with their own programs.  Installs what it needs from
# Debian, builds the packages, installs them (root), runs their tests, and removes them again; and walks the
# explorer's pages in a browser and a race in an editor.
set -eu
tests/deps.sh debhelper dpkg-dev lintian pkg-config gcc libc6-dev
step() { printf '\n== %s\n' "$*"; }

step "packages: built, and lintian finds no error"
make -s deb

step "packages: installed"
run=
[ "$(id -u)" = 0 ] || run=sudo
$run apt-get -o DPkg::Lock::Timeout=600 install -y --allow-downgrades "$PWD"/build/deb/*.deb >/dev/null
trap '$run apt-get -o DPkg::Lock::Timeout=600 remove -y heddle libheddle0 libheddle-dev >/dev/null' EXIT

step "packages: their own tests"
for t in docs/debian/tests/record docs/debian/tests/library; do
	(PATH=/usr/bin:/bin "$t" >/dev/null) || { echo "check-delivery: $t failed" >&2; exit 1; }
	echo "$t: passed"
done

step "packages: autopkgtest, on this machine"
tests/deps.sh autopkgtest
autopkgtest -q -B build/deb/*.deb build/deb/heddle-*/ -- null

step "test runners: CTest, meson, automake; SARIF by the published schema"
tests/deps.sh cmake meson ninja-build automake python3-jsonschema python3-yaml curl ca-certificates
tests/runners.sh

step "an image, by buildah"
tests/deps.sh buildah
tests/container.sh

step "many machines: GNU parallel, and a Slurm of two nodes"
tests/deps.sh parallel slurm-wlm munge perl
tests/cluster.sh

# 300 MB that nothing else needs, so that 'make check' takes it where it is installed and skips otherwise.
step "pages: walked in a browser"
tests/deps.sh chromium fonts-dejavu-core perl
tests/run.sh build page | tee build/pages.said
grep -q ' 0 skipped$' build/pages.said || { echo "check-delivery: no browser walked the pages" >&2; exit 1; }

step "an editor: Emacs goes through a race by the Debug Adapter Protocol"
tests/deps.sh emacs-nox elpa-dap-mode gdb gdbserver
tests/editor.sh

step "delivery: all passed"
