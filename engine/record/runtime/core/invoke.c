/*
 * invoke.c - invocations of specified objects: what the functions of `bind` lines (bind.c)
 * and the callers of heddle.h tell.  Their values come as text and go into the log as they
 * are; import.c reads them.
 */
#include "rt.h"

#define MOST_TEXT 4096

void heddle_record_call(const char *type, const void *object, const char *method,
                        const char *arguments);
void heddle_record_ret(const char *type, const void *object, const char *method,
                       const char *results);

/* Append a string and its NUL; false when there is no room. */
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
	sched_point(t); /* what libraries do is where threads meet */
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
