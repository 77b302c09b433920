# packages.sh - the table of programs.sh: for every Debian source package how it is built and
# run.  A build_NAME runs in the unpacked source with CC, CXX, CFLAGS, CXXFLAGS set; a run_NAME
# in an empty folder, as `run_NAME COMMAND...`, where the command is what the program is to be
# run under (measure, or measure and heddle record), $source is the built tree and $data a
# folder with input files.  What it prints is compared between the variants.
#
# PACKAGES: name, source package, or a repository and a tag of it

PACKAGES='
memcached  memcached
redis      redis
libuv      libuv1
pbzip2     pbzip2
xz         xz-utils
zstd       libzstd
x264       x264
leveldb    leveldb
nng        nng
microhttpd libmicrohttpd
sqlite     sqlite3
tbb        onetbb
squashfs   squashfs-tools
tinyproxy  tinyproxy
dav1d      dav1d
mimalloc   mimalloc
zpaq       zpaq
unzpaq     zpaq
lrzip      lrzip
taskflow   https://github.com/taskflow/taskflow@v3.9.0
'

make_() { make -j"${JOBS:-2}" "$@"; }
# cmake_ OPTIONS... -- TARGETS...
cmake_() {
	local options=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1") && shift; done
	shift
	cmake -S . -B build -DCMAKE_BUILD_TYPE=None "${options[@]}" &&
		make_ -C build "$@"
}
# until_listens PORT: until somebody does
until_listens() {
	local i
	for i in $(seq 600); do
		perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new("127.0.0.1:$ARGV[0]")' "$1" && return
		sleep 0.1
	done
	echo "nobody listens on port $1"
}
# served COMMAND...: the clients of a server; the seconds that they take go to the file "served"
served() { /usr/bin/time -q -a -o served -f %e "$@"; }
# stop PID: ends a server and waits for it, through `measure` and `record`
stop() {
	kill -TERM "$1"
	wait "$1"
}

# A few clients at once, each with set, incr, get and delete on keys that they share.
build_memcached() {
	./configure --disable-docs CFLAGS="$CFLAGS" && make_ memcached
}
run_memcached() {
	"$@" "$source/memcached" -u "$(id -un)" -l 127.0.0.1 -p 41211 -U 0 -t 4 -m 16 &
	local server=$!
	until_listens 41211
	served perl "$here/memcached-clients.pl" 41211 4 "${ROUNDS:-60}"
	stop $server
}

build_redis() {
	make_ -C src MALLOC=libc OPTIMIZATION=-O1 DEBUG=-g REDIS_CFLAGS= REDIS_LDFLAGS= \
		USE_SYSTEMD=no redis-server
}
run_redis() {
	"$@" "$source/src/redis-server" --port 41379 --bind 127.0.0.1 --io-threads 3 \
		--io-threads-do-reads yes --save '' --daemonize no >server.out &
	local server=$!
	until_listens 41379
	served perl "$here/redis-clients.pl" 41379 4 "${ROUNDS:-40}"
	stop $server
}

build_libuv() { cmake_ -DBUILD_TESTING=ON -- uv_run_tests_a; }
run_libuv() {
	export UV_RUN_AS_ROOT=1
	local t
	for t in threadpool_queue_work_simple threadpool_multiple_event_loops thread_create \
		thread_mutex thread_rwlock barrier_3 condvar_5 semaphore_3 async \
		thread_local_storage fs_file_async; do
		"$@" "$source/build/uv_run_tests_a" $t $t 2>&1
		echo "$t: $?"
	done
}

build_pbzip2() { make_ pbzip2 CXX="$CXX" CXXFLAGS="$CXXFLAGS -pthread -D_POSIX_PTHREAD_SEMANTICS \
	-D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -DUSE_STACKSIZE_CUSTOMIZATION"; }
run_pbzip2() {
	"$@" "$source/pbzip2" -p3 -1 -b1 -c "$data/text" >text.bz2 &&
		bzip2 -dc text.bz2 | cmp - "$data/text" && echo same
}

build_xz() {
	./configure --disable-shared --disable-nls --disable-doc --disable-xzdec \
		--disable-lzmadec --disable-lzmainfo --disable-scripts && make_
}
run_xz() {
	"$@" "$source/src/xz/xz" -T4 -0 --block-size=64KiB -c "$data/small" >small.xz &&
		xz -dc small.xz | cmp - "$data/small" && echo same
}

build_zstd() {
	make_ -C programs zstd HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 HAVE_THREAD=1 ZSTD_LEGACY_SUPPORT=0
}
run_zstd() {
	"$@" "$source/programs/zstd" -q -T4 -B256KB -3 -c "$data/text" >text.zst
	"$source/programs/zstd" -q -dc text.zst | cmp - "$data/text" && echo same
}

build_x264() { ./configure --disable-asm --disable-opencl --extra-cflags="$CFLAGS" \
	--disable-avs --disable-swscale --disable-lavf --disable-ffms --disable-gpac \
	--disable-lsmash && make_; }
run_x264() {
	"$@" "$source/x264" --quiet --no-progress --threads 3 --preset veryfast \
		--input-res 64x64 -o out.264 "$data/six.yuv" 2>/dev/null
	cksum <out.264
}

build_leveldb() { cmake_ -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_INSTALL=OFF \
	-DHAVE_SNAPPY=OFF -DHAVE_TCMALLOC=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF -- leveldb &&
	$CXX $CXXFLAGS -std=c++11 -Iinclude "$here/leveldb-threads.cc" build/libleveldb.a \
		-o leveldb-threads -pthread; }
run_leveldb() { "$@" "$source/leveldb-threads" db; }

build_nng() { cmake_ -DBUILD_SHARED_LIBS=OFF -DNNG_TESTS=ON -DNNG_TOOLS=OFF -- \
	inproc pipe reqctx synch; }
run_nng() {
	local t
	for t in inproc pipe reqctx synch; do
		"$@" "$source/build/tests/$t" >out 2>&1
		echo "$t: $? $(awk '{ print $1 }' out | sort | uniq -c | tr -s ' \n' ' ')"
	done
}

build_microhttpd() { ./configure --disable-shared --disable-https --disable-doc --disable-curl &&
	make_ -C src/microhttpd libmicrohttpd.la && make_ -C src/examples benchmark; }
run_microhttpd() {
	mkfifo input
	"$@" "$source/src/examples/benchmark" 41080 <input >server.out &
	local server=$!
	exec 9>input
	until_listens 41080
	perl "$here/http-clients.pl" 41080 4 "${ROUNDS:-40}"
	exec 9>&-
	wait $server
}

build_sqlite() { ./configure --disable-shared --disable-tcl && make_ libsqlite3.la &&
	./libtool --mode=link $CC $CFLAGS -I. -Isrc test/threadtest4.c libsqlite3.la -o threadtest4 \
		-lpthread -ldl -lm -static-libtool-libs; }
# Its workers end in any order: the last line is what must be the same.
run_sqlite() {
	"$@" "$source/threadtest4" --multithread 3 >out
	echo "status $?"
	tail -n 1 out
}

build_tbb() {
	cmake_ -DTBB_TEST=OFF -DTBB_EXAMPLES=OFF -DTBB_STRICT=OFF -DBUILD_SHARED_LIBS=ON -- tbb || return
	local folder
	folder=$(dirname "$(find "$PWD/build" -name libtbb.so | head -1)")
	$CXX $CXXFLAGS -Iinclude "$here/tbb-threads.cc" -o tbb-threads -L"$folder" \
		-Wl,-rpath,"$folder" -ltbb -pthread
}
run_tbb() { "$@" "$source/tbb-threads"; }

build_squashfs() { make_ -C squashfs-tools XATTR_SUPPORT=0 mksquashfs unsquashfs; }
run_squashfs() {
	mkdir in
	for i in 1 2 3; do head -c $((i * 60000)) "$data/text" >in/$i; done
	"$@" "$source/squashfs-tools/mksquashfs" in image -processors 3 -b 16K -no-progress -quiet >out
	"$@" "$source/squashfs-tools/unsquashfs" -processors 3 -no-progress -d back image >out
	diff -r in back && echo same
}

# A thread for each connection; pages of a server that the script of the clients is, too.
build_tinyproxy() { ./configure --disable-manpage-support && make_ -C src; }
run_tinyproxy() {
	printf '%s\n' 'Port 41888' 'Listen 127.0.0.1' 'Timeout 60' 'MaxClients 20' 'LogLevel Error' \
		"PidFile \"$PWD/pid\"" >conf
	"$@" "$source/src/tinyproxy" -d -c conf >server.out &
	local server=$!
	until_listens 41888
	served perl "$here/proxy-clients.pl" 41888 41889 4 "${ROUNDS:-15}"
	stop $server
}

# Needs meson, and aomenc (aom-tools), which makes its input of the six frames.
build_dav1d() { meson setup build --buildtype=plain -Denable_asm=false -Denable_tests=false \
	-Ddefault_library=static && ninja -C build -j"${JOBS:-2}" tools/dav1d; }
run_dav1d() {
	[ -e "$data/six.obu" ] || aomenc --quiet --obu --limit=6 --i420 -w 64 -h 64 --cpu-used=8 \
		--tile-columns=0 --passes=1 -o "$data/six.obu" "$data/six.yuv" >&2
	"$@" "$source/build/tools/dav1d" -q --threads 4 -i "$data/six.obu" --muxer md5 -o -
}

# The allocator and its test in one program: threads, load, rounds. Its statistics differ from run to run.
build_mimalloc() { $CC $CFLAGS -DNDEBUG -Iinclude src/static.c test/test-stress.c -o test-stress -pthread; }
run_mimalloc() { "$@" "$source/test-stress" 4 2 4 | head -n 1; }

# Without its machine code made at run time, which no hook sees.
build_zpaq() { $CXX $CXXFLAGS -Dunix -DNOJIT zpaq.cpp libzpaq.cpp -o zpaq -pthread; }
run_zpaq() {
	head -c 500000 "$data/text" >in
	"$@" "$source/zpaq" add out.zpaq in -m1 -t4 >out && grep -o 'all OK' out
	"$source/zpaq" extract out.zpaq -to back >out && cmp in back/in && echo same
}
build_unzpaq() { build_zpaq; }
run_unzpaq() {
	head -c 500000 "$data/text" >in
	"$source/zpaq" add in.zpaq in -m1 -t4 >out
	"$@" "$source/zpaq" extract in.zpaq -to back -t4 >out && cmp in back/in && echo same
}

# Needs liblzo2-dev, liblz4-dev and libbz2-dev, which are not instrumented.
build_lrzip() { ./autogen.sh && ./configure --disable-asm && make_; }
run_lrzip() {
	cat "$data/text" "$data/text" >in
	"$@" "$source/lrzip" -q -l -p 4 -f -o out.lrz in && "$source/lrzip" -q -d -f -o back out.lrz &&
		cmp in back && echo same
}

# Two cases of its tests (C++17); their order is not that of the run.
build_taskflow() { $CXX $CXXFLAGS -std=c++17 -I. -I3rd-party/doctest unittests/test_basics.cpp \
	-o test_basics -pthread; }
run_taskflow() { "$@" "$source/test_basics" -tc=Builder,Hash | grep -o 'Status: [A-Z]*'; }
