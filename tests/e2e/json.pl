#!/usr/bin/perl
# json.pl - answers the questions of one script's `json` (lib.sh): values of reports in JSON.
#
# Usage: json.pl FOLDER PID. A question comes through the pipe FOLDER/.ask: the working folder, a Perl
# expression on the document $d, and the document, each ended by a zero byte. The answer goes to
# FOLDER/.answer, ended by one: a string or number as it is, other values as JSON, nothing after an
# error, which is said. Ends when its parent, the script with that PID, has.
use Fcntl;

my ($folder, $owner) = @ARGV;
my ($read, $d, $count) = ('');

sub question { # waits for one
	my $pipe;
	$SIG{ALRM} = sub { exit if getppid != $owner };
	do { alarm 1 } until sysopen $pipe, "$folder/.ask", O_RDONLY;
	alarm 0;
	local $/;
	return split /\0/, <$pipe>, -1;
}
sub value {
	my ($from, $expression, $document) = @_;
	require JSON::PP; # which most scripts do not need
	if ($document ne $read) {
		$read = '';
		$d = JSON::PP->new->utf8->allow_nonref->decode($document);
		$read = $document;
	}
	chdir $from or die "$from: $!\n";
	$count++; # a package of its own: no question finds another's variables
	my $value = eval "package q$count; $expression";
	die $@ if $@;
	return ref $value ? JSON::PP->new->canonical->encode($value) : $value // 'null';
}
while (1) {
	my $value = eval { value(question()) };
	print STDERR $@ if $@;
	open my $answer, '>', "$folder/.answer" or exit;
	print $answer $value // '', "\0";
}
