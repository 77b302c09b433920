/*
 * heddle.h - annotations for programs: invocations of objects where `bind` lines are impossible
 * (inlined functions, C++ methods, macros).
 */
#ifndef HEDDLE_INVOCATIONS_H
#define HEDDLE_INVOCATIONS_H

#ifdef __cplusplus
extern "C" {
#endif

void heddle_record_call(const char *type, const void *object, const char *method,
                        const char *arguments) __attribute__((weak));
void heddle_record_ret(const char *type, const void *object, const char *method,
                       const char *results) __attribute__((weak));

/* Macros, so that the recorded place is the caller's line. */
#define heddle_call(type, object, method, arguments) \
	(heddle_record_call ? heddle_record_call(type, object, method, arguments) : (void)0)
#define heddle_ret(type, object, method, results) \
	(heddle_record_ret ? heddle_record_ret(type, object, method, results) : (void)0)

#ifdef __cplusplus
}
#endif

#endif
