/*
 * heddle.h - for programs that tell Heddle of their objects' invocations themselves, where
 * `bind` lines cannot (inlined functions, methods of C++ classes, macros).
 *
 *     #include <heddle.h>
 *     heddle_call("dict", d, "put", "\"a.com\",p1");
 *     old = dict_put(d, "a.com", c);
 *     heddle_ret("dict", d, "put", old ? "p2" : "nil");
 *
 * Arguments and results are written as in a text trace: integers, nil, true, false,
 * "strings" (\" \\ \n \xHH), any other token as a constant of its own; several separated by
 * commas.  The first argument is the object's type: the name of its specification.
 *
 * Outside of `heddle record` the calls do nothing, and the program needs no library of
 * Heddle's.
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
