/*
 * invoke.c - invocations of specified objects: what the functions of `bind` lines and the
 * callers of heddle.h tell.  Their values come as text and go into the log as they are;
 * import.c reads them.
 */
#include "rt.h"

#define MOST_TEXT 4096

void heddle_record_call(const char *type, const void *object, const char *method,
                        const char *arguments);
void heddle_record_ret(const char *type, const void *object, const char *method,
                       const char *results);
/* For the functions of bind lines: `pc` is where they were called from. */
void heddle_record_call_at(const void *pc, const char *type, const void *object,
                           const char *method, const char *arguments);
void heddle_record_ret_at(const void *pc, const char *type, const void *object,
                          const char *method, const char *results);

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

static void record(struct thread *t, enum log_tag tag, uintptr_t pc, const char *type,
                   const void *object, const char *method, const char *values)
{
	char text[MOST_TEXT];
	size_t length = 0;
	uint64_t self = (uintptr_t)object;
	if (!append(text, &length, type) || !append(text, &length, method) ||
	    !append(text, &length, values))
		return;
	log_before(t);
	log_blob(t, tag, pc, &self, 1, text, length);
}

EXPORT void heddle_record_call_at(const void *pc, const char *type, const void *object,
                                  const char *method, const char *arguments)
{
	struct thread *t = recording();
	int error = errno;
	if (!t)
		return;
	if (!rt.replay) /* what libraries do is where threads meet */
		sched_point(t);
	record(t, LOG_CALL, (uintptr_t)pc, type, object, method, arguments);
	errno = error;
}

EXPORT void heddle_record_ret_at(const void *pc, const char *type, const void *object,
                                 const char *method, const char *results)
{
	struct thread *t = recording();
	int error = errno;
	if (!t)
		return;
	record(t, LOG_RET, (uintptr_t)pc, type, object, method, results);
	errno = error;
}

EXPORT void heddle_record_call(const char *type, const void *object, const char *method,
                               const char *arguments)
{
	heddle_record_call_at((const void *)CALLER(), type, object, method, arguments);
}

EXPORT void heddle_record_ret(const char *type, const void *object, const char *method,
                              const char *results)
{
	heddle_record_ret_at((const void *)CALLER(), type, object, method, results);
}
