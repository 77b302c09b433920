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
static std::shared_mutex m;
static volatile int a, b;
int main()
{
	std::thread t([] {
		if (m.try_lock_shared()) {
			a = 1;
			m.unlock_shared();
		}
	}),
	        u([] {
		        if (m.try_lock()) {
			        b = 1;
			        m.unlock();
		        }
	        });
	t.join();
	u.join();
	return a * 10 + b;
}

//: build -std=c++20
//: explore
//= complete yes
//= outcomes 1 10 11
