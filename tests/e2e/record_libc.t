#!/bin/bash
# record: what the C library does for its caller. Memory that it touches, calls that wait,
# threads that it makes, a once routine that throws.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1

racy() { json 'join "\n", sort keys %{{ map { s/[^a-z0-9_].*//r => 1 } map { @{$_->{variables}} } @{$d->{findings}} }}'; }
for compiler in gcc clang; do
	has $compiler "what the C library touches, by $compiler" || continue
	for flags in -O1 "-O2 -D_FORTIFY_SOURCE=2"; do
		CC=$compiler $HEDDLE cc -w $flags "$programs/touches.c" -o touches -pthread -lm
		run timeout 300 $HEDDLE record -q -o touches.hdl -- ./touches
		is "$status" 0 "touches.c, $compiler $flags"
		run $HEDDLE races --analysis lockset touches.hdl --format json
		is "$(racy | LC_ALL=C comm -13 - <(LC_ALL=C sort names))" "" "every function's access is there"
	done
done
# A program that was fortified by somebody else's compiler
gcc -w -O2 -g -D_FORTIFY_SOURCE=2 -fsanitize=thread "$programs/touches.c" -o fortified -pthread -lm 2>/dev/null &&
	run timeout 300 $HEDDLE record -q -o touches.hdl -- ./fortified
run $HEDDLE races --analysis lockset touches.hdl --format json
for f in sprintf snprintf fprintf_s fgets fread; do
	like "$(racy)" "v_$f(\s|$)" "fortified: $f"
done

$HEDDLE cc -w -O1 "$programs/waits.c" -o waits -pthread -lrt
for seed in 1 2; do
	while read -r name expected; do
		run timeout 300 $HEDDLE record --seed $seed -o waits.hdl -- ./waits $name
		is "$status $out" "0 $expected" "$name, seed $seed"
		[ $name = unseen ] || unlike "$err" "not modelled" "is modelled"
		run $HEDDLE races waits.hdl
		is "$status" 0 "and leaves no race"
	done <<-END
		timer 3
		posix-queue 2
		queue 2
		semaphore 2
		event 2
		stream 2
		locked 2
		unseen 2
	END
done

cat >once.cc <<'C'
#include <cstdio>
#include <mutex>
#include <thread>
static std::once_flag flag;
static int tries, done;
static void call()
{
	try {
		std::call_once(flag, [] { if (tries++ == 0) throw 1; done++; });
	} catch (int) {
	}
}
int main()
{
	std::thread a(call), b(call);
	a.join();
	b.join();
	printf("%d %d\n", tries, done);
}
C
$HEDDLE c++ -O1 once.cc -o once -pthread
for seed in 1 2 3 4 5 6; do
	run timeout 300 $HEDDLE record -q --seed $seed -o once.hdl -- ./once
	is "$status $out" "0 2 1" "a once routine that throws, seed $seed"
done
run $HEDDLE races once.hdl
is "$status" 0 "and no race"
done_testing
