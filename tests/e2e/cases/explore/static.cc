// A function's static: who is first initialises it.
#include <cassert>
#include <mutex>
#include <thread>
std::mutex m; int conf, used;
int load() { std::lock_guard<std::mutex> g(m); return conf; }
int config() { static int c = load(); return c; }
int main() {
  std::thread a([] { { std::lock_guard<std::mutex> g(m); conf = 1; } config(); });
  std::thread b([] { config(); });
  a.join(); b.join();
  assert(config() == 1);
}

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@static.cc:12
