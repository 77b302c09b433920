# A random program in which a thread lends local variables of its functions to another one, each of whose operations is a
# line of its own, and the lines at which some interleaving reads one after its function may have returned.
#     perl random_locals.pl SEED >prog.c      the program; its last line: "//= LINE ...", found by all interleavings
# The owner is main or a thread; its functions may call another one that lends for them.  The other thread never waits
# for the owner, but for a lock.
use strict;
use warnings;
srand shift;
sub any { $_[int rand @_] }

# An operation: kind, and of which call of a function (0, 1, ...; undef outside).
my @owner;
for my $call (0 .. int rand 3) {
	my @ops = ({ kind => 'lend' });
	push @ops, { kind => any(qw(clear wait store look clear wait)) } for 1 .. int rand 4;
	if (rand() < 0.4) { # under the lock, from some operation on
		my $from = int rand @ops;
		splice @ops, $from, 0, { kind => 'lock' };
		push @ops, { kind => 'unlock' };
	}
	$_->{call} = $call for @ops;
	push @owner, @ops;
	push @owner, { kind => any(qw(store look clear)) } if rand() < 0.4;
}
my $inner = rand() < 0.3;
my @user;
for (0 .. int rand 2) {
	my @ops = ({ kind => 'take' }, ({ kind => any(qw(glance post)) }) x (rand() < 0.3), { kind => 'use' });
	@ops = ({ kind => 'lock' }, @ops, { kind => 'unlock' }) if rand() < 0.4;
	push @user, @ops, ({ kind => 'post' }) x (rand() < 0.6), ({ kind => 'use' }) x (rand() < 0.3);
}
my $waits = grep { $_->{kind} eq 'wait' } @owner;
push @user, { kind => 'post' } while $waits > grep { $_->{kind} eq 'post' } @user;
# A wait under the lock that the posting thread wants would never end.
my $locked = 0;
for (@owner) {
	$locked += ($_->{kind} eq 'lock') - ($_->{kind} eq 'unlock');
	$_->{kind} = 'store' if $locked && $_->{kind} eq 'wait';
}

my %text = (
	lend => 'shown = &x;', clear => 'shown = 0;', wait => 'sem_wait(&done);', store => 'flag = 1;', look => 'got += flag;',
	lock => 'pthread_mutex_lock(&m);', unlock => 'pthread_mutex_unlock(&m);', take => 'p = shown;',
	use => 'if (p) (void)atomic_load(p);', glance => 'got2 += flag;', post => 'sem_post(&done);',
);
my @lines = ('#include <pthread.h>', '#include <semaphore.h>', 'static _Atomic(_Atomic int *) shown;', 'static atomic_int flag;',
	'static sem_t done;', 'static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;', 'int got, got2;');
splice @lines, 2, 0, '#include <stdatomic.h>';
push @lines, 'static void __attribute__((noinline)) lend(_Atomic int *at) { shown = at; }' if $inner;
my %calls;
push @{ $calls{ $_->{call} } }, $_ for grep { defined $_->{call} } @owner;
for my $call (sort keys %calls) {
	push @lines, "static void __attribute__((noinline)) call$call(void)", '{', '	_Atomic int x = 0;';
	push @lines, '	' . ($inner && $_->{kind} eq 'lend' ? 'lend(&x);' : $text{ $_->{kind} }) for @{ $calls{$call} };
	push @lines, '}';
}
push @lines, 'static void *owner(void *none)', '{';
my %called;
for (@owner) {
	push @lines, '	' . (defined $_->{call} ? $called{ $_->{call} }++ ? next : "call$_->{call}();" : $text{ $_->{kind} });
}
push @lines, '	return none;', '}', 'static void *user(void *none)', '{', '	_Atomic int *p = 0;';
for (@user) {
	push @lines, "	$text{ $_->{kind} }";
	$_->{line} = @lines;
}
push @lines, '	return none;', '}', 'int main(void)', '{', '	pthread_t t[2];', '	sem_init(&done, 0, 0);',
	'	pthread_create(&t[1], NULL, user, NULL);';
push @lines, rand() < 0.5 ? '	owner(NULL);' : ('	pthread_create(&t[0], NULL, owner, NULL);', '	pthread_join(t[0], NULL);');
push @lines, '	pthread_join(t[1], NULL);', '	return got > 100;', '}';

my %last; # by call: the place of its last operation
$last{ $owner[$_]{call} } = $_ for grep { defined $owner[$_]{call} } 0 .. $#owner;
my (%found, %seen);
sub step {
	my ($a, $b, $shown, $p, $posted, $holder) = @_; # `shown`, `p`: a call, or -1
	return if $seen{"@_"}++;
	if (my $op = $owner[$a]) {
		my $kind = $op->{kind};
		my @next = ($a + 1, $b, $kind eq 'lend' ? $op->{call} : $kind eq 'clear' ? -1 : $shown, $p, $posted - ($kind eq 'wait'),
			$kind eq 'lock' ? 1 : $kind eq 'unlock' ? 0 : $holder);
		step(@next) unless $kind eq 'wait' && !$posted || $kind eq 'lock' && $holder;
	}
	if (my $op = $user[$b]) {
		my $kind = $op->{kind};
		$found{ $op->{line} } = 1 if $kind eq 'use' && $p >= 0 && $a > $last{$p};
		my @next = ($a, $b + 1, $shown, $kind eq 'take' ? $shown : $p, $posted + ($kind eq 'post'),
			$kind eq 'lock' ? 2 : $kind eq 'unlock' ? 0 : $holder);
		step(@next) unless $kind eq 'lock' && $holder;
	}
}
step(0, 0, -1, -1, 0, 0);
print map { "$_\n" } @lines, '//= ' . join ' ', sort { $a <=> $b } keys %found;
