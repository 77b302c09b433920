#!/bin/bash
# What documents and comments cite exists: files of docs/, and their sections; docs/code.md is a map of the tree; the examples of
# docs/semantics.md come out as it says.
. tests/e2e/lib.sh

# every NAME.md that is named anywhere is there
missing=$(grep -rnoE '[A-Za-z0-9_-]+\.md\b' --include='*.[ch]' --include='*.def' --include='*.md' engine tui debuginfo docs samples specs README.md Makefile tests/*.sh tests/bench tests/property tests/unit |
	awk -F: '{ print $NF, $1 ":" $2 }' | sort -u | while read -r name where; do
	case $name in x.md | README.md | FILE.md) continue ;; esac
	[ -e "docs/$name" ] || echo "$where: $name"
done)
is "$missing" "" "every document that is named is there"

# FILE.md, "SECTION": the section is a title of the file, or begins one, or is bold text in it
cited=$(grep -rhE -A1 '[a-z-]+\.md[`)]?, "?' --include='*.[ch]' --include='*.def' --include='*.md' engine tui debuginfo tests/property docs README.md |
	tr '\n' ' ' | sed 's/ \* / /g; s/  */ /g' | grep -oE '[a-z-]+\.md[`)]?, "[^"]+"' | sort -u)
ok "$([ -n "$cited" ]; echo $?)" "sections are cited"
while read -r citation; do
	file=${citation%%.md*}.md
	section=$(sed 's/.*"\(.*\)"/\1/' <<<"$citation")
	grep -qiE "^#+ .*$(sed 's/[][().*]/./g' <<<"$section")|\*\*$section" "docs/$file"
	ok $? "$citation"
done <<<"$cited"

# [...](FILE.md#anchor) and [...](#anchor): an anchor is a title in small letters, spaces as dashes, without other signs
links=$(cd "$root/docs" && grep -noE '\]\([a-z-]*(\.md)?#[^)]+\)' -- *.md)
ok "$([ -n "$links" ]; echo $?)" "sections are linked"
missing=$(while IFS=: read -r from line link; do
	link=${link#"]("} link=${link%")"}
	to=${link%%#*}
	sed -n 's/^#\+ //p' "$root/docs/${to:-$from}" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g' |
		grep -qxF "${link#*#}" || echo "$from:$line: $link"
done <<<"$links")
is "$missing" "" "every section that is linked is there"

# the map of the code: every file that it names is there, and every folder of the engine is on it
missing=$(cd "$root" && find engine tui debuginfo tests -type f >"$scratch/files"
	grep -oE '`[A-Za-z0-9_./+-]+\.(c|h|hh|def|t|pl)`' docs/code.md | tr -d '`' | sort -u | while read -r name; do
		grep -qE "(^|/)${name//+/\\+}\$" "$scratch/files" || echo "$name"
	done
	find engine tui -mindepth 1 -maxdepth 1 -type d | while read -r folder; do
		grep -qE "^ +${folder##*/}/ " docs/code.md || echo "$folder"
	done)
is "$missing" "" "docs/code.md is a map of the tree"

# Example (WHAT: ...) and the trace behind it
cd "$scratch" || exit 1
perl -ne '
	if (/^Example \((\w[\w ]*): ([^)]*)\)/) { $n++; open F, ">", "$n.txt"; print F "#! heddle 1\n"; print "$n\t$1\t$2\n"; $in = 1 }
	elsif ($in && /^    (\S.*)/) { print F "$1\n" }
	elsif ($in && /^(#|[A-Z*])/ && !/^Example/) { $in = 0 if -s "$n.txt" > 12 }' "$root/docs/semantics.md" >examples
ok "$([ "$(wc -l <examples)" -ge 8 ]; echo $?)" "examples are there"
while IFS=$'\t' read -r n what want; do
	case $what in
	races) run "$HEDDLE" races "$n.txt" --pairs events --format json
		got=$(json 'join(", ", map { "$_->{first} $_->{second}" } @{$d->{findings}}) || "none"') ;;
	"order violations") run "$HEDDLE" commute "$n.txt" --analysis cov --format json
		got=$(json 'join(", ", map { "$_->{first} $_->{second}" } @{$d->{findings}}) || "none"') ;;
	cycles) run "$HEDDLE" atomic "$n.txt" --format json
		got=$(json 'scalar @{$d->{findings}}') ;;
	deadlocks) run "$HEDDLE" deadlocks "$n.txt" --format json
		got=$(json 'scalar @{$d->{findings}}') ;;
	waits) run "$HEDDLE" deadlocks "$n.txt" --format json
		got=$(json 'join " ", map { join "+", sort { $a <=> $b } @{$_->{requests}} } grep { $_->{verdict} eq "race" } @{$d->{findings}}') ;;
	*) got="an unknown kind of example" ;;
	esac
	is "$got" "$want" "example $n of semantics.md: $what"
done <examples
done_testing
