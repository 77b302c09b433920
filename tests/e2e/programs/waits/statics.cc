/* The guard of a C++ static: what makes it needs a lock that others hold while they wait for it. */
#include <mutex>
#include <thread>
#include <vector>

static std::mutex m;

struct table {
	table()
	{
		std::lock_guard<std::mutex> hold(m);
		rows.push_back(1);
	}
	std::vector<int> rows;
};

static int rows()
{
	static table all;
	return all.rows[0];
}

int main()
{
	int sum[2];
	std::thread one([&] { sum[0] = rows(); });
	std::thread two([&] {
#ifdef FIXED
		sum[1] = rows();
		std::lock_guard<std::mutex> hold(m);
#else
		std::lock_guard<std::mutex> hold(m);
		sum[1] = rows();
#endif
	});
	one.join();
	two.join();
	return sum[0] + sum[1] - 2;
}
