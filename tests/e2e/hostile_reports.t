#!/bin/bash
# Reports in JSON with a wrong value in every place, one at a time: what reads them (diff, merge,
# fix-check, --baseline) ends with a status of its own, and refuses in one line.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
"$HEDDLE" cc -g -O1 "$root/samples/bank/bank.c" -o bank -pthread
"$HEDDLE" check -o bank --no-harm -n 2 --format json -- ./bank >check.json 2>/dev/null
"$HEDDLE" races bank.run0.hdl --format json >races.json 2>/dev/null
"$HEDDLE" explore -n 4 --format json -- ./bank >explore.json 2>/dev/null

# damaged NAME: writes NAME/N.json, each with one wrong value, or without one
damaged() {
	mkdir "$1"
	perl -MJSON::PP -e '
		local $/;
		my ($name, $n, %seen) = ($ARGV[0], 0);
		open my $in, "<", "$name.json" or die;
		my $j = JSON::PP->new->utf8->canonical;
		my $d = $j->decode(<$in>);
		my @wrong = (undef, -1, 1e300, "x\e]0;y\a\x{202e}", [], {}, "", 4294967296, JSON::PP::true, [{}]);
		sub put { open my $out, ">", "$name/" . $n++ . ".json" or die; print $out $j->encode($d) }
		sub walk {
			my ($place, $path) = @_;
			(my $shape = $path) =~ s/\d+/N/g;
			unless ($seen{$shape}++) {
				my $right = $$place;
				for my $value ($wrong[$n % @wrong], JSON::PP::true) { # no code takes the latter for a word
					$$place = $value;
					put;
				}
				$$place = $right;
			}
			if (ref $$place eq "HASH") {
				my $of = $$place;
				for my $k (sort keys %$of) {
					walk(\$of->{$k}, "$path.$k");
					next if $seen{"$shape.$k-"}++;
					my $right = delete $of->{$k};
					put;
					$of->{$k} = $right;
				}
			} elsif (ref $$place eq "ARRAY") {
				walk(\$$place->[$_], "$path.$_") for 0 .. ($#$$place > 1 ? 1 : $#$$place);
			}
		}
		walk(\$d, "");' "$1"
}
# wrong GOOD COMMAND FILE...: COMMAND with each FILE in the place of BAD; what is wrong with how it ends, a
# line each
wrong() {
	perl -CSD -e '
		my ($good, $command, @files) = @ARGV;
		sub content { local $/; open my $in, "<", $_[0] or die; <$in> // "" }
		for my $file (@files) {
			my $line = $command =~ s/BAD/$file/r =~ s/GOOD/$good/r;
			my $status = system "exec timeout 300 \"\$HEDDLE\" $line >said 2>refused </dev/null";
			$status = $status & 127 ? 128 + ($status & 127) : $status >> 8;
			my ($said, $refused) = (content("said"), content("refused"));
			my $start = substr $refused, 0, 200;
			print "$line: status $status: $start\n" unless $status =~ /^[0123]$/;
			print "$line: not one line: $start\n" if $status == 2 && $refused !~ /^heddle: .*\n\z/;
			print "$line: control characters\n" if "$said$refused" =~ /[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Cf}]/;
		}' "$@"
}
for name in check races explore; do
	damaged $name
	reports=$(find $name -type f | wc -l)
	[ "$reports" -gt 40 ]
	ok $? "$reports reports of $name with one wrong value each"
	for how in "merge BAD" "merge GOOD BAD" "diff BAD GOOD" "diff GOOD BAD" "fix-check BAD -- ./no-such" \
		"check bank.run0.hdl --no-harm --baseline BAD"; do
		[[ $name != check && $how != merge* && $how != diff* ]] && continue
		[[ $name = explore && $how = "merge GOOD BAD" ]] && continue # shards, which explore_shares.t has
		wrong "$name.json" "$how" "$name"/*.json >all.txt
		is "$(head -n 3 all.txt)" "" "$how, $name"
	done
done
done_testing
