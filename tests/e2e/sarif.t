#!/bin/bash
# SARIF as code scanning services read it: rules, places below the sources' root, fingerprints that
# survive moved lines, a witness as a code flow, suppressions.
. tests/e2e/lib.sh
samples=$root/samples
cd "$scratch" || exit 1
result='$d->{runs}[0]{results}[0]'

mkdir -p tree/.git "tree/a dir" && cp "$samples/bank/bank.c" "tree/a dir/bank.c"
cd tree || exit 1
compile_and_record() {
	"$HEDDLE" cc -g -O1 "$PWD/a dir/bank.c" -o bank -pthread &&
		"$HEDDLE" record -q --seed 1 -o bank.hdl -- ./bank
}
compile_and_record >/dev/null 2>&1
run "$HEDDLE" races bank.hdl --format sarif
is "$status" 1 "a race is found"
is "$(json '$d->{version}')" 2.1.0 "SARIF 2.1.0"
is "$(json '$d->{runs}[0]{originalUriBaseIds}{"%SRCROOT%"}{uri}')" "file://$PWD/" "the root of the sources is the working copy's"
is "$(json "$result"'->{locations}[0]{physicalLocation}{artifactLocation}{uri}')" "a%20dir/bank.c" "a path is relative and encoded"
is "$(json "$result"'->{locations}[0]{physicalLocation}{artifactLocation}{uriBaseId}')" "%SRCROOT%" "to the root"
is "$(json "$result"'->{relatedLocations}[0]{physicalLocation}{region}{startLine}')" 33 "the other place is a related location"
is "$(json "$result"'->{locations}[0]{logicalLocations}[0]{fullyQualifiedName}')" deposit "with its function"
is "$(json '$d->{runs}[0]{tool}{driver}{rules}['"$result"'->{ruleIndex}]{id}')" data-race "the rule is in the list"
is "$(json 'scalar grep { !$_->{help}{text} || !$_->{shortDescription}{text} } @{$d->{runs}[0]{tool}{driver}{rules}}')" 0 "each rule has its help"
is "$(json 'join " ", sort map { $_->{id} } @{'"$result"'->{codeFlows}[0]{threadFlows}}')" "T1 T2 main" "a code flow has a thread flow for each thread"
is "$(json 'my @o = sort { $a <=> $b } map { $_->{executionOrder} } map { @{$_->{locations}} } @{'"$result"'->{codeFlows}[0]{threadFlows}}; my %o = map { $_ => 1 } @o; @o > 5 && @o == keys %o ? "once" : "@o"')" once "each step has its place in the order"
is "$(json 'scalar grep { $_->{importance} eq "essential" } map { @{$_->{locations}} } @{'"$result"'->{codeFlows}[0]{threadFlows}}')" 2 "the two accesses are the essential steps"
both=$(json 'join " ", map { "$_=" . '"$result"'->{partialFingerprints}{$_} } sort keys %{'"$result"'->{partialFingerprints}}')
like "$both" "placesInFunction/v1=[0-9a-f]{32}:1 sourceText/v1=[0-9a-f]{32}:1" "two fingerprints"

cd "a dir" && run "$HEDDLE" races ../bank.hdl --format sarif
is "$(json "$result"'->{locations}[0]{physicalLocation}{artifactLocation}{uri}')" "a%20dir/bank.c" "from a folder below as well"
cd ..

# lines above the function: the same fingerprints; lines in the function: those of the text
sed -i '1i /* one */\n/* two */' "a dir/bank.c" && compile_and_record >/dev/null 2>&1
run "$HEDDLE" races bank.hdl --format sarif
is "$(json 'join " ", map { "$_=" . '"$result"'->{partialFingerprints}{$_} } sort keys %{'"$result"'->{partialFingerprints}}')" "$both" "moved lines keep both fingerprints"
is "$(json "$result"'->{relatedLocations}[0]{physicalLocation}{region}{startLine}')" 35 "at other lines"
sed 's|\taudit = 0;|\taudit =\n\n\t\t0;|' "a dir/bank.c" >edited && mv edited "a dir/bank.c" && compile_and_record >/dev/null 2>&1
run "$HEDDLE" races bank.hdl --format sarif
like "$both" "sourceText/v1=$(json "$result"'->{partialFingerprints}{"sourceText/v1"}')" "lines in the function keep that of the text"

run "$HEDDLE" races bank.hdl --verdicts all --format sarif
is "$(json 'join " ", sort map { "$_->{kind}:$_->{level}" } grep { $_->{kind} ne "fail" } @{$d->{runs}[0]{results}}')" "pass:none" "the pair that is proved impossible is listed as passed"
run "$HEDDLE" check --budget 600 --runs 2 --format sarif -- ./bank
is "$(json 'scalar @{$d->{runs}[0]{results}[0]{codeFlows}[0]{threadFlows}}')" 3 "check has the code flow too"
like "$(json '$d->{runs}[0]{results}[0]{message}{text}')" 'T1 writes acct.balance \(bank.c:[0-9]+\) while T2 reads it .*What it does: ' "and says what it does"
cp "$samples/bank/fixed.c" fixed.c
"$HEDDLE" cc -g -O1 fixed.c -o fixed -pthread && "$HEDDLE" record -q -o fixed.hdl -- ./fixed >/dev/null 2>&1
run "$HEDDLE" races fixed.hdl --verdicts all --format sarif
is "$(json 'join " ", map { "$_->{kind}:$_->{level}" } @{$d->{runs}[0]{results}}')" "pass:none pass:none" "so are both of the fixed program"
done_testing
