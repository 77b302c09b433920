#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>
#include <cassert>
// containers.cc: what the containers hold against sorted vectors, and the invariants of their trees.
struct N { int colour; N *parent, *left, *right; };
static int blacks(const N *x, const N *parent) {
  if (!x) return 1;
  assert(x->parent == parent);
  if (x->colour == 0) assert((!x->left || x->left->colour) && (!x->right || x->right->colour));
  int l = blacks(x->left, x), r = blacks(x->right, x);
  assert(l == r);
  return l + x->colour;
}
int main() {
  unsigned seed = 7;
  auto below = [&](unsigned n) { seed = seed * 1103515245u + 12345u; return (seed >> 8) % n; };
  for (int round = 0; round < 3; round++) {
    std::map<int, int> m; std::vector<int> v; std::list<int> l, k; std::unordered_map<int,int> u;
    for (int i = 0; i < 80; i++) {
      int key = below(20);
      auto at = std::lower_bound(v.begin(), v.end(), key);
      bool in = at != v.end() && *at == key;
      if (below(2)) { m[key] = key; u[key] = key; if (!in) v.insert(at, key); }
      else { assert((m.erase(key) == 1) == in); assert((u.erase(key) == 1) == in); if (in) v.erase(at); }
      assert(m.size() == v.size() && u.size() == v.size());
      std::vector<int> a, b; for (auto &p : m) a.push_back(p.first); assert(a == v);
      for (auto p = m.rbegin(); p != m.rend(); ++p) b.push_back(p->first);
      std::reverse(b.begin(), b.end()); assert(b == v);
      const N *header = (const N *)m.end()._M_node;
      if (header->parent) { assert(header->parent->colour == 1); blacks(header->parent, header); }
      if (!m.empty()) { assert(m.begin()->first == v.front()); assert(m.rbegin()->first == v.back()); }
    }
    std::vector<int> e;
    for (int i = 0; i < 50; i++) {
      unsigned w = below(6);
      if (w < 3) { l.push_back(i); e.push_back(i); }
      else if (w == 3) { l.reverse(); std::reverse(e.begin(), e.end()); }
      else if (w == 4) { l.swap(k); l.swap(k); l.splice(l.begin(), l, l.empty() ? l.end() : std::prev(l.end())); if (!e.empty()) std::rotate(e.begin(), e.end() - 1, e.end()); }
      else if (!e.empty()) { l.erase(l.begin()); e.erase(e.begin()); }
      assert(std::vector<int>(l.begin(), l.end()) == e);
    }
    std::list<int> p{1,2,3}, q{4,5}, z; p.swap(q); assert(p.size()==2 && p.front()==4 && q.back()==3); z.swap(p); assert(p.empty() && z.back()==5); l.sort();
    assert(std::is_sorted(l.begin(), l.end()));
  }
  puts("fine");
}
