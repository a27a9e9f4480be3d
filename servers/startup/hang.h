// SPDX-License-Identifier: GPL-2.0-or-later
/* The report of a hang (docs/protocol.md): what every thread waits for, and what that comes to. */
#ifndef STARTUP_HANG_H
#define STARTUP_HANG_H

#include <stdbool.h>

#include "startup/snapshot.h"

#define HANG_SENTENCE_MAX 560

/* What a hang turned out to be. The first that fits is meant. */
enum hang_kind {
    HANG_DEADLOCK,    /* threads wait for each other in a circle */
    HANG_LOST_REPLY,  /* a thread waits for an answer, and nobody works on it */
    HANG_NO_PROGRESS, /* neither */
};

const char *hang_kind_name(enum hang_kind kind);

/* Say what SNAPSHOT shows, line by line. SENTENCE, of HANG_SENTENCE_MAX bytes, becomes what it
   comes to. => blocks. */
enum hang_kind hang_report(const struct snapshot *snapshot, char *sentence);

/* hang-text.c: what threads do, in words. A phrase follows a thread's name. */

#define HANG_PHRASE_MAX 200

/* Write the label of THREAD with its server: "ext2/rpc/3". Returns TEXT. */
const char *hang_label(const struct snapshot_thread *thread, char text[HANG_PHRASE_MAX]);

/* Write what THREAD does or waits for. Returns TEXT. => blocks. */
const char *hang_phrase(const struct snapshot_thread *thread, char text[HANG_PHRASE_MAX]);

/* The name of message ID, or null. */
const char *hang_message_name(mach_msg_id_t id);

/* hang-trace.c: say what each thread has recorded last (docs/trace.md). => blocks. */
void hang_events_print(const struct snapshot *snapshot);

/* Say where THREAD is, if that is known. => blocks. */
void hang_place_print(const struct snapshot_thread *thread);

/* Say all about THREAD. => blocks. */
void hang_thread_print(const struct snapshot *snapshot, const struct snapshot_thread *thread);

#endif
