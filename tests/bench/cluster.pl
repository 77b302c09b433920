#!/usr/bin/perl
# cluster.pl HEDDLE ROWS [NODES...]: speed-up by 8, 64 and 512 nodes, from measured processor times of
# the jobs. tests/bench/cluster.sh draws it.
#
# Every job is really made, one after the other, and its processor time is taken with that of
# the programs which it runs. A node takes the next job when it has none. A round ends with its last job;
# then one machine joins, and divides. Prints a table for docs/benchmarks.md, and writes the rows of plot.awk into the file ROWS.
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;

my ($heddle, $rows_file, @nodes) = @ARGV;
@nodes = (8, 64, 512) unless @nodes;
my $root = `pwd`;
chomp $root;
$_ = m{^/} ? $_ : "$root/$_" for $heddle, $rows_file;
chdir tempdir(CLEANUP => 1) or die;

# The processor seconds of a command and of all that it started; its output is in $out.
my $out = '';
sub cost {
	my @before = times;
	$out = qx(@_ 2>/dev/null </dev/null);
	my $status = $? >> 8;
	die "cluster.pl: status $status: @_\n" if $? & 127 || $status == 2 || $status > 3;
	my @after = times;
	return $after[2] + $after[3] - $before[2] - $before[3];
}

# The time after which `nodes` have done all jobs.
sub makespan {
	my ($nodes, @jobs) = @_;
	my @free = (0) x $nodes;
	for my $job (@jobs) {
		@free = sort { $a <=> $b } @free if @jobs > $nodes;
		push @free, $job + shift @free;
	}
	return (sort { $b <=> $a } @free)[0];
}

sub explore {
	my ($program, $runs) = @_;
	my $one = cost("$heddle explore --budget 0 --runs 1000000 --format json -- $program");
	my $whole = decode_json($out);
	my %row = (name => "explore, $whole->{states} classes", one => $one);
	for my $nodes (@nodes) {
		unlink glob 'round*';
		my $time = cost("$heddle explore --budget 0 --runs " . 2 * $nodes . " --resume round0.1 -- $program");
		my ($round, $rounds, $made) = (0, 0, 0);
		while (1) {
			my $next = $round + 1;
			$time += cost("$heddle merge round$round.* --tasks $nodes -o round$next --format json");
			my $all = decode_json($out);
			$made = $all->{executions};
			last if !grep { /schedules are left/ } @{$all->{gaps}};
			die "cluster.pl: no end after $next rounds\n" if $next > 60;
			$time += makespan($nodes, map { cost("$heddle explore --budget 0 --runs $runs --resume round$next.$_ -- $program") } 1 .. $nodes);
			unlink glob "round$round.*";
			$round = $next;
		}
		die "cluster.pl: other classes\n" if decode_json($out)->{states} != $whole->{states};
		$row{$nodes} = { time => $time, rounds => $round, made => $made / $whole->{executions} };
	}
	return \%row;
}

# Shares: one for each node.
sub shares {
	my ($name, $command, $program) = @_;
	my %row = (name => $name, one => cost("$heddle $command --format json $program"));
	for my $nodes (@nodes) {
		my @jobs = map { cost("$heddle $command --shard $_/$nodes --format json $program >share.$_; [ \$? -le 3 ]") } 1 .. $nodes;
		my $join = cost("$heddle merge share.* --format json");
		$row{$nodes} = { time => makespan($nodes, @jobs) + $join };
		unlink glob 'share.*';
	}
	return \%row;
}

open my $c, '>', 'seven.c' or die;
print $c <<'C';
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int c;
static void *inc(void *p)
{
	for (int i = 0; i < WORK; i++)
		__asm__ volatile("");
	pthread_mutex_lock(&m);
	int was = c++;
	pthread_mutex_unlock(&m);
	return (void)was, p;
}
int main(void)
{
	pthread_t t[N];
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], 0, inc, t);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
close $c;
my $threads = $ENV{HEDDLE_CLUSTER_THREADS} || 7;
cost("$heddle cc -g -O1 -DN=$threads -DWORK=1000000 seven.c -o seven -pthread");
my @rows = (shares('shake, 5,120 runs', 'shake --runs 5120 --strategy random', '-- ./seven'),
	explore('./seven', 200), shares('races, ftpserver.std', "races $root/tests/traces/ftpserver.std --analysis m2 --pairs events", ''));
open my $file, '>', $rows_file or die "$rows_file: $!\n";
for my $nodes (@nodes) {
	print $file join(' ', $nodes, $nodes, map { $_->{one} / $_->{$nodes}{time} } @rows), "\n";
}
close $file;
print "| job | one processor | ", join(' | ', map { "$_ nodes" } @nodes), " |\n| --- |", ' --- |' x (@nodes + 1), "\n";
for my $row (@rows) {
	print "| $row->{name} | ", sprintf('%.1f s', $row->{one}), ' | ', join(' | ', map {
		my $n = $row->{$_};
		sprintf('%.2f s, %.0f times', $n->{time}, $row->{one} / $n->{time}) .
			(defined $n->{made} ? sprintf(' (%d round%s, %.2f times the runs)', $n->{rounds}, $n->{rounds} == 1 ? '' : 's', $n->{made}) : '')
	} @nodes), " |\n";
}
