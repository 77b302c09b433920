#!/bin/bash
# Calls that break the rules of a lock are findings of `races`, where they happened; legal uses are not.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs/misuse
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 "$programs/misuse.c" -o misuse -pthread || exit 1

broken() { # WAY NOTE [FIRST'S OPERATION] [OPTIONS]
	run timeout 300 "$HEDDLE" record -q -o m.hdl ${4:-} -- ./misuse "$1"
	run "$HEDDLE" races m.hdl --format json
	is "$status" 1 "$1 ${4:-}: found"
	is "$(json 'join ",", map { "$_->{kind} $_->{verdict} $_->{note}" } grep { $_->{kind} eq "lock-misuse" } @{$d->{findings}}')" \
		"lock-misuse happened $2" "$1: as what it is"
	like "$(json '$d->{findings}[0]{locations}[1]')" "misuse.c:[0-9]+" "$1: and where"
	first=$(json '$d->{findings}[0]{first}')
	run "$HEDDLE" convert m.hdl - --to text
	is "$(grep -v '^#' <<<"$out" | sed -n "$((first + 1))p" | cut -d'|' -f2 | cut -d'(' -f1)" "${3:-misuse}" \
		"$1: with what makes it one"
}
broken other "unlocks what another thread has locked" acq
broken rw-other "unlocks what another thread has locked" acq
broken not-held "unlocks what nobody has locked"
broken wait "unlocks what nobody has locked"
broken twice "locks what it has locked already" acq
broken checked "locks what it has locked already" acq
broken locked "destroys what is locked" acq
broken destroyed "uses what was destroyed" destroy
broken signalled "uses what was destroyed" destroy
broken garbage "uses what was never initialised"
broken spin-other "unlocks what another thread has locked" acq
broken spin-not-held "unlocks what nobody has locked"
broken spin-destroyed "uses what was destroyed" destroy
broken spin-locked "destroys what is locked" acq
broken spin-twice "locks what it has locked already" acq
broken sem-destroyed "uses what was destroyed" destroy
broken sem-garbage "uses what was never initialised"
broken barrier-destroyed "uses what was destroyed" destroy
for object in again sem-again barrier-again; do
	broken $object "initialises what is initialised already"
done
broken again "initialises what is initialised already" misuse "--mode free"
broken rw-garbage "uses what was never initialised"
for object in cond sem barrier; do
	broken $object-waited "destroys what another thread waits for"
done
for mode in controlled free; do
	for way in join-twice thrd-join-twice join-detached; do
		broken $way "joins a thread that was joined or detached already (undefined; EINVAL or ESRCH)" misuse "--mode $mode"
	done
	for way in detach-joined thrd-detach-joined; do
		broken $way "detaches a thread that was joined or detached already (undefined; EINVAL or ESRCH)" misuse "--mode $mode"
	done
	broken join-self "joins itself (refused: EDEADLK)" misuse "--mode $mode"
	broken cancel-joined "cancels a thread that was joined already (undefined, or ESRCH)" misuse "--mode $mode"
	for way in barrier-of-none sem-large; do
		broken $way "initialises it with a number or attributes that are refused (EINVAL)" misuse "--mode $mode"
	done
	broken sem-overflow "posts it beyond SEM_VALUE_MAX (refused: EOVERFLOW)" misuse "--mode $mode"
	for way in sem cond mutex rw; do
		broken time-$way "waits until a time whose nanoseconds are not below 1000000000 (refused: EINVAL)" misuse "--mode $mode"
	done
	broken size "asks for more bytes than an object may have (refused: ENOMEM)" misuse "--mode $mode"
	for way in align posix-align; do
		broken $way "asks for an alignment that is no power of two or too small (undefined, or EINVAL)" misuse "--mode $mode"
	done
done
broken join-self "joins itself (refused: EDEADLK)"
run "$HEDDLE" convert m.hdl m-self.txt
run "$HEDDLE" races m-self.txt --format json
is "$(json '$d->{findings}[0]{note}')" "joins itself (refused: EDEADLK)" "the text form has it"
like "$(cat m-self.txt)" "main\|misuse\(main,join-self\)" "with the thread as its object"
for object in not-held spin-other sem-destroyed barrier-destroyed; do
	note=$(case $object in *other) echo "unlocks what another thread has locked" ;; *held) echo "unlocks what nobody has locked" ;; *) echo "uses what was destroyed" ;; esac)
	first=$(case $object in *other) echo acq ;; *held) echo misuse ;; *) echo destroy ;; esac)
	broken $object "$note" $first "--mode free"
done

for mode in controlled free; do
	run timeout 300 "$HEDDLE" record -q -o l.hdl --mode $mode -- ./misuse legal
	is "$status" 0 "legal uses, $mode"
	run "$HEDDLE" races l.hdl
	unlike "$out" "misuse" "are no misuse"
done

# GLib's mutexes
if pkg-config --exists glib-2.0; then
	cat >glib.c <<'C'
#include <glib.h>
#include <stdlib.h>
static GMutex m;
static int way;
static gpointer other(gpointer p)
{
	if (way == 1)
		g_mutex_unlock(&m);
	return p;
}
int main(int argc, char **argv)
{
	way = argc > 1 ? atoi(argv[1]) : 0;
	g_mutex_lock(&m);
	g_thread_join(g_thread_new("other", other, NULL));
	if (way != 1)
		g_mutex_unlock(&m);
	if (way == 2)
		g_mutex_unlock(&m);
	return 0;
}
C
	"$HEDDLE" cc -g -O1 glib.c -o glib $(pkg-config --cflags --libs glib-2.0) -pthread
	for way in 0 1 2; do
		run timeout 300 "$HEDDLE" record -q -o g.hdl -- ./glib $way
		run "$HEDDLE" races g.hdl --format json
		is "$(json 'join ",", map { $_->{note} } grep { $_->{kind} eq "lock-misuse" } @{$d->{findings}}')" \
			"$(echo ",unlocks what another thread has locked,unlocks what nobody has locked" | cut -d, -f$((way + 1)))" "GLib's mutex, way $way"
	done
else
	skip "GLib's mutexes" "GLib's headers are not installed"
fi

# An exploration has them among its errors.
"$HEDDLE" cc -g -O1 "$root/tests/e2e/programs/progress.c" -o progress -pthread
run timeout 300 "$HEDDLE" explore --format json -- ./progress misuse
is "$status $(json 'join ",", map { "$_->{kind} $_->{locations}[0] $_->{story}" } @{$d->{errors}}')" \
	"1 lock-misuse progress.c:19 T2 unlocks what nobody has locked: m" "explore lists it"
run timeout 300 "$HEDDLE" explore --format json -- ./misuse spin-destroyed
is "$(json 'join ",", map { $_->{kind} } @{$d->{errors}}')" "use-after-free" "and what is used after its destruction once"

# The text form, the other formats, and what else lists it.
cat >m.txt <<'T'
T1|acq(m)|a.c:1
T2|misuse(m,unlock-by-other)|a.c:2
T2|misuse(m,unlock-by-other)|a.c:2
T1|rel(m)|a.c:3
T
run "$HEDDLE" races m.txt --format json
is "$status" 1 "a trace in text"
is "$(json '$d->{findings}[0]{kind} . " " . $d->{findings}[0]{first} . " " . $d->{findings}[0]{second} . " " . $d->{findings}[0]{count}')" "lock-misuse 0 1 2" "the two of one place are one finding"
printf 'T1|misuse(%s,init-twice)|a.c:2\n' 'm[3]' 'm[4]' n 'm#11[3]' >again.txt
run "$HEDDLE" races again.txt --format json
is "$(json 'join ",", map { "$_->{first} $_->{count}" } @{$d->{findings}}')" "0 3,2 1" "so are those of several objects of one name"
run "$HEDDLE" races m.txt --pairs events --format json
is "$(json 'scalar @{$d->{findings}}')" 2 "each by itself with --pairs events"
run "$HEDDLE" races m.txt --analysis hb
is "$status" 0 "an analysis of races alone does not list it"
run "$HEDDLE" races m.txt
like "$out" "happened: lock-misuse.*another thread has locked" "as text"
run "$HEDDLE" races m.txt --format sarif
like "$out" '"ruleId": "lock-misuse"' "as SARIF"
run "$HEDDLE" convert m.txt m2.hdl
run "$HEDDLE" convert m2.hdl - --to text
like "$out" 'T2\|misuse\(m,unlock-by-other\)\|a.c:2' "through the binary format"
echo 'T1|misuse(m)|1' >bad.txt
run "$HEDDLE" info bad.txt
is "$status" 2 "the rule must be named"
done_testing
