#!/usr/bin/perl
# wrong_fix.pl KIND FILE: a wrong fix of a program, made from its source, on standard output.
#
#   remove, half, other   from the right fix: no lock at all in the functions that take one; none in
#                         the first of them; another lock in the first of them
#   volatile, sleep, flag from the bug: volatile globals; a pause as each thread begins; a plain flag
#                         that is waited for and set around each thread's work
# Exit status 1 where the kind does not apply to the program.
use strict;
use warnings;

my ($kind, $file) = @ARGV;
open my $in, '<', $file or die "$file: $!";
my $text = do { local $/; <$in> };
my $before = $text;
my $lock = qr/^\s*pthread_(?:mutex_(?:un)?lock|rwlock_(?:rd|wr|un)lock)\(([^;]*)\);[^\n]*\n/m;

# The bodies of functions, by their brace in the first column.
sub each_function {
	my ($change, $most) = @_;
	my $count = 0;
	$text =~ s{^(\{\n)(.*?)^(\}\n)}{
		my ($open, $body, $close) = ($1, $2, $3);
		my $new = $body;
		if ($count < $most) { $change->($new); $count++ if $new ne $body; }
		"$open$new$close"
	}gsme;
}

if ($kind eq 'remove' || $kind eq 'half') {
	each_function(sub { $_[0] =~ s/$lock//g unless $_[0] =~ /cond_wait/ }, $kind eq 'half' ? 1 : 99);
} elsif ($kind eq 'other') {
	my $takers = 0; # one function with another lock is as right as before
	$takers++ while $text =~ /^\{\n(?:(?!^\}).)*?pthread_mutex_lock/gsm;
	exit 1 if $takers < 2;
	each_function(sub {
		$_[0] =~ s/(pthread_mutex_(?:un)?lock\()[^;]*\);/$1&another_lock);/g unless $_[0] =~ /cond_wait/;
	}, 1);
	$text =~ s/^(?=(?:static |struct |int |long |void ))/static pthread_mutex_t another_lock = PTHREAD_MUTEX_INITIALIZER;\n/m
		if $text ne $before;
} elsif ($kind eq 'volatile') {
	$text =~ s/^((?:static )?)((?:unsigned |long |int |bool |struct \w+ )+\**\w[^;(){}]*(?:=[^;]*)?;)/$1volatile $2/gm;
} elsif ($kind eq 'sleep') {
	$text =~ s/^((?:static )?void \*\w+\(void \*\w+\)\n\{\n)/$1\tusleep(1000);\n/gm;
	$text = "int usleep(unsigned);\n$text" if $text ne $before;
} elsif ($kind eq 'flag') {
	$text =~ s{^((?:static )?void \*\w+\(void \*\w+\)\n\{\n)(.*?)^(\treturn )}{$1\twhile (someone_works)\n\t\tusleep(1);\n\tsomeone_works = 1;\n$2\tsomeone_works = 0;\n$3}gsm;
	$text =~ s/^(?=(?:static |struct |int |long |void ))/static int someone_works;\n/m if $text ne $before;
	$text = "int usleep(unsigned);\n$text" if $text ne $before;
} else {
	die "KIND is remove, half, other, volatile, sleep or flag\n";
}
exit 1 if $text eq $before;
print $text;
