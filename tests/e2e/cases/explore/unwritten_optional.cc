/* A std::optional without a value is copied: optimised, that reads its value, which nothing uses. */
#include <mutex>
#include <optional>
#include <thread>

struct state {
	std::mutex m;
	std::optional<int> last;
	std::optional<int> get()
	{
		std::lock_guard<std::mutex> guard(m);
		return last;
	}
};
static int sum;

int main()
{
	state *s = new state;
	std::thread writer([=] {
		std::lock_guard<std::mutex> guard(s->m);
		s->last = 5;
	});
	std::thread reader([=] {
		auto last = s->get();
		if (last)
			sum += *last;
	});
	writer.join();
	reader.join();
	delete s;
}

//: build {-O0,-O1,-O2}
//: explore
//= exit 0
//= errors
//= complete yes
