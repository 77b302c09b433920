# lib.sh - what the end-to-end scripts share: TAP, a scratch folder, running commands.
#
#   plan at the end: done_testing
#   run CMD...              runs, keeps $out, $err, $status; says_while_it_waits: one that waits for input
#   await CMD...            repeats CMD until it succeeds; running NAME: the processes of a program of this folder
#   is GOT WANT NAME, like TEXT REGEX NAME, ok STATUS NAME, skip NAME REASON, has TOOL NAME
#   figure_1a, figure_1b    print traces that several scripts look at
export LC_ALL=C.UTF-8 # screens are compared with their own characters
: "${HEDDLE:=$PWD/heddle}"
root=$PWD
build=${HEDDLE%/*} # what the binary was made with
[ "$HEDDLE" != "$root/heddle" ] || build=$root/build
case $HEDDLE in
*/*) # a copy of the binary alone cannot record: say so once, and not by a hundred failures
	[ ! -x "$HEDDLE" ] || [ -e "$build/libheddle-record.so" ] ||
		[ -e "${HEDDLE%/*}/../lib/heddle/libheddle-record.so" ] || {
		printf 'not ok 1 - HEDDLE=%s: its recording runtime is beside it\n1..1\n' "$HEDDLE"
		exit 1
	} ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# What heddle keeps for its user is none of a test's business, and the other way round.
export XDG_STATE_HOME=$scratch/.state XDG_CACHE_HOME=$scratch/.cache XDG_CONFIG_HOME=$scratch/.config
count=0
run() {
	"$@" >"$scratch/.out" 2>"$scratch/.err" </dev/null
	status=$?
	out=$(tr -d '\000' <"$scratch/.out")
	err=$(tr -d '\000' <"$scratch/.err")
	return 0
}
ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
	fi
}
is() {
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf '# got:  %s\n# want: %s\n' "$1" "$2"
	fi
}
# skip NAME REASON: a test that cannot run here, which is counted as skipped and not as passed
skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}
# has TOOL NAME: is it installed?  Otherwise the tests of that name are skipped.
has() {
	command -v "$1" >/dev/null && return
	skip "$2" "$1 is not installed"
	return 1
}
like() {
	if printf '%s' "$1" | grep -Eq -- "$2"; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf '# %s\n' "does not match: $2" "$1" | head -20
	fi
}
unlike() {
	if printf '%s' "$1" | grep -Eq -- "$2"; then
		ok 1 "$3"
		printf '# matches: %s\n' "$2"
	else
		ok 0 "$3"
	fi
}
# await CMD...: repeats it until it succeeds. After five minutes what it waits for never comes: fails.
await() {
	local end=$((SECONDS + 300))
	until "$@"; do
		[ $SECONDS -lt $end ] || return
		sleep 0.02
	done
}
# running NAME: /proc/PID of each process whose program is this file of the current folder
running() {
	find /proc -maxdepth 2 -name exe -lname "$(pwd -P)/$1" -printf '%h\n' 2>/dev/null
}
# says_while_it_waits PATTERN REPORT NAME CMD...: CMD, whose program reads its input to the end, prints a
# line that matches on standard error while the program waits there, and has not yet written the file REPORT
# ("": its standard output).  Then the input is closed.  Sets $out, $err, $status.
says_while_it_waits() {
	local pattern=$1 report=${2:-$scratch/.out} name=$3 runner line
	shift 3
	rm -f "$scratch/.in" "$scratch/.said"
	mkfifo "$scratch/.in" "$scratch/.said"
	"$@" <"$scratch/.in" >"$scratch/.out" 2>"$scratch/.said" &
	runner=$!
	exec 5>"$scratch/.in" 6<"$scratch/.said"
	err=
	while IFS= read -r -t 300 line <&6; do
		err+=$line$'\n'
		[[ $line =~ $pattern ]] && break
	done
	ok "$([[ $line =~ $pattern ]]; echo $?)" "$name"
	ok "$(kill -0 $runner 2>/dev/null; echo $?)" "which has not ended"
	ok "$([ ! -s "$report" ]; echo $?)" "nor reported"
	exec 5>&-
	err+=$(cat <&6)
	exec 6<&-
	wait $runner
	status=$?
	out=$(cat "$scratch/.out")
}
# json EXPRESSION: a value of $out, by Perl's syntax on the document d; needs nothing but perl. One perl
# answers all of a script's questions, which are hundreds, and reads a report once.
mkfifo "$scratch/.ask" "$scratch/.answer"
perl "$root/tests/e2e/json.pl" "$scratch" $$ </dev/null >/dev/null &
disown
trap "kill $!; rm -rf '$scratch'" EXIT
json() {
	local answer
	printf '%s\0' "$PWD" "$1" "$out" >"$scratch/.ask"
	IFS= read -r -d '' answer <"$scratch/.answer"
	printf '%s' "$answer"
}
done_testing() {
	echo "1..$count"
}
# The M2 paper's figures 1a and 1b as traces: 1-6 and 1-13 are their only races.
figure_1a() {
	cat <<'T'
T1|acq(l)|1
T1|w(x)|2
T1|rel(l)|3
T2|acq(l)|4
T2|w(x)|5
T2|rel(l)|6
T2|r(x)|7
T
}
figure_1b() {
	cat <<'T'
T1|acq(l)|1
T1|w(x)|2
T1|w(y)|3
T1|rel(l)|4
T2|acq(l)|5
T2|acq(m)|6
T2|w(z)|7
T2|rel(m)|8
T2|w(y)|9
T2|rel(l)|10
T3|acq(m)|11
T3|r(z)|12
T3|rel(m)|13
T3|w(x)|14
T
}
