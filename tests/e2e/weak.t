#!/bin/bash
# weak.t - runs under --memory tso and rc11: the litmus table, structures with one order too weak,
# what such a trace says, and what may be asked of it.
. tests/e2e/lib.sh

# failures PROGRAM MODEL RUNS SEED: runs that exit 1; anything but 0 and 1 is told
failures() {
	$HEDDLE shake --format json --runs "$3" --seed "$4" --memory "$2" -- "$scratch/$1" |
		perl -MJSON::PP -0 -ne '
			my $seen = 0;
			for (@{decode_json($_)->{outcomes}}) {
				$seen += $_->{count} if $_->{status} == 1;
				print "$_->{end} " if $_->{status} > 1 || $_->{end} !~ /^exit/;
			}
			print $seen'
}

# fails PROGRAM MODEL NAME: some run exits 1. So many are made that none does by chance, as long as one in a
# thousand exits 1.
fails() {
	run timeout 300 $HEDDLE shake --format json --runs 10000 --until-error --tries 0 --memory "$2" -- "$scratch/$1"
	is "$status $(json 'join " ", map { $_->{end} } grep { $_->{end} !~ /^exit status [01]$/ } @{$d->{outcomes}}')" "1 " "$3"
}

# ---- the litmus table: each outcome that a model allows is seen, no other ever ----
for file in tests/e2e/programs/litmus/*.c; do
	name=${file##*/}
	name=${name%.c}
	[ "$name" = any ] && continue
	$HEDDLE cc -g -O1 -pthread -Wno-tsan -o "$scratch/$name" "$file" || exit 1
	allowed=$(sed -n 's/.*allowed: \(.*\) .*/\1/p' "$file")
	for model in sc tso rc11; do
		case " $allowed " in
		*" $model "*)
			fails "$name" $model "$name: seen under $model"
			;;
		*) is "$(failures "$name" $model 25 1)" 0 "$name: not seen under $model" ;;
		esac
	done
done

# A store that waits while two other threads run one after the other, and each of two stores that wait for a turn of
# the other thread: not only seen, but often (one run in 200, one in 4).
is "$(($(failures rwc tso 2000 1) >= 4))" 1 "rwc: seen often under tso"
is "$(($(failures sb tso 400 1) >= 60))" 1 "sb: seen often under tso"

# ---- structures: right, and with one order too weak ----
for name in publish seqlock treiber chaselev; do
	file=tests/e2e/programs/weak/$name.c
	$HEDDLE cc -g -O1 -pthread -Wno-tsan -o "$scratch/$name" $file || exit 1
	$HEDDLE cc -g -O1 -pthread -Wno-tsan -DWEAK -o "$scratch/$name-weak" $file || exit 1
	is "$(failures $name rc11 60 1)" 0 "$name: no failure under rc11"
	fails $name-weak rc11 "$name: the weak order fails"
	is "$(failures $name-weak sc 25 1)" 0 "$name: the weak order does not fail under sc"
done

# a thread of the highest priority that reads an odd sequence again and again gives way to the writer
for seed in 55 56 57 58 59 60; do
	run timeout 300 $HEDDLE record -q -o "$scratch/pct.hdl" --memory rc11 --strategy pct --depth 3 --steps 188 --seed $seed -- "$scratch/seqlock"
	is "$status" 0 "pct, seed $seed: a reader that looks in vain gives way"
done

# ---- what is not taken apart is sequentially consistent, and the trace says so ----
$HEDDLE cc -g -O1 -pthread -o "$scratch/mixed" tests/e2e/programs/weak/mixed.c || exit 1
is "$(failures mixed rc11 60 1)" 0 'mixed sizes and plain writes under rc11'
is "$(failures mixed tso 60 1)" 0 'the same under tso'
$HEDDLE record -q -o "$scratch/mixed.hdl" --memory rc11 -- "$scratch/mixed"
like "$($HEDDLE info "$scratch/mixed.hdl")" 'memory-limit +atomics of mixed sizes' 'info says it'

# ---- the trace ----
record() { $HEDDLE record -q -o "$scratch/$3.hdl" --memory $1 --seed $2 -- "$scratch/$4"; }
record rc11 1 mp mp
is $? 1 'mp: seed 1 is the weak outcome'
record rc11 1 again mp
cmp -s "$scratch/mp.hdl" "$scratch/again.hdl"
ok $? 'one seed is one trace'
seed=1
until record tso $seed sb sb; [ $? = 1 ] || [ $seed = 60 ]; do seed=$((seed + 1)); done
record tso $seed again sb
is $? 1 'sb: a weak outcome under tso'
cmp -s "$scratch/sb.hdl" "$scratch/again.hdl"
ok $? 'tso: one seed is one trace'
record rc11 1 ww 2_2w
for t in mp sb ww; do
	$HEDDLE convert "$scratch/$t.hdl" "$scratch/$t.txt"
	$HEDDLE convert "$scratch/$t.txt" "$scratch/$t.2.hdl"
	$HEDDLE convert "$scratch/$t.2.hdl" "$scratch/$t.2.txt"
	cmp -s "$scratch/$t.txt" "$scratch/$t.2.txt"
	ok $? "$t: text and binary say the same"
done
like "$(cat "$scratch/mp.txt")" '^#! reads [0-9]+ -$' 'a load of the initial value is told'
like "$(cat "$scratch/ww.txt")" '^#! after [0-9]+ -$' 'a store that is not the last is told'
like "$(cat "$scratch/sb.txt")" '\|flush\([0-9]+\)\|' 'arrivals are told'
like "$($HEDDLE info "$scratch/mp.hdl")" 'memory +rc11' 'info names the model'
record sc 1 plain mp
unlike "$($HEDDLE info "$scratch/plain.hdl")" 'memory +(sc|tso|rc11)' 'sc is not named'

# ---- what may be asked of it ----
run $HEDDLE races "$scratch/mp.hdl"
is "$status" 0 'races: happens-before of what was read'
like "$err" 'not sequentially consistent' 'races says so'
for c in 'races --analysis m2' 'races --analysis auto' 'races --analysis hb --witness' deadlocks \
	'atomic' 'compare' 'graph' 'filter'; do
	run $HEDDLE ${c%% *} "$scratch/mp.hdl" ${c#"${c%% *}"}
	is "$status" 2 "$c refuses it"
done
like "$($HEDDLE deadlocks "$scratch/mp.hdl" 2>&1)" 'event [0-9]+ at mp.c:6' 'the message names the read'
run $HEDDLE convert --to std "$scratch/mp.hdl" -
is "$status" 2 'STD cannot say it'
# data is plain: what the acquire load read orders it, the last store does not
race_trace() {
	printf '%s\n' '#! heddle 1' '#! note memory rc11' "$@" 'm|fork(A)|1' 'm|fork(B)|2' \
		'A|w(d)=1|3' 'A|aw(f)=1;rel|4' 'A|aw(f)=2;rlx|5' 'B|ar(f)=1;acq|6' 'B|r(d)=1|7'
}
race_trace '#! reads 5 3' >"$scratch/ordered.txt"
run $HEDDLE races "$scratch/ordered.txt"
is "$status" 0 'a load that reads the release is ordered behind it'
race_trace '#! reads 5 -' >"$scratch/unordered.txt"
run $HEDDLE races "$scratch/unordered.txt"
is "$status" 1 'one that reads the initial value is not'
race_trace '#! reads 5 2' >"$scratch/bad.txt"
run $HEDDLE races "$scratch/bad.txt"
is "$status" 2 'a row that names no store to the place is refused'
printf '%s\n' '#! heddle 1' 'A|w(x)=1|1' 'A|flush(0)|1' >"$scratch/bad.txt"
run $HEDDLE info "$scratch/bad.txt"
is "$status" 2 'an arrival in a trace that is not of tso is refused'

# ---- witnesses: the recorded order, with what its loads read ----
witness() { # NAME MODEL
	perl -e '
		my ($name, $model) = @ARGV;
		open my $f, "<", "'"$scratch"'/$name.txt";
		my @lines = <$f>;
		my (%said, $e);
		/^#! (reads|after) (\d+) (\S+)/ and push @{$said{$2}}, "# $1 $3\n" for @lines;
		print "#! heddle-witness 1\n#! trace $name.hdl -\n#! kind prefix\n#! memory $model\n";
		for (grep { !/^#/ } @lines) {
			print $e + 0, " # $_", @{$said{$e + 0} // []};
			$e++;
		}' "$1" "$2" >"$scratch/$1.wit"
}
witness mp rc11
witness ww rc11
witness sb tso
for w in mp:mp:rc11 ww:2_2w:rc11 sb:sb:tso; do
	IFS=: read -r t program model <<<"$w"
	run $HEDDLE verify "$scratch/$t.hdl" "$scratch/$t.wit"
	is "$status" 0 "$t: its recorded order is a run of $model"
	run $HEDDLE verify --memory $model "$scratch/$t.hdl" "$scratch/$t.wit"
	is "$status" 0 "$t: the same by --memory"
	run $HEDDLE replay --witness "$scratch/$t.wit" -- "$scratch/$program"
	is "$status" 1 "$t: the program follows it"
done
grep -v '^# reads' "$scratch/mp.wit" >"$scratch/bad.wit"
run $HEDDLE verify "$scratch/mp.hdl" "$scratch/bad.wit"
is "$status" 1 'a load that would read the last store is refused'
# 2+2W: x=2 stands before x=1, and y=2 before y=1; between seq_cst stores psc forbids it
for order in rel:0 seq_cst:1; do
	printf '%s\n' '#! heddle 1' 'm|fork(A)|1' 'm|fork(B)|2' "A|aw(x)=1;${order%:*}|3" \
		"A|aw(y)=2;${order%:*}|4" "B|aw(y)=1;${order%:*}|5" "B|aw(x)=2;${order%:*}|6" \
		>"$scratch/order.txt"
	printf '%s\n' '#! heddle-witness 1' '#! trace order.txt -' '#! kind prefix' '#! memory rc11' \
		0 1 2 3 4 5 '# after -' >"$scratch/order.wit"
	run $HEDDLE verify "$scratch/order.txt" "$scratch/order.wit"
	is "$status" "${order#*:}" "2+2W, ${order%:*}: verify by the axioms"
done
like "$out" 'psc' 'which says that psc is why'
done_testing
