/*
 * queue-threads: a stress test of the C++ library's queue behind a lock, as a bounded channel:
 * two threads put numbers in, two take them out and add them up.
 *
 *   heddle c++ -g -O1 queue-threads.cc -o queue-threads -pthread
 *   ./queue-threads [NUMBERS OF EACH]
 */
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <queue>
#include <thread>

class channel {
public:
	void put(long n)
	{
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [this] { return items.size() < 64; });
		items.push(n);
		changed.notify_all();
	}
	long take()
	{
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [this] { return !items.empty(); });
		long n = items.front();
		items.pop();
		changed.notify_all();
		return n;
	}

private:
	std::mutex lock;
	std::condition_variable changed;
	std::queue<long> items;
};

static channel numbers;
static long totals[2];

static void make(long count)
{
	for (long i = 0; i < count; i++)
		numbers.put(i);
}
static void add_up(int number, long count)
{
	for (long i = 0; i < count; i++)
		totals[number] += numbers.take();
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 20000;
	std::thread a(make, count), b(make, count);
	std::thread c(add_up, 0, count), d(add_up, 1, count);
	a.join();
	b.join();
	c.join();
	d.join();
	printf("%ld\n", totals[0] + totals[1]);
	return totals[0] + totals[1] != count * (count - 1);
}
