#!/bin/bash
# What recording real programs has brought to light, in small: tests/bench/programs.sh and
# helgrind.sh run the real ones.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1

# CC is a script that calls heddle cc: the compiler behind it is the system's
printf '#!/bin/sh\nexec "%s" cc "$@"\n' "$HEDDLE" >my-cc
chmod +x my-cc
(
	ulimit -t 20
	run env CC="$PWD/my-cc" ./my-cc -g -O1 "$programs/spin.c" -o spin -pthread
	exit "$status"
)
ok $? "a script around heddle cc may stand in \$CC"

# spinning waiters do not keep the one that they wait for from running
for seed in 1 2; do
	run $HEDDLE record --max-size 32 --seed $seed -o spin.hdl -- ./spin
	is "$status $out" "0 sum 800" "a lock that the program spins on, seed $seed"
	unlike "$err" "max-size" "gets on without long turns of the waiters"
done

# a thread that vanishes does not keep the token
$HEDDLE cc -O1 "$programs/raw_exit.c" -o raw_exit -pthread
run timeout 300 $HEDDLE record -- ./raw_exit
is "$status $out" "0 after it" "a thread that leaves by the system call alone"
like "$err" "not modelled" "is said to be not modelled"

# copies of a template, one of which the linker drops
for unit in one two; do
	{
		echo '#include <string>'
		echo "int $unit(const char *s) { std::string t(s, s + 3), u(t); return u.size() + t.size(); }"
		[ $unit = one ] && echo 'int two(const char *); int main() { return one("abc") + two("def"); }'
	} >$unit.cc
	$HEDDLE c++ -O1 -c $unit.cc
done
run $HEDDLE c++ one.o two.o -o templates
is "$status" 0 "templates of several units link"
run $HEDDLE record -o templates.hdl -- ./templates
is "$status" 12 "and run"
run $HEDDLE c++ -shared -fPIC -O1 two.cc -o libtwo.so
is "$status" 0 "a shared library links, too"

# clocks are virtual: they show what a wait or sleep was asked for, and cost nothing
$HEDDLE cc -O1 "$programs/clocks.c" -o clocks -pthread
run timeout 300 $HEDDLE record -o clocks.hdl -- ./clocks
is "$(printf '%s' "$out" | head -2 | tr '\n' ';')" "110, 20 s;3620 s, 1;" "the clock goes on with what it waits for"
first=$out
run timeout 300 $HEDDLE record -o clocks.hdl -- ./clocks
is "$out" "$first" "and begins at the same point in every run"

# what the C library allocates where a freed block was is not that block
$HEDDLE cc -g -O1 "$programs/reused.c" -o reused -pthread
run $HEDDLE record -o reused.hdl -- ./reused
is "$status $out" "0 reused" "getline gets the memory of a freed block"
run $HEDDLE commute --analysis cov reused.hdl
is "$status" 0 "which is no use after free: $out"
done_testing
