/* A lock that is never released, for which std::scoped_lock waits: at the user's line. */
#include <mutex>
#include <thread>

static std::mutex a, b;

int main()
{
	std::thread t([] { a.lock(); });
	std::thread u([] { std::scoped_lock both(b, a); });
	t.join();
	u.join();
}

//: build -std=c++17 {-O0,-O1}
//: explore
//= exit 1
//= errors blocked@locks_both_kept.cc:10
//= complete yes
