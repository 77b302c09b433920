#!/bin/bash
# heddle check: what a finding does to the program is looked for in the heap, too; what is not looked
# at is said.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >heap.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct item { struct item *next; int price; };
struct shop { struct item *first, *best; long takings, visits; } *shop;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int which;
static void *sell(void *p)
{
	struct item *second = shop->first->next;
	if (which == 0) { /* two sales, one of them lost */
		long t = shop->takings;
		shop->takings = t + second->price;
	} else if (which == 1) { /* deep in the list */
		second->price = p ? 3 : 4;
	} else if (which == 2) { /* a pointer, or none */
		shop->best = p ? NULL : second;
	} else { /* both write the same */
		second->price = 5;
	}
	pthread_mutex_lock(&m);
	shop->visits++;
	pthread_mutex_unlock(&m);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t s, t;
	which = atoi(argv[1]);
	shop = calloc(1, sizeof *shop);
	shop->first = calloc(1, sizeof *shop->first);
	shop->first->next = calloc(1, sizeof *shop->first);
	shop->first->next->price = 21;
	pthread_create(&s, 0, sell, 0);
	pthread_create(&t, 0, sell, shop);
	pthread_join(s, 0);
	pthread_join(t, 0);
	return 0;
}
C
"$HEDDLE" cc -g -O1 heap.c -o heap -pthread || exit 1
one() { json '(grep { $_->{kind} eq "data-race" and $_->{harm} eq "differs" } @{$d->{findings}})[0]{'"$1"'}'; }
run "$HEDDLE" check -o h --runs 2 --format json -- ./heap 0
is "$(one difference)" "shop->takings is 21, not 42" "a member of a block"
is "$(one at)" "heap.c:12" "where it was written"
run "$HEDDLE" check -o h --runs 2 --format json -- ./heap 1
like "$(one difference)" "^shop->first->next->price is (3, not 4|4, not 3)$" "a block behind two pointers, by the way there"
run "$HEDDLE" check -o h --runs 2 --format json -- ./heap 2
like "$(one difference)" "^shop->best is (NULL, not a pointer|a pointer, not NULL)$" "a pointer"
run "$HEDDLE" check -o h --runs 2 --format json -- ./heap 3
is "$(json 'join " ", map { $_->{harm} } @{$d->{findings}}')" same "one value, whoever writes it; addresses are not compared"
like "$(json '$d->{findings}[0]{why}')" "for this input" "and of what that is said"
run "$HEDDLE" check -o h --runs 2 -- ./heap 0
like "$out" "what it does: shop->takings is 21, not 42 \(written last at heap.c:12\)" "as text"

cat >fork.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	return waitpid(child, 0, 0) != child;
}
C
"$HEDDLE" cc -g -O1 fork.c -o fork || exit 1
run "$HEDDLE" check -o f --runs 2 --format json -- ./fork
like "$(json 'join " ", @{$d->{coverage}}')" "processes that the program makes: of them only what they print" "what other processes do is not compared"

cat >bytes.c <<'C'
#include <pthread.h>
#include <stdio.h>
static char c;
static void *set(void *p) { c = p ? 'a' : 'b'; return p; }
int main(void)
{
	pthread_t s, t;
	pthread_create(&s, 0, set, 0);
	pthread_create(&t, 0, set, &c);
	pthread_join(s, 0);
	pthread_join(t, 0);
	fwrite("\0\0", 1, 2, stdout);
	putchar(c);
	c = 0;
	return 0;
}
C
"$HEDDLE" cc -g -O1 bytes.c -o bytes -pthread || exit 1
run "$HEDDLE" check -o b --runs 2 --format json -- ./bytes
like "$(one difference)" '^it prints ".0.0[ab]", not ".0.0[ab]"$' "output behind a byte 0 is compared"
# a race behind a value that the recording did not see: the exploration's run of it is analysed, and its orders are run
cat >behind.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n, total;
static void *counts(void *arg)
{
	for (int i = 0; i < 6; i++) {
		pthread_mutex_lock(&m);
		n++;
		pthread_mutex_unlock(&m);
	}
	total += 1;
	return arg;
}
static void *looks(void *arg)
{
	pthread_mutex_lock(&m);
	int seen = n;
	pthread_mutex_unlock(&m);
	if (seen == 5)
		total += 10;
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, counts, NULL);
	pthread_create(&t[1], NULL, looks, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	printf("total %d\n", total);
	return 0;
}
C
"$HEDDLE" cc -g -O1 behind.c -o behind -pthread || exit 1
run "$HEDDLE" check --runs 1 -o behind --format json -- ./behind
like "$(json 'join " ", map { "$_->{kind} $_->{harm} $_->{difference}" } @{$d->{findings}}')" "^data-race differs total is (1|10), not 11\$" "a race that only exploration comes to has its orders run"
ok "$(json '$d->{findings}[0]{"witness-file"} ? 0 : 1')" "and a witness"
is "$(json '$d->{runs}[$d->{findings}[0]{runs}[0]]{strategy}')" explored "the exploration's run came to it first"
is "$(find . -name 'behind.hunted*' -o -name 'behind.explored*' | wc -l)" 1 "of the exploration's and the hunt's files that one is kept"

# Both orders of a harmless race end alike, though what the two threads do next depends on who comes first: behind the pair
# the same thread goes on, whichever access was the last.
cat >next.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, log_[4], n;
static void *f(void *p)
{
	x = 1;
	pthread_mutex_lock(&m);
	log_[n++] = (int)(long)p;
	pthread_mutex_unlock(&m);
	return 0;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, f, (void *)1);
	pthread_create(&b, 0, f, (void *)2);
	pthread_join(a, 0);
	pthread_join(b, 0);
	printf("%d %d %d\n", log_[0], log_[1], x);
	return 0;
}
C
"$HEDDLE" cc -g -O1 next.c -o next -pthread || exit 1
run "$HEDDLE" check --runs 1 -o next --format json -- ./next
is "$(json 'join " ", map { "$_->{kind} $_->{harm}" } grep { $_->{kind} eq "data-race" } @{$d->{findings}}')" "data-race same" "the order of the pair is all that differs"

# The two runs are one up to the pair: same events by the same threads in the same order, with the same values. (Each is
# made from the program's start, docs/check.md.)
before_pair() { # TRACE COUNT: its first events, as text; calls and returns are written with the access that follows
	"$HEDDLE" convert -q "$1" - --to text | grep -E '^[A-Za-z0-9]+\|' | grep -vE '\|(enter|leave)\(' | head -"$2"
}
same_prefix() { # PROGRAM ARGS: its first race, whose orders are the next two runs
	run "$HEDDLE" check --runs 1 -o prefix --format json -- "$@"
	local events first second
	events=$(($(grep -v '^#' prefix.1.wit | grep -vcE '\|(enter|leave)\(') - 2))
	first=$(before_pair prefix.run1.hdl "$events")
	second=$(before_pair prefix.run2.hdl "$events")
	is "$(json '"$d->{runs}[1]{strategy}, $d->{runs}[2]{strategy}"')" "both orders, both orders" "$1: both orders were run"
	is "$(wc -l <<<"$first")" "$events" "$1: each as far as the pair"
	is "$first" "$second" "$1: and up to there the same"
	ok "$([ "$(before_pair prefix.run1.hdl 100000)" != "$(before_pair prefix.run2.hdl 100000)" ]; echo $?)" "$1: not behind it"
}
same_prefix ./next
same_prefix ./heap 0
done_testing
