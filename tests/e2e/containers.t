#!/bin/bash
# What libstdc++ does by itself beneath std::list, std::map and the hash tables is seen.
. tests/e2e/lib.sh
programs=$PWD/tests/e2e/programs
cd "$scratch" || exit 1
if ! has "${CXX:-c++}" containers; then
	done_testing
	exit
fi

$HEDDLE c++ -g -O1 "$programs/containers.cc" -o containers
run timeout 300 "$HEDDLE" record -o containers.hdl -- ./containers
is "$status $out" "0 fine" "containers do what they should"

$HEDDLE c++ -g -O1 "$programs/containers_lru.cc" -o lru
run timeout 300 "$HEDDLE" explore --format json -- ./lru
is "$(json '$d->{complete} ? "complete $d->{executions} $d->{states}" : join "; ", @{$d->{gaps}}')" \
	"complete 88 88" "a cache of a list and a hash table: every schedule follows, and none twice"
is "$(json 'join " ", map { $_->{kind} } @{$d->{errors}}')" blocked "its lost wake-up is found"

$HEDDLE c++ -g -O1 "$programs/containers_race.cc" -o race
for what in list "map x"; do
	read -r name argument <<<"$what"
	run timeout 300 "$HEDDLE" record -o race.hdl -- ./race $argument
	run timeout 300 "$HEDDLE" races race.hdl
	is "$status" 1 "a race on a node's links is found: std::$name"
done
done_testing
