#!/bin/bash
# GenMC's own tests as real programs under `explore`, beside its expected numbers:
#     tests/bench/memory/genmc.sh GENMC [HEDDLE [PATTERN]]     GENMC: a checkout, for its tests/; PATTERN: of CATEGORY/NAME
# A line for each test of tests/correct:
#     CATEGORY/NAME  sc: GENMC OURS (executions)  rc11: GENMC OURS (blocked; runs)  tso: OURS (blocked; runs)
# GENMC: its complete executions (it has no numbers for tso); OURS: under sc the classes of values, else the complete execution graphs;
# "+": not complete, with the gap; "-": no number. And for each one of tests/wrong: what is found under rc11.
# In GenMC the other threads go on when main returns, so main ends its thread alone; an assumption that does not
# hold ends its execution, which is blocked here, too.
tests=$1/tests
heddle=${2:-./heddle}
pattern=${3:-*}
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
cp -r "$tests" "$scratch/tests"
cat >"$scratch/genmc.h" <<'C'
/* What GenMC's genmc.h declares, as far as a real program can have it. */
#pragma once
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
static sem_t genmc_never;
static inline void __VERIFIER_assume(int holds)
{
	if (!holds)
		sem_wait(&genmc_never);
}
#define __VERIFIER_assert(c) assert(c)
#define __VERIFIER_error() abort()
typedef pthread_t __VERIFIER_thread_t;
static inline pthread_t __VERIFIER_spawn(void *(*f)(void *), void *p)
{
	pthread_t t;
	pthread_create(&t, 0, f, p);
	return t;
}
#define __VERIFIER_spawn_symmetric(f, p, t) __VERIFIER_spawn(f, p)
static inline void *__VERIFIER_join(pthread_t t)
{
	void *result;
	pthread_join(t, &result);
	return result;
}
#define __VERIFIER_join_symmetric(t) ((void)__VERIFIER_join(t))
#define __VERIFIER_loop_begin()
#define __VERIFIER_spin_start()
#define __VERIFIER_spin_end(c)
#define __VERIFIER_optional(c) c
#define __VERIFIER_local_write(s) do { s; } while (0)
#define __VERIFIER_final_write(s) do { s; } while (0)
#define __VERIFIER_helped_CAS(s) do { s; } while (0)
#define __VERIFIER_helping_CAS(s) do { s; } while (0)
#define __VERIFIER_speculative_read(c) (c)
#define __VERIFIER_confirming_read(c) (c)
#define __VERIFIER_confirming_CAS(c) (c)
#define __VERIFIER_final_CAS(c) (c)
C

# The first variant, built as $scratch/run; false: it is none that can be.
build() {
	local variants=("$1"/variants/*.c "$1"/variants/*.cpp) variant args kind=cc
	for variant in "${variants[@]}"; do [ -f "$variant" ] && break; done
	[ -f "$variant" ] || return 1
	[[ $variant == *.cpp ]] && kind=c++
	perl -0pe 's/(.*)return 0;/$1pthread_exit(0);/s' "$variant" >"$1/variants/run.${variant##*.}"
	args=$(cat "$1"/args.rc11.mo.in "$1"/args.sc.mo.in 2>/dev/null | head -1 | grep -o -- '-D[^ ]*')
	# shellcheck disable=SC2086
	"$heddle" $kind -g -O1 -w -include "$scratch/genmc.h" -I"$scratch" -I"$1" $args "$1/variants/run.${variant##*.}" \
		-o "$scratch/run" -pthread >/dev/null 2>&1
}

explore() {
	"$heddle" explore --budget "${BUDGET:-20}" --format json "$@" -- "$scratch/run" 2>/dev/null >"$scratch/report"
	perl -MJSON::PP -e 'local $/; my $d = eval { decode_json(<STDIN>) } or do { print "no report"; exit };
		my $gap = $d->{complete} ? "" : " + $d->{gaps}[0]";
		printf defined $d->{graphs} ? ("%d (%d; %d)%s", $d->{graphs} - $d->{"graphs-blocked"}, $d->{"graphs-blocked"}, $d->{executions}, $gap)
			: ("%d (%d)%s", $d->{states}, $d->{executions}, $gap)' <"$scratch/report"
}

number() { [ -f "$1" ] && grep -m1 -o '[0-9]*' "$1" | head -1 || echo -; }

for category in litmus data-structures infr ipr lapor liveness saver sr synthetic; do
	for folder in "$scratch/tests/correct/$category"/*/; do
		name=$category/$(basename "$folder")
		# shellcheck disable=SC2053
		[[ $name == $pattern ]] || continue
		build "$folder" || { echo "$name  not built"; continue; }
		echo "$name  sc: $(number "$folder/expected.sc.mo.in") $(explore)  rc11:" \
			"$(number "$folder/expected.rc11.mo.in") $(explore --memory rc11)  tso: $(explore --memory tso)"
	done
done
for category in barriers helper infr liveness locking memory racy safety saver; do
	for folder in "$scratch/tests/wrong/$category"/*/; do
		name=wrong/$category/$(basename "$folder")
		# shellcheck disable=SC2053
		[[ $name == $pattern ]] || continue
		build "$folder" || { echo "$name  not built"; continue; }
		explore --memory rc11 >"$scratch/words"
		echo "$name  $(perl -MJSON::PP -e 'local $/; my $d = eval { decode_json(<STDIN>) } or exit;
			print join(", ", (map { $_->{kind} } @{$d->{errors}}), @{$d->{races}} ? "data race" : ()) || "nothing"' \
			<"$scratch/report"); $(cat "$scratch/words")"
	done
done
