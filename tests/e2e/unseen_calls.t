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
run timeout 120 "$HEDDLE" check --budget 5 --format json -- ./text
like "$(json 'join " ", @{$d->{coverage}}')" "no data race outside of code that is not instrumented, no cycle" "check, of what"
like "$(json 'join " ", @{$d->{coverage}}')" "Not covered: accesses of functions .* swprintf\." "and the function"

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
