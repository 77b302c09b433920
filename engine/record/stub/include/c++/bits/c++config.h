/*
 * bits/c++config.h - before libstdc++'s own in the search path of `heddle c++`, so that what
 * its headers access has hooks: std::string is compiled with the program, as from C++20 on,
 * instead of being taken from libstdc++'s file, and copies are calls.
 */
#pragma GCC system_header
#include_next <bits/c++config.h>
#if defined _GLIBCXX_EXTERN_TEMPLATE && _GLIBCXX_EXTERN_TEMPLATE > 0
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif
/* gcc makes copies of a known size without a hook, where they are asked for by these names. */
#ifndef __clang__
extern "C" {
void *__heddle_memcpy(void *, const void *, __SIZE_TYPE__) _GLIBCXX_USE_NOEXCEPT
        __asm__("memcpy");
void *__heddle_memmove(void *, const void *, __SIZE_TYPE__) _GLIBCXX_USE_NOEXCEPT
        __asm__("memmove");
void *__heddle_memset(void *, int, __SIZE_TYPE__) _GLIBCXX_USE_NOEXCEPT __asm__("memset");
}
#define __builtin_memcpy  __heddle_memcpy
#define __builtin_memmove __heddle_memmove
#define __builtin_memset  __heddle_memset
#endif
