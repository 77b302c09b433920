/* A loop over std::atomic waits for ever: the place is the user's line, not that of the library's function. */
#include <atomic>
#include <thread>
static std::atomic<bool> go;
int main()
{
	std::thread t([] {
		while (!go.load())
			;
	});
	t.join();
}

//: explore
//= exit 1
//= errors blocked@await_look_place.cc:8
//= complete yes
//~ out T1 waits for a change of go\S* \(await_look_place\.cc:8\)
