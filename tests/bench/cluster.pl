#!/usr/bin/perl
# cluster.pl HEDDLE ROWS [NODES...]: speed-up by 8, 64 and 512 nodes, from measured processor times of
# the jobs. tests/bench/cluster.sh draws it.
#
# Every job is really made, one after the other, and its processor time is taken. (Runs that are forked from a
# loaded program are nobody's children in the end, so that their time is not seen: to a job of explore it is added
# by the number of its runs, as that of the same program with more work, run by itself.) A node takes the next job when it has none. An exploration
# goes in rounds, as rounds.sh of docs/cluster.md has it: it begins with one run, and each round has a task for each node, of some runs
# at most in place of a budget of time. A round ends with its last job; then one machine joins, and divides. Prints a table for
# docs/benchmarks-scale.md, with the share that joins have in the time, and writes the rows of plot.awk into the file ROWS.
use strict;
use warnings;
use File::Temp qw(tempdir);

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

# Of the exploration in $out: runs, and classes.
sub counts {
	$out =~ /^(\d+) runs?(?:, (\d+) of them different)?/ or die "cluster.pl: no exploration: $out";
	return ($1, $2 // $1);
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

# `each`: seconds of the program's own in a run; `rounds`: in how many of them a job would make its runs, if all had as many.
sub explore {
	my ($program, $each, $rounds) = @_;
	my $one = cost("$heddle explore --budget 0 --runs 1000000 -- $program");
	my ($whole, $classes) = counts();
	my %row = (name => sprintf('explore, %d runs of %.2f s', $whole, $each), one => $one + $whole * $each);
	my $before = 0;
	my $job = sub {
		my ($state, $runs) = @_;
		my $own = cost("$heddle explore --budget 0 --runs $runs --resume $state -- $program");
		return $own + $each * ((counts())[0] - $before);
	};
	for my $nodes (@nodes) {
		unlink glob 'round*';
		$before = 0;
		my $time = $job->('round0.1', 1);
		my ($round, $made, $joins) = (0, 0, 0);
		my $runs = 1 + int($classes / $nodes / $rounds);
		while (1) {
			my $next = $round + 1;
			$joins += cost("$heddle merge round$round.[1-9]* --tasks $nodes -o round$next");
			$made = $before = (counts())[0];
			last if $out !~ /schedules are left/;
			die "cluster.pl: no end after $next rounds\n" if $next > 60;
			$time += makespan($nodes, map { $job->("round$next.$_", $runs) } 1 .. $nodes);
			unlink glob "round$round.*";
			$round = $next;
		}
		die "cluster.pl: other classes\n" if (counts())[1] != $classes;
		$row{$nodes} = { time => $time + $joins, joins => $joins, rounds => $round, made => $made / $whole, runs => $runs };
		printf STDERR "%s, %d nodes: %.2f s, %d rounds of %d runs, joins %.2f s\n", $program, $nodes, $time + $joins, $round, $runs, $joins;
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
cost("$heddle cc -g -O1 -DN=6 -DWORK=0 seven.c -o six -pthread");
cost("$heddle cc -g -O1 -DN=7 -DWORK=0 seven.c -o seven -pthread");
cost("$heddle cc -g -O1 -DN=6 -DWORK=100000000 seven.c -o long -pthread");
my $each = cost('./long');
my @rows = (explore('./seven', $each, 3), explore('./six', $each, 3));
push @rows, shares('shake, 5,120 runs', 'shake --runs 5120 --strategy random', '-- ./six') if !$ENV{HEDDLE_CLUSTER_EXPLORE};
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
			(defined $n->{made} ? sprintf(' (%d rounds of %d runs a task, joins %.2f s, %.2f times the runs)', @$n{qw(rounds runs joins made)}) : '')
	} @nodes), " |\n";
}
