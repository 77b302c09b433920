// pool: two threads take work out of a std::queue.  With BUG a waiter does not look again when
// it is woken, so that it finds what another has taken.
#include <cassert>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
struct pool {
	std::mutex m;
	std::condition_variable c;
	std::queue<std::function<void()>> work;
	bool done = false;
	std::vector<std::thread> threads;
	explicit pool(int n)
	{
		for (int i = 0; i < n; i++)
			threads.emplace_back([this] { run(); });
	}
	void run()
	{
		for (;;) {
			std::unique_lock<std::mutex> l(m);
#ifdef BUG
			if (work.empty() && !done)
				c.wait(l);
#else
			c.wait(l, [this] { return !work.empty() || done; });
#endif
			if (done && work.empty())
				return;
			assert(!work.empty());
			auto f = std::move(work.front());
			work.pop();
			l.unlock();
			f();
		}
	}
	void add(std::function<void()> f)
	{
		{
			std::lock_guard<std::mutex> l(m);
			work.push(std::move(f));
		}
		c.notify_one();
	}
	~pool()
	{
		{
			std::lock_guard<std::mutex> l(m);
			done = true;
		}
		c.notify_all();
		for (auto &t : threads)
			t.join();
	}
};
int main()
{
	int a = 0, b = 0;
	{
		pool p(2);
		p.add([&] { a = 1; });
		p.add([&] { b = 2; });
	}
	return a + b != 3;
}
