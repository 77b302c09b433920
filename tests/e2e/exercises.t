#!/bin/bash
# The three exercises of docs/architecture.md are diffs that still apply, and take the files and
# lines that its table says. `make check-exercises` builds and runs them.
. tests/e2e/lib.sh
has patch "the exercises apply" || { done_testing; exit; }
while IFS='|' read -r _ _ file files lines _; do
	diff=tests/exercises/$(tr -d ' `' <<<"$file")
	run patch -p1 --dry-run --forward --batch -i "$diff"
	is "$status" 0 "$diff applies"
	like "$out" "patching|checking" "and says so"
	got=$(awk '/^\+\+\+ b\// { file = substr($2, 3); names = names (names ? "," : "") file; next }
		/^\+/ { n[file]++ }
		END { k = split(names, f, ","); for (i = 1; i <= k; i++) counts = counts (i > 1 ? "," : "") n[f[i]]; print names, counts }' "$diff")
	is "$got" "$(tr -d ' `' <<<"$files") $(tr -d ' ' <<<"$lines")" "and is of these files, with so many lines"
done < <(grep '^| .*| `[a-z]*\.diff`' docs/architecture.md)
is "$(grep -c '^| .*| `[a-z]*\.diff`' docs/architecture.md)" "$(find tests/exercises -name '*.diff' | wc -l)" "each diff is in the table"
done_testing
