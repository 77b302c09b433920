/* std::scoped_lock takes one mutex and tries the other, in turn: two threads may fail for as long as both go on in
 * step. That is no error of the program, and no complete report: a round begins with the lock that the one before failed to take,
 * so it is none without effect. */
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex a, b;
static int x;

int main()
{
	std::thread t([] { std::scoped_lock both(a, b); x++; });
	std::thread u([] { std::scoped_lock both(b, a); x++; });
	t.join();
	u.join();
	assert(x == 2);
}

//: build -std=c++17
//: explore --runs 300
//= exit 3
//= errors
//= complete no
//~ said ^the limit of runs was reached
