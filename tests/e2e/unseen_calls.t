#!/bin/bash
# Functions of the C and C++ libraries that use memory of the program, and whose accesses are not recorded: the reports on a
# recording say so. std::string is compiled with the program, so that its accesses are recorded.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
races() { run "$HEDDLE" races "$@" --format json; }
found() { json 'join " ", sort map { $_->{variable} } @{$d->{findings}}'; }
lacks() { json '($d->{complete} ? "complete" : "open") . ($d->{uninstrumented} ? " but for calls" : "")'; }
note='called while other threads ran, and not instrumented: swprintf;'

# T1 reads the text within the library, main writes it: a race that no trace shows.
cat >text.c <<'C'
#include <pthread.h>
#include <wchar.h>
static wchar_t s[8] = L"12";
static void *run(void *p)
{
	wchar_t out[8];
	swprintf(out, 8, L"%ls", s);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	s[1] = 'x';
	pthread_join(t, 0);
	return 0;
}
C
$HEDDLE cc -g -O1 text.c -o text -pthread
run "$HEDDLE" record -- ./text
races text.hdl
is "$(found) $(lacks)" " complete but for calls" "a report on such a recording"
run "$HEDDLE" races text.hdl
like "$out" "complete: .* no data race outside of code that is not instrumented$" "its last line"
like "$out" "^note: $note" "and a note that names the function"
run "$HEDDLE" deadlocks text.hdl
unlike "$out" "not instrumented" "deadlocks do not depend on accesses"
run "$HEDDLE" record --mode free -o free.hdl -- ./text
run "$HEDDLE" races free.hdl
like "$out" "^note: $note" "free mode"
run "$HEDDLE" convert text.hdl --to text copy.txt
run "$HEDDLE" races copy.txt
like "$out" "^note: $note" "the text of the trace"
run timeout 300 "$HEDDLE" check --budget 5 --format json -- ./text
like "$(json 'join " ", @{$d->{coverage}}')" "no data race outside of code that is not instrumented, no cycle" "check, of what"
like "$(json 'join " ", @{$d->{coverage}}')" "Not covered: accesses of functions .* swprintf\." "and the function"

# Without the calls into libraries the function is named all the same.
for way in "" "--mode free" "--mode free --sample 2" "--filter hb"; do
	# shellcheck disable=SC2086
	run "$HEDDLE" record $way --no-missing -o calls.hdl -- ./text
	run "$HEDDLE" races --analysis hb calls.hdl
	like "$out" "^note: $note" "record $way --no-missing"
done

# --last: the call is noted anew where the chunk of the log with its note is overwritten.
sed -e 's/swprintf(out.*/for (int k = 0; k < 4; k++) { for (int i = 0; i < 300000; i++) n += i; swprintf(out, 8, L"%ls", s); }/' \
	-e 's/^static wchar_t/static volatile int n;\n&/' text.c >long.c
$HEDDLE cc -g -O1 long.c -o long -pthread
run "$HEDDLE" record --last 1000 -o last.hdl -- ./long
run "$HEDDLE" races last.hdl
like "$out" "^note: $note what" "record --last, each function once"

# A thread that has ended is not before the call until it is joined.
sed -e 's/pthread_t t;/&wchar_t own[8];/' -e 's/s\[1\] = .x.;/sleep(1); swprintf(own, 8, L"%ls", s);/' \
	-e 's/swprintf(out.*/s[1] = 65;/' -e 's/#include <wchar.h>/&\n#include <unistd.h>/' text.c >ended.c
sed -e 's/sleep(1);/pthread_join(t, 0);/' -e 's/^\tpthread_join.*//' ended.c >joined.c
for p in ended joined; do
	$HEDDLE cc -g -O1 $p.c -o $p -pthread
	run "$HEDDLE" record --strategy rr -- ./$p
	races $p.hdl
done
run "$HEDDLE" races ended.hdl
like "$out" "^note: $note" "a call by main after a thread that it has not joined"
run "$HEDDLE" races joined.hdl
unlike "$out" "swprintf" "and after one that it has joined"

# Paths and names in the program's memory, by the kinds of rows that libc/orders.c has.
for call in 'access(s, 0)' 'mkdir(s, 0)' 'rename("/a", s)' 'opendir(s)' 'setenv("A", s, 1)' \
	'chmod(s, 0)' 'dlopen(s, 1)' 'getenv(s)'; do
	cat >path.c <<C
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
static char s[64] = "/nonexistent/x";
static void *run(void *p)
{
	(void)!$call;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	s[3] = 'x';
	pthread_join(t, 0);
	return 0;
}
C
	$HEDDLE cc -g -O1 -w path.c -o path -pthread
	run "$HEDDLE" record -- ./path
	run "$HEDDLE" races path.hdl
	like "$out" "^note: ${note% *} ${call%%(*};" "memory that $call reads"
done

# The same before there are threads, and on the caller's own stack.
sed -e 's/, s);/, L"1");/' -e 's/pthread_t t;/&wchar_t own[8]; swprintf(own, 8, L"%ls", s);/' text.c >before.c
$HEDDLE cc -g -O1 before.c -o before -pthread
run "$HEDDLE" record -- ./before
races before.hdl
is "$(found) $(lacks)" " complete" "memory that no other thread can use"

# Attributes on the caller's own stack: a size is no pointer, nor is an argument that the function does not have.
cat >attributes.c <<'C'
#include <pthread.h>
static void *run(void *p)
{
	pthread_attr_t a;
	pthread_condattr_t c;
	pthread_t t;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 1 << 20);
	pthread_condattr_init(&c);
	pthread_condattr_destroy(&c);
	if (p == 0)
		return p;
	pthread_create(&t, &a, run, 0);
	pthread_join(t, 0);
	pthread_attr_destroy(&a);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, &t);
	run(&t);
	pthread_join(t, 0);
	return 0;
}
C
$HEDDLE cc -g -O1 attributes.c -o attributes -pthread
run "$HEDDLE" record -- ./attributes
races attributes.hdl
is "$(found) $(lacks)" " complete" "attributes on the own stack"

# std::string: its functions are compiled with the program in each standard; a stream is not.
cat >string.cc <<'C'
#include <string>
#include <thread>
static std::string s = "a";
int main()
{
	std::thread t([] { s.append("more than fits its own place"); });
	s.append("x");
	t.join();
}
C
for standard in 11 17 20; do
	$HEDDLE c++ -std=c++$standard -g -O1 string.cc -o string -pthread
	run "$HEDDLE" record -- ./string
	races string.hdl
	like "$(found)" "_M_string_length" "std::string, C++$standard"
done
cat >stream.cc <<'C'
#include <sstream>
#include <thread>
static std::ostringstream s;
int main()
{
	std::thread t([] { s << 12; });
	s << 3;
	t.join();
}
C
$HEDDLE c++ -g -O1 stream.cc -o stream -pthread
run "$HEDDLE" record -- ./stream
run "$HEDDLE" races stream.hdl
like "$out" "^note: called .* not instrumented: a std::ostream; what" "a stream of libstdc++'s file"

done_testing
