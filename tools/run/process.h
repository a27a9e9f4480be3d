// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Child processes that never outlive the runner, and the signals that end the runner.
 */
#ifndef RUN_PROCESS_H
#define RUN_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "failure.h"

enum process_event {
    PROCESS_IDLE,        /* nothing happened within the time */
    PROCESS_ENDED,       /* the process is gone: see code and signal */
    PROCESS_INTERRUPTED, /* the runner got a signal that asks it to end: see interrupt */
};

struct process {
    pid_t pid;     /* also its process group */
    int code;      /* what it exited with, or -1 */
    int signal;    /* what killed it, or 0 */
    int interrupt; /* SIGINT, SIGTERM or SIGHUP to the runner, or 0 */
};

/* Once at start: from here on SIGINT, SIGTERM and SIGHUP only reach process_wait. */
void process_setup(void);

/* Once at start: SIGTERM comes when the process that has started this one is gone. */
void process_follow_parent(void);

/*
 * Start ARGV in FOLDER, in a process group of its own, with nothing on its input, and with its
 * output and errors going to the file OUTPUT (made or emptied). If the runner dies, it is killed.
 */
int process_start(struct process *process, char *const *argv, const char *folder,
                  const char *output, struct failure *failure);

/*
 * Start ARGV with the runner's own input and output, in front of the terminal if there is one: what
 * is typed, Ctrl-C too, reaches it and not the runner. If the runner dies, it is killed.
 */
int process_start_front(struct process *process, char *const *argv, struct failure *failure);

/* The process in front has ended: the terminal is the runner's again. */
void process_leave_front(void);

/* Collect the process if it has ended, without waiting. Returns whether it is gone. */
bool process_reap(struct process *process);

/* Wait until something happens, for at most MILLISECONDS. */
enum process_event process_wait(struct process *process, unsigned milliseconds);

/*
 * End the process and what it started: ask, then after a second kill. Returns when it is gone.
 * => harmless when it has already ended.
 */
void process_end(struct process *process);

#endif
