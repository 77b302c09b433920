#!/bin/bash
# The lines of the product that a build with gcov's counters ran, by folder, and in all.
# Usage: tests/coverage.sh BUILD
set -eu
B=$1
gcovr --root . --object-directory "$B" "$B" --filter '(engine|debuginfo|tui)/' --exclude-unreachable-branches \
	--gcov-ignore-parse-errors --json-summary "$B/coverage.json" >/dev/null
perl -MJSON::PP -0777 -e '
	my ($all, %lines, %covered) = decode_json(<STDIN>);
	for (@{ $all->{files} }) {
		my ($folder) = $_->{filename} =~ m{^(.*)/};
		$lines{$folder} += $_->{line_total};
		$covered{$folder} += $_->{line_covered};
	}
	printf "%-24s %6d of %6d lines  %3d%%\n", @$_, 100 * $_->[1] / ($_->[2] || 1) for
		(map { [$_, $covered{$_}, $lines{$_}] } sort keys %lines),
		["in all", $all->{line_covered}, $all->{line_total}];
' <"$B/coverage.json"
