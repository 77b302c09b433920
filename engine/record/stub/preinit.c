/* preinit.c - empty: takes the place of gcc's libtsan_preinit.o, which would call libtsan. */
