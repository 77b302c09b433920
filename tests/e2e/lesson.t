#!/bin/bash
# heddle lesson: the list, every lesson's facts and answers against the real analyses, lessons
# of one's own and what is wrong with them, the student's folder, an installed tree.
. tests/e2e/lib.sh
export XDG_STATE_HOME=$scratch/state XDG_DATA_HOME=$scratch/data HOME=$scratch TMPDIR=$scratch
mkdir -p "$XDG_STATE_HOME"

run "$HEDDLE" lesson
is "$status" 0 "the list"
like "$out" "^ 1\. lost-update +The lost update" "the first lesson, with its title"
run "$HEDDLE" lesson --format json
is "$(json 'scalar @{$d->{lessons}} >= 16 ? "many" : "few"')" many "at least sixteen lessons"
is "$(json 'join " ", map { $_->{name} } @{$d->{lessons}}[0, 1, 2, 3]')" \
	"lost-update two-locks lucky-run predicted-race" "in their order"
names=$(json 'join " ", map { $_->{name} } @{$d->{lessons}}')

# Each lesson is played by its own keys: each task undone before them and done after them, each
# fact so in the recording, each answer accepted, and after the fix the finding gone.
for name in $names; do
	run "$HEDDLE" lesson "$name" --play
	is "$status $err" "0 " "$name is played to its end"
done
[ -z "$(ls -d "$scratch"/heddle-lesson-* 2>/dev/null)" ]
ok $? "no folder is left behind"
run "$HEDDLE" lesson --format json
is "$(json 'scalar grep { $_->{finished} } @{$d->{lessons}}')" 0 "playing is nobody's progress"

# Without a terminal the lesson is text, and its commands do what the explorer does.
run "$HEDDLE" lesson lost-update
is "$status" 0 "without a terminal: text"
like "$out" "heddle cc -g -O1 -pthread account.c -o account" "with the commands"
like "$out" "Answer: -40" "and the answers"
# commands LESSON: the first five that it prints, in the folder of a student
commands() {
	PATH=$(dirname "$HEDDLE"):$PATH
	"$HEDDLE" lesson "$@" | sed -n 's/^    \([a-z]\)/\1/p' | head -5 | sh
}
mkdir "$scratch/lost"
(cd "$scratch/lost" && commands lost-update) >/dev/null 2>&1
run "$HEDDLE" races "$scratch/lost/lost-update-lesson/account.hdl"
is "$status" 1 "the printed commands make the recording"
# in the lesson's own folder, beside a program of its name
mkdir "$scratch/here" && cp samples/two-locks/two_locks.c samples/two-locks/fixed.c "$scratch/here"
cp samples/two-locks/two-locks.lesson "$scratch/here/two_locks.lesson"
touch "$scratch/here/two_locks"
(cd "$scratch/here" && commands two_locks.lesson --worksheet) >/dev/null 2>&1
run "$HEDDLE" races "$scratch/here/two_locks-lesson/two_locks.hdl"
is "$status" 1 "those of a worksheet, too"
[ -e "$scratch/here/two_locks-lesson/fixed.c" ]
is "$?" 1 "which is without the fix"

# The student's folder stays, and what is in it.
mkdir "$scratch/mine" && cp samples/two-locks/fixed.c "$scratch/mine/two_locks.c"
run "$HEDDLE" lesson two-locks --play -d "$scratch/mine"
is "$status" 2 "the student's file is not overwritten: the finding is not there"
like "$err" "this is not so in the recording: found data-race served race" "says what is not so"
[ -e "$scratch/mine/two_locks.hdl" ]
ok $? "the recording is in the student's folder"

# One's own: beside a program, or in the data folder.
own=$XDG_DATA_HOME/heddle/lessons/mine
mkdir -p "$own" && cp samples/two-locks/*.c "$own/"
sed 's/^title: .*/title: My own/' samples/two-locks/two-locks.lesson >"$own/own.lesson"
run "$HEDDLE" lesson
like "$out" "own +My own" "a lesson of the data folder is in the list"
run "$HEDDLE" lesson "$own/own.lesson" --play
is "$status" 0 "a lesson by its file"
run "$HEDDLE" lesson own --check
is "$status" 0 "and by its name"
echo nonsense >"$own/broken.lesson"
run "$HEDDLE" lesson
is "$status" 0 "a broken lesson does not hide the others"

refused() { # NAME SED REGEX: the changed lesson is refused with one line
	sed "$2" samples/two-locks/two-locks.lesson >"$own/bad.lesson"
	run "$HEDDLE" lesson --check "$own/bad.lesson"
	is "$status $(printf '%s' "$err" | grep -c '')" "2 1" "$1: refused in one line"
	like "$err" "$3" "$1: which says what"
}
refused "no lesson" 1d "bad.lesson:1: expected '#! heddle-lesson 1'"
refused "a key that is none" 's/^task:/taks:/' "there is no key 'taks' in a step"
refused "a check that is none" 's/^check: view source/check: vew source/' "bad.lesson:13: there is no check 'vew'"
refused "an operand too many" 's/^check: view source/check: view source trace/' "'view' takes VIEW"
refused "no such file" 's/^source: .*/source: nowhere.c/' "there is no file 'nowhere.c'"
refused "a file elsewhere" 's/^source: .*/source: ..\/x.c/' "cannot be the name"
refused "no answer" '/^answer:/d' "a question and its answer go together"
refused "two titles" 's/^title: \(.*\)/title: \1\ntitle: another/' "'title' is there already in the head"
refused "two ways to record" '/^title:/i record: --seed 2\nrecord: --seed 3' "'record' is there already in the head"
refused "an answer without a word" 's/^answer: .*/answer:/' "expected a value after 'answer:', found nothing"
refused "a title without a word" 's/^title: .*/title:/' "expected a value after 'title:', found nothing"
refused "an answer that is no choice" 's/^answer: c/answer: z/' "expected the letter of a choice"
refused "a task without a check" '/^check: view/d' "a task and its checks go together"
refused "a task without keys" '/^keys: s/d' "has no keys"
refused "no fix" 's/^check: gone .*/check: view trace/' "no step asks for the fix"
refused "too long" 's/^Two clerks.*/&&&&&&&&&&&&&&&/' "fit on a small screen"
refused "options that are not words" 's/^fixed:/compile: -D"x\n&/' "expected options"

# What is wrong with the content is found by playing it.
sed 's/^keys: s/keys: T/' samples/two-locks/two-locks.lesson >"$own/bad.lesson"
run "$HEDDLE" lesson --play "$own/bad.lesson"
like "$err" "step 1, .*the keys do not do it; this does not hold: view source" "keys that do something else"
sed 's/^fact: holds left_clerk left/fact: holds left_clerk right/' samples/two-locks/two-locks.lesson >"$own/bad.lesson"
run "$HEDDLE" lesson --play "$own/bad.lesson"
like "$err" "step 2, .*not so in the recording: holds left_clerk right" "a fact that is none"
sed 's/^fixed: .*/fixed: two_locks.c/' samples/two-locks/two-locks.lesson >"$own/bad.lesson"
run "$HEDDLE" lesson --play "$own/bad.lesson"
like "$err" "step 6, .*the fix is not right: (there is a data race on served at two_locks.c:[0-9]+, two_locks.c:[0-9]+|under another schedule the program prints 'served 1')" "a fix that mends nothing"
echo 'int main(' >"$own/broken.c"
sed 's/^source: .*/source: broken.c/' samples/two-locks/two-locks.lesson >"$own/bad.lesson"
run "$HEDDLE" lesson --play "$own/bad.lesson"
is "$status" 2 "a program that does not compile"
like "$err" "heddle cc .* failed with status 1" "names the command"

# What a teacher begins with is well-formed, and can be played as it is.
mkdir "$scratch/class"
cp samples/bank/bank.c "$scratch/class/till.c"
run "$HEDDLE" lesson --new "$scratch/class/till.c"
is "$status" 0 "a draft"
run "$HEDDLE" lesson --play "$scratch/class/till.lesson"
like "$err" "till.lesson:[0-9]+: there is no file 'fixed-till.c'" "which lacks the fixed version"
cp samples/bank/fixed.c "$scratch/class/fixed-till.c"
run "$HEDDLE" lesson --play "$scratch/class/till.lesson"
is "$status $out" "0 till: 4 steps played to the end" "and can be played with it"
run "$HEDDLE" lesson --new "$scratch/class/till.c"
is "$status" 2 "a lesson is not overwritten"
run "$HEDDLE" lesson --new "$scratch/class/none.c"
is "$status" 2 "a draft for no program"

# To hand out.
run "$HEDDLE" lesson two-locks --worksheet
like "$out" "Which lock do both clerks hold" "a worksheet has the questions"
like "$out" "Answer: ____" "with room for the answers"
unlike "$out" "Keys:|never wait for each other|cp fixed.c" "and gives nothing away"

# The progress of a class, as files that a teacher collects.
mkdir -p "$scratch/hand-in" "$scratch/state/heddle"
echo '{"lost-update": {"step": 5, "finished": true, "wrong": 1, "hints": 2, "skipped": 0},
	"two-locks": {"step": 2, "finished": false, "wrong": 0, "hints": 0, "skipped": 0}}' >"$scratch/state/heddle/lessons.json"
XDG_STATE_HOME=$scratch/state "$HEDDLE" lesson --format json >"$scratch/hand-in/ada.json"
XDG_STATE_HOME=$scratch/none "$HEDDLE" lesson --format json >"$scratch/hand-in/bob.json"
run "$HEDDLE" lesson --class "$scratch/hand-in/ada.json" "$scratch/hand-in/bob.json"
is "$status" 0 "the progress of a class"
like "$out" "^ada: 1 of [0-9]+ finished" "a student, by the file's name"
like "$out" "^    lost-update +finished: 1 wrong answer, 2 hints" "a lesson that is finished, and how"
like "$out" "^    two-locks +step 3 of [0-9]+" "one that is begun"
like "$out" "^bob: 0 of [0-9]+ finished" "another student, who has not begun"
run "$HEDDLE" lesson --class --format json "$scratch/hand-in/ada.json" "$scratch/hand-in/bob.json"
is "$(json 'join " ", map { $_->{student} . scalar grep { $_->{finished} } @{$_->{lessons}} } @{$d->{students}}')" "ada1 bob0" "as JSON"
echo '{"lessons": [3]}' >"$scratch/hand-in/eve.json"
run "$HEDDLE" lesson --class "$scratch/hand-in/ada.json" "$scratch/hand-in/eve.json"
is "$status $out" "2 " "a file that is none: nothing is printed"
like "$err" "eve.json: is no progress in lessons" "but which it is"
run "$HEDDLE" lesson --class
is "$status" 2 "a class without files"

run "$HEDDLE" lesson nowhere
is "$status" 2 "no such lesson"
like "$err" "there is no lesson 'nowhere'" "says so"
run "$HEDDLE" lesson --check
is "$status" 2 "nothing to check"
done_testing
