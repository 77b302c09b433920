#!/usr/bin/perl
# redis-clients.pl PORT CLIENTS ROUNDS: clients at once with pipelines long enough that the
# server's I/O threads take part; prints what the shared counter and list are at the end.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $clients, $rounds) = @ARGV;

sub client {
	return IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port", Timeout => 60) || die 'connect';
}
sub command { return '*' . @_ . "\r\n" . join '', map { '$' . length($_) . "\r\n$_\r\n" } @_ }
my @wait;
for my $c (1 .. $clients) {
	next if fork;
	my $s = client();
	my $bad = 0;
	for my $i (1 .. $rounds) {
		print $s command('SET', "key$c", "value$i" x 50), command('INCR', 'shared'),
		    command('RPUSH', 'list', $c), command('GET', "key$c");
		$bad++ if <$s> ne "+OK\r\n" || <$s> !~ /^:/ || <$s> !~ /^:/;
		<$s>;
		$bad++ if <$s> ne "value$i" x 50 . "\r\n";
	}
	print "$bad wrong answers\n";
	exit 0;
}
1 while wait > 0;
my $s = client();
print $s command('GET', 'shared'), command('LLEN', 'list');
my @lines = map { scalar <$s> } 1 .. 3;
print "shared: $lines[1]list: $lines[2]";
