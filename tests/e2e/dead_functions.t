#!/bin/bash
# A function of the product that no other source file of it uses is static, or dead.  Those that
# only tests call from outside are listed with their reason.
. tests/e2e/lib.sh

# how tests enter: text in memory, tables printed for the documents, facts that are otherwise inside
only_tests='
	aim_sequence
	app_start_index
	bindings_print_table
	commands_print_table
	cycles_collect
	debuginfo_build_id
	debuginfo_open_here
	debuginfo_qualifiers
	debuginfo_type_count
	debuginfo_variable
	debuginfo_variable_count
	edc_order
	events_conflict
	known_settled
	lesson_print_checks
	memory_why_release
	ranges_page
	rdit_edges
	so_far_words
	syncp_sites
	topology_before
	topology_component_size
	trace_from_text
'
# beside the table that names it, whose others are in other files
by_table='
	word_help
'
# called by assembly, in their own file
by_assembly='
	missing_call
	missing_enter
	missing_leave
'

unused() { # OBJECT...: external functions that none of the others refers to, but for the library's
	nm -A "$@" | perl -ne '
		if (/^(\S+?):\S* T (\w+)/) { $file{$2} = $1 unless $1 =~ m{/engine/api/} }
		elsif (/^\S+?:\s+U (\w+)/) { $used{$1} = 1 }
		END { $used{$_} or print "$_ $file{$_}\n" for sort keys %file }'
}
new() { # LIST: those of standard input that are not in it
	grep -vwF -f <(printf '%s\n' $1) || true
}

if [ ! -d "$build/debuginfo" ]; then
	skip "no external function is dead" "needs the objects of a build"
elif has nm "no external function is dead"; then
	mapfile -t objects < <(find "$build"/{engine,tui,debuginfo} -name '*.o' \
		! -path '*/record/runtime/*' ! -path '*/record/stub/*' |
		while read -r o; do s=${o#"$build"/}; [ -f "${s%.o}.c" ] && echo "$o"; done)
	ok $([ ${#objects[@]} -gt 300 ]; echo $?) "${#objects[@]} objects"
	dead=$(unused "${objects[@]}" | new "main $only_tests $by_table")
	is "$dead" "" "no external function of the program is used in its own file alone"
	missing=$(unused "${objects[@]}" | awk '{ print $1 }' | sort | comm -13 - <(printf '%s\n' $only_tests $by_table | sort))
	is "$missing" "" "the list names no function that is gone, or used"

	mapfile -t objects < <(find "$build/engine/record/runtime" -name '*.o' |
		while read -r o; do s=${o#"$build"/}; [ -f "${s%.o}.c" ] && echo "$o"; done)
	exported=$(nm -D --defined-only "$build/libheddle-record.so" | awk '{ sub(/@.*/, "", $3); print $3 }')
	entered=$(sed 's/^/heddle_/' <<<"$exported") # behind an entry in assembly (core/entry.h)
	dead=$(unused "${objects[@]}" | grep -v '^interposed_' | new "$exported $entered $by_assembly")
	is "$dead" "" "nor is one of the runtime"
fi
done_testing
