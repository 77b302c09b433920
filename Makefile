# Heddle's build.  `make` leaves ./heddle; everything else it makes is under build/.
#
#   make            the program and its recording runtime
#   make demo       build, record a sample and open the explorer on it
#   make check-tsan the explorer's threads under ThreadSanitizer and under Heddle
#   make check      all tests                (make check-asan: under sanitizers); T=NAME: one
#   make fuzz       damaged input of every format, FUZZ_SECONDS long (HEDDLE_SEED)
#   make soak       every analysis against exhaustive search, SOAK_SECONDS long
#   make bench      the figures of docs/benchmarks.md
#   make lint       clang-tidy and gcc's -fanalyzer, with the checks that the tree passes
#   make coverage   lines that the tests run, by folder
#   make format     by .clang-format (make check-format: is it?)
#   make tags       for ctags and cscope; make compile_commands.json for clangd
#   make install    PREFIX=/usr/local DESTDIR=  (make install-lib: libheddle)
#   make deb        Debian packages into build/deb; make container: an image
#   make check-delivery  the packages installed, the library, as others use them (root)
#   make deps       install what is missing, with apt
#
# B is the build folder; SAN=1 builds with the sanitizers (into build/asan), SAN=thread with
# ThreadSanitizer (into build/tsan), COVERAGE=1 with gcov's counters (into build/coverage).

VERSION := 0.2.0
PREFIX ?= /usr/local
B ?= build$(if $(SAN),$(if $(filter thread,$(SAN)),/tsan,/asan))$(if $(COVERAGE),/coverage)
HEDDLE := $(if $(SAN)$(COVERAGE),$(B)/heddle,heddle)

PACKAGES := build-essential pkg-config libncurses-dev libreadline-dev libdwarf-dev \
	libelf-dev libz3-dev libglib2.0-dev libjansson-dev libzstd-dev zlib1g-dev \
	libprotobuf-c-dev protobuf-c-compiler libcapstone-dev
TEST_PACKAGES := check libvterm-dev liburcu-dev perl procps clang-format protobuf-compiler gdb gdbserver
LINT_PACKAGES := clang-tidy
TAGS_PACKAGES := universal-ctags cscope
COVERAGE_PACKAGES := gcovr
DEB_PACKAGES := debhelper dpkg-dev lintian

PKG := glib-2.0 jansson libzstd ncursesw readline libprotobuf-c capstone
CC ?= gcc
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wno-unused-parameter -Wno-missing-field-initializers -Wno-sign-compare
OPT ?= -O2 -g
, := ,
# gcc writes the counters before each exec, of a vforked child, too, and the parent then never writes
# its own: so exec is not to be known, and children that end by _exit write theirs.
COUNTS := $(addprefix -fno-builtin-,fork execl execlp execle execv execvp execve execvpe) \
	-include tests/support/counts.h
SANFLAGS := $(if $(SAN),$(if $(filter thread,$(SAN)),-fsanitize=thread,-fsanitize=address$(,)undefined \
	-fno-sanitize-recover=undefined) -fno-omit-frame-pointer)$(if $(COVERAGE),--coverage -fprofile-update=atomic $(COUNTS))

# Asked once, by the inner make of a target that calls deps first.
ifneq (,$(filter-out deps clean check check-asan check-tsan check-exercises fuzz soak demo bench dist format check-format tags lint coverage deb container,$(or $(MAKECMDGOALS),all)))
PKG_CFLAGS := $(shell pkg-config --cflags $(PKG))
# (capstone is loaded when it is needed: debuginfo/capstone.c)
PKG_LIBS := $(shell pkg-config --libs $(filter-out capstone,$(PKG)))
endif

CPPFLAGS += -I. -I$(B) -I/usr/include/libdwarf -D_GNU_SOURCE -DHEDDLE_VERSION='"$(VERSION)"'
CFLAGS_ALL = -std=gnu17 $(OPT) $(WARN) $(SANFLAGS) $(PKG_CFLAGS) -MMD -MP $(CFLAGS)
LIBS = $(PKG_LIBS) -ldwarf -lelf -lz3 -lz -lstdc++ -lm -lpthread -ldl

LIB_SRC := $(filter-out engine/record/runtime/% engine/record/stub/%,$(wildcard engine/*.c engine/*/*.c engine/*/*/*.c)) \
	$(wildcard debuginfo/*.c)
TUI_SRC := $(wildcard tui/*/*.c tui/*/*/*.c)
RUNTIME_SRC := $(wildcard engine/record/runtime/*/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
PROPERTY_SRC := $(wildcard tests/property/prop_*.c)
SCREEN_SRC := $(wildcard tests/screen/screen_*.c)
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
SUPPORT_SRC := $(filter-out $(PROPERTY_SRC) $(SCREEN_SRC),$(wildcard tests/property/*.c tests/screen/*.c tests/support/*.c))

obj = $(patsubst %.c,$(B)/%.o,$(1))
bin = $(patsubst tests/%.c,$(B)/tests/%,$(1))

.PHONY: all demo check check-asan bench deps install uninstall dist clean format golden
.DELETE_ON_ERROR:
.SECONDARY:

all: $(HEDDLE) $(B)/libheddle-record.so $(B)/gdb/libheddle-record.so $(B)/stub/libheddle-stub.a

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -c $< -o $@

# Loops over a recording's events: vectors of a few fields cost more moves between registers
# than they save, a twentieth of an import.
$(foreach d,$(B) $(B)/pic,$(addprefix $(d)/engine/,trace/binary/tape.o trace/builder/builder_pending.o record/import/import_shorts.o)): \
	CFLAGS_ALL += -fno-tree-slp-vectorize

# Perfetto's format: the encoder is made from its description.
$(B)/engine/export/perfetto.pb-c.c $(B)/engine/export/perfetto.pb-c.h &: engine/export/perfetto.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(B) $<
$(B)/engine/export/perfetto.o: $(B)/engine/export/perfetto.pb-c.h
$(B)/engine/export/perfetto.pb-c.o: $(B)/engine/export/perfetto.pb-c.c
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -c $< -o $@

$(B)/libheddle.a: $(call obj,$(LIB_SRC)) $(B)/engine/export/perfetto.pb-c.o
	@rm -f $@
	ar rcs $@ $^

# The engine as a shared library (engine/api/libheddle.h), compiled a second time: only what its
# header declares is visible.
PIC = $(patsubst %.c,$(B)/pic/%.o,$(LIB_SRC)) $(B)/pic/engine/export/perfetto.pb-c.o
$(B)/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -fPIC -fvisibility=hidden -c $< -o $@
$(B)/pic/engine/export/perfetto.o: $(B)/engine/export/perfetto.pb-c.h
$(B)/pic/engine/export/perfetto.pb-c.o: $(B)/engine/export/perfetto.pb-c.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -fPIC -fvisibility=hidden -c $< -o $@
$(B)/libheddle.so.0: $(PIC) engine/api/libheddle.map
	$(CC) -shared $(LDFLAGS) -Wl,-soname,libheddle.so.0 -Wl,--version-script=engine/api/libheddle.map \
		-Wl,--no-undefined -o $@ $(PIC) $(LIBS)
lib: $(B)/libheddle.so.0
install-lib: lib
	install -D -m 644 $(B)/libheddle.so.0 $(INSTALL_ROOT)/lib/libheddle.so.0
	ln -sf libheddle.so.0 $(INSTALL_ROOT)/lib/libheddle.so
	install -D -m 644 engine/api/libheddle.h $(INSTALL_ROOT)/include/libheddle.h
	install -d $(INSTALL_ROOT)/lib/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' engine/api/libheddle.pc.in >$(INSTALL_ROOT)/lib/pkgconfig/libheddle.pc
.PHONY: lib install-lib

$(B)/libtui.a: $(call obj,$(TUI_SRC))
	@rm -f $@
	ar rcs $@ $^

$(HEDDLE): $(B)/tui/main.o $(B)/libtui.a $(B)/libheddle.a
	$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The runtime is loaded into the recorded program: no library but the C library's, its own
# symbols hidden.  So of the sanitizers it has the one for undefined behaviour alone, which traps
# (SIGILL), as that needs no library.  Its calls are bound when it is loaded, those of its own
# functions to them: at run time a signal must not find it in the loader, or in a memset of the
# program's.  A program may pass NULL where the C library's header says that nobody does, and read
# from NULL: the hook reads first, and has the fault that the program would have.
RUNTIME_FLAGS = -I. -D_GNU_SOURCE -std=gnu17 -O2 -g $(WARN) -fPIC -mcx16 -fvisibility=hidden -fno-builtin \
	-fno-stack-protector -ftls-model=initial-exec -fexceptions -fno-delete-null-pointer-checks \
	$(if $(filter-out thread,$(SAN)),-fsanitize=undefined -fno-sanitize=null -fsanitize-undefined-trap-on-error)
$(B)/engine/record/runtime/%.o: engine/record/runtime/%.c
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_FLAGS) -MMD -MP -c $< -o $@

# The compilers' runtimes by whose names `record --children` has it loaded into programs.
TSAN_NAMES = libtsan.so.0 libtsan.so.1 libtsan.so.2 libclang_rt.tsan-x86_64.so
$(B)/libheddle-record.so: $(call obj,$(RUNTIME_SRC))
	$(CC) -shared -static-libgcc -Wl,-soname,libtsan.so.2 -Wl,-z,now -Wl,-Bsymbolic-functions \
		-o $@ $^ -ldl -lpthread
	@mkdir -p $(@D)/tsan
	for f in $(TSAN_NAMES); do ln -sf ../libheddle-record.so $(@D)/tsan/$$f; done

# The same for `replay --gdb-server`: a debugger's step does not enter code without lines.
$(B)/gdb/libheddle-record.so: $(B)/libheddle-record.so
	@mkdir -p $(@D)/stub
	strip -g -o $@ $<
	ln -sf ../libheddle-record.so $(@D)/stub/libclang_rt.tsan-x86_64.so

# What `heddle cc` links programs with, and stand-ins for what gcc would add: an empty
# libtsan.  The link lets programs run that were built for clang's shared runtime.
$(B)/stub/libheddle-stub.a: $(wildcard engine/record/stub/*.[ch]* engine/record/stub/include/c++/* engine/record/stub/include/c++/bits/* engine/record/stub/*.ld engine/record/abi.h engine/record/joining.h \
		engine/record/interceptors.def)
	@mkdir -p $(@D)
	rm -f $(@D)/*.a
	$(CC) -I. -std=gnu17 -O2 -fPIC -mcx16 -fno-stack-protector -fno-builtin -Wall -Wextra \
		-Wno-unused-parameter -c engine/record/stub/stub.c -o $(@D)/stub.o
	$(CC) -I. -DHEDDLE_STUB -fPIC -c engine/record/stub/interceptors.c -o $(@D)/interceptors.o
	$(CC) -I. -O2 -fPIC -fno-stack-protector -fno-builtin -Wall -Wextra -c engine/record/stub/preinit.c -o $(@D)/libtsan_preinit.o
	ar rcs $(@D)/libtsan.a
	rm -rf $(@D)/include
	cp -r engine/record/stub/discard.ld engine/record/stub/include $(@D)/
	ln -sf ../libheddle-record.so $(@D)/libclang_rt.tsan-x86_64.so
	ar rcs $@ $(@D)/stub.o $(@D)/interceptors.o

# What Check does at every assertion that passes: tests/support/suite.c.
TEST_LIBS = -Wl,--wrap=_mark_point $$(pkg-config --libs check vterm) $(LIBS)
$(B)/tests/%: $(B)/tests/%.o $(call obj,$(SUPPORT_SRC)) $(B)/libtui.a $(B)/libheddle.a
	$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $< $(call obj,$(SUPPORT_SRC)) $(B)/libtui.a $(B)/libheddle.a $(TEST_LIBS)

$(B)/tests/fuzz/fuzz: $(call obj,$(FUZZ_SRC) $(SUPPORT_SRC)) $(B)/libtui.a $(B)/libheddle.a
	$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(TEST_LIBS)

tests: all $(call bin,$(UNIT_SRC) $(PROPERTY_SRC) $(SCREEN_SRC) $(BENCH_SRC)) $(B)/tests/fuzz/fuzz
.PHONY: tests

deps:
	@tests/deps.sh $(PACKAGES) $(TEST_PACKAGES)

# The builds of the demonstration and of a test run use all processors, unless -j says otherwise.
all_jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

check: deps
	$(MAKE) $(all_jobs) tests
	tests/run.sh $(B) $(T)

check-asan: deps
	$(MAKE) $(all_jobs) SAN=1 tests
	tests/run.sh build/asan $(T)

# The explorer's own threads: the screen tests under ThreadSanitizer, then a walk through the
# explorer recorded by Heddle itself.
check-tsan: deps
	$(MAKE) SAN=thread build/tsan/heddle $(patsubst tests/%.c,build/tsan/tests/%,$(SCREEN_SRC))
	$(MAKE) all
	tests/threads.sh build/tsan

fuzz: deps
	$(MAKE) SAN=1 all build/asan/tests/fuzz/fuzz
	tests/fuzz/run.sh build/asan

soak: deps
	$(MAKE) tests
	tests/soak.sh $(B)
.PHONY: check-tsan fuzz soak

# The exercises of docs/architecture.md, built and run in a copy of the tree.
check-exercises: deps
	$(MAKE) tests
	tests/exercises.sh
.PHONY: check-exercises

# Write the golden screens anew; look at the difference before committing it.
golden: tests
	for t in $(call bin,$(SCREEN_SRC)); do GOLDEN=update $$t >/dev/null; done

demo: deps
	$(MAKE) $(all_jobs) all
	samples/demo.sh

bench: deps
	$(MAKE) all benches
	tests/bench/run.sh $(B)

benches: $(call bin,$(BENCH_SRC))
.PHONY: benches

# Everything is found beside the binary: bin/heddle looks in ../lib/heddle and
# ../share/heddle, ./heddle of the tree in build/ and in specs/ and samples/.
INSTALL_ROOT = $(DESTDIR)$(PREFIX)
install: all
	install -D -m 755 $(HEDDLE) $(INSTALL_ROOT)/bin/heddle
	install -D -m 755 $(B)/libheddle-record.so $(INSTALL_ROOT)/lib/heddle/libheddle-record.so
	install -D -m 755 $(B)/gdb/libheddle-record.so $(INSTALL_ROOT)/lib/heddle/gdb/libheddle-record.so
	install -d $(INSTALL_ROOT)/lib/heddle/gdb/stub
	ln -sf ../libheddle-record.so $(INSTALL_ROOT)/lib/heddle/gdb/stub/libclang_rt.tsan-x86_64.so
	install -d $(INSTALL_ROOT)/lib/heddle/tsan $(INSTALL_ROOT)/lib/heddle/stub
	for f in $(TSAN_NAMES); do ln -sf ../libheddle-record.so $(INSTALL_ROOT)/lib/heddle/tsan/$$f; done
	for f in $$(cd $(B)/stub && find include -type f); do install -D -m 644 $(B)/stub/$$f $(INSTALL_ROOT)/lib/heddle/stub/$$f; done
	install -m 644 $(B)/stub/*.a $(B)/stub/libtsan_preinit.o $(B)/stub/discard.ld $(INSTALL_ROOT)/lib/heddle/stub/
	ln -sf ../libheddle-record.so $(INSTALL_ROOT)/lib/heddle/stub/libclang_rt.tsan-x86_64.so
	for f in specs/*.spec specs/bind/*.spec specs/missing/*.spec; do install -D -m 644 $$f $(INSTALL_ROOT)/share/heddle/$$f; done
	for f in samples/*/*; do install -D -m 644 $$f $(INSTALL_ROOT)/share/heddle/$$f; done
	for f in $(wildcard include/heddle.h engine/record/heddle.h); do \
		install -D -m 644 $$f $(INSTALL_ROOT)/include/heddle.h; done
	install -D -m 644 docs/heddle.1 $(INSTALL_ROOT)/share/man/man1/heddle.1
	install -D -m 644 docs/heddle.bash $(INSTALL_ROOT)/share/bash-completion/completions/heddle
	install -D -m 644 docs/heddle.zsh $(INSTALL_ROOT)/share/zsh/vendor-completions/_heddle
	install -D -m 644 docs/heddle.fish $(INSTALL_ROOT)/share/fish/vendor_completions.d/heddle.fish

uninstall:
	rm -rf $(INSTALL_ROOT)/bin/heddle $(INSTALL_ROOT)/lib/heddle $(INSTALL_ROOT)/share/heddle \
		$(INSTALL_ROOT)/include/heddle.h $(INSTALL_ROOT)/share/man/man1/heddle.1 \
		$(INSTALL_ROOT)/share/bash-completion/completions/heddle \
		$(INSTALL_ROOT)/share/zsh/vendor-completions/_heddle \
		$(INSTALL_ROOT)/share/fish/vendor_completions.d/heddle.fish

dist:
	@mkdir -p build
	git archive --prefix=heddle-$(VERSION)/ -o build/heddle-$(VERSION).tar.gz HEAD

# Debian packages (docs/debian) into build/deb, from a copy of the tree, also without git.
deb:
	@tests/deps.sh $(PACKAGES) $(DEB_PACKAGES)
	rm -rf build/deb && mkdir -p build/deb/heddle-$(VERSION)
	tar -c --exclude=./build --exclude=./heddle --exclude=./.git . | tar -x -C build/deb/heddle-$(VERSION)
	cp -r docs/debian build/deb/heddle-$(VERSION)/
	cd build/deb/heddle-$(VERSION) && DEB_BUILD_OPTIONS="parallel=$$(nproc)" dpkg-buildpackage -b -us -uc
	cd build/deb && lintian --fail-on error ./*.changes
# An image for continuous integration, by podman or buildah. BASE: an image of Debian 12;
# BUILD_OPTIONS: more options of theirs.
BASE ?= debian:12
container:
	@command -v podman >/dev/null || command -v buildah >/dev/null || { \
		echo "$@: needs podman or buildah (apt-get install buildah)" >&2; exit 2; }
	$$(command -v podman || command -v buildah) build $(BUILD_OPTIONS) --build-arg BASE=$(BASE) \
		-f docs/Containerfile --ignorefile docs/Containerfile.ignore -t heddle .
# What needs root, other programs or other machines: packages, the library, the SARIF schema.
check-delivery: all
	tests/delivery.sh
.PHONY: deb container check-delivery

# The generated documents are committed; tests/e2e/manual.t compares them.
manual: all
	docs/manual.sh man $(HEDDLE:heddle=./heddle) >docs/heddle.1
	for shell in bash zsh fish; do docs/manual.sh $$shell $(HEDDLE:heddle=./heddle) >docs/heddle.$$shell || exit; done
.PHONY: manual

# Not formatted: lists (.def), and sources that tests show on a screen or compile, whose lines are
# counted.
FORMATTED = $(shell find engine debuginfo tui tests -name '*.[ch]' \
	! -path 'tests/screen/source/*' ! -path 'tests/e2e/programs/*' ! -path 'tests/e2e/cases/*')
FORMATTER = 14
format check-format:
	@tests/deps.sh clang-format
	@clang-format --version | grep -q 'version $(FORMATTER)\.' || { \
		echo "$@: needs clang-format $(FORMATTER), which Debian 12 has; others format differently" >&2; exit 2; }
	clang-format $(if $(filter format,$@),-i,--dry-run -Werror) $(FORMATTED)

lint:
	@tests/deps.sh $(PACKAGES) $(LINT_PACKAGES)
	$(MAKE) compile_commands.json $(B)/engine/export/perfetto.pb-c.h
	tests/lint.sh $(T)

# What each file is compiled with, for clangd, clang-tidy and the like; written anew each time, as
# files come and go.
command = {"directory": "$(CURDIR)"$(,) "file": "$(1)"$(,) "command": "gcc $(subst ",\",$(2)) -c $(1)"}
compile_commands.json:
	$(file >$@,[)
	$(foreach f,$(LIB_SRC) $(TUI_SRC) tui/main.c $(UNIT_SRC) $(PROPERTY_SRC) $(SCREEN_SRC) $(BENCH_SRC) \
		$(FUZZ_SRC) $(SUPPORT_SRC),$(file >>$@,$(call command,$(f),$(CPPFLAGS) $(filter-out -MMD -MP,$(CFLAGS_ALL)))$(,)))
	$(foreach f,$(RUNTIME_SRC),$(file >>$@,$(call command,$(f),$(RUNTIME_FLAGS))$(if \
		$(filter $(f),$(lastword $(RUNTIME_SRC))),,$(,))))
	$(file >>$@,])
	@:

tags:
	@tests/deps.sh $(TAGS_PACKAGES)
	ctags -R --languages=C,C++ --langmap=C:+.def engine debuginfo tui tests
	find engine debuginfo tui tests -name '*.[ch]' -o -name '*.def' >cscope.files
	cscope -bq

# The runtime is not counted: it lives in the recorded program.
coverage:
	@tests/deps.sh $(PACKAGES) $(TEST_PACKAGES) $(COVERAGE_PACKAGES)
	$(MAKE) COVERAGE=1 OPT='-O1 -g' tests
	-tests/run.sh build/coverage $(T)
	tests/coverage.sh build/coverage
.PHONY: check-format lint compile_commands.json tags coverage

clean:
	rm -rf build heddle tags cscope.* compile_commands.json

-include $(shell find $(B) -path build/deb -prune -o -type f -name '*.d' -print 2>/dev/null)
