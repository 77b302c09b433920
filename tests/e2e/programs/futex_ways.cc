// What libstdc++ waits for by futex: each way alone, or all at once, as the argument says.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <barrier>
#include <mutex>
#include <semaphore>
#include <thread>

using namespace std::chrono_literals;

static int plain; // handed over by what each way waits for

static bool timed_out()
{
	std::promise<int> never;
	auto future = never.get_future();
	auto began = std::chrono::steady_clock::now();
	bool late = future.wait_for(100s) == std::future_status::timeout;
	late &= future.wait_until(std::chrono::system_clock::now() + 50s) ==
	        std::future_status::timeout;
	return late && std::chrono::steady_clock::now() - began >= 150s;
}

static bool future_in_time()
{
	std::promise<int> promise;
	auto future = promise.get_future();
	std::thread other([&] {
		std::this_thread::sleep_for(1s);
		plain = 1;
		promise.set_value(7);
	});
	bool ready = future.wait_for(3600s) == std::future_status::ready && plain == 1;
	other.join();
	return ready && future.get() == 7;
}

static bool future_get()
{
	auto future = std::async(std::launch::async, [] { return ++plain; });
	int value = future.get();
	return value == plain;
}

static bool atomic_wait()
{
	std::atomic<int> turn{ 0 };
	std::thread other([&] {
		for (int i = 0; i < 3; i++) {
			turn.wait(2 * i);
			plain++;
			turn = 2 * i + 2;
			turn.notify_one();
		}
	});
	for (int i = 0; i < 3; i++) {
		plain++;
		turn = 2 * i + 1;
		turn.notify_all();
		turn.wait(2 * i + 1);
	}
	other.join();
	return plain >= 6;
}

static bool latch_and_barrier()
{
	std::latch done(3);
	std::barrier meet(3);
	std::atomic<int> sum{ 0 };
	auto work = [&] {
		sum++;
		meet.arrive_and_wait();
		bool all = sum >= 3;
		meet.arrive_and_wait();
		sum += all;
		done.count_down();
	};
	std::thread a(work), b(work), c(work);
	done.wait();
	bool whole = sum == 6;
	a.join(), b.join(), c.join();
	return whole;
}

static bool semaphores()
{
	std::counting_semaphore<4> full(0), room(2);
	std::thread other([&] {
		for (int i = 0; i < 5; i++) {
			room.acquire();
			full.release();
		}
	});
	for (int i = 0; i < 5; i++) {
		full.acquire();
		room.release();
	}
	other.join();
	std::binary_semaphore never(0);
	return !never.try_acquire_for(100s);
}

static bool once()
{
	std::once_flag flag;
	int count = 0;
	auto run = [&] { std::call_once(flag, [&] { count++; }); };
	std::thread a(run), b(run);
	a.join(), b.join();
	return count == 1;
}

static bool never()
{
	std::atomic<int> go{ 0 };
	std::thread other([&] { go.wait(0); });
	other.join();
	return false;
}

int main(int, char **argv)
{
	static bool (*const ways[])() = {
		timed_out,         future_in_time, future_get, atomic_wait,
		latch_and_barrier, semaphores,     once,       never
	};
	for (char **way = argv + 1; *way; way++) {
		plain = 0;
		std::printf("%d", ways[std::atoi(*way)]());
	}
	std::printf("\n");
}
