// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU's monitor, over the socket in a boot's folder (QEMU, docs/interop/qmp-spec). While QEMU
 * lives others may use that socket too, one at a time.
 */
#ifndef RUN_QMP_H
#define RUN_QMP_H

#include <errno.h>
#include <stddef.h>

#include "failure.h"

#define QMP_LINE_BYTES 65536u

struct qmp {
    int socket;
    size_t used; /* bytes of text that belong to lines to come */
    char text[QMP_LINE_BYTES];
};

/* Connect to the socket NAME in FOLDER. => waits a few seconds at most; an errno value. */
error_t qmp_init(struct qmp *qmp, const char *folder, const char *name);

void qmp_destroy(struct qmp *qmp);

/*
 * Have QEMU execute COMMAND, a line for people ("info registers"), and copy what it says to ANSWER,
 * a string of at most BYTES - 1 bytes. COMMAND holds neither a quote nor a backslash.
 * => waits a few seconds at most; EPROTO: QEMU refuses; or another errno value.
 */
error_t qmp_monitor(struct qmp *qmp, const char *command, char *answer, size_t bytes);

/* Copy the string in JSON that stands behind KEY in LINE to TEXT, its escapes resolved.
   => ENOENT: there is none. */
error_t qmp_string_copy(const char *line, const char *key, char *text, size_t bytes);

#endif
