/* std::lock of locks of several types, as an assignment of objects with readers has it. */
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

struct cell {
	mutable std::shared_mutex m;
	int value;
	cell &operator=(const cell &other)
	{
		std::unique_lock<std::shared_mutex> own(m, std::defer_lock);
		std::shared_lock<std::shared_mutex> others(other.m, std::defer_lock);
		std::lock(own, others);
		value = other.value;
		return *this;
	}
};
static cell a, b;

int main()
{
	a.value = 1;
	b.value = 2;
	std::thread t([] { a = b; });
	std::thread u([] { b = a; });
	t.join();
	u.join();
	assert(a.value == b.value);
}

//: build -std=c++20 {-O0,-O1}
//: explore
//= exit 0
//= complete yes
//= states 2
