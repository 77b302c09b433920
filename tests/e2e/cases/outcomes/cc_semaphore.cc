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
static std::binary_semaphore s(0);
int main()
{
	std::thread t([] { s.release(); }), u([] { r = s.try_acquire(); });
	t.join();
	u.join();
	return r;
}

//: build -std=c++20
//: explore
//= complete yes
//= outcomes 0 1
