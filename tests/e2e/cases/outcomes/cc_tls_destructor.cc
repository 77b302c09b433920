#include <atomic>
#include <barrier>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <pthread.h>
static volatile int x, y, r;
struct d {
	int v = 0;
	~d()
	{
		x = 1;
	}
};
static thread_local d t;
int main()
{
	std::thread h([] { t.v = 1; }), o([] { r = x; });
	h.join();
	o.join();
	return r * 10 + x;
}

//: build -std=c++20
//: explore
//= complete yes
//= outcomes 1 11
