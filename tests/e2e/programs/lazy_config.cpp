#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <cstdio>
struct Config { std::string name = "none"; int version = 0; };
template <typename T> class Lazy {
public:
	void set(T v) { value_ = std::make_shared<T>(std::move(v)); ready_.store(true, std::memory_order_relaxed); }
	std::shared_ptr<T> get() {
		if (!ready_.load(std::memory_order_relaxed))
			return nullptr;
		return value_;
	}
private:
	std::atomic<bool> ready_{false};
	std::shared_ptr<T> value_;
};
static Lazy<Config> defaults;
int main()
{
	std::thread a([] { defaults.set(Config{"x", 3}); });
	std::thread b([] { std::shared_ptr<Config> c; while (!(c = defaults.get())) std::this_thread::yield(); printf("%d\n", c->version); });
	a.join(); b.join();
}
