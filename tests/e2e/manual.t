#!/bin/bash
# The committed manual page and completion are those that the program's table makes; help
# and bad usage.
. tests/e2e/lib.sh
for kind in man:docs/heddle.1 bash:docs/heddle.bash zsh:docs/heddle.zsh fish:docs/heddle.fish; do
	run docs/manual.sh "${kind%%:*}" "$HEDDLE"
	is "$out" "$(cat "${kind#*:}")" "${kind#*:} is up to date (make manual)"
done
run bash -n docs/heddle.bash
is "$status" 0 "the completion is a bash script"
completed() { # completed WORD...: how bash completes the last one
	bash -c '. docs/heddle.bash; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _heddle; echo "${COMPREPLY[*]}"' _ "$@"
}
is "$(completed heddle rec)" record "a command"
is "$(completed heddle races --an)" --analysis "an option of that command"
is "$(completed heddle record --strategy p)" "pct pos pause" "one of an option's words"
is "$(completed heddle races READM)" README.md "a file"
is "$(completed heddle spec "")" "check points" "what spec does"
for c in races diff; do
	is "$(completed heddle $c --analysis "")" "$(sed -n 's/^ANALYSIS([A-Z0-9]*, *"\([a-z0-9]*\)".*/\1/p' engine/predict/analyses.def | paste -sd ' ')" \
		"$c: every analysis of the table"
done
for c in explain graph; do
	is "$(completed heddle $c --order "")" "$(sed -n 's/^\tO([A-Z]*, "\([a-z]*\)".*/\1/p' engine/order/order.h | paste -sd ' ')" "$c: every order of the table"
done
mkdir -p "$scratch/bin" && ln -sf "$HEDDLE" "$scratch/bin/heddle"
like "$(PATH=$scratch/bin:$PATH completed heddle lesson lost-u)" "^lost-update" "a lesson"
for shell in zsh fish; do
	command -v $shell >/dev/null || continue
	run $shell -n docs/heddle.$shell
	is "$status$err" 0 "the completion is a $shell script"
done
if command -v fish >/dev/null; then
	like "$(PATH=$scratch/bin:$PATH HOME=$scratch fish -c 'source docs/heddle.fish; complete -C"heddle lesson lost-u"')" \
		"lost-update" "a lesson, in fish"
fi
run "$HEDDLE" --version
is "$status" 0 "--version"
like "$out" '^heddle [0-9.]+$' "--version prints the version"
for c in $("$HEDDLE" --table | awk -F'\t' '$1 == "command" { print $2 }'); do
	run "$HEDDLE" "$c" --help
	is "$status" 0 "$c --help"
	like "$out" "^usage: heddle ${c//+/\\+}" "$c --help names its usage"
	case $c in cc | c++)
		like "$(sed -n '/^The compiler.s own options:$/,$p' <<<"$out")" "^Usage: .*options" \
			"$c: then comes the compiler's own help"
		like "$("$HEDDLE" help "$c")" "heddle record -- ./bank" "help $c says what follows"
		run "$HEDDLE" "$c" --help=warnings
		unlike "$out" "usage: heddle" "$c passes other questions to the compiler"
		continue
		;;
	esac
	is "$(sed -n 's/^  -\(.\), --.*/\1/p' <<<"$out" | sort | uniq -d)" "" "$c: each letter is one option"
	run "$HEDDLE" "$c" --no-such-option
	case $c in record | replay) want=125 ;; *) want=2 ;; esac
	is "$status" $want "$c refuses an unknown option"
	like "$err" "unknown option '--no-such-option'" "$c names the unknown option"
done
# Options as GNU's: anywhere, with =, abbreviated, and -- before operands that look like one.
printf 'T|w(x)|1\nU|r(x)|2\n' >"$scratch/-t.txt"
cd "$scratch"
run "$HEDDLE" races --an=hb -q --pairs events --form json -- -t.txt
is "$status" 1 "abbreviations, and an operand after --"
is "$(json '$d->{analysis}')" hb "are understood"
run "$HEDDLE" races ./-t.txt --ver all
is "$status" 2 "--ver"
like "$err" "'--ver' is the beginning of several options" "begins two names"
run "$HEDDLE" races ./-t.txt --anlysis hb
like "$err" "unknown option '--anlysis', did you mean '--analysis'\?" "a suggestion"
run "$HEDDLE" info --version
is "$status $out" "0 $("$HEDDLE" --version)" "--version after a command"
cd "$root"
run "$HEDDLE" no-such-command
is "$status" 2 "an unknown command"
run "$HEDDLE"
is "$status" 2 "no arguments at all"
done_testing
