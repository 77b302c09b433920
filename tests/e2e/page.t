#!/bin/bash
# The page of `:export NAME.html` in a real browser (chromium, where it is installed): walked by its keys,
# and compared step by step with the engine's: the events of the witness file, which the checker accepts,
# and locks and values that this test computes from the trace's table. The page's structure is tested without
# a browser by tests/screen/screen_page.c.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

# pages NAME PROGRAM: NAME.hdl, and of the finding shown first NAME.html, NAME.wit; NAME.all.html
pages() {
	"$HEDDLE" cc -g -O1 "$root/samples/$2" -o "$1" -pthread || exit 1
	timeout 300 "$HEDDLE" record -q --seed 1 -o "$1.hdl" -- "./$1" >/dev/null
	printf '%s\n' wait "press w" "export $1.html" "export $1.wit" "press F" "export $1.all.html" >export.script
	run timeout 300 "$HEDDLE" open "$1.hdl" --script export.script
	is "$status$err" 0 "$1: its pages are written"
	unlike "$(cat "$1.html" "$1.all.html")" "https?://|src=" "$1: they load nothing"
	run "$HEDDLE" verify "$1.hdl" "$1.wit"
	is "$status" 0 "$1: the checker accepts the witness: $out"
	"$HEDDLE" convert -q "$1.hdl" "$1.csv"
}
pages race bank/bank.c
pages deadlock lock-order/lock_order.c
pages freed use-after-free/use_after_free.c
pages stuck lost-wakeup/lost_wakeup.c
like "$(cat race.all.html)" "proved impossible|cannot come together" "the report has the proof, too"

# An exploration: its runs, and the tree.
timeout 300 "$HEDDLE" explore -q --budget 60 -o tree.heddle -- ./deadlock >/dev/null 2>&1
printf '%s\n' wait "exploration tree.heddle" "press X" "export tree.html" >export.script
run timeout 300 "$HEDDLE" open deadlock.hdl --script export.script
is "$status$err" 0 "an exploration's page is written"

browser=
for b in chromium chromium-browser google-chrome; do
	command -v $b >/dev/null && browser=$b && break
done
if [ -z "$browser" ]; then
	skip "the pages are walked in a browser" "chromium is not installed (make check-delivery installs it)"
	done_testing
	exit
fi
browse() { # PAGE STEP...: what the steps print
	local page=$1
	shift
	printf '%s\n' "$@" | timeout 300 "$root/tests/support/browser.pl" "$browser" "$page" 2>&1
}

# The walk of NAME.json against NAME.wit, NAME.csv and the program's source: one line for each difference.
cat >compare.pl <<'EOF_PL'
use strict; use warnings; use JSON::PP;
my ($name, $source) = @ARGV;
sub slurp { open my $in, '<', shift or die $!; local $/; <$in> }
my @lines = split /\n/, slurp($source);
my (%event, @events, %kind);
for (split /\n/, slurp("$name.csv")) {
	my ($n, $thread, $op, $operand, $value, $location) = split /,/;
	$event{$n} = { thread => $thread, op => $op, operand => $operand, value => $value, location => $location };
}
my (%first, %written);
for my $n (sort { $a <=> $b } grep { /^\d/ } keys %event) {
	my $e = $event{$n};
	$first{$e->{operand}} //= $e->{value} if $e->{op} eq 'r' && !$written{$e->{operand}};
	$written{$e->{operand}} = 1 if $e->{op} eq 'w';
}
for (split /\n/, slurp("$name.wit")) {
	$kind{$1} = $2 if /^#! (kind|pair) (.*)/;
	push @events, $1 if /^(\d+)/;
}
my @walk = @{ JSON::PP->new->decode((split /\n/, slurp("$name.json"))[0]) };
my $waiting = $kind{kind} =~ /^(race|deadlock|stuck)$/ ? split(' ', $kind{pair}) : 0;
my (%value, @held, $step);
sub differ { print "step $step: ", join(': ', @_), "\n" }
$step = 0;
differ('steps', scalar @walk, 'events', scalar @events) if @walk != @events;
for my $s (@walk) {
	my $e = $event{$events[$step]};
	$step++;
	my $next = $step > @events - $waiting;
	if (!$next) {
		$value{$e->{operand}} = $e->{value} if $e->{op} eq 'w';
		push @held, "$e->{thread} $e->{operand}" if $e->{op} eq 'acq';
		@held = grep { $_ ne "$e->{thread} $e->{operand}" } @held if $e->{op} =~ /^(rel|wait|wrel)$/;
	}
	differ('event', $s->{event}, $events[$step - 1]) if $s->{event} != $events[$step - 1];
	differ('number', $s->{step}, $s->{of}) if $s->{step} != $step || $s->{of} != @events;
	differ('recorded side', "@{$s->{recorded}}") if "@{$s->{recorded}}" ne $s->{event};
	differ('other steps lit', $s->{others}) if $s->{others};
	differ('thread', $s->{thread}, $e->{thread}) if $s->{thread} ne $e->{thread};
	my $done = $next ? @events - $waiting : $step;
	differ('moment', $s->{at}) if $s->{at} !~ /^after step $done of \d+(;.*)?$/ || !!$1 != !!$next;
	differ('words', $s->{what}) if index($s->{what}, $e->{thread} . (!$next ? '' :
		$kind{kind} eq 'race' ? ' is about to do' : ' waits') . ': ') != 0
		|| $s->{what} !~ /: \Q$s->{row}\E$/;
	differ('operand', $s->{row}, $e->{operand}) if $e->{op} =~ /^(r|w|acq|rel)$/ && index($s->{row}, $e->{operand}) < 0;
	differ('place', $s->{place}, $e->{location}) if $e->{location} =~ /\.c:/ && $s->{place} !~ /\Q$e->{location}\E$/;
	if ($e->{location} =~ /\.c:(\d+)/) {
		(my $line = $lines[$1 - 1]) =~ s/^\s+//;
		differ('line', $s->{line}, $line) if $s->{line} ne $line;
	}
	my @said;
	for (split /; /, $s->{locks}) {
		my ($thread, $locks) = /^(\S+) holds (.*)$/ or differ('locks', $s->{locks});
		push @said, "$thread $_" for split /, /, $locks;
	}
	differ('locks', $s->{locks}, "@held") if "@{[sort @said]}" ne "@{[sort @held]}";
	my %shown;
	for (split /  /, $s->{values}) {
		my ($variable, $value) = /^(.*) (\S+)$/;
		$shown{$variable} = 1;
		my $want = $value{$variable} // $first{$variable} // 'unknown';
		differ("value of $variable", $value, $want) if $value ne $want && $value =~ /^-?\d+$/;
	}
	differ('not shown', $e->{operand}) if $e->{op} eq 'w' && $e->{value} =~ /^\d+$/ && !$next && !$shown{$e->{operand}};
}
print scalar @walk, " steps\n";
EOF_PL
walked() { # NAME PROGRAM
	browse "$1.html" walk troubles >"$1.json"
	run perl compare.pl "$1" "$root/samples/$2"
	like "$out" '^[1-9][0-9]* steps$' "$1: forwards and back, each step is the engine's"
	is "$(sed -n 2p "$1.json")" '[]' "$1: the browser loads nothing else, and complains of nothing"
}
walked race bank/bank.c
walked deadlock lock-order/lock_order.c
walked freed use-after-free/use_after_free.c
walked stuck lost-wakeup/lost_wakeup.c
like "$(cat race.json)" '"acct.balance reads 100 or 150"' "a read that races says both values"

runs='ask [...document.querySelectorAll("#runs tr.step")].map(function (r) { return [r.dataset.event, r.children[1].textContent, r.querySelector(".event").textContent.slice(2)].join(" "); }).sort().join("\n") + "\n"'
said='ask [".at", ".what", ".values"].map(s => document.querySelector("#runs " + s).textContent.split("\\n")[0]).join(" / ")'
run browse tree.html "$runs" "go runs-step-1" "key j" "$said" troubles
is "$(sed -n 1p <<<"$out" | perl -MJSON::PP -e 'print JSON::PP->new->allow_nonref->decode(<STDIN>)')" "$(perl -MJSON::PP -0777 -ne '
	print join "\n", sort map { join " ", $_->{run}, $_->{parent} // "", $_->{end} } @{decode_json($_)->{runs}}' tree.heddle)" \
	"the runs of an exploration are those of its file"
like "$(sed -n 2p <<<"$out")" 'run 1, 2 of 3 / ✗ deadlock / main waits for the end of T1' "and are walked by the same keys"
is "$(sed -n 3p <<<"$out")" '[]' "without a complaint of the browser"
# Its outcomes come first, as in the explorer: the first is shown, the keys go on to the next.
shown='ask [".at", ".what", ".place", ".line", ".values"].map(s => document.querySelector("#outcomes " + s).textContent).join(" / ")'
rows='ask [...document.querySelectorAll("#outcomes tr.step")].map(r => [...r.children].slice(0, 3).map(c => c.textContent).join("|")).join("\n") + "\n"'
first='ask document.querySelector("#outcomes").getBoundingClientRect().bottom <= document.querySelector("#runs").getBoundingClientRect().top'
run browse tree.html "$rows" "$shown" "key j" "$shown" "$first" troubles
is "$(sed -n 1p <<<"$out" | perl -MJSON::PP -e 'print JSON::PP->new->allow_nonref->decode(<STDIN>)')" "$(
	perl -MJSON::PP -0777 -ne '
		my @runs = grep { !$_->{redundant} } @{decode_json($_)->{runs}};
		printf "%d|✗ deadlock|lock_order.c:21\n%d|✓ prints|\n", scalar(grep { $_->{end} eq "deadlock" } @runs),
			scalar grep { $_->{end} eq "exit" } @runs' tree.heddle)" "the outcomes of an exploration, and how many runs have each"
like "$(sed -n 2p <<<"$out")" 'outcome 1 of 2: 1 of 3 different runs end so.*T1 waits for mutex bob.lock, held by T2.*It begins as run 0, which ends well, but:.*Point of no return: T2: lock bob.lock \(lock_order.c:20\)' \
	"a failure comes first, with what it does otherwise than a run that ends well"
like "$(sed -n 3p <<<"$out")" 'outcome 2 of 2: 2 of 3 different runs print this last.*alice 115, bob 85' "the next one by a key"
is "$(sed -n 4,5p <<<"$out")" "true
[]" "the tree stands below, and the browser complains of nothing"

at='ask document.querySelector(".at").textContent'
run browse race.html "go f1-step-7" "$at" "click tr.step:nth-of-type(4)" "$at" "key G" "$at" "key j" "$at" "key g" "key k" "$at"
is "$out" '"after step 7 of 13"
"after step 3 of 13"
"after step 11 of 13; both threads are about to make these two accesses, and nothing decides who is first"
"after step 11 of 13; both threads are about to make these two accesses, and nothing decides who is first"
"after step 1 of 13"' "a link, a click and the keys go to a step, and no further than the ends"

# Of a report with two walks, the keys mean the one that is looked at.
which='ask document.querySelector("tr.now").closest(".walk").id + " " + document.querySelectorAll("tr.step.now").length'
printf '%s\n' '#! heddle 1' 'main|fork(T1)|s.c:1' 'main|fork(T2)|s.c:2' 'T1|w(one)=1|s.c:11' 'T1|w(two)=1|s.c:12' \
	'T2|r(one)=1|s.c:21' 'T2|r(two)=1|s.c:22' >two.txt
printf '%s\n' wait "export two.html" >export.script
run timeout 300 "$HEDDLE" open two.txt --script export.script
run browse two.html "size 1000 500" 'ask scrollY' "$which" \
	'ask [...document.querySelectorAll(".walk")].at(-1).scrollIntoView()' "key g" "$which" \
	'ask [...document.querySelectorAll(".walk")].at(-1).id + " 1"'
is "$(sed -n 1p <<<"$out")" 0 "a report opens at its beginning"
is "$(sed -n 4p <<<"$out")" "$(sed -n 5p <<<"$out")" "the keys walk what is on the screen"
unlike "$(sed -n 2p <<<"$out")" "$(sed -n 5p <<<"$out")" "and not the first finding's"

# Light, dark, paper; both orders beside each other, and nothing wider than the window.
colours='ask [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor].join(" on ")'
beside='ask (function () { var o = [...document.querySelectorAll(".order")].map(e => e.getBoundingClientRect()); return o.length === 2 && o[1].top === o[0].top && o[1].left >= o[0].right; })()'
wide='ask document.documentElement.scrollWidth > innerWidth'
run browse race.html "size 1200 800" "media screen light" "$colours" "media screen dark" "$colours" "media print dark" "$colours" \
	"media screen light" "$beside" "$wide" "size 420 800" "$beside" "$wide"
is "$out" '"rgb(28, 28, 28) on rgb(255, 255, 255)"
"rgb(228, 228, 228) on rgb(22, 22, 22)"
"rgb(28, 28, 28) on rgb(255, 255, 255)"
true
false
false
false' "light and dark as the reader's system is, and light on paper; both orders side by side where there is room"
# contrast of each colour of text, by WCAG's formula: 4.5 is what small text needs
contrast='ask (function () { function l(c) { var v = c.match(/[0-9.]+/g).slice(0, 3).map(function (x) { x /= 255; return x > 0.03928 ? Math.pow((x + 0.055) / 1.055, 2.4) : x / 12.92; }); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; } function paper(e) { for (; e; e = e.parentElement) { var b = getComputedStyle(e).backgroundColor; if (b !== "rgba(0, 0, 0, 0)") return b; } return "rgb(255, 255, 255)"; } var bad = []; document.querySelectorAll("body *").forEach(function (e) { if (![...e.childNodes].some(c => c.nodeType === 3 ? c.data.trim() : false)) return; if (["SCRIPT", "STYLE"].includes(e.tagName)) return; var a = l(getComputedStyle(e).color), b = l(paper(e)), r = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); if (4.5 > r) bad.push(e.tagName + "." + e.className + " " + r.toFixed(1)); }); return [...new Set(bad)].join(", "); })()'
run browse race.html "media screen light" "$contrast" "media screen dark" "$contrast"
is "$out" '""
""' "every text can be read in both"
paper='ask [getComputedStyle(document.querySelector(".state")).display, getComputedStyle(document.querySelector("tr.step"), "::after").content].join(" / ")'
run browse race.html "media screen light" "$paper" "media print light" "$paper" "paper race.pdf"
like "$(sed -n 1p <<<"$out")" '^"(block|flow-root) / none"$' "on the screen the moment's state stands below"
like "$(sed -n 2p <<<"$out")" '^"none / .*acct.balance 100' "on paper each step says where it is, and the values after it"
like "$(head -c 8 race.pdf)" '^%PDF-' "and it can be printed"

# The proof that a pair cannot race is shown, and what can be walked is the other finding.
run browse race.all.html 'ask [...document.querySelectorAll("section")].map(s => (s.querySelector(".walk") ? "walk" : "proof") + " " + s.querySelector(".story").offsetHeight).join(", ")'
like "$out" 'proof [1-9].*walk [1-9]' "a proof stands in its section, to be seen"
done_testing
