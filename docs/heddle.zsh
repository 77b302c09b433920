#compdef heddle
# zsh completion for heddle; made by docs/manual.sh, do not edit
_heddle_lessons() {
	compadd -- ${(f)"$(heddle lesson --format json 2>/dev/null | sed -n 's/^ *"name": "\(.*\)",$/\1/p')"}
	_files
}
local -a commands
if (( CURRENT == 2 )); then
	commands=(
		'check:is this program sound? one list of all findings, and what was covered'
		'fix-check:is what an earlier report found fixed in this program, and is anything new?'
		'cc:compile and link C with recording built in ($CC, else cc)'
		'c++:compile and link C++ with recording built in ($CXX, else c++)'
		'record:run a program and record the events of its threads'
		'open:explore a trace on the full screen'
		'info:the contents of a trace\: events, threads, locks, variables, by kind'
		'doctor:what this machine lacks for recording, and how to get it'
		'races:data races, each with a verdict'
		'deadlocks:deadlocks and other waits that never end\: happened, or with a witness'
		'commute:commutativity races, order violations, uses after free'
		'atomic:code that should run as one step and did not (atomic sets)'
		'compare:a table of findings by analysis'
		'witness:the witness for one pair, or the proof that there is none'
		'verify:check a witness against its trace, by the rules alone'
		'explain:why two events are ordered (the chain of events) or not'
		'graph:the conflict graph, or an order of the events, as DOT or SVG'
		'replay:make a witness happen on the real program'
		'explore:run a program along every schedule that makes a difference'
		'shake:run a program under many schedules; a table of outcomes'
		'orders:which memory orders a program'\''s atomics need'
		'convert:convert a trace between formats'
		'filter:leave out redundant accesses (TREE), with a count'
		'diff:findings that are new, gone or left in the second of two traces or reports'
		'merge:join reports of shards (--shard I/N) or of traces, or the tasks of an exploration'
		'spec:check a specification; print its access points'
		'lesson:guided lessons for the class\: without a name, their list'
	)
	_describe -t commands command commands
	_files
	return
fi
local name=$words[2]
shift words
(( CURRENT-- ))
case $name in
check) _arguments \
	'*--budget[seconds for everything (default 60; 0\: no limit), or with T,PAIR also for deciding one pair (default 1)]:TIME:_files' \
	'*--runs[number of recordings (default 12)]:N:_files' \
	'*--before[a command of the shell that puts back what a run changes (files), run before each run]:COMMAND:_files' \
	'*--check[must hold at the end of each run\: '\''x == 3 && s.count >= 0'\'']:CONDITION:_files' \
	'*--expect[a file with the output of a correct run]:FILE:_files' \
	'*--spec[specification of objects; may be repeated]:FILE:_files' \
	'*--no-harm[do not run both orders of a finding to compare the outcomes]' \
	'*--timeout[end a run after this time (default 10)]:SECONDS:_files' \
	'*--output[how names of written files begin\: PREFIX.runN.hdl, PREFIX.N.wit (default\: check)]:PREFIX:_files' \
	'*--shard[the I-th of N shares of the recordings (or the traces); join the reports with '\''heddle merge'\'']:I/N:_files' \
	'*--jobs[divide the work over N processes at the same time (default 1\: with more, findings come in another order)]:N:_files' \
	'*--resume[keep the report in FILE; when it is there already, print it and run nothing]:FILE:_files' \
	'*--baseline[an earlier report (JSON)\: only new findings count for the exit status]:REPORT:_files' \
	'*--suppressions[ThreadSanitizer'\''s suppressions, or TRACE.notes\: findings that do not count; may be repeated]:FILE:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text); quickfix\: FILE\:LINE\:COLUMN\: TEXT for editors]:word:(text json sarif quickfix)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
fix-check) _arguments \
	'*--budget[seconds for everything (default 60; 0\: no limit), or with T,PAIR also for deciding one pair (default 1)]:TIME:_files' \
	'*--runs[number of recordings (default 12)]:N:_files' \
	'*--before[a command of the shell that puts back what a run changes (files), run before each run]:COMMAND:_files' \
	'*--check[must hold at the end of each run\: '\''x == 3 && s.count >= 0'\'']:CONDITION:_files' \
	'*--expect[a file with the output of a correct run]:FILE:_files' \
	'*--spec[specification of objects; may be repeated]:FILE:_files' \
	'*--no-harm[do not run both orders of a finding to compare the outcomes]' \
	'*--timeout[end a run after this time (default 10)]:SECONDS:_files' \
	'*--output[how names of written files begin\: PREFIX.runN.hdl, PREFIX.N.wit (default\: check)]:PREFIX:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
cc) _arguments \
	'*:file:_files' ;;
c++) _arguments \
	'*:file:_files' ;;
record) _arguments \
	'*--output[where the trace goes (default\: PROG.hdl); with --children\: the folder for the traces (default\: PROG.traces)]:TRACE:_files' \
	'*--children[record each instrumented program that PROG starts, itself or through others\: PROG may be a script, make, ctest; a trace for each, and for children by fork of a process without other threads]' \
	'*--before[a command of the shell that puts back what a run changes (files), run before each run]:COMMAND:_files' \
	'*--mode[controlled (default)\: one thread runs at a time, so order and values are exact; free\: they run at the same time, as without Heddle]:word:(controlled free)' \
	'*--strategy[which thread runs next, in controlled mode]:word:(random pct noise rr pos surw turns pause)' \
	'*--depth[pct\: how many pairs of events must come in a certain order for the bug (default 3)]:D:_files' \
	'*--steps[pct\: about how many steps the run has (default 1000)]:N:_files' \
	'*--target[surw\: the place whose events come in each order equally often, as shake prints it]:PLACE+SIZE=N,...:_files' \
	'*--turns[turns\: each THREAD runs in turn, until it has made EVENTS events]:THREAD\:EVENTS,...:_files' \
	'*--seed[another seed is another schedule (default 1)]:N:_files' \
	'*--memory[the memory model that the run is under (default sc)]:word:(sc tso rc11)' \
	'*--spec[a specification\: calls of functions that it binds are recorded as invocations; its missing blocks say which memory calls into libraries synchronise by]:FILE:_files' \
	'*--max-size[stop recording when the log has this size (default 4096; 0\: never)]:MB:_files' \
	'*--compress[compress the log beside the trace while it is written]' \
	'*--last[keep about the last N events]:N:_files' \
	'*--live[print on standard error, while the program runs, the races, uses after free and order violations that happens-before and EDC find]' \
	'*--no-trace[keep no trace\: only print findings, as --live with --filter variables (or hb or wcp) does; exits with 1 when the program succeeds and there are any]' \
	'*--report[of --live and --no-trace\: also write what is found to FILE, as JSON like that of '\''heddle races'\'']:FILE:_files' \
	'*--suppressions[ThreadSanitizer'\''s suppressions\: findings of this trace that do not count; may be repeated]:FILE:_files' \
	'*--start-at[record accesses from the first call of FUNCTION on]:FUNCTION:_files' \
	'*--filter[leave out, while the program runs, all values, and accesses that are redundant for happens-before (the default) or also for WCP, CP, DC and WDC\: quicker and smaller, for these analyses and lockset alone; variables\: those to bytes that the thread has accessed since it last synchronised\: every variable that races by happens-before or lockset, not every pair of places; commute\: all plain accesses, and calls into code that is not instrumented]:word:(hb wcp variables commute)' \
	'*--sample[record one window in N of the plain accesses, and the first ones of each function, with all synchronisation\: for --mode free, where a program is to be slowed down little; races found are of the whole run, others are missed]:N:_files' \
	'*--no-values[leave out the values that are read and written]' \
	'*--no-edc[of --live and --no-trace\: happens-before alone, which costs less; order violations and uses after free that locks order in this run are left out]' \
	'*--no-missing[leave out calls into code that is not instrumented]' \
	'*--no-inputs[leave out input from outside (sockets, pipes, terminals)\: replay needs it again]' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
open) _arguments \
	'*--exe[the program that was recorded, for replay]:PROG:_files' \
	'*--spec[a specification, besides those that ship; may be repeated]:FILE:_files' \
	'*--report[open at the pair that a ThreadSanitizer or Helgrind report names]:FILE:_files' \
	'*--at[open at this event]:EVENT:_files' \
	'*--notes[keep marks, notes and bookmarks there, not in TRACE.notes beside the trace]:FILE:_files' \
	'*--script[run commands of the command line first; without a terminal, only them]:FILE:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
info) _arguments \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
doctor) _arguments \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
races) _arguments \
	'*--analysis[which analysis looks for them (default\: auto)]:word:(auto lockset hb shb cp wcp dc wdc syncp m2 smt rdit)' \
	'*--pairs[one finding for each pair of source lines (default), or for each pair of events]:word:(sites events)' \
	'*--candidates[look only at pairs that this order leaves unordered]:all|ORDER:_files' \
	'*--verdicts[list pairs that are impossible or unknown, too]:word:(races all)' \
	'*--witness[find a witness for candidates, too]' \
	'*--values[a read may see another write than it saw, of the same value]' \
	'*--missing[a call into code that was not recorded keeps its order with all that touches memory which it can reach (barrier pairs)]' \
	'*--budget[seconds for a pair and in all, for each step of auto (default\: 1,5)]:PAIR,ALL:_files' \
	'*--spec[calls may change places where FILE says that they commute (auto, smt)]:FILE:_files' \
	'*--shard[the I-th of N shares of the pairs; join the reports with '\''heddle merge'\'']:I/N:_files' \
	'*--jobs[divide the work over N processes at the same time (default 1\: with more, findings come in another order)]:N:_files' \
	'*--resume[keep the report in FILE; when it is there already, print it and run nothing]:FILE:_files' \
	'*--witness-events[keep witnesses of at most N events in all in the report (default\: 32 million)]:N:_files' \
	'*--baseline[an earlier report (JSON)\: only new findings count for the exit status]:REPORT:_files' \
	'*--suppressions[ThreadSanitizer'\''s suppressions, or TRACE.notes\: findings that do not count; may be repeated]:FILE:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text); quickfix\: FILE\:LINE\:COLUMN\: TEXT for editors]:word:(text json sarif quickfix)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
deadlocks) _arguments \
	'*--pairs[one finding for each cycle of source locations, or for each set of requests]:word:(sites events)' \
	'*--verdicts[list cycles that are impossible or unknown, too]:all:_files' \
	'*--missing[a call into code that was not recorded keeps its order with all that touches memory which it can reach (barrier pairs)]' \
	'*--values[a read may see another write than it saw, of the same value]' \
	'*--budget[seconds of the solver for a cycle and in all (default\: 1,5)]:PAIR,ALL:_files' \
	'*--baseline[an earlier report (JSON)\: only new findings count for the exit status]:REPORT:_files' \
	'*--suppressions[ThreadSanitizer'\''s suppressions, or TRACE.notes\: findings that do not count; may be repeated]:FILE:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text); quickfix\: FILE\:LINE\:COLUMN\: TEXT for editors]:word:(text json sarif quickfix)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
commute) _arguments \
	'*--spec[a specification, besides those that ship (default\: those it was recorded with); may be repeated]:FILE:_files' \
	'*--analysis[commutativity races (default), order violations, or candidates for these by the order EDC]:word:(rd2 cov edc)' \
	'*--linearizable[instead\: can the calls on each object be put in an order, each between its beginning and its return, that explains what they returned?]' \
	'*--pairs[one finding for each pair of source lines (default), or for each pair of events]:word:(sites events)' \
	'*--direct[rd2 without access points\: compare each invocation with every other]' \
	'*--bounded[edc\: track critical sections in bounded space; candidates may be added, none lost]' \
	'*--verdicts[cov\: list pairs that are impossible or unknown, too]:all:_files' \
	'*--budget[cov\: seconds of the solver for a pair and in all (default\: 1,5)]:PAIR,ALL:_files' \
	'*--baseline[an earlier report (JSON)\: only new findings count for the exit status]:REPORT:_files' \
	'*--suppressions[ThreadSanitizer'\''s suppressions, or TRACE.notes\: findings that do not count; may be repeated]:FILE:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text); quickfix\: FILE\:LINE\:COLUMN\: TEXT for editors]:word:(text json sarif quickfix)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
atomic) _arguments \
	'*--spec[a specification with atomic sets and units; may be repeated]:FILE:_files' \
	'*--cycles[list at most N cycles, shortest first]:N:_files' \
	'*--predict[also cycles that did not happen and can, each with a witness]' \
	'*--output[write the witness of the first predicted cycle to FILE]:FILE:_files' \
	'*--budget[seconds for --predict, a pair and in all (default\: 1,5); ALL bounds the search for what happened, too (default\: 60)]:PAIR,ALL:_files' \
	'*--sets[print the sets and units that were inferred, as an atomics block]' \
	'*--post-mortem[keep the whole conflict graph, and find its cycles afterwards]' \
	'*--split[cut inferred units at these beside waits, of join,fork,barrier,take,sleep,poll (default\: all), or none]:LIST:_files' \
	'*--heap[infer one set of all shared memory\: atomicity without atomic sets]' \
	'*--all[also cycles of grade C\: over inferred sets alone]' \
	'*--baseline[an earlier report (JSON)\: only new findings count for the exit status]:REPORT:_files' \
	'*--suppressions[ThreadSanitizer'\''s suppressions, or TRACE.notes\: findings that do not count; may be repeated]:FILE:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text); quickfix\: FILE\:LINE\:COLUMN\: TEXT for editors]:word:(text json sarif quickfix)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
compare) _arguments \
	'*--analyses[which (default\: lockset,hb,shb,wcp,dc,wdc,syncp,m2)]:A,B,...:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
witness) _arguments \
	'*--output[write the witness to FILE]:FILE:_files' \
	'*--values[a read may see another write than it saw, of the same value]' \
	'*--missing[a call into code that was not recorded keeps its order with all that touches memory which it can reach (barrier pairs)]' \
	'*--budget[seconds of the solver for the pair (default\: 1,5)]:PAIR,ALL:_files' \
	'*--spec[specification of objects]:FILE:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
verify) _arguments \
	'*--spec[specification of objects, in the place of those in the witness]:FILE:_files' \
	'*--memory[is it a run of this memory model (default\: the witness'\''s)]:word:(sc tso rc11)' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on; judge a witness of another content of the trace]' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
explain) _arguments \
	'*--order[which order is asked (default\: the weakest that orders them)]:word:(po hb shb cp wcp dc wdc edc)' \
	'*--spec[edc\: a specification, besides those that ship; may be repeated]:FILE:_files' \
	'*--story[two accesses that conflict\: all of it in words, on one page]' \
	'*--missing[a call into code that was not recorded keeps its order with all that touches memory which it can reach (barrier pairs)]' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
graph) _arguments \
	'*--kind[units of work and their conflicts (default), or an order]:word:(conflict order)' \
	'*--output[where to\: FILE.svg is SVG, anything else DOT (default\: print DOT)]:FILE:_files' \
	'*--order[for --kind order (default\: hb)]:word:(po hb shb cp wcp dc wdc edc)' \
	'*--spec[a specification\: atomic sets and units; for edc, objects; may be repeated]:FILE:_files' \
	'*--cycles[only the units that are on a cycle]' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
replay) _arguments \
	'*--witness[the order to follow; its trace is found by name, beside it]:W:_files' \
	'*--trace[the recording, when it lies elsewhere]:TRACE:_files' \
	'*--before[a command of the shell that puts back what a run changes (files), run before each run]:COMMAND:_files' \
	'*--first[which of the pair goes first (default\: both ways, in two runs)]:word:(1 2)' \
	'*--until[stop before this event instead]:EVENT:_files' \
	'*--output[keep the runs as traces\: PREFIX.run1.hdl, PREFIX.run2.hdl]:PREFIX:_files' \
	'*--gdb[stop there with gdb attached to the process]' \
	'*--gdb-server[serve gdb ('\''target remote localhost\:PORT'\''), which goes through the run forward and backward; also localhost\:PORT, a path, or - for standard input and output]:PORT:_files' \
	'*--dap[serve an editor by the Debug Adapter Protocol; the same addresses; witness, trace and program may come from the editor]:PORT:_files' \
	'*--spec[the bind lines that it was recorded with, when they lie elsewhere]:FILE:_files' \
	'*--timeout[end a run that has not ended after this time (default 300; 0\: never; none with --gdb)]:SECONDS:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
explore) _arguments \
	'*--output[keep the tree in FILE, and traces of failing runs as FILE.runN.hdl]:FILE:_files' \
	'*--before[a command of the shell that puts back what a run changes (files), run before each run]:COMMAND:_files' \
	'*--spec[invocations of its objects are single steps, and may commute]:FILE:_files' \
	'*--results[orders of invocations with the same results are one, where the effects determine the results]' \
	'*--linearizable[with --spec\: are the objects linearizable?  In each schedule, can the calls on each be put in an order, each between its beginning and its return, that explains what they returned?]' \
	'*--symmetry[runs that differ only in which of threads that are alike (the same function and argument) does what are the same]' \
	'*--runs[at most N runs (default 10000)]:N:_files' \
	'*--budget[for everything (default 60; 0\: no limit)]:SECONDS:_files' \
	'*--seed[choose the first run'\''s schedule at random, by this seed (default\: the lowest thread first; with --until-error by pause)]:N:_files' \
	'*--final[runs also differ by the values of these variables at the end]:X,...:_files' \
	'*--check[must hold at the end of each run\: '\''x == 3 && s.count >= 0'\'']:CONDITION:_files' \
	'*--steps[cut a run after N steps (default\: no limit)]:N:_files' \
	'*--resume[keep the exploration'\''s state in FILE, and go on from there next time]:FILE:_files' \
	'*--shard[the I-th of N shares of what follows from the first run; join the reports with '\''heddle merge'\'']:I/N:_files' \
	'*--jobs[divide the work over N processes at the same time (default 1\: with more, findings come in another order)]:N:_files' \
	'*--memory[the memory model, by which loads may read older values (default sc)]:word:(sc tso rc11)' \
	'*--order[--memory rc11\: as if the atomics on that line had this order; may be repeated]:FILE\:LINE=ORDER:_files' \
	'*--bound[only schedules with at most N preemptions (switches away from a thread that could go on)]:preemptions=N:_files' \
	'*--spurious[also schedules with up to N waits for a condition, of those without a time limit, that end without a signal]:N:_files' \
	'*--until-error[end at the first run that fails]' \
	'*--timeout[end a run after this time (default 10)]:SECONDS:_files' \
	'*--format[how to print (default\: text); quickfix\: FILE\:LINE\:COLUMN\: TEXT for editors]:word:(text json sarif quickfix)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
shake) _arguments \
	'*--runs[number of runs (default 100)]:N:_files' \
	'*--before[a command of the shell that puts back what a run changes (files), run before each run]:COMMAND:_files' \
	'*--seed[the seed of the first run, from which those of the others are drawn (default 1)]:N:_files' \
	'*--strategy[one strategy, or auto\: several, which learn from each other'\''s runs (default\: auto; under --memory random, pos, pct and noise)]:word:(auto pairs feedback periods pause random pct noise rr pos surw turns)' \
	'*--target[surw\: the place whose events come in each order equally often, as shake prints it]:PLACE+SIZE=N,...:_files' \
	'*--turns[turns\: each THREAD runs in turn, until it has made EVENTS events]:THREAD\:EVENTS,...:_files' \
	'*--until-error[no more runs after the first that fails]' \
	'*--tries[make at most N more runs to find the fewest switches of threads that a failure needs (default 40; 0\: none)]:N:_files' \
	'*--depth[pct\: how many pairs of events must come in a certain order for the bug (default 3)]:D:_files' \
	'*--steps[pct\: about how many steps a run has (default\: measured)]:N:_files' \
	'*--memory[the memory model that the runs are under (default sc)]:word:(sc tso rc11)' \
	'*--timeout[end a run after this time (default 10)]:SECONDS:_files' \
	'*--budget[make no more runs after this time (default 0\: no limit)]:SECONDS:_files' \
	'*--shard[the I-th of N shares of the runs; join the reports with '\''heddle merge'\'']:I/N:_files' \
	'*--jobs[divide the work over N processes at the same time (default 1\: with more, findings come in another order)]:N:_files' \
	'*--resume[keep the report in FILE; when it is there already, print it and run nothing]:FILE:_files' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
orders) _arguments \
	'*--runs[at most N runs of an exploration (default 10000)]:N:_files' \
	'*--budget[for each exploration (default 60; 0\: no limit)]:SECONDS:_files' \
	'*--pairs[try at most N pairs of changes (default 100)]:N:_files' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
convert) _arguments \
	'*--to[the format to write (default\: by OUT'\''s suffix, else text)]:word:(std text binary perfetto csv)' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
filter) _arguments \
	'*--output[the trace to write; - is standard output]:FILE:_files' \
	'*--to[the format to write (default\: by FILE'\''s suffix, else text)]:word:(std text binary)' \
	'*--for[lose no pair of source lines that these analyses find (default\: the paper'\''s rule, exact for the lockset)]:word:(hb wcp)' \
	'*--check[run the analyses that a filtered trace is meant for on both traces, and count the pairs of locations that each loses (as costly as listing all pairs of events)]' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
diff) _arguments \
	'*--analysis[which analysis looks at traces (default\: auto)]:word:(auto lockset hb shb cp wcp dc wdc syncp m2 smt rdit)' \
	'*--spec[a specification, besides those that ship; may be repeated]:FILE:_files' \
	'*--values[a read may see another write than it saw, of the same value]' \
	'*--missing[a call into code that was not recorded keeps its order with all that touches memory which it can reach (barrier pairs)]' \
	'*--budget[seconds of the solver for a pair and in all (default\: 1,5)]:PAIR,ALL:_files' \
	'*--lenient[warn of a fault of the input that can be passed over safely, and go on]' \
	'*--format[how to print (default\: text); quickfix\: FILE\:LINE\:COLUMN\: TEXT for editors]:word:(text json sarif quickfix)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
merge) _arguments \
	'*--lenient[join what is there, when shards or tasks are missing]' \
	'*--tasks[of explorations\: divide what is left into N tasks, PREFIX.1 to PREFIX.N (and PREFIX.base)]:N:_files' \
	'*--output[with --tasks; without it, of explorations\: the file of the join]:PREFIX:_files' \
	'*--baseline[an earlier report (JSON)\: only new findings count for the exit status]:REPORT:_files' \
	'*--format[how to print (default\: text); quickfix\: FILE\:LINE\:COLUMN\: TEXT for editors]:word:(text json sarif quickfix)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:file:_files' ;;
spec) _arguments \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'1:word:(check points)' \
	'*:file:_files' ;;
lesson) _arguments \
	'*--directory[work in this folder and leave the program there (default\: a temporary one)]:DIR:_files' \
	'*--text[print the lesson with its commands, also at a terminal]' \
	'*--worksheet[print it without keys, answers and fix, to hand out]' \
	'*--restart[begin at the first step, not where you left it]' \
	'*--new[write PROGRAM.lesson beside a program of yours, to be filled in]:PROGRAM.c:_files' \
	'*--check[only say whether the lesson'\''s file is well-formed]' \
	'*--play[do all its tasks by its own keys, and check its facts and answers]' \
	'*--class[the progress of a class, from files that its students made with --format json]' \
	'*--format[how to print (default\: text)]:word:(text json)' \
	'*--help[show this help]' \
	'*--quiet[no warnings and no progress]' \
	'*--version[print the version]' \
	'*:lesson:_heddle_lessons' ;;
*) _files ;;
esac
