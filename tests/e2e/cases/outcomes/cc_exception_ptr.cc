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
static std::mutex m;
int main()
{
	std::exception_ptr e;
	auto f = [&](int i) {
		try {
			throw i;
		} catch (...) {
			std::lock_guard<std::mutex> g(m);
			if (!e)
				e = std::current_exception();
		}
	};
	std::thread t(f, 1), u(f, 2);
	t.join();
	u.join();
	try {
		std::rethrow_exception(e);
	} catch (int i) {
		r = i;
	}
	return r;
}

//: build -std=c++20
//: explore
//= complete yes
//= outcomes 1 2
