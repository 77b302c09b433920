#!/usr/bin/perl
# proxy-clients.pl PORT ORIGIN CLIENTS ROUNDS: clients at once, each asking the proxy at PORT
# for many pages of the server that this is as well, at ORIGIN.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $origin, $clients, $rounds) = @ARGV;
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $origin, Listen => 50,
	ReuseAddr => 1) or die 'listen';
my $serving = fork // die 'fork';
if (!$serving) {
	while (my $s = $server->accept) {
		my ($page) = (<$s> // '') =~ m{page(\d+)};
		while (defined(my $line = <$s>)) { last if $line eq "\r\n" }
		my $body = ($page // 'none') x 500;
		print $s "HTTP/1.0 200 OK\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
	}
	exit 0;
}
close $server;
my @children;
for my $c (1 .. $clients) {
	if (my $pid = fork) { push @children, $pid; next }
	my $bad = 0;
	for my $i (1 .. $rounds) {
		my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port", Timeout => 60) or die 'connect';
		print $s "GET http://127.0.0.1:$origin/page$c$i HTTP/1.0\r\n\r\n";
		local $/;
		$bad++ if (<$s> // '') !~ /\r\n\r\n(?:$c$i){500}$/;
	}
	print "$bad wrong answers\n";
	exit 0;
}
waitpid $_, 0 for @children;
kill 'TERM', $serving;
