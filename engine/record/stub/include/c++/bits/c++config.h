/*
 * bits/c++config.h - before libstdc++'s own in the search path of `heddle c++`: std::string is
 * compiled with the program, as from C++20 on, instead of being taken from libstdc++'s file,
 * where its accesses would have no hooks.
 */
#pragma GCC system_header
#include_next <bits/c++config.h>
#if defined _GLIBCXX_EXTERN_TEMPLATE && _GLIBCXX_EXTERN_TEMPLATE > 0
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif
