/*
 * screen_curses.c - the only file that uses curses.
 *
 * A signal handler may call only async-signal-safe functions: the bytes that leave the
 * alternate screen are fetched beforehand and written with write(2), and line settings restored
 * with tcsetattr(3).
 */
#define NCURSES_WIDECHAR 1
#include "tui/explorer/screen/screen.h"

#include "engine/base/base.h"
#include "engine/base/streams.h"
#include "engine/trace/binary/reel.h"

#include "tui/explorer/screen/keys.h"
#include "tui/explorer/messages.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#undef columns /* terminfo's macros */
#undef lines

static struct {
	SCREEN *screen;
	struct screen_options options;
	enum colour_mode colours;
	struct termios before;
	bool have_before;
	char leave[256]; /* bytes that restore the terminal */
	size_t leave_length;
	struct screen_click click;
	bool moves_asked; /* of the mouse */
	int rows, columns;
} term;

/* -- signals ------------------------------------------------------------------------ */

static const int fatal_signals[] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
	                             SIGABRT, SIGTERM, SIGHUP, SIGQUIT };

static const char cut_off[] =
        "heddle: the trace cannot be read any more: was it cut off while it was open?\r\n";

static void restore_terminal(void)
{
	ssize_t ignored = write(STDOUT_FILENO, term.leave, term.leave_length);
	if (term.have_before)
		tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
	(void)ignored;
}

/* Several threads may crash at once (e.g. all that read a truncated mapping): the first
 * restores the terminal, the others wait. */
static void restore_and_die(int number)
{
	static int first;
	int none = 0, own = (int)gettid();
	bool alone = __atomic_compare_exchange_n(&first, &none, own, false, __ATOMIC_ACQ_REL,
	                                         __ATOMIC_ACQUIRE);
	while (!alone && none != own) /* not for itself: a fault in here is final */
		pause();
	if (alone && term.screen) {
		restore_terminal();
		if (number == SIGBUS)
			(void)!write(STDERR_FILENO, cut_off, sizeof cut_off - 1);
	}
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(bool on)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fatal_signals); i++) {
		struct sigaction action = { .sa_flags = SA_NODEFER };
		action.sa_handler = on ? restore_and_die : SIG_DFL;
		if (fatal_signals[i] == SIGSEGV)
			reel_set_fault_action(&action);
		else
			sigaction(fatal_signals[i], &action, NULL);
	}
	memory_end_first(on ? restore_terminal : NULL);
	signal(SIGINT, on ? SIG_IGN : SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
}

static int keep_byte(int byte)
{
	if (term.leave_length < sizeof term.leave)
		term.leave[term.leave_length++] = (char)byte;
	return byte;
}

static void keep_string(const char *capability)
{
	const char *string = tigetstr(capability);
	if (string && string != (char *)-1)
		tputs(string, 1, keep_byte);
}

/* Past curses. */
static void write_now(const char *bytes, size_t length)
{
	ssize_t ignored = write(STDOUT_FILENO, bytes, length);
	(void)ignored;
}

/* Asks the terminal for mouse moves while a button is down, too, which curses does not. */
static const char mouse_moves[] = "\033[?1002h";
static const char mouse_off[] = "\033[?1006l\033[?1002l\033[?1000l";

static void keep_way_out(void)
{
	term.leave_length = 0;
	if (term.options.mouse)
		for (const char *c = mouse_off; *c; c++)
			keep_byte(*c);
	keep_string("sgr0");
	keep_string("cnorm");
	keep_string("rmkx");
	keep_string("rmcup");
}

/* -- colours ------------------------------------------------------------------------ */

static enum colour_mode colours_of_terminal(enum colour_mode asked)
{
	const char *no_colour = getenv("NO_COLOR");
	if (asked == COLOUR_NONE || (asked == COLOUR_AUTO && no_colour && *no_colour))
		return COLOUR_NONE;
	if (!has_colors() || start_color() == ERR || COLORS < 8)
		return COLOUR_NONE;
	return COLORS >= 256 && asked != COLOUR_8 ? COLOUR_256 : COLOUR_8;
}

static void make_pairs(void)
{
	term.colours = colours_of_terminal(term.options.colours);
	if (term.colours == COLOUR_NONE)
		return;
	use_default_colors();
	for (int s = 0; s < STYLE_COUNT; s++) {
		short colour = term.colours == COLOUR_256 ? style_table[s].colour
		                                          : style_table[s].basic;
		if (term.options.custom[s] != -2 && term.options.custom[s] < COLORS)
			colour = term.options.custom[s];
		init_pair((short)(s + 1), colour, -1);
	}
}

static attr_t attributes_of(const struct cell *cell)
{
	unsigned bits = cell->attributes | style_table[cell->style].attributes;
	return (bits & ATTR_BOLD ? A_BOLD : 0) | (bits & ATTR_REVERSE ? A_REVERSE : 0) |
	       (bits & ATTR_UNDERLINE ? A_UNDERLINE : 0);
}

/* -- opening and closing ------------------------------------------------------------ */

static bool refuse_terminal(struct error *error)
{
	const char *name = getenv("TERM");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return refuse(error, NO_TERMINAL);
	if (name == NULL || *name == '\0' || strcmp(name, "dumb") == 0)
		return refuse(error, NO_SCREEN, name ? name : "");
	int found;
	if (setupterm(name, STDOUT_FILENO, &found) == ERR)
		return refuse(error, NO_TERMINFO, name);
	del_curterm(cur_term);
	return true;
}

/* Keys whose bytes differ from the terminfo entry, e.g. in another mode. */
static void define_other_keys(void)
{
	static const struct {
		const char *bytes;
		int key;
	} others[] = {
		{ "\033[A", KEY_UP },   { "\033OA", KEY_UP },     { "\033[B", KEY_DOWN },
		{ "\033OB", KEY_DOWN }, { "\033[C", KEY_RIGHT },  { "\033OC", KEY_RIGHT },
		{ "\033[D", KEY_LEFT }, { "\033OD", KEY_LEFT },   { "\033[H", KEY_HOME },
		{ "\033OH", KEY_HOME }, { "\033[1~", KEY_HOME },  { "\033[7~", KEY_HOME },
		{ "\033[F", KEY_END },  { "\033OF", KEY_END },    { "\033[4~", KEY_END },
		{ "\033[8~", KEY_END }, { "\033[5~", KEY_PPAGE }, { "\033[6~", KEY_NPAGE },
		{ "\033[3~", KEY_DC },  { "\033OP", KEY_F(1) },   { "\033[11~", KEY_F(1) },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (key_defined(others[i].bytes) == 0)
			define_key(others[i].bytes, others[i].key);
}

static void set_up(void)
{
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	define_other_keys();
	set_escdelay(25);
	curs_set(0);
	make_pairs();
	keep_way_out();
	if (term.options.mouse) {
		mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED | BUTTON1_DOUBLE_CLICKED |
		                  BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED |
		                  REPORT_MOUSE_POSITION,
		          NULL);
		mouseinterval(0);
	}
	getmaxyx(stdscr, term.rows, term.columns);
}

bool screen_open(const struct screen_options *options, struct error *error)
{
	if (!refuse_terminal(error))
		return false;
	term.options = *options;
	term.have_before = tcgetattr(STDIN_FILENO, &term.before) == 0;
	term.screen = newterm(NULL, streams_terminal(), stdin);
	const char *type = getenv("TERM");
	if (term.screen == NULL)
		return refuse(error, NO_TERMINAL_HERE, type);
	set_up();
	catch_signals(true);
	return true;
}

static void leave_screen(void)
{
	if (term.moves_asked)
		write_now(mouse_off, strlen(mouse_off));
	term.moves_asked = false;
	endwin();
}

void screen_close(void)
{
	if (term.screen == NULL)
		return;
	curs_set(1);
	leave_screen();
	catch_signals(false);
	delscreen(term.screen);
	term.screen = NULL;
	if (term.have_before)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
}

void screen_size(int *rows, int *columns)
{
	*rows = term.rows;
	*columns = term.columns;
}

/* -- showing ------------------------------------------------------------------------ */

static void show_cell(const struct cell *cell)
{
	wchar_t text[2] = { (wchar_t)cell->rune, L'\0' };
	cchar_t wide;
	short pair = term.colours == COLOUR_NONE ? 0 : (short)(cell->style + 1);
	setcchar(&wide, text, attributes_of(cell), pair, NULL);
	add_wch(&wide);
}

void screen_show(const struct grid *grid)
{
	int rows = MIN(grid->rows, LINES), columns = MIN(grid->columns, COLS);
	for (int r = 0; r < rows; r++) {
		move(r, 0);
		for (int c = 0; c < columns; c++) {
			const struct cell *cell = grid_at(grid, r, c);
			if (cell->rune)
				show_cell(cell);
		}
	}
	bool cursor = grid->cursor_row >= 0 && grid->cursor_row < rows;
	curs_set(cursor);
	if (cursor)
		move(grid->cursor_row, MIN(grid->cursor_column, columns - 1));
	refresh();
	if (term.options.mouse && !term.moves_asked) /* after curses' own modes */
		write_now(mouse_moves, strlen(mouse_moves));
	term.moves_asked = term.options.mouse;
}

void screen_redraw(void)
{
	clearok(stdscr, TRUE);
}

/* -- keys --------------------------------------------------------------------------- */

static const struct {
	int curses, key;
} curses_keys[] = {
	{ KEY_UP, KEYCODE_UP },
	{ KEY_DOWN, KEYCODE_DOWN },
	{ KEY_LEFT, KEYCODE_LEFT },
	{ KEY_RIGHT, KEYCODE_RIGHT },
	{ KEY_HOME, KEYCODE_HOME },
	{ KEY_END, KEYCODE_END },
	{ KEY_PPAGE, KEYCODE_PAGE_UP },
	{ KEY_NPAGE, KEYCODE_PAGE_DOWN },
	{ KEY_BACKSPACE, KEYCODE_BACKSPACE },
	{ KEY_DC, KEYCODE_DELETE },
	{ KEY_ENTER, KEYCODE_ENTER },
	{ KEY_F(1), KEYCODE_F1 },
};

static int decode_mouse(void)
{
	MEVENT event;
	if (getmouse(&event) != OK)
		return KEYCODE_NONE;
	int button = event.bstate & BUTTON4_PRESSED          ? MOUSE_WHEEL_UP
	             : event.bstate & BUTTON5_PRESSED        ? MOUSE_WHEEL_DOWN
	             : event.bstate & REPORT_MOUSE_POSITION  ? MOUSE_MOVED
	             : event.bstate & BUTTON1_RELEASED       ? MOUSE_RELEASED
	             : event.bstate & BUTTON1_DOUBLE_CLICKED ? MOUSE_DOUBLE
	             : event.bstate & BUTTON1_CLICKED        ? MOUSE_CLICKED
	             : event.bstate & BUTTON1_PRESSED        ? MOUSE_PRESSED
	                                                     : 0;
	if (button == 0)
		return KEYCODE_NONE;
	term.click = (struct screen_click){ event.y, event.x, button };
	return KEYCODE_MOUSE;
}

static int decode(int status, wint_t wide)
{
	if (status == KEY_CODE_YES) {
		if (wide == KEY_RESIZE) {
			getmaxyx(stdscr, term.rows, term.columns);
			return KEYCODE_RESIZE;
		}
		if (wide == KEY_MOUSE)
			return decode_mouse();
		for (size_t i = 0; i < G_N_ELEMENTS(curses_keys); i++)
			if (curses_keys[i].curses == (int)wide)
				return curses_keys[i].key;
		return KEYCODE_NONE;
	}
	if (wide == '\r' || wide == '\n')
		return KEYCODE_ENTER;
	if (wide == 127 || wide == 8)
		return KEYCODE_BACKSPACE;
	return (int)wide;
}

int screen_key(int wake_fd)
{
	for (;;) {
		wint_t wide;
		int status = get_wch(&wide);
		if (status != ERR) {
			int key = decode(status, wide);
			if (key != KEYCODE_NONE)
				return key;
			continue;
		}
		struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
			                { .fd = wake_fd, .events = POLLIN } };
		if (poll(fds, wake_fd >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
			return KEYCODE_END_OF_INPUT;
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return KEYCODE_END_OF_INPUT;
		if (fds[0].revents & POLLIN)
			continue;
		if (wake_fd >= 0 && fds[1].revents & POLLIN)
			return KEYCODE_WAKE;
	}
}

void screen_drop_keys(void)
{
	flushinp();
}

struct screen_click screen_mouse(void)
{
	return term.click;
}

/* -- suspending and lending ---------------------------------------------------------------- */

void screen_lend(void)
{
	def_prog_mode();
	curs_set(1);
	leave_screen();
	signal(SIGINT, SIG_DFL); /* Ctrl-C may then stop the program */
	if (term.have_before)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
}

void screen_take_back(void)
{
	signal(SIGINT, SIG_IGN);
	reset_prog_mode();
	clearok(stdscr, TRUE);
	refresh();
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	getmaxyx(stdscr, term.rows, term.columns);
}

void screen_await_key(const char *prompt)
{
	struct termios before;
	char key = 0;
	if (tcgetattr(STDIN_FILENO, &before) != 0)
		return;
	struct termios raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	printf("%s", prompt);
	fflush(stdout);
	while (read(STDIN_FILENO, &key, 1) < 0 && errno == EINTR)
		;
	if (key == '\033') { /* drop the rest of an escape sequence */
		raw.c_cc[VMIN] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
		while (read(STDIN_FILENO, &key, 1) == 1)
			;
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	putchar('\n');
	fflush(stdout);
}

void screen_suspend(void)
{
	screen_lend();
	/* Stop the whole foreground group, as the terminal does, so that a script that started
	 * us stops, too. */
	struct sigaction before, plain = { .sa_handler = SIG_DFL };
	sigaction(SIGTSTP, &plain, &before);
	kill(0, SIGTSTP);
	sigaction(SIGTSTP, &before, NULL);
	screen_take_back();
}

void screen_copy(const char *text, size_t length)
{
	g_autofree char *encoded = g_base64_encode((const guchar *)text, MIN(length, 70000));
	g_autofree char *sequence = g_strdup_printf("\033]52;c;%s\a", encoded);
	write_now(sequence, strlen(sequence));
}
