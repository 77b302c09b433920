#!/usr/bin/perl
# witnesses.pl TRACE PREFIX MOST [spread] <JSON: a witness file PREFIX.N.wit for every finding of
# a report that has a witness, MOST at most: the first ones, or spread over their lengths.
use strict;
use warnings;
use JSON::PP;

my ($trace, $prefix, $most, $spread) = @ARGV;
my %kinds = ('data-race' => 'race', deadlock => 'deadlock', 'atomic-set-violation' => 'atomic');
my $report = JSON::PP->new->decode(do { local $/; <STDIN> });
my @found = grep { ref $_->{witness} && @{ $_->{witness} } } @{ $report->{findings} };
if ($spread && @found > $most) {
	@found = sort { @{ $a->{witness} } <=> @{ $b->{witness} } } @found;
	@found = map { $found[ int($_ * (@found - 1) / ($most > 1 ? $most - 1 : 1)) ] } 0 .. $most - 1;
}
my $n = 0;
for my $f (@found) {
	last if $n == $most;
	my $kind = $kinds{ $f->{kind} } // 'cov';
	open my $out, '>', "$prefix." . $n++ . '.wit' or die "$prefix: $!";
	print $out "#! heddle-witness 1\n#! trace $trace -\n#! kind $kind\n";
	print $out "#! pair $f->{first} $f->{second}\n" if $kind =~ /race|cov/;
	print $out "#! pair @{ $f->{requests} }\n" if $kind eq 'deadlock';
	print $out "$_\n" for @{ $f->{witness} };
}
