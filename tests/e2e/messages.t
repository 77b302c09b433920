#!/bin/bash
# The sentences of the explorer's last line stand in one table, tui/explorer/messages.h, where
# they can be read as a whole; and each of the table is used.
. tests/e2e/lib.sh
strays() { # FILES...: words inside of calls that say, ask or refuse
	perl -0777 -ne '
		while (/\b(app_say|app_ask|refuse|error_set|job_new)\s*(\((?:[^()"\x27]++|"(?:[^"\\]|\\.)*"|\x27(?:[^\x27\\]|\\.)+\x27|(?2))*\))/g) {
			my ($call, $arguments) = ($1, $2);
			next if $call eq "error_set" && $arguments !~ /^\(error, "",/;
			while ($arguments =~ /"((?:[^"\\]|\\.)*)"/g) {
				my ($said, $words) = ($1, $1);
				$words =~ s/%[-.*0-9]*l*[a-z]//g;
				print "$ARGV: $call: \"$said\"\n" if $words =~ /[[:alpha:]]{2}/;
			}
		}' "$@"
}
is "$(strays $(find tui/explorer -name "*.c"))" "" "no sentence of the last line stands outside of the table"
cat >"$scratch/stray.c" <<'C'
app_say(app, count > 1 ? "%u findings" : SAYS_NONE, f(count));
return error_set(error, "", NULL,
                 "there is no lock '%s'", name(x));
error_set(error, path, NULL, "a file's own error");
app_say(app, "%s = %s", name, value);
C
is "$(strays "$scratch/stray.c" | wc -l)" 2 "one that does is found"
unused=$(perl -ne 'print "$1\n" if /^#define ([A-Z][A-Z_]+)\b/' tui/explorer/messages.h |
	grep -v HEDDLE_ | while read -r name; do
	grep -qw "$name" $(find tui/explorer -name "*.c") ||
		[ "$(grep -cw "$name" tui/explorer/messages.h)" -gt 1 ] || echo "$name"
done)
is "$unused" "" "each sentence of the table is used"
twice=$(perl -0777 -ne 's/\\\n\s*/ /g; while (/^#define [A-Z_]+\s+(?:NULL, )?("[^\n]{12,}")\s*$/mg) { print "$1\n" }' \
	tui/explorer/messages.h | sort | uniq -d)
is "$twice" "" "and stands there once"
done_testing
