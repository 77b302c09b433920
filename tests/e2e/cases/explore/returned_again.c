/* A thread touches a variable of a function once more when it has told the function to return. */
#define AGAIN
#include "returned.c"

//: explore
//= errors use-after-free@returned.c:15
//= complete yes
//~ out T1 writes lend::r.done after main returned from its function .last seen there at returned.c:28.
