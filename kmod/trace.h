/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sysipc

#if !defined(SYSIPC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SYSIPC_TRACE_H

#include <linux/tracepoint.h>

#include "sysipc.h"

/* A side kicks one word of its peer. */
TRACE_EVENT(sysipc_kick,
	TP_PROTO(const struct sysipc_side *side, unsigned int which, u64 word, bool sync),
	TP_ARGS(side, which, word, sync),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, word)
		__field(u32, side)
		__field(u32, which)
		__field(bool, sync)
	),
	TP_fast_assign(
		__entry->id = side->ch->id;
		__entry->word = word;
		__entry->side = side->index;
		__entry->which = which;
		__entry->sync = sync;
	),
	TP_printk("id=%llu side=%u which=%s word=%llu sync=%d", __entry->id, __entry->side,
		  __entry->which == SYSIPC_READ ? "read" : "write", __entry->word,
		  __entry->sync)
);

/* A poll of a side found nothing of what it asked for. */
TRACE_EVENT(sysipc_wait,
	TP_PROTO(const struct sysipc_side *side, u32 events),
	TP_ARGS(side, events),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, side)
		__field(u32, events)
	),
	TP_fast_assign(
		__entry->id = side->ch->id;
		__entry->side = side->index;
		__entry->events = events;
	),
	TP_printk("id=%llu side=%u events=%#x", __entry->id, __entry->side, __entry->events)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
