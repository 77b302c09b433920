// Streams and strings of several threads: what the C++ library keeps for itself (tables of facets) is no event.
#include <iostream>
#include <string>
#include <thread>
#include <mutex>
#include <vector>
#include <sstream>
std::mutex m; std::string log_; std::vector<int> v;
int main() {
  std::vector<std::thread> ts;
  for (int i = 0; i < 3; i++) ts.emplace_back([i] { std::ostringstream o; o << "t" << i << "\n"; std::lock_guard<std::mutex> g(m); log_ += o.str(); v.push_back(i); std::cout << o.str(); });
  for (auto &t : ts) t.join();
  std::cout << log_.size() << std::endl;
}
//: build -std=c++{11,17,20}
//: explore
//= exit 0
//= complete yes
