/* A function returns while a thread uses its variable. */
#define LEAVES
#include "returned.c"

//: explore
//= errors use-after-free@returned.c:12 use-after-free@returned.c:13
//= complete yes
