# lib.sh - what the end-to-end scripts share: TAP, a scratch folder, running commands.
#
#   plan at the end: done_testing
#   run CMD...              runs, keeps $out, $err, $status
#   is GOT WANT NAME, like TEXT REGEX NAME, ok STATUS NAME
: "${HEDDLE:=$PWD/heddle}"
root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
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
# json EXPRESSION: a value of $out, by Python's syntax on the document d; needs nothing but perl
json() {
	printf '%s' "$out" | perl -MJSON::PP -0777 -e '
		my $d = JSON::PP->new->utf8->allow_nonref->decode(<STDIN>);
		my $v = eval $ARGV[0]; die $@ if $@;
		print ref $v ? JSON::PP->new->canonical->encode($v) : $v // "null";' -- "$1"
}
done_testing() {
	echo "1..$count"
}
