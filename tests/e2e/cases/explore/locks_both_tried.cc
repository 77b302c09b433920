/* A third thread tries a lock that std::scoped_lock takes: it may tell with which lock a round began, and the rounds of
 * libstdc++ begin with others than those of an exploration. So the report is not complete. */
#include <mutex>
#include <thread>

static std::mutex a, b;
static bool taken;

int main()
{
	std::thread t([] { std::scoped_lock both(a, b); });
	std::thread u([] {
		std::lock_guard<std::mutex> one(a);
		taken = b.try_lock(); /* false: b is held while a is not */
		if (taken)
			b.unlock();
	});
	t.join();
	u.join();
}

//: build -std=c++17
//: explore
//= exit 3
//= complete no
//~ said std::lock or std::scoped_lock takes a lock that is also tried otherwise
