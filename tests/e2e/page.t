#!/bin/bash
# A witness as a page, walked in a real browser: what the page says at each step is what the engine
# says. The page's structure is tested without one by tests/screen/screen_page.c.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 "$root/samples/bank/bank.c" -o bank -pthread || exit 1
"$HEDDLE" record -q --seed 1 -o bank.hdl -- ./bank >/dev/null
printf '%s\n' wait "press w" "export w.html" "press F" "export report.html" >export.script
run env LC_ALL=C.UTF-8 "$HEDDLE" open bank.hdl --script export.script
is "$status$err" 0 "both pages are written"
unlike "$(cat w.html report.html)" "https?://|src=" "they load nothing"
like "$(cat report.html)" "proved impossible|cannot be next at once" "the report has the proof, too"
browser=
for b in chromium chromium-browser google-chrome; do
	command -v $b >/dev/null && browser=$b
done
if [ -z "$browser" ]; then
	skip "the page is walked in a browser" "no chromium is installed"
	done_testing
	exit
fi
# at STEP: what the page says after walking there
at() {
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/browser" \
		--virtual-time-budget=2000 --dump-dom "file://$PWD/w.html#f1-step-$1" 2>/dev/null |
		perl -0ne 'print join " / ", map { s/<[^>]*>//gr } /<div class="(?:at|what|line|values)">(.*?)<\/div>/gs'
}
like "$(at 1)" "after step 1 of 13 / main: enter main" "the first step"
like "$(at 10)" "after step 10 of 13 / T1: audit 0 → 1 / .*audit 1" "a step on the way"
like "$(at 13)" "after step 13 of 13.*T2 is about to do: acct.balance reads" "the last one"
done_testing
