/* A worker waits by std::condition_variable_any and a std::stop_token. Behind its condition lies its pointer to a mutex,
 * under the same name: that the program reads it is no access to a part of a condition. WRONG: a stop that
 * comes between the worker's look and its wait wakes nobody. */
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex m;
static std::condition_variable_any changed;
static int jobs, done;

static void work(std::stop_token stop)
{
	std::unique_lock<std::mutex> lock(m);
	for (;;) {
#ifdef WRONG
		while (jobs == 0 && !stop.stop_requested())
			changed.wait(lock);
		if (jobs == 0)
			return;
#else
		if (!changed.wait(lock, stop, [] { return jobs > 0; }))
			return;
#endif
		jobs--;
		done++;
	}
}

int main()
{
	{
		std::jthread worker(work);
		{
			std::lock_guard<std::mutex> lock(m);
			jobs = 1;
		}
		changed.notify_one();
		worker.request_stop();
#ifdef WRONG
		changed.notify_all();
#endif
	}
	assert(done <= 1);
}

//: build -std=c++20
//: explore
//= exit 0
//= errors
//= complete yes
