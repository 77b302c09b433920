#!/usr/bin/perl
# random_program.pl SEED FILE [SPEC [results]]: writes a small random program of threads that read and
# write variables, in part under a lock, and prints how many classes of runs it has: how many
# different vectors of values its reads see over all interleavings (searched exhaustively).
#
# With SPEC, a file that is written, too, the threads also call a counter and a set, whose
# invocations are single steps: a class is then what the reads saw, what the invocations
# returned, and for each of them which that it does not commute with came before.  A look at
# the counter's memory from outside counts as one that commutes with no invocation that writes.
# With `results` a class is what the reads saw and what the invocations returned, alone (and
# nobody looks inside).
use strict;
use warnings;

my ($seed, $file, $spec, $results) = @ARGV;
srand($seed);
my @names = qw(x y);
my @threads;
my $shared_lock = rand() < 0.3; # the counter is locked by the program's own lock

sub access_op {
	my $v = $names[rand @names];
	return rand() < 0.5 ? ['read', $v] : ['write', $v, 1 + int(rand(3))];
}
sub call_op {
	my $locked = shift;
	my $kind = rand();
	return ['look'] if $kind < 0.1 && !$results;
	return [$kind < 0.35 ? 'inc' : 'get'] if $kind < 0.5 && !($locked && $shared_lock);
	return [rand() < 0.6 ? 'add' : 'contains', 1 + int(rand(2))];
}
for my $t (0 .. int(rand(2)) + 1) {
	my @ops;
	while (@ops < 4) {
		my $locked = rand() < ($spec ? 0.25 : 0.4);
		push @ops, ['lock'] if $locked;
		for (0 .. int(rand(2))) {
			push @ops, $spec && rand() < 0.6 ? call_op($locked) : access_op();
		}
		push @ops, ['unlock'] if $locked;
		push @ops, ['if'] if $spec && rand() < 0.3; # what the next does depends on the last
	}
	pop @ops while $ops[-1][0] eq 'if';
	for (reverse 0 .. $#ops - 1) { # never around a lock
		splice @ops, $_, 1 if $ops[$_][0] eq 'if' && $ops[$_ + 1][0] =~ /lock/;
	}
	push @threads, \@ops;
}
if ($results && rand() < 0.6) { # threads that are alike
	my @same = (['inc']) x (1 + int(rand(2)));
	splice @threads, int(rand(@threads + 1)), 0, ([@same]) x (2 + int(rand(2)));
}

# -- the program; volatiles, so that no compiler takes a read away
my %statement = (
	lock     => 'pthread_mutex_lock(&m);',
	unlock   => 'pthread_mutex_unlock(&m);',
	inc      => 'counter_inc(&c);',
	get      => 'r = counter_read(&c);',
	look     => '(void)c;',
	if       => 'if (r)',
);
sub statement {
	my $op = shift;
	return "r = $op->[1];" if $op->[0] eq 'read';
	return "$op->[1] = $op->[2];" if $op->[0] eq 'write';
	return "r = set_$op->[0](&s, $op->[1]);" if @$op == 2;
	return $statement{$op->[0]};
}
my $own = $shared_lock ? 'm' : 'c_lock';
open my $out, '>', $file or die "$file: $!";
print $out "#include <pthread.h>\n#include <stdlib.h>\n";
print $out "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n";
print $out "static volatile int $_;\n" for @names;
print $out <<C if $spec;
static pthread_mutex_t c_lock = PTHREAD_MUTEX_INITIALIZER, s_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int c;
struct set { struct node { int value; struct node *next; } *first; };
static struct set s;
__attribute__((noipa)) void counter_inc(volatile int *c)
{
	pthread_mutex_lock(&$own);
	(*c)++;
	pthread_mutex_unlock(&$own);
}
__attribute__((noipa)) int counter_read(volatile int *c)
{
	pthread_mutex_lock(&$own);
	int r = *c;
	pthread_mutex_unlock(&$own);
	return r;
}
static int has(struct set *s, int v)
{
	for (struct node *n = s->first; n; n = n->next)
		if (n->value == v)
			return 1;
	return 0;
}
__attribute__((noipa)) int set_contains(struct set *s, int v)
{
	pthread_mutex_lock(&s_lock);
	int r = has(s, v);
	pthread_mutex_unlock(&s_lock);
	return r;
}
__attribute__((noipa)) int set_add(struct set *s, int v)
{
	pthread_mutex_lock(&s_lock);
	int r = !has(s, v);
	if (r) {
		struct node *n = malloc(sizeof *n);
		n->value = v;
		n->next = s->first;
		s->first = n;
	}
	pthread_mutex_unlock(&s_lock);
	return r;
}
C
for my $t (0 .. $#threads) {
	print $out "static void *run$t(void *p)\n{\n\tint r = 0;\n";
	print $out "\t", statement($_), "\n" for @{$threads[$t]};
	print $out "\t(void)r;\n\treturn p;\n}\n";
}
print $out "int main(void)\n{\n\tpthread_t t[9];\n";
print $out "\tpthread_create(&t[$_], 0, run$_, 0);\n" for 0 .. $#threads;
print $out "\tpthread_join(t[$_], 0);\n" for 0 .. $#threads;
print $out "\treturn 0;\n}\n";
close $out;
if ($spec) {
	open $out, '>', $spec or die "$spec: $!";
	print $out <<'S';
object counter {
  method inc()
  method get() / r
  commute inc, inc : true
  commute inc, get : false
  commute get, get : true
  state n : int
  effect inc()     { n := n + 1 }
  effect get() / r { r == n }
  bind inc = "counter_inc(volatile int *self)"
  bind get = "counter_read(volatile int *self) -> int r"
}
object set {
  method add(v) / r
  method contains(v) / r
  commute add(v1) / r1, add(v2) / r2     : v1 != v2 || (r1 == 0 && r2 == 0)
  commute add(v1) / r1, contains(v2) / _ : v1 != v2 || r1 == 0
  commute contains, contains             : true
  state s : set
  effect add(v) / r      { r == 0 + !(v in s);  s += v }
  effect contains(v) / r { r == 0 + (v in s) }
  bind add = "set_add(struct set *self, int v) -> int r"
  bind contains = "set_contains(struct set *self, int v) -> int r"
}
S
	close $out;
}

# -- all interleavings, states that were met once left out
my (%met, %classes);

# What an invocation is to others: which object, its key, and whether it writes.
sub commute {
	my ($a, $b) = @_; # [operation, key, wrote]
	return 1 if $a->[1] ne $b->[1];
	return !$a->[2] && !$b->[2] || $a->[0] eq 'inc' && $b->[0] eq 'inc';
}

# One step of thread t; false: it has to wait.
sub step {
	my ($t, $op, $state) = @_;
	my ($name, $key) = @$op;
	my $memory = $state->{memory};
	my $locks = $name =~ /^(lock|unlock)$/ || $shared_lock && $name =~ /^(inc|get)$/;
	return 0 if $locks && $name ne 'unlock' && $state->{holder} >= 0;
	$state->{holder} = $t if $name eq 'lock';
	$state->{holder} = -1 if $name eq 'unlock';
	$memory->{$key} = $op->[2] if $name eq 'write';
	if ($name eq 'read') {
		$state->{last}[$t] = $memory->{$key};
		$state->{seen}[$t] .= "$memory->{$key} ";
	}
	return 1 if $name !~ /^(inc|get|look|add|contains)$/;
	my $mine = [$name, $key ? "set$key" : 'counter', $name eq 'inc'];
	if ($name eq 'inc') {
		$memory->{c}++;
	} elsif ($name eq 'get') {
		$state->{last}[$t] = $memory->{c};
	} elsif ($key) {
		my $there = $memory->{"set$key"} ? 1 : 0;
		$mine->[2] = $name eq 'add' && !$there;
		$state->{last}[$t] = $name eq 'add' ? 1 - $there : $there;
		$memory->{"set$key"} = 1 if $name eq 'add';
	}
	my @before = $results ? () : grep { !commute($_, $mine) } @{$state->{calls}};
	$state->{seen}[$t] .= ($name =~ /look|inc/ ? '' : $state->{last}[$t]) .
		'(' . join(',', sort map { $_->[3] } @before) . ') ';
	push @{$state->{calls}}, [@$mine, "$t." . length $state->{seen}[$t]];
	return 1;
}

sub copy {
	my $s = shift;
	return { at => [@{$s->{at}}], memory => {%{$s->{memory}}}, holder => $s->{holder},
		seen => [@{$s->{seen}}], last => [@{$s->{last}}], calls => [@{$s->{calls}}] };
}

sub search {
	my $state = shift;
	my $key = join '|', @{$state->{at}}, map({ $state->{memory}{$_} // 0 } @names),
		$state->{holder}, @{$state->{seen}}, @{$state->{last}};
	return if $met{$key}++;
	my $ended = 1;
	for my $t (0 .. $#threads) {
		my $op = $threads[$t][$state->{at}[$t]] or next;
		$ended = 0;
		my $next = copy($state);
		if ($op->[0] eq 'if') {
			$next->{at}[$t] += $state->{last}[$t] ? 1 : 2;
		} else {
			step($t, $op, $next) or next;
			$next->{at}[$t]++;
		}
		search($next);
	}
	$classes{join '|', @{$state->{seen}}} = 1 if $ended;
}
search({ at => [(0) x @threads], memory => { map { $_ => 0 } @names, 'c' }, holder => -1,
	seen => [('') x @threads], last => [(0) x @threads], calls => [] });
print scalar(keys %classes), "\n";
