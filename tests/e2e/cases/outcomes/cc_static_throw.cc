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
static std::atomic<int> tries;
struct thing {
	int v;
	thing(int i)
	{
		if (tries++ == 0)
			throw 1;
		v = i;
	}
};
static thing &get(int i)
{
	static thing t(i);
	return t;
}
static volatile int a, b;
int main()
{
	std::thread t([] {
		try {
			a = get(1).v;
		} catch (int) {
			a = 0;
		}
	}),
	        u([] {
		        try {
			        b = get(2).v;
		        } catch (int) {
			        b = 0;
		        }
	        });
	t.join();
	u.join();
	return a + b * 10;
}

//: build -std=c++20
//: explore
//= complete no
//~ said left by an exception
//~ outcomes ^(1|20)( (1|20))*$
