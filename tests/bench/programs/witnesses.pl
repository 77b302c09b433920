#!/usr/bin/perl
# witnesses.pl TRACE PREFIX MOST [spread] <JSON: a witness file PREFIX.N.wit for every finding of
# a report that has a witness, MOST at most: the first ones, or spread over their lengths.
use strict;
use warnings;

my ($trace, $prefix, $most, $spread) = @ARGV;
my %kinds = ('data-race' => 'race', deadlock => 'deadlock', 'atomic-set-violation' => 'atomic');
# By hand, a finding a line: reports of real programs have a hundred megabytes of witnesses.
my @found;
while (<STDIN>) {
	my ($name, $rest) = /^\{"kind": "([\w-]+)"(.*)/ or next;
	my $kind = $kinds{$name} // 'cov';
	$kind = 'c11-race' if $rest =~ /"note": "visible only as a C11 race/;
	my ($witness) = $rest =~ /"witness": \[([\d, ]+)\]/ or next;
	my ($requests) = $rest =~ /"requests": \[([\d, ]+)\]/;
	my ($first) = $rest =~ /"first": (\d+)/;
	my ($second) = $rest =~ /"second": (\d+)/;
	my $pair = $kind eq 'deadlock' ? $requests =~ tr/,//dr : "$first $second";
	push @found, [$witness =~ tr/,//, $kind, $kind eq 'atomic' ? '' : "#! pair $pair\n", $witness];
}
if ($spread && @found > $most) {
	@found = sort { $a->[0] <=> $b->[0] } @found;
	@found = map { $found[ int($_ * (@found - 1) / ($most > 1 ? $most - 1 : 1)) ] } 0 .. $most - 1;
}
my $n = 0;
for (@found) {
	last if $n == $most;
	my (undef, $kind, $pair, $witness) = @$_;
	open my $out, '>', "$prefix." . $n++ . '.wit' or die "$prefix: $!";
	print $out "#! heddle-witness 1\n#! trace $trace -\n#! kind $kind\n$pair";
	print $out "$_\n" for split /, */, $witness;
}
