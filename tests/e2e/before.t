#!/bin/bash
# Programs that change a file that they read: their runs differ by it, which reports say, and --before puts it back.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >count.c <<'C'
#include <pthread.h>
#include <stdio.h>
int last;
static void *work(void *p)
{
	last = 1;
	return p;
}
int main(void)
{
	int n = 0;
	FILE *f = fopen("count", "r");
	if (f != NULL && fscanf(f, "%d", &n) != 1)
		return 1;
	if (f != NULL)
		fclose(f);
	f = fopen("count", "w");
	fprintf(f, "%d\n", n + 1);
	fclose(f);
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	last = 2;
	pthread_join(t, 0);
	printf("run %d last %d\n", n, last);
	return 0;
}
C
"$HEDDLE" cc -g -O1 count.c -o count_runs -pthread

# each run reads what the run before it wrote: the search is not complete, at whatever step it sees that
echo 5 >count
run timeout 300 "$HEDDLE" explore --runs 20 -- ./count_runs
like "$out" 'read other values: what it reads from outside is not the same each time.*--before' "explore says that runs differ by what they read"
like "$out" 'not complete' "and is not complete"
rm -f count
run timeout 300 "$HEDDLE" explore --before 'rm -f count' --format json -- ./count_runs
is "$(json '"$d->{executions} $d->{complete}"')" "2 1" "with --before all runs begin alike"
is "$(cat count)" 1 "as the file is put back"

run timeout 300 "$HEDDLE" check -q --budget 200 --runs 3 --before 'rm -f count' --format json -- ./count_runs
is "$(json '$d->{before}')" "rm -f count" "check keeps the command in its report"
is "$(json '$d->{findings}[0]{harm}')" differs "and compares both orders"
run timeout 300 "$HEDDLE" check -q --budget 200 --runs 3 --before 'rm -f count' -- ./count_runs
like "$out" "heddle replay --witness check.1.wit --before 'rm -f count' -- ./count_runs" "the line to replay has it"
run timeout 300 "$HEDDLE" replay --witness check.1.wit --before 'rm -f count' -- ./count_runs
like "$out" $'run 0 last 1' "a replay runs it"
like "$out" $'run 0 last 2' "before each of its runs"
run timeout 300 "$HEDDLE" shake --runs 10 --before 'rm -f count' -- ./count_runs
unlike "$out" 'run [1-9]' "shake as well"
run "$HEDDLE" record -q --before 'rm -f count' -o t.hdl -- ./count_runs
like "$out" 'run 0' "and record"

run "$HEDDLE" explore --before 'exit 3' -- ./count_runs
is "$status" 2 "a command that fails is an error"
like "$err" "'exit 3' ended with exit status 3" "which says how it ended"
run "$HEDDLE" explore --before true -j 2 -- ./count_runs
is "$status" 2 "runs at the same time would change the same files"
done_testing
