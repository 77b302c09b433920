#!/usr/bin/perl
# dns-clients.pl PORT CLIENTS ROUNDS: clients at once, each asking for the addresses of many
# names, one by datagram and the next by stream, some of which there are not.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $clients, $rounds) = @ARGV;

sub ask { # NAME, BY
	my ($name, $by, $id) = @_;
	my $question = pack('n6', $id, 0x100, 1, 0, 0, 0) .
	    join('', map { pack('C/a*', $_) } split(/\./, $name)) . pack('xnn', 1, 1);
	for (1 .. 5) {
		my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port", Proto => $by, Timeout => 60)
		    or next;
		print $s $by eq 'tcp' ? pack('n/a*', $question) : $question;
		$s->flush;
		vec(my $ready = '', fileno($s), 1) = 1;
		next unless select($ready, undef, undef, 20);
		sysread($s, my $answer, 2000) or next;
		substr($answer, 0, 2) = '' if $by eq 'tcp';
		my (undef, $flags, undef, $answers) = unpack 'n4', $answer;
		return ($flags & 15) . ($answers ? ' ' . join '.', unpack('C4', substr($answer, -4)) : '');
	}
	return 'none';
}
for my $c (1 .. $clients) {
	next if fork;
	my $bad = 0;
	for my $i (1 .. $rounds) {
		my $n = ($i * 7 + $c) % 110 + 1;
		my $is = ask("n$n.test", $i % 2 ? 'udp' : 'tcp', $c * 1000 + $i);
		$bad++ if $is ne ($n < 100 ? "0 10.0.0.$n" : '3');
	}
	print "$bad wrong answers\n";
	exit 0;
}
1 while wait > 0;
