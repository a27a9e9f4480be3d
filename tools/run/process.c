// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All signals that matter are blocked and taken by sigtimedwait in process_wait, so that no code
 * ever runs in a signal handler: a Ctrl-C is an event like the end of the child.
 *
 * The child sits in a process group of its own. A Ctrl-C at the terminal therefore reaches the
 * runner alone, which ends the child by its number; and whatever the child itself started goes
 * with it. Should the runner be killed outright, the kernel kills the child (PR_SET_PDEATHSIG).
 *
 * A child in front has a group of its own, too, and the terminal is given to that group, as a shell
 * does. The runner, then in the background, may go on printing (it ignores SIGTTOU).
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PROCESS_GRACE_MS 1000u

/* The terminal's, from before a process was in front: one that is killed leaves its own. */
static struct termios process_modes;
static bool process_has_modes;

static const int process_signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};

static void process_signal_set(sigset_t *set)
{
    sigemptyset(set);
    for (unsigned i = 0; i < sizeof(process_signals) / sizeof(process_signals[0]); i++)
        sigaddset(set, process_signals[i]);
}

void process_setup(void)
{
    sigset_t set;

    process_signal_set(&set);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would make children vanish unseen */
    signal(SIGPIPE,
           SIG_IGN); /* a Ctrl-C ends `| tee` first; the run still writes its result.json */
    sigprocmask(SIG_BLOCK, &set, NULL);
}

void process_follow_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* Let GROUP read what is typed, if there is a terminal. => SIGTTOU is ignored. */
static void process_terminal_give(pid_t group)
{
    if (isatty(STDIN_FILENO))
        tcsetpgrp(STDIN_FILENO, group);
}

/* What a child is started as. */
struct process_plan {
    char *const *argv;
    const char *folder;
    const char *output; /* null: it is in front */
};

/* In the child: its input and output. */
static error_t process_redirect(const char *output)
{
    int in = open("/dev/null", O_RDONLY);
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        return errno;
    close(in);
    close(out);
    return 0;
}

/* In the child: everything between fork and exec. Returns only with an error. */
static error_t process_exec(const struct process_plan *plan, pid_t parent)
{
    sigset_t none;
    error_t error = 0;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    if (plan->output != NULL)
        error = process_redirect(plan->output);
    else
        process_terminal_give(getpgrp());
    if (error != 0 || chdir(plan->folder) != 0)
        return error != 0 ? error : errno;
    signal(SIGTTOU, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(plan->argv[0], plan->argv);
    return errno;
}

static void process_child(int report, const struct process_plan *plan, pid_t parent)
{
    error_t error = process_exec(plan, parent);

    if (write(report, &error, sizeof(error)) < 0)
        _exit(126);
    _exit(127);
}

/* Waits until the child runs its program or says why it cannot. */
static error_t process_report_read(int report)
{
    error_t error = 0;
    ssize_t got;

    do {
        got = read(report, &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(error) ? error : 0;
}

static error_t process_spawn(struct process *process, const struct process_plan *plan)
{
    pid_t parent = getpid();
    int report[2];
    error_t error;

    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    process->pid = fork();
    if (process->pid == 0)
        process_child(report[1], plan, parent);
    error = process->pid < 0 ? errno : 0;
    close(report[1]);
    if (error == 0) {
        setpgid(process->pid, process->pid); /* so that it is done whoever runs first */
        error = process_report_read(report[0]);
        if (error != 0)
            waitpid(process->pid, NULL, 0);
    }
    close(report[0]);
    return error;
}

static int process_start_as(struct process *process, const struct process_plan *plan,
                            struct failure *failure)
{
    error_t error;

    *process = (struct process){.code = -1};
    error = process_spawn(process, plan);
    if (error != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be started: %s", plan->argv[0],
                           strerror(error));
    return STATUS_SUCCESS;
}

int process_start(struct process *process, char *const *argv, const char *folder,
                  const char *output, struct failure *failure)
{
    const struct process_plan plan = {argv, folder, output};

    return process_start_as(process, &plan, failure);
}

int process_start_front(struct process *process, char *const *argv, struct failure *failure)
{
    const struct process_plan plan = {argv, ".", NULL};

    signal(SIGTTOU, SIG_IGN);
    process_has_modes = tcgetattr(STDIN_FILENO, &process_modes) == 0;
    return process_start_as(process, &plan, failure);
}

void process_leave_front(void)
{
    process_terminal_give(getpgrp());
    if (process_has_modes)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &process_modes);
}

bool process_reap(struct process *process)
{
    int status;

    if (process->pid == 0)
        return true;
    if (waitpid(process->pid, &status, WNOHANG | WUNTRACED) != process->pid)
        return false;
    if (WIFSTOPPED(status)) { /* Ctrl-Z in front: no shell would ever wake it up */
        kill(-process->pid, SIGCONT);
        return false;
    }
    process->pid = 0;
    if (WIFEXITED(status))
        process->code = WEXITSTATUS(status);
    else
        process->signal = WTERMSIG(status);
    return true;
}

enum process_event process_wait(struct process *process, unsigned milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    sigset_t set;
    int signal;

    if (process_reap(process))
        return PROCESS_ENDED;
    process_signal_set(&set);
    signal = sigtimedwait(&set, NULL, &time);
    if (signal > 0 && signal != SIGCHLD) {
        process->interrupt = signal;
        return PROCESS_INTERRUPTED;
    }
    return process_reap(process) ? PROCESS_ENDED : PROCESS_IDLE;
}

/* Waits for the end and nothing else; further signals to the runner change nothing by now. */
static bool process_wait_end(struct process *process, unsigned milliseconds)
{
    const struct timespec step = {0, 10 * 1000000L};

    for (unsigned waited = 0; waited < milliseconds; waited += 10) {
        if (process_reap(process))
            return true;
        nanosleep(&step, NULL);
    }
    return process_reap(process);
}

void process_end(struct process *process)
{
    pid_t group = process->pid;

    if (group == 0)
        return;
    kill(-group, SIGTERM);
    if (!process_wait_end(process, PROCESS_GRACE_MS)) {
        kill(-group, SIGKILL);
        while (!process_wait_end(process, PROCESS_GRACE_MS)) {
        }
    }
}
