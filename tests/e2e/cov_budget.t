#!/bin/bash
# commute --analysis cov: only --budget bounds how many pairs of two lines are looked at.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# 40 rounds of: one waits, the other signals, each under the lock: 1,600 pairs, all impossible
{
	echo '#! heddle 1'
	for ((i = 0; i < 40; i++)); do
		printf 'T1|acq(m)|1\nT1|wait(c)|2\nT1|rel(m)|2\n'
		printf 'T2|acq(m)|3\nT2|w(x)|4\nT2|signal(c)|5\nT2|rel(m)|6\n'
		printf 'T1|wake(c)|2\nT1|acq(m)|2\nT1|r(x)|7\nT1|rel(m)|8\n'
	done
} >rounds.txt
run "$HEDDLE" commute --analysis cov rounds.txt --budget 10,600 --verdicts all --format json
is "$(json '$d->{complete} ? "complete" : "not"')" complete "every pair has its verdict"
like "$out" '"verdict": "(impossible|race)"' "and is listed"
run "$HEDDLE" commute --analysis cov rounds.txt --budget 1,0
is "$status" 3 "without time there is none"
like "$out" "not complete: the budget ran out" "which the text says"
done_testing
