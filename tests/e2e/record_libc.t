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

# What poll and select answer is a write of theirs: no code that is not recorded wrote it.
cat >ready.c <<'C'
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/select.h>
#include <unistd.h>
static int ends[2], seen;
static void *waits(void *p)
{
	struct pollfd *f = malloc(sizeof *f);
	fd_set *r = malloc(sizeof *r);
	f->fd = ends[0];
	f->events = POLLIN;
	f->revents = 0;
	if (poll(f, 1, -1) == 1)
		seen += f->revents;
	FD_ZERO(r);
	FD_SET(ends[0], r);
	FD_SET(ends[1], r);
	if (select(ends[1] + 1, r, NULL, NULL, NULL) == 1)
		seen += !FD_ISSET(ends[1], r);
	free(f);
	free(r);
	return p;
}
int main(void)
{
	pthread_t t;
	if (pipe(ends) != 0 || pthread_create(&t, NULL, waits, NULL) != 0 || write(ends[1], "x", 1) != 1)
		return 1;
	return pthread_join(t, NULL);
}
C
$HEDDLE cc -w -g -O1 ready.c -o ready -pthread
for seed in 1 2 3; do
	run timeout 300 $HEDDLE record -q --seed $seed -o ready.hdl -- ./ready
	run $HEDDLE races ready.hdl
	like "$status $out" "^0 .* complete: in all" "poll and select, seed $seed"
done

# A stream's facet makes its table when it is asked, in the library; the code that looks at it is inlined.
cat >facet.cc <<'C'
#include <pthread.h>
#include <sstream>
#include <string>
static void *reads(void *p)
{
	std::istringstream in("one\ntwo\n");
	std::string line;
	std::getline(in, line);
	std::getline(in, line);
	return p;
}
int main()
{
	pthread_t t;
	pthread_create(&t, nullptr, reads, nullptr);
	pthread_join(t, nullptr);
	return 0;
}
C
$HEDDLE c++ -w -g -O1 facet.cc -o facet -pthread
run timeout 300 $HEDDLE record -q -o facet.hdl -- ./facet
run $HEDDLE races facet.hdl
like "$status $out" "^0 .* complete: in all" "a facet's table"

# Copies of a known size in libstdc++'s headers are accesses, too.
cat >copies.cc <<'C'
#include <algorithm>
#include <pthread.h>
#include <string>
static std::string *text = new std::string("a text that is longer than fifteen bytes");
static int from[4] = { 1, 2, 3, 4 }, to[4];
static void *copies(void *p)
{
	*text = "hello";
	std::copy(from, from + 4, to);
	return p;
}
int main()
{
	pthread_t t;
	pthread_create(&t, nullptr, copies, nullptr);
	int seen = (*text)[3] + to[2];
	pthread_join(t, nullptr);
	return seen == 0;
}
C
for level in -O0 -O1 -O2; do
	$HEDDLE c++ -w -g $level copies.cc -o copies -pthread
	run timeout 300 $HEDDLE record -q -o copies.hdl -- ./copies
	run $HEDDLE races copies.hdl
	like "$out" "data-race  on (.*, )?to\[2\]" "$level: std::copy"
	like "$out" "data-race  on (.*, )?text(#2)?\[3\]" "$level: an assignment to a string"
	run timeout 300 $HEDDLE explore -- ./copies
	unlike "$out" "calls no hook" "$level: none is without a hook"
done

$HEDDLE cc -w -O1 "$programs/waits.c" -o waits -pthread -lrt
for seed in 1 2; do
	while read -r name expected; do
		run timeout 300 $HEDDLE record --seed $seed -o waits.hdl -- ./waits $name
		is "$status $out" "0 $expected" "$name, seed $seed"
		[ $name = unseen ] || unlike "$err" "not modelled" "is modelled"
		unlike "$err" "before they were sent" "and every message is sent before it comes"
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
