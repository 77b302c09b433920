#!/usr/bin/perl
# memcached-clients.pl PORT CLIENTS ROUNDS: clients at once, each in a process of its own; every
# client sees what it must of its own keys, and the counter that all share adds up.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $clients, $rounds) = @ARGV;

sub client {
	my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port", Timeout => 60) or die "connect";
	my $ask = sub {
		print $s @_;
		my $answer = <$s> // 'closed';
		return $answer =~ s/\r\n//r;
	};
	return ($s, $ask);
}
my ($main, $ask) = client();
$ask->("set shared 0 0 1\r\n0\r\n") eq 'STORED' or die 'set';
for my $c (1 .. $clients) {
	next if fork;
	my ($s, $ask) = client();
	my $bad = 0;
	for my $i (1 .. $rounds) {
		my $value = "$c.$i" x 20;
		my $key = "key$c." . $i % 7;
		$bad++ if $ask->("set $key 0 0 " . length($value) . "\r\n$value\r\n") ne 'STORED';
		$bad++ if $ask->("incr shared 1\r\n") !~ /^\d+$/;
		$bad++ if $ask->("get $key\r\n") !~ /^VALUE/;
		$bad++ if <$s> ne "$value\r\n" || <$s> ne "END\r\n";
		$ask->("delete key" . ($c % $clients + 1) . ".9\r\n");
		$bad++ if $ask->("set all 0 0 3\r\nabc\r\n") ne 'STORED';
	}
	print "$bad wrong answers\n";
	exit 0;
}
1 while wait > 0;
print $main "get shared\r\n";
my @lines = map { scalar <$main> } 1 .. 3;
print "shared: $lines[1]";
