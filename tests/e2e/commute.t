#!/bin/bash
# heddle commute: the examples of the two papers, and the corners of the definitions.
. tests/e2e/lib.sh
cd "$scratch" || exit 1

pairs() { json 'join " ", map { "$_->{first},$_->{second}" } @{$d->{findings}}'; }
verdicts() { json 'join " ", map { "$_->{first},$_->{second}:$_->{verdict}" } @{$d->{findings}}'; }
rd2() { run "$HEDDLE" commute "$@" --pairs events --format json; }
cov() { run "$HEDDLE" commute "$@" --analysis cov --pairs events --format json; }

# Figures 1 and 3 of the RD2 paper: connections to duplicate hosts.
cat >connections.txt <<'T'
#! heddle 1
#! object o dict
main|fork(T1)|conn.c:30
main|fork(T2)|conn.c:30
T1|act(o.put,"a.com",c1)=nil|conn.c:18
T2|act(o.put,"a.com",c2)=c1|conn.c:18
main|join(T1)|conn.c:33
main|join(T2)|conn.c:33
main|act(o.size)=1|conn.c:34
T
rd2 connections.txt
is "$status" 1 "connections: a race"
is "$(pairs)" 2,3 "between the two puts, not with size"
is "$(json '$d->{findings}[0]{kind}')" commutativity-race "its kind"
is "$(json '$d->{findings}[0]{verdict}')" candidate "its verdict"
is "$(json 'join ";", @{$d->{findings}[0]{methods}}')" 'put("a.com", c1) / nil;put("a.com", c2) / c1' "its methods"
like "$(json '$d->{findings}[0]{condition}')" '"a.com" != "a.com" \|\| \(c1 == nil && c2 == c1\)' "the values in the condition"
is "$(json 'join ";", @{$d->{findings}[0]{points}}')" 'o:w:"a.com";o:w:"a.com"' "the points that clash"
run "$HEDDLE" commute connections.txt
is "$status" 1 "sites is the default"
like "$out" 'put\("a.com", c1\) / nil' "and text"

# Without the joins size races with the put that resizes, not with the one that does not.
grep -v join connections.txt | sed 's/a.com",c2)=c1/a.com",c2)=c1/' >nojoin.txt
rd2 nojoin.txt
is "$(pairs)" "2,3 2,4" "without joins size races with the first put alone"

# Different hosts: no race, and theorem 5.2's promise.
sed 's/"a.com",c2)=c1/"b.com",c2)=nil/; s/size)=1/size)=2/' connections.txt >distinct.txt
rd2 distinct.txt
is "$status" 0 "distinct hosts: none"
like "$(json '$d->{notes}[0]')" 'ends in the same state' "a clean trace says what that means"

# The first program of the paper: put(5, 7) beside get(5).
printf 'T1|fork(T2)|1\nT1|act(m.put,5,7)=1|2\nT2|act(m.get,5)=7|3\n' >intro.txt
rd2 intro.txt
is "$(pairs)" 1,2 "put(5,7) and get(5); the type is found by the methods"

# Release sequences (C17 5.1.2.4): a thread's own store continues that of its read-modify-write, another thread's ends it.
release() {
	printf 'T1|fork(T2)|1\nT1|fork(T3)|1\nT1|act(m.put,5,7)=1|2\nT1|rmw(x);rel|3\n%s|aw(x);rlx|4\nT2|ar(x);acq|5\nT2|act(m.get,5)=7|6\n' "$1" >release.txt
	rd2 release.txt
}
release T1
is "$(pairs)" "" "a read of the thread's own later store synchronises with its release"
release T3
is "$(pairs)" 2,6 "another thread's store has ended the sequence"

# Synchronisation inside of a scope on a specified object adds no edge; outside it does.
cat >library.txt <<'T'
#! object o dict
T1|call(o.put,1,a)|1
T1|acq(internal)|lib.c:1
T1|rel(internal)|lib.c:2
T1|ret(o.put)=nil|1
T2|call(o.put,1,b)|2
T2|acq(internal)|lib.c:1
T2|rel(internal)|lib.c:2
T2|ret(o.put)=a|2
T
rd2 library.txt
is "$(pairs)" 0,4 "the library's own lock hides nothing"
sed '/^T1|call/i T1|acq(m)|0' library.txt | sed '/^T1|ret/a T1|rel(m)|0' | sed '/^T2|call/i T2|acq(m)|0' >locked.txt
rd2 locked.txt
is "$status" 0 "the caller's lock orders them"

# Conditions that are not ECL are compared pair by pair.
cat >near.spec <<'S'
object near {
  method touch(x)
  commute touch(a), touch(b) : a - b > 1 || b - a > 1
}
S
cat >near.txt <<'T'
#! object o near
T1|act(o.touch,1)|1
T1|act(o.touch,5)|2
T2|act(o.touch,2)|3
T2|act(o.touch,4)|4
T2|act(o.touch,9)|5
T
rd2 near.txt --spec near.spec
is "$(pairs)" "0,2 1,3" "pairs of a condition that is not ECL"
like "$(json 'join " ", @{$d->{notes}}')" 'pair by pair' "and the report says that it costs linear time"
printf '#! object o near\nT1|act(o.touch,9223372036854775807)|1\nT2|act(o.touch,-5)|2\n' >over.txt
rd2 over.txt --spec near.spec
is "$status" 2 "an overflow in a formula is an error"
like "$err" 'over.txt: event 1: expected arithmetic within 64 bits' "that names the event"
printf '#! heddle-witness 1\n#! kind cov\n#! pair 0 1\n1\n0\n' >over.wit
# ECL conditions are evaluated for each side alone, the others for pairs
printf 'object near {\n  method touch(a)\n  commute touch(a), touch(b) : a + 1 == 7 || b + 1 == 7\n}\n' >points.spec
for spec in near.spec points.spec; do
	for command in 'commute over.txt' 'commute over.txt --analysis cov' 'commute over.txt --analysis edc' \
		'explain over.txt 0 1 --order edc' 'witness over.txt 0 1' 'verify over.txt over.wit'; do
		run "$HEDDLE" $command --spec $spec
		is "$status$(grep -c 'over.txt: event [01]: expected arithmetic within 64 bits' <<<"$err")" 21 \
			"$command, $spec: the same error"
	done
done
rd2 near.txt
is "$status" 0 "without the declaration the object is left out"
like "$(json 'join " ", @{$d->{notes}}')" 'no declaration of object type near' "and the report says so"

# Figure 3.1 of the thesis: a set under the lock hides a use after free from WDC, not from us.
cat >hidden.txt <<'T'
#! object s set
main|act(s.add,42)=true|a.c:1
main|alloc(x,4)|a.c:2
main|fork(T1)|a.c:3
main|fork(T2)|a.c:4
T1|r(x)=1|a.c:10
T1|acq(m)|a.c:11
T1|act(s.add,1)=true|a.c:12
T1|rel(m)|a.c:13
T2|acq(m)|a.c:20
T2|act(s.contains,42)=true|a.c:21
T2|free(x)|a.c:22
T2|rel(m)|a.c:23
T
cov hidden.txt
is "$(verdicts)" "4,10:race" "figure 3.1: the use after free is predicted"
is "$(json '$d->{findings}[0]{kind}')" use-after-free "its kind"
is "$(json '$d->{findings}[0]{witness}[-1]')" 4 "its witness ends with the use"
is "$(json '(grep { $_ == 10 } @{$d->{findings}[0]{witness}}) ? 1 : 0')" 1 "after the free"
is "$(json '$d->{complete} ? 1 : 0')" 1 "the answer is complete"
# The set's contents make the delete depend on the first thread: no violation then.
sed 's/add,1)=true/add,42)=true/; /main|act/d' hidden.txt >depends.txt
cov depends.txt
is "$(verdicts)" "" "where contains needs the add, there is none"

# Figure 3.3: the infeasible candidate is rejected.
cat >figure33.txt <<'T'
T1|alloc(x,4)|1
T1|w(y)=1|2
T1|fork(T2)|2
T1|acq(m)|3
T1|r(y)=1|4
T1|w(x)=1|5
T1|rel(m)|6
T2|acq(m)|7
T2|free(x)|8
T2|w(y)=0|9
T2|rel(m)|10
T
cov figure33.txt --verdicts all
is "$(verdicts)" "5,8:impossible" "figure 3.3: impossible, with a proof"
is "$status" 0 "and nothing is found"

# The lock-protected delete: no data race, a use after free all the same.
cat >delete.txt <<'T'
T1|alloc(x,4)|1
T1|fork(T2)|2
T1|acq(m)|3
T1|w(x)=1|5
T1|rel(m)|6
T2|acq(m)|7
T2|free(x)|8
T2|rel(m)|10
T
cov delete.txt
is "$(verdicts)" "3,6:race" "a delete under the same lock"
rd2 delete.txt
is "$status" 0 "which happens-before does not show"
sed '/acq\|rel/d' delete.txt >racy.txt
rd2 racy.txt
is "$(pairs)" 2,3 "without the lock it is racy too"
cov racy.txt
is "$(verdicts)" 2,3:race "and predicted"

# Figure 3.4, CockroachDB: a broadcast before the wait is lost.
cat >cockroach.txt <<'T'
S|fork(G)|1
S|acq(mu)|server.c:3
S|wait(cycler)|server.c:5
S|rel(mu)|server.c:5
G|acq(mu)|gossip.c:14
G|broadcast(cycler)|gossip.c:17
G|rel(mu)|gossip.c:18
S|wake(cycler)|server.c:5
S|acq(mu)|server.c:5
S|rel(mu)|server.c:7
T
cov cockroach.txt
is "$(verdicts)" "2,5:race" "figure 3.4: the broadcast may come first"
is "$(json '$d->{findings}[0]{kind}')" order-violation "an order violation"

# Figure 3.2: send against close, error against cancel, descriptor against close.
printf '#! object c channel\nA|fork(B)|1\nA|act(c.send,1)=true|2\nB|act(c.close)=true|3\n' >channel.txt
cov channel.txt
is "$(verdicts)" 1,2:race "a send may come after the close"
printf '#! object c channel\nA|fork(B)|1\nB|act(c.close)=true|3\nA|act(c.send,1)=false|2\n' >closed.txt
cov closed.txt
is "$(verdicts)" 1,2:happened "and here it did"
printf '#! object c context\nA|fork(B)|1\nA|act(c.cancel)|2\nB|act(c.err)=why|3\n' >context.txt
cov context.txt
is "$(verdicts)" 1,2:race "err may come before the cancel"
printf '#! object fd3 fd\nA|fork(B)|1\nA|act(fd3.write)=5|2\nB|act(fd3.close)=0|3\n' >fd.txt
cov fd.txt
is "$(verdicts)" 1,2:race "a write may come after the close"
printf '#! object fd3 fd\nA|fork(B)|1\nA|act(fd3.write)=-1|2\nB|act(fd3.close)=0|3\n' >failed.txt
cov failed.txt
is "$(verdicts)" "" "a write that failed may come anywhere"

# What joins order is no violation; a double free and a use after free that happened are.
printf 'A|alloc(p,8)|1\nA|fork(B)|2\nB|w(p)|3\nA|join(B)|4\nA|free(p)|5\n' >joined.txt
cov joined.txt --verdicts all
is "$(verdicts)" 2,4:impossible "a join orders the free"
printf 'A|alloc(p,8)|1\nA|fork(B)|2\nB|free(p)|3\nA|w(p)|4\nA|free(p)|5\n' >happened.txt
cov happened.txt
is "$(verdicts)" "2,3:happened 2,4:happened" "a use after free and a double free that happened"
# A mutex that is destroyed while others may use it (pbzip2).
printf 'A|fork(B)|1\nB|acq(m)|2\nB|rel(m)|3\nA|destroy(m)|4\n' >destroyed.txt
cov destroyed.txt
is "$(verdicts)" "1,3:race 2,3:race" "uses of a destroyed mutex"

# Sites: one finding for a pair of lines, with the best verdict.
for i in 1 2 3; do printf 'T%s|act(q.enqueue,%s)|q.c:5\n' 1 "$i" 2 "$i"; done >sites.txt
run "$HEDDLE" commute sites.txt --analysis cov --format json
is "$(json 'scalar @{$d->{findings}}')" 1 "one pair of lines"
is "$(json '$d->{findings}[0]{verdict}')" race "is a violation"

# One pair, its witness in a file, checked by the rules alone.
run "$HEDDLE" witness hidden.txt 4 10 -o hidden.wit
is "$status" 1 "witness finds the order violation"
like "$(cat hidden.wit)" '^#! kind cov' "its file says so"
is "$(tail -1 hidden.wit | cut -d' ' -f1)" 4 "and ends with the use"
run "$HEDDLE" verify hidden.txt hidden.wit
is "$status" 0 "verify accepts it"
grep -v '^10 ' hidden.wit >broken.wit
run "$HEDDLE" verify hidden.txt broken.wit
is "$status" 1 "without the free it is refused"
run "$HEDDLE" witness figure33.txt 5 8
is "$status" 0 "an impossible one"
like "$out" 'cannot come in the other order; the proof' "with its proof"
run "$HEDDLE" witness connections.txt 2 6
is "$status" 0 "size waits for the joins"
run "$HEDDLE" witness hidden.txt 6 9
is "$status" 2 "invocations that commute are no pair"

# EDC, the order of the thesis: candidates, with the deferred check at the release.
for bounded in "" --bounded; do
	for case in hidden:4,10 depends:5,8 figure33: delete:3,6 cockroach:2,5 joined:; do
		run "$HEDDLE" commute "${case%%:*}.txt" --analysis edc --pairs events --format json $bounded
		is "$(pairs)" "${case#*:}" "EDC on ${case%%:*} $bounded"
	done
done
run "$HEDDLE" explain depends.txt 3 8 --order edc
like "$out" 'conflicting critical sections' "explain shows EDC's edge"
run "$HEDDLE" explain hidden.txt 4 10 --order edc
unlike "$out" 'conflicting critical sections' "which is missing where the two commute"
# The drawing has the same order: two adds of one element clash, of two elements they do not.
for value in 1 2; do
	printf '%s\n' '#! heddle 1' '#! object s set' 'T1|acq(m)|1' 'T1|act(s.add,1)=true|2' 'T1|rel(m)|3' \
		'T2|acq(m)|4' "T2|act(s.add,$value)=true|5" 'T2|rel(m)|6' >adds.txt
	run "$HEDDLE" graph adds.txt --kind order --order edc
	is "$(grep -c 'color=black' <<<"$out")" $((value == 1)) "EDC drawn: add 1, add $value"
	like "$out" "$([ $value = 1 ] && echo 'n2 -> n4' || echo 'n5')" "and its edge"
done
# Races know no specification without --spec, and say so.
sed 's/acq(m)/w(x)/; s/rel(m)/r(y)/; s/T1.r(y).3/T1|branch()|3/; s/T2.w(x).4/T2|branch()|4/; s/T2.r(y).6/T2|w(x)|6/' adds.txt >calls.txt
run "$HEDDLE" races calls.txt
is "$status" 0 "calls on one object keep their order"
like "$out" 'note: calls on one object keep the order of this run here, .*--spec' "which a note says"
run "$HEDDLE" races calls.txt --spec set.spec
is "$status" 1 "a specification lets those that commute change places"
unlike "$out" 'keep the order' "and then there is no note"
run "$HEDDLE" races adds.txt --candidates edc
is "$status" 2 "EDC chooses no candidates of data races, as these know no specification"
run "$HEDDLE" commute joined.txt --analysis edc --format json
is "$(json '$d->{complete} ? 1 : 0')" 0 "EDC does not claim to be complete"

# Linearizability of the recorded history.
history() { # FILE LINES...
	local file=$1
	shift
	printf '%s\n' '#! heddle 1' '#! object q queue' "$@" >"$file"
	run "$HEDDLE" commute "$file" --linearizable
}
history lost.txt 'T1|call(q.enqueue,1)|q.c:1' 'T2|act(q.enqueue,2)|q.c:2' 'T2|call(q.dequeue)|q.c:3' 'T2|ret(q.dequeue)=nil|q.c:3'
is "$status" 1 "a queue that is empty after an enqueue returned"
is "$out" "q is not linearizable: in no order of its invocations, each between its call and its return, do all return what they did
  T2  [enqueue(2)] [dequeue() / nil]
  the longest order that fits is enqueue(2):
  then dequeue() by T2 (q.c:3) would return 2, and not nil
  (1 more invocation makes no difference)" "drawn, with the reason"
run "$HEDDLE" commute lost.txt --linearizable --format json
is "$(json 'join ";", map { my $o = $_; "$o->{object} " . ($o->{linearizable} ? 1 : 0) . " $o->{location} " . join ",", map { "$_->{thread} $_->{invocation} $_->{call}-$_->{return}" } @{$o->{history}} } @{$d->{objects}}')" \
	'q 0 q.c:3 T2 enqueue(2) 1-1,T2 dequeue() / nil 2-3' "the same in JSON"
history taken.txt 'T1|call(q.dequeue)|q.c:1' 'T2|act(q.enqueue,2)|q.c:2' 'T2|call(q.dequeue)|q.c:3' 'T2|ret(q.dequeue)=nil|q.c:3'
is "$status $out" "0 q: 3 invocations, linearizable" "one that has not returned may have taken effect"
printf '%s\n' '#! object q queue' 'T0|call(q.enqueue,1)|1' 'T0|call(q.enqueue,2)|2' 'T0|ret(q.enqueue)|2' \
	'T0|act(q.dequeue)=2|3' >again.txt
run "$HEDDLE" commute again.txt --linearizable
like "$out" '^q: undecided: .* a thread calls it again after a call that never returned: T0' "but its thread's later calls are in question"
is "$status" 3 "which is not decided"
history order.txt 'T1|call(q.enqueue,1)|q.c:1' 'T2|act(q.enqueue,2)|q.c:2' 'T1|ret(q.enqueue)|q.c:1' 'T3|act(q.dequeue)=2|q.c:3' 'T2|act(q.dequeue)=1|q.c:4'
is "$status $out" "0 q: 4 invocations, linearizable" "two at the same time may take effect in either order"
sed 's/^#! object q queue/#! object q closed/' order.txt >closed.txt
printf 'object closed {\n method enqueue(v)\n method dequeue() / r\n state n : int\n effect enqueue(v) { n := n + 1 }\n}\n' >closed.spec
run "$HEDDLE" commute closed.txt --linearizable --spec closed.spec
is "$status $out" "3 q: undecided: not looked at: the specification has no effect of dequeue" "a method without effects"
run "$HEDDLE" commute order.txt --linearizable --analysis cov
is "$status" 2 "--linearizable is no --analysis"
run "$HEDDLE" commute order.txt --linearizable --format sarif
is "$status" 2 "its report is text or JSON"
run "$HEDDLE" explore --linearizable -- ./none
is "$status" 2 "explore wants a specification with it"

# Bad usage.
run "$HEDDLE" commute connections.txt --analysis frob
is "$status" 2 "an unknown analysis"
run "$HEDDLE" commute connections.txt --spec none.spec
is "$status" 2 "no such specification"
like "$err" 'none.spec' "is named"
run "$HEDDLE" commute
is "$status" 2 "no trace"
run "$HEDDLE" commute connections.txt --analysis cov --budget 1
is "$status" 2 "a budget of one number"
done_testing
