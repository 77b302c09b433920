/* Structures of libraries between two threads, each explored to its end; how to build them, and what was found:
 * docs/specified-objects.md, "On real data structures". One of
 *     LRU  a cache of two places with a lock; a get of a key that another thread loads waits for a condition
 *     FUTURE  std::promise, std::future, std::async
 *     GQUEUE, GPOOL  GLib's GAsyncQueue, GThreadPool
 *     BQUEUE, BSTACK, BSPSC  boost::lockfree's queue and stack (fixed size) and its queue of one writer and one reader
 */
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <future>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>

#if defined LRU
class cache {
	struct entry {
		int key, value;
		bool loading;
	};
	std::mutex m;
	std::condition_variable loaded;
	std::list<entry> recent;
	std::unordered_map<int, std::list<entry>::iterator> places;

public:
	std::atomic<int> loads{ 0 };

	int get(int key)
	{
		std::unique_lock<std::mutex> l(m);
		auto found = places.find(key);
		while (found != places.end() && found->second->loading) {
			loaded.wait(l);
			found = places.find(key);
		}
		if (found != places.end()) {
			recent.splice(recent.begin(), recent, found->second);
			return found->second->value;
		}
		recent.push_front({ key, 0, true });
		places[key] = recent.begin();
		auto e = recent.begin();
		if (places.size() > 2)
			drop();
		l.unlock();
		loads++;
		l.lock();
		e->value = 10 * key;
		e->loading = false;
		loaded.notify_all();
		return e->value;
	}

private:
	void drop()
	{
		for (auto last = recent.end(); last != recent.begin();)
			if (!(--last)->loading) {
				places.erase(last->key);
				recent.erase(last);
				return;
			}
	}
};
static cache c;
static void one() { assert(c.get(1) == 10); assert(c.get(2) == 20); }
static void two() { assert(c.get(1) == 10); assert(c.get(3) == 30); }
static void end() { assert(c.loads >= 3); }
#elif defined FUTURE
static std::promise<int> promise;
static std::shared_future<int> made = promise.get_future().share();
static std::atomic<int> sum;
static void one()
{
	promise.set_value(1);
	auto other = std::async(std::launch::async, [] { return made.get() + 1; });
	sum += other.get();
}
static void two() { sum += made.get(); }
static void end() { assert(sum == 3); }
#elif defined GQUEUE
#include <glib.h>
static GAsyncQueue *q = g_async_queue_new();
static std::atomic<int> got;
static void one() { g_async_queue_push(q, GINT_TO_POINTER(1)); g_async_queue_push(q, GINT_TO_POINTER(2)); }
static void two()
{
	int first = GPOINTER_TO_INT(g_async_queue_pop(q)), second = GPOINTER_TO_INT(g_async_queue_try_pop(q));
	assert(first == 1 && (second == 2 || second == 0));
	got = second ? 2 : 1;
}
static void end() { assert(g_async_queue_length(q) == 2 - got); }
#elif defined GPOOL
#include <glib.h>
static std::atomic<int> done;
static void work(gpointer data, gpointer) { done += GPOINTER_TO_INT(data); }
static GThreadPool *pool;
static void one()
{
	pool = g_thread_pool_new(work, NULL, 2, TRUE, NULL);
	g_thread_pool_push(pool, GINT_TO_POINTER(1), NULL);
	g_thread_pool_push(pool, GINT_TO_POINTER(2), NULL);
	g_thread_pool_free(pool, FALSE, TRUE);
	assert(done == 3);
}
static void two() {}
static void end() { assert(done == 3); }
#elif defined BQUEUE || defined BSTACK
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/stack.hpp>
#ifdef BQUEUE
static boost::lockfree::queue<int, boost::lockfree::capacity<4>> q;
#else
static boost::lockfree::stack<int, boost::lockfree::capacity<4>> q;
#endif
static std::atomic<int> sum;
static void take()
{
	int v;
	if (q.pop(v))
		sum += v;
}
static void one() { assert(q.push(1)); take(); }
static void two() { assert(q.push(2)); take(); }
static void end() { take(); take(); assert(sum == 3); }
#elif defined BSPSC
#include <boost/lockfree/spsc_queue.hpp>
static boost::lockfree::spsc_queue<int, boost::lockfree::capacity<2>> q;
static int expected = 1;
static void take()
{
	int v;
	if (q.pop(v))
		assert(v == expected++);
}
static void one() { assert(q.push(1)); assert(q.push(2)); }
static void two() { take(); take(); }
static void end() { take(); take(); assert(expected == 3); }
#endif

int main()
{
	std::thread t(one), u(two);
	t.join();
	u.join();
	end();
}
