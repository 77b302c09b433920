// C++: a static with a guard, new and delete, threads, an exception through a thread.
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
struct table {
	std::vector<int> rows;
	table() { rows.assign(4, 1); }
};
static table &shared()
{
	static table one;
	return one;
}
static std::mutex lock;
static void work(int n)
{
	try {
		if (n == 1)
			throw std::runtime_error("one");
	} catch (const std::exception &) {
		n = 10;
	}
	std::lock_guard<std::mutex> guard(lock);
	shared().rows[0] += n;
}
int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 3; i++)
		threads.emplace_back(work, i);
	for (auto &t : threads)
		t.join();
	std::printf("%d\n", shared().rows[0]);
}
