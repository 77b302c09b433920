/* cond_any_stop.cc, where the worker waits without the stop_token: a stop that comes between its look and its wait wakes
 * nobody. */
#define WRONG
#include "cond_any_stop.cc"

//: build -std=c++20
//: explore
//= exit 1
//= errors blocked@cond_any_stop.cc:20
//= complete yes
