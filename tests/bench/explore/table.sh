#!/bin/bash
# tests/bench/explore/table.sh [SECONDS]: the table of docs/completeness-tests.md: executions without
# and with specifications, then with the last of them by results (--results), each within
# SECONDS (default 20).
HEDDLE=${HEDDLE:-$PWD/heddle}
here=$PWD/tests/bench/explore
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
limit=${1:-20}

executions() { # PROGRAM [OPTIONS]: "24", "24+ (20 s)" when the time was up, "1 (error)"
	local program=$1 out
	shift
	out=$("$HEDDLE" explore --budget "$limit" --runs 1000000 --until-error "$@" \
		--format json -- "$program" 2>"$scratch/err")
	perl -MJSON::PP -0777 -e '
		my $d = eval { JSON::PP->new->decode(<STDIN>) } or print("failed"), exit;
		my $more = grep { /the time was up/ } @{$d->{gaps}};
		printf "%d%s%s", $d->{executions}, $more ? "+" : "",
			(grep { $_->{kind} ne "specification" } @{$d->{errors}}) ? " (error)" : "";' <<<"$out"
}
row() { # NAME FLAGS FILE SPEC...
	local name=$1 flags=$2 file=$3 spec
	shift 3
	"$HEDDLE" cc -g -O1 $flags -I"$here" "$here/$file" -o "$scratch/p" -pthread || exit 1
	printf '| %s | %s |' "$name" "$(executions "$scratch/p")"
	for spec in "$@"; do
		printf ' %s |' "$(executions "$scratch/p" --spec "$here/$spec")"
	done
	printf ' %s |\n' "$(executions "$scratch/p" --results --spec "$here/$spec")"
}
echo "| program | without | with specification | by results |"
echo "| --- | --- | --- | --- |"
row "sigma, 16" "" sigma.c counter.spec
row "workstealqueue, 4" "" workstealqueue.c workstealqueue.spec
row "fkp2013, 4" "-DLB=4" fkp.c counter.spec
row "fkp2013, 8" "-DLB=8" fkp.c counter.spec
row "fkp2013, 50" "-DLB=50" fkp.c counter.spec
row "pthread-demo-datarace, 20" "" datarace.c counter.spec
row "qw2004, 3" "-DLB=3" qw2004.c counter1.spec
row "qw2004, 10" "-DLB=10" qw2004.c counter1.spec
row "ring, 8" "" ring.c ring.spec
echo "| program | without | coarse | fine | by results |"
echo "| --- | --- | --- | --- | --- |"
for kind in SET TABLE CLASSES; do
	for n in 4 5 6 7; do
		row "$kind seekers, $n" "-D$kind -DN=$n" structures.c coarse.spec fine.spec
	done
	for n in 4 5 6 7; do
		row "$kind mixed, $n" "-D$kind -DN=$n -DMIXED" structures.c coarse.spec fine.spec
	done
done
