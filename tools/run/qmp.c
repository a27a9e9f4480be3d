// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each message is a line of JSON. QEMU greets; then a client must say qmp_capabilities; then each
 * command gets a line with "return" or with "error", and lines with "event" may come at any time.
 * Of all that only the text of "return" is needed, so nothing else is taken apart.
 */
#include "qmp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define QMP_PATIENCE_SECONDS 15 /* QEMU answers at once, if the machine lets it */

/* A socket's name has 107 bytes at most: it is reached through a descriptor of its folder. */
static error_t qmp_address_init(struct sockaddr_un *address, int folder, const char *name)
{
    int length;

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    length =
        snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s", folder, name);
    return length < (int)sizeof(address->sun_path) ? 0 : ENAMETOOLONG;
}

static error_t qmp_connect(struct qmp *qmp, const char *folder, const char *name)
{
    const struct timeval patience = {.tv_sec = QMP_PATIENCE_SECONDS};
    int directory = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sockaddr_un address;
    error_t error = directory < 0 ? errno : qmp_address_init(&address, directory, name);

    if (error == 0 &&
        (setsockopt(qmp->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
         setsockopt(qmp->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
         connect(qmp->socket, (const struct sockaddr *)&address, sizeof(address)) != 0))
        error = errno;
    if (directory >= 0)
        close(directory);
    return error;
}

/* Read on. => EPIPE at the end, EMSGSIZE when a line is too long. */
static error_t qmp_receive(struct qmp *qmp)
{
    ssize_t got;

    if (qmp->used == sizeof(qmp->text) - 1)
        return EMSGSIZE;
    do
        got = recv(qmp->socket, qmp->text + qmp->used, sizeof(qmp->text) - 1 - qmp->used, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return got == 0 ? EPIPE : errno;
    qmp->used += (size_t)got;
    return 0;
}

/* Forget the line that TEXT starts with. */
static void qmp_line_drop(struct qmp *qmp, size_t length)
{
    qmp->used -= length;
    memmove(qmp->text, qmp->text + length, qmp->used);
}

/* Wait for a line that has KEY in it and cut it to LINE; others are forgotten. */
static error_t qmp_line_wait(struct qmp *qmp, const char *key, char line[QMP_LINE_BYTES])
{
    for (;;) {
        const char *end = memchr(qmp->text, '\n', qmp->used);
        size_t length = end == NULL ? 0 : (size_t)(end - qmp->text) + 1;
        error_t error;

        if (end == NULL) {
            error = qmp_receive(qmp);
            if (error != 0)
                return error;
            continue;
        }
        memcpy(line, qmp->text, length);
        line[length] = '\0';
        qmp_line_drop(qmp, length);
        if (strstr(line, key) != NULL)
            return 0;
        if (strstr(line, "\"error\"") != NULL)
            return EPROTO;
    }
}

static error_t qmp_send(struct qmp *qmp, const char *text)
{
    size_t length = strlen(text);
    ssize_t sent = send(qmp->socket, text, length, MSG_NOSIGNAL);

    if (sent < 0)
        return errno;
    return (size_t)sent == length ? 0 : EIO;
}

/* Send TEXT and wait for its answer. */
static error_t qmp_call(struct qmp *qmp, const char *text, char line[QMP_LINE_BYTES])
{
    error_t error = qmp_send(qmp, text);

    return error == 0 ? qmp_line_wait(qmp, "\"return\"", line) : error;
}

error_t qmp_init(struct qmp *qmp, const char *folder, const char *name)
{
    char *line = malloc(QMP_LINE_BYTES);
    error_t error = line == NULL ? ENOMEM : 0;

    qmp->used = 0;
    qmp->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (error == 0)
        error = qmp->socket < 0 ? errno : qmp_connect(qmp, folder, name);
    if (error == 0)
        error = qmp_line_wait(qmp, "\"QMP\"", line);
    if (error == 0)
        error = qmp_call(qmp, "{\"execute\":\"qmp_capabilities\"}\n", line);
    free(line);
    if (error != 0)
        qmp_destroy(qmp);
    return error;
}

void qmp_destroy(struct qmp *qmp)
{
    if (qmp->socket >= 0)
        close(qmp->socket);
    qmp->socket = -1;
}

/* The character that an escape in JSON stands for, and how long that is. Others than these are not
   in what QEMU says of itself. */
static char qmp_unescape(const char *at, size_t *length)
{
    static const char from[] = "nrt\"\\/";
    static const char to[] = "\n\r\t\"\\/";
    const char *found = at[1] == '\0' ? NULL : strchr(from, at[1]);

    *length = at[1] == '\0' ? 1 : 2;
    return found == NULL ? '?' : to[found - from];
}

error_t qmp_string_copy(const char *line, const char *key, char *text, size_t bytes)
{
    const char *at = strstr(line, key);
    size_t used = 0;

    at = at == NULL ? NULL : strchr(at + strlen(key), '"');
    if (at == NULL)
        return ENOENT;
    for (at++; *at != '\0' && *at != '"' && used < bytes - 1;) {
        size_t length = 1;

        text[used] = *at == '\\' ? qmp_unescape(at, &length) : *at;
        used += text[used] != '\r';
        at += length;
    }
    text[used] = '\0';
    return 0;
}

error_t qmp_monitor(struct qmp *qmp, const char *command, char *answer, size_t bytes)
{
    static const char form[] =
        "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"%s\"}}\n";
    char *line = malloc(QMP_LINE_BYTES);
    char text[256];
    error_t error = line == NULL ? ENOMEM : 0;

    snprintf(text, sizeof(text), form, command);
    if (error == 0)
        error = qmp_call(qmp, text, line);
    if (error == 0)
        error = qmp_string_copy(line, "\"return\":", answer, bytes);
    free(line);
    return error;
}
