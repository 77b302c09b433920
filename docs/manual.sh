#!/bin/sh
# Makes the manual page (docs/heddle.1) and the completions (docs/heddle.bash, .zsh, .fish) from the
# program's own table of commands, `heddle --table`.  Usage: docs/manual.sh man|bash|zsh|fish HEDDLE
set -eu
kind=$1
heddle=$2
# The tables that the completions share: the commands in order, their options, and of options that
# take one of some words, the words.
tables='
function is_words(s) { return s ~ /^\[?[a-z0-9]+(\|[a-z0-9]+)+\]?$/ }
function words(s) { gsub(/[][]/, "", s); gsub(/\|/, " ", s); return s }
$1 == "command" { order[++n] = $2; summary[$2] = $4 }
$1 == "option" { options[$2] = options[$2] " " $3; at[$2, ++count[$2]] = $3; value[$2, $3] = $4; help[$2, $3] = $5 }
'
case $kind in
bash)
	"$heddle" --table | awk -F'\t' "$tables"'
	END {
		print "# bash completion for heddle; made by docs/manual.sh, do not edit"
		print "_heddle() {"
		print "\tlocal current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= files=-f"
		printf "\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\twords=\""
		for (i = 1; i <= n; i++)
			printf "%s%s", (i > 1 ? " " : ""), order[i]
		print "\""
		print "\telse case \"${COMP_WORDS[1]} $before\" in"
		for (i = 1; i <= n; i++)
			for (k = 1; k <= count[order[i]]; k++) {
				option = at[order[i], k]
				if (is_words(value[order[i], option]))
					printf "\t\"%s %s\") words=\"%s\" files= ;;\n", order[i], option, words(value[order[i], option])
			}
		print "\t*) if [ \"${current#-}\" != \"$current\" ]; then case \"${COMP_WORDS[1]}\" in"
		for (i = 1; i <= n; i++)
			print "\t" order[i] ") words=\"" substr(options[order[i]], 2) "\" ;;"
		print "\tesac"
		print "\telif [ \"${COMP_WORDS[1]}\" = lesson ]; then"
		print "\t\twords=$(heddle lesson --format json 2>/dev/null | sed -n \047s/^ *\"name\": \"\\(.*\\)\",$/\\1/p\047)"
		print "\telif [ \"${COMP_WORDS[1]} $COMP_CWORD\" = \"spec 2\" ]; then"
		print "\t\twords=\"check points\" files="
		print "\tfi ;;"
		print "\tesac; fi"
		print "\tCOMPREPLY=($(compgen -W \"$words\" $files -- \"$current\"))"
		print "}"
		print "complete -o filenames -F _heddle heddle"
	}'
	exit
	;;
zsh)
	"$heddle" --table | awk -F'\t' "$tables"'
	function quote(s) { gsub(/\047/, "\047\\\047\047", s); gsub(/\[/, "\\[", s); gsub(/\]/, "\\]", s); gsub(/:/, "\\:", s); return s }
	END {
		print "#compdef heddle"
		print "# zsh completion for heddle; made by docs/manual.sh, do not edit"
		print "_heddle_lessons() {"
		print "\tcompadd -- ${(f)\"$(heddle lesson --format json 2>/dev/null | sed -n \047s/^ *\"name\": \"\\(.*\\)\",$/\\1/p\047)\"}"
		print "\t_files"
		print "}"
		print "local -a commands"
		print "if (( CURRENT == 2 )); then"
		print "\tcommands=("
		for (i = 1; i <= n; i++)
			printf "\t\t\047%s:%s\047\n", order[i], quote(summary[order[i]])
		print "\t)"
		print "\t_describe -t commands command commands"
		print "\t_files"
		print "\treturn"
		print "fi"
		print "local name=$words[2]"
		print "shift words"
		print "(( CURRENT-- ))"
		print "case $name in"
		for (i = 1; i <= n; i++) {
			printf "%s) _arguments", order[i]
			for (k = 1; k <= count[order[i]]; k++) {
				option = at[order[i], k]
				v = value[order[i], option]
				printf " \\\n\t\047*%s[%s]%s\047", option, quote(help[order[i], option]), \
					v == "" ? "" : is_words(v) ? ":" "word:(" words(v) ")" : ":" quote(v) ":_files"
			}
			if (order[i] == "spec")
				printf " \\\n\t\0471:word:(check points)\047"
			printf " \\\n\t\047*:%s\047 ;;\n", order[i] == "lesson" ? "lesson:_heddle_lessons" : "file:_files"
		}
		print "*) _files ;;"
		print "esac"
	}'
	exit
	;;
fish)
	"$heddle" --table | awk -F'\t' "$tables"'
	function quote(s) { gsub(/\\/, "\\\\", s); gsub(/\047/, "\\\047", s); return s }
	END {
		print "# fish completion for heddle; made by docs/manual.sh, do not edit"
		for (i = 1; i <= n; i++)
			printf "complete -c heddle -n __fish_use_subcommand -a %s -d \047%s\047\n", order[i], quote(summary[order[i]])
		for (i = 1; i <= n; i++)
			for (k = 1; k <= count[order[i]]; k++) {
				option = at[order[i], k]
				v = value[order[i], option]
				printf "complete -c heddle -n \047__fish_seen_subcommand_from %s\047 -l %s%s -d \047%s\047\n", \
					order[i], substr(option, 3), \
					v == "" ? "" : is_words(v) ? " -x -a \047" words(v) "\047" : " -r", \
					quote(help[order[i], option])
			}
		print "complete -c heddle -n \047__fish_seen_subcommand_from spec\047 -a \047check points\047"
		print "complete -c heddle -n \047__fish_seen_subcommand_from lesson\047 -a \047(heddle lesson --format json 2>/dev/null | sed -n \"s/^ *\\\"name\\\": \\\"\\(.*\\)\\\",\\$/\\1/p\")\047"
	}'
	exit
	;;
esac
cat <<'T'
.\" made by docs/manual.sh from `heddle --table`, do not edit
.TH HEDDLE 1 "" "heddle" "User Commands"
.SH NAME
heddle \- explore the races and schedules of multithreaded programs
.SH SYNOPSIS
.B heddle
.I TRACE
.br
.B heddle
.I COMMAND
.RI [ ARGUMENTS ]
.SH DESCRIPTION
Heddle records a multithreaded C or C++ program, predicts what other schedules of the same
events can do, and gives every candidate a verdict: a race, with a witness that an
independent checker accepted; impossible, with its proof; or unknown, with the budget that
ran out. The explorer shows why, in the program's own source and names, and
.B heddle replay
drives the program along the witness.
.SH EXAMPLES
.nf
heddle cc \-g \-O1 prog.c \-o prog \-pthread    # compile with recording built in
heddle check \-\- ./prog                       # what is wrong with it?
heddle record \-\- ./prog                      # one run: prog.hdl
heddle prog.hdl                               # looked at on the full screen
heddle races prog.hdl                         # its data races, as text
heddle explore \-\- ./prog                     # every schedule that makes a difference
.fi
.SH COMMANDS
T
"$heddle" --table | awk -F'\t' '
function quote(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s }
function sentence(s) { return quote(s) (s ~ /[.?]$/ ? "" : ".") }
$1 == "command" { printf ".SS \"heddle %s %s\"\n%s\n", quote($2), quote($3), sentence($4) }
$1 == "option" && $3 !~ /^--(help|quiet|version)$/ {
	printf ".TP\n.B %s %s\n%s\n", quote($3), quote($4), sentence($5)
}'
cat <<'T'
.SH OPTIONS OF EVERY COMMAND
.TP
.B \-h, \-\-help
Show the command's help.
.TP
.B \-q, \-\-quiet
No warnings and no progress.
.TP
.B \-\-version
Print the version.
.SH EXIT STATUS
0: nothing found. 1: something found. 2: bad usage or input. 3: a budget ran out before
every candidate had a verdict.
.B verify
exits with 0 when it accepts and 1 when it refuses.
.B cc
and
.B c++
exit as the compiler does;
.B record
and
.B replay
as the program does, and with 125 for a failure of their own.
.SH ENVIRONMENT
.TP
.B NO_COLOR
No colour, in the explorer and in reports.
.TP
.B CC, CXX
The compilers that
.B heddle cc
and
.B heddle c++
call.
.TP
.B XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME
Where configuration, history and indexes are kept.
.SH SEE ALSO
.BR gdb (1),
.BR valgrind (1)
T
