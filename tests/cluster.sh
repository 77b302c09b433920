#!/bin/bash
# tests/cluster.sh: the scripts of docs/cluster.md as they stand there, with GNU parallel and with a Slurm of
# one controller and two nodes on this machine (root; it is set up in a folder of its own, and ended).
set -u
root=$PWD
export PATH=$root:$PATH HEDDLE_SAMPLES=$root/samples
work=$(mktemp -d)
pids=()
finish() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
	for file in "$work"/slurm/run/*.pid "$work"/slurm/munge.pid; do
		[ -e "$file" ] || continue
		pid=$(cat "$file")
		kill "$pid" 2>/dev/null && timeout 20 tail -s 0.1 --pid="$pid" -f /dev/null # it still writes into the folder
	done
	[ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap finish EXIT
fail() { echo "cluster: $*" >&2; exit 1; }
script() { # NAME: the script of that name in the document
	awk -v name="$1" '/^```sh/ { text = ""; inside = 1; next }
		/^```/ { if (inside && index(text, "# " name)) printf "%s", text; inside = 0 }
		inside { text = text $0 "\n" }' "$root/docs/cluster.md" >"$1"
	[ -s "$1" ] || fail "docs/cluster.md has no $1"
}
states() { perl -MJSON::PP -0777 -ne '$d = decode_json($_); print "$d->{states} " . ($d->{complete} ? "complete" : "open") . " " . join "; ", sort map { "$_->{kind} $_->{count}" } @{$d->{errors}}'; }
cd "$work" || exit 1
mkdir parallel shared
cp "$root/samples/bank/bank.c" . && heddle cc -g -O1 bank.c -o shared/bank -pthread || fail "bank does not compile"
# six threads take a lock in turn, and one order fails: 720 classes
heddle cc -g -O1 -DN=6 -DBUG "$root/tests/e2e/programs/turns.c" -o shared/six -pthread || fail "six does not compile"
cp shared/* parallel
whole=$(cd shared && heddle explore --budget 0 --format json -- ./six | states)
runs() { perl -MJSON::PP -0777 -ne '$d = decode_json($_); print $d->{runs} . " " . join " ", sort map { $_->{end} } @{$d->{outcomes}}'; }

echo "== GNU parallel"
cd "$work/parallel" || exit 1
script shares.sh
script rounds.sh
sh shares.sh >said || fail "shares.sh ended with $?"
sh shares.sh >again && cmp -s said again || fail "shares that are there say something else"
grep -q '^200 runs' said || fail "shares.sh did not make 200 runs: $(head -3 said)"
grep -q 'data-race' said || fail "check found no race"
sh rounds.sh 4 1 ./six >report.txt & pids+=($!)
sleep 1; kill "$!" 2>/dev/null; wait "$!" 2>/dev/null # somewhere in between
sh rounds.sh 4 1 ./six >report.txt || fail "rounds.sh ended with $?"
grep -q ", complete for this input" report.txt || fail "rounds.sh: $(head -5 report.txt)"
grep -q "${whole%% *} of them different" report.txt || fail "rounds.sh: $(head -1 report.txt), the whole: $whole"
echo "shares.sh, rounds.sh: passed"

echo "== Slurm"
mkdir -p "$work/slurm"/{spool,state,log,run} && cd "$work/slurm" || exit 1
dd if=/dev/urandom of=munge.key bs=1024 count=1 2>/dev/null && chmod 600 munge.key
munged --key-file="$PWD/munge.key" --socket="$PWD/munge.socket" --pid-file="$PWD/munge.pid" \
	--log-file="$PWD/munge.log" --seed-file="$PWD/munge.seed" --force 2>/dev/null || fail "munged does not start"
cat >slurm.conf <<CONF
ClusterName=heddle
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/munge.socket
SlurmctldPort=26817
SlurmctldPidFile=$PWD/run/slurmctld.pid
SlurmdPidFile=$PWD/run/slurmd.%n.pid
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool/%n
SlurmctldLogFile=$PWD/log/slurmctld.log
SlurmdLogFile=$PWD/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=0
MinJobAge=600
NodeName=node[1-2] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[26821-26822] CPUs=1 State=UNKNOWN
PartitionName=all Nodes=node[1-2] Default=YES State=UP
CONF
export SLURM_CONF=$PWD/slurm.conf
slurmctld || fail "slurmctld does not start: $(tail -3 log/slurmctld.log)"
for node in node1 node2; do slurmd -N $node || fail "slurmd does not start"; done
for i in $(seq 60); do sinfo -h -t idle -o %D 2>/dev/null | grep -q 2 && break; sleep 1; done
sinfo -h -t idle -o %D | grep -q 2 || fail "the nodes do not come up: $(sinfo)"

cd "$work/shared" || exit 1
for name in share.sbatch task.sbatch round.sbatch; do script $name; done
sbatch --wait --array=1-8 share.sbatch >/dev/null || fail "share.sbatch: $(cat share.*.out | tail -3)"
cksum share.[1-8] >before
sbatch --wait --array=1-8 share.sbatch >/dev/null || fail "share.sbatch, again"
cksum share.[1-8] | cmp -s - before || fail "a share was made twice"
[ "$(heddle merge share.[1-8] --format json | runs)" = "$(heddle shake --runs 400 --format json -- ./bank | runs)" ] ||
	fail "the shares are not the whole"
echo "share.sbatch: passed"

# Rounds of three jobs on two nodes; the first jobs of the first arrays are killed, with their programs.
sbatch round.sbatch 0 3 1 ./six >/dev/null || fail "round.sbatch"
killed=0
for i in $(seq 600); do
	[ -e finished ] && break
	if [ $killed -lt 3 ]; then
		job=$(squeue -h -r -t R -n task.sbatch -o %i | head -1)
		[ -n "$job" ] && scancel --signal=KILL --full "$job" 2>/dev/null && killed=$((killed + 1))
	fi
	sleep 0.2
done
[ -e finished ] || fail "round.sbatch did not come to its end: $(tail -5 round.out)"
last=$(ls round*.1 | sed 's/round\([0-9]*\).1/\1/' | sort -n | tail -1)
found=$(heddle merge round"$last".* --format json | states)
[ "$last" -ge 2 ] || fail "there was one round only"
[ "$found" = "$whole" ] || fail "the rounds found $found, the whole is $whole"
echo "round.sbatch: passed, $last rounds, $killed jobs killed"
