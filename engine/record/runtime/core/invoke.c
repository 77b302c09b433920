/*
 * invoke.c - invocations of specified objects, reported by wrappers of `bind` lines (bind.c)
 * and users of heddle.h. Values are recorded as text, and parsed by import.c.
 */
#include "rt.h"

#define MOST_TEXT 4096

void heddle_record_call(const char *type, const void *object, const char *method,
                        const char *arguments);
void heddle_record_ret(const char *type, const void *object, const char *method,
                       const char *results);

/* Append a string with its NUL; false without space. */
static bool append(char *text, size_t *length, const char *more)
{
	do {
		if (*length == MOST_TEXT)
			return false;
		text[(*length)++] = *more;
	} while (*more++ != 0);
	return true;
}

void invoke_record(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                   const char *type, const void *object, const char *method, const char *values)
{
	char text[MOST_TEXT];
	size_t length = 0;
	if (append(text, &length, type) && append(text, &length, method) &&
	    append(text, &length, values))
		log_invocation(t, tag, flags, pc, object, text, length);
}

EXPORT void heddle_record_call(const char *type, const void *object, const char *method,
                               const char *arguments)
{
	struct thread *t = recording();
	int error = errno;
	if (!t)
		return;
	sched_point(t); /* threads interact in libraries */
	invoke_record(t, LOG_CALL, 0, CALLER(), type, object, method, arguments);
	t->calls.told_calls++;
	errno = error;
}

EXPORT void heddle_record_ret(const char *type, const void *object, const char *method,
                              const char *results)
{
	struct thread *t = recording();
	int error = errno;
	if (!t)
		return;
	plan_point(t);
	invoke_record(t, LOG_RET, 0, CALLER(), type, object, method, results);
	t->calls.told_calls -= t->calls.told_calls > 0;
	errno = error;
}
