/*
 * search.h - binary search, the one of the tree.
 *
 * search_end(i, from, to, holds) is the first index in from..to at which the expression
 * `holds`, of the index i, is false; `to` when it is true throughout.  `holds` is true of a
 * first part of the range and false of the rest; it is evaluated O(log(to - from)) times, each
 * time for an index below `to`.
 *
 *     list.items[search_end(i, 0, list.count, list.items[i] < event)]     the first that is not
 * before
 */
#ifndef HEDDLE_SEARCH_H
#define HEDDLE_SEARCH_H

#define search_end(index, from, to, holds) \
	({ \
		__auto_type search_to_ = (to); \
		__typeof__(search_to_) search_from_ = (from); \
		while (search_from_ < search_to_) { \
			__typeof__(search_to_) index = \
			        search_from_ + (search_to_ - search_from_) / 2; \
			if (holds) \
				search_from_ = index + 1; \
			else \
				search_to_ = index; \
		} \
		search_from_; \
	})

#endif
