// SPDX-License-Identifier: GPL-2.0-or-later
/* A thread that plays QEMU's monitor: each command gets the first answer whose start fits. */
#ifndef TESTS_FAKE_MONITOR_H
#define TESTS_FAKE_MONITOR_H

#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "run-test.h"

struct fake_answer {
    const char *command; /* a part of the line that asks; behind "1:" the answer is given once */
    const char *answer;  /* the line that is sent back */
};

#define FAKE_MONITOR_NAME "monitor"

struct fake_monitor {
    const struct fake_answer *answers; /* the last has a null command */
    char folder[64];
    int socket;
    pthread_t thread;
};

static void *fake_monitor_run(void *arg)
{
    const struct fake_monitor *fake = arg;
    uint64_t used = 0; /* bit i: answer i was given, and is not given again */
    int client = accept(fake->socket, NULL, NULL);
    FILE *in = fdopen(dup(client), "r");
    char line[1024];

    dprintf(client, "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\r\n");
    while (fgets(line, sizeof(line), in) != NULL)
        for (unsigned i = 0; fake->answers[i].command != NULL; i++) {
            const struct fake_answer *a = &fake->answers[i];
            bool once = strncmp(a->command, "1:", 2) == 0;

            if (strstr(line, a->command + (once ? 2 : 0)) == NULL || (used >> i & 1) != 0)
                continue;
            dprintf(client, "%s\r\n", a->answer);
            used |= (uint64_t)once << i;
            break;
        }
    fclose(in);
    close(client);
    return NULL;
}

static inline void fake_monitor_init(struct fake_monitor *fake, const struct fake_answer *answers)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    fake->answers = answers;
    strcpy(fake->folder, "/tmp/machbed-monitor-XXXXXX");
    assert_non_null(mkdtemp(fake->folder));
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", fake->folder, FAKE_MONITOR_NAME);
    fake->socket = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fake->socket >= 0);
    assert_int_equal(bind(fake->socket, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fake->socket, 1), 0);
    assert_int_equal(pthread_create(&fake->thread, NULL, fake_monitor_run, fake), 0);
}

/* => the client has closed its end. */
static inline void fake_monitor_destroy(struct fake_monitor *fake)
{
    char path[128];

    pthread_join(fake->thread, NULL);
    close(fake->socket);
    snprintf(path, sizeof(path), "%s/%s", fake->folder, FAKE_MONITOR_NAME);
    unlink(path);
    rmdir(fake->folder);
}

#endif
