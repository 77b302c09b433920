#!/bin/bash
# heddle explore --spec: an object whose invocations fill a node before they take the lock, and link it
# under it, is atomic; one that writes to it afterwards is not.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1
$HEDDLE cc -g -O1 "$programs/publish.c" -o publish -pthread
cat >publish.spec <<'S'
object set {
  method add(v) / r
  commute add(v1) / _, add(v2) / _ : v1 != v2
  bind add = "set_add(struct set *self, int v) -> int r"
}
S
for n in 3 4; do
	run timeout 300 "$HEDDLE" explore --spec publish.spec --format json -- ./publish $n
	is "$(json '$d->{complete} ? "complete $d->{executions}" : join "; ", @{$d->{gaps}}') $(json 'join "; ", @{$d->{notes}}')" \
		"complete 1 " "a node is filled before it is published: $n threads"
done
run timeout 300 "$HEDDLE" explore --spec publish.spec --format json --budget 250 -- ./publish 2 late
like "$(json 'join "; ", @{$d->{notes}}')" 'is not atomic: two invocations touch .* with no lock in common' \
	"and a write after that is not excused"
done_testing
