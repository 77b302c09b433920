#include <stdlib.h>
typedef struct { int x, y; } obj;
int main(void) { obj *volatile o = malloc(sizeof(obj)); o->x = 1; o->y = 2; free(o); o->y = 10; return 0; }

//: explore {,--seed 2}
//= exit 1
//= errors use-after-free@uaf1.c:3
//= complete yes
