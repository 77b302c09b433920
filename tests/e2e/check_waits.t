#!/bin/bash
# heddle check of C++20's waits: a latch, a barrier, a semaphore and std::atomic::wait sleep in futexes inside of libstdc++. Runs
# that go on after a part of a recording follow it through them, and find what the threads do wrong after the wait.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
cat >gate.cc <<'C'
#include <atomic>
#include <barrier>
#include <latch>
#include <map>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
struct cache {
	std::shared_mutex lock;
	std::map<int, int> values;
	int loads = 0;
	void get(int key)
	{
		{
			std::shared_lock held(lock);
			if (values.count(key))
				return;
		}
		std::unique_lock held(lock);
		loads++;
		values[key] = key;
	}
};
#if defined LATCH
static std::latch gate(3);
static void pass() { gate.arrive_and_wait(); }
static void open() {}
#elif defined BARRIER
static std::barrier gate(3);
static void pass() { gate.arrive_and_wait(); }
static void open() {}
#elif defined SEMAPHORE
static std::counting_semaphore<3> gate(0);
static void pass() { gate.acquire(); }
static void open() { gate.release(3); }
#else
static std::atomic<int> gate;
static void pass() { gate.wait(0); }
static void open() { gate = 1; gate.notify_all(); }
#endif
int main()
{
	cache all;
	{
		auto work = [&] { pass(); all.get(1); };
		std::jthread a(work), b(work), c(work);
		open();
	}
	return all.loads == 1 ? 0 : 1;
}
C
"$HEDDLE" c++ -std=c++20 -DLATCH -g -O1 gate.cc -o gate 2>/dev/null || {
	skip "C++20's waits" "no compiler with <latch>"
	done_testing
	exit
}
for gate in LATCH BARRIER SEMAPHORE WAIT; do
	"$HEDDLE" c++ -std=c++20 -D$gate -g -O1 gate.cc -o gate || exit 1
	run "$HEDDLE" check --budget 40 -o $gate --format json -- ./gate
	is "$(json 'join " ", map { "$_->{kind} $_->{harm} $_->{difference}" } grep { $_->{kind} ne "exit" } @{$d->{findings}}')" \
		"atomic-set-violation differs exit status 1, not exit status 0" "$gate: why the status is 1"
	like "$(json 'join " ", map { $_->{text} } grep { $_->{kind} ne "exit" } @{$d->{findings}}')" "gate.cc:17" \
		"at its check, not in the wait"
done
done_testing
