/*
 * attributes.c - the caller's memory that functions of threads, locks and signals read and
 * write beside the object itself: attributes, sets of signals, what a thread is asked about.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "engine/record/runtime/outside/outside.h"
#include "touches.h"

#define MAKES(name, object)      TOUCHES(int, name, (object * a), (a), NOTHING, OUT(a))
#define READS_ONE(name, object)  TOUCHES(int, name, (object * a), (a), IN(a), NOTHING)
#define SETS(name, object, type) TOUCHES(int, name, (object * a, type v), (a, v), IN(a), OUT(a))
#define GETS(name, object, type) \
	TOUCHES(int, name, (const object *restrict a, type *restrict v), (a, v), IN(a), OUT(v))
#define TELLS(name, asked, type) \
	TOUCHES(int, name, (asked of, type * v), (of, v), NOTHING, OUT(v))
/* A kind of attributes: made and destroyed; and one of them: set and asked for. */
#define ATTRIBUTES(prefix, object) \
	MAKES(prefix##_init, object) \
	READS_ONE(prefix##_destroy, object)
#define ATTRIBUTE(prefix, object, attribute, type) \
	SETS(prefix##_set##attribute, object, type) \
	GETS(prefix##_get##attribute, object, type)

/* ---- threads ---- */

ATTRIBUTES(pthread_attr, pthread_attr_t)
ATTRIBUTE(pthread_attr, pthread_attr_t, detachstate, int)
ATTRIBUTE(pthread_attr, pthread_attr_t, guardsize, size_t)
ATTRIBUTE(pthread_attr, pthread_attr_t, stacksize, size_t)
ATTRIBUTE(pthread_attr, pthread_attr_t, schedpolicy, int)
ATTRIBUTE(pthread_attr, pthread_attr_t, inheritsched, int)
ATTRIBUTE(pthread_attr, pthread_attr_t, scope, int)
GETS(pthread_attr_getschedparam, pthread_attr_t, struct sched_param)
TOUCHES(int, pthread_attr_setschedparam,
        (pthread_attr_t *restrict a, const struct sched_param *restrict p), (a, p), IN(a);
        IN(p), OUT(a))
TOUCHES(int, pthread_attr_getstack,
        (const pthread_attr_t *restrict a, void **restrict low, size_t *restrict n),
        (a, low, n), IN(a), OUT(low);
        OUT(n))
TOUCHES(int, pthread_attr_setstack, (pthread_attr_t * a, void *low, size_t n), (a, low, n),
        IN(a), OUT(a))
TOUCHES(int, pthread_getattr_np, (pthread_t t, pthread_attr_t *a), (t, a), NOTHING, OUT(a))
TELLS(pthread_getcpuclockid, pthread_t, clockid_t)
TELLS(sched_getparam, pid_t, struct sched_param)
TOUCHES(int, pthread_getschedparam,
        (pthread_t t, int *restrict policy, struct sched_param *restrict p), (t, policy, p),
        NOTHING, OUT(policy);
        OUT(p))
/* A thread that asks for its own name gets it from the kernel, which fills all of its room. */
enum { NAME_BYTES = 16 };
TOUCHES(int, pthread_getname_np, (pthread_t t, char *name, size_t n), (t, name, n), NOTHING,
        OUT_IF(r == 0, name, t == me->life.handle ? NAME_BYTES : REAL(strlen)(name) + 1))
TOUCHES(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end),
        NOTHING, OUT(key))

/* ---- locks, conditions, barriers ---- */

ATTRIBUTES(pthread_mutexattr, pthread_mutexattr_t)
ATTRIBUTE(pthread_mutexattr, pthread_mutexattr_t, type, int)
ATTRIBUTE(pthread_mutexattr, pthread_mutexattr_t, pshared, int)
ATTRIBUTE(pthread_mutexattr, pthread_mutexattr_t, protocol, int)
ATTRIBUTE(pthread_mutexattr, pthread_mutexattr_t, robust, int)
ATTRIBUTE(pthread_mutexattr, pthread_mutexattr_t, prioceiling, int)
ATTRIBUTES(pthread_rwlockattr, pthread_rwlockattr_t)
ATTRIBUTE(pthread_rwlockattr, pthread_rwlockattr_t, pshared, int)
ATTRIBUTE(pthread_rwlockattr, pthread_rwlockattr_t, kind_np, int)
ATTRIBUTES(pthread_condattr, pthread_condattr_t)
ATTRIBUTE(pthread_condattr, pthread_condattr_t, pshared, int)
ATTRIBUTE(pthread_condattr, pthread_condattr_t, clock, __clockid_t)
ATTRIBUTES(pthread_barrierattr, pthread_barrierattr_t)
ATTRIBUTE(pthread_barrierattr, pthread_barrierattr_t, pshared, int)

/* ---- sets of signals ---- */

MAKES(sigemptyset, sigset_t)
MAKES(sigfillset, sigset_t)
MAKES(sigpending, sigset_t)
SETS(sigaddset, sigset_t, int)
SETS(sigdelset, sigset_t, int)
TOUCHES(int, sigismember, (const sigset_t *s, int number), (s, number), IN(s), NOTHING)
#define MASK(name) \
	TOUCHES(int, name, (int how, const sigset_t *restrict s, sigset_t *restrict old), \
	        (how, s, old), held_run_all(me); \
	        if (s) IN(s), OUT_IF(r == 0 && old, old, sizeof(*old)))
MASK(pthread_sigmask)
MASK(sigprocmask)
