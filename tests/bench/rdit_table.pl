#!/usr/bin/perl
# rdit_table.pl - RDIT's table 5.3 on traces at hand: takes the synchronisation out of each, with the
# functions that contain it, and counts what each analysis reports of the rest.  No part of
# `make check`.
#
#   tests/bench/rdit_table.pl TRACE...
#   HEDDLE (default: ./heddle), LIMIT seconds for each analysis (default: 120)
#
# As in the thesis: the truth is what maximal causality (`auto`) finds in the whole trace, by pairs of
# places.  Of a recording, a call of a function that does synchronisation itself (but of main and
# of what a thread begins with) is taken out with all that is done inside, and stands as
# miss(function, what was touched in it), back(function).  Where an operation is in no such call, and in
# traces without calls, the operation is that call: miss(acq, the lock), back(acq).  Forks are
# left: the program cannot start threads elsewhere.
# Columns: true races of the whole trace; of these, how many have both places still in the
# trace; then for HB, CP and maximal causality (MC, `auto`) on the rest, and RDIT (`auto
# --missing`): pairs reported, and how many of them are false.
use strict;
use warnings;
use File::Temp 'tempdir';

my $heddle = $ENV{HEDDLE} || './heddle';
my $limit = $ENV{LIMIT} || 120;
my $folder = tempdir(CLEANUP => 1);
# What has an object whose name a call's arguments may be.
my $synchronises = qr/^(acq|rel|racq|rrel|tryfail|taketryfail|wait|wake|signal|broadcast|arrive|depart|post|take|join|destroy)$/;

sub operation { # of a line of a text trace: thread, operation, what it is of, rest of the line
	my ($thread, $what, $place) = split /\|/, shift, 3;
	my ($op, $of) = $what =~ /^(\w+)\((.*?)\)(?:=.*)?$/;
	return ($thread, $op // $what // '', $of // '', $place // '');
}

# The calls of a trace that are to be taken out: line number of the enter => of the leave.
sub calls_with_synchronisation {
	my ($lines) = @_;
	my (%stack, %direct, %call);
	for my $i (0 .. $#$lines) {
		next if $lines->[$i] =~ /^#/;
		my ($thread, $op) = operation($lines->[$i]);
		my $stack = $stack{$thread} //= [];
		if ($op eq 'enter') {
			push @$stack, $i;
		} elsif ($op eq 'leave') {
			my $enter = pop @$stack;
			$call{$enter} = $i if defined $enter && $direct{$enter};
		} elsif ($op =~ $synchronises && @$stack > 1) {
			$direct{$stack->[-1]} = 1;
		}
	}
	return \%call;
}

# Writes FILE with the synchronisation of the lines taken out.  Each thread gets an end, which is what
# a join that is taken out reaches.
sub take_out {
	my ($lines, $file) = @_;
	my $call = calls_with_synchronisation($lines);
	my (%until, %inside, %last, @out);
	$last{(operation($lines->[$_]))[0]} = $_ for grep { $lines->[$_] !~ /^#/ } 0 .. $#$lines;
	for my $i (0 .. $#$lines) {
		my $line = $lines->[$i];
		if ($line =~ /^#/) {
			push @out, $line;
			next;
		}
		my ($thread, $op, $of, $place) = operation($line);
		next if $op eq 'end';
		my $ends = $i == $last{$thread} ? "$thread|end()|\n" : '';
		if (defined $until{$thread}) {
			my $open = $inside{$thread};
			if ($op eq 'fork') {
				push @out, $line;
			} elsif ($op !~ /^(enter|leave|fence)$/) {
				$open->{reached}{$of} = 1 if $of ne '';
			}
			next if $i != $until{$thread};
			my $reached = join ',', $open->{function}, sort keys %{$open->{reached}};
			$out[$open->{at}] = "$thread|miss($reached)|$open->{place}\n";
			push @out, "$thread|back($open->{function})|$open->{place}\n", $ends;
			delete $until{$thread};
		} elsif ($op eq 'enter' && defined $call->{$i}) {
			$until{$thread} = $call->{$i};
			chomp $place;
			my ($function) = $of =~ /^([^,]*)/;
			push @out, '';
			$inside{$thread} = { function => $function, place => $place, at => $#out };
		} elsif ($op =~ $synchronises) {
			chomp $place;
			push @out, "$thread|miss($op,$of)|$place\n", "$thread|back($op)|$place\n", $ends;
		} else {
			push @out, $line, $ends;
		}
	}
	open my $to, '>', $file or die "$file: $!\n";
	print $to @out;
	close $to;
}

# Pairs of places that an analysis reports; undef: not within the limit.
sub pairs {
	my ($file, @how) = @_;
	my %pairs;
	open my $from, '-|', 'timeout', $limit, $heddle, 'races', '-q', '--format', 'json', @how, $file
		or die "$heddle: $!\n";
	while (my $line = <$from>) {
		next unless $line =~ /"verdict": "(race|candidate)".*"locations": \["(.*?)", "(.*?)"\]/;
		$pairs{join ' ', sort $2, $3} = 1;
	}
	close $from;
	return $? >> 8 == 124 || $? >> 8 == 2 ? undef : \%pairs;
}

my @analyses = (['--analysis', 'hb'], ['--analysis', 'cp'], [], ['--missing']);
my @sum = (0) x 10;
print "| trace | true races | places left | HB | false | CP | false | MC | false | RDIT | false |\n";
print '| --- ', '| ---: ' x 10, "|\n";
for my $trace (@ARGV) {
	my ($name) = $trace =~ m{([^/]*?)(?:\.\w+)?$};
	system($heddle, 'convert', '-q', '--to', 'text', $trace, "$folder/whole.txt") == 0 or next;
	open my $from, '<', "$folder/whole.txt" or die;
	my @lines = <$from>;
	close $from;
	take_out(\@lines, "$folder/less.txt");
	open $from, '<', "$folder/less.txt" or die;
	my %place = map { /\|a?[rw]\d*\(.*\|(.*)$/ ? ($1 => 1) : () } <$from>;
	close $from;
	my $true = pairs("$folder/whole.txt") or next;
	my $left = grep { my ($a, $b) = split / /; $place{$a} && $place{$b} } keys %$true;
	my @row = (scalar keys %$true, $left);
	for my $analysis (@analyses) {
		my $found = pairs("$folder/less.txt", @$analysis);
		push @row, $found ? (scalar keys %$found, scalar grep { !$true->{$_} } keys %$found) : ('-', '-');
	}
	print "| $name | ", join(' | ', @row), " |\n";
	$sum[$_] += $row[$_] eq '-' ? 0 : $row[$_] for 0 .. 9;
}
print '| all | ', join(' | ', @sum), " |\n";
