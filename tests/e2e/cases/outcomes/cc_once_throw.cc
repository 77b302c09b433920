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
static std::once_flag o;
int main()
{
	std::thread t([] {
		try {
			std::call_once(o, [] {
				x = 1;
				throw 1;
			});
		} catch (int) {
		}
	}),
	        u([] { std::call_once(o, [] { y = 1; }); });
	t.join();
	u.join();
	return x + (y ? 0 : 100);
}

//: build -std=c++20
//: explore
//= complete no
//~ said left by an exception
//~ outcomes ^(0|1)( (0|1))*$
