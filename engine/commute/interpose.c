/* interpose.c - see interpose.h. */
#include "engine/commute/interpose.h"

#include <string.h>
#include <unistd.h>

/*
 * What every generated library begins with.  It writes values without the C library, whose
 * string functions the recorder watches.
 */
static const char prelude[] =
        "#define _GNU_SOURCE\n"
        "#include <dlfcn.h>\n"
        "#include <stdint.h>\n"
        "void heddle_record_call_at(const void *, const char *, const void *, const char *,"
        " const char *) __attribute__((weak));\n"
        "void heddle_record_ret_at(const void *, const char *, const void *, const char *,"
        " const char *) __attribute__((weak));\n"
        "#define CALLER __builtin_return_address(0)\n"
        "struct text { char bytes[2048]; unsigned length; };\n"
        "static void put(struct text *t, char c)\n"
        "{ if (t->length < sizeof t->bytes - 1) t->bytes[t->length++] = c; t->bytes[t->length] "
        "= 0; }\n"
        "static void between(struct text *t) { if (t->length) put(t, ','); }\n"
        "static void word(struct text *t, const char *w) { while (*w) put(t, *w++); }\n"
        "static void number(struct text *t, uint64_t n, unsigned base)\n"
        "{ char d[24]; int i = 0; do d[i++] = \"0123456789abcdef\"[n % base]; while (n /= "
        "base);\n"
        "  while (i) put(t, d[--i]); }\n"
        "static void put_signed(struct text *t, int64_t n)\n"
        "{ between(t); if (n < 0) put(t, '-'); number(t, n < 0 ? -(uint64_t)n : (uint64_t)n, "
        "10); }\n"
        "static void put_unsigned(struct text *t, uint64_t n) { between(t); number(t, n, 10); "
        "}\n"
        "static void put_bool(struct text *t, int b) { between(t); word(t, b ? \"true\" : "
        "\"false\"); }\n"
        "static void put_pointer(struct text *t, const void *p)\n"
        "{ between(t); if (!p) word(t, \"nil\"); else { put(t, 'p'); number(t, (uintptr_t)p, "
        "16); } }\n"
        "static void put_string(struct text *t, const char *s)\n"
        "{ between(t); if (!s) { word(t, \"nil\"); return; } put(t, '\"');\n"
        "  for (; *s && t->length < sizeof t->bytes - 8; s++)\n"
        "    if (*s == '\"' || *s == '\\\\') { put(t, '\\\\'); put(t, *s); }\n"
        "    else if ((unsigned char)*s < 32 || *s == 127) { put(t, '\\\\'); put(t, 'x');\n"
        "      put(t, \"0123456789ABCDEF\"[*s >> 4 & 15]); put(t, \"0123456789ABCDEF\"[*s & "
        "15]); }\n"
        "    else put(t, *s);\n"
        "  put(t, '\"'); }\n";

static const char *c_type(const struct bind_parameter *p)
{
	static const char *const integers[2][4] = {
		{ "int8_t", "int16_t", "int32_t", "int64_t" },
		{ "uint8_t", "uint16_t", "uint32_t", "uint64_t" }
	};
	int power = p->size == 1 ? 0 : p->size == 2 ? 1 : p->size == 4 ? 2 : 3;
	switch (p->type) {
	case BIND_VOID:
		return "void";
	case BIND_BOOL:
		return p->size == 4 ? "int32_t" : "_Bool";
	case BIND_SIGNED:
		return integers[0][power];
	case BIND_UNSIGNED:
		return integers[1][power];
	case BIND_STRING:
		return "const char *";
	default:
		return "void *";
	}
}

static const char *writer(const struct bind_parameter *p)
{
	switch (p->type) {
	case BIND_BOOL:
		return "put_bool";
	case BIND_SIGNED:
		return "put_signed";
	case BIND_UNSIGNED:
		return "put_unsigned";
	case BIND_STRING:
		return "put_string";
	default:
		return "put_pointer";
	}
}

static const struct bind_parameter *parameter_at(const struct spec_bind *b, guint i)
{
	return &g_array_index(b->parameters, struct bind_parameter, i);
}

/* The parameter that gives name `index` of the method, or NULL. */
static const struct bind_parameter *source_of(const struct spec_bind *b, uint32_t index,
                                              guint *at)
{
	for (guint i = 0; i < b->parameters->len; i++)
		if (parameter_at(b, i)->role == BIND_NAME &&
		    parameter_at(b, i)->index == index) {
			*at = i;
			return parameter_at(b, i);
		}
	return NULL;
}

static void list(GString *out, const struct spec_bind *b, bool types)
{
	for (guint i = 0; i < b->parameters->len; i++)
		g_string_append_printf(out, "%s%s%sa%u", i ? ", " : "",
		                       types ? c_type(parameter_at(b, i)) : "",
		                       types ? " " : "", i);
	if (b->parameters->len == 0 && types)
		g_string_append(out, "void");
}

static void function(GString *out, const struct spec_object *o, const struct spec_method *m,
                     const struct spec_bind *b)
{
	const char *result = c_type(&b->result);
	bool returns = b->result.type != BIND_VOID;
	GString *self = g_string_new("0");
	for (guint i = 0; i < b->parameters->len; i++)
		if (parameter_at(b, i)->role == BIND_SELF)
			g_string_printf(self, "(const void *)(uintptr_t)a%u", i);
	bool self_after = b->result.role == BIND_SELF;
	g_string_append_printf(out, "static %s (*real_%s)(", result, b->function);
	list(out, b, true);
	g_string_append_printf(out, ");\n__attribute__((visibility(\"default\"))) %s %s(",
	                       result, b->function);
	list(out, b, true);
	g_string_append_printf(
	        out,
	        ")\n{\n"
	        "\tif (!real_%s)\n\t\t*(void **)&real_%s = dlsym(RTLD_NEXT, \"%s\");\n"
	        "\tif (!heddle_record_call_at) {\n\t\t%sreal_%s(",
	        b->function, b->function, b->function, returns ? "return " : "", b->function);
	list(out, b, false);
	g_string_append_printf(out,
	                       ");\n%s\t}\n\tstruct text t;\n\tt.length = 0; t.bytes[0] = 0;\n",
	                       returns ? "" : "\t\treturn;\n");
	for (uint32_t i = 0; i < m->arguments; i++) {
		guint at;
		const struct bind_parameter *p = source_of(b, i, &at);
		g_string_append_printf(out, "\t%s(&t, a%u);\n", writer(p), at);
	}
	if (!self_after)
		g_string_append_printf(
		        out, "\theddle_record_call_at(CALLER, \"%s\", %s, \"%s\", t.bytes);\n",
		        o->name, self->str, m->name);
	g_string_append_printf(out, "\t%s%sreal_%s(", returns ? result : "",
	                       returns ? " r = " : "", b->function);
	list(out, b, false);
	g_string_append(out, ");\n");
	if (self_after) /* it makes the object: its name is known only now */
		g_string_append_printf(out,
		                       "\theddle_record_call_at(CALLER, \"%s\", (const void "
		                       "*)(uintptr_t)r, \"%s\", "
		                       "t.bytes);\n",
		                       o->name, m->name);
	g_string_append(out, "\tt.length = 0; t.bytes[0] = 0;\n");
	if (b->result.role == BIND_NAME)
		g_string_append_printf(out, "\t%s(&t, r);\n", writer(&b->result));
	g_string_append_printf(
	        out, "\theddle_record_ret_at(CALLER, \"%s\", %s, \"%s\", t.bytes);\n%s}\n",
	        o->name, self_after ? "(const void *)(uintptr_t)r" : self->str, m->name,
	        returns ? "\treturn r;\n" : "");
	g_string_free(self, TRUE);
}

char *interposer_source(const struct specs *specs, unsigned *functions)
{
	GString *out = g_string_new(prelude);
	*functions = 0;
	for (guint i = 0; i < specs->objects->len; i++) {
		const struct spec_object *o = specs->objects->pdata[i];
		for (guint m = 0; m < o->methods->len; m++) {
			const struct spec_method *method = spec_method_at(o, m);
			for (guint k = 0; k < method->binds->len; k++, (*functions)++)
				function(out, o, method, method->binds->pdata[k]);
		}
	}
	return g_string_free(out, FALSE);
}

static const struct spec_bind *cannot_forward(const struct specs *specs)
{
	for (guint i = 0; i < specs->objects->len; i++) {
		const struct spec_object *o = specs->objects->pdata[i];
		for (guint m = 0; m < o->methods->len; m++) {
			const struct spec_method *method = spec_method_at(o, m);
			for (guint k = 0; k < method->binds->len; k++) {
				const struct spec_bind *b = method->binds->pdata[k];
				if (strstr(b->text, "...") != NULL ||
				    strchr(b->function, ':') != NULL)
					return b;
			}
		}
	}
	return NULL;
}

static bool compile(const char *source, const char *path, struct error *error)
{
	char **words = NULL;
	const char *compiler = g_getenv("CC");
	GPtrArray *argv = g_ptr_array_new();
	char *file = g_strdup_printf("%s.c", path), *messages = NULL;
	int status = 1;
	GError *g = NULL;
	if (compiler == NULL || *compiler == 0 ||
	    !g_shell_parse_argv(compiler, NULL, &words, NULL))
		words = g_strsplit("cc", " ", -1);
	for (char **w = words; *w; w++)
		g_ptr_array_add(argv, *w);
	const char *rest[] = { "-shared", "-fPIC", "-O1", "-fno-builtin", "-fvisibility=hidden",
		               "-w",      "-o",    path,  file,           "-ldl",
		               NULL };
	for (const char **r = rest; *r; r++)
		g_ptr_array_add(argv, (char *)*r);
	g_ptr_array_add(argv, NULL);
	bool ok = g_file_set_contents(file, source, -1, &g) &&
	          g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL,
	                       NULL, NULL, &messages, &status, &g) &&
	          status == 0;
	if (!ok)
		error_set(error, argv->pdata[0],
		          "see that a C compiler is there (heddle doctor)",
		          "expected the functions of the bind lines to compile, found: %s",
		          g          ? g->message
		          : messages ? messages
		                     : "an error");
	if (g)
		g_error_free(g);
	unlink(file);
	g_free(file);
	g_free(messages);
	g_strfreev(words);
	g_ptr_array_unref(argv);
	return ok;
}

char *interposer_build(const struct specs *specs, struct error *error)
{
	const struct spec_bind *bad = cannot_forward(specs);
	unsigned functions;
	if (bad != NULL) {
		error_set(
		        error, bad->function, "use heddle.h around its calls",
		        "expected a C function with a fixed list of parameters in a bind line, "
		        "found %s",
		        bad->text);
		return NULL;
	}
	char *source = interposer_source(specs, &functions);
	char *path = NULL;
	if (functions == 0) {
		error_set(error, "", "add bind METHOD = \"PROTOTYPE\" lines",
		          "expected a bind line in the specifications, found none");
	} else {
		path = g_build_filename(g_get_tmp_dir(), "heddle-bind-XXXXXX.so", NULL);
		int fd = g_mkstemp(path);
		if (fd >= 0)
			close(fd);
		if (fd < 0 || !compile(source, path, error)) {
			if (fd < 0)
				error_set(error, path, "make room there, or set TMPDIR",
				          "expected to make a file");
			else
				unlink(path);
			g_clear_pointer(&path, g_free);
		}
	}
	g_free(source);
	return path;
}
