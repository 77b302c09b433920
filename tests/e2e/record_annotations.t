#!/bin/bash
# Annotations of happens-before: an acquire comes after every release at its address before it.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
export TMPDIR=$scratch
cd "$scratch" || exit 1
# races TRACE: the variables of its races, and whether that is all
races() {
	run $HEDDLE races "$1" --format json
	json 'join(" ", sort map { $_->{variable} } @{$d->{findings}}) . ($d->{complete} ? " complete" : "")'
}

for p in annot annot2; do
	$HEDDLE cc -g -O1 "$programs/$p.c" -o $p -pthread
	for seed in 1 2 3; do
		run timeout 300 $HEDDLE record -q --seed $seed -o $p.hdl -- ./$p
		is "$status $out" "0 3" "$p, seed $seed"
		is "$(races $p.hdl)" " complete" "three releases, one acquire: no race"
	done
	run timeout 300 $HEDDLE record -q --mode free -o $p.free.hdl -- ./$p
	is "$(races $p.free.hdl | sed 's/ complete//')" "" "nor in free mode"
done

# What is not annotated stays a race, and its witness happens although the releases change places.
cat >some.c <<'C'
#include <pthread.h>
#include <stdio.h>
void AnnotateHappensBefore(const char *, int, void *);
void AnnotateHappensAfter(const char *, int, void *);
static int where, told[3], late[3];
static void *run(void *p)
{
	long i = (long)p;
	told[i] = 1;
	AnnotateHappensBefore("", 0, &where);
	late[i] = 1;
	return NULL;
}
int main(void)
{
	pthread_t t[3];
	int sum = 0;
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 3; i++)
		sum += late[i];
	AnnotateHappensAfter("", 0, &where);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 3; i++)
		sum += told[i];
	printf("%d\n", sum);
	return 0;
}
C
$HEDDLE cc -g -O1 some.c -o some -pthread
for seed in 1 2 3 4; do
	run timeout 300 $HEDDLE record -q --seed $seed -o some.hdl -- ./some
	run $HEDDLE races some.hdl --format json
	like "$(json 'join " ", sort map { @{$_->{variables}} } @{$d->{findings}}')" '^late\S*( late\S*)*$' \
		"seed $seed: the late writes race, and nothing else"
	read -r e f <<<"$(json 'join " ", map { "$_->{first} $_->{second}" } $d->{findings}[0]')"
	$HEDDLE witness some.hdl $e $f -o some.wit >/dev/null
	run $HEDDLE verify some.hdl some.wit
	is "$status" 0 "with a witness that the checker accepts"
	run timeout 300 $HEDDLE replay --witness some.wit -- ./some
	is "$status" 0 "and that the program follows"
done

# The checker: every release before the acquire has to come first, not the last alone.
cat >two.txt <<'T'
main|fork(T1)|1
main|fork(T2)|2
T1|w(x)|3
T1|snd(g)|4
T2|snd(g)|5
main|rcv(g)|6
main|r(x)|7
T
run $HEDDLE races two.txt --format json
is "$(json 'scalar @{$d->{findings}}')" 0 "two sends of one message order both senders"
cat >two.wit <<'W'
#! heddle-witness 1
#! trace two.txt -
#! kind race
#! pair 2 6
0
1
4
5
2
6
W
run $HEDDLE verify two.txt two.wit
is "$status" 1 "and no witness may leave one of them out"
run timeout 300 $HEDDLE explore --budget 250 -- ./annot
like "$out" "data-race" "nothing keeps the acquire after the releases in each schedule: exploration finds a race"
# An acquire waits for nothing: what is said of a run in which it came after its only release is said of this pairing.
cat >one.c <<'C'
#include <pthread.h>
void AnnotateHappensBefore(const char *file, int line, const volatile void *tag);
void AnnotateHappensAfter(const char *file, int line, const volatile void *tag);
static int tag, x;
static void *sends(void *unused)
{
	x = 1;
	AnnotateHappensBefore(__FILE__, __LINE__, &tag);
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, sends, 0);
	AnnotateHappensAfter(__FILE__, __LINE__, &tag);
	int seen = x;
	pthread_join(thread, 0);
	return seen > 1;
}
C
"$HEDDLE" cc -g -O1 one.c -o one -pthread
said=
for seed in 1 2 3 4 5 6; do
	"$HEDDLE" record -q --seed $seed -o one.hdl -- ./one
	run "$HEDDLE" races --format json one.hdl
	found=$(json 'scalar(@{$d->{findings}}) . ($d->{given} // "")')
	[ "${found:0:1}" != 0 ] || said+="$found;"
done
like "$said" "^(0same pairing;)+$" "no race, of this pairing alone"
done_testing
