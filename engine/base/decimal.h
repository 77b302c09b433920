/*
 * decimal.h - appends numbers to text: many times faster than g_string_append_printf, for names
 * that are made by the million.
 */
#ifndef HEDDLE_DECIMAL_H
#define HEDDLE_DECIMAL_H

#include "engine/base/base.h"

static inline void append_decimal(uint64_t number, GString *out)
{
	char digits[20];
	unsigned at = sizeof digits;
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	g_string_append_len(out, digits + at, (gssize)(sizeof digits - at));
}

static inline void append_hexadecimal(uint64_t number, GString *out)
{
	char digits[16];
	unsigned at = sizeof digits;
	do
		digits[--at] = "0123456789abcdef"[number % 16];
	while (number /= 16);
	g_string_append_len(out, digits + at, (gssize)(sizeof digits - at));
}

#endif
