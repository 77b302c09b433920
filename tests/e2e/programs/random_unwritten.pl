# A random program of two threads on two blocks of the heap, each of whose operations is a line of its own under one lock,
# and the lines at which some interleaving reads what nothing was written to.
#     perl random_unwritten.pl SEED >prog.c      the program; its last line: "//= LINE ...", found by all interleavings
use strict;
use warnings;
srand shift;

my %bytes = (a => 'char', b => 'short', c => 'int', d => 'long');
my @fields = sort keys %bytes;
sub any { $_[int rand @_] }

# name => [the line, does it read so that a finding is due, does it write, of how many fields]
my %kinds = (
	write => [sub { "$_[0]->$_[1] = 1;" }, 0, 1],
	zero => [sub { "$_[0]->$_[1] = 0;" }, 0, 1],
	read => [sub { "above += $_[0]->$_[1] > 3;" }, 1, 0],
	update => [sub { "$_[0]->$_[1]++;" }, 1, 1],
	bits => [sub { "$_[0]->$_[1] = ($_[0]->$_[1] & 0x70) | 1;" }, 0, 1],
	copy => [sub { "other->$_[1] = $_[0]->$_[1];" }, 0, 0],
	add => [sub { "__atomic_fetch_add(&$_[0]->c, 1, __ATOMIC_SEQ_CST);" }, 1, 1, 'c'],
	exchange => [sub { "__atomic_exchange_n(&$_[0]->c, 1, __ATOMIC_SEQ_CST);" }, 0, 1, 'c'],
	fill => [sub { "memset($_[0], 0, sizeof *$_[0]);" }, 0, 1, 'all'],
	all => [sub { "struct rec copy = *$_[0]; sink(&copy);" }, 0, 0],
	unseen => [sub { "unseen(&$_[0]->a);" }, 0, 1, 'a'],
);
my @names = sort keys %kinds;
my @zeroed = (0, int rand 2);
my @threads = map { [map { { kind => any(@names, qw(read read write)), block => int rand 2, field => any(@fields) } } 1 .. 2 + int rand 3] } 0, 1;
for (map { @$_ } @threads) {
	my $of = $kinds{ $_->{kind} }[3];
	$_->{field} = $of if $of && $of ne 'all';
}

my $allocate = any('malloc(sizeof *p)', 'aligned_alloc(16, 32)', 'realloc(NULL, sizeof *p)');
my @lines = ('#include <pthread.h>', '#include <stdlib.h>', '#include <string.h>',
	'struct rec { char a; short b; int c; long d; };', 'static struct rec *p, *q, *other;', 'int above;',
	'static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;',
	'static __attribute__((no_sanitize("thread"), noinline)) void unseen(char *p) { *p = 9; }',
	'static void sink(struct rec *r) { __asm__ volatile("" : : "r"(r) : "memory"); }');
for my $n (0, 1) {
	push @lines, "static void *thread$n(void *none)", '{';
	for my $op (@{ $threads[$n] }) {
		push @lines, '	pthread_mutex_lock(&m);', '	{ ' . $kinds{ $op->{kind} }[0]->(qw(p q)[$op->{block}], $op->{field}) . ' }';
		$op->{line} = @lines;
		push @lines, '	pthread_mutex_unlock(&m);';
	}
	push @lines, '	return none;', '}';
}
push @lines, 'int main(void)', '{', '	pthread_t t[2];', "	p = $allocate;",
	'	q = ' . ($zeroed[1] ? 'calloc(1, sizeof *q)' : 'malloc(sizeof *q)') . ';', '	other = calloc(1, sizeof *other);',
	'	pthread_create(&t[0], NULL, thread0, NULL);', '	pthread_create(&t[1], NULL, thread1, NULL);',
	'	pthread_join(t[0], NULL);', '	pthread_join(t[1], NULL);', '	return above > 100;', '}';

my %found;
sub step { # place of each thread, what is written
	my ($at, $written) = @_;
	for my $n (0, 1) {
		my $op = $threads[$n][$at->[$n]] or next;
		my ($kind, $place, %now) = ($kinds{ $op->{kind} }, "$op->{block}$op->{field}", %$written);
		$found{ $op->{line} } = 1 if $kind->[1] && !$now{$place} && !$zeroed[$op->{block}];
		$now{"$op->{block}$_"} = 1 for $kind->[2] ? ($kind->[3] // '') eq 'all' ? @fields : $op->{field} : ();
		step([map { $at->[$_] + ($_ == $n) } 0, 1], \%now);
	}
}
step([0, 0], {});
print map { "$_\n" } @lines, '//= ' . join ' ', sort { $a <=> $b } keys %found;
