// order_strings.cc KIND: what libstdc++ does in its library to a string, or to a stream, of two threads.
#include <cassert>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
std::string text;
std::ostringstream stream;
std::mutex m;
int main(int, char **argv)
{
	int kind = atoi(argv[1]);
	auto f = [=](int n) {
		std::lock_guard<std::mutex> guard(m);
		if (kind == 0)
			text.append(n == 1 ? "a" : "b");
		else if (kind == 1)
			stream << n;
		else { // its own, and what is printed
			std::string own("abcdefghijklmnopqrstuvwxyz");
			own.append("123");
			std::cout << own.size();
		}
	};
	std::thread a(f, 1), b(f, 2);
	a.join();
	b.join();
	assert(kind != 0 || text == "ab");
	assert(kind != 1 || stream.str() == "12");
}
