// Four threads write, read and delete in one LevelDB with a small write buffer, so that its
// background thread compacts meanwhile; prints what the database holds at the end.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "leveldb/db.h"
#include "leveldb/write_batch.h"

int main(int argc, char **argv)
{
	leveldb::Options options;
	leveldb::DB *db = nullptr;
	options.create_if_missing = true;
	options.write_buffer_size = 64 << 10;
	options.compression = leveldb::kNoCompression;
	if (argc < 2 || !leveldb::DB::Open(options, argv[1], &db).ok())
		return 1;
	std::vector<std::thread> threads;
	for (int t = 0; t < 4; t++)
		threads.emplace_back([=] {
			for (int i = 0; i < 250; i++) {
				std::string key = std::to_string(t) + "." + std::to_string(i), value;
				leveldb::WriteBatch batch;
				batch.Put(key, std::string(200, 'a' + t));
				if (i % 5 == 4)
					batch.Delete(std::to_string(t) + "." + std::to_string(i - 2));
				db->Write(leveldb::WriteOptions(), &batch);
				db->Get(leveldb::ReadOptions(), std::to_string((t + 1) % 4) + ".7", &value);
			}
		});
	for (auto &t : threads)
		t.join();
	size_t keys = 0, bytes = 0;
	leveldb::Iterator *it = db->NewIterator(leveldb::ReadOptions());
	for (it->SeekToFirst(); it->Valid(); it->Next()) {
		keys++;
		bytes += it->value().size();
	}
	delete it;
	delete db;
	std::printf("%zu keys, %zu bytes\n", keys, bytes);
}
