/*
 * formats.c - the memory that printf reads and scanf writes through its arguments: a walk
 * over the format that takes each argument as they do. Handles C17's conversions and glibc's
 * (%m, %b, 'I'); at a positional argument (%2$s) or another unknown conversion it stops, and
 * the rest is not recorded.
 */
#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include "engine/record/runtime/libc/libc.h"
#include "ranges.h"

enum width { PLAIN, CHAR, SHORT, LONG, LONG_LONG, MAX, SIZE, DIFFERENCE, LONG_DOUBLE };

struct directive {
	const char *next; /* behind it */
	bool star,
	        suppressed; /* `star`: its width is an argument; scanf: assigned to nothing */
	bool star_precision, allocates;
	long field, precision; /* -1: none */
	enum width width;
	char conversion; /* 0: stop */
};

static long number(const char **f)
{
	long n = 0;
	while (**f >= '0' && **f <= '9') {
		if (n < 1 << 24)
			n = n * 10 + (**f - '0');
		(*f)++;
	}
	return n;
}

static enum width width_of(const char **f)
{
	static const struct {
		char text[3];
		enum width width;
	} table[] = { { "hh", CHAR },    { "h", SHORT },      { "ll", LONG_LONG },
		      { "l", LONG },     { "j", MAX },        { "z", SIZE },
		      { "Z", SIZE },     { "t", DIFFERENCE }, { "L", LONG_DOUBLE },
		      { "q", LONG_LONG } };
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		size_t n = table[i].text[1] ? 2 : 1;
		if (REAL(strncmp)(*f, table[i].text, n) == 0) {
			*f += n;
			return table[i].width;
		}
	}
	return PLAIN;
}

/* The next directive from `f` on; its `conversion` is 0 at the end of the format. */
static struct directive directive(const char *f, bool scanning)
{
	struct directive d = { .field = -1, .precision = -1 };
	for (;; f += 2) {
		f = REAL(strchrnul)(f, '%');
		if (!*f)
			return d;
		if (f[1] != '%')
			break;
	}
	f++;
	if (scanning && *f == '*') {
		d.suppressed = true;
		f++;
	}
	while (*f && REAL(strchr)(scanning ? "'I" : "-+ #0'I", *f))
		f++;
	if (!scanning && *f == '*') {
		d.star = true;
		f++;
	} else if (*f >= '0' && *f <= '9') {
		d.field = number(&f);
	}
	if (!scanning && *f == '.') {
		f++;
		d.star_precision = *f == '*';
		if (d.star_precision)
			f++;
		else
			d.precision = number(&f);
	}
	if (scanning && *f == 'm') {
		d.allocates = true;
		f++;
	}
	d.width = width_of(&f);
	d.conversion = *f;
	if (scanning && *f == '[') { /* a ']' that comes first belongs to the set */
		f++;
		f += *f == '^';
		f += *f == ']';
		f = REAL(strchrnul)(f, ']');
	}
	d.next = *f ? f + 1 : f;
	return d;
}

static size_t size_of(enum width w)
{
	static const size_t sizes[] = {
		[PLAIN] = sizeof(int),
		[CHAR] = 1,
		[SHORT] = sizeof(short),
		[LONG] = sizeof(long),
		[LONG_LONG] = sizeof(long long),
		[MAX] = sizeof(intmax_t),
		[SIZE] = sizeof(size_t),
		[DIFFERENCE] = sizeof(ptrdiff_t),
		[LONG_DOUBLE] = sizeof(long long),
	};
	return sizes[w];
}

static bool is_string(const struct directive *d)
{
	return d->conversion == 's' || d->conversion == 'S';
}
static bool is_wide(const struct directive *d)
{
	return d->conversion == 'S' || d->conversion == 'C' || d->width == LONG;
}

static void read_string(const struct directive *d, const void *s, uintptr_t pc)
{
	if (!s)
		return;
	size_t most = d->precision < 0 ? (size_t)1 << 40 : (size_t)d->precision, n;
	if (is_wide(d)) {
		n = d->precision < 0 ? REAL(wcslen)(s) + 1 : REAL(wcsnlen)(s, most);
		READS_AT(s, n * sizeof(wchar_t), pc);
	} else {
		n = d->precision < 0 ? REAL(strlen)(s) + 1 : REAL(strnlen)(s, most);
		READS_AT(s, d->precision >= 0 && n < most ? n + 1 : n, pc);
	}
}

/* Takes the arguments of printf's directive; false: unknown directive. */
static bool take(struct directive *d, va_list *arguments, bool counts, uintptr_t pc)
{
	if (d->star)
		(void)va_arg(*arguments, int);
	if (d->star_precision)
		d->precision = va_arg(*arguments, int); /* negative: none */
	if (REAL(strchr)("diouxXbB", d->conversion)) {
		if (size_of(d->width) == sizeof(long))
			(void)va_arg(*arguments, long);
		else
			(void)va_arg(*arguments, int);
	} else if (REAL(strchr)("aAeEfFgG", d->conversion)) {
		if (d->width == LONG_DOUBLE)
			(void)va_arg(*arguments, long double);
		else
			(void)va_arg(*arguments, double);
	} else if (REAL(strchr)("cC", d->conversion)) {
		(void)va_arg(*arguments, int);
	} else if (is_string(d) || d->conversion == 'p') {
		const void *p = va_arg(*arguments, const void *);
		if (is_string(d) && !counts)
			read_string(d, p, pc);
	} else if (d->conversion == 'n') {
		void *p = va_arg(*arguments, void *);
		if (counts)
			WRITES_AT(p, size_of(d->width), pc);
	} else {
		return d->conversion == 'm';
	}
	return true;
}

static void walk(const char *format, va_list given, bool counts, uintptr_t pc)
{
	va_list arguments;
	va_copy(arguments, given);
	struct directive d = directive(format, false);
	while (d.conversion && take(&d, &arguments, counts, pc))
		d = directive(d.next, false);
	va_end(arguments);
}

/* Is the memory that the call before `pc` touches recorded? */
static bool heard(uintptr_t pc)
{
	struct thread *t = me;
	return (!t->gate || t->gate == GATE_STOLEN) && !in_libc(pc);
}

/* The walk stops at an argument with a number: what it leads to is not recorded. */
static void note_numbered(const char *format)
{
	if (REAL(strchr)(format, '$'))
		accesses_unseen("a format with numbered arguments");
}

void format_reads(const char *format, va_list arguments, uintptr_t pc)
{
	if (!heard(pc))
		return;
	READS_STRING(format, pc);
	note_numbered(format);
	walk(format, arguments, false, pc);
}

void format_counts(const char *format, va_list arguments, uintptr_t pc)
{
	if (heard(pc) && REAL(strchr)(format, 'n'))
		walk(format, arguments, true, pc);
}

/* The number of bytes that one conversion of scanf wrote; 0: unknown. */
static size_t scanned(const struct directive *d, const void *p)
{
	if (d->allocates)
		return sizeof(void *);
	if (REAL(strchr)("diouxXn", d->conversion))
		return size_of(d->width);
	if (REAL(strchr)("aAeEfFgG", d->conversion))
		return d->width == LONG_DOUBLE ? sizeof(long double)
		       : d->width == LONG      ? sizeof(double)
		                               : sizeof(float);
	size_t one = is_wide(d) ? sizeof(wchar_t) : 1;
	if (REAL(strchr)("cC", d->conversion))
		return one * (d->field > 0 ? (size_t)d->field : 1);
	if (is_string(d) || d->conversion == '[')
		return one * ((is_wide(d) ? REAL(wcslen)(p) : REAL(strlen)(p)) + 1);
	return d->conversion == 'p' ? sizeof(void *) : 0;
}

void format_writes(const char *format, va_list given, int converted, uintptr_t pc)
{
	if (!heard(pc))
		return;
	READS_STRING(format, pc);
	note_numbered(format);
	va_list arguments;
	va_copy(arguments, given);
	for (struct directive d = directive(format, true); d.conversion && converted >= 0;
	     d = directive(d.next, true)) {
		if (d.suppressed)
			continue;
		if (d.conversion != 'n' && converted-- == 0)
			break;
		void *p = va_arg(arguments, void *);
		size_t n = scanned(&d, p);
		if (n == 0)
			break;
		WRITES_AT(p, n, pc);
	}
	va_end(arguments);
}
