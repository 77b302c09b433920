/* own_code.c - see own_code.h. */
#include "engine/trace/own_code.h"

#include <fnmatch.h>
#include <string.h>

struct pattern {
	char *glob; /* owned */
	bool own;
};

static bool is_off;
static GArray *patterns; /* struct pattern; NULL: none */

void own_code_set(bool on)
{
	is_off = !on;
}

bool own_code_is_on(void)
{
	return !is_off;
}

void own_code_clear_patterns(void)
{
	for (guint i = 0; patterns && i < patterns->len; i++)
		g_free(g_array_index(patterns, struct pattern, i).glob);
	if (patterns)
		g_array_set_size(patterns, 0);
}

void own_code_add_pattern(const char *glob, bool own)
{
	struct pattern pattern = { g_strdup(glob), own };
	if (patterns == NULL)
		patterns = g_array_new(FALSE, FALSE, sizeof(struct pattern));
	g_array_append_val(patterns, pattern);
}

/* -- files ---------------------------------------------------------------------------------- */

/* Folders of the system, and parts of the paths of compilers' and C libraries' files. */
static const char *const system_folders[] = {
	"/usr/include/", "/usr/lib/",           "/usr/lib64/",
	"/usr/libexec/", "/usr/local/include/", "/usr/local/lib/",
	"/usr/src/",     "/usr/share/",         "/lib/",
	"/lib64/",       "/build/gcc-",         "/build/glibc-",
};
static const char *const system_parts[] = {
	"/include/c++/", "/lib/gcc/", "/libstdc++-v3/", "/libc++/", "/sysdeps/", "/glibc-",
};
static const char *const library_functions[] = { "std::", "__gnu_cxx::", "__cxxabiv1::" };

static bool matches(const char *glob, const char *path)
{
	if (fnmatch(glob, path, 0) == 0)
		return true;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		if (slash[1] && fnmatch(glob, slash + 1, 0) == 0)
			return true;
	return false;
}

/* The verdict of the user's patterns on a file: 1 own, 0 not, -1 no pattern matches. */
static int asked_of(const char *path)
{
	for (guint i = patterns ? patterns->len : 0; i-- > 0;) {
		const struct pattern *p = &g_array_index(patterns, struct pattern, i);
		if (matches(p->glob, path))
			return p->own;
	}
	return -1;
}

static bool is_system_file(const char *path)
{
	for (size_t i = 0; i < G_N_ELEMENTS(system_folders); i++)
		if (g_str_has_prefix(path, system_folders[i]))
			return true;
	for (size_t i = 0; i < G_N_ELEMENTS(system_parts); i++)
		if (strstr(path, system_parts[i]))
			return true;
	return false;
}

/* ... or by its function, if the file's name has no folder. */
static bool is_library_function(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(library_functions); i++)
		if (g_str_has_prefix(name, library_functions[i]))
			return true;
	return false;
}

bool own_code_has_file(const char *path, const char *function)
{
	int asked = asked_of(path);
	if (asked >= 0)
		return asked;
	if (strchr(path, '/') == NULL)
		return !is_library_function(function);
	return !is_system_file(path);
}

enum own_code_by own_code_by(const struct trace *t, uint32_t location)
{
	const struct location *l = &t->locations[location];
	const char *path = trace_string(t, l->file);
	if (l->file == 0 ||
	    l->line == 0) /* as of what libstdc++ calls by way of the C library */
		return OWN_CODE_BY_FUNCTION;
	int asked = asked_of(path);
	if (asked >= 0)
		return asked ? OWN_CODE_YES : OWN_CODE_NO;
	if (strchr(path, '/') == NULL)
		return OWN_CODE_BY_FUNCTION;
	return is_system_file(path) ? OWN_CODE_NO : OWN_CODE_YES;
}

bool own_code_has(const struct trace *t, const struct frame *frame)
{
	enum own_code_by by = own_code_by(t, frame->location);
	return by == OWN_CODE_BY_FUNCTION
	               ? !is_library_function(trace_string(t, frame->function))
	               : by == OWN_CODE_YES;
}

/* -- places --------------------------------------------------------------------------------- */

/* Does the frame name a line of a source file? */
static bool has_line(const struct trace *t, const struct frame *frame)
{
	const struct location *l = &t->locations[frame->location];
	return l->file != 0 && l->line != 0;
}

guint own_code_frame(const struct trace *t, const GArray *frames)
{
	if (is_off || frames->len == 0)
		return 0;
	if (own_code_has(t, &g_array_index(frames, struct frame, 0)))
		return 0;
	for (guint i = 1; i < frames->len; i++) {
		const struct frame *frame = &g_array_index(frames, struct frame, i);
		if (has_line(t, frame) && own_code_has(t, frame))
			return i;
	}
	return 0;
}

uint32_t own_code_stack(const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];
	uint32_t context = t->stacks_count ? trace_stack(t, event) : 0;
	if (e->op == OP_ENTER && context && t->contexts[context].call == e->location)
		context = t->contexts[context].parent;
	return context;
}

struct frame own_code_place(const struct trace *t, uint32_t event)
{
	g_autoptr(GArray) frames = trace_frames(t, event, own_code_stack(t, event));
	return g_array_index(frames, struct frame, own_code_frame(t, frames));
}

bool own_code_has_event(const struct trace *t, uint32_t event)
{
	g_autoptr(GArray) frames = trace_frames(t, event, own_code_stack(t, event));
	return frames->len > 0 && own_code_has(t, &g_array_index(frames, struct frame, 0));
}

bool own_code_is_elsewhere(const struct trace *t, uint32_t location)
{
	const struct location *l = &t->locations[location];
	const char *name = trace_string(t, l->name), *plus = strstr(name, "+0x");
	if (is_off || l->line != 0 || plus == NULL)
		return false;
	for (uint64_t i = 0; i < t->modules_count; i++) {
		const char *path = trace_string(t, t->modules[i].path);
		const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
		if (is_system_file(path) && strlen(base) == (size_t)(plus - name) &&
		    strncmp(base, name, (size_t)(plus - name)) == 0)
			return true;
	}
	return false;
}

const char *own_code_place_name(const struct trace *t, uint32_t event)
{
	struct frame place = own_code_place(t, event);
	if (t->events[event].op == OP_ENTER && own_code_is_elsewhere(t, place.location))
		return "";
	const char *name = trace_string(t, t->locations[place.location].name);
	return *name ? name : trace_location_name(t, event);
}

char *own_code_place_text(const struct trace *t, uint32_t event)
{
	const char *own = own_code_place_name(t, event), *exact = trace_site_name(t, event);
	GString *text = g_string_new(NULL);
	bool same = own_code_place(t, event).location == t->events[event].location;
	append_escaped(text, same ? exact : own, strlen(same ? exact : own));
	if (!same) {
		g_string_append(text, ", inside of ");
		append_escaped(text, exact, strlen(exact));
	}
	return g_string_free(text, FALSE);
}

/* -- names ---------------------------------------------------------------------------------- */

/* Names of the standard library's types that people know under another name; longer ones
 * first. */
static const struct spelling {
	const char *from, *to;
} spellings[] = {
	{ "std::__cxx11::basic_string", "std::string" },
	{ "std::__1::basic_string", "std::string" },
	{ "std::_Sp_counted_ptr_inplace", "shared_ptr's object" },
	{ "std::_Sp_counted_base", "shared_ptr's count" },
	{ "->_M_use_count", "'s shared_ptr count" },
	{ "->_M_weak_count", "'s weak_ptr count" },
	{ "std::__shared_ptr", "std::shared_ptr" },
	{ "std::__shared_count", "std::shared_ptr" },
	{ "std::__cxx11::", "std::" },
	{ "std::__1::", "std::" },
};

/* The end of template arguments that begin at `<`; NULL when it is no bracket, as in operator<.
 */
static const char *arguments_end(const char *name, const char *at)
{
	int depth = 0;
	if (at - name >= 8 && strncmp(at - 8, "operator", 8) == 0)
		return NULL;
	for (; *at; at++) {
		depth += *at == '<' && strncmp(at, "<=", 2) != 0;
		depth -= *at == '>' && at[-1] != '-';
		if (depth == 0)
			return at + 1;
	}
	return NULL;
}

bool own_code_is_library_member(const char *at)
{
	const char *member = *at == '.' ? at + 1 : strncmp(at, "->", 2) == 0 ? at + 2 : "";
	bool reserved = member[0] == '_' && g_ascii_isupper(member[1]);
	return reserved || strncmp(member, "_vptr._", 7) == 0 ||
	       (strncmp(member, "__", 2) == 0 && strncmp(member, "__data", 6) != 0);
}

/* Members of the standard library's containers whose elements are the program's own: those of
 * std::vector and std::array. */
static const char *const element_members[] = {
	"_M_start",
	"_M_elems",
	"__begin_",
	"__elems_",
};

static bool has_own_elements(const char *member, size_t length)
{
	for (size_t i = 0; i < G_N_ELEMENTS(element_members); i++)
		if (strlen(element_members[i]) == length &&
		    strncmp(member, element_members[i], length) == 0)
			return true;
	return false;
}

/* A run of the standard library's members, and elements between them. */
struct library_members {
	const char *end; /* what follows is the user's own, or a spelling, or nothing */
	bool elements;   /* of containers: appended */
	bool inside;     /* an element of the library's own is among them */
	bool arrow;      /* a pointer is followed */
};

static const struct spelling *spelling_at(const char *at)
{
	for (size_t i = 0; i < G_N_ELEMENTS(spellings); i++)
		if (g_str_has_prefix(at, spellings[i].from))
			return &spellings[i];
	return NULL;
}

/* Appends the elements of containers, as "[3]". */
static struct library_members members_at(const char *at, GString *text)
{
	struct library_members m = { .end = at };
	bool own = false;
	for (;;) {
		const char *close = *m.end == '[' ? strchr(m.end, ']') : NULL;
		if (close) {
			if (own)
				g_string_append_len(text, m.end, close + 1 - m.end);
			m.elements |= own;
			m.inside |= !own;
			own = false;
			m.end = close + 1;
		} else if (own_code_is_library_member(m.end) &&
		           (m.end == at || spelling_at(m.end) == NULL)) {
			m.arrow |= *m.end == '-';
			m.end += *m.end == '.' ? 1 : 2;
			const char *member = m.end;
			while (g_ascii_isalnum(*m.end) || *m.end == '_')
				m.end++;
			own = has_own_elements(member, (size_t)(m.end - member));
		} else {
			return m;
		}
	}
}

/* Appends what stands for the members: elements; behind a pointer an arrow, or at the name's
 * end a star before it. Returns the rest of the name. */
static const char *append_members(const char *at, GString *text)
{
	struct library_members m = members_at(at, text);
	if (m.inside && !m.elements && *m.end)
		g_string_append(text, "[…]");
	if (m.arrow && !m.elements && *m.end == '.') {
		g_string_append(text, "->");
		return m.end + 1;
	}
	const char *space = strrchr(text->str, ' '); /* before it: what is done with it */
	gssize name = space ? space + 1 - text->str : 0;
	if (m.arrow && !m.elements && *m.end == '\0' && text->str[name] != '*')
		g_string_insert_c(text, name, '*');
	return m.end;
}

/* Where the digits, "+48" or "#2", end that tell a name from others with the same path. */
static const char *suffix_end(const char *at)
{
	while (*at == '+' || *at == '#')
		at += 1 + strspn(at + 1, "0123456789");
	return at;
}

bool own_code_is_library_variable(const char *name)
{
	static const char *const own_data[] = { "__libc_", "vtable for ", "typeinfo for " };
	for (size_t i = 0; i < G_N_ELEMENTS(own_data); i++)
		if (g_str_has_prefix(name, own_data[i]))
			return !is_off;
	const char *local = strstr(name, "local@"); /* without a name in its function */
	if (local != NULL && is_library_function(local + strlen("local@")))
		return !is_off;
	const char *last = NULL; /* the last of the members */
	for (const char *at = name; *at; at++)
		if (*at == '.' || (at[0] == '-' && at[1] == '>'))
			last = at;
	if (is_off || last == NULL || !own_code_is_library_member(last) ||
	    strstr(last, "_M_local_buf") != NULL)
		return false;
	g_autoptr(GString) elements = g_string_new(NULL);
	struct library_members m = members_at(last, elements);
	return !m.elements && !m.inside && *suffix_end(m.end) == 0;
}

size_t own_code_length(const char *name)
{
	size_t length = strlen(name);
	for (size_t end = length; end > 0 && name[end - 1] != ']'; end--) {
		const char *at = name + end - 1;
		if (*at != '.' && strncmp(at, "->", 2) != 0)
			continue;
		if (!own_code_is_library_member(at))
			break;
		length = end - 1;
	}
	return length;
}

void own_code_shorten(const char *name, GString *text)
{
	for (const char *at = name; *at;) {
		const char *end = *at == '<' && at > name ? arguments_end(name, at) : NULL;
		const struct spelling *known = spelling_at(at);
		if (end) {
			g_string_append(text, "<…>");
			at = end;
			continue;
		}
		if (known) {
			g_string_append(text, known->to);
			at += strlen(known->from);
		} else if (own_code_is_library_member(at)) {
			at = append_members(at, text);
		} else {
			g_string_append_c(text, *at++);
		}
	}
}

void own_code_append_name(const char *name, GString *out)
{
	if (is_off || strpbrk(name, ":<._") == NULL) {
		append_escaped(out, name, strlen(name));
		return;
	}
	g_autoptr(GString) text = g_string_new(NULL);
	own_code_shorten(name, text);
	append_escaped(out, text->str, text->len);
}

const char *own_code_library_call(const char *function)
{
	static const char suffix[] = "@libc";
	if (strcmp(function, "signal@libc") == 0)
		return SIGNAL_WORDS;
	if (!g_str_has_suffix(function, suffix))
		return NULL;
	g_autofree char *call = g_strndup(function, strlen(function) - strlen(suffix));
	return g_intern_string(call);
}

void own_code_append_function(const char *name, GString *out)
{
	const char *call = own_code_library_call(name);
	own_code_append_name(call != NULL ? call : name, out);
}

void own_code_append_kind(const char *name, GString *out)
{
	for (; *name; name++) {
		size_t digits =
		        *name == '#' || *name == '[' ? strspn(name + 1, "0123456789") : 0;
		if (*name != '#' || digits == 0) /* the first of a name has none */
			g_string_append_c(out, *name);
		name += digits;
	}
}
