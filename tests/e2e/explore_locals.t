#!/bin/bash
# heddle explore finds the uses of a function's local variables by another thread after the function returned, and no
# others: random programs (programs/random_locals.pl) against all interleavings.
# HEDDLE_PROGRAMS=N: so many programs, HEDDLE_FIRST=N: the first seed.
. tests/e2e/lib.sh
generator=$PWD/tests/e2e/programs/random_locals.pl
cd "$scratch" || exit 1

first=${HEDDLE_FIRST:-1}
due=0
for seed in $(seq "$first" $((first + ${HEDDLE_PROGRAMS:-16} - 1))); do
	perl "$generator" "$seed" >prog.c
	$HEDDLE cc -g -O$((seed % 2)) prog.c -o prog -pthread
	run timeout 300 "$HEDDLE" explore --format json -- ./prog
	found=$(json 'my %seen; join " ", sort { $a <=> $b } grep { !$seen{$_}++ } map { $_->{locations}[0] =~ s/.*://r } @{$d->{errors}}')
	wanted=$(sed -n 's/^\/\/= //p' prog.c)
	gaps=$(json 'join "; ", @{$d->{gaps}}')
	if [[ $gaps == *"code that is not recorded"* ]]; then
		# a variable of a function that returned, below the frame of one that the thread knows to run: what the
		# read sees is said not to be known
		is "$(comm -23 <(tr ' ' '\n' <<<"$found" | sort) <(tr ' ' '\n' <<<"$wanted" | sort))" "" "program $seed, in part"
	else
		is "$found; $gaps" "$wanted; " "program $seed"
	fi
	[ -z "$found" ] || due=$((due + 1))
done
is "$((due > 0))$((due < count))" 11 "some programs use a variable after its function returned, some do not"
done_testing
