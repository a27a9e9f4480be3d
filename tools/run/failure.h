// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What went wrong: an exit status and one sentence for a person.
 *
 * Every function of the runner that can fail takes a struct failure and returns a status: 0, or
 * the status that the failure now holds. The first cause is kept; what goes wrong later, as a
 * consequence, does not hide it.
 */
#ifndef RUN_FAILURE_H
#define RUN_FAILURE_H

/* GNU Mach's own test runner uses 0, 77, 10, 99 and 12 the same way. */
enum status {
    STATUS_SUCCESS = 0,
    STATUS_BAD_INPUT = 2,    /* bad input, a missing file or tool, or QEMU did not start */
    STATUS_NO_END = 10,      /* no end in time, or a hang that the system itself reports */
    STATUS_KERNEL_DIED = 12, /* the kernel panicked, or stopped without saying how it went */
    STATUS_SKIPPED = 77,
    STATUS_FAILED = 99,     /* a check failed, or a task crashed */
    STATUS_SIGNALLED = 128, /* plus the number of the signal that ended the runner */
};

struct failure {
    int status;
    char reason[640];
};

/*
 * Note STATUS (not 0) and the sentence, unless FAILURE already holds one: in one line, and of a
 * long one beginning and end. Returns the status that FAILURE holds afterwards.
 */
int failure_set(struct failure *failure, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
