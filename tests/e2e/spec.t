#!/bin/bash
# heddle spec: what is checked and printed, and how bad files are refused.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# Figure 7 of the RD2 paper, from the specification of figure 6.
run "$HEDDLE" spec points "$root/specs/dict.spec"
is "$status" 0 "points: exit status"
is "$(printf '%s\n' "$out" | grep '^  point' | tr -s ' ' | tr '\n' ';')" \
	" point o:w:k; point o:r:k; point o:resize; point o:size;" "dict has the points of figure 7"
like "$out" 'put\(k, v\) / p touches o:w:k when v != p' "a put that changes the value writes the key"
like "$out" 'put\(k, v\) / p touches o:r:k when v == p' "a put that does not reads it"
like "$out" 'put\(k, v\) / p touches o:resize when' "a put may resize"
like "$out" 'get\(k\) / v touches o:r:k$' "a get reads"
like "$out" 'size\(\) / r touches o:size$' "size looks at the size"
run "$HEDDLE" spec points "$root/specs/dict.spec" --format json
is "$(json 'join " ", @{$d->{objects}[0]{points}}')" "o:w:k o:r:k o:resize o:size" "points as JSON"
is "$(json 'join ";", map { join ",", @{$_->{points}} } @{$d->{objects}[0]{conflicts}}')" \
	"o:w:k,o:w:k;o:w:k,o:r:k;o:resize,o:size" "the conflict matrix of figure 7"

# Every specification that ships is accepted, each with proofs.
for f in dict set counter queue stack union-find register memory condvar channel fd context; do
	run "$HEDDLE" spec check "$root/specs/$f.spec" --format json
	is "$status" 0 "$f is accepted"
	is "$(json 'scalar grep { !$_->{sound} } @{$d->{objects}[0]{conditions}}')" 0 "$f is proved sound"
	is "$(json 'scalar @{$d->{objects}[0]{defaults}}')" 0 "$f leaves no pair to the default"
done

# So are the bind lines that ship, but for liburcu's, which have no effects.
for f in "$root"/specs/bind/*.spec; do
	run "$HEDDLE" spec check "$f" --format json
	is "$status" 0 "${f##*/} is accepted"
	[ "${f##*/}" = urcu.spec ] ||
		is "$(json 'scalar grep { !$_->{sound} } map { @{$_->{conditions}} } @{$d->{objects}}')" 0 "${f##*/} is proved sound"
	is "$(json 'scalar map { @{$_->{defaults}} } @{$d->{objects}}')" 0 "${f##*/} leaves no pair to the default"
done

cat >bad.spec <<'S'
object pairs {
  method put(k, v) / p
  method get(k) / v
  commute put(k1, v1) / p1, put(k2, v2) / p2 : k1 != k2 || v1 == p1
  commute put(k1, v1) / p1, get(k2) / v2 : k1 != k2 || v2 == v1
  state d : map
  effect put(k, v) / p { p == d[k]; d[k] := v }
  effect get(k) / v { v == d[k] }
}
S
run "$HEDDLE" spec check bad.spec
is "$status" 1 "a refused condition is exit status 1"
like "$out" 'NOT SYMMETRIC, UNSOUND' "an asymmetric, unsound condition is named"
like "$out" 'not symmetric: put\(.*\) / .* and put\(.*\)' "with a counterexample in its own words"
like "$out" 'not sound: put\(.*\) / .* and get\(.*\) / .* satisfy it; from d\[' "and a state"
like "$out" 'not ECL because of v2 == v1' "the atom in the way is named"
like "$out" 'default: get, get : false' "defaults are listed"
run "$HEDDLE" spec check bad.spec --format json
is "$status" 1 "the same as JSON"
is "$(json '$d->{refused}')" 2 "two conditions are refused"
is "$(json '$d->{objects}[0]{conditions}[1]{class}')" neither "the class"
is "$(json '$d->{objects}[0]{conditions}[0]{symmetric} ? 1 : 0')" 0 "not symmetric"

printf 'object d {\n  method put(k)\n  commute put(a), put(b) : a !! b\n}\n' >syntax.spec
run "$HEDDLE" spec check syntax.spec
is "$status" 2 "a syntax error is exit status 2"
like "$err" '^heddle: (.*/)?syntax.spec:3:30: expected .* found .*, in object d' "with file, line, column, declaration"
run "$HEDDLE" spec check missing.spec
is "$status" 2 "no such file"
like "$err" 'missing.spec' "is named"
run "$HEDDLE" spec frobnicate bad.spec
is "$status" 2 "an unknown action"
run "$HEDDLE" spec check
is "$status" 2 "no file"
head -c 200 /dev/urandom | tr -d '\n' >junk.spec
run "$HEDDLE" spec check junk.spec
is "$status" 2 "junk is refused"
printf 'object o { method m(a) commute m(x), m(y) : %s x != y %s }' \
	"$(printf '(%.0s' $(seq 2000))" "$(printf ')%.0s' $(seq 2000))" >deep.spec
run "$HEDDLE" spec check deep.spec
is "$status" 0 "deep nesting is no crash"
printf 'object o { method m(a) commute m(x), m(y) : %s x != y' "$(printf '(%.0s' $(seq 50000))" >deeper.spec
run "$HEDDLE" spec check deeper.spec
is "$status" 2 "deeper nesting is refused"
like "$err" 'nested less than' "and said"
{ printf 'object o { method m(a) commute m(x), m(y) : x != y'; printf ' && x != 1%.0s' $(seq 50000); echo ' }'; } >long.spec
run "$HEDDLE" spec check long.spec
is "$status" 2 "so is a chain without end"
printf 'object empty { }\n' >empty.spec
run "$HEDDLE" spec check empty.spec
is "$status" 0 "an object without methods"
run "$HEDDLE" spec points empty.spec
is "$status" 0 "has no points"
cd "$scratch"
run "$HEDDLE" spec check dict.spec
is "$status" 0 "a shipped specification by its name alone"

{ printf '\357\273\277'; sed 's/$/\r/' "$root/specs/set.spec"; } >edited.spec
run "$HEDDLE" spec check edited.spec
is "$status" 0 "the mark before UTF-8 and CR LF"
# a name that one file declares twice: neither block silently takes the other's place
printf 'object o {\n  method m()\n}\nobject o {\n  method q()\n}\n' >"$scratch/twice.spec"
run "$HEDDLE" spec check "$scratch/twice.spec"
is "$status" 2 "an object declared twice"
like "$err" "twice.spec:4:8: expected a new object, found 'o' a second time .the first is on line 1." "with both places"
printf 'atomics a {\n  set s : global x\n}\natomics a {\n  set t : global y\n}\n' >"$scratch/twice.spec"
run "$HEDDLE" spec check "$scratch/twice.spec"
is "$status" 2 "atomics declared twice"
done_testing
