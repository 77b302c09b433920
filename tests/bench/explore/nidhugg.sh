#!/bin/bash
# Nidhugg's own tests as real programs under `explore`, beside the verdicts that it expects under SC:
#     tests/bench/explore/nidhugg.sh FOLDER [OPTION]...     FOLDER: its tests/smoke or tests/litmus; OPTION: --memory rc11, ...
# Each test NAME that was compiled and linked is the program C-tests/NAME.run; nidhugg.o is of nidhugg.c beside this script:
#     heddle cc -g -O1 -w -Dmain=nidhugg_main C-tests/NAME.c nidhugg.o -o C-tests/NAME.run -pthread
# In Nidhugg the other threads go on when main returns, so main ends its thread alone; an assumption that does not hold
# waits for ever. A line for each test (of those that match PATTERN):
#     NAME  EXPECTED OURS  TRACES CLASSES (EXECUTIONS)  what is found  complete or not, with the gap
# Allow: some execution fails an assertion, crashes, misuses locks or freed memory. A thread that waits for ever is no failure
# for Nidhugg, nor is a data race. CLASSES: of values; with --memory graphs. The last line counts.
folder=$1
shift
heddle=${HEDDLE:-./heddle}
pattern=${PATTERN:-*}

while read -r name expected _ traces _; do
	program=$folder/C-tests/$name.run
	# shellcheck disable=SC2053
	[[ $expected == Allow || $expected == Forbid ]] && [[ $name == $pattern ]] || continue
	[ -x "$program" ] || { echo "$name  not built"; continue; }
	"$heddle" explore --budget "${BUDGET:-20}" --format json "$@" -- "$program" 2>/dev/null </dev/null |
		perl -MJSON::PP -e 'my ($name, $expected, $traces) = @ARGV;
			local $/; my $d = eval { decode_json(<STDIN>) } or do { print "$name  no report\n"; exit };
			my %kinds = map { $_->{kind} => 1 } @{$d->{errors}};
			my $ours = (grep { /^(signal|status|lock-misuse|thread-misuse|use-after-free)$/ } keys %kinds) ? "Allow" : "Forbid";
			$kinds{"data-race"} = 1 if @{$d->{races}};
			my $classes = $d->{graphs} // $d->{states};
			print join("  ", $name, "$expected $ours", "$traces $classes ($d->{executions})",
				join(", ", sort keys %kinds) || "-", $d->{complete} ? "complete" : "not complete: $d->{gaps}[0]"), "\n";' \
			"$name" "$expected" "$traces"
done < <(sed 's/^# *//' "$folder/reference.results.txt") |
	perl -ne 'print; $total++; /  (Allow|Forbid) \1  / and $same++; /  complete$/ or $open++;
		/  Allow Forbid .*  complete$/ and $missed++; /  Forbid Allow  / and $false++;
		/  \d+ (\d+) \(/ and $classes += $1; /  (\d+) \d+ \(/ and $traces += $1;
		END { printf "%d tests: %d with the verdict expected; %d not complete; %d wrong ones called complete; %d failures that are not expected; traces %d, classes %d\n",
			$total, $same, $open, $missed, $false, $traces, $classes }'
