// Lines of the standard library that are inlined at several of ours: two guards in one function, two
// in another, the other way round; and a vector that both functions grow.
#include <mutex>
#include <thread>
#include <vector>

static std::mutex left, right;
static std::vector<int> list;

static void one()
{
	list.push_back(1);
	std::lock_guard<std::mutex> g(left);
	std::lock_guard<std::mutex> h(right);
}

static void two()
{
	list.push_back(2);
	std::lock_guard<std::mutex> g(right);
	std::lock_guard<std::mutex> h(left);
}

int main()
{
	std::thread t(one), u(two);
	t.join();
	u.join();
	return list.size() > 2;
}
