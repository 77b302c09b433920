#!/bin/bash
# The runtime in the place of the compilers' ThreadSanitizer libraries: it has their names.
. tests/e2e/lib.sh
cd "$scratch" || exit 1
runtime=$build/libheddle-record.so

names() { nm -D --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' | sed 's/@.*//' | LC_ALL=C sort -u; }
export LC_ALL=C
names "$runtime" >ours
compared=0
for library in "$(gcc -print-file-name=libtsan.so)" \
	"$(clang -print-file-name=libclang_rt.tsan-x86_64.so 2>/dev/null)" \
	"$(clang -print-runtime-dir 2>/dev/null)/libclang_rt.tsan-x86_64.so"; do
	[ -e "$library" ] && [ "$library" != "$last" ] || continue
	last=$library
	compared=$((compared + 1))
	names "$library" >theirs
	ok $([ "$(grep -c '^__tsan_' theirs)" -gt 100 ]; echo $?) "${library##*/} has hooks"
	is "$(grep -E '^(__tsan_|__sanitizer_|__interceptor_|Annotate|WTFAnnotate|RunningOn|Valgrind|ThreadSanitizer)' theirs |
		grep -v '__interceptor_te*mpnam' | comm -23 - ours)" "" "${library##*/}: each of its own names is ours too"
	# A reference without a version, to a name of several: the loader takes the oldest.
	for c in libc.so.6 libm.so.6; do
		nm -D --defined-only "$(gcc -print-file-name=$c)" | awk 'NF == 3 && /@/ { print $3 }' |
			sed 's/@.*//' | sort | uniq -d
	done | sort -u >several
	# The old lgamma differs by also setting signgam, which the new one does as well.
	is "$(comm -12 several theirs | comm -23 - ours | grep -v '^lgamma[fl]*$')" "" \
		"${library##*/}: no name of ours is left to an old version"
done
[ $compared -gt 0 ] || ok 0 "no ThreadSanitizer library is installed # SKIP nothing to compare with"

# A signal finds the runtime in its own code, or at rest: what writes records, holds locks and
# hands the token over makes no call of the C library that a handler could be let run in.  (The
# list of modules is asked for at rest; the two others make no system call.)
like "$(readelf -d "$runtime")" 'BIND_NOW|FLAGS_1.*NOW' "the runtime's calls are bound when it is loaded"
objects=$(dirname "$runtime")/engine/record/runtime
nm --defined-only "$runtime" | awk '{ print $NF }' | sort -u >defined
for folder in log sched replay; do
	nm -u "$objects/$folder"/*.o | awk 'NF == 2 { print $2 }' | sort -u | comm -23 - defined
done | grep -vxE '_GLOBAL_OFFSET_TABLE_|dl_iterate_phdr|__sched_cpucount|strerror' >foreign
is "$(cat foreign)" "" "and what is half done calls nothing of the C library"
is "$(objdump -d "$runtime" | grep -oE '(call|jmp) +[0-9a-f]+ <(memcpy|memmove|memset|strlen|strncmp)@plt>' | sort -u)" "" \
	"nor functions that the program may define itself"

# The other name of each function that ThreadSanitizer stands in for is that function.
cat >other_name.c <<'C'
#include <pthread.h>
#include <stdio.h>
int __interceptor_pthread_mutex_lock(pthread_mutex_t *);
FILE *__interceptor_fopen(const char *, const char *);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	FILE *f = __interceptor_fopen("/dev/null", "r");
	__interceptor_pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return f ? fclose(f) : 1;
}
C
"$HEDDLE" cc -g -O1 other_name.c -o other_name -pthread
run ./other_name
is "$status" 0 "__interceptor_ names, alone"
run "$HEDDLE" record -q -o other_name.hdl -- ./other_name
is "$status" 0 "and recorded"
run "$HEDDLE" convert other_name.hdl - --to text
like "$out" "acq\(m\)\|other_name.c:9" "as the function of that name"
gcc -g -O1 -fsanitize=thread other_name.c -o other_tsan -pthread
run "$HEDDLE" record -q -o other_tsan.hdl -- ./other_tsan
is "$status" 0 "in a program that is linked with ThreadSanitizer's library, too"

# What programs call by themselves links, does nothing alone, and is recorded.
cat >tell.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
void AnnotateHappensBefore(const char *, int, void *);
void AnnotateHappensAfter(const char *, int, void *);
void __tsan_acquire(void *), __tsan_release(void *);
void __tsan_mutex_pre_lock(void *, unsigned), __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void *__tsan_get_current_fiber(void);
uint32_t __sanitizer_unaligned_load32(const void *);
void __sanitizer_unaligned_store32(void *, uint32_t);
int RunningOnValgrind(void);
/* Programs bring some of them along. */
void AnnotateNewMemory(const char *f, int l, void *p, unsigned long s) { puts("mine"); }
static char bytes[8], own_lock, flag;
static void *one(void *p)
{
	__tsan_mutex_pre_lock(&own_lock, 0);
	__tsan_mutex_post_lock(&own_lock, 0, 0);
	__sanitizer_unaligned_store32(bytes + 1, 70000);
	__tsan_mutex_pre_unlock(&own_lock, 0);
	__tsan_mutex_post_unlock(&own_lock, 0);
	AnnotateHappensBefore(__FILE__, __LINE__, &flag);
	__tsan_release(bytes);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, one, 0);
	pthread_join(t, 0);
	AnnotateHappensAfter(__FILE__, __LINE__, &flag);
	__tsan_acquire(bytes);
	AnnotateNewMemory("", 0, bytes, 8);
	printf("%u %d %d\n", __sanitizer_unaligned_load32(bytes + 1), __tsan_get_current_fiber() != 0,
	       RunningOnValgrind());
	return 0;
}
C
run $HEDDLE cc -O1 tell.c -o tell -pthread
is "$status" 0 "a program that calls the library by itself links"
run ./tell
is "$status $out" "0 mine
70000 0 0" "and runs alone"
run $HEDDLE record -q -o tell.hdl -- ./tell
is "$status $out" "0 mine
70000 0 0" "and under record"
$HEDDLE convert tell.hdl tell.txt --to text
t=$(cat tell.txt)
for op in 'T1\|acq\(own_lock\)' 'T1\|rel\(own_lock\)' 'T1\|snd\(' 'main\|tryrcv\(' 'T1\|w4\(bytes.*\)=70000' 'main\|r4\(bytes.*\)=70000'; do
	like "$t" "$op" "recorded: $op"
done
done_testing
