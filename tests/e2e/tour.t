#!/bin/bash
# docs/tour.md, followed literally: its commands work, its screens are what is shown, and
# the fix is clean.
. tests/e2e/lib.sh
export HOME=$scratch XDG_STATE_HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_CACHE_HOME=$scratch
mkdir -p build/tour
run "$HEDDLE" cc -g -O1 samples/bank/bank.c -o build/tour/bank -pthread
is "$status" 0 "the sample compiles"
run "$HEDDLE" record --seed 1 -o build/tour/bank.hdl -- build/tour/bank
is "$out" "balance 150" "it runs right while it is recorded"
rm -f build/tour/*.txt build/tour/bank.hdl.notes
run env LC_ALL=C.UTF-8 "$HEDDLE" open build/tour/bank.hdl --script docs/tour.script
is "$status$err" 0 "the script of the tour runs"
# A screen in the tour is the 24 lines from its title line on. UPDATE=1 takes them anew.
cat >"$scratch/compare" <<'END'
my ($doc, $screen) = @ARGV;
sub lines { open my $f, '<', $_[0] or die; my @l = <$f>; chomp @l; return @l }
sub plain { join "\n", map { s/main\+\d+/main+N/gr =~ s/0x[0-9a-f]+/0xN/gr } @_ } # addresses vary
my @new = map { s/\s+$//r } map { "    $_" } lines($screen);
my ($title) = $new[0] =~ /(\w+)$/;
my @doc = lines($doc);
my ($at) = grep { $doc[$_] =~ /^    heddle  bank\.hdl.*\b$title$/ } 0 .. $#doc;
exit 2 unless defined $at;
exit 0 if plain(@doc[$at .. $at + 23]) eq plain(@new);
exit 1 unless $ENV{UPDATE};
splice @doc, $at, 24, @new;
open my $out, '>', $doc or die;
print $out "$_\n" for @doc;
END
for screen in findings order witness trace; do
	run perl "$scratch/compare" docs/tour.md build/tour/$screen.txt
	is "$status" 0 "docs/tour.md shows the screen: $screen (UPDATE=1 $0 takes it anew)"
done
# The story in the tour is what the command prints.
run env LC_ALL=C.UTF-8 "$HEDDLE" explain build/tour/bank.hdl 6 19 --story
printf '%s\n' "$out" >"$scratch/story.txt"
cat >"$scratch/story" <<'END'
my ($doc, $story) = @ARGV;
sub lines { open my $f, '<', $_[0] or die; my @l = <$f>; chomp @l; return @l }
my @new = map { length ? "    $_" : "" } lines($story);
my @doc = lines($doc);
my ($at) = grep { $doc[$_] eq $new[0] } 0 .. $#doc;
exit 2 unless defined $at;
my $end = $at;
$end++ while $end < $#doc && $doc[$end + 1] =~ /^(    |$)/;
$end-- while $doc[$end] eq '';
exit 0 if join("\n", @doc[$at .. $end]) eq join("\n", @new);
exit 1 unless $ENV{UPDATE};
splice @doc, $at, $end - $at + 1, @new;
open my $out, '>', $doc or die;
print $out "$_\n" for @doc;
END
run perl "$scratch/story" docs/tour.md "$scratch/story.txt"
is "$status" 0 "docs/tour.md shows the story (UPDATE=1 $0 takes it anew)"
run "$HEDDLE" cc -g -O1 samples/bank/fixed.c -o build/tour/fixed -pthread
run "$HEDDLE" record --seed 1 -o build/tour/fixed.hdl -- build/tour/fixed
is "$out" "balance 150" "the fixed program runs"
run "$HEDDLE" races build/tour/fixed.hdl
is "$status" 0 "and nothing is found in it"
done_testing
