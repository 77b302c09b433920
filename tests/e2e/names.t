#!/bin/bash
# Names in recordings: globals, members, arrays, heap blocks, locks, places, functions.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

cat >names.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct item { int key; struct item *next; };
struct box { pthread_mutex_t lock; struct item *head; int used; };
struct inner { int x; };
struct outer { double d; struct inner i[3]; };
struct { long balance, deposits; } acct;
struct outer gs[2];
int matrix[3][4];
struct box *box;
double *table;
__attribute__((noinline)) void put(struct item *item, int key)
{
	item->key = key;
	item->next = box->head;
	box->head = item;
	box->used++;
}
void *worker(void *arg)
{
	static int runs;
	pthread_mutex_lock(&box->lock);
	runs++;
	acct.balance += 5;
	gs[1].i[2].x = 7;
	matrix[2][3] = 8;
	table[4] = 1.5;
	put(malloc(sizeof(struct item)), 1);
	put(malloc(sizeof(struct item)), 2);
	pthread_mutex_unlock(&box->lock);
	return arg;
}
int main(void)
{
	pthread_t t;
	void *raw = malloc(33);
	box = malloc(sizeof *box);
	table = malloc(8 * sizeof *table);
	pthread_mutex_init(&box->lock, NULL);
	box->head = NULL;
	box->used = 0;
	*(volatile short *)((char *)raw + 4) = 3;
	pthread_create(&t, NULL, worker, NULL);
	pthread_join(t, NULL);
	free(table);
	return raw == NULL;
}
C

look() { # look HOW COMPILER FLAGS...
	local how=$1
	shift
	CC=$1 "$HEDDLE" cc "${@:2}" names.c -o names -pthread 2>cc.err || { skip "$how" "$(head -1 cc.err)"; return; }
	"$HEDDLE" record -o names.hdl -- ./names 2>/dev/null
	is "$?" 0 "$how: recorded"
	"$HEDDLE" convert --to text names.hdl names.txt 2>/dev/null
	for name in 'w8(acct.balance)=5|names.c:24' 'w4(gs\[1\].i\[2\].x)=7|names.c:25' \
		'w4(matrix\[2\]\[3\])=8|names.c:26' 'w8(table\[4\])' 'w4(runs)=1|names.c:23' \
		'acq(box->lock)|names.c:22' 'w4(item->key)=1|names.c:14' 'w4(item#2->key)=2' \
		'w4(box->used)=2|names.c:17' 'w2(block@names.c:36+4)=3;volatile|names.c:42' \
		'alloc(block@names.c:36,33)' 'free(\*table)|names.c:45'; do
		is "$(grep -c -- "$name" names.txt)" 1 "$how: $name"
	done
	is "$(grep -c 'enter(put)' names.txt)" 2 "$how: functions"
	# and the text is a trace in which blocks are what they were
	is "$("$HEDDLE" info names.hdl --format json 2>/dev/null | grep -o '"variables": *[0-9]*')" \
		"$("$HEDDLE" info names.txt --format json 2>/dev/null | grep -o '"variables": *[0-9]*')" "$how: as many variables in the text"
}
# Locals that other threads touch: whoever it is, by the function in whose frame they lie.
cat >locals.c <<'C'
#include <pthread.h>
struct job { int id; long sums[3]; pthread_mutex_t lock; };
static void *run(void *p)
{
	struct job *job = p;
	pthread_mutex_lock(&job->lock);
	job->sums[1] += job->id;
	pthread_mutex_unlock(&job->lock);
	return 0;
}
static __attribute__((noinline)) long both(int k)
{
	pthread_t threads[2];
	struct job jobs[2];
	for (int i = 0; i < 2; i++) {
		jobs[i].id = k;
		jobs[i].sums[1] = 0;
		pthread_mutex_init(&jobs[i].lock, 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, run, &jobs[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return jobs[0].sums[1] + jobs[1].sums[1];
}
static __attribute__((noinline)) int deeper(int k)
{
	volatile int room[90];
	room[0] = k;
	__asm__ volatile("" : : "r"(room) : "memory");
	return both(k) != 2 * k || room[0] != k;
}
int main(void)
{
	return both(2) != 4 || deeper(3);
}
C
look_at_locals() { # look_at_locals HOW COMPILER FLAGS...
	local how=$1
	shift
	CC=$1 "$HEDDLE" cc "${@:2}" locals.c -o locals -pthread 2>cc.err || { skip "$how" "$(head -1 cc.err)"; return; }
	"$HEDDLE" record -o locals.hdl -- ./locals 2>/dev/null
	is "$?" 0 "$how: recorded"
	"$HEDDLE" convert --to text locals.hdl locals.txt 2>/dev/null
	is "$(grep -c '^T[34]|w8(stack@main.both::jobs\[1\].sums\[1\])=' locals.txt)" 2 "$how: a local's member"
	is "$(grep -c '^T[12]|w8(stack@main.both::jobs\[1\].sums\[1\]#2)=' locals.txt)" 2 "$how: in another frame of the function"
	is "$(grep -c '^T[12]|acq(both::jobs\[1\].lock)' locals.txt)" 2 "$how: a lock in a local"
}

look "gcc" gcc -g -O1
for o in -O0 -O1 -O2; do look_at_locals "gcc $o" gcc -g $o; done
if has clang "names of clang's programs"; then
	look "clang" clang -g -O1
	for o in -O0 -O1; do look_at_locals "clang $o" clang -g $o; done
fi

# C++: a lambda is named after the function that it stands in, and the frames with which the
# library starts a thread are left out of a finding's callers.
cat >threads.cc <<'C'
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>
namespace shop {
struct Till { std::mutex m; long total = 0; };
template <typename T> struct Clerk {
	T &till;
	void operator()() { serve(); }
	void __attribute__((noinline)) serve() { till.total += 1; }
};
}
int main()
{
	shop::Till till;
	std::vector<std::thread> all;
	all.emplace_back(shop::Clerk<shop::Till>{ till });
	all.emplace_back([&till] {
		auto inner = [&till]() __attribute__((noinline)) { till.total += 10; };
		inner();
	});
	for (auto &t : all)
		t.join();
	std::printf("%ld\n", till.total);
}
C
look_at_threads() { # look_at_threads COMPILER
	CXX=$1 "$HEDDLE" c++ -g -O1 threads.cc -o threads -pthread 2>cc.err || { skip "$1, C++" "$(head -1 cc.err)"; return; }
	"$HEDDLE" record --seed 1 -o threads.hdl -- ./threads >/dev/null 2>&1
	"$HEDDLE" races threads.hdl >threads.out 2>&1
	like "$(cat threads.out)" 'on main::till.total' "$1, C++: a member of an object on the stack"
	like "$(cat threads.out)" 'in shop::Clerk(<shop::Till>)?::serve' "$1, C++: a template's method"
	like "$(cat threads.out)" 'in (main::lambda::)?lambda, from main::lambda threads.cc:20' "$1, C++: a lambda in a lambda"
	unlike "$(cat threads.out)" 'from std::' "$1, C++: not how the library starts a thread"
}
look_at_threads g++
has clang++ "threads of C++ by clang" && look_at_threads clang++

# Without debug information: symbols, and a word about it.
CC=gcc "$HEDDLE" cc -g0 -O1 names.c -o bare -pthread && strip -g bare
"$HEDDLE" record -o bare.hdl -- ./bare 2>bare.err
"$HEDDLE" convert --to text bare.hdl bare.txt 2>>bare.err
is "$(grep -c 'w8(acct)=5|worker+0x' bare.txt)" 1 "stripped: symbol and offset"
is "$(grep -c 'enter(put)' bare.txt)" 2 "stripped: functions by symbol"

# What the C library keeps for itself: by the struct that it returns, else by file and offset.
cat >kept.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
int *kept(void);
static time_t a = 1, b = 100000;
static void *work(void *p)
{
	struct tm *t = gmtime(p);
	*kept() += t->tm_hour;
	return NULL;
}
int main(void)
{
	pthread_t x, y;
	pthread_create(&x, NULL, work, &a);
	pthread_create(&y, NULL, work, &b);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	return 0;
}
C
printf 'static int many[40];\nint *kept(void) { return many + 3; }\n' >library.c
gcc -shared -fPIC -O1 -o libkept.so library.c && strip libkept.so
CC=gcc "$HEDDLE" cc -g -O1 kept.c -o kept -L. -lkept -Wl,-rpath,"$PWD" -pthread
"$HEDDLE" record -q -o kept.hdl -- ./kept
"$HEDDLE" races kept.hdl >kept.out
like "$(cat kept.out)" 'tm@libc\.tm_hour' "the C library's own struct tm has its name"
like "$(cat kept.out)" 'on libkept\.so\+0x[0-9a-f]+' "data of a library without symbols: the file and the offset"
unlike "$(cat kept.out)" 'memory@' "not a bare address"

# C++ without debug information: not the compiler's symbols, nor the suffixes of its copies.
cat >plain.cc <<'C'
#include <pthread.h>
namespace bank {
struct Account {
	long total;
	void add(int n);
};
__attribute__((noinline)) void Account::add(int n) { total += n; }
Account acct;
}
static void *work(void *p) { bank::acct.add(1); return p; }
int main()
{
	pthread_t x;
	pthread_create(&x, nullptr, work, nullptr);
	work(nullptr);
	pthread_join(x, nullptr);
}
C
CXX=g++ "$HEDDLE" c++ -g0 -O1 plain.cc -o plain -pthread
"$HEDDLE" record -q -o plain.hdl -- ./plain 2>/dev/null
"$HEDDLE" races plain.hdl >plain.out 2>&1
like "$(cat plain.out)" 'on bank::acct' "without debug information: a variable of a namespace"
like "$(cat plain.out)" 'bank::Account::add\+0x' "and a method"
unlike "$(cat plain.out)" '_ZN' "no mangled names"
cat >regions.cc <<'C'
struct P {
	int hits;
	void go()
	{
#pragma omp parallel num_threads(2)
		hits++;
#pragma omp parallel num_threads(2)
		hits++;
	}
};
P p;
int main() { p.go(); }
C
if CXX=g++ "$HEDDLE" c++ -g -O1 -fopenmp regions.cc -o regions -pthread 2>/dev/null; then
	"$HEDDLE" record -q -o regions.hdl -- ./regions
	"$HEDDLE" races regions.hdl >regions.out
	like "$(cat regions.out)" 'in P::go::omp( |$)' "an OpenMP region, by the function that it stands in"
	like "$(cat regions.out)" 'in P::go::omp#2' "and the second one"
else
	skip "OpenMP in C++" "it does not compile here"
fi
# a type at hand that an access contradicts: the block is no whole number of them
cat >raw.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct wide { long x[5]; };
static void *pool;
static void fill(void *raw, int n)
{
	struct wide *w = raw;
	w->x[0] = 1;
	for (int i = 0; i < n; i++)
		((char *)raw)[i + 64] = (char)i;
}
static void *work(void *p) { fill(p, 20); return p; }
int main(void)
{
	pthread_t t;
	pool = malloc(103);
	pthread_create(&t, NULL, work, pool);
	fill(pool, 20);
	pthread_join(t, NULL);
	return 0;
}
C
"$HEDDLE" cc -g -O1 raw.c -o raw -pthread && "$HEDDLE" record -q -o raw.hdl -- ./raw
"$HEDDLE" races raw.hdl >raw.out
like "$(cat raw.out)" 'on block@raw.c:16[+]64, block@raw.c:16[+]65' "a type at hand that the accesses contradict is not the block's"
# names that two variables would have: a static array, a block of the same name, and a second one
cat >shared.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int items[4];
struct pair { int a, b; };
struct node { struct pair in[3]; char text[8]; };
static struct node *node;
static void *work(void *of)
{
	int *items = of;
	struct node *n = node;
	for (int i = 0; i < 4; i++)
		items[i] = i;
	n[1].in[2].b = 3;
	for (int i = 0; i < 8; i++)
		n[0].text[i] = (char)i;
	*(volatile short *)(n[1].text + 1) = 1;
	return NULL;
}
static void *more(void *of)
{
	int *items = of;
	items[2] = 7;
	return NULL;
}
int main(void)
{
	pthread_t t;
	node = malloc(2 * sizeof *node);
	int *block = malloc(4 * sizeof *block), *other = malloc(4 * sizeof *other);
	for (int i = 0; i < 4; i++)
		items[i] = i;
	pthread_create(&t, NULL, work, block);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, more, other);
	pthread_join(t, NULL);
	return items[2] + block[1];
}
C
"$HEDDLE" cc -g -O0 shared.c -o shared -pthread && "$HEDDLE" record -q -o shared.hdl -- ./shared
"$HEDDLE" convert -q shared.hdl shared.csv
names=$(cut -d, -f1-20 shared.csv)
like "$names" 'main,w,items\[2\],' "a static array keeps its name"
like "$names" 'T1,w,items\[2\]#2,' "a block's element of that name has a number"
like "$names" 'T2,w,items#2\[2\],' "the element of a second block has the block's"
like "$names" 'node\[1\]\.in\[2\]\.b,' "an element's part in an array of its own"
like "$names" 'node\[0\]\.text\[7\],' "and the last one of another"
like "$names" 'node\[1\]\.text\+1,' "an access that fits no element is named by its distance"

# bytes of a stack that two functions have in turn: the one whose local another thread touches gives the name
cat >slot.c <<'C'
#include <pthread.h>
static void use(volatile int *p) { for (int i = 0; i < 4; i++) p[i] = i; }
static void *run(void *p) { *(volatile int *)p = 1; return 0; }
__attribute__((noinline)) static int before(void)
{
	volatile int old[4];
	use(old);
	return old[2];
}
__attribute__((noinline)) static int later(void)
{
	volatile int ours[4];
	use(ours);
	pthread_t t;
	pthread_create(&t, 0, run, (void *)&ours[1]);
	ours[1] = 2;
	pthread_join(t, 0);
	return ours[1];
}
int main(void)
{
	return before() + later() > 9;
}
C
"$HEDDLE" cc -g -O1 slot.c -o slot -pthread && "$HEDDLE" record -q -o slot.hdl -- ./slot
run "$HEDDLE" races slot.hdl
like "$out" 'data-race  on later::ours\[1\]$' "a slot of two functions is named after the one that shares it"

# a table that no global points to: it is known by the pointers of its functions, and what it holds by
# its members; a thread's argument is the block at that address when the thread began
cat >table.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
typedef struct node { char *key; struct node *next; } node;
struct table { int size, entries; node **slots; char *title; void (*release)(void *); };
struct crew { struct table *table; char room[624]; pthread_cond_t done; };
static struct table *table_new(void)
{
	struct table *t = calloc(1, sizeof *t);
	t->size = 100;
	t->slots = calloc((size_t)t->size, sizeof *t->slots);
	t->title = malloc(20);
	memset(t->title, 0, 20);
	t->release = free;
	return t;
}
static void table_free(struct table *t)
{
	for (int i = 0; i < t->size; i++) {
		node *n = t->slots[i];
		while (n) {
			node *next = n->next;
			free(n);
			n = next;
		}
	}
	free(t->title);
	free(t->slots);
	free(t);
}
static void *work(void *p)
{
	struct crew *crew = p;
	crew->table->slots[3] = NULL;
	crew->table->title[2]++;
	pthread_cond_signal(&crew->done);
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	table_free(table_new());
	struct table *table = table_new();
	node *list = malloc(sizeof(struct crew) / 2), *other = malloc(sizeof(struct crew) / 2);
	list->key = other->key = NULL;
	free(list);
	free(other);
	struct crew *crew = calloc(1, sizeof *crew);
	crew->room[0] = 1;
	crew->table = table;
	pthread_create(&a, NULL, work, crew);
	pthread_create(&b, NULL, work, crew);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
"$HEDDLE" cc -g -O1 table.c -o table -pthread && "$HEDDLE" record -q -o table.hdl -- ./table
run "$HEDDLE" races table.hdl
like "$out" 'data-race  on t(#2)?->slots\[3\]' "a block of pointers has the name of the member that holds it"
like "$out" 'data-race  on t(#2)?->title\[2\]' "a block of characters, too"
printf '%s\n' wait "view trace" "save-screen screen.txt" >script
COLUMNS=250 LINES=30 "$HEDDLE" open table.hdl --script script
like "$(cat screen.txt)" 'T1 work\(crew\)' "a thread's argument is not named after a freed block at its address"
like "$(cat screen.txt)" 't#2->title reads t#2->title ' "nor is a pointer's value"
like "$(cat screen.txt)" 't#2->slots reads t#2->slots ' "where nothing has touched the block's first bytes, by the block"
"$HEDDLE" convert -q --to text table.hdl table.txt
like "$(grep signal table.txt)" 'signal\(crew->done\)' "nor is a condition in a block that begins before the freed one"

# A pointer to a base class, or the counts of make_shared: the object's own class names it. An
# element of a library's node has its own type.
cat >derived.cc <<'C'
#include <list>
#include <map>
#include <memory>
#include <thread>
#include <vector>
struct Account { int id; long balance; };
struct Shape { virtual ~Shape() {} int kind = 1; };
struct Square : Shape { long side = 0; int drawn = 0; };
struct Circle : Shape { long radius[4] = {}; };
struct Bank {
	std::map<int, Account> accounts;
	std::list<Account> log;
	std::vector<int> order;
};
static std::unique_ptr<Shape> shape, other;
int main()
{
	auto bank = std::make_shared<Bank>();
	bank->accounts[3] = {3, 0};
	bank->log.push_back({5, 0});
	bank->order.reserve(4);
	shape.reset(new Square);
	other.reset(new Circle);
	auto work = [bank] {
		bank->accounts[3].balance++;
		bank->log.front().balance++;
		static_cast<Square *>(shape.get())->side++;
		static_cast<Circle *>(other.get())->radius[2]++;
		bank->order.push_back(1);
	};
	std::thread t(work), u(work);
	t.join();
	u.join();
	return 0;
}
C
for level in -O0 -O1; do
	"$HEDDLE" c++ -g $level derived.cc -o derived -pthread && "$HEDDLE" record -q -o derived.hdl -- ./derived
	"$HEDDLE" races derived.hdl >found 2>&1
	for name in 'Bank->accounts->second.balance' 'Bank->log->balance' 'shape->side' 'other->radius\[2\]' \
		'Bank->order'; do
		like "$(cat found)" "(reads|writes) $name [(]" "$level: $name"
	done
	unlike "$(cat found)" '_vptr|_Sp_counted' "$level: none by the base class"
done

# What a library's type or a number says nothing of has the name of the member that holds it; an
# element of a container the container's, a lambda's variable its own, a member in the padding of
# a base class too; and the class is the one whose virtual functions the object has.
cat >held.cc <<'C'
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>
struct Queue { int items; pthread_mutex_t *mut; pthread_cond_t *notEmpty; };
struct Fork { std::mutex m; int uses = 0; };
struct Pool { std::vector<int> slots; };
struct Base { int state = 0; virtual void run() { state++; } virtual ~Base() {} };
struct Derived : Base { int more = 0; void run() override { more++; } };
static std::vector<Fork> forks(3);
static std::array<Fork, 2> pair;
static std::map<int, long> ages;
static Queue *queue;
static Pool *pool;
int main()
{
	queue = new Queue{0, new pthread_mutex_t, new pthread_cond_t};
	pthread_mutex_init(queue->mut, nullptr);
	pthread_cond_init(queue->notEmpty, nullptr);
	pool = new Pool{std::vector<int>(8)};
	Base *shape = new Derived;
	ages[1] = ages[2] = 3;
	int counter = 0;
	auto count = [counter]() mutable { counter++; };
	auto work = [&] {
		pthread_mutex_lock(queue->mut);
		pthread_cond_signal(queue->notEmpty);
		pthread_mutex_unlock(queue->mut);
		{ std::lock_guard<std::mutex> one(forks[1].m), two(pair[1].m); }
		pool->slots[3]++;
		ages[2]++;
		shape->run();
		count();
	};
	std::thread t(work), u(work);
	t.join();
	u.join();
	return 0;
}
C
for level in -O0 -O1; do
	"$HEDDLE" c++ -std=c++17 -g $level held.cc -o held -pthread && "$HEDDLE" record -q -o held.hdl -- ./held
	run "$HEDDLE" races held.hdl
	for name in 'pool->slots\[3\]' 'ages(#2)?->second' '(shape|Derived)->more' 'main::count.counter'; do
		like "$out" "(reads|writes) $name [(]" "$level: $name"
	done
	"$HEDDLE" convert -q --to text held.hdl held.txt
	for object in 'acq\(queue->mut\)' 'signal\(queue->notEmpty\)' 'acq\(forks\[1\]\.m\)' 'acq\(pair\[1\]\.m\)'; do
		like "$(cat held.txt)" "T1[|]$object" "$level: $object"
	done
done
# Without a trace the writes that store the pointers are not known: the place that allocated it.
cat >placed.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static struct { pthread_cond_t *full, *empty; pthread_mutex_t *mutex; } *queue;
static void *put(void *unused)
{
	pthread_mutex_lock(queue->mutex);
	pthread_cond_signal(queue->full);
	pthread_cond_wait(queue->empty, queue->mutex);
	pthread_mutex_unlock(queue->mutex);
	return unused;
}
int main(void)
{
	pthread_t t;
	queue = malloc(sizeof *queue);
	queue->full = malloc(sizeof *queue->full);
	queue->empty = malloc(sizeof *queue->empty);
	queue->mutex = malloc(sizeof *queue->mutex);
	pthread_mutex_init(queue->mutex, NULL);
	pthread_cond_init(queue->full, NULL);
	pthread_cond_init(queue->empty, NULL);
	pthread_create(&t, NULL, put, NULL);
	return pthread_join(t, NULL);
}
C
"$HEDDLE" cc -g -O1 placed.c -o placed -pthread
run "$HEDDLE" record --no-trace -- ./placed
like "$err" "T1 waits for condition block@placed.c:17 [(]" "a condition of which only its allocation is known"
run "$HEDDLE" record -o placed.hdl -- ./placed
like "$err" "T1 waits for condition queue->empty [(]" "and with a trace, by its member"
printf '%s\n' '#include <vector>' 'std::mutex m;' >lacks.cc
"$HEDDLE" c++ -c lacks.cc 2>lacks.heddle
"${CXX:-c++}" -c lacks.cc 2>lacks.plain
is "$(cat lacks.heddle)" "$(cat lacks.plain)" "a header that lacks: the compiler says the same of it as without Heddle"

# A thread-local variable is the thread's own.
cat >own.c <<'C'
#include <pthread.h>
static __thread int mine;
static _Thread_local struct { int a, b; } both;
static pthread_barrier_t all;
static int *of_main, *of_first;
static void *first(void *unused)
{
	of_first = &both.b;
	pthread_barrier_wait(&all);
	both.b++;
	return unused;
}
static void *second(void *unused)
{
	pthread_barrier_wait(&all);
	++*of_main;
	++*of_first;
	return unused;
}
int main(void)
{
	pthread_t t, u;
	of_main = &mine;
	pthread_barrier_init(&all, NULL, 3);
	pthread_create(&t, NULL, first, NULL);
	pthread_create(&u, NULL, second, NULL);
	pthread_barrier_wait(&all);
	mine++;
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
C
"$HEDDLE" cc -g -O1 own.c -o own -pthread && "$HEDDLE" record -q -o own.hdl -- ./own
run "$HEDDLE" races own.hdl
like "$out" '(reads|writes) mine@main [(]' "a thread-local variable of main's"
like "$out" '(reads|writes) both@T1.b [(]' "of another thread, in its stack's memory"
run "$HEDDLE" record --no-trace -- ./own
like "$err" '(reads|writes) mine@main [(]' "and while the program runs"

# A block whose pointer a lambda keeps is no array of lambdas, and its place is the user's.
cat >raw.cc <<'C'
#include <memory>
#include <thread>
static void put(void *p, long v) { __builtin_memcpy(p, &v, sizeof v); }
int main()
{
	void *raw = std::allocator<char>().allocate(40);
	std::thread a([raw] { put(raw, 1); }), b([raw] { put(raw, 2); });
	a.join();
	b.join();
	return 0;
}
C
"$HEDDLE" c++ -g -O1 raw.cc -o raw -pthread && "$HEDDLE" record -q -o raw.hdl -- ./raw
run "$HEDDLE" races raw.hdl
like "$out" 'data-race  on block@raw.cc:6[+]0' "a block of unknown type is named by the user's place"
# what local containers hold, on the stack of another thread
cat >containers.cc <<'C'
#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>
struct Account {
	int id;
	long balance;
};
int main()
{
	std::vector<int> v(4);
	std::array<int, 4> numbers{};
	std::vector<bool> done(8);
	std::vector<Account> accounts(3);
	std::string text = "a text that is long enough for the heap, really";
	auto shared = std::make_shared<Account>();
	std::unique_ptr<Account> own(new Account());
	auto f = [&] {
		v[2]++;
		numbers[1]++;
		done[3] = true;
		accounts[1].balance++;
		text[3] = 'x';
		shared->balance++;
		own->balance++;
	};
	std::thread a(f), b(f);
	a.join();
	b.join();
}
C
for level in -O0 -O1; do
	"$HEDDLE" c++ -g $level containers.cc -o containers -pthread && "$HEDDLE" record -q -o containers.hdl -- ./containers
	run "$HEDDLE" races containers.hdl
	bits='*done' # the address is copied with its offset, which has no value, without optimisation
	[ $level = -O0 ] && bits='*std::_Bit_type'
	is "$(grep -o '^ *T[12] writes .* while' <<<"$out" | sed 's/^ *T[12] writes //; s/ (.*//' | sort | tr '\n' ' ')" \
		"$bits Account#2->balance Account#3->balance Account[1].balance main::numbers[1] text[3] v[2] " \
		"$level: by the variable, or by the type"
done
# a captured bool gives no type to the block of words that the thread's function is kept in
cat >captured.cc <<'C'
#include <thread>
int main(int argc, char **argv)
{
	bool flag = argc > 1;
	auto f = [&](int n) { return flag ? n : 0; };
	std::thread a(f, 1), b(f, 2);
	a.join();
	b.join();
}
C
for level in -O0 -O1; do
	"$HEDDLE" c++ -g $level captured.cc -o captured -pthread && "$HEDDLE" record -q -o captured.hdl -- ./captured
	run "$HEDDLE" convert captured.hdl captured.txt --to text
	unlike "$(cat captured.txt)" 'flag[[]' "$level: no array of flags"
done
# a structure with other data behind it is no element of an array, which would name these bytes after its members
cat >head.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct head { long length, kind; struct head *next; };
static struct head *list;
static void *work(void *arg)
{
	long *data = (long *)(list + 1);
	data[2]++;
	data[4]++;
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	list = malloc(sizeof *list + (argc + 5) * sizeof(long) + 8);
	list->length = list->kind = 0;
	pthread_create(&t, NULL, work, NULL);
	work(NULL);
	return pthread_join(t, NULL);
}
C
for level in -O0 -O1; do
	"$HEDDLE" cc -g $level head.c -o head -pthread && "$HEDDLE" record -q -o head.hdl -- ./head
	run "$HEDDLE" convert head.hdl head.txt --to text
	is "$(grep -o '[rw]8(\*\?list[^)]*)' head.txt | tr -d 'rw8' | sort -u | tr '\n' ' ')" "(*list+40) (*list+56) (list) (list->kind) (list->length) " \
		"$level: data behind a structure"
	"$HEDDLE" convert head.txt again.hdl && "$HEDDLE" convert again.hdl again.txt --to text
	ok "$(cmp -s head.txt again.txt; echo $?)" "$level: read from text, it is the same"
done
# memory of a file is a block like the heap's
cat >file.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
struct head { int count, used; pthread_mutex_t lock; long sums[64]; };
static struct head *head;
static void *work(void *arg)
{
	pthread_mutex_lock(&head->lock);
	head->sums[3]++;
	pthread_mutex_unlock(&head->lock);
	head->used++;
	return arg;
}
int main(void)
{
	pthread_t t;
	int f = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (f < 0 || ftruncate(f, 4096) != 0)
		return 1;
	head = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	pthread_mutex_init(&head->lock, NULL);
	pthread_create(&t, NULL, work, NULL);
	work(NULL);
	pthread_join(t, NULL);
	return munmap(head, 4096);
}
C
"$HEDDLE" cc -g -O1 file.c -o file -pthread && "$HEDDLE" record -q -o file.hdl -- ./file
run "$HEDDLE" races file.hdl
like "$out" "data-race  on head->used" "a race in a mapped file"
unlike "$out" "sums" "and none where its lock is held"
run "$HEDDLE" convert file.hdl file.txt --to text
like "$(cat file.txt)" "acq\(head->lock\)" "the lock there"
# a structure that begins with its place in a list, and what points to that place
cat >listed.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next, *before; };
struct job { struct node place; pthread_mutex_t lock; int done, tries; };
static struct { struct node ends; int count; } jobs;
__attribute__((noinline)) static void append(struct node *n)
{
	n->before = jobs.ends.before;
	jobs.ends.before = n;
	jobs.count++;
}
static struct job *make(int more)
{
	struct job *made = malloc(sizeof *made + more);
	made->done = 0;
	pthread_mutex_init(&made->lock, NULL);
	append(&made->place);
	return made;
}
static void *work(void *arg)
{
	struct job *j = (struct job *)jobs.ends.before;
	pthread_mutex_lock(&j->lock);
	j->done++;
	pthread_mutex_unlock(&j->lock);
	j->tries++;
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	make(argc + 15);
	pthread_create(&t, NULL, work, NULL);
	work(NULL);
	return pthread_join(t, NULL);
}
C
for level in -O0 -O1; do
	"$HEDDLE" cc -g $level listed.c -o listed -pthread && "$HEDDLE" record -q -o listed.hdl -- ./listed
	run "$HEDDLE" races listed.hdl
	like "$out" "data-race  on made->tries" "$level: a structure is named by a pointer to itself"
	run "$HEDDLE" convert listed.hdl - --to text
	like "$out" "acq\(made->lock\)" "$level: and its lock"
done
# the pointer is a member of a local structure; a number's type fits as well
cat >shares.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct team;
struct share { struct team *of; long i; };
struct team { int count; long n; struct share *shares; };
static void *work(void *p)
{
	struct share *own = p;
	while (__sync_fetch_and_add(&own->i, own->of->count) < own->of->n)
		;
	long sum = 0;
	for (int k = 0; k < own->of->count; k++)
		sum += own->of->shares[k].i;
	return (void *)sum;
}
__attribute__((noinline)) static void run(int count)
{
	struct team t = { count, 4, calloc(count, sizeof(struct share)) };
	pthread_t *threads = calloc(count, sizeof *threads);
	for (int i = 0; i < count; i++)
		t.shares[i] = (struct share){ &t, i };
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, &t.shares[i]);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	free(t.shares);
}
int main(int argc, char **argv)
{
	run(argc + 2);
	return 0;
}
C
for level in -O0 -O1 -O2; do
	"$HEDDLE" cc -g $level shares.c -o shares -pthread && "$HEDDLE" record -q -o shares.hdl -- ./shares
	run "$HEDDLE" races shares.hdl
	like "$out" "data-race  on (t\.|own->of->|share)(shares)?\[[0-9]\]\.i" "$level: a block that a local structure's member points to"
done
done_testing
