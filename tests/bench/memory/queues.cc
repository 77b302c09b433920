/*
 * Queues of libraries, for `heddle explore --memory rc11`: one thread puts two items, another
 * gets what is there. One of -DREADERWRITERQUEUE (cameron314), -DSPSC, -DMPMC (rigtorp),
 * -DATOMIC_QUEUE (max0x7ba), -DCONCURRENTQUEUE (cameron314), -DWSQ (taskflow: the owner puts
 * two and takes one, another steals). The exit status is 1 when something came wrong.
 */
#include <pthread.h>
#include <stddef.h>

struct item {
	int value;
};
static item items[2];

#ifdef READERWRITERQUEUE
#include <readerwriterqueue.h>
static moodycamel::ReaderWriterQueue<item *> queue(2);
static bool put(item *i)
{
	return queue.try_enqueue(i);
}
static bool get(item *&i)
{
	return queue.try_dequeue(i);
}
#elif defined SPSC
#include <rigtorp/SPSCQueue.h>
static rigtorp::SPSCQueue<item *> queue(2);
static bool put(item *i)
{
	return queue.try_push(i);
}
static bool get(item *&i)
{
	if (queue.front() == nullptr)
		return false;
	i = *queue.front();
	queue.pop();
	return true;
}
#elif defined MPMC
#include <rigtorp/MPMCQueue.h>
static rigtorp::MPMCQueue<item *> queue(2);
static bool put(item *i)
{
	return queue.try_push(i);
}
static bool get(item *&i)
{
	return queue.try_pop(i);
}
#elif defined ATOMIC_QUEUE
#include <atomic_queue/atomic_queue.h>
static atomic_queue::AtomicQueue<item *, 2> queue;
static bool put(item *i)
{
	return queue.try_push(i);
}
static bool get(item *&i)
{
	return queue.try_pop(i);
}
#elif defined CONCURRENTQUEUE
#include <concurrentqueue.h>
static moodycamel::ConcurrentQueue<item *> queue(64);
static bool put(item *i)
{
	return queue.try_enqueue(i);
}
static bool get(item *&i)
{
	return queue.try_dequeue(i);
}
#else
#include <taskflow/core/wsq.hpp>
static tf::BoundedWSQ<item *, 2> queue;
static bool put(item *i)
{
	return queue.try_push(i);
}
static bool get(item *&i)
{
	i = queue.steal();
	return i != nullptr;
}
#endif

static int taken[2];
static int take(item *i)
{
	taken[i - items]++;
	return i->value;
}

static void *producer(void *p)
{
	for (int i = 0; i < 2; i++) {
		items[i].value = i + 1;
		if (!put(&items[i]))
			break;
	}
#ifdef WSQ
	item *own = queue.pop();
	if (own != nullptr)
		take(own);
#endif
	return p;
}

int main()
{
	pthread_t t;
	int last = 0, wrong = 0;
	pthread_create(&t, nullptr, producer, nullptr);
	for (int i = 0; i < 2; i++) {
		item *got = nullptr;
		if (get(got)) {
			int value = take(got);
			wrong |= value <= last;
			last = value;
		}
	}
	pthread_join(t, nullptr);
	return wrong || taken[0] > 1 || taken[1] > 1;
}
