/* The same by GLib's condition. */
#define GLIB
#include "two_waits.c"

//: build $(pkg-config --cflags --libs glib-2.0)
//: explore
//= statuses 1 2 11
