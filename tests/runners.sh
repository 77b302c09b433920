#!/bin/bash
# tests/runners.sh: what docs/ci.md says, with the real programs: CTest, meson and automake run a test through
# heddle-test; the gate joins, compares, and its SARIF is valid by the published schema.
# SARIF_SCHEMA=FILE: sarif-schema-2.1.0.json, where it cannot be fetched.
set -u
root=$PWD
work=$(mktemp -d)
trap '[ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
fail() { echo "runners: $*" >&2; exit 1; }
mkdir "$work/ci" && cd "$work" || exit 1
for name in heddle-test heddle-gate; do
	awk -v name="$name" '/^```sh/ { text = ""; inside = 1; next }
		/^```/ { if (inside && index(text, "# " name)) printf "%s", text; inside = 0 }
		inside { text = text $0 "\n" }' "$root/docs/ci.md" >"ci/$name"
	[ -s "ci/$name" ] && chmod +x "ci/$name" || fail "docs/ci.md has no $name"
done
export PATH=$work/ci:$root:$PATH CC="heddle cc" CFLAGS="-g -O1" HEDDLE_BUDGET=20

schema=${SARIF_SCHEMA:-$work/schema.json}
if [ ! -s "$schema" ]; then
	curl -fsSL -o "$schema" https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json ||
		fail "the SARIF schema cannot be fetched; give SARIF_SCHEMA=FILE"
fi
valid() { # FILE
	python3 - "$schema" "$1" <<'P'
import json, sys, jsonschema
schema, report = (json.load(open(f)) for f in sys.argv[1:3])
jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker()).validate(report)
P
}

# The gate, in the folder where the tests ran: the race of bank is found, the schema holds.
gate() { # RUNNER
	rm -f baseline.json
	HEDDLE_REPORTS=$PWD/heddle-reports heddle-gate >gate.out 2>&1 || fail "$1: the first gate: $(cat gate.out)"
	[ "$(ls heddle-reports/*.json | wc -l)" = 2 ] || fail "$1: $(ls heddle-reports/*.json | wc -l) reports of 2 tests"
	grep -qE '"kind": ?"data-race"' heddle.json || fail "$1: no race in the report"
	valid heddle.sarif || fail "$1: heddle.sarif is not valid"
	printf '{"heddle": "0.2.0", "command": "check", "runs": [], "findings": [], "coverage": [], "complete": {}}' >baseline.json
	heddle-gate >gate.out 2>&1 && fail "$1: a new race passes the gate"
	grep -q 'new: .*data-race' gate.out || fail "$1: $(cat gate.out)"
	echo "$1: passed"
}
project() { # NAME
	mkdir "$work/$1" && cd "$work/$1" && cp "$root"/samples/bank/{bank,fixed}.c . || exit 1
}

project ctest
cat >CMakeLists.txt <<'F'
cmake_minimum_required(VERSION 3.18)
project(bank C)
enable_testing()
find_package(Threads REQUIRED)
foreach(test bank fixed)
	add_executable(${test} ${test}.c)
	target_link_libraries(${test} Threads::Threads)
	add_test(NAME ${test} COMMAND ${test})
endforeach()
F
cmake -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CROSSCOMPILING_EMULATOR=heddle-test >log 2>&1 && cmake --build build >>log 2>&1 || fail "ctest: $(tail -5 log)"
cd build && ctest --output-on-failure >log 2>&1 || fail "ctest: $(tail -5 log)"
gate ctest

project meson
cat >meson.build <<'F'
project('bank', 'c')
threads = dependency('threads')
foreach name : ['bank', 'fixed']
	test(name, executable(name, name + '.c', dependencies: threads), workdir: meson.current_build_dir())
endforeach
F
meson setup build >log 2>&1 && meson compile -C build >>log 2>&1 || fail "meson: $(tail -5 log)"
meson test -C build --wrapper heddle-test >log 2>&1 || fail "meson: $(tail -5 log)"
cd build && gate meson

project automake
cat >configure.ac <<'F'
AC_INIT([bank], [1])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
F
cat >Makefile.am <<'F'
TESTS = bank fixed
check_PROGRAMS = bank fixed
AM_LDFLAGS = -pthread
F
autoreconf -i >log 2>&1 && ./configure >>log 2>&1 && make >>log 2>&1 || fail "automake: $(tail -5 log)"
make check LOG_COMPILER=heddle-test >log 2>&1 || fail "automake: $(tail -5 log)"
gate automake

# The steps of the hosted action, but for those that fetch: in a project whose tests are in a folder of their own.
project action
mkdir ci tests && cp "$work"/ci/heddle-* ci/ && mv bank.c fixed.c tests/
printf 'cmake_minimum_required(VERSION 3.18)\nproject(bank C CXX)\nenable_testing()\nadd_subdirectory(tests)\n' >CMakeLists.txt
sed -n '/^find_package/,$p' ../ctest/CMakeLists.txt >tests/CMakeLists.txt
python3 - "$root/docs/ci.md" >steps.sh <<'P'
import re, sys, yaml
blocks = [yaml.safe_load(b) for b in re.findall(r"```yaml\n(.*?)```", open(sys.argv[1]).read(), re.S)]
job = next(b for b in blocks if "jobs" in b)["jobs"]["heddle"]
print("set -e")
for name, value in job["env"].items():
    print(f'export {name}={value.replace("${{ github.workspace }}", "$PWD")}')
for step in job["steps"]:
    if "run" in step and not step["run"].startswith("apt-get"):
        print(f'( {step["run"]} )')
P
unset CC
printf '{"heddle": "0.2.0", "command": "check", "runs": [], "findings": [], "coverage": [], "complete": {}}' >ci/baseline.json
bash steps.sh >log 2>&1 && fail "action: a new race passes"
grep -q 'new: .*data-race' log || fail "action: $(tail -5 log)"
valid build/heddle.sarif || fail "action: its SARIF is not valid"
cp build/heddle.json ci/baseline.json && rm -rf build
bash steps.sh >log 2>&1 || fail "action: what the baseline has does not pass: $(tail -5 log)"
echo "hosted action: its steps passed"
export CC="heddle cc"

# Every command that writes SARIF.
cd "$work/ctest/build" || exit 1
heddle record -q --seed 1 -o bank.hdl -- ./bank >/dev/null
for command in "races bank.hdl" "races bank.hdl --verdicts all" "deadlocks bank.hdl" "explore -- ./bank" "check --budget 10 -- ./bank" "atomic bank.hdl --predict"; do
	case $command in *" -- "*) set -- ${command%% -- *} --format sarif -- ./bank ;; *) set -- $command --format sarif ;; esac
	heddle "$@" >out.sarif 2>/dev/null
	[ $? != 2 ] && valid out.sarif || fail "heddle $command --format sarif: not valid"
done
echo "SARIF of six commands: valid by the published schema"
