#!/bin/bash
# Bugs of RaceBench that `shake` meets, beside those that SURW's published runs met with the same inputs:
#     tests/bench/explore/racebench.sh DATA STATS TRIALS [NAME]...
# DATA: a checkout of rb130/RaceBenchData whose programs were compiled and linked by `heddle cc` and `heddle c++` (each
# NAME/install has the program and its files); STATS: stats/racebench of zhaohuanqdcn/SURW; TRIALS: a file, in which each
# input of a program is a line, so that a table that was interrupted goes on from there.  NAME: pigz.1, ... (default: all).
# RUNS executions (default 500, as in SURW's runs), of at most TIMEOUT seconds each (20), with each of INPUTS (default 0 to 19,
# all that SURW ran), by STRATEGY (auto) with SEED (1), in at most SECONDS_EACH an input (600).  Each execution ends at its first bug
# and notes it in the file that RACEBENCH_STAT names.
HEDDLE=${HEDDLE:-$PWD/heddle}
RUNS=${RUNS:-500} TIMEOUT=${TIMEOUT:-20} SECONDS_EACH=${SECONDS_EACH:-600} SEED=${SEED:-1} STRATEGY=${STRATEGY:-auto}
INPUTS=${INPUTS:-$(echo {0..19})}
if [ $# -lt 3 ]; then
	sed -n '2,3s/^# *//p' "$0" >&2
	exit 2
fi
data=$(realpath "$1") stats=$(realpath "$2") trials=$(realpath "$3")
shift 3
touch "$trials" || exit 2
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# The words of the program's command line.
words() { # NAME INPUT
	local word place=0
	while IFS= read -r word || [ -n "$word" ]; do
		word=${word//\{install_dir\}/$data/$1/install}
		[[ $1 == canneal.* && $place == 3 ]] && word=100 # as SURW runs it
		printf '%s\0' "${word//\{input_file\}/$data/$1/input/input-$2}"
		place=$((place + 1))
	done <"$data/$1/code/command.txt"
}

# Of one input: how many executions, which of them timed out, the numbers of the bugs that were met.
trial() { # NAME INPUT
	local command
	mapfile -d '' command < <(words "$1" "$2")
	rm -f "$scratch/bugs"
	(cd "$scratch" && RACEBENCH_STAT=$scratch/bugs "$HEDDLE" shake --tries 0 --strategy "$STRATEGY" --seed "$SEED" \
		--runs "$RUNS" --timeout "$TIMEOUT" --budget "$SECONDS_EACH" --format json -- "${command[@]}" \
		</dev/null >report 2>/dev/null)
	perl -MJSON::PP -e '
		my ($report, $bugs) = map { local $/; open my $in, "<:raw", $_; scalar(<$in>) // "" } @ARGV;
		my $d = eval { decode_json($report) } or exit 1;
		my (undef, @times) = unpack "Q<21", $bugs; # in all, then of each bug
		my $late = 0;
		$late += $_->{count} for grep { $_->{end} eq "timed out" } @{$d->{outcomes}};
		print join " ", $d->{runs}, $late, grep { $times[$_] } 0 .. $#times;' "$scratch/report" "$scratch/bugs"
}

[ $# -gt 0 ] || mapfile -t names < <(cd "$data" && ls -d *.[1-5])
for name in "${@:-${names[@]}}"; do
	[ -f "$data/$name/code/command.txt" ] || { echo "$name: is not in $data" >&2; continue; }
	for input in $INPUTS; do
		key="$name $input $STRATEGY $SEED $RUNS"
		grep -q "^$key:" "$trials" && continue
		if line=$(trial "$name" "$input"); then
			echo "$key: $line" >>"$trials"
		else
			echo "$name, input $input: shake has failed; was it built by heddle cc?" >&2
		fi
	done
done

perl -MJSON::PP -e '
	my ($stats, $trials) = @ARGV;
	my (%t, @in_all);
	open my $in, "<", $trials or die;
	while (<$in>) {
		my ($name, $input, $strategy, $seed, $most, $runs, $late, @bugs) = /[^\s:]+/g;
		my $x = $t{$name}{$strategy} //= { inputs => {}, bugs => {}, runs => 0, late => 0 };
		$x->{inputs}{$input} = 1;
		$x->{bugs}{$_} = 1 for @bugs;
		$x->{runs} += $runs;
		$x->{late} += $late;
	}
	print "| program | strategy | inputs | executions | timed out | bugs | SURW, same inputs, 500 each | SURW, 20 inputs |\n|",
		" --- |" x 8, "\n";
	for my $name (sort keys %t) {
		my $s = -f "$stats/$name/rp-urw-0.json" ? do { local (@ARGV, $/) = "$stats/$name/rp-urw-0.json"; decode_json(<>) } : {};
		for my $strategy (sort keys %{$t{$name}}) {
			my $x = $t{$name}{$strategy};
			my %same = map { $_ => 1 } map { @{$s->{$_} // []} } keys %{$x->{inputs}};
			my %all = map { $_ => 1 } map { @{$s->{$_} // []} } 0 .. 19;
			print join(" | ", "| $name", $strategy, join(", ", sort { $a <=> $b } keys %{$x->{inputs}}), $x->{runs}, $x->{late},
				scalar(keys %{$x->{bugs}}), scalar(keys %same), scalar(keys %all)), " |\n";
		}
	}' "$stats" "$trials"
