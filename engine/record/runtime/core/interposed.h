/*
 * interposed.h - the names of interposed functions.
 *
 * A function of the C library that the runtime interposes, NAME, is defined as interposed_NAME
 * and exported as NAME.  So ctags, cscope and an editor that look for memcpy do not end here,
 * and a grep for interposed_ finds all of them.  INTERPOSED(NAME...), before the definitions,
 * makes that so; the compiler warns of a definition that is not named there
 * (-Wmissing-prototypes).  A prototype of the C library's headers must be in sight.
 */
#ifndef HEDDLE_INTERPOSED_H
#define HEDDLE_INTERPOSED_H

#define EXPORT __attribute__((visibility("default")))

#define INTERPOSED(...) INTERPOSED_4(INTERPOSED_EACH(__VA_ARGS__))

/* INTERPOSED where no header has a prototype, or marks it as deprecated. */
#define INTERPOSED_AS(type, name, parameters) \
	EXPORT type interposed_##name parameters __asm__(#name)

/* One declaration; then INTERPOSED_EACH for the other names, which only another scan expands.
 */
#define INTERPOSED_EACH(name, ...) \
	EXPORT __typeof__(name) interposed_##name __asm__(#name) \
	        __VA_OPT__(; INTERPOSED_AGAIN INTERPOSED_PARENS(__VA_ARGS__))
#define INTERPOSED_AGAIN() INTERPOSED_EACH
#define INTERPOSED_PARENS  ()
#define INTERPOSED_1(...)  __VA_ARGS__
#define INTERPOSED_2(...)  INTERPOSED_1(INTERPOSED_1(INTERPOSED_1(INTERPOSED_1(__VA_ARGS__))))
#define INTERPOSED_3(...)  INTERPOSED_2(INTERPOSED_2(INTERPOSED_2(INTERPOSED_2(__VA_ARGS__))))
#define INTERPOSED_4(...)  INTERPOSED_3(INTERPOSED_3(__VA_ARGS__))

#endif
