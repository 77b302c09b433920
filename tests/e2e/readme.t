#!/bin/bash
# The README's picture is what the explorer's own export makes of a real race, and its ten lines lead
# from a check to the fix.
. tests/e2e/lib.sh
export HOME=$scratch XDG_STATE_HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_CACHE_HOME=$scratch
cp README.md "$scratch/"
cd "$scratch" || exit 1
ln -s "$HEDDLE" heddle
ln -s "$root/samples" samples
mkdir docs
./heddle cc -g -O1 samples/bank/bank.c -o bank -pthread
./heddle record -q --seed 1 -o bank.hdl -- ./bank >/dev/null
run env LC_ALL=C.UTF-8 COLUMNS=120 LINES=30 ./heddle open bank.hdl --script "$root/docs/picture.script"
is "$status$err" 0 "the picture is made"
[ -n "$UPDATE" ] && cp docs/explorer.svg "$root/docs/explorer.svg"
cmp -s docs/explorer.svg "$root/docs/explorer.svg"
is "$?" 0 "docs/explorer.svg is what the program makes (UPDATE=1 $0 takes it anew)"
like "$(sed -n 1,15p README.md)" "docs/explorer.svg" "the README begins with it"
mapfile -t steps < <(sed -n '/^## From a check to the fix/,/single steps/s/^    \.\/heddle/.\/heddle/p' README.md)
is "${#steps[@]}" 10 "ten lines"
echo "save-screen first.screen" >look.script
for step in "${steps[@]}"; do
	step=${step%%  #*}
	want=0
	case $step in
	*" check "* | *" witness "*) want=1 ;; # something is found
	"./heddle bank.hdl"*) step+=" --script look.script" ;; # there is no terminal here
	esac
	run timeout 300 bash -c "$step"
	is "$status" "$want" "$step"
	[ "$status" = "$want" ] || printf '# %s\n' "$out" "$err"
done
like "$out" "fixed" "the last line says that it is fixed"
done_testing
