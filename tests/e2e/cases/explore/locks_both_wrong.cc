/* Data that one thread guards by std::scoped_lock of some locks, and the other by one of others. */
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex a, b, c;
static int x;

int main()
{
	std::thread t([] {
		std::scoped_lock both(a, c);
		x++;
	});
	std::thread u([] {
		std::scoped_lock one(b);
		x++;
	});
	t.join();
	u.join();
	assert(x == 2);
}

//: build -std=c++17
//: explore
//= exit 1
//~ errors ^signal@locks_both_wrong.cc:21
//= complete yes
//~ out locks_both_wrong.cc:13
