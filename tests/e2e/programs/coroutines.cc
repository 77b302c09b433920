// A coroutine that goes on in another thread: what it holds in its frame goes with it.
#include <coroutine>
#include <cstdio>
#include <mutex>
#include <thread>

struct task {
	struct promise_type {
		task get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};

static int unguarded, guarded;
static std::mutex m;

static task work(int n)
{
	int own = n;
	for (int i = 0; i < 2; i++) {
		{
			std::lock_guard<std::mutex> lock(m);
			guarded += own;
		}
		co_await std::suspend_always{};
		unguarded += own;
	}
}

int main()
{
	task a = work(1), b = work(2);
	a.handle.resume();
	b.handle.resume();
	std::thread t([&] { a.handle.resume(); });
	std::thread u([&] { b.handle.resume(); });
	t.join();
	u.join();
	std::printf("%d\n", guarded);
	a.handle.destroy();
	b.handle.destroy();
}
