#!/bin/bash
# Schedules to the first bug, beside the best that RFF, PERIOD and SURW publish:
#     tests/bench/explore/schedulers.sh build PERIOD FOLDER     PERIOD: a checkout of wcventure/PERIOD
#     tests/bench/explore/schedulers.sh FOLDER [TOOL]...        the table; TOOL: explore, shake (default: both)
# Executions are counted, not time: at most RUNS each (default 1,000), with SECONDS as a generous limit (default 60);
# TRIALS trials (default 20), with seeds from 0.  ONLY: a pattern of names.  Each trial is a line of FOLDER/trials, so
# that a table that was interrupted goes on from there.
HEDDLE=${HEDDLE:-$PWD/heddle}
TRIALS=${TRIALS:-20} RUNS=${RUNS:-1000} SECONDS_EACH=${SECONDS_EACH:-60}

# Name, source below evaluation/, flags, arguments, best published mean number of schedules and whose it is.  RFF:
# Wolff et al., ASPLOS 2024, appendix; PERIOD: Wen et al., ICSE 2022, tables 2 and 3; SURW: Zhao et al., ASPLOS 2025,
# stats/period.
programs() {
	cat <<'TABLE'
stringbuffer|CB/stringbuffer-jdk1.4/main.cpp CB/stringbuffer-jdk1.4/stringbuffer.cpp|||8.5
pbzip2-0.9.4|CB/pbzip2-0.9.4/pbzip2-0.9.4-src/pbzip2.cpp|-lbz2 -w|-k -f -p4 -1 -b1 source/CB/pbzip2-0.9.4/test.tar|2.0
account|CS/account/account_bad.c|||1.0
bluetooth|CS/bluetooth_driver/bluetooth_driver_bad.c|||9.0
carter01|CS/carter01/carter01_bad.c|||1.9
circular_buffer|CS/circular_buffer/circular_buffer_bad.c|||1.6
deadlock01|CS/deadlock01/deadlock01_bad.c|||1.8
lazy01|CS/lazy01/lazy01_bad.c|||2.0
queue|CS/queue/queue_bad.c|||1.0
reorder_3|CS/reorder_3/reorder_3_bad.c|||6.0
reorder_4|CS/reorder_4/reorder_4_bad.c|||6.2
reorder_5|CS/reorder_5/reorder_5_bad.c|||5.8
reorder_10|CS/reorder_10/reorder_10_bad.c|||5.8
reorder_20|CS/reorder_20/reorder_20_bad.c|||5.8
reorder_50|CS/reorder_50/reorder_50_bad.c|||5.8
reorder_100|CS/reorder_100/reorder_100_bad.c|||5.8
stack|CS/stack/stack_bad.c|||1.6
token_ring|CS/token_ring/token_ring_bad.c|||2.0
twostage|CS/twostage/twostage_bad.c|||4.0
twostage_20|CS/twostage_20/twostage_20_bad.c|||5.7
twostage_50|CS/twostage_50/twostage_50_bad.c|||20.5
twostage_100|CS/twostage_100/twostage_100_bad.c|||56
wronglock|CS/wronglock/wronglock_bad.c|||1.0
wronglock_3|CS/wronglock_3/wronglock_3_bad.c|||1.0
InterlockedWSQ|Chess/InterlockedWorkStealQueue/InterlockedWorkStealQueue.cpp|||1.0
InterlockedWSQWithState|Chess/InterlockedWorkStealQueueWithState/InterlockedWorkStealQueueWithState.cpp|||6.0
StateWSQ|Chess/StateWorkStealQueue/StateWorkStealQueue.cpp|||1.0
WSQ|Chess/WorkStealQueue/WorkStealQueue.cpp|||6.0
bbuf|Inspect_benchmarks/bbuf/bbuf.c|||-
boundedBuffer|Inspect_benchmarks/boundedBuffer/boundedBuffer.c|||7.8
qsort_mt|Inspect_benchmarks/qsort_mt/qsort_mt.c||-n 32 -f 4 -h 3|27.1
CVE-2009-3547|ConVul-CVE-Benchmarks/CVE-2009-3547/2009-3547.cpp|||1.0
CVE-2011-2183|ConVul-CVE-Benchmarks/CVE-2011-2183/2011-2183.cpp|||2.4
CVE-2013-1792|ConVul-CVE-Benchmarks/CVE-2013-1792/2013-1792.cpp|||13
CVE-2015-7550|ConVul-CVE-Benchmarks/CVE-2015-7550/2015-7550.cpp|||3.0
CVE-2016-1972|ConVul-CVE-Benchmarks/CVE-2016-1972/2016-1972.c|||3.0
CVE-2016-1973|ConVul-CVE-Benchmarks/CVE-2016-1973/2016-1973.cpp|||3.0
CVE-2016-7911|ConVul-CVE-Benchmarks/CVE-2016-7911/2016-7911.cpp|-O0||3.0
CVE-2016-9806|ConVul-CVE-Benchmarks/CVE-2016-9806/2016-9806.cpp|||3.1
CVE-2017-15265|ConVul-CVE-Benchmarks/CVE-2017-15265/2017-15265.cpp|-O0||11
CVE-2017-6346|ConVul-CVE-Benchmarks/CVE-2017-6346/2017-6346.cpp|||4.8
SafeStack|SafeStack/SafeStack.cpp|||368921
barnes|Splash2/barnes/*.C|-O0|input:source/Splash2/barnes/input|2.0
lu|Splash2/lu/lu.C|-O0|-p2 -b2 -n1|1.0
pbzip2-1.1.13|NEW/pbzip2-1.1.13/pbzip2-1.1.13-src/{pbzip2,BZ2StreamScanner,ErrorContext}.cpp|-lbz2 -D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -DUSE_STACKSIZE_CUSTOMIZATION -D_POSIX_PTHREAD_SEMANTICS|-k -f -p3 source/NEW/pbzip2-1.1.13/test.tar|1.0
TABLE
}

# SPLASH-2's macros are m4's; headers end in .H.
expand() { # FOLDER
	local file
	for file in "$1"/*.[CH]; do
		(cd "$1" && m4 -s -Ulen -Uindex ./null_macros/c.m4.null "${file##*/}") |
			grep -v '^#line' >"${file%.*}.$(tr CH ch <<<"${file##*.}")"
	done
}

build() { # PERIOD FOLDER
	local from=$1/evaluation to=$2 name source flags args best files compiler
	mkdir -p "$to/source"
	cp -r "$from"/. "$to/source"
	# a failed program says so by an assertion; `void main` would leave its status to chance
	sed -i 's/^void main/int main/' "$to"/source/CS/bluetooth_driver/*.c
	for name in barnes lu; do expand "$to/source/Splash2/$name"; done
	while IFS='|' read -r name source flags args best; do
		[[ $name == ${ONLY:-*} ]] || continue
		source=${source//.C/.c}
		files=$(cd "$to/source" && eval "echo $source")
		compiler=cc
		[[ $files == *.cpp ]] && compiler=c++
		(cd "$to/source" && "$HEDDLE" $compiler -g -O1 $files -w -pthread -lm $flags -o "../$name" >/dev/null 2>"../$name.log") ||
			echo "$name: not built, see $to/$name.log"
	done < <(programs)
}

# One trial: the number of executions up to the first that fails, or "-" and how many were made.
trial() { # TOOL PROGRAM SEED ARGS
	local tool=$1 program=$2 seed=$3 input=/dev/null out how=()
	shift 3
	[[ ${1-} == input:* ]] && input=${1#input:} && shift
	[ "$tool" = shake ] && how=(--tries 0)
	out=$("$HEDDLE" "$tool" "${how[@]}" --until-error --seed "$seed" --runs "$RUNS" --budget "$SECONDS_EACH" \
		--format json -- "./$program" "$@" <"$input" 2>/dev/null)
	perl -MJSON::PP -0777 -e '
		my $d = eval { JSON::PP->new->decode(<STDIN>) } or print("- failed"), exit;
		my ($first) = sort { $a <=> $b } map { $_->{run} } grep { $_->{kind} ne "cut" } @{$d->{errors} // []};
		$first = $d->{"first-failure"} - 1 if defined $d->{"first-failure"};
		print defined $first ? $first + 1 : "- " . ($d->{executions} // $d->{runs});' <<<"$out"
}

measure() { # FOLDER TOOL...
	local name source flags args best tool seed
	cd "$1" || exit 2
	shift
	touch trials
	while IFS='|' read -r name source flags args best; do
		[[ $name == ${ONLY:-*} ]] && [ -x "$name" ] || continue
		for tool in "$@"; do
			for ((seed = 0; seed < TRIALS; seed++)); do
				grep -q "^$name $tool $seed " trials && continue
				echo "$name $tool $seed $(trial "$tool" "$name" "$seed" $args)" >>trials
			done
		done
	done < <(programs)
	programs | perl -e '
		my @tools = @ARGV;
		open my $in, "<", "trials" or die;
		my %t;
		while (<$in>) { my ($n, $tool, undef, $k) = split; push @{$t{$n}{$tool}}, $k }
		print "| program | published |", map({ " $_ |" } @tools), "\n| --- | --- |", " --- |" x @tools, "\n";
		while (<STDIN>) {
			chomp; my ($n, $best) = (split /\|/)[0, 4];
			next unless $t{$n};
			print "| $n | $best |", map({
				my @all = @{$t{$n}{$_} // []}; my @found = grep { $_ ne "-" } @all;
				my $sum = 0; $sum += $_ for @found;
				my $text = @found ? sprintf("%.1f", $sum / @found) : "-";
				$text .= sprintf(" (%d/%d)", scalar @found, scalar @all) if @found < @all;
				$text = "**$text**" if @found && $best ne "-" && $sum / @found > $best;
				" $text |" } @tools), "\n";
		}' "$@"
}

if [ "${1-}" = build ]; then
	build "$2" "$3"
else
	[ $# -gt 1 ] || set -- "$1" explore shake
	measure "$@"
fi
