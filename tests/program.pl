#!/usr/bin/perl
# program.pl - a test program of Check's (unit, property, screen), as TAP: a line for each check.
#
# Usage: tests/program.pl PROGRAM.  What it prints goes to standard error if a check fails, or if
# SAYS=1; a program without Check's last line is one test, which passes with exit status 0.
use strict;
use warnings;

my $program = shift or die "usage: tests/program.pl PROGRAM\n";
open my $in, '-|', "$program 2>&1" or die "$program: $!\n";
my $said = join '', <$in>;
close $in;
my $status = $?;
my ($checks, $bad) = (0, 0);
while ($said =~ /^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$/mg) {
	$checks += $1;
	$bad += $2 + $3;
}
$checks ||= 1;
$bad ||= 1 if $status;
print STDERR "\n== $program\n$said" if $bad || $ENV{SAYS};
print "1..$checks\n";
print $_ > $bad ? 'ok' : 'not ok', " $_\n" for 1 .. $checks;
exit($bad ? 1 : 0);
