#!/usr/bin/perl
# browser.pl - a page in a real browser, without a screen: keys, texts, colours, pictures.
#
#   browser.pl BROWSER PAGE <STEPS
#
# BROWSER is chromium or what speaks its protocol (--remote-debugging-pipe: messages in JSON on
# descriptors 3 and 4, each ended by a null byte). Each line of STEPS is one step; those that ask
# print one line of JSON:
#
#   key KEY              press and release it (j, G, Tab, Enter)
#   click SELECTOR       the middle of the first element that matches
#   go FRAGMENT          follow a link to #FRAGMENT
#   size WIDTH HEIGHT    of the window
#   media TYPE COLOURS   as on: screen or print; light or dark
#   ask EXPRESSION       the value of a JavaScript expression
#   walk                 the open walk from its first step to its last by the key j, and back by k: a
#                        list with one object for each step as it is shown
#   picture FILE         a PNG of the window
#   paper FILE           a PDF, as printed
#   troubles             what the page tried to load, what its policy refused, and its errors
use strict;
use warnings;
use Cwd qw(abs_path);
use IO::Handle;
use JSON::PP;
use MIME::Base64;
use POSIX ();
use File::Temp qw(tempdir);

my ($browser, $page) = @ARGV;
defined $page or die "usage: browser.pl BROWSER PAGE <STEPS\n";
-f $page or die "browser.pl: $page: no such page\n";
$page = abs_path($page);
my $json = JSON::PP->new->utf8->allow_nonref->canonical;
my $profile = tempdir("heddle-browser-XXXXXX", TMPDIR => 1, CLEANUP => 1);

# -- the protocol ----------------------------------------------------------------------------

my ($to, $from, $child);
my ($number, $session, @events) = (0);

sub start {
	pipe(my $read, $to) or die "pipe: $!";
	pipe($from, my $write) or die "pipe: $!";
	$child = fork // die "fork: $!";
	if ($child == 0) {
		# away from 3 and 4 first, which are where these ends may be
		my $in = POSIX::fcntl($read, POSIX::F_DUPFD(), 10);
		my $out = POSIX::fcntl($write, POSIX::F_DUPFD(), 10);
		POSIX::dup2($in, 3);
		POSIX::dup2($out, 4);
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', '/dev/null';
		open STDERR, '>', '/dev/null';
		$^F = 4;
		no warnings 'exec'; # _exit after it is reached when there is no such program
		exec { $browser } $browser, qw(--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars
			--no-first-run --disable-background-networking --disable-component-update --remote-debugging-pipe),
			"--user-data-dir=$profile", 'about:blank';
		POSIX::_exit(127);
	}
	close $read;
	close $write;
	$to->autoflush(1);
}

sub receive {
	local $/ = "\0";
	my $text = <$from>;
	defined $text or die "browser.pl: $browser ended\n";
	chomp $text;
	return $json->decode($text);
}

# Requests are answered in turn; events that come meanwhile are kept.
sub request {
	my ($method, %of) = @_;
	my $own = ++$number;
	my $message = { id => $own, method => $method, params => \%of };
	$message->{sessionId} = $session if defined $session;
	print $to $json->encode($message), "\0";
	while (1) {
		my $m = receive();
		if (($m->{id} // 0) != $own) {
			push @events, $m if $m->{method};
			next;
		}
		die "browser.pl: $method: $m->{error}{message}\n" if $m->{error};
		return $m->{result};
	}
}

sub await {
	my $method = shift;
	while (!grep { $_->{method} eq $method } @events) {
		my $m = receive();
		push @events, $m if $m->{method};
	}
}

sub evaluate {
	my $r = request('Runtime.evaluate', expression => shift, returnByValue => JSON::PP::true);
	die "browser.pl: $r->{exceptionDetails}{exception}{description}\n" if $r->{exceptionDetails};
	return $r->{result}{value};
}

# -- steps -----------------------------------------------------------------------------------

sub key {
	my $key = shift;
	my %of = (key => $key, length $key == 1 ? (text => $key) : ());
	request('Input.dispatchKeyEvent', type => 'keyDown', %of);
	request('Input.dispatchKeyEvent', type => 'keyUp', key => $key);
}

my $shown = <<'JS';
(function () {
  var at = document.querySelector('tr.step.now'), w = at.closest('.walk'), all = Array.from(w.querySelectorAll('tr.step'));
  var said = { step: all.indexOf(at) + 1, of: all.length, event: Number(at.dataset.event),
    row: at.querySelector('td.event').textContent,
    thread: w.querySelector('tr').children[at.querySelector('td.event').cellIndex].textContent,
    recorded: Array.from(w.querySelectorAll('tr.was.now')).map(function (r) { return Number(r.dataset.event); }),
    others: document.querySelectorAll('tr.step.now').length - 1 };
  w.querySelectorAll('.state div').forEach(function (d) { said[d.className] = d.textContent; });
  return said;
})()
JS

sub walk {
	my (@there, @back);
	key('g');
	while (1) {
		my $s = evaluate($shown);
		last if @there && $there[-1]{step} == $s->{step};
		push @there, $s;
		die "browser.pl: the walk does not end\n" if @there > 10000;
		key('j');
	}
	unshift @back, evaluate($shown);
	for (2 .. @there) {
		key('k');
		unshift @back, evaluate($shown);
	}
	for my $i (0 .. $#there) {
		$json->encode($there[$i]) eq $json->encode($back[$i])
			or die "browser.pl: step " . ($i + 1) . " is not the same on the way back\n";
	}
	return \@there;
}

sub click {
	my $selector = $json->encode(shift);
	my $r = evaluate("(function () { var e = document.querySelector($selector); e.scrollIntoView({ block: 'center' });"
			. "var r = e.getBoundingClientRect(); return { x: r.x + r.width / 2, y: r.y + r.height / 2 }; })()");
	my %of = (x => $r->{x}, y => $r->{y}, button => 'left', clickCount => 1);
	request('Input.dispatchMouseEvent', type => 'mousePressed', %of);
	request('Input.dispatchMouseEvent', type => 'mouseReleased', %of);
}

sub save {
	my ($file, $base64) = @_;
	open my $out, '>:raw', $file or die "browser.pl: $file: $!\n";
	print $out decode_base64($base64);
	close $out or die "browser.pl: $file: $!\n";
}

# Every file but the page that was asked for, and all that a console or the policy said.
sub troubles {
	my @all;
	for my $e (@events) {
		my $p = $e->{params};
		my $url = $e->{method} eq 'Network.requestWillBeSent' ? $p->{request}{url} : '';
		push @all, "loads $url" if $url && $url !~ m{^file://\Q$page\E(#|$)};
		push @all, $p->{entry}{text} if $e->{method} eq 'Log.entryAdded';
		push @all, $p->{exceptionDetails}{text} if $e->{method} eq 'Runtime.exceptionThrown';
	}
	return \@all;
}

sub step {
	my ($what, $rest) = @_;
	return key($rest) if $what eq 'key';
	return click($rest) if $what eq 'click';
	return evaluate('location.hash = ' . $json->encode($rest)) if $what eq 'go';
	if ($what eq 'size') {
		my ($width, $height) = split ' ', $rest;
		return request('Emulation.setDeviceMetricsOverride', width => $width + 0, height => $height + 0,
			deviceScaleFactor => 1, mobile => JSON::PP::false);
	}
	if ($what eq 'media') {
		my ($type, $colours) = split ' ', $rest;
		return request('Emulation.setEmulatedMedia', media => $type,
			features => [ { name => 'prefers-color-scheme', value => $colours } ]);
	}
	return save($rest, request('Page.captureScreenshot')->{data}) if $what eq 'picture';
	return save($rest, request('Page.printToPDF', printBackground => JSON::PP::false)->{data}) if $what eq 'paper';
	my %asks = (ask => sub { evaluate($rest) }, walk => \&walk, troubles => \&troubles);
	$asks{$what} or die "browser.pl: no step is named '$what'\n";
	print $json->encode($asks{$what}->()), "\n";
}

$SIG{ALRM} = sub { die "browser.pl: nothing within two minutes\n" };
$SIG{PIPE} = 'IGNORE';
alarm 120;
my $good = eval {
	start();
	my $target = request('Target.createTarget', url => 'about:blank')->{targetId};
	$session = request('Target.attachToTarget', targetId => $target, flatten => JSON::PP::true)->{sessionId};
	request("$_.enable") for qw(Page Network Log Runtime);
	request('Page.navigate', url => "file://$page");
	await('Page.loadEventFired');
	while (my $line = <STDIN>) {
		chomp $line;
		step($1, $2) if $line =~ /^(\S+) ?(.*)$/;
	}
	1;
};
my $trouble = $@;
if ($child) {
	eval { undef $session; request('Browser.close') };
	kill 'KILL', $child unless $good;
	waitpid $child, 0;
}
print STDERR $trouble unless $good;
exit !$good;
