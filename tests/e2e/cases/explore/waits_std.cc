// What libstdc++ waits for by futexes, one at a time. Its semaphore sleeps for ever in some schedules (PR 104928, in
// gcc 12.2): on a count that it loaded, and that was taken and given back meanwhile.
#include <atomic>
#include <barrier>
#include <cassert>
#include <future>
#include <latch>
#include <semaphore>
#include <thread>
static int data, other;
static void wait_for_atomic() {
  std::atomic<int> x{0};
  std::thread t([&] { x.wait(0); assert(data == 1); });
  data = 1; x = 1; x.notify_one(); t.join();
}
static void wait_for_long() { // by a word of the library's
  std::atomic<long> x{0};
  std::thread t([&] { x.wait(0); assert(data == 1); });
  data = 1; x = 1; x.notify_one(); t.join();
}
static void wait_for_latch() {
  std::latch l(2);
  std::thread t([&] { data = 1; l.arrive_and_wait(); assert(other == 1); });
  other = 1; l.arrive_and_wait(); assert(data == 1); t.join();
}
static void wait_for_barrier() {
  std::barrier b(2);
  std::thread t([&] { data = 1; b.arrive_and_wait(); assert(other == 1); });
  other = 1; b.arrive_and_wait(); assert(data == 1); t.join();
}
static void wait_for_semaphore() {
  std::counting_semaphore<2> s(1);
  std::thread t([&] { s.acquire(); data++; s.release(); });
  s.acquire(); data++; s.release(); t.join(); assert(data == 2);
}
static void wait_for_promise() {
  std::promise<int> p; std::future<int> f = p.get_future();
  std::thread t([&] { data = 1; p.set_value(3); });
  assert(f.get() == 3 && data == 1); t.join();
}
static void lose() { // stored without a notification
  std::atomic<int> x{0};
  std::thread t([&] { x.wait(0); });
  x = 1; t.join();
}
int main(int, char **argv) {
  static void (*const ways[])() = { wait_for_atomic, wait_for_long, wait_for_latch, wait_for_barrier, wait_for_semaphore, wait_for_promise, lose };
  ways[argv[1][0] - '0']();
}

//: build -std=c++20
//: explore --format json @ 0
//= exit 0
//= states 5
//= complete yes
//: explore --format json @ {1,2,3,5}
//= exit 0
//= complete yes
//= errors
//: explore --format json @ 4
//= complete yes
//: explore --format json @ 6
//= exit 1
//= complete yes
//~ errors ^blocked@
