/*
 * packet.h - packets of gdb's remote serial protocol: "$data#xx", with a checksum.
 *
 * Source: "Debugging with GDB", appendix "GDB Remote Serial Protocol".  The data stays as it is
 * sent (escaped, perhaps run-length encoded), since most of it is passed on.
 */
#ifndef HEDDLE_PACKET_H
#define HEDDLE_PACKET_H

#include "engine/base/base.h"

/* More than any packet of gdb's has; a longer one is dropped. */
enum { PACKET_MOST = 1 << 20 };

enum packet_kind {
	PACKET_NONE, /* nothing whole has come */
	PACKET_DATA,
	PACKET_BAD, /* a wrong checksum, or too long: it is to be sent again */
	PACKET_ACK,
	PACKET_NAK,
	PACKET_INTERRUPT, /* ^C */
};

/* Takes the next packet or character out of `bytes` (as it came from a descriptor); its data
 * is stored in `data`. */
enum packet_kind packet_next(GString *bytes, GString *data);

/* Append "$data#xx". */
void packet_append(const char *data, size_t length, GString *out);

/* Undo the run-length encoding; other bytes stay. */
void packet_expand(GString *data);

/* Hexadecimal: append bytes as text; and the bytes of a text up to its first other character.
 */
void hex_append(const void *bytes, size_t length, GString *out);
size_t hex_read(const char *text, void *bytes, size_t room);

#endif
