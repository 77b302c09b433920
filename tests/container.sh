#!/bin/bash
# tests/container.sh: `make container` by buildah, and the image used: a sample is compiled, recorded and
# analysed in it. The base is Debian's image of the registry, or where none can be reached one by debootstrap.
# Root, or a user with user namespaces; buildah works here without a container runtime (isolation by chroot).
set -eu
export BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot} STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}
root=$PWD
base=${BASE:-debian:12}
if ! buildah inspect --type image "$base" >/dev/null 2>&1 && ! buildah pull -q "docker.io/library/$base" >/dev/null 2>&1; then
	echo "container: no registry can be reached: the base is made by debootstrap"
	base=localhost/debian-by-debootstrap
	if ! buildah inspect --type image $base >/dev/null 2>&1; then
		"$root"/tests/deps.sh debootstrap
		work=$(mktemp -d)
		trap 'rm -rf "$work"' EXIT
		debootstrap --variant=minbase --include=ca-certificates bookworm "$work/root" http://deb.debian.org/debian >/dev/null
		made=$(buildah from scratch)
		tar -C "$work/root" -cf "$work/root.tar" .
		buildah add -q "$made" "$work/root.tar" / >/dev/null
		buildah commit -q "$made" $base >/dev/null
		buildah rm "$made" >/dev/null
	fi
fi
make -s container BASE="$base" BUILD_OPTIONS="${BUILD_OPTIONS:-}" >build/container.log 2>&1 || {
	tail -20 build/container.log >&2
	exit 1
}
c=$(buildah from heddle)
buildah run "$c" -- sh -ec 'cd /tmp
	cp /usr/local/share/heddle/samples/bank/bank.c .
	heddle cc -g -O1 bank.c -o bank -pthread
	heddle record -q --seed 1 -o bank.hdl -- ./bank
	heddle races bank.hdl || [ $? = 1 ]' | tee build/container.said
buildah rm "$c" >/dev/null
grep -q 'race: data-race.*acct.balance' build/container.said
echo "container: passed, from $base, isolation $BUILDAH_ISOLATION"
