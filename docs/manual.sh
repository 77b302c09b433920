#!/bin/sh
# Makes the manual page (docs/heddle.1) and the completion of bash (docs/heddle.bash) from
# the program's own table of commands, `heddle --table`.  Usage: docs/manual.sh man|bash HEDDLE
set -eu
kind=$1
heddle=$2
if [ "$kind" = bash ]; then
	"$heddle" --table | awk -F'\t' '
	$1 == "command" { names = names " " $2; order[++n] = $2 }
	$1 == "option" { options[$2] = options[$2] " " $3; if ($4 ~ /^[a-z0-9]+(\|[a-z0-9]+)+$/) { w = $4; gsub(/\|/, " ", w); words = words "\t" $3 ") words=\"" w "\" ;;\n"; } }
	END {
		print "# bash completion for heddle; made by docs/manual.sh, do not edit"
		print "_heddle() {"
		print "\tlocal current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words="
		print "\tif [ \"$COMP_CWORD\" = 1 ]; then"
		print "\t\twords=\"" substr(names, 2) "\""
		print "\telse case \"${COMP_WORDS[1]}\" in"
		for (i = 1; i <= n; i++)
			print "\t" order[i] ") words=\"" substr(options[order[i]], 2) "\" ;;"
		print "\tesac; fi"
		print "\tif [ \"${current#-}\" = \"$current\" ] && [ \"$COMP_CWORD\" != 1 ]; then words=; fi"
		print "\tCOMPREPLY=($(compgen -W \"$words\" -f -- \"$current\"))"
		print "}"
		print "complete -o filenames -F _heddle heddle"
	}'
	exit
fi
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
.SH COMMANDS
T
"$heddle" --table | awk -F'\t' '
function quote(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s }
$1 == "command" { printf ".SS \"heddle %s %s\"\n%s.\n", quote($2), quote($3), quote($4) }
$1 == "option" && $3 != "--help" && $3 != "--quiet" {
	printf ".TP\n.B %s %s\n%s.\n", quote($3), quote($4), quote($5)
}'
cat <<'T'
.SH OPTIONS OF EVERY COMMAND
.TP
.B \-h, \-\-help
Show the command's help.
.TP
.B \-q, \-\-quiet
No warnings and no progress.
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
No colour in the explorer.
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
