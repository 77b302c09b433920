/* Queues of others, as first in, first out: rigtorp's SPSCQueue and, with -DMPMC, MPMCQueue; moodycamel's
 * ReaderWriterQueue (-DRW) and ConcurrentQueue (-DMOODY). Their headers lie where -I says:
 *
 *     heddle c++ -g -O1 -std=c++17 -DMPMC -I... queues.cc -o queues -pthread
 *     heddle explore --linearizable --spec queues.spec -- ./queues
 */
#include <pthread.h>
#if defined MOODY
#include "concurrentqueue.h"
static moodycamel::ConcurrentQueue<int> q(8);
static int put_(int v) { return q.enqueue(v); }
static int get_() { int v; return q.try_dequeue(v) ? v : 0; }
#elif defined RW
#include "readerwriterqueue.h"
static moodycamel::ReaderWriterQueue<int> q(3);
static int put_(int v) { return q.enqueue(v); }
static int get_() { int v; return q.try_dequeue(v) ? v : 0; }
#elif defined MPMC
#include "MPMCQueue.h"
static rigtorp::MPMCQueue<int> q(2);
static int put_(int v) { return q.try_push(v); }
static int get_() { int v; return q.try_pop(v) ? v : 0; }
#else
#include "SPSCQueue.h"
static rigtorp::SPSCQueue<int> q(3);
static int put_(int v) { return q.try_push(v); }
static int get_() { int *p = q.front(); if (!p) return 0; int v = *p; q.pop(); return v; }
#endif
struct queue { int x; } object;
extern "C" __attribute__((noipa)) void queue_put(struct queue *o, int v) { put_(v); }
extern "C" __attribute__((noipa)) int queue_get(struct queue *o) { return get_(); }
static void *one(void *p) { queue_put(&object, 1); return p; }
static void *two(void *p) {
#if defined MOODY || defined MPMC
	queue_put(&object, 2);
#else
	queue_get(&object);
#endif
	queue_get(&object); return p; }
int main()
{
	pthread_t t, u;
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	queue_get(&object);
	return 0;
}
