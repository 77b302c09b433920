// A reduction, a concurrent hash table and a pipeline of TBB, with four workers; prints sums
// that do not depend on the schedule.
#include <cstdio>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_queue.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>

int main()
{
	tbb::global_control four(tbb::global_control::max_allowed_parallelism, 4);
	const int n = 20000;
	long sum = tbb::parallel_reduce(
	        tbb::blocked_range<int>(0, n, 500), 0L,
	        [](const tbb::blocked_range<int> &r, long s) {
		        for (int i = r.begin(); i != r.end(); i++)
			        s += i % 7;
		        return s;
	        },
	        [](long a, long b) { return a + b; });

	tbb::concurrent_hash_map<int, int> table;
	tbb::parallel_for(0, 3000, [&](int i) {
		tbb::concurrent_hash_map<int, int>::accessor a;
		table.insert(a, i % 100);
		a->second++;
	});
	long entries = 0;
	for (auto &e : table)
		entries += e.second;

	int next = 0;
	long piped = 0;
	tbb::parallel_pipeline(
	        8, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
	                                       [&](tbb::flow_control &fc) {
		                                       if (next == 200)
			                                       fc.stop();
		                                       return next++;
	                                       }) &
	                   tbb::make_filter<int, int>(tbb::filter_mode::parallel,
	                                              [](int i) { return i * i; }) &
	                   tbb::make_filter<int, void>(tbb::filter_mode::serial_in_order,
	                                               [&](int i) { piped += i; }));
	std::printf("%ld %zu %ld %ld\n", sum, table.size(), entries, piped);
}
