#!/usr/bin/perl
# http-clients.pl PORT CLIENTS ROUNDS: clients at once, each asking for many pages, one
# connection a page (the server closes it).
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $clients, $rounds) = @ARGV;
for my $c (1 .. $clients) {
	next if fork;
	my ($pages, $bytes) = (0, 0);
	for my $i (1 .. $rounds) {
		my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port", Timeout => 60)
		    or die 'connect';
		print $s "GET /page$i HTTP/1.1\r\nHost: here\r\n\r\n";
		my $length = 0;
		while (defined(my $line = <$s>)) {
			$pages++ if $line =~ /^HTTP\/1.1 200/;
			$length = $1 if $line =~ /^Content-Length: (\d+)/i;
			last if $line eq "\r\n";
		}
		read($s, my $body, $length);
		$bytes += length $body;
	}
	print "$pages pages, $bytes bytes\n";
	exit 0;
}
1 while wait > 0;
