// containers_race.cc: two threads link nodes beside the same one, each in a list that is its own.
#include <list>
#include <map>
#include <thread>
std::list<int> list{ 1, 2 };
std::map<int, int> map{ { 1, 1 }, { 2, 2 }, { 3, 3 } };
int main(int argc, char **)
{
	if (argc > 1) {
		auto first = map.begin(), third = std::prev(map.end());
		std::thread a([&] { map.erase(first); }); /* writes the second one's links */
		std::thread b([&] { --third; });          /* reads them */
		a.join();
		b.join();
	} else {
		auto first = list.begin();
		std::list<int>::iterator second = std::next(first);
		std::thread a([&] { std::__detail::_List_node_base *n = first._M_node; n->_M_unhook(); });
		std::thread b([&] { second--; });
		a.join();
		b.join();
	}
}
