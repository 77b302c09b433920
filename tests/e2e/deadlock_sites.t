#!/bin/bash
# Deadlocks whose locks are all taken in one function, std::mutex's or the program's own, are told
# apart by the user's place and the lock; those of one place and one kind of lock are one finding.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >locks.cc <<'C'
#include <mutex>
#include <thread>
#include <vector>
static std::mutex a, b, c, d;
struct guard {
	std::mutex &m;
	guard(std::mutex &to) : m(to) { m.lock(); }
	~guard() { m.unlock(); }
};
struct fork {
	std::mutex m;
};
template <class Lock> static void one(bool way)
{
	Lock l(way ? a : b);
	Lock k(way ? b : a);
}
template <class Lock> static void two(bool way)
{
	Lock l(way ? c : d);
	Lock k(way ? d : c);
}
int main(int argc, char **argv)
{
	std::vector<fork> forks(3);
	auto both = [](bool way) {
		one<std::lock_guard<std::mutex>>(way);
		two<std::lock_guard<std::mutex>>(way);
	};
	auto own = [](bool way) {
		one<guard>(way);
		two<guard>(way);
	};
	auto dine = [&](int i) {
		std::lock_guard<std::mutex> l(forks[i].m);
		std::lock_guard<std::mutex> k(forks[(i + 1) % 2].m);
	};
	switch (argv[1][0]) {
	case 's': {
		std::thread t(both, true), u(both, false);
		t.join();
		u.join();
		break;
	}
	case 'o': {
		std::thread t(own, true), u(own, false);
		t.join();
		u.join();
		break;
	}
	default: {
		std::thread t(dine, 0), u(dine, 1);
		t.join();
		u.join();
	}
	}
}
C
pairs() {
	json 'join " | ", sort map { join " ", sort map { $_->{object} . "\@" . $_->{location} } grep { $_->{for} eq "lock" } @{$_->{waits}} } grep { $_->{kind} eq "deadlock" } @{$d->{findings}}'
}
line() { grep -n "$1" locks.cc | cut -d: -f1; }
std="a@locks.cc:$(line 'way ? b : a') b@locks.cc:$(line 'way ? b : a') | c@locks.cc:$(line 'way ? d : c') d@locks.cc:$(line 'way ? d : c')"
own="a@locks.cc:$(line 'm.lock') b@locks.cc:$(line 'm.lock') | c@locks.cc:$(line 'm.lock') d@locks.cc:$(line 'm.lock')"
for level in -O0 -O1; do
	"$HEDDLE" c++ -g $level locks.cc -o locks -pthread || exit 1
	for way in std own; do
		"$HEDDLE" record -q -o locks.hdl -- ./locks $way
		run "$HEDDLE" deadlocks --format json locks.hdl
		is "$(pairs)" "${!way}" "$level: deadlocks, $way"
		is "$(json '$d->{complete} ? 1 : 0')" 1 "$level: $way, complete"
		run "$HEDDLE" check --budget 60 --format json -- ./locks $way
		is "$(pairs)" "${!way}" "$level: check, $way"
	done
	run "$HEDDLE" explore -- ./locks std
	is "$(grep -c '^happened: deadlock' <<<"$out") $(grep -c 'gthr-default' <<<"$out")" "2 0" \
		"$level: explore, in the user's places"
	"$HEDDLE" record -q -o forks.hdl -- ./locks dine
	run "$HEDDLE" deadlocks --format json forks.hdl
	is "$(json 'scalar @{$d->{findings}}')" 1 "$level: of several locks of one kind one finding"
done
done_testing
