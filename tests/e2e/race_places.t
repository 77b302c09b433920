#!/bin/bash
# Data races in a library's code are told apart by the places of the user's: two calls that run the
# same lines of a header are two places, and one call that runs several is one.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >places.cc <<'C'
#include <map>
#include <string>
#include <thread>
#include <vector>
#include "cell.hpp"
static std::vector<int> a, b;
static std::map<int, int> ages;
static cell<int> one_cell, other_cell;
static void fill_a() { a.push_back(1); }
static void more_a() { a.push_back(2); }
static void fill_b() { b.push_back(1); }
static void more_b() { b.push_back(2); }
static void born(int k) { ages.emplace(k, 1); }
static void writes() { one_cell.set(1); other_cell.set(2); }
static int reads() { return one_cell.get() + other_cell.get(); }
int main(int argc, char **argv)
{
	a.reserve(9);
	b.reserve(9);
	switch (argv[1][0]) {
	case 'v': {
		std::thread t([] { fill_a(); fill_b(); }), u([] { more_a(); more_b(); });
		t.join();
		u.join();
		break;
	}
	case 'm': {
		std::thread t(born, 1), u(born, 2);
		t.join();
		u.join();
		break;
	}
	default: {
		std::thread t(writes), u(reads);
		t.join();
		u.join();
	}
	}
}
C
cat >cell.hpp <<'C'
template <class T> struct cell {
	T value{};
	void set(T v) { value = v; }
	T get() const { return value; }
};
C
# the pairs of places of a report's races, sorted
pairs='join(" ", sort map { join("-", sort map { s/.*://r } @{$_->{locations}}) } @{$d->{findings}})'
explored='join(" ", sort map { join("-", sort map { s/.*://r } @{$_->{locations}}) } @{$d->{races}})'
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	for level in 0 2; do
		name=$compiler-O$level
		CXX=$compiler "$HEDDLE" c++ -g -O$level places.cc -o "$name" -pthread ||
			skip "$compiler does not compile here"
		"$HEDDLE" record -q --seed 1 -o v.hdl -- "./$name" v
		run "$HEDDLE" races v.hdl --format json
		is "$(json "$pairs")" "10-9 11-12" "$name: two vectors, two pairs of places"
		is "$(json 'join(" ", map { $_->{variable} =~ /^(\w+)/ } sort { $a->{first} <=> $b->{first} } @{$d->{findings}})')" \
			"a b" "$name: each with its vector"
		run "$HEDDLE" races v.hdl --analysis hb --format json
		is "$(json "$pairs")" "10-9 11-12" "$name: by happens-before, too"
		run "$HEDDLE" races v.hdl --format sarif
		is "$(json 'scalar @{$d->{runs}[0]{results}}')" 2 "$name: two results in SARIF"
		run "$HEDDLE" compare v.hdl --analyses hb,auto --format json
		is "$(json 'scalar @{$d->{findings}}')" 2 "$name: two lines of compare"
		run "$HEDDLE" record --no-trace --seed 1 -- "./$name" v
		is "$(grep -c '^candidate: data-race' <<<"$err")" 2 "$name: while it runs"
		run "$HEDDLE" explore --format json --budget 600 -o x -- "./$name" v
		is "$(json "$explored")" "10-9 11-12" "$name: explored"
		"$HEDDLE" record -q --seed 1 -o m.hdl -- "./$name" m
		run "$HEDDLE" races m.hdl --analysis hb --format json
		is "$(json "$pairs")" "13-13" "$name: one call with many lines is one pair"
		is "$(json '@{$d->{findings}[0]{variables}} > 1 && @{$d->{findings}[0]{exact}} > 1')" 1 \
			"$name: with all its variables, and the library's lines"
		run "$HEDDLE" races m.hdl --analysis hb
		like "$out" 'inside of [a-z_]+\.h:[0-9]+ with [a-z_]+\.h:[0-9]+, ' "$name: which the text has beneath"
		"$HEDDLE" record -q --seed 1 -o c.hdl -- "./$name" c
		run "$HEDDLE" races c.hdl --format json
		is "$(json "$pairs")" "3-4" "$name: a header of the user's own is the place itself"
		is "$(json 'join(" ", map { s,\..*,,r } @{$d->{findings}[0]{variables}})')" "one_cell other_cell" "$name: with both variables"
	done
done

# check, whose runs and exploration find the same places at other lines of the library
run "$HEDDLE" check --budget 600 --runs 2 --format json -- ./g++-O0 v
is "$(json 'join(" ", sort map { join("-", sort map { $_->{line} } @{$_->{places}}) } grep { $_->{kind} eq "data-race" } @{$d->{findings}})')" \
	"10-9 11-12" "check: each pair of places once"

# a suppression is of all that a finding stands for
"$HEDDLE" record -q --seed 1 -o m.hdl -- ./g++-O0 m
echo "race_top:std::_Rb_tree*::_S_right" >supp
run "$HEDDLE" races m.hdl --analysis hb --suppressions supp
is "$status" 1 "a line of one function of the library's leaves the others"
echo "race:born" >supp
run "$HEDDLE" races m.hdl --analysis hb --suppressions supp
is "$status" 0 "one of the user's function is of all"

# a report of before knows the places again, whichever lines of the library raced first
"$HEDDLE" races m.hdl --analysis hb --format json >old.json
"$HEDDLE" record -q --seed 5 -o n.hdl -- ./g++-O0 m
run "$HEDDLE" races n.hdl --analysis hb --baseline old.json
is "$status" 0 "a baseline has it"

# with the setting off, places are exact
mkdir -p config/heddle
printf "[my-code]\njust-my-code = off\n" >config/heddle/config
XDG_CONFIG_HOME=$PWD/config run "$HEDDLE" races m.hdl --analysis hb --format json
is "$(json '@{$d->{findings}} > 1')" 1 "with my-code off, each pair of exact lines"
done_testing
