/*
 * messages.h - the sentences of the last line: messages of commands and keys, and reasons for
 * a refusal. All are here, so that they can be read as a whole; tests/e2e/messages.t checks
 * that none is elsewhere.
 *
 * SAYS_* are formats for app_say. NO_* are refusals: the remedy (NULL: none), then the format;
 * for refuse(). The compiler checks the arguments of both.
 */
#ifndef HEDDLE_MESSAGES_H
#define HEDDLE_MESSAGES_H

/* Sets `error` to a refusal of this table; false. */
#define refuse(error, ...) error_set((error), "", __VA_ARGS__)

/* -- keys and commands in general */
#define SAYS_NOT_DONE        "not done: only `y` does it"
#define SAYS_NO_PLACE_BEFORE "there is no place to go back to"
#define SAYS_NO_EVENTS       "the trace has no events"
#define SAYS_INDEX_AWAITED   "wait a moment: the index is still being built"
#define SAYS_KEY_UNKNOWN     "%s does nothing here; ? lists the keys"
#define SAYS_IDLE            "no work is under way; q leaves"
#define SAYS_STOPPED_ASKED   "stopped; Ctrl-C once more stops the analyses, too"
#define SAYS_STOPPED_ANALYSES \
	"the analyses are stopped: verdicts that they have not reached stay open"
#define SAYS_COPIED  "copied: %s"
#define SAYS_WRITTEN "written to %s"

/* -- where one is */
#define SAYS_NO_PAIR               "no pair is selected: choose a finding, or say `pair E1 E2`"
#define SAYS_NOTHING_YET           "nothing is found yet: heddle is still looking (T shows the trace)"
#define SAYS_NO_PARTNER            "the recording has no event that belongs to this one"
#define SAYS_NO_SEARCH             "/ asks for the text first"
#define SAYS_NOT_FOUND             "no event %s has “%s”"
#define SAYS_NOT_FOUND_IN_SCHEDULE "no event of this schedule %s has “%s”"
#define SAYS_AFTER                 "after this one"
#define SAYS_BEFORE                "before this one"
#define SAYS_BOOKMARK_GONE         "the bookmark is gone"
#define SAYS_BOOKMARK              "bookmark at event %u (' goes from one to the next)"
#define SAYS_BOOKMARK_NAMED        "bookmark %s at event %u"
#define SAYS_NO_BOOKMARKS          "no bookmarks yet: * sets one"
#define SAYS_NOT_AN_ACCESS \
	"this event reads and writes nothing: `display NAME` takes any variable"
#define SAYS_NOT_WATCHED "its value is no longer kept in the state pane"
#define SAYS_WATCHED     "its value is kept in the state pane (S)"
#define SAYS_NO_SOURCE \
	"the source of this event was not found; `:directory DIR` says where it is"
#define SAYS_OUTERMOST        "this is the outermost frame"
#define SAYS_INNERMOST        "this is the innermost frame"
#define SAYS_LAST_EVENT       "this is the last event"
#define SAYS_FIRST_EVENT      "this is the first event"
#define SAYS_LAST_OF_THREAD   "this is the thread's last event"
#define SAYS_FIRST_OF_THREAD  "this is the thread's first event"
#define SAYS_NO_SWITCH_AFTER  "no other thread runs after this event"
#define SAYS_NO_SWITCH_BEFORE "no other thread runs before this event"
#define SAYS_NO_WRITE_BEFORE  "no write before this event: the variable has its initial value"
#define SAYS_NO_READ_AFTER    "no thread reads the variable after this event"
#define SAYS_NO_ACCESS_AFTER  "no access to the variable after this event"
#define SAYS_NO_ACCESS_BEFORE "no access to the variable before this event"
#define SAYS_NO_LOCK_AFTER    "no event of its lock after this one"
#define SAYS_NO_LOCK_BEFORE   "no event of its lock before this one"
#define SAYS_NO_LINE_AFTER    "no other source line of the thread after this event"
#define SAYS_NO_LINE_BEFORE   "no other source line of the thread before this event"

/* -- the list of findings */
#define SAYS_MARKED_MANY     "%u findings marked %s"
#define SAYS_MARKED          "%smarked %s (kept in %s)"
#define SAYS_NO_FOLDERS      "the list is without folders"
#define SAYS_FOLDERS         "%u folder%s by %s: - opens and closes one, marks are for all in it"
#define SAYS_FOLDERS_FIRST   "there are no folders: b makes them, by variable first"
#define SAYS_PICKED          "%u picked: t marks them together"
#define SAYS_NONE_PICKED     "no finding is picked any more"
#define SAYS_HELD            "this finding is held: = on another one compares the two"
#define SAYS_FILTER_CLEARED  "the filter is gone: all %u findings"
#define SAYS_SORTED          "sorted by %s%s"
#define SAYS_MARKED_HIDDEN   "findings with a mark are hidden"
#define SAYS_MARKED_SHOWN    "findings with a mark are shown"
#define SAYS_LISTED_POSSIBLE "findings that can happen, and open ones"
#define SAYS_LISTED_ALL      "all findings, also those that are proved impossible"
#define SAYS_LISTED_RACES    "only races that can happen"
#define SAYS_REPORTED \
	"race %u of %u in the report: w shows the witness, o why the two are ordered"
#define SAYS_REPORTED_FIRST SAYS_REPORTED "%s"
#define SAYS_NONE_REPORTED \
	"this trace has no pair of accesses for any of the %u race%s in the report"
#define SAYS_PAIR "w shows the witness, o why the two are ordered, s the source of both"

/* -- the trace */
#define SAYS_NO_LOOP         "no loop has three rounds here"
#define SAYS_FOLDED          "the middle rounds are folded: - here shows them again, A all of them"
#define SAYS_HIDDEN          "the thread is hidden: A shows all threads again"
#define SAYS_CLOCKS          "vector clocks of %s"
#define SAYS_ALL_RECORDED    "this recording has no calls into code that was not recorded"
#define SAYS_MISSING_COUNTS  "calls into code that was not recorded may order events now"
#define SAYS_MISSING_IGNORED "calls into code that was not recorded order nothing now"
#define SAYS_MY_CODE         "places are in your own files, library names are shortened"
#define SAYS_ALL_CODE        "every place and name as it is, also in libraries"

/* -- witnesses */
#define SAYS_NO_WITNESS "this pair has no witness%s"
#define SAYS_SCHEDULER \
	"you are the scheduler: j and k choose a thread, Enter lets it do its next step"
#define SAYS_REFUSED "the checker refuses: %s"
#define SAYS_NOT_NOW "not now: %s"
#define SAYS_NO_WITNESS_YET \
	"the schedule is a witness once both threads are about to make their accesses"
#define SAYS_SCHEDULE_ACCEPTED "your schedule is a witness: the independent checker accepts it"
#define SAYS_ACCEPTED          "the independent checker accepts this schedule"
#define SAYS_TURNS             "a line for each turn: n and b go from turn to turn, Enter opens one"
#define SAYS_EVERY_EVENT       "a line for each event"
#define SAYS_EVERY_CALL        "every call and return is shown"
#define SAYS_CALLS_LEFT_OUT \
	"%u calls and returns are left out: of libraries, and round a single step"
#define SAYS_NO_WRITE_SHOWN "no write of the variable before this step, of those that are shown"
#define SAYS_NO_READ_SHOWN  "no thread reads the variable after this step of the schedule"
#define SAYS_AS_RECORDED    "this event is in the beginning, which is as recorded: T shows it"
#define SAYS_IT_HAPPENED    "it happened: the recording itself shows it"
#define SAYS_OTHER_ACCESS   "= goes to the edge's other access"
#define SAYS_REACH_STOPPED  "stopped: whether %s is reachable stays unknown"

/* -- points of no return, explorations, output */
#define SAYS_NO_RETURN_POINT \
	"no point of no return is known: `heddle check` and `heddle explore -o FILE` look for it where a run fails"
#define SAYS_LAST_CHANCE "here the run can still end well, with %s next (| goes on)"
#define SAYS_NO_RETURN   "after this step %s; %s in its place ends well"
#define SAYS_NO_RETURN_IN_SCHEDULE \
	"above, the run can still end well, with %s next; below, %s (| goes to the run)"
#define SAYS_TRACE_NOT_KEPT \
	"the trace of this run was not kept: those of the first run and of each error's first run are"
#define SAYS_NO_OTHER_FAILURE "no other run failed"
#define SAYS_NO_OTHER_OUTCOME "no other outcome is a failure"
#define SAYS_NO_PLACE_IN_LINE \
	"this line names no place in a source file: n goes to the next one that does"
#define SAYS_NO_OTHER_PLACE "no other line names a place in a source file"
#define SAYS_NO_RECORDING   "no recording was made here that could be opened"

/* -- lessons */
#define SAYS_STEP_OPEN     "%s; f again goes on without"
#define SAYS_UNANSWERED    "the question is not answered yet: ! answers it"
#define SAYS_UNDONE        "the step is not done yet: i gives a hint"
#define SAYS_LESSON_DONE   "the lesson is finished: %s; q leaves"
#define SAYS_FIRST_STEP    "this is the first step"
#define SAYS_NO_MORE_HINTS "there are no more hints"
#define SAYS_NO_HINT       "this step has no hint"
#define SAYS_LESSON_HIDDEN "the lesson is hidden: L shows it"
#define SAYS_NO_FIX        "this lesson has no fixed version"
#define SAYS_NO_LESSON     "no lesson is open: `heddle lesson` in the shell lists them"
#define SAYS_NO_QUESTION   "this step asks no question"

/* -- values ------------------------------------------------------------------------- */
#define SAYS_VALUE      "%s = %s"
#define SAYS_NO_DISPLAY "no variable is kept in the state pane: `display VARIABLE` does\n"
#define SAYS_NO_LOCALS  "no access to a local variable of this function is recorded\n"
#define SAYS_LOCALS_RECORDED \
	"(arguments and locals in registers, and most whose address is not taken, are not " \
	"recorded; `frame N` chooses another function)\n"
#define NO_VARIABLE \
	"Tab completes names; locals in registers, and most whose address is not taken, are not recorded", \
	        "the recording has no access to a variable '%s'"
#define NO_VALUE_YET \
	"a value is known from the first recorded access to it on", \
	        "the value of %s is not known here"
#define NO_QUOTIENT        NULL, "'%s' divides by 0 here"
#define NO_BRACKET         NULL, "a ']' is missing in '%s'"
#define NO_DEPTH           NULL, "brackets are nested too deep in '%s'"
#define NO_POINTER         "`print NAME` shows its members", "'%s' is no pointer with a recorded value"
#define NO_OBJECT_AT_NULL  NULL, "%s is NULL here"
#define NO_OBJECT_RECORDED NULL, "no access to the object that %s points to here is recorded"
#define NO_FORMAT          "x, d, u, o and c", "'%.*s' is no format"

/* -- places and threads --------------------------------------------------------------- */
#define SAYS_THREAD         "thread %s, event %u"
#define SAYS_NOT_BEGUN      "%s has not begun here; its first event: %s"
#define SAYS_NO_EVENT_THERE "no event is recorded at '%s'\n"
#define SAYS_EVENTS_THERE   ": %s event%s\n"
#define SAYS_NEXT_THERE     "the next one from here is event %u of %s: "
#define NO_EVENT_AT         "Tab completes places", "no event is recorded at '%s'"
#define NO_THREAD           "`info threads` lists them", "there is no thread '%s'"
#define NO_EVENTS_OF        NULL, "no event of %s is recorded"

/* -- stepping ----------------------------------------------------------------------- */
#define SAYS_RETURNED       "%s has returned: %s"
#define SAYS_NOT_CALLED_YET "before the call of %s: %s"
#define NO_WAY_OUT          NULL, "%s does not return from %s in this recording"
#define NO_WAY_BACK         NULL, "%s begins with %s"
#define NO_WAY_THERE        NULL, "%s does not come to %s after this event"

/* -- breakpoints -------------------------------------------------------------------- */
#define SAYS_BREAKPOINT       "breakpoint %u at %s"
#define SAYS_WATCHPOINT       "watchpoint %u at %s"
#define SAYS_STOPPED          "breakpoint %u: %s"
#define SAYS_STOPS_IF         "breakpoint %u stops if %s"
#define SAYS_ALWAYS_STOPS     "breakpoint %u always stops"
#define SAYS_HITS             "  stopped there %u time%s"
#define SAYS_ENABLED          "%u breakpoint%s enabled"
#define SAYS_DISABLED         "%u breakpoint%s disabled: `enable` lets them stop again"
#define SAYS_BREAKPOINTS_LEFT "%u breakpoint%s left"
#define SAYS_NO_BREAKPOINTS   "no breakpoints: `break FILE:LINE if COND`, `watch VARIABLE`\n"
#define NO_BREAKPOINT         "`info breakpoints` lists them", "there is no breakpoint '%s'"
#define NO_STOPS              "`break FILE:LINE` or `watch VARIABLE` first", "there is nothing to stop at"
#define NO_STOP_AFTER         NULL, "no breakpoint is met after event %u"
#define NO_STOP_BEFORE        NULL, "no breakpoint is met before event %u"

/* -- refusals that any command or key can meet */
#define NO_ONE_COMMAND "write more of it", "'%s' can be %s or %s"
#define NO_COMMAND     ":help lists the commands", "there is no command '%s'"
#define NO_INDEX_YET   "wait a moment", "the index is still being built"
#define NO_EVENTS      NULL, SAYS_NO_EVENTS
#define NO_EVENT_FOUND \
	"the search begins after the selected event; `goto 0` goes to the first", \
	        "no event after %u has '%s'"
#define NO_FRAME       NULL, "the call stack has the frames 0 to %u"
#define NO_FRAME_BELOW NULL, "frame 0 is the innermost one"
#define NO_STEP_AFTER  NULL, "this is the last step of the thread in this recording"
#define NO_STEP_BEFORE NULL, "this is the first step of the thread"
#define NO_CONFLICT \
	NULL, "events %u and %u do not conflict: they touch no common byte, or are of one thread, or neither writes"
#define NO_REPORT          "open the trace with --report FILE", "no report of another tool was given"
#define NO_REPORTED_PAIR   NULL, "this trace has no pair of accesses for race %u of the report"
#define NO_FINDING         "j and k in the list (F) choose one", "no finding is selected"
#define NO_SECOND_ANALYSIS ":stop ends it", "the analyses are still under way"
#define NO_REQUEST \
	"? lists what keys do; Tab completes requests", "expected a request, found '%s'"
#define NO_KEY       "such as j, C-f, PgDn, Enter", "there is no key '%s'"
#define NO_WAIT_HERE NULL, "`wait` is for scripts: the screen never waits"
#define NO_WITNESS   NULL, "this pair has no witness to write"
#define NO_LINE_FITS \
	NULL, "this condition has a line break or an escape, which a witness file cannot keep"
#define NO_GRAPH \
	"ask from the order view, or for an atomic-set violation", \
	        "there is no graph to draw here"
#define NO_PROGRAM \
	"say `replay PROGRAM ARGUMENTS`, or open with --exe PROGRAM", \
	        "the trace does not name the program"
#define NO_SHOWN_COMMAND \
	"say `replay PROGRAM ARGUMENTS`", \
	        "the trace was not recorded here, and its command is too long to be shown"
#define NO_END            NULL, "the program did not come to its end"
#define NO_SECOND_RUN     "Ctrl-C stops it", "%s is still under way"
#define NO_VARIABLE_NAMED "such as q.pending < 0", "the condition names no variable"
#define NO_ORDER_TO_RUN \
	":rerun recorded runs the recorded order", \
	        "this finding is proved impossible: no order shows it"
#define NO_OTHER_ORDER ":rerun recorded runs it again", "it happened in the recorded order"
#define NO_ORDER_KNOWN \
	":rerun recorded runs the recorded order", \
	        "no order is known in which this finding happens"
#define NO_FILE_TO_RUN "keep it in a file", "a trace from standard input cannot be run"
#define NO_TRACE_KEPT  NULL, SAYS_TRACE_NOT_KEPT
#define NO_BUILD \
	"say :rebuild COMMAND, such as :rebuild make", \
	        "no build command is kept for this folder"
#define NO_UTF8 NULL, "the command is not valid UTF-8"
#define NO_TERMINAL \
	"run it in a terminal, or use 'heddle races' and the other commands, or --script", \
	        "the explorer needs a terminal"
#define NO_SCREEN \
	"set TERM to what the terminal is (xterm, vt100, ...), or use 'heddle races'", \
	        "the terminal type '%s' cannot show a screen"
#define NO_TERMINFO \
	"set TERM to one that terminfo knows", "terminfo does not know the terminal type '%s'"
#define NO_TERMINAL_HERE       NULL, "the terminal '%s' cannot be used"
#define NO_EVENT_NAMED         "give a number, or $ for the event here", "expected an event, found '%s'"
#define NO_EVENT_NUMBERED      NULL, "there is no event %s: the trace has 0 to %" G_GUINT64_FORMAT
#define NO_SUCH_VALUE          NULL, "%s: expected %s"
#define NO_SETTING             ":set? lists them", "there is no setting '%s'"
#define WANTS_ON_OR_OFF        NULL, "expected on or off"
#define WANTS_TEXT             NULL, "expected the text to look for"
#define WANTS_TWO_EVENTS       NULL, "expected two events"
#define WANTS_DIFFERENT_EVENTS NULL, "expected two different events"
#define WANTS_ORDER            NULL, "expected po, hb, shb, cp, wcp, dc, wdc or edc"
#define WANTS_RACE             NULL, "expected the number of a race of the report"
#define WANTS_GROUPING         NULL, "expected variable, function, thread, place, outcome or none"
#define WANTS_MARK             NULL, "expected real, benign, duplicate, fixed or none"
#define WANTS_NAME             NULL, "expected a name, not a number"
#define WANTS_SECONDS          NULL, "expected a number of seconds for all open pairs"
#define WANTS_EXPRESSION       NULL, "expected a variable or an expression"
#define WANTS_EXPLORATION      NULL, "expected a file that heddle explore -o made"
#define WANTS_KEYS             NULL, "expected keys, such as j, C-f, PgDn"
#define WANTS_FILE             NULL, "expected a file"
#define WANTS_CONDITION_AT     NULL, "expected COND at FILE:LINE, such as q.pending < 0 at wq.c:157"
#define WANTS_SCHEDULE \
	NULL, "expected recorded, witness, or nothing for the schedule that the view shows"
#define WANTS_ONE_OF   NULL, "expected %s"
#define WANTS_VARIABLE NULL, "expected a variable"
#define WANTS_PLACE    NULL, "expected FILE:LINE, LINE or a function"
#define A_LINE_OF_TEXT "one line of text"
#define NO_DIRECTORY   NULL, "'%s' is no directory"

/* -- why a thread may not take its next step in a schedule, after its name; the step that has to come
 * first follows */
#define REFUSED_NOT_CREATED   " has not been created yet."
#define REFUSED_NOT_ENDED     " waits for the end of a thread."
#define REFUSED_NOT_SENT      " receives a message that has not been sent yet."
#define REFUSED_NOT_ALLOCATED " uses memory that has not been allocated yet."
#define REFUSED_NOT_FREED     " gets memory that has not been freed yet."
#define REFUSED_NOT_POSTED    " waits at a semaphore that no thread has posted yet."
#define REFUSED_NOT_ARRIVED   " waits at the barrier until all have arrived."
#define REFUSED_NOT_WOKEN     " waits until it is woken."
#define REFUSED_NOT_WAITING   " would wake a thread that does not wait yet."
#define REFUSED_NOT_COMMUTING \
	" would do its operation before the other thread's, with another result."
#define REFUSED_NOT_RETURNED   " would overtake a call into code that was not recorded."
#define REFUSED_NOT_ENDED_OF   " waits for the end of "
#define REFUSED_NOT_FIRST      " comes later in every run."
#define REFUSED_COMES_FIRST    " First: "
#define REFUSED_NOT_FREE       " waits for "
#define REFUSED_NOT_FREE_WHICH ", which "
#define REFUSED_NOT_FREE_HELD  " holds."
#define REFUSED_NOT_TAKEN      " tried "
#define REFUSED_NOT_TAKEN_LOCK \
	" without success in the recording; here it would get it, unless another thread holds it."
#define REFUSED_NOT_TAKEN_COUNT \
	" without success in the recording; here it would get through, unless another thread takes it before."
#define REFUSED_VALUE_INITIAL     "the initial value"
#define REFUSED_VALUE_OTHER       "another value"
#define REFUSED_WOULD_READ        " would read "
#define REFUSED_BUT_READ          "; in the recording it read "
#define REFUSED_BEFORE_THAT_WRITE " This read has to come before that write."
#define REFUSED_LAST_READ_ALONE   " Only the last step of a witness may read something else."
#define REFUSED_ALREADY_FREED     " would use memory that was freed already."
#define REFUSED_WOKEN_TOO_EARLY   " was woken by a signal that, here, came before it waited."
#define REFUSED_NOT_NOW           " has to wait for another thread's step."

/* -- questions; only y does it */
#define ASKS_OVERWRITE "%s exists: write over it?"
#define ASKS_FOREIGN \
	"This trace was not recorded on this machine. Run the program that it names, %s ?"

/* -- ends of the sentences above */
#define AND_LISTS_REPORTED "; :report lists them"
#define AND_LAST_FIRST     ", the last first"
#define AND_IS_IMPOSSIBLE  ": it is proved impossible"
#define MARKED_AS_NEW      "as new"
#define COUNT_FINDINGS     "%u findings "

/* -- what the analyses have found, when they are done */
#define SETTLED_HAPPENED "%u went wrong in this very run. "
#define SETTLED_RACES    "%u data race%s"
#define SETTLED_MAYBE    ", %u maybe"
#define SETTLED_FINDINGS "%u findings: %s"
#define SETTLED_OF_RACES "; data races complete"
#define SETTLED_COMPLETE "; complete"
#define SETTLED_ALL      " for reorderings with the same reads"
#define SETTLED_PAIRED   " and wake-ups"
#define SETTLED_HOOKED   ", of instrumented code"
#define SETTLED_NOT_ALL  "; more may exist"
#define NO_WEAK_ORDERS   NULL, "%s are not known of a run that is not sequentially consistent"
#define NO_WEAK_RACE     NULL, "no race in this run: %s"
#define SETTLED_WEAK     " in this run under --memory %s; of other schedules nothing is known"

/* -- work beside the screen: titles in the second line */
#define WORK_EXPLORATION "reading the exploration"
#define WORK_MISSING     "missing code"
#define WORK_ORDER       "building %s"
#define WORK_PAIR        "deciding the pair"
#define WORK_SWITCHES    "looking for fewer switches"
#define WORK_BOTH_ORDERS "comparing the witness with the recorded order"
#define WORK_REACH       "is %s reachable?"

#endif
