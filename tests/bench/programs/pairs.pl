#!/usr/bin/perl
# pairs.pl tsan|helgrind|heddle FILE: the pairs of source lines of a report's data races, one
# a line, "a.c:1 b.c:2" in the order of names (heddle's with the verdict behind), each once.
# Files are named by their last component, on both sides alike.  A frame without source, or within the sanitizer, stands for its caller; a side of
# unknown stack is "?".
use strict;
use warnings;
use JSON::PP;

my ($kind, $file) = @ARGV;
open my $in, '<', $file or die "$file: $!";
my %pairs;

sub base { return $_[0] =~ s{.*/}{}r }
sub add {
	my ($sides, $verdict) = @_;
	my @places = map { base($_ // "?") } @$sides[0, 1];
	my $pair = join ' ', sort @places;
	$pairs{$pair} = $verdict // '' if ($pairs{$pair} // '') !~ /race|happened/;
}
# A report's lines: `begin` starts one, `side` a stack in it, `frame` gives its place.
sub blocks {
	my ($begin, $side, $other, $frame) = @_;
	my ($sides, $open);
	while (<$in>) {
		if (/$begin/) {
			add($sides) if $sides;
			($sides, $open) = ([], 0);
			next if $kind eq 'tsan';
		}
		next unless $sides;
		if (/$side/) {
			push @$sides, undef;
			$open = 1;
		} elsif (/$other/) {
			$open = 0;
		} elsif ($open && /$frame/ && !/libsanitizer|vg_replace|hg_intercepts/) {
			$sides->[-1] = base($1);
			$open = 0;
		}
	}
	add($sides) if $sides;
}
if ($kind eq 'tsan') {
	blocks(qr/^WARNING: ThreadSanitizer: (data race|heap-use-after-free)/,
		qr/^  (Previous |\[failed|Atomic |Read |Write |Previous atomic)/i,
		qr/^  (Location|Mutex|Thread|As if|Hint)|^SUMMARY|^WARNING/,
		qr/^    #\d+ .*?(\S+:\d+)(?::\d+)? \(/);
} elsif ($kind eq 'helgrind') {
	blocks(qr/Possible data race during/, qr/Possible data race|conflicts with a previous/,
		qr/^(==\d+== *|)(Thread #|Address|Lock at|---)|^(==\d+== |)$/, qr/\(([^()\s]+:\d+)\)/);
} else {
	my $text = '';
	while (<$in>) { # a finding a line; a witness may have a million events
		s/, "witness": \[[^\]]*\]//;
		$text .= $_;
	}
	my $d = JSON::PP->new->decode($text);
	add($_->{locations}, $_->{verdict}) for @{ $d->{findings} };
}
print map { $pairs{$_} eq '' ? "$_\n" : "$_ $pairs{$_}\n" } sort keys %pairs;
