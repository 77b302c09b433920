#!/bin/bash
# What free mode leaves out is only what was written before: with the same instruction, address
# and call stack, and nothing in between that orders what its thread has done before others'.
# A program of one thread does the same in both modes, so the whole recording says what must be
# there.
. tests/e2e/lib.sh
programs=$root/tests/e2e/programs
cd "$scratch" || exit 1

# epochs TRACE: of each piece between such synchronisation the different accesses, sorted
epochs() {
	$HEDDLE convert -q "$1" "$1.txt"
	perl -ne 'next if /^#/; chomp; my ($t, $what, $at) = split /\|/; $at //= "";
		if ($what =~ /^enter/) { push @stack, "$what $at" }
		elsif ($what =~ /^leave/) { pop @stack }
		elsif ($what =~ /^[rw]\d*\(/) {
			$what =~ s/\)=.*/)/; $epoch{join "|", $what, $at, @stack} = 1; $accesses++ }
		elsif ($what !~ /^(ar\d*|acq|racq|tryfail|taketryfail|wake|depart|take|join|rcv|alloc)\b/) { finish("$what $at") }
		sub finish { print "$_\n" for sort keys %epoch; %epoch = (); print "$_[0]\n" }
		END { finish("end"); print STDERR "$accesses\n" }' "$1.txt"
}

for optimise in -O1 -O2; do
	$HEDDLE cc -g $optimise "$programs/again.c" -o again -pthread || echo "# cannot build again"
	run timeout 300 $HEDDLE record -q -o all.hdl -- ./again
	run timeout 300 $HEDDLE record -q --mode free -o free.hdl -- ./again
	is "$status" 0 "$optimise: free mode"
	epochs all.hdl >all 2>all.count
	epochs free.hdl >free 2>free.count
	ok $(($(wc -l <all) < 25000)) "$optimise: there is much to compare ($(wc -l <all) lines)"
	run cmp all free
	is "$status" 0 "$optimise: nothing else is left out" || diff all free | head -5 | sed 's/^/# /'
	ok $(($(<free.count) * 10 >= $(<all.count) * 9)) \
		"$optimise: much is left out ($(<free.count) of $(<all.count) accesses are there)"
done
done_testing
