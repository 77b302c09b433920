/* std::scoped_lock and std::lock take one lock and try the others, in turn: two threads may fail for as long as both go
 * on in step. `heddle c++` begins each round with the first lock, so the loop is one that waits: as for any lock, one
 * class for each order of the two threads. */
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

#ifdef SHARED
using kind = std::shared_mutex;
#else
using kind = std::mutex;
#endif
static kind a, b, c;
static int x;

static void up()
{
#ifdef TWO
	std::scoped_lock all(a, b);
#else
	std::scoped_lock all(a, b, c);
#endif
	x++;
}

static void down()
{
#ifdef TWO
	std::unique_lock<kind> one(b, std::defer_lock), other(a, std::defer_lock);
	std::lock(one, other);
#else
	std::scoped_lock all(c, b, a);
#endif
	x++;
}

int main()
{
	std::thread t(up), u(down);
	t.join();
	u.join();
	assert(x == 2);
}

//: build -std=c++17 {-O0,-O1,-O2,-std=c++20} {-DTWO,-DTHREE,-DSHARED}
//: explore
//= exit 0
//= complete yes
//= states 2
