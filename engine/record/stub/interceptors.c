/*
 * interceptors.c - __interceptor_NAME, which ThreadSanitizer defines for each function NAME
 * that it interposes: it is NAME, the runtime's if it has one. Part of the runtime, for
 * programs that were linked with ThreadSanitizer's library, and of the files that `heddle cc`
 * links, for programs that call one.
 *
 * The jump keeps the return address.  Weak: not every C library has all of them.
 */
#define INTERCEPTOR(name) \
	__asm__(".pushsection .text\n.globl __interceptor_" #name "\n" VISIBILITY \
	        " __interceptor_" #name "\n.type __interceptor_" #name \
	        ", @function\n.weak " #name "\n__interceptor_" #name ":\n\tjmp " #name \
	        "@PLT\n.size __interceptor_" #name ", .-__interceptor_" #name \
	        "\n.popsection\n");
#ifdef HEDDLE_STUB
#define VISIBILITY ".hidden"
#else
#define VISIBILITY ".protected"
#endif
#include "engine/record/interceptors.def"
