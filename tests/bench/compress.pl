#!/usr/bin/perl
# compress.pl [OPTIONS...] -- PROGRAM ARGS: records the program (HEDDLE, default ./heddle), with
# these options of `heddle record`, and says how long it ran and how much of its log was on the
# disk when it ended, before the trace was made of it, and at most until then.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use Time::HiRes qw(time sleep);

my $heddle = abs_path($ENV{HEDDLE} // 'heddle');
my $folder = tempdir(CLEANUP => 1);
my $trace = "$folder/t.hdl";
my ($start, $parent, $child) = (time, fork);
die 'fork' unless defined $parent;
if (!$parent) {
	open STDOUT, '>', '/dev/null';
	exec $heddle, 'record', '-q', '-o', $trace, @ARGV or die $heddle;
}
sub words { # FILE
	open my $f, '<', $_[0] or return;
	return split ' ', <$f> // '';
}
until ($child) {
	($child) = map { words($_) } glob "/proc/$parent/task/*/children";
	die "nothing to record" if waitpid($parent, 1) == $parent;
}
my ($long, $blocks, $most) = (0, 0, 0);
sub look { # at the log: how long it is, and what it takes
	my ($log) = glob "$trace.log-*" or return;
	($long, $blocks) = (stat $log)[7, 12] or return;
	$most = $blocks if $blocks > $most;
}
while ((my $stat = join ' ', words("/proc/$child/stat")) !~ /\) Z /) {
	last if $stat eq '';
	look();
	sleep 0.004;
}
my $end = time;
look();
waitpid $parent, 0;
printf "%.2f s; on the disk at the end %.1f MB, at most %.1f (%.1f MB with its holes)\n",
    $end - $start, $blocks / 2048, $most / 2048, $long / 2**20;
