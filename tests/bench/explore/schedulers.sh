#!/bin/bash
# Schedules to the first bug, beside the best that RFF, PERIOD and SURW publish:
#     tests/bench/explore/schedulers.sh FOLDER [TOOL]...        the table; TOOL: explore, shake (default: both)
# FOLDER: the programs of PERIOD's evaluation (wcventure/PERIOD), compiled and linked with `heddle cc -g -O1` under the
# names below, and its sources in FOLDER/source for their inputs.
# Executions are counted, not time: at most RUNS each (default 1,000), with SECONDS as a generous limit (default 60);
# TRIALS trials (default 20), with seeds from 0.  ONLY: a pattern of names.  Each trial is a line of FOLDER/trials, so
# that a table that was interrupted goes on from there.
HEDDLE=${HEDDLE:-$PWD/heddle}
TRIALS=${TRIALS:-20} RUNS=${RUNS:-1000} SECONDS_EACH=${SECONDS_EACH:-60}

# Name, arguments, best published mean number of schedules.  RFF: Wolff et al., ASPLOS 2024, appendix; PERIOD: Wen et al.,
# ICSE 2022, tables 2 and 3; SURW: Zhao et al., ASPLOS 2025, stats/period.
programs() {
	cat <<'TABLE'
stringbuffer||8.5
pbzip2-0.9.4|-k -f -p4 -1 -b1 source/CB/pbzip2-0.9.4/test.tar|2.0
account||1.0
bluetooth||9.0
carter01||1.9
circular_buffer||1.6
deadlock01||1.8
lazy01||2.0
queue||1.0
reorder_3||6.0
reorder_4||6.2
reorder_5||5.8
reorder_10||5.8
reorder_20||5.8
reorder_50||5.8
reorder_100||5.8
stack||1.6
token_ring||2.0
twostage||4.0
twostage_20||5.7
twostage_50||20.5
twostage_100||56
wronglock||1.0
wronglock_3||1.0
InterlockedWSQ||1.0
InterlockedWSQWithState||6.0
StateWSQ||1.0
WSQ||6.0
bbuf||-
boundedBuffer||7.8
qsort_mt|-n 32 -f 4 -h 3 -v|27.1
CVE-2009-3547||1.0
CVE-2011-2183||2.4
CVE-2013-1792||13
CVE-2015-7550||3.0
CVE-2016-1972||3.0
CVE-2016-1973||3.0
CVE-2016-7911||3.0
CVE-2016-9806||3.1
CVE-2017-15265||11
CVE-2017-6346||4.8
SafeStack||368921
barnes|input:source/Splash2/barnes/input|2.0
lu|-p2 -b2 -n1|1.0
pbzip2-1.1.13|-k -f -p3 source/NEW/pbzip2-1.1.13/test.tar|1.0
TABLE
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
	local name args best tool seed
	cd "$1" || exit 2
	shift
	touch trials
	while IFS='|' read -r name args best; do
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
			chomp; my ($n, $best) = (split /\|/)[0, 2];
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

[ $# -gt 1 ] || set -- "$1" explore shake
measure "$@"
