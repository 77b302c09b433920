/*
 * pty.c - see pty.h.
 */
#include "tests/support/pty.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <utmp.h>
#include <unistd.h>
#include <vterm.h>

enum { PATIENCE = 120 * G_USEC_PER_SEC };

struct pty {
	int fd;    /* the terminal's side */
	int slave; /* kept open to look at the line settings */
	pid_t pid;
	bool ended, alternate;
	int status;
	VTerm *vt;
	VTermScreen *screen;
	GString *text, *output;
};

static int on_property(VTermProp property, VTermValue *value, void *user)
{
	struct pty *p = user;
	if (property == VTERM_PROP_ALTSCREEN)
		p->alternate = value->boolean;
	return 1;
}

char *pty_binary(void)
{
	const char *given = getenv("HEDDLE");
	if (given)
		return g_strdup(given);
	char *self = g_file_read_link("/proc/self/exe", NULL);
	char *tests = self ? g_strrstr(self, "/tests/") : NULL;
	if (tests)
		*tests = '\0';
	char *beside = tests ? g_build_filename(self, "heddle", NULL) : NULL;
	bool own = beside && g_file_test(beside, G_FILE_TEST_EXISTS);
	g_free(self);
	if (own)
		return beside;
	g_free(beside);
	return g_strdup("./heddle");
}

static void run_child(const struct pty_options *o, char **argv)
{
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	unsetenv("NO_COLOR");
	for (int i = 0; o && o->environment[i]; i++) {
		char *pair = g_strdup(o->environment[i]), *equals = strchr(pair, '=');
		if (equals)
			*equals = '\0';
		if (equals)
			setenv(pair, equals + 1, 1);
		else
			unsetenv(pair);
	}
	if (o && o->shell) {
		setenv("HEDDLE", argv[0], 1);
		execl("/bin/bash", "bash", "--norc", "-m", "-c", o->shell, (char *)NULL);
	}
	execv(argv[0], argv);
	_exit(127);
}

struct pty *pty_start(const struct pty_options *o, const char *const *arguments)
{
	static const VTermScreenCallbacks callbacks = { .settermprop = on_property };
	struct pty *p = g_new0(struct pty, 1);
	struct winsize size = { .ws_row = o && o->rows ? o->rows : 24,
		                .ws_col = o && o->columns ? o->columns : 80 };
	GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(argv, pty_binary());
	for (int i = 0; arguments[i]; i++)
		g_ptr_array_add(argv, g_strdup(arguments[i]));
	g_ptr_array_add(argv, NULL);
	ck_assert(openpty(&p->fd, &p->slave, NULL, NULL, &size) == 0);
	fcntl(p->fd, F_SETFL, O_NONBLOCK);
	p->pid = fork();
	ck_assert(p->pid >= 0);
	if (p->pid == 0) {
		close(p->fd);
		login_tty(p->slave);
		run_child(o, (char **)argv->pdata);
	}
	g_ptr_array_free(argv, TRUE);
	p->vt = vterm_new(size.ws_row, size.ws_col);
	vterm_set_utf8(p->vt, 1);
	p->screen = vterm_obtain_screen(p->vt);
	vterm_screen_enable_altscreen(p->screen, 1);
	vterm_screen_set_callbacks(p->screen, &callbacks, p);
	vterm_screen_reset(p->screen, 1);
	p->text = g_string_new(NULL);
	p->output = g_string_new(NULL);
	return p;
}

/* Reads the program's output, waiting for some milliseconds at most; false: no output. The
 * kernel hands out a page at a time. */
static bool pump(struct pty *p, int milliseconds)
{
	char bytes[65536];
	bool any = false;
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	if (poll(&fd, 1, milliseconds) > 0) {
		ssize_t n = read(p->fd, bytes, sizeof bytes);
		any = n > 0;
		if (any) {
			g_string_append_len(p->output, bytes, n);
			vterm_input_write(p->vt, bytes, (size_t)n);
		}
	}
	size_t n;
	while ((n = vterm_output_read(p->vt, bytes, sizeof bytes)) > 0)
		if (write(p->fd, bytes, n) < 0)
			break;
	int status;
	if (!p->ended && waitpid(p->pid, &status, WNOHANG) == p->pid) {
		p->ended = true;
		p->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return any;
}

const char *pty_screen(struct pty *p)
{
	int rows, columns;
	vterm_get_size(p->vt, &rows, &columns);
	g_string_truncate(p->text, 0);
	for (int r = 0; r < rows; r++) {
		gsize begin = p->text->len;
		for (int c = 0; c < columns; c++) {
			VTermScreenCell cell;
			vterm_screen_get_cell(p->screen, (VTermPos){ r, c }, &cell);
			if (cell.chars[0] != (uint32_t)-1)
				g_string_append_unichar(p->text,
				                        cell.chars[0] ? cell.chars[0] : ' ');
		}
		while (p->text->len > begin && p->text->str[p->text->len - 1] == ' ')
			g_string_truncate(p->text, p->text->len - 1);
		g_string_append_c(p->text, '\n');
	}
	return p->text->str;
}

static void wait_until(struct pty *p, const char *text, bool there)
{
	gint64 end = g_get_monotonic_time() + PATIENCE;
	while ((strstr(pty_screen(p), text) != NULL) != there) {
		ck_assert_msg(g_get_monotonic_time() < end && !(p->ended && p->text->len == 0),
		              "waited in vain for%s '%s'; the screen:\n%s",
		              there ? "" : " the end of", text, p->text->str);
		bool had_ended = p->ended;
		pump(p, 100);
		ck_assert_msg(!had_ended || (strstr(pty_screen(p), text) != NULL) == there ||
		                      g_get_monotonic_time() < end - PATIENCE + G_USEC_PER_SEC,
		              "the program ended (%d) without '%s'; the screen:\n%s", p->status,
		              text, p->text->str);
	}
}

void pty_wait_read(struct pty *p)
{
	gint64 end = g_get_monotonic_time() + PATIENCE;
	for (int waiting = 1; waiting > 0;) {
		ck_assert_msg(ioctl(p->slave, FIONREAD, &waiting) == 0 &&
		                      g_get_monotonic_time() < end,
		              "the program does not read its keys");
		pump(p, 5);
	}
}

void pty_wait_for(struct pty *p, const char *text)
{
	wait_until(p, text, true);
}

void pty_wait_without(struct pty *p, const char *text)
{
	wait_until(p, text, false);
}

void pty_send(struct pty *p, const char *bytes)
{
	for (size_t length = strlen(bytes); length > 0;) {
		ssize_t n = write(p->fd, bytes, length);
		if (n < 0 && errno != EAGAIN)
			return;
		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		}
		pump(p, 0);
	}
}

void pty_resize(struct pty *p, int rows, int columns)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };
	vterm_set_size(p->vt, rows, columns);
	ioctl(p->fd, TIOCSWINSZ, &size);
}

static bool any_cell(struct pty *p, bool (*is)(VTermScreen *, const VTermScreenCell *))
{
	int rows, columns;
	vterm_get_size(p->vt, &rows, &columns);
	for (int r = 0; r < rows; r++) {
		for (int c = 0; c < columns; c++) {
			VTermScreenCell cell;
			vterm_screen_get_cell(p->screen, (VTermPos){ r, c }, &cell);
			if (is(p->screen, &cell))
				return true;
		}
	}
	return false;
}

static bool is_coloured(VTermScreen *screen, const VTermScreenCell *cell)
{
	return !VTERM_COLOR_IS_DEFAULT_FG(&cell->fg) || !VTERM_COLOR_IS_DEFAULT_BG(&cell->bg);
}

static bool is_reverse(VTermScreen *screen, const VTermScreenCell *cell)
{
	return cell->attrs.reverse;
}

bool pty_has_colour(struct pty *p)
{
	return any_cell(p, is_coloured);
}

bool pty_has_reverse(struct pty *p)
{
	return any_cell(p, is_reverse);
}

bool pty_is_alternate(struct pty *p)
{
	return p->alternate;
}

bool pty_is_cooked(struct pty *p)
{
	struct termios settings;
	return tcgetattr(p->slave, &settings) == 0 && settings.c_lflag & ECHO &&
	       settings.c_lflag & ICANON;
}

void pty_signal(struct pty *p, int number)
{
	kill(p->pid, number);
}

int pty_pid(const struct pty *p)
{
	return p->pid;
}

bool pty_wait_or_end(struct pty *p, const char *text)
{
	gint64 end = g_get_monotonic_time() + PATIENCE;
	while (!p->ended && strstr(pty_screen(p), text) == NULL) {
		ck_assert_msg(g_get_monotonic_time() < end,
		              "neither '%s' nor the end; the screen:\n%s", text, pty_screen(p));
		pump(p, 100);
	}
	return !p->ended;
}

int pty_finish(struct pty *p)
{
	gint64 end = g_get_monotonic_time() + PATIENCE;
	while (!p->ended) {
		ck_assert_msg(g_get_monotonic_time() < end,
		              "the program does not end; the screen:\n%s", pty_screen(p));
		pump(p, 100);
	}
	while (pump(p, 0))
		continue;
	return p->status;
}

const char *pty_output(struct pty *p, size_t *length)
{
	while (pump(p, 0))
		continue;
	*length = p->output->len;
	return p->output->str;
}

void pty_end(struct pty *p)
{
	if (!p->ended) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	close(p->fd);
	close(p->slave);
	vterm_free(p->vt);
	g_string_free(p->text, TRUE);
	g_string_free(p->output, TRUE);
	g_free(p);
}
