// std::thread gives each thread a block of its own, with the function and its arguments.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
static std::mutex m;
static int x;
static void add(int by)
{
	std::lock_guard<std::mutex> guard(m);
	x += by;
}
int main(int argc, char **)
{
	std::vector<std::thread> t;
	for (int i = 0; i < 3; i++)
		t.emplace_back(add, argc > 1 ? i : 1);
	for (auto &u : t)
		u.join();
	assert(x == 3);
}

//: explore --symmetry
//= complete yes
//= states 1
//= $d->{"stand-for"} 6
//: explore --symmetry --format json @ different
//= complete yes
//= states 6
//= said
