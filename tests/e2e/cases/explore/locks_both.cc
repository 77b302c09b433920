/* std::scoped_lock takes one mutex and tries the other, in turn: two threads may fail for as long as both go on in
 * step. That is no error of the program, and no complete report: the rounds take locks that others try. */
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
//: explore
//= exit 3
//= errors
//= complete no
//~ said a run was cut: threads waited for each other by looking, and changed memory or locks meanwhile \(.*T1 waits for a change of [ab]
