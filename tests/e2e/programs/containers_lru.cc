// containers_lru.cc: a cache with a mutex and a condition, of a list and a hash table.
#include <cassert>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>
struct LRU {
  std::mutex m; std::condition_variable cv; std::list<std::pair<int, int>> l; std::unordered_map<int, std::list<std::pair<int, int>>::iterator> map; size_t cap = 2;
  void put(int k, int v) { std::lock_guard<std::mutex> g(m); auto i = map.find(k); if (i != map.end()) { l.erase(i->second); map.erase(i); } l.emplace_front(k, v); map[k] = l.begin(); if (map.size() > cap) { map.erase(l.back().first); l.pop_back(); } cv.notify_all(); }
  int get(int k) { std::lock_guard<std::mutex> g(m); auto i = map.find(k); if (i == map.end()) return -1; l.splice(l.begin(), l, i->second); return i->second->second; }
  int wait(int k) { std::unique_lock<std::mutex> g(m); cv.wait(g, [&] { return map.count(k) != 0; }); return map[k]->second; }
  bool has(int k) { std::lock_guard<std::mutex> g(m); return map.count(k); }
  int must(int k) { if (!has(k)) put(k, k * 10); int v = get(k);
#ifdef BUG
    assert(v == k * 10);
#endif
    return v; }
} c;
int main() {
  std::thread a([] { c.put(1, 10); c.must(2); }), b([] { c.wait(1); c.put(3, 30); }), d([] { c.put(4, 40); });
  a.join(); b.join(); d.join(); assert(c.l.size() == c.map.size());
}
