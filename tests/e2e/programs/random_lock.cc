/* random_lock.cc: std::lock, for random_sync.c with STD_LOCK. */
#include <mutex>
#include <pthread.h>

static_assert(sizeof(std::mutex) == sizeof(pthread_mutex_t), "a mutex is its handle alone");

extern "C" void std_lock(pthread_mutex_t *one, pthread_mutex_t *other)
{
	std::lock(reinterpret_cast<std::mutex &>(*one), reinterpret_cast<std::mutex &>(*other));
}
