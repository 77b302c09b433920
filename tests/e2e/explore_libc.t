#!/bin/bash
# What functions of the C library read and write while others do: along a schedule they look at memory in their
# own turn, so that every outcome is found, and no run reads other values than its events say.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >shared.c <<'E'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
/* Two threads write, the third looks; the result tells what it saw, and what is there at the end. */
#ifdef PRINT
static char text[8] = "0";
static int seen;
static void one(void) { snprintf(text, sizeof text, "%d", 11); }
static void other(void) { snprintf(text, sizeof text, "%d", 222); }
static void third(void) { seen = (int)strlen(text); }
static int result(void) { return 10 * seen + (int)strlen(text); }
#elif defined COPY
static char text[8] = "0";
static int seen;
static void one(void) { strcpy(text, "11"); }
static void other(void) { strcpy(text, "222"); }
static void third(void) { seen = strcmp(text, "11") == 0 ? 1 : strchr(text, '2') ? 2 : 3; }
static int result(void) { return 10 * seen + (int)strlen(text); }
#elif defined SCAN
static int number = 1, seen;
static void one(void) { sscanf("2", "%d", &number); }
static void other(void) { sscanf("3", "%d", &number); }
static void third(void) { seen = number; }
static int result(void) { return 10 * seen + number; }
#elif defined WIDE
static wchar_t text[8] = L"0";
static int seen;
static void one(void) { wcscpy(text, L"11"); }
static void other(void) { mbstowcs(text, "222", 8); }
static void third(void) { seen = (int)wcslen(text); }
static int result(void) { return 10 * seen + (int)wcslen(text); }
#elif defined TIME /* one place for all threads: whose year each of the writers saw */
static int first, second;
static void one(void) { time_t t = 0; first = gmtime(&t)->tm_year - 69; }
static void other(void) { time_t t = 400 * 86400; second = gmtime(&t)->tm_year - 69; }
static void third(void) { }
static int result(void) { return 10 * first + second; }
#endif
static void *run(void *f) { ((void (*)(void))f)(); return NULL; }
int main(void)
{
	pthread_t t[3];
	void (*f[3])(void) = { one, other, third };
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, run, (void *)f[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return result();
}
E
outcomes() { # NAME STATUSES
	"$HEDDLE" cc -g -O1 -D"$1" shared.c -o shared -pthread 2>/dev/null
	run "$HEDDLE" explore --format json -- ./shared
	is "$(json 'join " ", sort { $a <=> $b } map { $_->{status} } grep { $_->{kind} eq "exit-status" } @{$d->{errors}}')" \
		"$2" "$1: each outcome, and no other"
	is "$(json '$d->{complete} ? "complete" : join "; ", @{$d->{gaps}}')" complete "$1: the exploration is complete"
}
outcomes PRINT "12 13 22 23 32 33"
outcomes COPY "12 13 22 23 32 33"
outcomes SCAN "12 13 22 23 32 33"
outcomes WIDE "12 13 22 23 32 33"
outcomes TIME "11 12 22"

# A race of what the library writes: both orders are run, so its effect is seen.
run "$HEDDLE" check --format json -- ./shared
is "$(json 'join " ", map { $_->{harm} } grep { $_->{kind} eq "data-race" } @{$d->{findings}}')" \
	differs "check says what the race of gmtime's one place does"
done_testing
