#!/bin/bash
# record: the log is new, ours and not lost; a trace with recorded input is the user's alone; a
# limit on the size of files ends the recording and nothing else.
. tests/e2e/lib.sh
heddle() { timeout 300 "$HEDDLE" "$@"; }
cd "$scratch" || exit 1
run heddle cc -g -O1 -pthread "$root/tests/e2e/programs/busy.c" -o busy
is "$status" 0 "the program is built"

# a trace that cannot be written: its log stays, and the message names it
mkdir taken.hdl
run heddle record -o taken.hdl -- ./busy 100
is "$status" 125 "a folder is in the trace's place"
is "$out" "sum 200" "the program has run"
log=$(ls taken.hdl.log-* 2>/dev/null)
like "$err" "kept in $log beside it, and opens as a trace" "the message names the log"
run heddle info "$log"
like "$out" "events +1[0-9]{3}$" "which has all of it"
run heddle convert "$log" again.hdl
is "$status" 0 "and becomes the trace"
rm -f taken.hdl.log-*

# a symbolic link as output: its target is written, whether it exists or not, and the link stays
mkdir elsewhere
ln -s elsewhere/new.hdl to.hdl
for how in new old; do
	run heddle record -o to.hdl -- ./busy 10
	is "$status $(readlink to.hdl)" "0 elsewhere/new.hdl" "a link to a trace stays a link, $how"
	run heddle info elsewhere/new.hdl
	is "$status" 0 "and the trace is where it leads, $how"
done
ln -s nowhere/new.hdl lost.hdl
run heddle convert to.hdl lost.hdl --to text
is "$status $(readlink lost.hdl)" "2 nowhere/new.hdl" "a link into no folder stays, too"
like "$err" "cannot write the file: No such file or directory" "and that is an error"

# neither a link nor a file that lies in the log's place is touched
echo precious >victim
run bash -c 'ln -s victim "link.hdl.log-$$"; exec "$0" record -o link.hdl -- ./busy 10' "$HEDDLE"
is "$status $(cat victim)" "0 precious" "a link in the log's place is not followed"
run heddle info link.hdl
is "$status" 0 "the trace is there"
run bash -c 'echo precious >"file.hdl.log-$$"; exec "$0" record -o file.hdl -- ./busy 10' "$HEDDLE"
is "$status $(cat file.hdl.log-*)" "0 precious" "a file in the log's place stays"
# nor is one in the place of a temporary file
run bash -c 'echo precious >"again.txt.$$"; exec "$0" convert again.hdl again.txt' "$HEDDLE"
is "$status $(cat again.txt.[0-9]*)" "0 precious" "a file beside a file that is written stays"
is "$(ls again.txt.* | wc -l)" 1 "and nothing else is left beside it"

# what came from outside is in the trace: it is the user's alone
cat >reads.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	char text[64];
	long n = read(0, text, sizeof text);
	printf("%ld\n", n);
	return 0;
}
C
umask 022
run heddle cc -g -O1 reads.c -o reads
printf hunter2-secret | heddle record -q -o secret.hdl -- ./reads >/dev/null 2>&1
run heddle info secret.hdl
like "$out" "recording-inputs" "the input was recorded"
is "$(stat -c %a secret.hdl)" 600 "a trace with recorded input has mode 600"
heddle convert secret.hdl secret.txt
is "$(stat -c %a secret.txt)" 600 "so has its copy as text"
heddle convert secret.hdl copy.hdl
is "$(stat -c %a copy.hdl)" 600 "and as a binary trace"
: >open.hdl
chmod 666 open.hdl
heddle convert secret.hdl open.hdl
is "$(stat -c %a open.hdl)" 600 "and in the place of a file that all may read"
is "$(stat -c %a again.hdl)" 644 "others are as the umask says"

# a limit on the size of files: the program does not notice, heddle says so
run bash -c 'ulimit -f 2500; exec timeout 300 "$0" record -o small.hdl -- ./busy 100000' "$HEDDLE"
is "$out" "sum 200000" "the program's output is there under ulimit -f"
is "$status" 125 "heddle's own status tells"
like "$err" "[Ff]ile too large" "with the reason"
unlike "$err" "whole recording" "what is cut off is not called whole"
like "$err" "the trace has what came before" "the message says how far it goes"
run heddle info small.hdl
like "$out" "small.hdl, truncated" "and so does the trace, for which there was room"
# a trace that cannot be written of a log that is cut off
mkdir taken.hdl
run bash -c 'ulimit -f 2500; exec timeout 300 "$0" record -o taken.hdl -- ./busy 100000' "$HEDDLE"
like "$err" "until there was no more room is kept in taken.hdl.log-" "its log stays, and the message says how far it goes"
run heddle info taken.hdl.log-*
like "$out" "taken.hdl.log-[0-9]*, truncated" "and so does the log"
rm -rf taken.hdl*
run bash -c 'ulimit -f 1; exec timeout 300 "$0" convert again.hdl limited.txt' "$HEDDLE"
is "$status" 2 "a conversion under ulimit -f fails"
like "$err" "[Ff]ile too large" "with the reason"
[ ! -e limited.txt ]
ok $? "and leaves nothing"
run bash -c 'ulimit -f 1; exec timeout 300 "$0" races again.hdl >/dev/null' "$HEDDLE"
[ "$status" -lt 3 ]
ok $? "others do not write, and do not end"
rm -f small.hdl*

# what the program is started with is as without heddle: a closed pipe ends it
cat >pipes.c <<'C'
#include <signal.h>
#include <stdio.h>
int main(void)
{
	struct sigaction pipe, size;
	sigaction(SIGPIPE, NULL, &pipe);
	sigaction(SIGXFSZ, NULL, &size);
	printf("%d %d\n", pipe.sa_handler == SIG_IGN, size.sa_handler == SIG_IGN);
	return 0;
}
C
run heddle cc -g pipes.c -o pipes
run heddle record -q -o pipes.hdl -- ./pipes
is "$out" "0 0" "no signal is ignored that was not"
run bash -c 'trap "" PIPE; exec "$0" record -q -o pipes.hdl -- ./pipes' "$HEDDLE"
is "$out" "1 0" "one that was stays ignored"

# the recorder dies, the program goes on: its log has what every thread did
for mode in free controlled; do
	timeout 300 "$HEDDLE" record --mode $mode -o orphan.hdl -- ./busy 500 orphan 2>&1 | cat >orphan.out # until it ends
	log=$(ls orphan.hdl.log-* 2>/dev/null)
	run heddle info "$log"
	# main() looks for its new parent as often as it takes; the others have 5 events a round
	is "$(grep -cE "^  T[12] +250[0-9]$" <<<"$out")" 2 "$mode mode: the log has the events of all threads"
	rm -f orphan.hdl*
done

# Signals while the trace is made: the log stays, and the message says how to open it (in free mode,
# where the trace is made after the run). A process waits for the program's end and stops the recorder
# at once, so that the signals come before the trace is whole, whatever else the machine does. The
# first signal may be meant for the program, the second is not.
cat >stop_at_end.c <<'C'
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) /* PROGRAM RECORDER */
{
	struct pollfd end = { (int)syscall(SYS_pidfd_open, atoi(argv[1]), 0), POLLIN, 0 };
	if (end.fd >= 0)
		poll(&end, 1, -1);
	return kill(atoi(argv[2]), SIGSTOP);
}
C
gcc stop_at_end.c -o stop_at_end
program_of() # PID: the program that the recorder has started and that has not ended
{
	local child # others of its processes read debug information
	for child in $(cat /proc/$1/task/$1/children 2>/dev/null); do
		[[ $(readlink /proc/$child/exe) != */busy ]] || { echo "$child" && return 0; }
	done
	return 1
}
for times in 1600000 6400000 25600000 25600000 25600000; do
	"$HEDDLE" record -q --mode free -o cut.hdl -- ./busy $times >/dev/null 2>cut.err &
	pid=$!
	until program=$(program_of $pid) || [[ $(ps -o stat= -p $pid) =~ ^(Z|$) ]]; do
		:
	done
	./stop_at_end "${program:-0}" $pid
	[ ! -e cut.hdl ] && kill -TERM $pid && kill -HUP $pid
	kill -CONT $pid 2>/dev/null
	wait $pid
	status=$?
	grep -q "kept in" cut.err && break
	rm -f cut.hdl*
done
like "$status" "^(143|129)$" "a signal while the trace is made ends heddle"
log=$(ls cut.hdl.log-* 2>/dev/null)
like "$(cat cut.err)" "kept in $log beside it" "it says where the recording is"
run heddle info "$log"
like "$out" "events +[0-9]{6,}$" "which is whole"
rm -f cut.hdl*

# who ends a run says it twice (timeout: to us and to our group); the trace is made all the same
"$HEDDLE" cc -g -O1 "$root/tests/e2e/programs/ended_twice.c" -o ended_twice -pthread
for number in 15 1; do
	run timeout 300 "$HEDDLE" record -q -o twice.hdl -- ./ended_twice $number
	is "$status $(ls twice.hdl*)" "$((128 + number)) twice.hdl" "signal $number twice: the trace is made"
	rm -f twice.hdl*
done

# a file that is no whole program: the message is about it
head -c 9000 busy >cut
chmod +x cut
run heddle record -o never.hdl -- ./cut
is "$status" 125 "a program that is cut off"
like "$err" "cut.*(the recorder was never in it|damaged|cannot start it)" "the message names it"
unlike "$err" "never\.hdl" "and not the trace"
is "$(ls never.hdl* 2>/dev/null | wc -l)" 0 "nothing is left"
run heddle replay --trace again.hdl --until 3 -- ./cut
is "$status" 125 "nor can it be replayed"
like "$err" "cut.*(the recorder was never in it|damaged|cannot start it)" "with the same words"
done_testing
