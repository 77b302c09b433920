/*
 * lesson.c - reads lesson files and lists lessons; see lesson.h.
 *
 * A file consists of lines: "key: value" sets a field, "== TITLE" begins a step, a line with
 * leading blank continues the previous one, others are the step's text.
 */
#include "tui/lesson/lesson.h"

#include "engine/base/home.h"
#include "engine/base/input.h"
#include "tui/drawing/columns.h"

#include <string.h>

const struct check_info check_table[CHECK_COUNT] = {
#define CHECK(function, word, low, high, operands, help) \
	[CHECK_##function] = { word, operands, help, low, high },
#include "tui/lesson/checks.def"
#undef CHECK
};

/* -- construction -------------------------------------------------------------------------- */

static void check_free(void *data)
{
	struct lesson_check *check = data;
	g_strfreev(check->operands);
	g_free(check->text);
	g_free(check);
}

static struct lesson_step *step_new(const char *title, unsigned line)
{
	struct lesson_step *step = g_new0(struct lesson_step, 1);
	step->title = g_strdup(title);
	step->choices = g_ptr_array_new_with_free_func(g_free);
	step->hints = g_ptr_array_new_with_free_func(g_free);
	step->commands = g_ptr_array_new_with_free_func(g_free);
	step->checks = g_ptr_array_new_with_free_func(check_free);
	step->facts = g_ptr_array_new_with_free_func(check_free);
	step->line = line;
	return step;
}

static void step_free(void *data)
{
	struct lesson_step *step = data;
	char *texts[] = { step->title,  step->text,  step->task, step->question,
		          step->answer, step->right, step->keys };
	GPtrArray *lists[] = { step->choices, step->hints, step->commands, step->checks,
		               step->facts };
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_free(texts[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		g_ptr_array_unref(lists[i]);
	g_free(step);
}

static struct lesson *lesson_new(const char *path)
{
	struct lesson *l = g_new0(struct lesson, 1);
	char *base = g_path_get_basename(path);
	char *dot = strrchr(base, '.');
	if (dot)
		*dot = '\0';
	l->path = g_strdup(path);
	l->folder = g_path_get_dirname(path);
	l->name = base;
	l->compile = g_strdup("-g -O1 -pthread");
	l->record = g_strdup("--seed 1");
	l->sources = g_ptr_array_new_with_free_func(g_free);
	l->plain = g_ptr_array_new_with_free_func(g_free);
	l->fixed = g_ptr_array_new_with_free_func(g_free);
	l->specs = g_ptr_array_new_with_free_func(g_free);
	l->files = g_ptr_array_new_with_free_func(g_free);
	l->steps = g_ptr_array_new_with_free_func(step_free);
	return l;
}

void lesson_free(struct lesson *l)
{
	if (l == NULL)
		return;
	char *texts[] = { l->path,    l->folder, l->name,    l->title,  l->teaches,
		          l->compile, l->record, l->explore, l->prints, l->report };
	GPtrArray *lists[] = { l->sources, l->plain, l->fixed, l->specs, l->files, l->steps };
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_free(texts[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		g_ptr_array_unref(lists[i]);
	g_free(l);
}

/* -- reading --------------------------------------------------------------------------- */

struct reader {
	struct lesson *lesson;
	struct lesson_step *step; /* NULL: the head */
	unsigned line;
	struct error *error;
	GHashTable *head; /* keys seen in the head */
};

static bool refuse(struct reader *r, const char *remedy, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static bool refuse(struct reader *r, const char *remedy, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_autofree char *what = g_strdup_vprintf(format, ap);
	va_end(ap);
	error_set(r->error, place_line(r->lesson->path, r->line).text, remedy, "%s", what);
	return false;
}

/* Is it the key's first line? Fields of the head have defaults, so the keys seen are kept. */
static bool is_first(struct reader *r, const char *key)
{
	return g_hash_table_add(r->head, g_strdup(key)) ||
	       refuse(r, "leave one of the two out", "'%s' is there already in the head", key);
}

static bool set_value(struct reader *r, const char *key, char **field, const char *value)
{
	if (r->step && *field)
		return refuse(r, NULL, "'%s' is there already in this step", key);
	if (!r->step && !is_first(r, key))
		return false;
	g_free(*field);
	*field = g_strdup(value);
	return true;
}

static bool set_text(struct reader *r, const char *key, char **field, const char *value)
{
	if (*value == '\0')
		return refuse(r, NULL, "expected a value after '%s:', found nothing", key);
	return set_value(r, key, field, value);
}

/* Files are in the lesson's folder, and their names need no quoting. */
static bool add_files(struct reader *r, GPtrArray *list, const char *value)
{
	g_auto(GStrv) words = g_strsplit(value, " ", -1);
	bool good = true;
	for (char **w = words; *w && good; w++) {
		if (**w == '\0')
			continue;
		g_autofree char *path = g_build_filename(r->lesson->folder, *w, NULL);
		if (strspn(*w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		               "._+-") != strlen(*w) ||
		    **w == '-' || **w == '.')
			good = refuse(r, "letters, digits, '_', '-', '+' and '.'; no folder",
			              "'%s' cannot be the name of a lesson's file", *w);
		else if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
			good = refuse(r, "it has to lie beside the lesson",
			              "there is no file '%s'", *w);
		else
			g_ptr_array_add(list, g_strdup(*w));
	}
	return good;
}

static bool add_check(struct reader *r, GPtrArray *list, const char *value)
{
	g_auto(GStrv) words = NULL;
	int count = 0;
	if (!g_shell_parse_argv(value, &count, &words, NULL))
		return refuse(r, "docs/lessons.md has the table",
		              "expected a check, found '%s'", value);
	for (int k = 0; k < CHECK_COUNT; k++) {
		const struct check_info *info = &check_table[k];
		if (strcmp(info->word, words[0]) != 0)
			continue;
		if ((guint)count - 1 < info->low || (guint)count - 1 > info->high)
			return refuse(r, NULL, "'%s' takes %s, found '%s'", info->word,
			              *info->operands ? info->operands : "nothing", value);
		struct lesson_check *check = g_new0(struct lesson_check, 1);
		check->kind = (enum check_kind)k;
		check->operands = g_strdupv(words + 1);
		check->text = g_strdup(value);
		check->line = r->line;
		g_ptr_array_add(list, check);
		return true;
	}
	refuse(r, "docs/lessons.md has the table", "there is no check '%s'", words[0]);
	return false;
}

static bool add_line(GPtrArray *list, const char *value)
{
	g_ptr_array_add(list, g_strdup(value));
	return true;
}

static bool options_are_words(struct reader *r, const char *value)
{
	g_auto(GStrv) words = NULL;
	g_autoptr(GError) trouble = NULL;
	if (*value && !g_shell_parse_argv(value, NULL, &words, &trouble)) {
		refuse(r, NULL, "expected options: %s", trouble->message);
		return false;
	}
	return true;
}

static bool set_options(struct reader *r, const char *key, char **field, const char *value)
{
	return options_are_words(r, value) && set_value(r, key, field, value);
}

static bool set_pattern(struct reader *r, const char *key, char **field, const char *value)
{
	GError *trouble = NULL;
	g_autoptr(GRegex) regex = g_regex_new(value, 0, 0, &trouble);
	if (regex == NULL) {
		refuse(r, "give a regular expression, as in ^balance (100|150)$",
		       "'%s' is none: %s", value, trouble->message);
		g_error_free(trouble);
		return false;
	}
	return set_text(r, key, field, value);
}

static bool head_key(struct reader *r, const char *key, const char *value)
{
	struct lesson *l = r->lesson;
	if (strcmp(key, "title") == 0)
		return set_text(r, key, &l->title, value);
	if (strcmp(key, "teaches") == 0)
		return set_text(r, key, &l->teaches, value);
	if (strcmp(key, "source") == 0)
		return add_files(r, l->sources, value);
	if (strcmp(key, "plain") == 0)
		return add_files(r, l->plain, value);
	if (strcmp(key, "fixed") == 0)
		return add_files(r, l->fixed, value);
	if (strcmp(key, "spec") == 0)
		return add_files(r, l->specs, value);
	if (strcmp(key, "file") == 0)
		return add_files(r, l->files, value);
	if (strcmp(key, "report") == 0) {
		if (l->report || strchr(value, ' '))
			return refuse(r, "name one file", "report: '%s'", value);
		l->report = g_strdup(value);
		return add_files(r, l->files, value);
	}
	if (strcmp(key, "compile") == 0)
		return set_options(r, key, &l->compile, value);
	if (strcmp(key, "record") == 0)
		return set_options(r, key, &l->record, value);
	if (strcmp(key, "prints") == 0)
		return set_pattern(r, key, &l->prints, value);
	if (strcmp(key, "explore") == 0)
		return set_options(r, key, &l->explore, value);
	if (strcmp(key, "fix") == 0) {
		l->fix_plain = strcmp(value, "instrument") == 0;
		return l->fix_plain ||
		       refuse(r, NULL, "expected 'instrument', found '%s'", value);
	}
	if (strcmp(key, "order") == 0) {
		char *end;
		guint64 number = g_ascii_strtoull(value, &end, 10);
		l->order = (unsigned)number;
		return is_first(r, key) &&
		       ((*value && *end == '\0' && number < 1000000) ||
		        refuse(r, NULL, "expected a number, found '%s'", value));
	}
	return refuse(
	        r,
	        "the head has title, teaches, order, source, plain, fixed, fix, spec, file, "
	        "compile, record, explore, prints; a step begins with '== TITLE'",
	        "there is no key '%s' in the head of a lesson", key);
}

static bool step_key(struct reader *r, const char *key, const char *value)
{
	struct lesson_step *s = r->step;
	if (strcmp(key, "task") == 0)
		return set_text(r, key, &s->task, value);
	if (strcmp(key, "question") == 0)
		return set_text(r, key, &s->question, value);
	if (strcmp(key, "answer") == 0)
		return set_text(r, key, &s->answer, value);
	if (strcmp(key, "right") == 0)
		return set_text(r, key, &s->right, value);
	if (strcmp(key, "keys") == 0)
		return set_text(r, key, &s->keys, value);
	if (strcmp(key, "choice") == 0)
		return s->choices->len < 26 ? add_line(s->choices, value)
		                            : refuse(r, NULL, "more than 26 choices");
	if (strcmp(key, "hint") == 0)
		return add_line(s->hints, value);
	if (strcmp(key, "command") == 0)
		return add_line(s->commands, value);
	if (strcmp(key, "check") == 0)
		return add_check(r, s->checks, value);
	if (strcmp(key, "fact") == 0)
		return add_check(r, s->facts, value);
	return refuse(r,
	              "a step has task, check, keys, question, choice, answer, right, hint, "
	              "fact, command; text may not begin with a word and a colon",
	              "there is no key '%s' in a step", key);
}

/* The key of "key: value", or NULL for text. */
static char *key_of(const char *line)
{
	size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz-");
	return length && line[length] == ':' && (line[length + 1] == ' ' || !line[length + 1])
	               ? g_strndup(line, length)
	               : NULL;
}

static void add_text(struct lesson_step *s, const char *line)
{
	char *old = s->text;
	bool joins = old && *line && !g_str_has_suffix(old, "\n\n");
	if (old == NULL && *line == '\0')
		return;
	s->text = g_strconcat(old ? old : "", joins ? " " : "", *line ? line : "\n\n", NULL);
	g_free(old);
}

static bool take_line(struct reader *r, const char *line)
{
	if (g_str_has_prefix(line, "== ")) {
		r->step = step_new(line + 3, r->line);
		g_ptr_array_add(r->lesson->steps, r->step);
		return true;
	}
	char *key = key_of(line);
	if (key) {
		g_autofree char *value = g_strstrip(g_strdup(line + strlen(key) + 1));
		bool good = r->step ? step_key(r, key, value) : head_key(r, key, value);
		g_free(key);
		return good;
	}
	if (r->step)
		add_text(r->step, line);
	else if (*line)
		return refuse(r, "a step begins with '== TITLE'",
		              "expected 'key: value', found '%s'", line);
	return true;
}

bool lesson_step_mends(const struct lesson_step *s)
{
	for (guint i = 0; i < s->checks->len; i++) {
		const struct lesson_check *check = s->checks->pdata[i];
		if (check->kind == CHECK_gone || check->kind == CHECK_recorded)
			return true;
	}
	return false;
}

/* -- validation ---------------------------------------------------------------------------- */

static bool step_is_whole(struct reader *r, struct lesson_step *s)
{
	r->line = s->line;
	if (s->text)
		g_strchomp(s->text);
	if (s->text == NULL && s->task == NULL && s->question == NULL)
		return refuse(r, NULL, "the step '%s' says nothing", s->title);
	if ((s->question == NULL) != (s->answer == NULL))
		return refuse(r, NULL, "a question and its answer go together");
	if (s->choices->len && s->question == NULL)
		return refuse(r, NULL, "choices without a question");
	if ((s->task == NULL) != (s->checks->len == 0))
		return refuse(r, "check: says how one sees that the task is done",
		              "a task and its checks go together");
	if (s->question && s->task)
		return refuse(r, "make two steps of it", "a task and a question in one step");
	if (s->task && s->keys == NULL)
		return refuse(r, "keys: w", "the task has no keys that do it");
	g_autoptr(GPtrArray) lines = lesson_lines(s, LESSON_COLUMNS);
	guint rows = lines->len;
	if (rows > LESSON_ROWS)
		return refuse(r, "make two steps of it",
		              "the step '%s' has %u lines of %d columns; %d fit on a small "
		              "screen",
		              s->title, rows, LESSON_COLUMNS, LESSON_ROWS);
	if (s->choices->len && *s->answer &&
	    (s->answer[1] || s->answer[0] < 'a' || s->answer[0] >= 'a' + (int)s->choices->len))
		return refuse(r, NULL, "expected the letter of a choice as answer, found '%s'",
		              s->answer);
	return true;
}

static bool is_whole(struct reader *r)
{
	const struct lesson *l = r->lesson;
	bool mends = false;
	r->line = 1;
	if (l->title == NULL || l->teaches == NULL || l->sources->len == 0)
		return refuse(r, NULL, "a lesson needs a title, what it teaches, and a source");
	if (!l->fix_plain && l->fixed->len != l->sources->len)
		return refuse(r, "fixed: names as many files as source: does",
		              "%u sources and %u fixed versions", l->sources->len,
		              l->fixed->len);
	if (l->steps->len == 0)
		return refuse(r, "a step begins with '== TITLE'", "the lesson has no steps");
	for (guint i = 0; i < l->steps->len; i++) {
		struct lesson_step *s = l->steps->pdata[i];
		if (!step_is_whole(r, s))
			return false;
		mends |= lesson_step_mends(s);
	}
	return mends || refuse(r, "check: gone KIND VARIABLE", "no step asks for the fix");
}

/* A line with a leading blank continues the previous one. */
static bool read_lines(struct reader *r, char *const *lines)
{
	g_autoptr(GString) whole = g_string_new(NULL);
	bool open = false, good = true;
	for (unsigned i = 1; good; i++) { /* lines[0] is the first line */
		char *line = lines[i] ? g_strchomp(lines[i]) : NULL;
		if (line && *line == '#')
			continue;
		if (line && open && (*line == ' ' || *line == '\t')) {
			g_string_append_printf(whole, " %s", g_strchug(line));
			continue;
		}
		if (open)
			good = take_line(r, whole->str);
		if (line == NULL)
			break;
		g_string_assign(whole, line);
		open = true;
		r->line = good ? i + 1 : r->line;
	}
	return good;
}

static struct lesson *lesson_open(const char *path, struct error *error)
{
	static const char first[] = "#! heddle-lesson 1";
	size_t length;
	g_autofree char *text = input_text(path, "lesson", &length, error);
	if (text == NULL)
		return NULL;
	struct reader r = { .lesson = lesson_new(path),
		            .error = error,
		            .line = 1,
		            .head = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
		                                          NULL) };
	bool good = true;
	if (strlen(text) != length || !g_utf8_validate(text, length, NULL))
		good = refuse(&r, NULL, "is no text in UTF-8");
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	if (good && (lines[0] == NULL || strcmp(g_strchomp(lines[0]), first) != 0))
		good = refuse(&r, "docs/lessons.md has the format",
		              "expected '%s' in the first line", first);
	good = good && read_lines(&r, lines) && is_whole(&r);
	g_hash_table_destroy(r.head);
	if (good)
		return r.lesson;
	lesson_free(r.lesson);
	return NULL;
}

/* -- list of lessons ----------------------------------------------------------------------- */

static int by_order(gconstpointer a, gconstpointer b)
{
	const struct lesson *x = *(struct lesson *const *)a, *y = *(struct lesson *const *)b;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_folder(GPtrArray *all, const char *folder, bool deeper)
{
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);
		struct lesson *l = NULL;
		if (deeper && g_file_test(path, G_FILE_TEST_IS_DIR))
			add_folder(all, path, false);
		else if (g_str_has_suffix(name, ".lesson"))
			l = lesson_open(path, NULL);
		if (l)
			g_ptr_array_add(all, l);
	}
}

GPtrArray *lessons_all(void)
{
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)lesson_free);
	g_autofree char *samples = home_find("samples");
	g_autofree char *own =
	        g_build_filename(g_get_user_data_dir(), "heddle", "lessons", NULL);
	if (samples)
		add_folder(all, samples, true);
	add_folder(all, own, true);
	g_ptr_array_sort(all, by_order);
	return all;
}

struct lesson *lesson_find(const char *name, struct error *error)
{
	if (strchr(name, '/') || g_str_has_suffix(name, ".lesson"))
		return lesson_open(name, error);
	g_autoptr(GPtrArray) all = lessons_all();
	struct lesson *found = NULL;
	for (guint i = 0; i < all->len && found == NULL; i++) {
		const struct lesson *l = all->pdata[i];
		if (strcmp(l->name, name) == 0)
			found = lesson_open(l->path, error);
	}
	bool any = all->len > 0;
	if (found == NULL)
		error_set(error, "lesson",
		          any ? "'heddle lesson' lists them; a file's name ends in .lesson"
		              : "the samples are not installed beside heddle",
		          "there is no lesson '%s'", name);
	return found;
}

char *lesson_program(const struct lesson *l)
{
	char *name = g_strdup(l->sources->pdata[0]);
	char *dot = strrchr(name, '.');
	if (dot)
		*dot = '\0';
	return name;
}

/* -- text ---------------------------------------------------------------------------------- */

bool lesson_answers(const struct lesson_step *s, const char *text)
{
	g_autofree char *given = g_strstrip(g_utf8_casefold(text, -1));
	if (g_str_has_suffix(given, ")") && s->choices->len)
		given[strlen(given) - 1] = '\0';
	g_auto(GStrv) right = g_strsplit(s->answer, "|", -1);
	bool found = false;
	for (char **r = right; *r && !found; r++) {
		g_autofree char *wanted = g_strstrip(g_utf8_casefold(*r, -1));
		found = strcmp(wanted, given) == 0;
	}
	if (!found && s->choices->len) {
		g_autofree char *choice =
		        g_utf8_casefold(s->choices->pdata[s->answer[0] - 'a'], -1);
		found = strcmp(choice, given) == 0;
	}
	return found;
}

static void add_wrapped(GPtrArray *lines, const char *text, int indent, int width)
{
	g_autoptr(GString) out = g_string_new(NULL);
	append_wrapped(out, text, indent, width);
	g_auto(GStrv) rows = g_strsplit(g_strchomp(out->str), "\n", -1);
	for (char **r = rows; *r; r++)
		g_ptr_array_add(lines, g_strdup(*r));
}

GPtrArray *lesson_lines(const struct lesson_step *s, int width)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) paragraphs = g_strsplit(s->text ? s->text : "", "\n\n", -1);
	for (char **p = paragraphs; *p; p++)
		if (**p)
			add_wrapped(lines, *p, 0, width);
	if (s->task) {
		g_autofree char *task = g_strconcat("▸ ", s->task, NULL);
		add_wrapped(lines, task, 0, width);
	}
	if (s->question) {
		g_autoptr(GString) text = g_string_new("? ");
		g_string_append(text, s->question);
		for (guint i = 0; i < s->choices->len; i++)
			g_string_append_printf(text, "  %c) %s", 'a' + i,
			                       (char *)s->choices->pdata[i]);
		add_wrapped(lines, text->str, 0, width);
	}
	return lines;
}

void lesson_print_checks(GString *out)
{
	g_string_append(out, "| check | holds when |\n| --- | --- |\n");
	for (int k = 0; k < CHECK_COUNT; k++)
		g_string_append_printf(out, "| `%s%s%s` | %s |\n", check_table[k].word,
		                       *check_table[k].operands ? " " : "",
		                       check_table[k].operands, check_table[k].help);
}
