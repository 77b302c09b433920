/* The last seat is sold twice: no return once the second seller holds the lock to look. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1, sold;

static void *sell(void *arg)
{
	pthread_mutex_lock(&m);
	int is_free = seats > 0;
	pthread_mutex_unlock(&m);
	if (is_free) {
		pthread_mutex_lock(&m);
		seats--;
		sold++;
		pthread_mutex_unlock(&m);
	}
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, sell, NULL);
	pthread_create(&u, NULL, sell, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	assert(sold == 1);
	return 0;
}
//: explore
//= exit 1
//= complete yes
//= join(",",@{$d->{errors}[0]{"point-of-no-return"}{sites}}) no_return.c:12,no_return.c:10
//= join(",",@{$d->{"point-of-no-return"}{"fails"}}{"thread","operation"}) T2,lock m
//= $d->{"point-of-no-return"}{"instead"}{"location"} no_return.c:14
//= $d->{"point-of-no-return"}{"every"}?1:0 1
//: explore
//~ out point of no return, after which every schedule fails: T2: lock m \(no_return.c:10\)
//: check --budget 5 --format json
//= (grep{$_}(map{$_->{"point-of-no-return"}{"sites"}[1]}@{$d->{"findings"}}))[0] no_return.c:10
