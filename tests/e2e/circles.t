#!/bin/bash
# Which file uses which, by the symbols of the objects: neither folders nor files are in a circle. A
# circle goes away when the file that several others share holds no entry point, or is reached
# through a table that it fills (struct app_ops): see "Arrows" in docs/architecture.md.
. tests/e2e/lib.sh

circles() { # PATTERN OBJECT...: circles of the parts of the objects' paths that match PATTERN
	nm -A -g "${@:2}" | perl -e '
		my $pattern = shift;
		my (%at, @uses, %to, %number, %low, @stack, %on);
		while (<STDIN>) {
			my ($file, $kind, $symbol) = m{^\S*?((?:engine|tui|debuginfo)/\S+)\.o:\S*\s+(\w) (\w+)} or next;
			if ($kind eq "U") { push @uses, [$file, $symbol] } else { $at{$symbol} = $file }
		}
		for (@uses) {
			my ($from, $to) = map { m{$pattern} ? $1 : $_ } $_->[0], $at{$_->[1]} // next;
			$to{$from}{$to} = 1 if $from ne $to;
		}
		sub visit { # Tarjan
			my $v = shift;
			$number{$v} = $low{$v} = keys %number;
			push @stack, $v;
			$on{$v} = 1;
			for my $w (sort keys %{ $to{$v} }) {
				visit($w) unless exists $number{$w};
				$low{$v} = $low{$w} if $on{$w} && $low{$w} < $low{$v};
			}
			return if $low{$v} != $number{$v};
			my @circle;
			do { push @circle, pop @stack; $on{$circle[-1]} = 0 } until $circle[-1] eq $v;
			print join(" ", sort @circle), "\n" if @circle > 1;
		}
		$number{$_} // visit($_) for sort keys %to' "$1"
}

if [ ! -d "$build/debuginfo" ]; then
	skip "no circles" "needs the objects of a build"
elif has nm "no circles"; then
	mapfile -t objects < <(find "$build"/{engine,tui,debuginfo} -name '*.o' \
		! -path '*/record/runtime/*' ! -path '*/record/stub/*' |
		while read -r o; do s=${o#"$build"/}; [ -f "${s%.o}.c" ] && echo "$o"; done)
	ok $([ ${#objects[@]} -gt 300 ]; echo $?) "${#objects[@]} objects"
	is "$(circles '^((?:engine|tui)/[^/]+|debuginfo)/' "${objects[@]}")" "" "no circle of folders"
	is "$(circles '^(.*)$' "${objects[@]}")" "" "no circle of files"
fi
# A header whose guard another one has is left out where both are included.
guards=$(cd "$root" && find engine tui debuginfo -name '*.h' -exec grep -hE '^#ifndef HEDDLE_[A-Z0-9_]+_H$' {} + | sort)
ok "$([ "$(wc -l <<<"$guards")" -gt 100 ]; echo $?)" "headers have guards"
is "$(uniq -d <<<"$guards")" "" "each header has a guard of its own"
done_testing
