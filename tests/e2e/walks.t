#!/bin/bash
# Five newcomers' walks (tests/e2e/walks): from a report of another tool, a race in C++, a deadlock, a
# failed exploration to what is wrong, and a lesson with a right and four wrong fixes.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs walks=$root/tests/e2e/walks
export HOME=$scratch XDG_STATE_HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_CACHE_HOME=$scratch
cd "$scratch" || exit 1

# walk NAME COLUMNS LINES TRACE [OPTIONS]
walk() {
	local name=$1 columns=$2 lines=$3 trace=$4
	shift 4
	run env LC_ALL=C.UTF-8 COLUMNS="$columns" LINES="$lines" timeout 300 "$HEDDLE" open "$trace" "$@" \
		--script "$walks/$name.script"
	is "$status$err" 0 "$name: the walk ends well"
}
words() { tr '\n' ' ' <"$1" | tr -s ' '; }

"$HEDDLE" cc -g -O1 "$root/samples/bank/bank.c" -o bank -pthread
"$HEDDLE" record -q --seed 1 -o bank.hdl -- ./bank >/dev/null
walk report 80 24 bank.hdl --report "$walks/report.txt"
is "$(grep -c '^press' "$walks/report.script")" 4 "report: at most five keys"
like "$(words opened.txt)" "T1: acct.balance 100 → 150.*T2: acct.balance reads 150.*bank.c deposit\(\).*bank.c report\(\)" "report: opens at the two lines"
like "$(words witness.txt)" "✓ checked.*both are about to happen: they race" "report: the verdict is one key away"
like "$(words marked.txt)" "◆ *deposit bank.c:23.* real " "report: marked"
like "$(words story.txt)" "data race on acct.balance: can happen" "report: and told"

"$HEDDLE" c++ -std=c++17 -g -O1 "$programs/lazy_config.cpp" -o lazy -pthread
"$HEDDLE" record -q --seed 1 -o lazy.hdl -- ./lazy >/dev/null
walk publication 100 30 lazy.hdl
like "$(words list.txt)" "weak order *Lazy::set lazy_config.cpp:9 ⇄ Lazy::get :13 *defaults.value_" "publication: the user's lines and names"
like "$(words list.txt)" "T2 may still see the old defaults.value_, not T1's: T1's store of defaults.ready_ .lazy_config.cpp:9. is relaxed and does not publish it. Use release order there and acquire at lazy_config.cpp:11" \
	"publication: which store, which load, what to write"
like "$(words source.txt)" "▸ 9 void set.T v. . value_ = std::.*▸ 13 return value_;" "publication: both lines of the source"
unlike "$(cat list.txt story.txt source.txt)" "(move|shared_ptr_base|std_thread)\.h" "publication: no line of the library"
like "$(words trace.txt)" "Lazy::set lazy_config.cpp:9.*inside of std::" "publication: the trace, too"

"$HEDDLE" cc -g -O1 "$programs/stuck/dead_now.c" -o dead -pthread
timeout 300 "$HEDDLE" record -q -o dead.hdl -- ./dead >/dev/null 2>&1
walk deadlock 80 24 dead.hdl
like "$(head -1 first.txt)" "deadlock" "deadlock: the first line says so"
like "$(words first.txt)" "main waits for lock b, held by T1; T1 waits for lock a, held by main" "deadlock: who waits for whom"

"$HEDDLE" cc -g -O1 "$programs/stale_sum.c" -o stale_sum -pthread
"$HEDDLE" explore -q -o tree --check "sum == 2" -- ./stale_sum >/dev/null 2>&1
walk exploration 100 30 tree.run1.hdl
like "$(words first.txt)" "check failed.*sum == 2 does not hold: sum = 1" "exploration: the failed check is on the first screen"
like "$(words cause.txt)" "✗ .*sum == 2 does not hold: sum = 1" "exploration: one key further, the run that failed"
like "$(words cause.txt)" "Point of no return: T2: lock m .stale_sum.c:9." "exploration: its cause"
like "$(words cause.txt)" "A run that ends well goes on instead with: T1: lock m .stale_sum.c:12." "exploration: and what would have gone well"

# fix NAME PERL WANTED: the lesson "lost update", with that fix
cd "$root" || exit 1
lock='static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m);'
fix() {
	rm -rf "$scratch/account" && cp -r samples/account "$scratch/account"
	perl -0pe "$2" samples/account/account.c >"$scratch/account/fixed.c"
	run timeout 300 "$HEDDLE" lesson "$scratch/account/lost-update.lesson" --play
	is "$status" "$3" "lesson: $1"
}
fix "the whole update under a lock is right" \
	's/long balance = a->balance;/'"$lock"' long balance = a->balance;/; s/(a->balance = balance;)/$1 pthread_mutex_unlock(&m);/' 0
fix "each access locked alone is wrong" \
	's/long balance = a->balance;/'"$lock"' long balance = a->balance; pthread_mutex_unlock(&m);/; s/(a->balance = balance;)/pthread_mutex_lock(&m); $1 pthread_mutex_unlock(&m);/' 2
fix "the work left out is wrong" 's/balance \+= amount;//' 2
fix "volatile is wrong" 's/struct account \{\n\tlong/struct account {\n\tvolatile long/' 2
fix "a lock that is never given back is wrong" 's/long balance = a->balance;/'"$lock"' long balance = a->balance;/' 2
done_testing
