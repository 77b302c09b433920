#include <cassert>
#include <mutex>
#include <thread>
std::mutex m; std::once_flag f; int conf, used;
void load() { std::lock_guard<std::mutex> g(m); used = conf; }
int main() {
  std::thread a([] { { std::lock_guard<std::mutex> g(m); conf = 1; } std::call_once(f, load); });
  std::thread b([] { std::call_once(f, load); });
  a.join(); b.join();
  assert(used == 1);
}

//: explore --seed {0,1}
//= exit 1
//= complete yes
//= errors signal@callonce.cc:10
