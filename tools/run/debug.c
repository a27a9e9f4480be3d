// SPDX-License-Identifier: GPL-2.0-or-later
#include "debug.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "machine.h"
#include "qmp.h"

bool debug_is_joined(const char *folder)
{
    char path[PATH_MAX];
    bool joined;
    int lock;

    snprintf(path, sizeof(path), "%s/%s", folder, DEBUG_LOCK);
    lock = open(path, O_RDONLY | O_CLOEXEC);
    if (lock < 0)
        return false;
    joined = flock(lock, LOCK_SH | LOCK_NB) != 0;
    close(lock);
    return joined;
}

/* Whether the monitor's answer to `info status` has WORD in it. */
static bool debug_status_says(const char *folder, const char *word)
{
    struct qmp *qmp = malloc(sizeof(*qmp));
    char answer[256] = "";

    if (qmp != NULL && qmp_init(qmp, folder, MACHINE_MONITOR) == 0) {
        if (qmp_monitor(qmp, "info status", answer, sizeof(answer)) != 0)
            answer[0] = '\0';
        qmp_destroy(qmp);
    }
    free(qmp);
    return strstr(answer, word) != NULL;
}

bool debug_is_paused(const char *folder)
{
    return debug_status_says(folder, "paused");
}

/* An image's default in QEMU, werror=enospc: other errors are the guest's. */
bool debug_is_out_of_room(const char *folder)
{
    return debug_status_says(folder, "paused (io-error)");
}
