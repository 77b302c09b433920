/* What a test of Nidhugg's takes from Nidhugg, as a real program has it:
 * tests/bench/explore/nidhugg.sh. The test's main is nidhugg_main here. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

void __VERIFIER_assume(int holds);
int __VERIFIER_xchg_await_aint(atomic_int *var, int value, int condition, int operand);
int nidhugg_main(int argc, char **argv);

/* Nobody posts to it. */
static sem_t never;

/* An execution whose assumption does not hold waits for ever. */
void __VERIFIER_assume(int holds)
{
	if (!holds)
		sem_wait(&never);
}

/* An exchange that waits until the old value is greater than (bit 0), equal to (bit 1) or less
 * than (bit 2) the operand. */
int __VERIFIER_xchg_await_aint(atomic_int *var, int value, int condition, int operand)
{
	for (;;) {
		int old = atomic_load(var);
		if ((condition & (old > operand    ? 1
		                  : old == operand ? 2
		                                   : 4)) &&
		    atomic_compare_exchange_strong(var, &old, value))
			return old;
	}
}

/* In Nidhugg the other threads go on when main returns. */
int main(int argc, char **argv)
{
	nidhugg_main(argc, argv);
	pthread_exit(0);
}
