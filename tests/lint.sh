#!/bin/bash
# clang-tidy with the checks of .clang-tidy, and gcc's -fanalyzer with those below, over sources of
# compile_commands.json.  A check is listed when a finding of it is a mistake and the tree has none.
# Usage: tests/lint.sh [PATH...]; a PATH is a file or folder, none means the product.
set -eu
[ $# != 0 ] || set -- engine debuginfo tui
export ANALYZER=-fanalyzer
for check in double-fclose double-free free-of-non-heap mismatching-deallocation use-after-free \
	use-of-pointer-in-stale-stack-frame write-to-const write-to-string-literal shift-count-negative \
	shift-count-overflow stale-setjmp-buffer; do
	ANALYZER+=" -Werror=analyzer-$check"
done
# a source and its command a line, NUL between them
lint() {
	local file=$1 command=$2 said status=0
	said=$(clang-tidy --quiet --warnings-as-errors='*' -p . "$file" 2>/dev/null) || status=1
	said+=$(eval "$command $ANALYZER -o /dev/null" 2>&1) || status=1
	[ "$status" = 0 ] || printf '%s\n' "$said"
	return "$status"
}
export -f lint
perl -MJSON::PP -0777 -e '
	for my $unit (@{ decode_json(<STDIN>) }) {
		my $file = $unit->{file};
		print "$file\0$unit->{command}\0" if grep { $file eq $_ || $file =~ m{^\Q$_\E/} } @ARGV;
	}' "$@" <compile_commands.json |
	xargs -0 -r -n 2 -P "$(nproc)" bash -c 'lint "$@"' lint ||
	{ echo "lint: findings above; a check is no rule of taste: mend them" >&2; exit 1; }
