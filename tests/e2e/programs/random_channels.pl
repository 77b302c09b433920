# A random program whose threads read, write, poll and close a pipe (or a pair of sockets) and an eventfd, and what its
# runs can do, by all interleavings.
#     perl random_channels.pl SEED >prog.c
# In some programs no two writes are equal, and each hands over plain memory, which its reader looks at: no data race.
# The program prints what each thread's operations found.  Its last lines: "//= LINE" for each line that some run prints,
# "//= blocked" if in some run threads wait for ever, and "//= N classes": of what the operations of its runs find.
use strict;
use warnings;
srand shift;
sub any { $_[int rand @_] }

my ($lone, $hands_over, $threads, $socket, $packets, $apart, $counts_one, $counted_apart, $begins, $eventfd, @ops);
sub choose {
	$threads = 2 + (rand() < 0.4);
	$socket = rand() < 0.25;
	$packets = $socket && rand() < 0.4;
	$apart = rand() < 0.3;       # the pipe's reads do not wait
	$counts_one = rand() < 0.3;  # EFD_SEMAPHORE
	$counted_apart = rand() < 0.3;
	$begins = any(0, 0, 0, 1, 2);
	$eventfd = rand() < 0.5;
	@ops = ();
	$lone = !$socket && rand() < 0.4; # the first thread alone has the reading end
	$hands_over = rand() < 0.5;
	my $next = 'a';
	for my $t (0 .. $threads - 1) {
		my $reader = $t == 0 || rand() < 0.3;
		for (1 .. 1 + int rand($threads > 2 ? 3 : 4)) {
			my @kinds = ('flag', 'look');
			push @kinds, ($reader && !($lone && $t) ? (("read") x 4) : ()), $lone && $t ? () : "poll";
			push @kinds, $reader ? 'write' : ('write') x 6;
			push @kinds, 'add', 'add', 'count', $lone && $t ? () : 'both' if $eventfd;
			push @kinds, 'room' if rand() < 0.2;
			my $data = any('x', 'x', 'w', 'yz');
			$data = join '', map { $next++ } 1 .. length $data if $hands_over;
			push @{ $ops[$t] }, { kind => any(@kinds), bytes => any(1, 1, 2), data => $data,
				now => any(0, 1), limit => any(0, 20), size => any(1, 1, 2) };
		}
		push @{ $ops[$t] }, { kind => 'close_reader' } if $lone && !$t && rand() < 0.7;
		push @{ $ops[$t] }, { kind => 'close_writer' } if rand() < 0.5;
		splice @{ $ops[$t] }, int rand(@{ $ops[$t] } + 1), 0, { kind => 'close_reader' }
			if rand() < 0.25 && !$socket && !$lone && !grep { $_->{kind} =~ /read|poll|both/ } @{ $ops[$t] };
	}
}

# -- all interleavings
my (%printed, %classes, %seen, $blocked);
sub key {
	my $s = shift;
	return join '|', "@{ $s->{at} }", (map { "@$_" } @{ $s->{found} }), "@{ $s->{queue} }", @$s{qw(writers readers count flag)};
}
sub copy {
	my $s = shift;
	return { %$s, at => [ @{ $s->{at} } ], queue => [ @{ $s->{queue} } ], found => [ map { [@$_] } @{ $s->{found} } ] };
}
sub number { my @b = map { ord } split //, shift; return @b == 1 ? $b[0] : $b[0] * 256 + $b[1] }
# What the operation finds; undef: it waits.  Changes the state.
sub act {
	my ($s, $t, $op) = @_;
	my $kind = $op->{kind};
	my $pipe = (@{ $s->{queue} } ? 1 : $s->{writers} == 0 && $socket ? 1 : 0) + ($s->{writers} == 0 ? 16 : 0);
	my $counted = $s->{count} > 0 ? 1 : 0;
	if ($kind eq 'flag') { $s->{flag} = $t + 1; return ''; }
	if ($kind eq 'look') { return $s->{flag}; }
	if ($kind eq 'add') { $s->{count} += $op->{size}; return ''; }
	if ($kind eq 'close_writer') { $s->{writers}--; return ''; }
	if ($kind eq 'close_reader') { $s->{readers}--; return ''; }
	if ($kind eq 'write') {
		return -1 if $s->{readers} == 0;
		push @{ $s->{queue} }, $packets ? $op->{data} : split //, $op->{data};
		return length $op->{data};
	}
	if ($kind eq 'room') { return 4 + ($s->{readers} == 0 ? 8 : 0); }
	if ($kind eq 'count') {
		return $counted_apart ? -1 : undef if !$counted;
		my $n = $counts_one ? 1 : $s->{count};
		$s->{count} -= $n;
		return $n;
	}
	if ($kind eq 'read') {
		if (!@{ $s->{queue} }) {
			return $s->{writers} == 0 ? 0 : $apart ? -1 : undef;
		}
		my $data = shift @{ $s->{queue} };
		$data .= shift @{ $s->{queue} } if !$packets && $op->{bytes} == 2 && @{ $s->{queue} };
		return number(substr $data, 0, $op->{bytes});
	}
	my $ready = $pipe + ($kind eq 'both' ? $counted * 256 : 0);
	return $ready || $op->{now} ? $ready : undef;
}
sub step {
	my $s = shift;
	return if $seen{ key($s) }++;
	my $went = 0;
	for my $t (0 .. $threads - 1) {
		my $op = $ops[$t][ $s->{at}[$t] ] or next;
		my $next = copy($s);
		my $what = act($next, $t, $op);
		next if !defined $what;
		$went = 1;
		$next->{at}[$t]++;
		push @{ $next->{found}[$t] }, $what;
		step($next);
	}
	return if $went;
	$classes{ join '|', map { join ',', @$_ } @{ $s->{found} } } = 1;
	if (grep { $s->{at}[$_] < @{ $ops[$_] } } 0 .. $threads - 1) {
		$blocked = 1;
	} else {
		$printed{ join '', map { join('', map { " $_" } grep { $_ ne '' } @$_) . ';' } @{ $s->{found} } } = 1;
	}
}
sub all_runs {
	(%printed, %classes, %seen, $blocked) = ();
	step({ at => [ (0) x $threads ], found => [ map { [] } 1 .. $threads ], queue => [], writers => $threads,
		readers => $lone ? 1 : $threads, count => $begins, flag => 0 });
}

# Few programs with one class, and none with very many.
my $least = any(1, 2, 3, 4, 6, 10, 20);
do { choose(); all_runs() } until keys %classes >= $least && keys %classes < 100;

# -- the program
my $make = $socket ? 'socketpair(AF_UNIX, ' . ($packets ? 'SOCK_SEQPACKET' : 'SOCK_STREAM') . ', 0, ends)' : 'pipe(ends)';
my @lines = map { "#include <$_.h>" } qw(errno fcntl poll pthread signal stdatomic stdio string sys/eventfd sys/socket unistd);
push @lines, split /\n/, <<"END";
enum { THREADS = $threads, LONE = ${\ ($lone ? 1 : 0)}, HANDS_OVER = ${\ ($hands_over ? 1 : 0)} };
static int cargo[256];
static int ends[2], from[THREADS], to[THREADS], counter;
static atomic_int flag;
static int found[THREADS][16], length[THREADS];
static void note(long t, int what) { found[t][length[t]++] = what; }
static int receive(int fd, int most)
{
	unsigned char data[2] = { 0, 0 };
	ssize_t n = read(fd, data, most);
	for (ssize_t i = 0; HANDS_OVER && i < n; i++)
		cargo[data[i]]++;
	return n < 0 ? -1 : n == 0 ? 0 : n == 1 ? data[0] : data[0] * 256 + data[1];
}
static ssize_t send_all(int fd, const char *data, size_t length)
{
	for (size_t i = 0; HANDS_OVER && i < length; i++)
		cargo[(unsigned char)data[i]] = 1;
	return write(fd, data, length);
}
static int count(void)
{
	eventfd_t n = 0;
	return eventfd_read(counter, &n) == 0 ? (int)n : -1;
}
static int has_room(int fd, int limit)
{
	struct pollfd f = { .fd = fd, .events = POLLOUT };
	poll(&f, 1, limit);
	return f.revents;
}
static int is_ready(int fd, int limit, int both)
{
	struct pollfd f[2] = { { .fd = fd, .events = POLLIN }, { .fd = counter, .events = POLLIN } };
	poll(f, 1 + both, limit);
	return f[0].revents + f[1].revents * 256;
}
END
for my $t (0 .. $threads - 1) {
	push @lines, "static void *thread$t(void *none)", '{';
	for (@{ $ops[$t] }) {
		my $limit = $_->{now} ? $_->{limit} : -1;
		my %text = (
			flag => "flag = " . ($t + 1) . ";", look => "note($t, flag);", read => "note($t, receive(from[$t], $_->{bytes}));" ,
			write => "note($t, send_all(to[$t], \"@{[ $_->{data} // '' ]}\", @{[ length($_->{data} // '') ]}));",
			poll => "note($t, is_ready(from[$t], $limit, 0));", both => "note($t, is_ready(from[$t], $limit, 1));",
			room => "note($t, has_room(to[$t], $limit));",
			add => "eventfd_write(counter, @{[ $_->{size} // 0 ]});", count => "note($t, count());",
			close_writer => $socket ? "shutdown(to[$t], SHUT_WR);" : "close(to[$t]);", close_reader => "close(from[$t]);",
		) if $_->{kind} !~ /^close/;
		%text = (close_writer => "close(to[$t]);", close_reader => "close(from[$t]);") if $_->{kind} =~ /^close/;
		push @lines, "\t$text{ $_->{kind} }";
	}
	push @lines, '	return none;', '}';
}
my ($flags, $efd) = ($apart ? 'fcntl(ends[0], F_SETFL, O_NONBLOCK);' : ';',
	join ' | ', 0, ('EFD_SEMAPHORE') x $counts_one, ('EFD_NONBLOCK') x $counted_apart);
push @lines, split /\n/, <<"END";
int main(void)
{
	void *(*functions[])(void *) = { ${\ join ', ', map { "thread$_" } 0 .. $threads - 1} };
	pthread_t t[THREADS];
	signal(SIGPIPE, SIG_IGN);
	$make;
	$flags
	counter = eventfd($begins, $efd);
	for (int i = 0; i < THREADS; i++) {
		from[i] = dup(ends[0]);
		to[i] = dup(ends[1]);
	}
	for (int i = 1; LONE && i < THREADS; i++)
		close(from[i]);
	close(ends[0]);
	close(ends[1]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, functions[i], NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++, printf(";"))
		for (int k = 0; k < length[i]; k++)
			printf(" %d", found[i][k]);
	printf("\\n");
	return 0;
}
END

print map { "$_\n" } @lines, (map { "//= $_" } sort keys %printed), $blocked ? '//= blocked' : (), '//= ' . keys(%classes) . ' classes';
