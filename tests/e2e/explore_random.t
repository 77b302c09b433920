#!/bin/bash
# heddle explore: random programs that synchronise in every way, against all their interleavings
# (programs/random_oracle.c): every outcome is reached, and no other.  Programs with objects are also explored with
# their specification, and by results.  HEDDLE_SYNC_PROGRAMS=N: so many
# programs, HEDDLE_SYNC_FIRST=N: the first seed, HEDDLE_SYNC_EVERY=N: each Nth seed.  Without these, programs that once were wrong, too.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1

${CC:-cc} -O2 "$programs/random_oracle.c" -o oracle
$HEDDLE cc -g -O1 "$programs/random_sync.c" -o sync -pthread
$HEDDLE cc -g -O1 -DPLAIN_LOOKS "$programs/random_sync.c" -o plain -pthread
$HEDDLE cc -g -O1 -DREADS "$programs/random_sync.c" -o reads -pthread
$HEDDLE cc -g -O1 -DFAR "$programs/random_sync.c" -o far -pthread
$HEDDLE cc -g -O1 -DSIGNALS "$programs/random_sync.c" -o signals -pthread
$HEDDLE c++ -std=c++17 -g -O1 "$programs/random_ways.cc" -o ways -pthread
$HEDDLE c++ -std=c++17 -g -O1 -c "$programs/random_lock.cc" -o lock.o
$HEDDLE cc -g -O1 -DSTD_LOCK "$programs/random_sync.c" lock.o -o stdlock -pthread -lstdc++
first=${HEDDLE_SYNC_FIRST:-1}
every=${HEDDLE_SYNC_EVERY:-1}
seeds=" $(seq -s ' ' "$first" "$every" $((first + every * (${HEDDLE_SYNC_PROGRAMS:-30} - 1)))) "
# 700012: a wait whose time was up, then a signal to the same thread's next wait; 1100234, 3100085: a
# stack that a second thread has after the first was joined; 21002103: main ends the program between
# a wait and the release of its mutex; every eighth: main joins nobody; every fourth:
# accesses of parts of a variable; those that leave 4 by 8: loops that wait by looking; 28 by 32: exchanges that keep
# what they were told; 2, 13 or 15 by 16: futexes; 0 by 8: looks under a lock, 0 by 16 with tries, too; and in 107, 135, 267, 435 reads that not every run's accesses divide alike; 5236, 200292: a wait with a time limit beside threads that look for ever
# 50000124: all wait for ever in the state that a schedule of a read leads to
# from 60000000 on: additions whose result nobody looks at; from 61000000 on: locks that are counters, 61030053: a failed
# try that another thread sees, after which outcomes differ
# from 61800000 on: of two, nested; from 62000000 on: accesses of parts of atomics, by additions, too; 63000000: two conditions; from 64000000 on:
# signals, whose handlers may run at any moment; from 65000000 on: loops that take several locks by tries, from both sides
# from 65500000 on: with others of three locks, and with std::lock, or the loop that it is
# 179, 251: copies of structures, as ways 4 and 7
# 160 to 464: tries that are made until they succeed; of other multiples of 16 some take a lock by such tries and look under it, which has no end
chosen=${HEDDLE_SYNC_FIRST:-}${HEDDLE_SYNC_PROGRAMS:-}
[ -n "$chosen" ] || seeds="${seeds/ 16 / } 160 208 224 256 304 464 700012 1100234 3100085 21002103 107 135 267 435 36 44 308 60 92 796 5236 200292 50000124 $(seq -s " " 60000001 60000012) $(seq -s " " 61000001 61000008) 61030053 $(seq -s " " 61800002 2 61800008) $(seq -s " " 62000001 62000008) 63000001 63000003 $(seq -s " " 64000001 64000007) 64000052 179 251 65000005 65000020 65000023 65000029 65000039 65030000 65030013 65030026 65030034 65030036 65030045 65030047 65500002 65500005 65500008 65500020 65500026 65500053 65500062 65500086"

compare() { # SEED MODE [PROGRAM [ITS FIRST ARGUMENT]]
	rm -f log
	# looks under locks that are tried may have no end
	budget=$((($1 % 16) ? 1200 : 20))
	[ -z "$chosen" ] || [ "$1" -lt 65000000 ] || budget=20 # so may these, where a try tells
	run timeout 1300 "$HEDDLE" explore --budget "$budget" --format json --seed $(($1 % 3)) $2 -- "./${3:-sync}" log ${4:-} "${arguments[@]}"
	uses=$(json 'scalar grep { $_->{kind} eq "use-after-free" } @{$d->{errors}}')
	compared=$(perl "$programs/random_compare.pl" expected log "$uses")
	gaps=$(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}')
	# With seeds of one's own an exploration may say that it did not cover all, and so miss
	# outcomes; one that cannot be reached is wrong, except of a run that the time's end cut.
	if [ -n "$chosen" ] && [ "$gaps" != complete ] &&
		{ [[ "$gaps" == *"time was up"* ]] || ! grep -qv '^missed' <<<"${compared:-missed}"; }; then
		skip "random program $1" "not complete: $gaps"
		return
	fi
	is "$gaps $compared" "complete " "random program $1${2:+, ${2##*[/ ]}}${3:+, as $3}${4:+ $4}: ${arguments[*]}"
}

for seed in $seeds; do
	if ! ./oracle "$seed" >expected || [ "$(wc -l <expected)" -gt 120 ]; then
		continue # too large to be searched here
	fi
	read -ra arguments <expected
	if [[ "${arguments[*]}" == *"~"* ]]; then
		compare "$seed" "" signals
		continue
	fi
	if [ -z "$chosen" ] && [[ "${arguments[*]}" == */[23][01]* ]]; then
		compare "$seed" "" stdlock # the loop that it is has no end
		continue
	fi
	for mode in "" "--spec $programs/random_sync.spec" "--spec $programs/random_sync.spec --results"; do
		[[ -n $mode && "${arguments[*]}" != *[mGADK][01]* ]] || compare "$seed" "$mode"
	done
	[[ "${arguments[*]}" != *[LHX][0-9]* ]] || compare "$seed" "" plain # volatile looks
	[[ "${arguments[*]}" != */[0-9]* ]] || compare "$seed" "" reads
	[[ "${arguments[*]}" != */[23][01]* ]] || compare "$seed" "" stdlock
	# The operations by other means of C and C++
	[[ "${arguments[*]}" == *[mGADKU\&\|,\;^\(@%+=:H/]* ]] || compare "$seed" "" ways $(((seed * 7 + seed / 5) % 12))
	# Other values, and writes by handlers of signals: where no operation calculates or has a part of a variable, and
	# none may wait for ever, as a signal from outside could end such a wait.
	far=$(grep -oE '[^0-9. ][0-9][0-9.]' <<<"${arguments[*]}" | cut -c1 | tr -d '\n')
	[[ $far != *w* || $far == *[^rwRWxkhtTuvVOpgyjJ!]* ]] || compare "$seed" "" far
done
done_testing
