#!/bin/bash
# Where a program crashes: the place and the thread, wherever the signal came from; and one crash of
# several runs is one finding.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >crash.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
struct node { int a, b; } *node;
char bytes[100];
static int which;
static void *work(void *p) { node->a++; return p; }
static int get(struct node *n) { return n->b; }
int main(int argc, char **argv)
{
	pthread_t t;
	which = atoi(argv[1]);
	node = calloc(1, sizeof *node);
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	node = NULL;
	if (which == 0)
		return get(node);
	if (which == 1)
		memcpy(&node->b, bytes, 10);
	if (which == 2)
		abort();
	if (which == 3)
		raise(SIGSEGV);
	if (which == 4)
		return 5 / *(volatile int *)bytes;
	if (which == 5)
		free(bytes + 3);
	if (which == 7) {
		which += atoi(argv[1]); /* a call of the same function, done by then */
		abort();
	}
	if (which == 8) {
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		return *(volatile int *)node;
	}
	if (which == 6) {
		struct sigaction a;
		return sigaction(SIGSEGV, NULL, &a) != 0 || a.sa_handler != SIG_DFL || a.sa_flags;
	}
	return 7;
}
C
"$HEDDLE" cc -g -O1 -w crash.c -o crash -pthread || exit 1
for c in "0 139 9 address 0x4" "1 139 21 address 0x4" "2 134 23" "3 139 25" "4 136 27" "5 134 29" "7 134 32"; do
	read -r n s line address <<<"$c"
	run "$HEDDLE" record -o c.hdl -- ./crash "$n"
	is "$status" "$s" "crash $n ends as without us"
	run "$HEDDLE" check c.hdl --format json
	like "$(json '$d->{findings}[0]{text}')" "The program crashes: signal $((s - 128)) .*in main at crash.c:$line.*${address:-\\.*}" "its place"
done
run "$HEDDLE" record -o c.hdl -- ./crash 0
run "$HEDDLE" convert c.hdl -
like "$out" "main|r1(memory@0x4)|crash.c:9" "the read that failed is in the trace"
run "$HEDDLE" record -o c.hdl -- ./crash 6
is "$status" 0 "the program sees no handler of ours"

run "$HEDDLE" record -o c.hdl -- ./crash 8
run "$HEDDLE" check c.hdl --format json
like "$(json '$d->{findings}[0]{text}')" "signal 11 .*in main, last seen at crash.c" "blocked signals leave no note: the last event"

# A crash in one function, seen by two threads in several runs; the last event before it is of the
# other thread.
cat >list.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static struct node { struct node *next; int v; } *volatile head;
static void *pop(void *p)
{
	for (int i = 0; i < 2; i++) {
		if (head != NULL)
			head = head->next;
	}
	return p;
}
int main(void)
{
	pthread_t s, t;
	head = calloc(1, sizeof *head);
	pthread_create(&s, 0, pop, 0);
	pthread_create(&t, 0, pop, 0);
	pthread_join(s, 0);
	pthread_join(t, 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 list.c -o list -pthread || exit 1
run "$HEDDLE" check -o list --format json -- ./list
is "$(json 'scalar grep { $_->{kind} eq "crash" } @{$d->{findings}}')" 1 "one crash, by whichever thread"
like "$(json '$d->{findings}[0]{text}')" "in T[12] at list.c:8" "at its place"
ok "$(json '@{$d->{findings}[0]{runs}} > 1 ? 0 : 1')" "with the runs that show it"
wit=$(json '$d->{findings}[0]{"witness-file"}')
run "$HEDDLE" replay --witness "$wit" -- ./list
like "$out$err" "signal 11" "its recorded order leads there again"
like "$err" "each thread does and sees what it did in the recording" "as it did"

# A thread that main does not wait for still works when static objects are destroyed.
cat >late.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int *table;
static void *fill(void *unused) { table[0] = 1; return unused; }
__attribute__((destructor)) static void destroy(void) { free(table); }
int main(void)
{
	pthread_t thread;
	table = malloc(sizeof *table);
	pthread_create(&thread, 0, fill, 0);
	pthread_detach(thread);
	return 0;
}
C
"$HEDDLE" cc -g -O1 late.c -o late -pthread || exit 1
run "$HEDDLE" check --format json -- ./late
is "$(json 'join " ", map { $_->{"after-main"} } grep { $_->{kind} eq "use-after-free" } @{$d->{findings}}')" \
	"main() has returned by then, and T1 still runs: nothing waits for its end" "what the two have in common: the end of main()"
run "$HEDDLE" check -- ./late
like "$out" "main\(\) has returned by then" "as text, too"
done_testing
