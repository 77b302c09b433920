#!/bin/bash
# Examples of documents that begin with "$ ": each command works (exit status 0 or 1), and prints the lines below it
# ("...": any further lines).  The examples of a document run in one folder, in their order.
. tests/e2e/lib.sh
export HOME=$scratch

# writes N.command and N.want into the folder PLACE
take_examples='
	if (/^    \$ (.*)/) {
		$n++;
		for my $part (["command", "$1\n"], ["want", ""]) {
			open my $f, ">", sprintf("%s/%02d.%s", $ENV{PLACE}, $n, $part->[0]) or die;
			print $f $part->[1];
		}
		open F, ">>", sprintf("%s/%02d.want", $ENV{PLACE}, $n) or die;
		$in = 1;
	}
	elsif ($in && /^    (.*)/) { print F "$1\n" }
	else { $in = 0 }'

examples=0
for doc in README.md docs/*.md; do
	grep -q '^    \$ ' "$doc" || continue
	place=$scratch/$(basename "$doc" .md)
	mkdir "$place"
	ln -s "$HEDDLE" "$place/heddle"
	ln -s "$root/samples" "$place/samples"
	PLACE=$place perl -ne "$take_examples" "$doc"
	cd "$place" || exit 1
	for command in *.command; do
		examples=$((examples + 1))
		run timeout 300 bash -c "$(cat "$command")"
		ok "$((status > 1))" "$doc: $(cat "$command")"
		want=$(cat "${command%.command}.want") got=$out${err:+$'\n'$err}
		if [[ $want == *$'\n...' ]]; then
			want=${want%$'\n...'} got=${got:0:${#want}}
		fi
		[ -z "$want" ] || is "$got" "$want" "$doc: the output of that command"
	done
	cd "$root" || exit 1
done
ok "$((examples == 0))" "documents have $examples examples"
done_testing
